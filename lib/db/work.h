/* Limits the time of functions that replace SQLite's own. SQLite calls no progress callback while a function runs. So
 * each function charges the bytes that it reads, and the clock is checked at intervals. The bytes of all calls of a
 * statement are added up, so many short calls are stopped like one long call. */
#ifndef ASSAY_LIB_DB_WORK_H
#define ASSAY_LIB_DB_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORK_BETWEEN_LOOKS = 64 << 10, /* bytes between two checks of the clock: about 50 us of work */
    WORK_OF_A_CALL = 16,           /* bytes charged for each call in addition to those that it reads */
};

struct work {
    int64_t left; /* bytes until the next check */
    bool over;    /* the statement must stop; reset by work_begin */
    /* Checks the clock after `bytes` of work. Returns false if the statement must stop. */
    bool (*look)(void *ctx, int64_t bytes);
    void *ctx;
};

static inline void work_begin(struct work *work)
{
    work->left = WORK_BETWEEN_LOOKS;
    work->over = false;
}

/* Charges `bytes`. If it returns false, the statement must stop: the caller must return at once. */
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
