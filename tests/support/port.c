#include "tests/support/port.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOWEST = 10000, USUAL_END = 32768, TRIES = 1000 };

/* Returns the first port of the range for outgoing connections. Ports below it are never assigned to them. */
static unsigned end_of_servers(void)
{
    unsigned first = 0;
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    if (file && fscanf(file, "%u", &first) != 1) first = 0;
    if (file) fclose(file);
    return first > LOWEST && first < UINT16_MAX ? first : USUAL_END;
}

/* Binds a socket to the port and never listens on it. A server with SO_REUSEADDR can listen on the port. Another
 * process that searches for a free port binds without this option, and fails. This function sets it only after its own
 * bind, which would otherwise succeed on a used port. */
static bool hold(uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    bool held = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0 &&
                setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0;
    if (fd >= 0 && !held) close(fd);
    return held;
}

uint16_t free_port(void)
{
    unsigned end = end_of_servers(), drawn;
    for (int i = 0; i < TRIES; i++) {
        cr_assert_eq(getrandom(&drawn, sizeof drawn, 0), (ssize_t)sizeof drawn);
        uint16_t port = (uint16_t)(LOWEST + drawn % (end - LOWEST));
        if (hold(port)) return port;
    }
    cr_assert_fail("no free port between %d and %u", LOWEST, end);
    return 0;
}
