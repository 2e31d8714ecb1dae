#include "server/recent_verdicts.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    char *owner, *id, *json;
    size_t len;
};

struct recent_verdicts {
    pthread_mutex_t lock;
    GQueue newest; /* struct kept, newest first */
    unsigned max;
    size_t bytes, max_bytes;
};

static void kept_free(struct kept *kept)
{
    g_free(kept->owner);
    g_free(kept->id);
    g_free(kept->json);
    g_free(kept);
}

struct recent_verdicts *recent_verdicts_new(unsigned max, size_t max_bytes)
{
    struct recent_verdicts *verdicts = g_new0(struct recent_verdicts, 1);
    *verdicts = (struct recent_verdicts){PTHREAD_MUTEX_INITIALIZER, G_QUEUE_INIT, max, 0, max_bytes};
    return verdicts;
}

/* Removes a verdict. The caller must hold the lock, or be the only user. */
static void drop(struct recent_verdicts *verdicts, struct kept *kept)
{
    g_queue_remove(&verdicts->newest, kept);
    verdicts->bytes -= kept->len;
    kept_free(kept);
}

void recent_verdicts_free(struct recent_verdicts *verdicts)
{
    if (!verdicts) return;
    while (verdicts->newest.head) drop(verdicts, verdicts->newest.head->data);
    pthread_mutex_destroy(&verdicts->lock);
    g_free(verdicts);
}

static struct kept *find(const struct recent_verdicts *verdicts, const char *owner, const char *id)
{
    for (GList *at = verdicts->newest.head; at; at = at->next) {
        struct kept *kept = at->data;
        if (strcmp(kept->id, id) == 0 && strcmp(kept->owner, owner) == 0) return kept;
    }
    return NULL;
}

void recent_verdicts_put(struct recent_verdicts *verdicts, const char *owner, const char *id, const char *json,
                         size_t len)
{
    if (len > verdicts->max_bytes) return;
    struct kept *kept = g_new0(struct kept, 1);
    *kept = (struct kept){g_strdup(owner), g_strdup(id), g_strndup(json, len), len};
    pthread_mutex_lock(&verdicts->lock);
    struct kept *older = find(verdicts, owner, id);
    if (older) drop(verdicts, older);
    g_queue_push_head(&verdicts->newest, kept);
    verdicts->bytes += len;
    while (verdicts->newest.length > verdicts->max || verdicts->bytes > verdicts->max_bytes)
        drop(verdicts, verdicts->newest.tail->data);
    pthread_mutex_unlock(&verdicts->lock);
}

char *recent_verdicts_find(struct recent_verdicts *verdicts, const char *owner, const char *id)
{
    pthread_mutex_lock(&verdicts->lock);
    const struct kept *kept = find(verdicts, owner, id);
    char *json = kept ? strdup(kept->json) : NULL;
    pthread_mutex_unlock(&verdicts->lock);
    return json;
}

void recent_verdicts_list(struct recent_verdicts *verdicts, const char *owner, json_t *ids)
{
    pthread_mutex_lock(&verdicts->lock);
    for (const GList *at = verdicts->newest.head; at; at = at->next) {
        const struct kept *kept = at->data;
        if (strcmp(kept->owner, owner) == 0) json_array_append_new(ids, json_string(kept->id));
    }
    pthread_mutex_unlock(&verdicts->lock);
}
