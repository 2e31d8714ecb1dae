/* Sends a request with retries. Decides after each attempt whether to retry, and how long to wait before the retry. */
#include "lib/base/clock.h"
#include "lib/llm/scorer_int.h"

#include <errno.h>
#include <time.h>

static const int64_t ms = 1000000;

/* Maps ranges of HTTP statuses to errors. The first row that contains the status applies. */
static const struct {
    int from, to;
    enum err_code code;
    const char *why;
} statuses[] = {
    {200, 200, ERR_OK, "answered"},
    {300, 399, ERR_CONFIG, "sent a redirect, which is not followed"},
    {401, 401, ERR_CONFIG, "rejected the key"},
    {403, 403, ERR_CONFIG, "does not allow this with the given key"},
    {404, 405, ERR_CONFIG, "does not know this path or model"},
    {408, 409, ERR_UNREACHABLE, "asked to retry"},
    {413, 413, ERR_REMOTE, "rejected the input as too large"},
    {424, 424, ERR_REMOTE, "failed on this input"},
    {429, 429, ERR_UNREACHABLE, "is overloaded"},
    {400, 499, ERR_REMOTE, "rejected this input"},
    {500, 599, ERR_UNREACHABLE, "failed"},
    {0, 999, ERR_MALFORMED, "sent an unexpected status"},
};

static enum err_code status_code(struct call *call, int status)
{
    unsigned i = 0;
    while (status < statuses[i].from || status > statuses[i].to) i++;
    if (statuses[i].code == ERR_OK) return ERR_OK;
    return err_set(call->err, statuses[i].code, "the model endpoint %s (status %d)", statuses[i].why, status);
}

static enum err_code end_code(struct call *call, const struct http_reply *reply)
{
    static const enum err_code codes[] = {
        [HTTP_UNREACHED] = ERR_UNREACHABLE, [HTTP_LATE] = ERR_UNREACHABLE, [HTTP_STOPPED] = ERR_CANCELLED,
        [HTTP_TOO_BIG] = ERR_LIMIT_BYTES,   [HTTP_UNTRUSTED] = ERR_CONFIG,
    };
    if (reply->end == HTTP_ANSWERED) return status_code(call, reply->status);
    if (reply->end == HTTP_LATE && clock_now_ns() >= call->deadline_ns)
        return err_set(call->err, ERR_DEADLINE, "the model endpoint did not answer before the deadline");
    return err_set(call->err, codes[reply->end], "model endpoint: %s", reply->why);
}

static void count(struct call *call, bool retry)
{
    struct scorer *s = call->scorer;
    call->info->attempts++;
    pthread_mutex_lock(&s->lock);
    s->stats.requests++;
    s->stats.retries += retry;
    pthread_mutex_unlock(&s->lock);
}

/* --- waiting ---------------------------------------------------------------------------------------------------- */

/* Sleeps until clock_now_ns reaches `until`, or until scorer_stop. */
static enum err_code sleep_until(struct call *call, int64_t until)
{
    struct scorer *s = call->scorer;
    int64_t left = until - clock_now_ns();
    struct timespec end = clock_after_ns(MAX(left, 0));
    pthread_mutex_lock(&s->lock);
    while (!s->stopped && pthread_cond_timedwait(&s->woken, &s->lock, &end) != ETIMEDOUT) continue;
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);
    return stopped ? err_set(call->err, ERR_CANCELLED, "cancelled") : ERR_OK;
}

/* Waits `ns`. Returns ERR_UNREACHABLE at once if the wait would end past the deadline. */
static enum err_code wait_for(struct call *call, int64_t ns, const char *why)
{
    int64_t until = clock_now_ns() + ns;
    if (until >= call->deadline_ns)
        return err_set(call->err, ERR_UNREACHABLE, "the model endpoint %s until after the deadline", why);
    return sleep_until(call, until);
}

/* Waits until the end of the pause that the endpoint requested. A pause applies to all calls to the endpoint. */
static enum err_code sit_out_pause(struct call *call)
{
    struct retry_policy *policy = &call->scorer->policy;
    int64_t left = retry_policy_pause_until(policy) - clock_now_ns();
    if (left <= 0) return ERR_OK;
    return wait_for(call, left + retry_policy_backoff(policy, 0), "asked to pause");
}

/* --- attempts --------------------------------------------------------------------------------------------------- */

static enum err_code admit(struct call *call)
{
    if (call->admitted) return ERR_OK;
    call->admitted = retry_policy_admit(&call->scorer->policy, clock_now_ns());
    if (call->admitted) return ERR_OK;
    return err_set(call->err, ERR_UNREACHABLE, "model endpoint: circuit open after repeated failures");
}

/* Reports a failed attempt to the breaker. A passed deadline is inconclusive if the attempt had less than a tenth of
 * the timeout. Answers are reported only after they have been read (scorer.c), because an invalid answer is a failure
 * too. */
static void report(struct call *call, enum err_code code, int64_t had_ns)
{
    struct scorer *s = call->scorer;
    bool fair = had_ns >= s->config.timeout_ms * ms / 10;
    bool failed = code == ERR_UNREACHABLE || (code == ERR_DEADLINE && fair);
    if (!failed && code != ERR_DEADLINE && code != ERR_CANCELLED) return;
    retry_policy_report(&s->policy, clock_now_ns(), failed ? BREAKER_FAILED : BREAKER_UNKNOWN);
    call->admitted = false;
}

static enum err_code attempt(struct call *call, const char *path, const char *body, bool retry,
                             struct http_reply *reply)
{
    int64_t now = clock_now_ns(), timeout = call->scorer->config.timeout_ms * ms;
    int64_t had = MIN(timeout, call->deadline_ns - now);
    count(call, retry);
    http_exchange(call->scorer->http, path, body, now + had, reply);
    if (reply->status) call->info->status = reply->status;
    enum err_code code = end_code(call, reply);
    report(call, code, had);
    return code;
}

/* Waits after failed attempt number `retry`. Returns ERR_OK if the caller should retry, otherwise the error of the
 * call. */
static enum err_code before_retry(struct call *call, uint32_t retry, const struct http_reply *reply)
{
    struct scorer *s = call->scorer;
    int64_t longest = s->config.retry_after_max_ms * ms, asked = MAX(reply->retry_after_ns, 0);
    if (asked) retry_policy_pause(&s->policy, clock_now_ns() + MIN(asked, longest));
    if (asked > longest || retry + 1 >= s->config.max_attempts || !retry_policy_spend(&s->policy))
        return ERR_UNREACHABLE;
    return wait_for(call, asked + retry_policy_backoff(&s->policy, retry), "asked to wait");
}

/* Returns ERR_OK if an attempt may be made now. Before the first attempt it waits for the end of a pause. */
static enum err_code before_attempt(struct call *call, bool first)
{
    struct scorer *s = call->scorer;
    pthread_mutex_lock(&s->lock);
    bool stopped = s->stopped;
    pthread_mutex_unlock(&s->lock);
    if (stopped) return err_set(call->err, ERR_CANCELLED, "cancelled");
    enum err_code code = first ? sit_out_pause(call) : ERR_OK;
    if (code == ERR_OK && clock_now_ns() >= call->deadline_ns)
        code = err_set(call->err, ERR_DEADLINE, "the deadline passed before the model endpoint was called");
    return code == ERR_OK ? admit(call) : code;
}

enum err_code call_exchange(struct call *call, const char *path, const char *body, struct http_reply *reply)
{
    *reply = (struct http_reply){.end = HTTP_STOPPED};
    retry_policy_earn(&call->scorer->policy);
    for (uint32_t retry = 0;; retry++) {
        enum err_code code = before_attempt(call, retry == 0);
        if (code != ERR_OK) return code;
        code = attempt(call, path, body, retry > 0, reply);
        if (code != ERR_UNREACHABLE) return code;
        code = before_retry(call, retry, reply);
        http_reply_clear(reply);
        if (code != ERR_OK) return code;
    }
}
