/* Loads verifier files, which users provide. Loading must end in a model that gives every candidate of every request a
 * probability, or in an error. Besides a content model (fuzz_model.c), a verifier file has hashed models in base64,
 * priors of generators and a margin. */
#include "scoring/verifier.h"
#include "scoring/verifier_context.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { CANDIDATES = 3, WAYS = 3 };

/* Makes three candidates: two agree and one fails. They name no generator if `way` is 0. If it is 1, all name one; if
 * it is 2, two of them do. */
static void make_candidates(struct msg_candidate *given, struct msg_judged *judged, struct msg_execution *execution,
                            unsigned way)
{
    static const char *const names[] = {"", "g"};
    for (unsigned i = 0; i < CANDIDATES; i++) {
        given[i] = (struct msg_candidate){.sql = {"SELECT 1", 8}, .count = 1, .score = NAN};
        if (way == 1 || (way == 2 && i)) given[i].generators = &names[1], given[i].n_generators = 1;
        execution[i] = (struct msg_execution){.code = i == 2 ? "sql_error" : "ok", .rows = 1, .digest = {7, 7}};
        judged[i] = (struct msg_judged){.sql = given[i].sql, .judged = true, .invalid = i == 2, .count = i + 1};
        judged[i].execution = &execution[i];
    }
}

static void judge(const struct verifier_model *model, const char *question, const float *features, unsigned way)
{
    struct msg_candidate given[CANDIDATES];
    struct msg_judged judged[CANDIDATES];
    struct msg_execution execution[CANDIDATES];
    make_candidates(given, judged, execution, way);
    struct msg_request request = {.question = question, .candidates = given, .n_candidates = CANDIDATES};
    for (unsigned i = 0; i < CANDIDATES; i++) {
        struct verifier_subject subject = {&request, judged, CANDIDATES, CANDIDATES, i, features};
        double p = verifier_entails(model, &subject);
        if (!(p >= 0 && p <= 1)) abort(); /* fails for NaN too, because there are features to score */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct verifier_model *model;
    if (verifier_load_text((const char *)data, size, &model, &err)) return 0;
    float some[FEATURE_COUNT], much[FEATURE_COUNT];
    for (unsigned i = 0; i < FEATURE_COUNT; i++) {
        some[i] = i % 3 == 2 ? NAN : (float)(i % 2);
        much[i] = i % 2 ? 1e30F : -1e30F;
    }
    some[FEATURE_COMPONENTS] = 1;
    for (unsigned way = 0; way < WAYS; way++) {
        judge(model, "How many boats of 'Oslo' are there?", some, way);
        judge(model, NULL, much, way);
    }
    verifier_free(model);
    return 0;
}
