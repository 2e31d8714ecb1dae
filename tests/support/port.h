/* Reserves a port of the loopback address for a server that is started, killed and started again. */
#ifndef ASSAY_TESTS_SUPPORT_PORT_H
#define ASSAY_TESTS_SUPPORT_PORT_H

#include <stdint.h>

/* Returns a free port. This process holds it until it ends, so that no other test takes it before the server listens.
 * Never returns 0: asserts that a port is free.
 *
 * The port is below the range for outgoing connections. A port in that range may be assigned to a client that retries a
 * stopped server. The client may even connect to itself, and the server cannot restart. */
uint16_t free_port(void);

#endif
