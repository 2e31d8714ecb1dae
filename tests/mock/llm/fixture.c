#include "tests/mock/llm/fixture.h"

#include <stdio.h>

const char tei_info[] = "{\"model_id\":\"nli\",\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"contradiction\","
                        "\"1\":\"entailment\",\"2\":\"neutral\"}}},\"max_client_batch_size\":32}";
const char tei_answer[] = "[[{\"label\":\"neutral\",\"score\":0.25},{\"label\":\"entailment\",\"score\":0.625},"
                          "{\"label\":\"contradiction\",\"score\":0.125}]]";

void fixture_start(struct fixture *f, const char *backend)
{
    *f = (struct fixture){.fake = fake_model_start(), .config = scorer_defaults()};
    snprintf(f->endpoint, sizeof f->endpoint, "%s%s", fake_model_url(f->fake), backend[0] == 'c' ? "/v1" : "");
    f->config.backend = backend;
    f->config.endpoint = f->endpoint;
    f->config.model = "judge-1";
    f->config.backoff_ms = 10;
    f->config.backoff_cap_ms = 10;
    f->config.breaker_failures = 0;
    f->config.cache_entries = 0;
    f->config.seed = 7;
    script(f, "/info", {.body = tei_info});
}

void fixture_stop(struct fixture *f)
{
    scorer_close(f->scorer);
    fake_model_stop(f->fake);
    leak_check();
}

enum err_code ask_within(struct fixture *f, const char *premise, const char *question, int64_t limit_ms)
{
    if (!f->scorer) cr_assert_eq(scorer_open(&f->config, &f->scorer, &f->err), ERR_OK, "%s", f->err.text);
    int64_t began = clock_now_ns();
    f->p = -1;
    enum err_code code =
        scorer_entails(f->scorer, premise, question, began + limit_ms * 1000000, &f->p, &f->info, &f->err);
    f->took_ms = (clock_now_ns() - began) / 1000000;
    cr_assert_eq(code, f->err.code, "the code and its text agree");
    cr_assert_eq(code == ERR_OK, f->p >= 0 && f->p <= 1, "an answer is a probability, an error leaves it alone");
    return code;
}

enum err_code ask(struct fixture *f)
{
    return ask_within(f, "the query counts ships; the result is 3", "How many ships are there?", 10000);
}
