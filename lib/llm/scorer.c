#include "lib/llm/scorer.h"

/* The interface first, so that its callers can be built; the backends follow. */

struct scorer_config scorer_defaults(void)
{
    return (struct scorer_config){.backend = "tei",
                                  .max_tokens = 1024,
                                  .timeout_ms = 10000,
                                  .max_attempts = 3,
                                  .backoff_ms = 200,
                                  .backoff_cap_ms = 5000,
                                  .retry_after_max_ms = 30000,
                                  .retry_share = 0.2,
                                  .breaker_failures = 5,
                                  .breaker_open_ms = 10000,
                                  .max_text_bytes = 262144,
                                  .max_reply_bytes = 1048576,
                                  .cache_entries = 4096};
}

enum err_code scorer_open(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    *out = NULL;
    return err_set(err, ERR_CONFIG, "no backend '%.40s' in this build", config->backend ? config->backend : "");
}

void scorer_close(struct scorer *scorer)
{
    (void)scorer;
}

enum err_code scorer_entails(struct scorer *scorer, const char *premise, const char *hypothesis, int64_t deadline_ns,
                             double *p, struct scorer_reply *info, struct err *err)
{
    (void)scorer, (void)premise, (void)hypothesis, (void)deadline_ns, (void)p;
    if (info) *info = (struct scorer_reply){.backend = "none", .tokens_in = -1, .tokens_out = -1};
    return err_set(err, ERR_UNREACHABLE, "no backend in this build");
}

void scorer_stop(struct scorer *scorer)
{
    (void)scorer;
}

void scorer_stats(struct scorer *scorer, struct scorer_stats *out)
{
    (void)scorer;
    *out = (struct scorer_stats){0};
}

const char *const *scorer_backends(void)
{
    static const char *const names[] = {"tei", "chat", NULL};
    return names;
}
