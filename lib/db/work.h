/* Work inside one opcode, where the engine calls no callback: the function that does the work charges the bytes it
 * reads, and the clock is checked after every so many. The budget is the statement's, so a thousand short calls are
 * stopped like a long one. */
#ifndef ASSAY_LIB_DB_WORK_H
#define ASSAY_LIB_DB_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORK_BETWEEN_LOOKS = 64 << 10, /* bytes: about 50 us */
    WORK_OF_A_CALL = 16,           /* whatever it reads */
};

struct work {
    int64_t left; /* bytes until the next look */
    bool over;    /* nothing more may be done; until work_begin */
    /* `bytes` were done since the last look: may the statement go on? */
    bool (*look)(void *ctx, int64_t bytes);
    void *ctx;
};

static inline void work_begin(struct work *work)
{
    work->left = WORK_BETWEEN_LOOKS;
    work->over = false;
}

/* false: the statement is over, leave at once. */
static inline bool work_charge(struct work *work, size_t bytes)
{
    if (work->over) return false;
    work->left -= (int64_t)bytes + WORK_OF_A_CALL;
    if (work->left > 0) return true;
    work->over = !work->look(work->ctx, WORK_BETWEEN_LOOKS - work->left);
    work->left = WORK_BETWEEN_LOOKS;
    return !work->over;
}

#endif
