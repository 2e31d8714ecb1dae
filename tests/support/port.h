/* A port of the loopback address for a server that is started, killed and started again. */
#ifndef ASSAY_TESTS_SUPPORT_PORT_H
#define ASSAY_TESTS_SUPPORT_PORT_H

#include <stdint.h>

/* Returns a port that this process holds until it ends, so that no other test draws it before its server listens. Never
 * returns 0: asserts that there is a free one.
 *
 * The port is below the range for outgoing connections. Within that range a client that retries a server that is down
 * may be assigned that server's port, or even connect to itself. The server then cannot restart. */
uint16_t free_port(void);

#endif
