#include "worker/cache_verdicts.h"

#include "worker/cache_link.h"

#include <glib.h>
#include <string.h>

struct cache_verdicts {
    struct links links;
    char *prefix;
    int64_t ttl_ms;
};

/* Runs a command. After ERR_OK the caller frees the reply with links_free_replies. */
static enum err_code call(struct cache_verdicts *verdicts, struct link_command *command, redisReply **reply)
{
    for (int i = 0; i < command->argc; i++)
        if (!command->lens[i]) command->lens[i] = strlen(command->argv[i]);
    return links_call(&verdicts->links, command, 1, false, reply, NULL);
}

static enum err_code set(struct cache_verdicts *verdicts, char *name, const void *bytes, size_t len, int64_t ms)
{
    char expiry[24];
    g_snprintf(expiry, sizeof expiry, "%lld", (long long)ms);
    struct link_command command = {.argc = 5, .argv = {"SET", name, bytes, "PX", expiry}, .lens = {[2] = len}};
    redisReply *reply;
    enum err_code code = call(verdicts, &command, &reply);
    if (!code) links_free_replies(&reply, 1); /* if memory is full, the entry is missing, as after expiry */
    g_free(name);
    return code;
}

static char *state_name(const struct cache_verdicts *verdicts, const char *db)
{
    return g_strdup_printf("%s:%s:state", verdicts->prefix, db);
}

static bool is_state(const char *text, size_t len)
{
    return text && len == STATE_TEXT - 1 && strspn(text, "0123456789abcdef") == len;
}

/* Returns the state, and the verdict stored under it, in one round trip. Key: that of the state. Arguments: the parts
 * of a verdict's key before and after the state. */
static const char FIND[] = "local state = redis.call('GET', KEYS[1]) "
                           "if not state then return {} end "
                           "return {state, redis.call('GET', ARGV[1] .. state .. ARGV[2])}";

static bool is_string(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING;
}

/* Decodes the reply to FIND. */
static enum err_code read_found(const redisReply *reply, char **bytes, size_t *len)
{
    bool known = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && is_string(reply->element[0]) &&
                 is_state(reply->element[0]->str, reply->element[0]->len);
    if (!known) return reply->type == REDIS_REPLY_ERROR ? ERR_UNREACHABLE : ERR_DB_UNAVAILABLE;
    const redisReply *verdict = reply->element[1];
    if (!is_string(verdict)) return ERR_OK;
    *bytes = g_memdup2(verdict->str, verdict->len + 1);
    *len = verdict->len;
    return ERR_OK;
}

enum err_code cache_verdicts_find(void *ctx, const char *db, const char *key, char **bytes, size_t *len)
{
    struct cache_verdicts *verdicts = ctx;
    char *name = state_name(verdicts, db), *before = g_strdup_printf("%s:%s:", verdicts->prefix, db),
         *behind = g_strdup_printf(":verdict:%s", key);
    struct link_command command = {.argc = 6, .argv = {"EVAL", FIND, "1", name, before, behind}};
    redisReply *reply;
    *bytes = NULL;
    *len = 0;
    enum err_code code = call(verdicts, &command, &reply);
    if (!code) {
        code = read_found(reply, bytes, len);
        links_free_replies(&reply, 1);
    }
    g_free(name);
    g_free(before);
    g_free(behind);
    return code;
}

enum err_code cache_verdicts_keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes,
                                  size_t len)
{
    struct cache_verdicts *verdicts = ctx;
    if (!is_state(state, strlen(state))) return ERR_MALFORMED;
    char *name = g_strdup_printf("%s:%s:%s:verdict:%s", verdicts->prefix, db, state, key);
    return set(verdicts, name, bytes, len, verdicts->ttl_ms);
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
