/* What every transport must do. conformance.c runs all of it over each transport that test_transport.c names. */
#ifndef ASSAY_TESTS_UNIT_PROTO_CONFORMANCE_H
#define ASSAY_TESTS_UNIT_PROTO_CONFORMANCE_H

void conform_delivery(const char *transport);
void conform_headers(const char *transport);
void conform_order(const char *transport);
void conform_batch(const char *transport);
void conform_sets(const char *transport);
void conform_backpressure(const char *transport);
void conform_backpressure_bytes(const char *transport);
void conform_writer_waits(const char *transport);
void conform_hold_back(const char *transport);
void conform_nack(const char *transport);
void conform_nack_delay(const char *transport);
void conform_crash(const char *transport);
void conform_drain(const char *transport);
void conform_drain_wakes(const char *transport);
void conform_before_subscribing(const char *transport);
void conform_poison(const char *transport);
void conform_many_threads(const char *transport);
void conform_refuses(const char *transport);

#endif
