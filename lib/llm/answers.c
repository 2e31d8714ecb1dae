#include "lib/llm/answers.h"

#include <glib.h>
#include <pthread.h>

struct answers {
    pthread_mutex_t lock;
    uint32_t most;
    GHashTable *by_key; /* key → link in `order` */
    GQueue order;       /* queue of struct answer, the most recently used first */
};

struct answers *answers_new(uint32_t most)
{
    struct answers *answers = g_new0(struct answers, 1);
    pthread_mutex_init(&answers->lock, NULL);
    answers->most = most;
    answers->by_key = g_hash_table_new(g_str_hash, g_str_equal);
    g_queue_init(&answers->order);
    return answers;
}

void answers_free(struct answers *answers)
{
    g_hash_table_destroy(answers->by_key);
    g_queue_clear_full(&answers->order, g_free);
    pthread_mutex_destroy(&answers->lock);
    g_free(answers);
}

bool answers_get(struct answers *answers, const char *key, struct answer *out)
{
    pthread_mutex_lock(&answers->lock);
    GList *link = g_hash_table_lookup(answers->by_key, key);
    if (link) {
        *out = *(const struct answer *)link->data;
        g_queue_unlink(&answers->order, link);
        g_queue_push_head_link(&answers->order, link);
    }
    pthread_mutex_unlock(&answers->lock);
    return link != NULL;
}

static void forget_oldest(struct answers *answers)
{
    struct answer *oldest = g_queue_pop_tail(&answers->order);
    g_hash_table_remove(answers->by_key, oldest->key);
    g_free(oldest);
}

void answers_put(struct answers *answers, const struct answer *answer)
{
    pthread_mutex_lock(&answers->lock);
    /* If two threads made the same request, the first answer stays. */
    if (answers->most && !g_hash_table_contains(answers->by_key, answer->key)) {
        if (answers->order.length == answers->most) forget_oldest(answers);
        struct answer *copy = g_memdup2(answer, sizeof *answer);
        g_queue_push_head(&answers->order, copy);
        g_hash_table_insert(answers->by_key, copy->key, answers->order.head);
    }
    pthread_mutex_unlock(&answers->lock);
}
