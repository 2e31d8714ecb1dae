/* The local transport with faults in a fixed pattern, as networks, brokers and crashes cause them.
 *
 * It is an ordinary row of the transport table, named "mem". Faults are set for the whole process before threads start;
 * without faults it behaves as the local one. Every fault keeps the contract of proto/bus/transport.h: no message is
 * ever lost. */
#ifndef ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H
#define ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H

#include "proto/bus/transport.h"

struct mem_faults {
    const char *topics;       /* only topics with this prefix; NULL: all topics */
    unsigned full_every;      /* every n-th produce takes no message and returns ERR_FULL, whatever the timeout */
    unsigned duplicate_every; /* every n-th message is produced twice, as after a lost acknowledgement of the broker */
    unsigned again_every;     /* every n-th ack is lost, so the message is redelivered */
    unsigned split_every;     /* every n-th produce takes only its first message */
    unsigned late_every;      /* every n-th poll finds no message */
    size_t largest;           /* largest size of a message; 0 means unbounded. Models a small topic and is never
                               * exceeded */
};

struct mem_counts {
    unsigned full, duplicated, again, split, late;
};

extern const struct bus_transport bus_mem;

/* Registers the transport on the first call, sets the faults and resets the counts. */
void mem_set(const struct mem_faults *faults);
struct mem_counts mem_counts(void);

#endif
