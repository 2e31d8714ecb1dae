/* Prepares a request: resolves options, parses every candidate, finds repeats.
 *
 * Candidates with equal normal forms are equal: they are judged once, and the first one gets the votes of all. A
 * candidate that does not parse is invalid at once and needs no task.
 */
#include "coordinator/internal.h"

#include "lib/schema/deny_name.h"
#include "proto/message/findings.h"

#include <string.h>
#include <xxhash.h>

static const int64_t MS = 1000000;

static uint32_t first_nonzero(uint32_t requested, uint32_t configured, uint32_t fallback)
{
    return requested ? requested : configured ? configured : fallback;
}

/* Returns the alpha in effect. Returns 0 if a threshold is set, or if neither is set. */
static double alpha_of(const struct request *request)
{
    const struct msg_options *requested = &request->message->options, *defaults = &request->core->config.defaults;
    if (requested->threshold > 0 || requested->alpha > 0) return requested->threshold > 0 ? 0 : requested->alpha;
    return defaults->threshold > 0 ? 0 : defaults->alpha;
}

static double threshold_of(const struct request *request)
{
    const struct msg_options *requested = &request->message->options, *defaults = &request->core->config.defaults;
    if (alpha_of(request) > 0) return 1 - alpha_of(request);
    if (requested->threshold > 0) return requested->threshold;
    return defaults->threshold > 0 ? defaults->threshold : request->core->config.models->threshold;
}

static double repair_margin_of(const struct request *request)
{
    const struct core_config *config = &request->core->config;
    if (request->message->options.repair_margin > 0) return request->message->options.repair_margin;
    return config->defaults.repair_margin > 0 ? config->defaults.repair_margin : config->models->repair_margin;
}

static enum err_code resolve_families(struct request *request, struct err *err)
{
    const struct msg_options *options = &request->options;
    request->families = options->n_families ? 0 : (1U << VSIG_FAMILY_COUNT) - 1;
    for (uint32_t i = 0; i < options->n_families; i++) {
        int family = vsig_family_by_name(options->families[i]);
        if (family < 0) return err_set(err, ERR_CONFIG, "unknown family '%.40s'", options->families[i]);
        request->families |= 1U << family;
    }
    if (options->explain == MSG_EXPLAIN_OFF) request->families &= ~(1U << VSIG_EXPLAIN);
    request->consults = request->core->config.llm.on && request->families >> VSIG_LLM & 1;
    request->families &= ~(1U << VSIG_LLM);
    if (!request->families)
        return err_set(err, ERR_CONFIG, "no family can judge the request: explain is off, and llm cannot judge alone");
    return ERR_OK;
}

/* Joins the operator's denied columns with those of the request. A request cannot lift the operator's. */
static enum err_code join_denied(struct request *request, const struct msg_options *defaults, struct err *err)
{
    struct msg_options *out = &request->options;
    uint32_t own = out->n_deny_columns, more = defaults->n_deny_columns;
    enum err_code code = deny_names_check(out->deny_columns, own, err);
    if (code || !more) return code;
    const char **all = arena_new_array(&request->arena, own + more, const char *);
    if (!all) return err_set(err, ERR_LIMIT_MEMORY, "the request exceeds its memory limit");
    for (uint32_t i = 0; i < own; i++) all[i] = out->deny_columns[i];
    for (uint32_t i = 0; i < more; i++) all[own + i] = defaults->deny_columns[i];
    out->deny_columns = all;
    out->n_deny_columns = own + more;
    return ERR_OK;
}

static enum err_code resolve_options(struct request *request, struct err *err)
{
    const struct core *core = request->core;
    const struct msg_options *requested = &request->message->options, *defaults = &core->config.defaults;
    struct msg_options *out = &request->options;
    *out = *requested;
    out->strategy = first_nonzero(requested->strategy, defaults->strategy, core->config.models->strategy);
    out->policy = first_nonzero(requested->policy, defaults->policy, MSG_BEST_EFFORT);
    out->order = first_nonzero(requested->order, defaults->order, MSG_ORDER_UNSET);
    out->expose = first_nonzero(requested->expose, defaults->expose, MSG_EXPOSE_VALUES);
    out->speculate = first_nonzero(requested->speculate, defaults->speculate, 0);
    out->max_iterations = first_nonzero(requested->max_iterations, defaults->max_iterations, UINT32_MAX);
    out->explain = first_nonzero(requested->explain, defaults->explain, MSG_EXPLAIN_ON);
    out->repair = first_nonzero(requested->repair, defaults->repair, MSG_REPAIR_OFF);
    /* true if the request does not switch repairs off explicitly */
    bool off = requested->repair != MSG_REPAIR_OFF && out->repair == MSG_REPAIR_OFF;
    if (rules_of(request)->first_only && off) out->repair = MSG_REPAIR_APPLY;
    /* the repair margin was fitted to judgements that had query results */
    if (request->message->schema) out->repair = MSG_REPAIR_OFF;
    out->deadline_ms = requested->deadline_ms ? requested->deadline_ms : defaults->deadline_ms;
    if (!requested->n_families) out->families = defaults->families, out->n_families = defaults->n_families;
    enum err_code code = join_denied(request, defaults, err);
    if (code) return code;
    request->threshold = threshold_of(request);
    request->repair_margin = repair_margin_of(request);
    out->ask_gain = requested->ask_gain > 0 ? requested->ask_gain : defaults->ask_gain;
    double alpha = alpha_of(request);
    if (alpha > 0) guarantee_begin(request, alpha, requested->delta > 0 ? requested->delta : defaults->delta);
    const struct scoring_models *models = core->config.models;
    bool own_threshold =
        requested->threshold > 0 || requested->alpha > 0 || defaults->threshold > 0 || defaults->alpha > 0;
    request->entailment_threshold = models->entailment_threshold;
    if (rules_of(request)->verifier_alone)
        request->entailment_threshold = own_threshold ? request->threshold : models->cyclesql_threshold;
    int64_t most = core->config.max_deadline_ms;
    if (most && (out->deadline_ms <= 0 || out->deadline_ms > most)) out->deadline_ms = most;
    int64_t length, end;
    if (out->deadline_ms > 0 && !__builtin_mul_overflow(out->deadline_ms, MS, &length) &&
        !__builtin_add_overflow(request->arrived_ns, length, &end))
        request->deadline_ns = end;
    return resolve_families(request, err);
}

/* --- candidates --- */

static char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

/* Copies a finding from the scratch arena. */
static struct msg_finding *copy_finding(struct arena *arena, const struct msg_finding *from)
{
    struct msg_finding *out = arena_new(arena, struct msg_finding);
    if (!out) return NULL;
    *out = *from;
    out->message = copy(arena, from->message);
    out->facts = arena_new_array(arena, from->n_facts, struct msg_fact);
    out->clauses = arena_new_array(arena, from->n_clauses, struct msg_clause);
    if (!out->message || !out->facts || !out->clauses) return NULL;
    for (uint32_t i = 0; i < from->n_facts; i++)
        out->facts[i] = (struct msg_fact){from->facts[i].key, copy(arena, from->facts[i].value)};
    for (uint32_t i = 0; i < from->n_clauses; i++) {
        out->clauses[i] = from->clauses[i];
        out->clauses[i].text = copy(arena, from->clauses[i].text);
    }
    return out;
}

static struct sql_diag diag_of(enum err_code code)
{
    return (struct sql_diag){.code = code, .message = err_meaning(code)};
}

static void set_invalid(struct request *request, uint32_t index, const struct sql_stmt *stmt, enum err_code code)
{
    struct arena *scratch = &request->core->scratch;
    struct msg_judged *judged = &request->judged[index];
    struct sql_diag plain = diag_of(code);
    struct msg_finding *finding = findings_from_parser(scratch, stmt, stmt && stmt->diags ? stmt->diags : &plain);
    judged->findings = finding ? copy_finding(&request->arena, finding) : NULL;
    judged->n_findings = judged->findings != NULL;
    judged->judged = true;
    judged->invalid = true;
    judged->p_correct = 0;
}

/* Returns a hash of the request's context. It is part of every candidate's hash, so requests share results only if
 * their contexts are equal. */
static uint64_t context_hash(const struct msg_request *message)
{
    const char *const parts[] = {message->db, message->question, message->evidence, message->schema};
    unsigned n = message->schema ? 4 : 3;
    uint64_t hash = 0;
    for (unsigned i = 0; i < n; i++)
        hash = XXH3_64bits_withSeed(parts[i] ? parts[i] : "", parts[i] ? strlen(parts[i]) + 1 : 0, hash);
    return hash;
}

static void set_hash(struct request *request, struct candidate_state *state, const struct sql_stmt *stmt,
                     uint64_t context)
{
    const char *normal = sql_normal_form(&request->core->scratch, stmt->root);
    XXH128_hash_t hash = normal ? XXH3_128bits_withSeed(normal, strlen(normal), context)
                                : XXH3_128bits_withSeed(stmt->text, stmt->len, context);
    state->hash[0] = hash.high64;
    state->hash[1] = hash.low64;
}

/* Parses a candidate and initializes its entry. Returns the candidate that it repeats, or NO_CANDIDATE. */
static uint32_t take_candidate(struct request *request, uint32_t index, const struct msg_candidate *candidate,
                               GHashTable *seen, uint64_t context)
{
    struct candidate_state *state = &request->states[index];
    struct msg_judged *judged = &request->judged[index];
    *judged = (struct msg_judged){.sql = candidate->sql,
                                  .count = candidate->count ? candidate->count : 1,
                                  .score = candidate->score,
                                  .p_correct = NAN,
                                  .label_model_p = NAN,
                                  .entailment = NAN};
    struct sql_stmt *stmt = NULL;
    arena_reset(&request->core->scratch);
    enum err_code code = sql_parse(&request->core->scratch, candidate->sql.bytes, candidate->sql.len, NULL, &stmt);
    if (code) {
        set_invalid(request, index, stmt, code);
        return NO_CANDIDATE;
    }
    set_hash(request, state, stmt, context);
    gpointer first;
    if (seen && g_hash_table_lookup_extended(seen, state->hash, NULL, &first)) return GPOINTER_TO_UINT(first);
    if (seen) g_hash_table_insert(seen, state->hash, GUINT_TO_POINTER(index));
    state->needs_tasks = true;
    return NO_CANDIDATE;
}

static void note_repeat(struct request *request, uint32_t index, uint32_t first)
{
    struct msg_judged *judged = &request->judged[index];
    judged->same_as = first + 1;
    judged->why = arena_printf(&request->arena, "repeats candidate %u", first + 1);
    request->judged[first].count += judged->count;
}

static guint hash_of_hash(gconstpointer p)
{
    return (guint) * (const uint64_t *)p;
}
static gboolean same_hash(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t)) == 0;
}

static void limit_iterations(struct request *request)
{
    uint32_t left = request->options.max_iterations;
    for (uint32_t i = 0; i < request->n; i++) {
        if (!request->states[i].needs_tasks) continue;
        if (left) {
            left--;
            continue;
        }
        request->states[i].needs_tasks = false;
        request->judged[i].why = "not judged: max_iterations was reached";
    }
}

enum err_code ingest_request(struct request *request, struct err *err)
{
    const struct msg_request *message = request->message;
    enum err_code code = resolve_options(request, err);
    if (code) return code;
    if (message->n_candidates == 0) return err_set(err, ERR_LIMIT_COUNT, "the request has no candidates");
    request->states = arena_new_array(&request->arena, message->n_candidates, struct candidate_state);
    request->judged = arena_new_array(&request->arena, message->n_candidates, struct msg_judged);
    if (!request->states || !request->judged)
        return err_set(err, ERR_LIMIT_MEMORY, "%s", err_meaning(ERR_LIMIT_MEMORY));
    request->n = request->n_given = message->n_candidates;
    GHashTable *seen = request->n > 1 ? g_hash_table_new(hash_of_hash, same_hash) : NULL;
    uint64_t context = context_hash(message);
    for (uint32_t i = 0; i < request->n; i++) {
        uint32_t first = take_candidate(request, i, &message->candidates[i], seen, context);
        if (first != NO_CANDIDATE) note_repeat(request, i, first);
    }
    if (seen) g_hash_table_destroy(seen);
    limit_iterations(request);
    return ask_check_answers(request, err);
}

/* Reserves memory for `more` further candidates. */
static bool grow(struct request *request, uint32_t more)
{
    struct candidate_state *states = arena_new_array(&request->arena, request->n + more, struct candidate_state);
    struct msg_judged *judged = arena_new_array(&request->arena, request->n + more, struct msg_judged);
    if (!states || !judged) return false;
    memcpy(states, request->states, request->n * sizeof *states);
    memcpy(judged, request->judged, request->n * sizeof *judged);
    request->states = states;
    request->judged = judged;
    return true;
}

bool ingest_proposals(struct request *request, const struct msg_proposal *proposals, uint32_t n)
{
    const struct msg_proposal **list = request->repair.proposals;
    if (!list) list = arena_new_array(&request->arena, MAX_PROPOSED, const struct msg_proposal *);
    request->repair.proposals = list;
    n = MIN(n, MAX_PROPOSED - (request->n - request->n_given));
    if (!list || !grow(request, n)) return false;
    GHashTable *seen = g_hash_table_new(hash_of_hash, same_hash);
    uint64_t context = context_hash(request->message);
    for (uint32_t i = 0; i < request->n; i++)
        if (request->states[i].needs_tasks) g_hash_table_insert(seen, request->states[i].hash, GUINT_TO_POINTER(i));
    for (uint32_t i = 0; i < n; i++) {
        const struct msg_candidate candidate = {.sql = proposals[i].sql, .score = NAN};
        bool repeats = take_candidate(request, request->n, &candidate, seen, context) != NO_CANDIDATE;
        if (repeats || !request->states[request->n].needs_tasks) {
            request->states[request->n] = (struct candidate_state){0};
            continue;
        }
        list[request->n - request->n_given] = &proposals[i];
        request->n++;
    }
    g_hash_table_destroy(seen);
    return true;
}
