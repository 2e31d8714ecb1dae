#include "cli/turns.h"

enum { OUT_PER_REQUEST = 4, LEAST_OUT = 64 };

static void free_verdict(gpointer verdict)
{
    msg_verdict_free(verdict);
}

void turns_init(struct turns *turns, uint32_t window)
{
    g_queue_init(&turns->pending);
    turns->finished = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_verdict);
    turns->bound = MAX(window * OUT_PER_REQUEST, LEAST_OUT);
}

void turns_free(struct turns *turns)
{
    g_queue_clear(&turns->pending);
    g_hash_table_destroy(turns->finished);
}

void turns_expect(struct turns *turns, uint64_t tag)
{
    g_queue_push_tail(&turns->pending, GSIZE_TO_POINTER(tag));
}

void turns_put(struct turns *turns, struct msg_verdict *verdict)
{
    g_hash_table_insert(turns->finished, GSIZE_TO_POINTER(verdict->tag), verdict);
}

struct msg_verdict *turns_next(struct turns *turns)
{
    gpointer tag = g_queue_peek_head(&turns->pending), verdict = NULL;
    if (!tag || !g_hash_table_steal_extended(turns->finished, tag, NULL, &verdict)) return NULL;
    g_queue_pop_head(&turns->pending);
    return verdict;
}

bool turns_full(const struct turns *turns)
{
    return turns->pending.length > turns->bound;
}
