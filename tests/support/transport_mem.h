/* The local transport with faults on a pattern: what a network, a broker or a crash would do now and then.
 *
 * It is an ordinary row of the transport table, named "mem". Faults are set for the whole process, before threads
 * start; with none it behaves as the local one. Every fault keeps the contract of proto/bus/transport.h: nothing is
 * ever lost.
 */
#ifndef ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H
#define ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H

#include "proto/bus/transport.h"

struct mem_faults {
    const char *topics;       /* only topics that start with this; NULL: all */
    unsigned full_every;      /* every n-th produce takes nothing: ERR_FULL, whatever the timeout */
    unsigned duplicate_every; /* every n-th message is produced twice, as after a lost acknowledgement of the broker */
    unsigned again_every;     /* every n-th ack gets lost: the message comes again */
    unsigned split_every;     /* every n-th produce takes its first message only */
    unsigned late_every;      /* every n-th poll finds nothing */
    size_t largest;           /* of a message; 0: no bound. No fault but a small topic, and never exceeded */
};

struct mem_counts {
    unsigned full, duplicated, again, split, late;
};

extern const struct bus_transport bus_mem;

/* Register on first use; set the faults and forget the counts. */
void mem_set(const struct mem_faults *faults);
struct mem_counts mem_counts(void);

#endif
