/* DESIGN: the table of open requests, and the dispatch of events to them.
 *
 * The core finds the request of an event by its key. It passes the event to the file for the request's phase: ingest,
 * lookup, decide, consult, repair, ask, story or polish. Each of these phases has an entry in struct request, and at
 * most one phase awaits a result at a time. A result that no phase awaits is stray. A request's memory is one arena,
 * freed when its verdict is published.
 *
 * The clock is the time of the last event. A scan finds passed deadlines; it runs only when the earliest deadline has
 * passed.
 */
#include "coordinator/internal.h"

#include "proto/bus/mutation.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WINDOW = 16, SCRATCH_BYTES = 64 << 20, SPARE_BYTES = 32 << 10, WAIT_SHARE = 32 };
static const size_t REQUEST_BYTES = (size_t)512 << 20;

static guint key_hash(gconstpointer p)
{
    const struct msg_key *key = p;
    return (guint)((uint64_t)key->offset * 0x9E3779B97F4A7C15U >> 32) ^ (guint)key->partition;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    const struct msg_key *left = a, *right = b;
    return left->partition == right->partition && left->offset == right->offset;
}

/* Keeps the arena of a closed request for reuse, because malloc is slow for a new chunk for each request. Only arenas
 * that stayed small are kept. */
static void recycle_arena(struct core *core, struct arena *arena)
{
    if (core->n_spare == SPARE_ARENAS || arena->used > SPARE_BYTES) {
        arena_free(arena);
        return;
    }
    arena_reset(arena);
    core->spare[core->n_spare++] = *arena;
}

static void request_free(gpointer p)
{
    struct request *request = p;
    recycle_arena(request->core, &request->arena);
    free(request);
}

struct core *core_new(const struct core_config *config, const struct core_actions *actions)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core) return NULL;
    core->config = *config;
    if (!core->config.max_window) core->config.max_window = DEFAULT_WINDOW;
    core->actions = *actions;
    core->open = g_hash_table_new_full(key_hash, key_equal, NULL, request_free);
    arena_init(&core->scratch, SCRATCH_BYTES);
    const struct guarantee *guarantee = config->models ? config->models->guarantee : NULL;
    bool whole = (!guarantee || (core->traffic = guarantee_traffic_new(guarantee))) &&
                 (!config->finds_duplicates || (core->duplicates = duplicates_new()));
    if (!whole) {
        core_free(core);
        return NULL;
    }
    return core;
}

void core_free(struct core *core)
{
    if (!core) return;
    g_hash_table_destroy(core->open);
    while (core->n_spare) arena_free(&core->spare[--core->n_spare]);
    arena_free(&core->scratch);
    duplicates_free(core->duplicates);
    free(core->traffic);
    free(core);
}

uint32_t core_open_requests(const struct core *core)
{
    return g_hash_table_size(core->open);
}
int64_t core_oldest_ns(const struct core *core)
{
    GHashTableIter iter;
    gpointer value;
    int64_t oldest = 0;
    g_hash_table_iter_init(&iter, core->open);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        int64_t arrived = ((const struct request *)value)->arrived_ns;
        if (!oldest || arrived < oldest) oldest = arrived;
    }
    return oldest;
}

struct core_stats core_get_stats(const struct core *core)
{
    return core->stats;
}

static void dead(struct core *core, void *token, const struct err *why)
{
    core->stats.dead++;
    core->actions.dead(core->actions.ctx, token, why);
}

static struct request *request_new(struct core *core, const struct core_incoming *incoming)
{
    struct request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->core = core;
    request->key = incoming->key;
    request->token = incoming->token;
    request->arrived_ns = incoming->arrived_ns;
    if (core->n_spare)
        request->arena = core->spare[--core->n_spare];
    else
        arena_init(&request->arena, REQUEST_BYTES);
    return request;
}

void core_note_deadline(struct core *core, int64_t deadline_ns)
{
    if (deadline_ns && (!core->next_deadline || deadline_ns < core->next_deadline)) core->next_deadline = deadline_ns;
}

static enum err_code read_request(struct request *request, const struct core_incoming *incoming, struct err *err)
{
    enum err_code code =
        edge_decode_request(&request->arena, incoming->type, incoming->bytes, incoming->len, &request->message, err);
    if (code) return code;
    if (incoming->traceparent) request->message->traceparent = arena_strdup(&request->arena, incoming->traceparent);
    return g_hash_table_contains(request->core->open, &request->key)
               ? err_set(err, ERR_MALFORMED, "a request with this key is already open")
               : ERR_OK;
}

/* Returns the identity of a request's round. A request that is repeated with another answer is a new round of the same
 * id, and may itself be duplicated. Returns NULL if memory is short. */
static const char *round_of(struct arena *arena, const struct msg_request *message)
{
    const struct msg_answer *last = message->n_answers ? &message->answers[message->n_answers - 1] : NULL;
    if (!last || !last->question || !last->choice) return message->id;
    return arena_printf(arena, "%s\x1f%s\x1f%s", message->id, last->question, last->choice);
}

/* Searches for an earlier copy of the request. Duplicates of a request without an id cannot be recognized. */
static enum duplicates_answer find_duplicate(struct core *core, struct arena *arena, const struct msg_request *message,
                                             const struct core_incoming *incoming)
{
    const char *round = core->duplicates && message->id ? round_of(arena, message) : NULL;
    if (!round) return DUPLICATES_NONE;
    enum duplicates_answer seen =
        duplicates_check(core->duplicates, incoming->key, round, incoming->bytes, incoming->len);
    return incoming->redriven ? DUPLICATES_NONE : seen;
}

/* Starts judging an open request. No task has been sent for it yet. */
static void judge(struct request *request, int64_t now_ns)
{
    struct core *core = request->core;
    if (!decide_advance(request, now_ns)) core_note_deadline(core, request->deadline_ns);
}

static void open_request(struct request *request, bool is_reused, int64_t now_ns)
{
    struct core *core = request->core;
    struct err err = {0};
    struct trace_span span;
    g_hash_table_insert(core->open, &request->key, request);
    spans_begin(request, now_ns);
    if (is_reused) {
        decide_failed(request, "id_reused", "an earlier request with this id had different contents", now_ns);
        return;
    }
    spans_begin_part(request, "parse", &span);
    enum err_code code = ingest_request(request, &err);
    trace_number(&span, "assay.candidates", request->n_given);
    spans_end_part(request, &span, code);
    if (code)
        decide_failed(request, code == ERR_LIMIT_COUNT && !request->n ? "no_candidates" : err_name(code), err.text,
                      now_ns);
    else if (!lookup_begin(request, now_ns))
        judge(request, now_ns);
}

void core_request(struct core *core, const struct core_incoming *incoming, int64_t now_ns)
{
    struct err err = {0};
    core->now_ns = now_ns;
    core->stats.requests++;
    struct request *request = request_new(core, incoming);
    enum err_code code =
        request ? read_request(request, incoming, &err) : err_set(&err, ERR_NOMEM, "no memory for a request");
    enum duplicates_answer seen =
        code ? DUPLICATES_NONE : find_duplicate(core, &request->arena, request->message, incoming);
    if (!code && seen != DUPLICATES_SAME) {
        open_request(request, seen == DUPLICATES_OTHER, now_ns);
        return;
    }
    if (request) request_free(request);
    if (code) {
        dead(core, incoming->token, &err);
    } else {
        core->stats.duplicates++;
        core->actions.duplicate(core->actions.ctx, incoming->token);
    }
}

void core_history(struct core *core, const struct core_incoming *incoming)
{
    struct msg_request *message;
    struct err err;
    if (!core->duplicates) return;
    arena_reset(&core->scratch);
    if (edge_decode_request(&core->scratch, incoming->type, incoming->bytes, incoming->len, &message, &err) == ERR_OK)
        find_duplicate(core, &core->scratch, message, incoming);
}

void core_forget(struct core *core, int32_t partition)
{
    GHashTableIter iter;
    gpointer value;
    if (core->duplicates) duplicates_forget(core->duplicates, partition);
    g_hash_table_iter_init(&iter, core->open);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct request *request = value;
        if (request->key.partition != partition) continue;
        if (core->actions.dropped) core->actions.dropped(core->actions.ctx, request->token);
        g_hash_table_iter_remove(&iter);
    }
}

void *core_token(const struct core *core, struct msg_key key)
{
    const struct request *request = g_hash_table_lookup(core->open, &key);
    return request ? request->token : NULL;
}

bool core_awaits(const struct core *core, struct msg_key key, const uint64_t hash[2], const char *family)
{
    const struct request *request = g_hash_table_lookup(core->open, &key);
    int number = vsig_family_by_name(family);
    if (request && polish_is_pending(request)) return false;
    for (uint32_t i = 0; request && number >= 0 && i < request->n; i++) {
        const struct candidate_state *state = &request->states[i];
        if (state->sent && state->hash[0] == hash[0] && state->hash[1] == hash[1]) return state->pending >> number & 1;
    }
    return false;
}

/* Returns the candidate that a result belongs to, matched by content. The candidate index in the result only speeds up
 * the search. */
static struct candidate_state *state_of(const struct request *request, const struct msg_result *result)
{
    for (uint32_t i = 0; i <= request->n; i++) {
        uint32_t index = i == 0 ? result->candidate : i - 1;
        if (index >= request->n) continue;
        struct candidate_state *state = &request->states[index];
        if (MUTATED(index_keys) && i == 0 && state->sent) return state;
        if (MUTATED(old_attempt) && state->sent && state->pending) return state;
        if (state->sent && state->hash[0] == result->hash[0] && state->hash[1] == result->hash[1]) return state;
    }
    return NULL;
}

/* Submits a candidate to the remote verifier. Must be called when all of its families have answered. */
static void ask_verifier(struct request *request, uint32_t index)
{
    struct core *core = request->core;
    struct candidate_state *state = &request->states[index];
    const struct msg_result *result = state->results[VSIG_EXPLAIN];
    bool runs = !request->judged[index].invalid && result && result->explanation && result->explanation->premise &&
                result->execution && err_from_name(result->execution->code) == ERR_OK;
    if (!core->actions.verify || !runs || !request->message->question || index >= request->n_given) return;
    struct core_model_question question = {.key = request->key,
                                           .hash = {state->hash[0], state->hash[1]},
                                           .candidate = index,
                                           .premise = result->explanation->premise,
                                           .hypothesis = request->message->question,
                                           .deadline_ns = request->deadline_ns,
                                           .trace = spans_context(request)};
    state->verifier_asked = true;
    state->remote_answer = (struct core_verifier_answer){.code = ERR_FULL, .message = err_meaning(ERR_FULL)};
    state->verifier_pending = core->actions.verify(core->actions.ctx, &question);
    core->stats.verifications++;
    core->stats.verifier_failures += !state->verifier_pending;
}

void core_verified(struct core *core, struct msg_key key, const uint64_t hash[2],
                   const struct core_verifier_answer *answer, int64_t now_ns)
{
    struct request *request = g_hash_table_lookup(core->open, &key);
    struct candidate_state *state = NULL;
    core->now_ns = now_ns;
    if (request && polish_is_pending(request)) request = NULL;
    for (uint32_t i = 0; request && i < request->n && !state; i++) {
        struct candidate_state *own = &request->states[i];
        if (own->verifier_pending && own->hash[0] == hash[0] && own->hash[1] == hash[1]) state = own;
    }
    if (!state) {
        core->stats.stray++;
        return;
    }
    bool possible = answer->p >= 0 && answer->p <= 1;
    state->verifier_pending = false;
    state->remote_answer = *answer;
    state->remote_answer.message = answer->message ? arena_strdup(&request->arena, answer->message) : NULL;
    if (!answer->code && !possible)
        state->remote_answer =
            (struct core_verifier_answer){.code = ERR_MALFORMED, .message = "the response is not a probability"};
    core->stats.verifier_failures += state->remote_answer.code != ERR_OK;
    if (decide_is_past_deadline(request))
        decide_deadline(request, now_ns);
    else
        decide_advance(request, now_ns);
}

static enum err_code take_answer(struct core *core, const struct msg_result *result, int64_t now_ns)
{
    struct core_verifier_answer answer = {err_from_name(result->code), result->p, result->message};
    core_verified(core, result->key, result->hash, &answer, now_ns);
    return ERR_OK;
}

static enum err_code take_correction(struct request *request, const struct msg_result *result, int64_t now_ns)
{
    if (!repair_awaits_correction(request, result->hash)) {
        request->core->stats.stray++;
        return ERR_OK;
    }
    if (decide_is_late(request)) {
        decide_deadline(request, now_ns);
        return ERR_OK;
    }
    repair_take_correction(request, result);
    decide_advance(request, now_ns);
    return ERR_OK;
}

/* Handles a polisher's response. While a verdict waits for its reworded explanation, any other result is stray. */
static enum err_code take_polished(struct request *request, const struct msg_result *result)
{
    if (strcmp(result->family, MSG_POLISHER) == 0 && polish_awaits(request, result->hash))
        polish_take(request, result);
    else
        request->core->stats.stray++;
    return ERR_OK;
}

static void tell_progress(const struct request *request, uint32_t index, int family)
{
    const struct core_actions *actions = &request->core->actions;
    const struct coordinator_progress progress = {request->message->tag, index, request->n_given,
                                                  vsig_family_name((enum vsig_family)family)};
    if (actions->progress) actions->progress(actions->ctx, &progress);
}

/* Updates the mean wait. Uses only the first result on a candidate, because the other families ran after it. */
static void note_wait(struct core *core, const struct candidate_state *state, const struct msg_result *result)
{
    int64_t wait = core->now_ns - state->sent_ns - result->ns;
    core->wait_ns += ((wait > 0 ? wait : 0) - core->wait_ns) / WAIT_SHARE;
}

/* Handles a family's result on one candidate. The result is stray if no phase awaits it. */
static void take_result(struct request *request, struct msg_result *result, int64_t now_ns)
{
    struct core *core = request->core;
    int family = vsig_family_by_name(result->family);
    struct candidate_state *state = state_of(request, result);
    bool awaited = state && family >= 0 && state->pending >> family & 1;
    if (!awaited || result->proposes != repair_awaits(request, state->hash) ||
        result->asks != ask_awaits(request, state->hash) || !story_fits(request, result)) {
        core->stats.stray++;
        return;
    }
    if (state->pending == request->families) note_wait(core, state, result);
    request->worker_ns += result->ns;
    lookup_note_state(request, result->state);
    /* If this family timed out, so will the others. An opinion or a question is optional, so the request continues. */
    bool late = family != VSIG_LLM && !result->asks && err_from_name(result->code) == ERR_DEADLINE;
    if (result->proposes && decide_is_late(request)) late = true; /* there is no time left to judge proposals */
    if (!late) state->pending &= ~(1U << family);
    if (!late && result->proposes) {
        repair_take_proposals(request, result);
        decide_advance(request, now_ns);
        return;
    }
    if (result->asks) {
        ask_take(request, result);
        decide_advance(request, now_ns);
        return;
    }
    if (!late && story_awaits(request, state->hash)) {
        story_take(request, result);
        decide_advance(request, now_ns);
        return;
    }
    if (!late) state->results[family] = result;
    uint32_t index = (uint32_t)(state - request->states);
    tell_progress(request, index, family);
    if (!state->pending) gather_candidate(request, index);
    if (family == VSIG_LLM) {
        consult_take(request, index, result);
        decide_advance(request, now_ns);
        return;
    }
    if (late || decide_is_past_deadline(request)) {
        decide_deadline(request, now_ns);
    } else if (!state->pending) {
        ask_verifier(request, index);
        decide_advance(request, now_ns);
    }
}

/* Handles the first result in these bytes. *used is its length, or `len` if the request is closed. */
static enum err_code take_next(struct core *core, struct msg_key key, const void *bytes, size_t len, size_t *used,
                               int64_t now_ns, struct err *err)
{
    struct msg_result *result;
    *used = len;
    core->stats.results++;
    struct request *request = g_hash_table_lookup(core->open, &key);
    if (!request) return core->stats.stray++, ERR_OK;
    enum err_code code = msg_next_result(&request->arena, bytes, len, &result, used, err);
    if (code == ERR_LIMIT_MEMORY && polish_is_pending(request)) {
        polish_give_up(request, err_meaning(code));
        return ERR_OK;
    }
    if (code == ERR_LIMIT_MEMORY) { /* the result is not the cause: the request has reached its memory limit */
        decide_failed(request, err_name(code), err_meaning(code), now_ns);
        return ERR_OK;
    }
    if (code) return code;
    if (result->key.partition != key.partition || result->key.offset != key.offset)
        return err_set(err, ERR_MALFORMED, "the key of the result belongs to another request");
    if (polish_is_pending(request)) return take_polished(request, result);
    if (strcmp(result->family, MSG_VERIFIER) == 0) return take_answer(core, result, now_ns);
    if (strcmp(result->family, MSG_CORRECTOR) == 0) return take_correction(request, result, now_ns);
    take_result(request, result, now_ns);
    return ERR_OK;
}

enum err_code core_result(struct core *core, struct msg_key key, const void *bytes, size_t len, int64_t now_ns,
                          struct err *err)
{
    core->now_ns = now_ns;
    const char *at = bytes;
    enum err_code code;
    size_t used;
    do {
        code = take_next(core, key, at, len, &used, now_ns, err);
        at += used;
        len -= used;
    } while (!code && len);
    return code;
}

void core_unavailable(struct core *core, struct msg_key key, const uint64_t hash[2], const char *family,
                      const struct err *why, int64_t now_ns)
{
    core->now_ns = now_ns;
    core->stats.results++;
    struct request *request = g_hash_table_lookup(core->open, &key);
    if (!request || polish_is_pending(request)) {
        core->stats.stray++;
        return;
    }
    struct msg_result *result = arena_new(&request->arena, struct msg_result);
    const char *message = arena_strdup(&request->arena, why->text);
    if (!result || !message) {
        decide_failed(request, err_name(ERR_LIMIT_MEMORY), err_meaning(ERR_LIMIT_MEMORY), now_ns);
        return;
    }
    *result = (struct msg_result){.key = key,
                                  .hash = {hash[0], hash[1]},
                                  .family = family,
                                  .code = err_name(why->code),
                                  .message = message,
                                  .proposes = repair_awaits(request, hash),
                                  .asks = ask_awaits(request, hash)};
    take_result(request, result, now_ns);
}

void core_found(struct core *core, struct msg_key key, const struct core_found *found, int64_t now_ns)
{
    struct request *request = g_hash_table_lookup(core->open, &key);
    core->now_ns = now_ns;
    if (!request || !lookup_is_pending(request)) return;
    if (!lookup_take(request, found, now_ns)) judge(request, now_ns);
}

static struct request *find_tag(const struct core *core, uint64_t tag)
{
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, core->open);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (((const struct request *)value)->message->tag == tag) return value;
    return NULL;
}

bool core_cancel(struct core *core, uint64_t tag, int64_t now_ns)
{
    struct request *request = find_tag(core, tag);
    core->now_ns = now_ns;
    if (!request) return false;
    if (polish_is_pending(request)) return true; /* the verdict is already complete */
    request->n = MIN(request->n, request->n_given);
    decide_failed(request, err_name(ERR_CANCELLED), err_meaning(ERR_CANCELLED), now_ns);
    return true;
}

/* Returns the requests with a passed deadline. Collects them first, because concluding a request changes the table. */
static GPtrArray *take_due(struct core *core, int64_t now_ns)
{
    GPtrArray *due = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    core->next_deadline = 0;
    g_hash_table_iter_init(&iter, core->open);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct request *request = value;
        bool late = consult_is_late(request, now_ns) || lookup_is_late(request, now_ns);
        if (late || (request->deadline_ns && request->deadline_ns <= now_ns)) {
            g_ptr_array_add(due, request);
        } else {
            core_note_deadline(core, request->deadline_ns);
            if (consult_is_pending(request)) core_note_deadline(core, request->consult.until_ns);
            if (lookup_is_pending(request)) core_note_deadline(core, request->lookup.until_ns);
        }
    }
    return due;
}

static gint by_key(gconstpointer a, gconstpointer b)
{
    const struct request *left = *(struct request *const *)a, *right = *(struct request *const *)b;
    return left->key.offset < right->key.offset ? -1 : left->key.offset > right->key.offset;
}

/* Handles a timeout of the request, of an opinion or of a lookup. After a timeout of an opinion or a lookup, the
 * request continues without it. */
static void end_wait(struct request *request, int64_t now_ns)
{
    if (lookup_is_pending(request)) lookup_give_up(request);
    if (!request->deadline_ns || request->deadline_ns > now_ns) {
        if (consult_is_pending(request)) consult_give_up(request, now_ns);
        judge(request, now_ns);
        return;
    }
    decide_deadline(request, now_ns);
}

int64_t core_tick(struct core *core, int64_t now_ns)
{
    core->now_ns = now_ns;
    if (!core->next_deadline || now_ns < core->next_deadline) return core->next_deadline;
    GPtrArray *due = take_due(core, now_ns);
    g_ptr_array_sort(due, by_key);
    for (guint i = 0; i < due->len; i++) end_wait(due->pdata[i], now_ns);
    g_ptr_array_free(due, TRUE);
    return core->next_deadline;
}
