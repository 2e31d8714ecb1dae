/* A port of the loopback address for a server that is started, killed and started again. */
#ifndef ASSAY_TESTS_SUPPORT_PORT_H
#define ASSAY_TESTS_SUPPORT_PORT_H

#include <stdint.h>

/* A port that is held for this process until it ends, so that no other test draws it before its server listens. It lies below the range that the kernel gives to outgoing connections: from inside
 * of it a client that keeps asking for a server which is down may be given that server's port (or even be connected to
 * itself), and the server cannot come back. Never 0: asserts that there is one. */
uint16_t free_port(void);

#endif
