/* A relay in front of a server that counts how often the client has spoken and was answered. */
#ifndef ASSAY_TESTS_LIVE_POSTGRES_PROXY_H
#define ASSAY_TESTS_LIVE_POSTGRES_PROXY_H

#include <stdint.h>

struct proxy;

/* In front of a port of the loopback address; one connection at a time. */
struct proxy *proxy_start(uint16_t port);
uint16_t proxy_port(const struct proxy *proxy);
/* How often the client spoke and then waited. */
unsigned proxy_trips(const struct proxy *proxy);
/* When its client has gone. */
void proxy_stop(struct proxy *proxy);

#endif
