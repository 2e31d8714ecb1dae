/* Provides the functions that the HTTP listeners share: parsing an address, opening its socket, and libmicrohttpd's
 * log. */
#ifndef ASSAY_SERVER_LISTEN_H
#define ASSAY_SERVER_LISTEN_H

#include "lib/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Listens on HOST:PORT or [V6]:PORT. An empty host or * means all addresses; port 0 means any free port. `what` is the
 * setting's name in messages. Returns ERR_CONFIG if the address is invalid or cannot be bound. The caller owns the
 * descriptor. */
enum err_code listen_open(const char *what, const char *address, int *out, struct err *err);
/* The parts of a URL's authority: HOST or HOST:PORT. */
struct listen_authority {
    const char *host; /* part of the text, with the brackets of an IPv6 address */
    size_t len;
    int port; /* -1 if the text has no port */
};

/* Parses HOST or HOST:PORT and nothing more: a name, an IPv4 address or an IPv6 address in brackets, and a port in
 * digits. Returns false for any other text, such as an empty host, user information, or a dot at either end. Thread:
 * any. */
bool listen_read_authority(const char *text, struct listen_authority *out);
/* Returns true if listen_read_authority accepts `text` and it has no port. Thread: any. */
bool listen_is_name(const char *text);
/* Returns true if the host is 127.0.0.1, [::1] or localhost. These always mean this machine. Thread: any. */
bool listen_is_loopback(const struct listen_authority *authority);
/* Returns true if `address` is an authority whose host is a loopback name. Thread: any. */
bool listen_is_here(const char *address);
/* Returns the socket's port. */
uint16_t listen_port(int fd);
/* Writes the library's messages as debug lines to the log; for MHD_OPTION_EXTERNAL_LOGGER. */
void listen_log(void *ctx, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif
