/* Opens a scorer on a fake endpoint, with short waits. */
#ifndef ASSAY_TESTS_MOCK_LLM_FIXTURE_H
#define ASSAY_TESTS_MOCK_LLM_FIXTURE_H

#include "lib/base/clock.h"
#include "lib/llm/scorer.h"
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>

struct fixture {
    struct fake_model *fake;
    char endpoint[128];
    struct scorer_config config; /* may be changed before the first call of `ask` */
    struct scorer *scorer;       /* opened by the first call of `ask` */
    double p;
    struct scorer_reply info;
    struct err err;
    int64_t took_ms;
};

/* A classifier's reply, with its own order of labels, and the reply of its /info. */
extern const char tei_info[], tei_answer[];

/* Prepares a scorer for the backend "tei" or "chat": three attempts, waits of at most 10 ms, no answer cache, no
 * circuit breaker. */
void fixture_start(struct fixture *f, const char *backend);
void fixture_stop(struct fixture *f); /* Closes the scorer and checks for leaks. */

/* Sends one question to the scorer, with a deadline in 10 s. Puts the result into *f. */
enum err_code ask(struct fixture *f);
enum err_code ask_within(struct fixture *f, const char *premise, const char *question, int64_t limit_ms);

#define script(f, path, ...)                                                                                           \
    do {                                                                                                               \
        static const struct fake_step steps_[] = {__VA_ARGS__};                                                        \
        fake_model_script((f)->fake, path, steps_, sizeof steps_ / sizeof *steps_);                                    \
    } while (0)

#define assert_code(f, actual, expected)                                                                               \
    cr_assert_eq(actual, expected, "got %s (%s), expected %s", err_name(actual), (f)->err.text, err_name(expected))

#endif
