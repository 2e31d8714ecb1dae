/* DESIGN: one clarification question to the user, and the effect of its answer.
 *
 * Candidates with equal results are one *reading* of the question. The share of a reading is the probability that the
 * user intends it. Candidates are taken to be correct independently with P(correct), and at most one reading is
 * correct. Shares are therefore proportional to the odds of each reading's most likely candidate. The remaining share
 * is that of "none of them".
 *
 * Under policy ask, a question is asked if it pays: the expected P(correct) of the returned answer must rise by at
 * least ask_gain, averaged over the user's choices. Users err: an answer is right with probability USER_RELIABILITY, so
 * an answer that is already certain never leads to a question. The number of offered readings is the one with the
 * highest gain. It does not matter whether a candidate validated, but no question is asked if a guarantee holds.
 *
 * A worker, which has the schema, words the question (lib/explain/readings.h). That takes one more task of the family
 * explain, with the SQL of the readings. If it fails, the verdict follows the policy without a question.
 *
 * No state is stored between rounds: the answer arrives with the repeated request. A question's id is a digest of
 * database, question, evidence, candidates and earlier answers. A choice's id is a digest of its candidate's content.
 * Thus answers to questions that were not asked can be recognized and refused, and so can duplicate answers. With
 * answers, the shares are computed as before, and those of the chosen readings rise. P(correct) of each candidate is
 * then the share of its reading.
 *
 * Rejected: storing questions in Redis (an answer may arrive after a day, or never). Rejected: asking clause by clause
 * (two questions instead of one, and combinations of choices that no candidate has).
 */
#include "coordinator/internal.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAX_READINGS = 32, MAX_OFFERED = 4, SHOWN_ROWS = 3 };
static const double USER_RELIABILITY = 0.9, DEFAULT_GAIN = 0.05, CERTAIN = 0.999;
static const double CHOICE_GAIN = 0.01; /* minimum gain of one more choice, because users must read each */
static const char NONE[] = "none";

/* --- readings --- */

struct reading {
    uint32_t candidate; /* most likely candidate of the reading */
    double odds, share;
};

struct readings {
    struct reading list[MAX_READINGS]; /* ordered by share, the most likely reading first */
    uint32_t n;
};

static bool has_reading(const struct request *request, uint32_t index)
{
    return rules_tier(request, index) == TIER_JUDGED && !isnan(request->judged[index].p_correct);
}

static bool reads_alike(const struct request *request, uint32_t a, uint32_t b)
{
    const struct msg_execution *left = request->judged[a].execution, *right = request->judged[b].execution;
    return memcmp(left->digest, right->digest, sizeof left->digest) == 0;
}

static struct reading *reading_of(const struct request *request, struct readings *readings, uint32_t candidate)
{
    for (uint32_t i = 0; i < readings->n; i++)
        if (reads_alike(request, readings->list[i].candidate, candidate)) return &readings->list[i];
    return NULL;
}

static int by_odds(const void *a, const void *b)
{
    const struct reading *left = a, *right = b;
    if (left->odds != right->odds) return left->odds < right->odds ? 1 : -1;
    return left->candidate < right->candidate ? -1 : left->candidate > right->candidate;
}

static void find_readings(const struct request *request, struct readings *out)
{
    double all = 1;
    out->n = 0;
    for (uint32_t i = 0; i < request->n_given; i++) {
        if (!has_reading(request, i)) continue;
        double p = fmin(fmax(request->judged[i].p_correct, 1 - CERTAIN), CERTAIN);
        struct reading *seen = reading_of(request, out, i);
        if (!seen && out->n == MAX_READINGS) continue;
        if (!seen) *(seen = &out->list[out->n++]) = (struct reading){.candidate = i};
        if (p / (1 - p) > seen->odds) *seen = (struct reading){.candidate = i, .odds = p / (1 - p)};
    }
    qsort(out->list, out->n, sizeof *out->list, by_odds);
    for (uint32_t i = 0; i < out->n; i++) all += out->list[i].odds;
    for (uint32_t i = 0; i < out->n; i++) out->list[i].share = out->list[i].odds / all;
}

/* --- effect of an answer --- */

/* Returns the probability of an answer for a reading. `meant` is true if the answer names the reading. An erring user
 * picks one of at least two other choices. */
static double likelihood(bool meant)
{
    return meant ? USER_RELIABILITY : (1 - USER_RELIABILITY) / 2;
}

/* Returns the share of the best reading after `answer`, times the probability of that answer. `answer` equal to
 * `offered` means "none of these". */
static double best_after(const struct readings *readings, uint32_t offered, uint32_t answer)
{
    double best = 0;
    for (uint32_t i = 0; i < readings->n; i++) {
        bool meant = i < offered ? i == answer : answer == offered;
        best = fmax(best, readings->list[i].share * likelihood(meant));
    }
    return best;
}

static double gain_of(const struct readings *readings, uint32_t offered)
{
    double after = 0;
    for (uint32_t answer = 0; answer <= offered; answer++) after += best_after(readings, offered, answer);
    return after - readings->list[0].share;
}

/* Returns how many readings to offer, and the gain in *gain. Returns 0 if no offer pays. */
static uint32_t choose_offer(const struct readings *readings, double *gain)
{
    uint32_t best = 0;
    *gain = 0;
    for (uint32_t n = 2; n <= readings->n && n <= MAX_OFFERED; n++) {
        double with = gain_of(readings, n);
        if (with < *gain + CHOICE_GAIN) continue;
        *gain = with;
        best = n;
    }
    return best;
}

/* --- ids --- */

static const char *choice_id(struct request *request, uint32_t candidate)
{
    return arena_printf(&request->arena, "%016llx", (unsigned long long)request->states[candidate].hash[0]);
}

static void digest_text(XXH3_state_t *state, const char *text)
{
    if (text) XXH3_64bits_update(state, text, strlen(text));
    XXH3_64bits_update(state, "", 1);
}

/* Returns the id of the question that is asked after `n_before` answers. */
static const char *question_id(struct request *request, uint32_t n_before)
{
    const struct msg_request *message = request->message;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    digest_text(&state, message->db);
    digest_text(&state, message->question);
    digest_text(&state, message->evidence);
    if (message->schema) digest_text(&state, message->schema);
    for (uint32_t i = 0; i < message->n_candidates; i++) {
        XXH3_64bits_update(&state, &message->candidates[i].sql.len, sizeof message->candidates[i].sql.len);
        XXH3_64bits_update(&state, message->candidates[i].sql.bytes, message->candidates[i].sql.len);
    }
    for (uint32_t i = 0; i < n_before; i++) digest_text(&state, message->answers[i].choice);
    return arena_printf(&request->arena, "%016llx", (unsigned long long)XXH3_64bits_digest(&state));
}

/* Returns the candidate that a choice names, or NO_CANDIDATE for "none". */
static uint32_t chosen_by(const struct request *request, const char *choice)
{
    enum { DIGITS = 16 };
    char *end = NULL;
    uint64_t hash = strlen(choice) == DIGITS ? strtoull(choice, &end, 16) : 0;
    for (uint32_t i = 0; end == choice + DIGITS && i < request->n_given; i++)
        if (request->states[i].needs_tasks && request->states[i].hash[0] == hash) return i;
    return NO_CANDIDATE;
}

enum err_code ask_check_answers(struct request *request, struct err *err)
{
    const struct msg_request *message = request->message;
    for (uint32_t i = 0; i < message->n_answers; i++) {
        const struct msg_answer *answer = &message->answers[i];
        const char *asked = question_id(request, i);
        if (!asked) return err_set(err, ERR_LIMIT_MEMORY, "%s", err_meaning(ERR_LIMIT_MEMORY));
        for (uint32_t k = 0; k < i; k++)
            if (answer->question && strcmp(answer->question, message->answers[k].question) == 0)
                return err_set(err, ERR_MALFORMED,
                               "answers: a question is answered twice" ERR_HINT "send one answer to each question");
        if (!answer->question || strcmp(answer->question, asked) != 0)
            return err_set(err, ERR_MALFORMED,
                           "answers: item %u answers a question that was not asked" ERR_HINT
                           "send the same database, question, evidence and candidates, and the answers in the order of "
                           "the questions",
                           i + 1);
        if (!answer->choice ||
            (strcmp(answer->choice, NONE) != 0 && chosen_by(request, answer->choice) == NO_CANDIDATE))
            return err_set(err, ERR_MALFORMED, "answers: item %u has an unknown choice", i + 1);
    }
    return ERR_OK;
}

/* --- answers --- */

bool ask_looks_at_all(const struct request *request)
{
    return request->options.policy == MSG_ASK || request->message->n_answers;
}

/* Updates the shares by an answer. If the user chose a candidate that does not run now, all other readings lose
 * share. */
static void hear(struct request *request, struct readings *readings, const struct msg_answer *answer)
{
    double gain, all = 0, none = 1;
    uint32_t offered = choose_offer(readings, &gain), chosen = chosen_by(request, answer->choice);
    bool others = chosen == NO_CANDIDATE; /* the answer is "none of these" */
    const struct reading *meant =
        others || !has_reading(request, chosen) ? NULL : reading_of(request, readings, chosen);
    for (uint32_t i = 0; i < readings->n; i++) none -= readings->list[i].share;
    for (uint32_t i = 0; i < readings->n; i++) {
        readings->list[i].share *= likelihood(others ? i >= offered : &readings->list[i] == meant);
        all += readings->list[i].share;
    }
    all += none * likelihood(!meant);
    for (uint32_t i = 0; i < readings->n; i++) readings->list[i].share /= all;
}

/* Sorts the most likely reading first, as when the next question was chosen. */
static int by_share(const void *a, const void *b)
{
    const struct reading *left = a, *right = b;
    if (left->share != right->share) return left->share < right->share ? 1 : -1;
    return left->candidate < right->candidate ? -1 : left->candidate > right->candidate;
}

void ask_apply_answers(struct request *request)
{
    struct readings readings;
    if (!request->message->n_answers) return;
    request->core->stats.answered++;
    find_readings(request, &readings);
    for (uint32_t i = 0; i < request->message->n_answers; i++) {
        hear(request, &readings, &request->message->answers[i]);
        qsort(readings.list, readings.n, sizeof *readings.list, by_share);
    }
    for (uint32_t i = 0; i < request->n_given; i++) {
        const struct reading *own = has_reading(request, i) ? reading_of(request, &readings, i) : NULL;
        if (own) request->states[i].score.score = request->judged[i].p_correct = own->share;
    }
}

/* --- the question --- */

static bool may_ask(const struct request *request)
{
    bool promised = request->guarantee && request->guarantee->status == MSG_PROMISE_HELD;
    return request->options.policy == MSG_ASK && !request->ask.over && !promised && request->message->question &&
           request->families >> VSIG_EXPLAIN & 1 && request->message->n_answers < MSG_MAX_ANSWERS;
}

bool ask_begin(struct request *request)
{
    struct ask *ask = &request->ask;
    struct readings readings;
    if (!may_ask(request) || decide_is_late(request)) return false;
    ask->over = true;
    find_readings(request, &readings);
    uint32_t offered = choose_offer(&readings, &ask->gain);
    double least = request->options.ask_gain > 0 ? request->options.ask_gain : DEFAULT_GAIN;
    struct msg_candidate *others = arena_new_array(&request->arena, MAX_OFFERED, struct msg_candidate);
    ask->offered = arena_new_array(&request->arena, MAX_OFFERED, uint32_t);
    if (!offered || ask->gain < least || !others || !ask->offered) return false;
    for (uint32_t i = 0; i < offered; i++) ask->offered[i] = readings.list[i].candidate;
    struct msg_task task = decide_task(request, ask->offered[0]);
    task.family = vsig_family_name(VSIG_EXPLAIN);
    for (uint32_t i = 1; i < offered; i++)
        others[task.n_readings++] = (struct msg_candidate){.sql = request->judged[ask->offered[i]].sql, .score = NAN};
    task.readings = others;
    ask->n_offered = offered;
    ask->pending = true;
    request->states[ask->offered[0]].pending |= 1U << VSIG_EXPLAIN;
    request->core->stats.tasks++;
    request->core->actions.task(request->core->actions.ctx, &task);
    return true;
}

bool ask_is_pending(const struct request *request)
{
    return request->ask.pending;
}

bool ask_awaits(const struct request *request, const uint64_t hash[2])
{
    if (!request->ask.pending) return false;
    return memcmp(request->states[request->ask.offered[0]].hash, hash, sizeof request->states->hash) == 0;
}

void ask_give_up(struct request *request, const char *why)
{
    request->ask.pending = false;
    request->ask.concluded = true;
    request->states[request->ask.offered[0]].pending = 0;
    request->ask.note =
        arena_printf(&request->arena, "a clarification question would help, but was not asked: %s", why);
}

/* Returns the result to show with a choice: the number of rows, and the first rows if the verdict exposes them. */
static struct msg_execution *returns_of(struct request *request, uint32_t candidate)
{
    struct msg_execution *out = arena_new(&request->arena, struct msg_execution);
    if (!out) return NULL;
    *out = *request->judged[candidate].execution;
    if (out->n_sample > SHOWN_ROWS) out->n_sample = SHOWN_ROWS;
    return out;
}

/* Returns the request as JSON, which an answer must include. Returns NULL if it is too large or memory is short. */
static const char *request_text(struct request *request)
{
    char *json = msg_request_to_json(request->message);
    const char *out = json && strlen(json) <= MSG_MAX_META ? arena_strdup(&request->arena, json) : NULL;
    free(json);
    return out;
}

void ask_take(struct request *request, const struct msg_result *result)
{
    struct ask *ask = &request->ask;
    const struct msg_clarification *worded = result->clarification;
    enum err_code code = err_from_name(result->code);
    if (code || !worded || worded->n_choices != ask->n_offered) {
        ask_give_up(request, result->message ? result->message : err_meaning(code ? code : ERR_INTERNAL));
        return;
    }
    struct msg_clarification *out = arena_new(&request->arena, struct msg_clarification);
    struct msg_choice *choices = arena_new_array(&request->arena, ask->n_offered + 1, struct msg_choice);
    if (!out || !choices) {
        ask_give_up(request, err_meaning(ERR_LIMIT_MEMORY));
        return;
    }
    for (uint32_t i = 0; i < ask->n_offered; i++)
        choices[i] = (struct msg_choice){.id = choice_id(request, ask->offered[i]),
                                         .text = worded->choices[i].text,
                                         .candidate = ask->offered[i] + 1,
                                         .returns = returns_of(request, ask->offered[i])};
    choices[ask->n_offered] = (struct msg_choice){.id = NONE, .text = "none of these"};
    *out = (struct msg_clarification){.id = question_id(request, request->message->n_answers),
                                      .text = worded->text,
                                      .choices = choices,
                                      .n_choices = ask->n_offered + 1,
                                      .gain = ask->gain,
                                      .request = request_text(request)};
    ask->pending = false;
    ask->concluded = true;
    ask->clarification = out;
    request->core->stats.questions++;
}
