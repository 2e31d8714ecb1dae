/* Several threads share one scorer, its answer cache and its circuit breaker, until the main thread stops the scorer.
 * It is a plain program, because Criterion does not start under ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/clock.h"
#include "lib/llm/scorer.h"
#include "tests/support/fake_model.h"
#include "tests/support/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 8, QUESTIONS = 200 };

static struct scorer *scorer;
static atomic_int answers, cancelled, surprises;

static void *ask(void *context)
{
    const char *premise = context;
    for (int i = 0; i < QUESTIONS; i++) {
        char question[32];
        double p = -1;
        struct err err = {0};
        struct scorer_reply info;
        struct scorer_stats stats;
        snprintf(question, sizeof question, "question %d", i % 50);
        enum err_code code = scorer_entails(scorer, premise, question, clock_now_ns() + 5000000000, &p, &info, &err);
        scorer_stats(scorer, &stats);
        if (code == ERR_OK && p == 0.75)
            atomic_fetch_add(&answers, 1);
        else if (code == ERR_CANCELLED)
            atomic_fetch_add(&cancelled, 1);
        else if (code != ERR_UNREACHABLE) /* expected error: circuit open, or no retries left */
            atomic_fetch_add(&surprises, 1);
        if (code != ERR_OK && code != ERR_CANCELLED && code != ERR_UNREACHABLE) fprintf(stderr, "%s\n", err.text);
    }
    return NULL;
}

static bool is_busy(void *context)
{
    return fake_model_requests(context, "/predict") >= 300;
}

int main(void)
{
    static const struct fake_step info[] = {{.status = 404}};
    static const struct fake_step steps[] = {{.body = "[{\"label\":\"entailment\",\"score\":0.75}]"},
                                             {.status = 500},
                                             {.body = "[{\"label\":\"entailment\",\"score\":0.75}]"},
                                             {.act = FAKE_RESET},
                                             {.body = "[{\"label\":\"entailment\",\"score\":0.75}]"}};
    struct fake_model *fake = fake_model_start();
    struct scorer_config config = scorer_defaults();
    struct err err = {0};
    pthread_t threads[THREADS];
    static char premises[THREADS][16];
    fake_model_script(fake, "/info", info, 1);
    fake_model_script(fake, "/predict", steps, sizeof steps / sizeof *steps);
    config.endpoint = fake_model_url(fake);
    config.backoff_ms = 1;
    config.breaker_failures = 2;
    config.breaker_open_ms = 1;
    config.cache_entries = 64;
    if (scorer_open(&config, &scorer, &err) != ERR_OK) return 1;
    for (int i = 0; i < THREADS; i++) {
        snprintf(premises[i], sizeof premises[i], "premise %d", i / 2);
        pthread_create(&threads[i], NULL, ask, premises[i]);
    }
    wait_until(is_busy, fake, 10000);
    scorer_stop(scorer);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    scorer_close(scorer);
    fake_model_stop(fake);
    printf("%d answers, %d cancelled, %d surprises\n", answers, cancelled, surprises);
    return answers == 0 || surprises != 0;
}
