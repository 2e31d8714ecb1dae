#include "worker/cache_budget.h"

#include "lib/base/clock.h"
#include "worker/cache_link.h"

#include <glib.h>
#include <string.h>

enum { PROCESSES = 8, AMOUNTS = 3 };
static const double MINUTE_MS = 60000;

struct budget {
    struct links links;
    bool linked;
    char *key;
    double limits[AMOUNTS]; /* limits per minute; 0 means no limit */
    double share;           /* factor for the limits of this process if Redis is unavailable */
    pthread_mutex_t lock;   /* guards the fields below */
    double left[AMOUNTS];
    int64_t as_of_ms;
};

static void as_array(const struct budget_amount *amount, double out[AMOUNTS])
{
    out[0] = amount->requests;
    out[1] = amount->tokens;
    out[2] = amount->money;
}

/* --- in Redis ----------------------------------------------------------------------------------------------------- */

/* Keys: the hash. Arguments: limit and amount of each kind, then a flag. Flag 1 takes the amounts only if enough of
 * each kind is left; flag 0 takes them in any case. */
static const char SPEND[] =
    "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
    "local at = tonumber(redis.call('HGET', KEYS[1], 'at') or now) "
    "local left, enough = {}, true "
    "for i = 1, 3 do "
    "  local limit, want = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i]) "
    "  local had = tonumber(redis.call('HGET', KEYS[1], 'left' .. i) or limit) "
    "  left[i] = math.min(limit, had + math.max(0, now - at) * limit / 60000) "
    "  if limit > 0 and left[i] < want then enough = false end "
    "  left[i] = left[i] - want "
    "end "
    "if ARGV[7] == '1' and not enough then return 0 end "
    "redis.call('HSET', KEYS[1], 'at', now, 'left1', left[1], 'left2', left[2], 'left3', left[3]) "
    "redis.call('PEXPIRE', KEYS[1], 600000) "
    "return 1";

/* Takes amounts from the budget in Redis. Returns 1 if it took them and 0 if not. Returns a value below 0 if Redis is
 * unavailable. */
static int spend_shared(struct budget *budget, const double wants[AMOUNTS], bool only_if_enough)
{
    char numbers[2 * AMOUNTS][32];
    struct link_command command = {.argc = 3, .argv = {"EVAL", SPEND, "1"}};
    redisReply *reply;
    if (!budget->linked) return -1;
    command.argv[command.argc++] = budget->key;
    for (int i = 0; i < 2 * AMOUNTS; i++) {
        double number = i % 2 ? wants[i / 2] : budget->limits[i / 2];
        command.argv[command.argc++] = g_ascii_dtostr(numbers[i], sizeof *numbers, number);
    }
    command.argv[command.argc++] = only_if_enough ? "1" : "0";
    for (int i = 0; i < command.argc; i++) command.lens[i] = strlen(command.argv[i]);
    if (links_call(&budget->links, &command, 1, false, &reply, NULL)) return -1;
    int answer = reply->type == REDIS_REPLY_INTEGER ? reply->integer == 1 : -1;
    links_free_replies(&reply, 1);
    return answer;
}

/* --- local share --- */

static bool spend_here(struct budget *budget, const double wants[AMOUNTS], bool only_if_enough)
{
    int64_t now_ms = clock_now_ns() / 1000000;
    bool enough = true;
    pthread_mutex_lock(&budget->lock);
    for (int i = 0; i < AMOUNTS; i++) {
        double limit = budget->limits[i] * budget->share;
        budget->left[i] = MIN(limit, budget->left[i] + (double)(now_ms - budget->as_of_ms) * limit / MINUTE_MS);
        enough = enough && (limit <= 0 || budget->left[i] >= wants[i]);
    }
    budget->as_of_ms = now_ms;
    for (int i = 0; i < AMOUNTS && (enough || !only_if_enough); i++) budget->left[i] -= wants[i];
    pthread_mutex_unlock(&budget->lock);
    return enough || !only_if_enough;
}

static bool spend(struct budget *budget, const double wants[AMOUNTS], bool only_if_enough)
{
    int answer = spend_shared(budget, wants, only_if_enough);
    return answer < 0 ? spend_here(budget, wants, only_if_enough) : answer == 1;
}

static bool has_limit(const struct budget *budget)
{
    return budget->limits[0] > 0 || budget->limits[1] > 0 || budget->limits[2] > 0;
}

bool budget_take(struct budget *budget, const struct budget_amount *estimate)
{
    double wants[AMOUNTS];
    as_array(estimate, wants);
    return !has_limit(budget) || spend(budget, wants, true);
}

void budget_settle(struct budget *budget, const struct budget_amount *estimate, const struct budget_amount *spent)
{
    double wanted[AMOUNTS], came_to[AMOUNTS], more[AMOUNTS];
    bool differs = false;
    as_array(estimate, wanted);
    as_array(spent, came_to);
    for (int i = 0; i < AMOUNTS; i++) {
        more[i] = came_to[i] - wanted[i];
        differs = differs || more[i] != 0;
    }
    if (differs && has_limit(budget)) spend(budget, more, false);
}

/* --- open, close -------------------------------------------------------------------------------------------------- */

enum err_code budget_open(const struct budget_config *config, struct budget **out, struct err *err)
{
    struct link_config link;
    bool linked = config->redis.address != NULL;
    *out = NULL;
    enum err_code code = linked ? cache_read_config(&config->redis, &link, err) : ERR_OK;
    if (code) return code;
    struct budget *budget = g_new0(struct budget, 1);
    budget->linked = linked;
    if (linked) links_init(&budget->links, &link);
    budget->key = g_strdup_printf("%s:budget:llm",
                                  config->redis.prefix && *config->redis.prefix ? config->redis.prefix : "assay");
    budget->share = 1.0 / (config->processes ? config->processes : linked ? PROCESSES : 1);
    as_array(&config->per_minute, budget->limits);
    for (int i = 0; i < AMOUNTS; i++) budget->left[i] = budget->limits[i] * budget->share;
    budget->as_of_ms = clock_now_ns() / 1000000;
    pthread_mutex_init(&budget->lock, NULL);
    *out = budget;
    return ERR_OK;
}

void budget_close(struct budget *budget)
{
    if (!budget) return;
    if (budget->linked) links_free(&budget->links);
    pthread_mutex_destroy(&budget->lock);
    g_free(budget->key);
    g_free(budget);
}
