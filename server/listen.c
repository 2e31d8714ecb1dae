#include "server/listen.h"

#include "lib/base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* the kernel may lower the backlog; a client that finds the queue full retries after a second */
enum { BACKLOG = 4096, MAX_ADDRESS = 256 };

/* Splits "HOST:PORT"; the host may be in brackets, or empty. */
static bool split(const char *address, char *host, const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;
    if (!colon || !colon[1] || len >= MAX_ADDRESS) return false;
    bool bare = len < 2 || address[0] != '[' || address[len - 1] != ']';
    if (bare && memchr(address, ':', len)) return false; /* an IPv6 address needs brackets */
    if (!bare) address++, len -= 2;
    memcpy(host, address, len);
    host[len] = '\0';
    if (strcmp(host, "*") == 0) host[0] = '\0';
    *port = colon + 1;
    return true;
}

static int listen_at(const struct addrinfo *at)
{
    int on = 1;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

enum err_code listen_open(const char *what, const char *address, int *out, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    char host[MAX_ADDRESS];
    const char *port;
    if (!split(address, host, &port))
        return err_set(err, ERR_CONFIG, "%s: '%.200s' is not HOST:PORT or [V6]:PORT", what, address);
    int failed = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (failed) return err_set(err, ERR_CONFIG, "%s: %.200s: %s", what, address, gai_strerror(failed));
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) fd = listen_at(at);
    int why = errno;
    freeaddrinfo(found);
    if (fd < 0) return err_set(err, ERR_CONFIG, "%s: cannot listen on %.200s: %s", what, address, strerror(why));
    *out = fd;
    return ERR_OK;
}

/* Returns the length of the host at the start of `text`; 0 if there is no host. */
static size_t host_len(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    char v6[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (text[0] != '[') {
        size_t len = strspn(text, letters);
        return len && text[0] != '.' && text[len - 1] != '.' ? len : 0;
    }
    size_t len = strcspn(text + 1, "]");
    if (text[1 + len] != ']' || len >= sizeof v6) return 0;
    memcpy(v6, text + 1, len);
    v6[len] = '\0';
    return inet_pton(AF_INET6, v6, &address) == 1 ? len + 2 : 0;
}

bool listen_read_authority(const char *text, struct listen_authority *out)
{
    enum { MAX_PORT = 65535, MAX_DIGITS = 5 };
    *out = (struct listen_authority){text, host_len(text), -1};
    const char *rest = text + out->len;
    if (!out->len || !*rest) return out->len > 0;
    size_t digits = strspn(rest + 1, "0123456789");
    if (*rest != ':' || !digits || digits > MAX_DIGITS || rest[1 + digits]) return false;
    out->port = (int)strtol(rest + 1, NULL, 10);
    return out->port <= MAX_PORT;
}

bool listen_is_name(const char *text)
{
    size_t len = host_len(text);
    return len && !text[len];
}

bool listen_is_loopback(const struct listen_authority *authority)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (authority->len == strlen(names[i]) && strncasecmp(authority->host, names[i], authority->len) == 0)
            return true;
    return false;
}

bool listen_is_here(const char *address)
{
    struct listen_authority authority;
    return listen_read_authority(address, &authority) && listen_is_loopback(&authority);
}

uint16_t listen_port(int fd)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    char port[8] = "0";
    if (getsockname(fd, (struct sockaddr *)&at, &len) == 0)
        getnameinfo((struct sockaddr *)&at, len, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    return (uint16_t)strtoul(port, NULL, 10);
}

void listen_log(void *ctx, const char *format, va_list args)
{
    char text[256];
    (void)ctx;
    if (!log_enabled(LOG_LEVEL_DEBUG) || vsnprintf(text, sizeof text, format, args) < 0) return;
    const struct log_field field = log_field_outside("said", text);
    log_event(LOG_LEVEL_DEBUG, "listen", &field, 1, "libmicrohttpd");
}
