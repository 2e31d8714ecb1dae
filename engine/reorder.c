#include "engine/reorder.h"

enum { OUT_PER_REQUEST = 4, LEAST_OUT = 64 };

static void free_verdict(gpointer verdict)
{
    msg_verdict_free(verdict);
}

void reorder_init(struct reorder *reorder, uint32_t window)
{
    g_queue_init(&reorder->pending);
    reorder->finished = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_verdict);
    reorder->bound = MAX(window * OUT_PER_REQUEST, LEAST_OUT);
}

void reorder_free(struct reorder *reorder)
{
    g_queue_clear(&reorder->pending);
    g_hash_table_destroy(reorder->finished);
}

void reorder_expect(struct reorder *reorder, uint64_t tag)
{
    g_queue_push_tail(&reorder->pending, GSIZE_TO_POINTER(tag));
}

void reorder_put(struct reorder *reorder, struct msg_verdict *verdict)
{
    g_hash_table_insert(reorder->finished, GSIZE_TO_POINTER(verdict->tag), verdict);
}

struct msg_verdict *reorder_next(struct reorder *reorder)
{
    gpointer tag = g_queue_peek_head(&reorder->pending), verdict = NULL;
    if (!tag || !g_hash_table_steal_extended(reorder->finished, tag, NULL, &verdict)) return NULL;
    g_queue_pop_head(&reorder->pending);
    return verdict;
}

bool reorder_full(const struct reorder *reorder)
{
    return reorder->pending.length > reorder->bound;
}
