#include "worker/cache_verdicts.h"

#include "worker/cache_link.h"

#include <glib.h>
#include <string.h>

struct cache_verdicts {
    struct links links;
    char *prefix;
    int64_t ttl_ms;
};

/* The caller owes links_free_replies where it is ERR_OK. */
static enum err_code call(struct cache_verdicts *verdicts, struct link_command *command, redisReply **reply)
{
    for (int i = 0; i < command->argc; i++)
        if (!command->lens[i]) command->lens[i] = strlen(command->argv[i]);
    return links_call(&verdicts->links, command, 1, false, reply, NULL);
}

/* What stands under that name, which it frees; g_free, NULL: nothing. */
static enum err_code get(struct cache_verdicts *verdicts, char *name, char **bytes, size_t *len)
{
    struct link_command command = {.argc = 2, .argv = {"GET", name}};
    redisReply *reply;
    enum err_code code = call(verdicts, &command, &reply);
    g_free(name);
    if (code) return code;
    bool there = reply->type == REDIS_REPLY_STRING;
    *bytes = there ? g_memdup2(reply->str, reply->len + 1) : NULL;
    *len = there ? reply->len : 0;
    links_free_replies(&reply, 1);
    return ERR_OK;
}

static enum err_code set(struct cache_verdicts *verdicts, char *name, const void *bytes, size_t len, int64_t ms)
{
    char expiry[24];
    g_snprintf(expiry, sizeof expiry, "%lld", (long long)ms);
    struct link_command command = {.argc = 5, .argv = {"SET", name, bytes, "PX", expiry}, .lens = {[2] = len}};
    redisReply *reply;
    enum err_code code = call(verdicts, &command, &reply);
    if (!code) links_free_replies(&reply, 1); /* memory that is full is as good as an end of its time */
    g_free(name);
    return code;
}

static char *state_name(const struct cache_verdicts *verdicts, const char *db)
{
    return g_strdup_printf("%s:%s:state", verdicts->prefix, db);
}

static char *verdict_name(const struct cache_verdicts *verdicts, const char *db, const char *state, const char *key)
{
    return g_strdup_printf("%s:%s:%s:verdict:%s", verdicts->prefix, db, state, key);
}

static bool is_state(const char *text, size_t len)
{
    return text && len == STATE_TEXT - 1 && strspn(text, "0123456789abcdef") == len;
}

enum err_code cache_verdicts_find(void *ctx, const char *db, const char *key, char **bytes, size_t *len)
{
    struct cache_verdicts *verdicts = ctx;
    char *state;
    *bytes = NULL;
    enum err_code code = get(verdicts, state_name(verdicts, db), &state, len);
    if (code) return code;
    code =
        is_state(state, *len) ? get(verdicts, verdict_name(verdicts, db, state, key), bytes, len) : ERR_DB_UNAVAILABLE;
    g_free(state);
    return code;
}

enum err_code cache_verdicts_keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes,
                                  size_t len)
{
    struct cache_verdicts *verdicts = ctx;
    if (!is_state(state, strlen(state))) return ERR_MALFORMED;
    return set(verdicts, verdict_name(verdicts, db, state, key), bytes, len, verdicts->ttl_ms);
}

enum err_code cache_verdicts_publish(struct cache_verdicts *verdicts, const char *db, const char *state, int64_t ms)
{
    char *name = state_name(verdicts, db);
    if (state) return set(verdicts, name, state, strlen(state), ms);
    struct link_command command = {.argc = 2, .argv = {"DEL", name}};
    redisReply *reply;
    enum err_code code = call(verdicts, &command, &reply);
    if (!code) links_free_replies(&reply, 1);
    g_free(name);
    return code;
}

enum err_code cache_verdicts_open(const struct cache_config *redis, struct cache_verdicts **out, struct err *err)
{
    struct link_config link;
    *out = NULL;
    enum err_code code = cache_read_config(redis, &link, err);
    if (code) return code;
    struct cache_verdicts *verdicts = g_new0(struct cache_verdicts, 1);
    links_init(&verdicts->links, &link);
    verdicts->prefix = g_strdup(redis->prefix && *redis->prefix ? redis->prefix : "assay");
    verdicts->ttl_ms = redis->ttl_ms;
    *out = verdicts;
    return ERR_OK;
}

void cache_verdicts_close(struct cache_verdicts *verdicts)
{
    if (!verdicts) return;
    links_free(&verdicts->links);
    g_free(verdicts->prefix);
    g_free(verdicts);
}
