/* What the program's HTTP listeners have in common: parsing an address, opening its socket, and libmicrohttpd's log. */
#ifndef ASSAY_SERVER_LISTEN_H
#define ASSAY_SERVER_LISTEN_H

#include "lib/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* Listen on HOST:PORT or [V6]:PORT; an empty host or *: all addresses; port 0: any. `what` names the setting in
 * messages. ERR_CONFIG: no such address, or it cannot be bound. The caller owns the descriptor. */
enum err_code listen_open(const char *what, const char *address, int *out, struct err *err);
/* Is HOST or HOST:PORT this machine, by a name that no other has? Thread: any. */
bool listen_is_here(const char *address);
/* The port it has. */
uint16_t listen_port(int fd);
/* For MHD_OPTION_EXTERNAL_LOGGER: debug lines in our own log. */
void listen_log(void *ctx, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
