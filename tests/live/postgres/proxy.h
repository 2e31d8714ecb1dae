/* Relays connections to a server, and counts the round trips of the client. */
#ifndef ASSAY_TESTS_LIVE_POSTGRES_PROXY_H
#define ASSAY_TESTS_LIVE_POSTGRES_PROXY_H

#include <stdint.h>

struct proxy;

/* Starts a relay to a port of the loopback address. It serves one connection at a time. */
struct proxy *proxy_start(uint16_t port);
uint16_t proxy_port(const struct proxy *proxy);
/* Returns the number of round trips: how often the client sent data and then waited. */
unsigned proxy_trips(const struct proxy *proxy);
/* Stops the relay after its client has disconnected. */
void proxy_stop(struct proxy *proxy);

#endif
