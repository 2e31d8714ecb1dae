/* Checks the requirements on every transport. test_transport.c runs them on the transports within a process,
 * tests/live/test_kafka.c on a real broker. */
#ifndef ASSAY_TESTS_UNIT_PROTO_CONFORMANCE_H
#define ASSAY_TESTS_UNIT_PROTO_CONFORMANCE_H

#include "proto/bus/transport.h"

struct conform {
    const char *transport;
    const char *prefix; /* prefix of topics and groups; each test has its own */
    const struct bus_property *properties;
    uint32_t n_properties;
    /* Properties that only in-process queues have. For other transports the tests check the weaker guarantee. */
    bool in_process; /* a topic is a bounded queue with one group, and members share it by key */
};

void conform_delivery(const struct conform *how);
void conform_headers(const struct conform *how);
void conform_order(const struct conform *how);
void conform_batch(const struct conform *how);
void conform_sets(const struct conform *how);
void conform_backpressure(const struct conform *how);
void conform_backpressure_bytes(const struct conform *how);
void conform_writer_waits(const struct conform *how);
void conform_hold_back(const struct conform *how);
void conform_nack(const struct conform *how);
void conform_nack_delay(const struct conform *how);
void conform_crash(const struct conform *how);
void conform_drain(const struct conform *how);
void conform_drain_wakes(const struct conform *how);
void conform_before_subscribing(const struct conform *how);
void conform_poison(const struct conform *how);
void conform_many_threads(const struct conform *how);
void conform_refuses(const struct conform *how);

#endif
