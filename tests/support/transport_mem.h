/* The local transport with the faults that networks, brokers and crashes cause, in a fixed pattern.
 *
 * It is an ordinary row of the transport table, named "mem". Set faults before threads start; they apply to the whole
 * process. Without faults it behaves as the local transport. Every fault keeps the contract of proto/bus/transport.h:
 * no message is ever lost. */
#ifndef ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H
#define ASSAY_TESTS_SUPPORT_TRANSPORT_MEM_H

#include "proto/bus/transport.h"

struct mem_faults {
    const char *topics;       /* affects only topics with this prefix; NULL: all topics */
    unsigned full_every;      /* every n-th produce takes no message and returns ERR_FULL, whatever the timeout */
    unsigned duplicate_every; /* every n-th message is produced twice, as after a lost acknowledgement of the broker */
    unsigned again_every;     /* every n-th ack is lost, so the message is redelivered */
    unsigned split_every;     /* every n-th produce takes only its first message */
    unsigned late_every;      /* every n-th poll finds no message */
    size_t largest;           /* largest size of a message, as in a small topic; larger ones fail; 0: unbounded */
};

struct mem_counts {
    unsigned full, duplicated, again, split, late;
};

extern const struct bus_transport bus_mem;

/* Registers the transport on the first call, sets the faults and resets the counts. */
void mem_set(const struct mem_faults *faults);
struct mem_counts mem_counts(void);

#endif
