/* What the program's HTTP listeners have in common: parsing an address, opening its socket, and libmicrohttpd's log. */
#ifndef ASSAY_SERVER_LISTEN_H
#define ASSAY_SERVER_LISTEN_H

#include "lib/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Listen on HOST:PORT or [V6]:PORT; an empty host or *: all addresses; port 0: any. `what` names the setting in
 * messages. ERR_CONFIG: no such address, or it cannot be bound. The caller owns the descriptor. */
enum err_code listen_open(const char *what, const char *address, int *out, struct err *err);
/* The authority of a URL: HOST or HOST:PORT. */
struct listen_authority {
    const char *host; /* a part of the text, with the brackets of an IPv6 address */
    size_t len;
    int port; /* -1: the text has none */
};

/* Parses HOST or HOST:PORT without anything more: a name, an IPv4 address or an IPv6 address in brackets, and a port in
 * digits. Returns false for all else: an empty host, user information, a dot at either end. Thread: any. */
bool listen_read_authority(const char *text, struct listen_authority *out);
/* True if `text` is such a host without a port. Thread: any. */
bool listen_is_name(const char *text);
/* True if the host is 127.0.0.1, [::1] or localhost, which name this machine and no other. Thread: any. */
bool listen_is_loopback(const struct listen_authority *authority);
/* True if `address` is an authority of such a host. Thread: any. */
bool listen_is_here(const char *address);
/* The port it has. */
uint16_t listen_port(int fd);
/* For MHD_OPTION_EXTERNAL_LOGGER: debug lines in our own log. */
void listen_log(void *ctx, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
