/* DESIGN: the cached verdict of an equal request replaces a judgement.
 *
 * Production traffic repeats requests. Before any task is sent, the verdict of the same request is looked up. It must
 * be for the current state of the database and the same models (verdict_cache.h). The lookup takes at most find_ns.
 * Unless it finds a verdict, the request is judged normally.
 *
 * The state of the database comes from workers, both for caching and for lookups. Each result names the state on which
 * it was computed. A verdict is cached under the state that all its results name. If they name different states, or one
 * names none, the verdict is not cached. Thus a write between two results prevents caching, and so do two workers with
 * different policies. A passed deadline prevents it too. Lookups use the state that workers last published.
 *
 * Requests with a user's answer, a guarantee or a remote model do not use the cache. Neither do requests with a schema
 * instead of a database.
 */
#include "coordinator/internal.h"

#include <string.h>

enum { MAX_NUMBERS = 16 + MSG_ORDER_COUNT + VSIG_ID_END };

bool lookup_is_pending(const struct request *request)
{
    return request->lookup.pending;
}

bool lookup_is_late(const struct request *request, int64_t now_ns)
{
    return request->lookup.pending && request->lookup.until_ns <= now_ns;
}

/* --- the key --- */

static bool takes_part(const struct request *request)
{
    const struct core_actions *actions = &request->core->actions;
    const struct msg_request *message = request->message;
    bool alone = !actions->verify && !actions->correct && !actions->polish && !request->consults;
    return actions->find && alone && !message->options.no_cache && !message->schema && !message->n_answers &&
           !request->guarantee;
}

/* Writes the numbers of the decision file and of the settings that influence a verdict and are not options of the
 * request. */
static uint32_t numbers_of(const struct request *request, double out[MAX_NUMBERS])
{
    const struct scoring_models *models = request->core->config.models;
    const double single[] = {request->threshold,     request->entailment_threshold,
                             request->repair_margin, models->label_threshold,
                             models->weights[0],     models->weights[1],
                             models->weights[2],     models->unfamiliar[0],
                             models->unfamiliar[1],  request->core->config.rows_at_once};
    uint32_t n = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(single); i++) out[n++] = single[i];
    for (unsigned i = 0; i < MSG_ORDER_COUNT; i++) out[n++] = models->margins[i];
    for (unsigned i = 0; i < VSIG_ID_END; i++) out[n++] = models->critical[i];
    return n;
}

static bool make_key(struct request *request)
{
    double numbers[MAX_NUMBERS];
    struct msg_request asked = *request->message;
    struct verdict_basis basis = {.numbers = numbers, .n_numbers = numbers_of(request, numbers)};
    basis.versions = decide_versions(request, &basis.n_versions);
    msg_request_digest(request->message, basis.request_digest);
    asked.options = request->options;
    bool made = basis.versions && verdict_cache_key(&asked, &basis, request->lookup.key) == ERR_OK;
    if (!made) request->lookup.key[0] = '\0';
    return made;
}

/* --- finding --- */

bool lookup_begin(struct request *request, int64_t now_ns)
{
    struct core *core = request->core;
    if (decide_is_late(request) || !takes_part(request) || !make_key(request)) return false;
    int64_t until_ns = now_ns + core->config.find_ns;
    if (request->deadline_ns) until_ns = MIN(until_ns, request->deadline_ns);
    const struct core_wanted wanted = {
        .request = request->key, .db = request->message->db, .key = request->lookup.key, .until_ns = until_ns};
    if (!core->actions.find(core->actions.ctx, &wanted)) {
        core->stats.lookups.skipped++;
        return false;
    }
    request->lookup.pending = true;
    request->lookup.until_ns = until_ns;
    core_note_deadline(core, until_ns);
    return true;
}

void lookup_give_up(struct request *request)
{
    request->lookup.pending = false;
    request->core->stats.lookups.late++;
}

/* Decodes the cached verdict. Returns NULL if there is none, or if it does not match this request. */
static struct msg_verdict *read_found(struct request *request, const struct core_found *found)
{
    struct coordinator_lookups *stats = &request->core->stats.lookups;
    struct msg_verdict *verdict;
    struct err err;
    if (found->code || !found->bytes) {
        ++*(found->code == ERR_DB_UNAVAILABLE ? &stats->unknown : found->code ? &stats->failed : &stats->misses);
        return NULL;
    }
    if (verdict_cache_read(&request->arena, found->bytes, found->len, request->message, &verdict, &err)) {
        stats->rejected++;
        return NULL;
    }
    stats->hits++;
    return verdict;
}

bool lookup_take(struct request *request, const struct core_found *found, int64_t now_ns)
{
    request->lookup.pending = false;
    spans_decide(request);
    struct msg_verdict *verdict = read_found(request, found);
    if (!verdict) return false;
    verdict->id = decide_id(request);
    verdict->key = request->key;
    verdict->total_ns = now_ns - request->arrived_ns;
    verdict->cached = true;
    spans_decided(request, verdict);
    decide_publish(request, verdict);
    return true;
}

/* --- caching --- */

void lookup_note_state(struct request *request, const char *state)
{
    struct lookup *lookup = &request->lookup;
    if (!state || (lookup->state && strcmp(lookup->state, state) != 0)) lookup->unlike = true;
    lookup->state = state;
}

void lookup_keep(struct request *request, const struct msg_verdict *verdict)
{
    struct core *core = request->core;
    const struct lookup *lookup = &request->lookup;
    struct msg_buffer buffer = {0};
    /* otherwise results may be missing because time ran out */
    bool whole = !lookup->unlike && !decide_is_late(request);
    bool may = lookup->key[0] && lookup->state && whole && !verdict->cached && verdict_cache_may_keep(verdict);
    if (may && verdict_cache_write(&buffer, verdict) == ERR_OK && buffer.len <= core->config.max_kept_bytes) {
        const struct core_kept kept = {request->message->db, lookup->state, lookup->key, buffer.bytes, buffer.len};
        core->actions.keep(core->actions.ctx, &kept);
        core->stats.lookups.kept++;
    }
    msg_buffer_free(&buffer);
}
