/* Runs the core under a script (script.h). The callbacks of the core collect tasks and verdicts. Answers follow from
 * words in the SQL. The label model, the remote verifier, the corrector, the polisher and the cache belong to the
 * script. Each test chooses which of them exist. Time is an argument; the script reads no clock and has no threads. */
#include "tests/unit/coordinator/script.h"

#include "lib/learn/metrics.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scoring_models *script_models(void)
{
    struct scoring_models *models = g_new0(struct scoring_models, 1);
    unsigned n;
    struct err err = {0};
    const struct lm_column *columns = votes_columns(0, &n);
    struct lm_matrix *matrix = lm_matrix_new(columns, n, &err);
    cr_assert(matrix, "%s", err.text);
    uint64_t state = 7;
    for (unsigned row = 0; row < 4000; row++) {
        uint8_t votes[LM_MAX_COLUMNS] = {0};
        bool wrong = learn_random_unit(&state) < 0.3;
        for (unsigned i = 0; i < n; i++)
            if (columns[i].kind == LM_SIGNAL) votes[i] = learn_random_unit(&state) < (wrong ? 0.12 : 0.01);
        cr_assert_eq(lm_matrix_add(matrix, votes, 1, &err), ERR_OK, "%s", err.text);
    }
    struct lm_options options = lm_options_default();
    cr_assert_eq(lm_fit(matrix, &options, &models->label_model, &err), ERR_OK, "%s", err.text);
    lm_matrix_free(matrix);
    const char *const *names = votes_names(VOTES_REQUEST, &n);
    lm_map_init(&models->map, models->label_model, names, n);
    models->strategy = MSG_FIRST_VALID;
    models->threshold = models->entailment_threshold = models->label_threshold = models->cyclesql_threshold = 0.5;
    models->weights[1] = models->weights[2] = 0.5;
    models->unfamiliar[1] = 1;
    return models;
}

/* --- actions --- */

static void on_task(void *ctx, const struct msg_task *task)
{
    struct script *script = ctx;
    struct script_task *copy = g_new0(struct script_task, 1);
    copy->key = task->key;
    memcpy(copy->hash, task->hash, sizeof copy->hash);
    copy->candidate = task->candidate;
    copy->deadline_ns = task->deadline_ns;
    copy->proposes = task->proposes;
    copy->n_readings = task->n_readings;
    copy->n_findings = task->n_findings;
    copy->part = script->whole ? MSG_PART_ALL : task->part;
    copy->proposals = script->proposals;
    copy->state = script->state;
    g_strlcpy(copy->family, task->family, sizeof copy->family);
    copy->sql = g_strndup(task->sql.bytes, task->sql.len);
    g_ptr_array_add(script->tasks, copy);
    script->sent++;
}

static void on_verdict(void *ctx, void *token, const struct msg_verdict *verdict)
{
    struct script *script = ctx;
    script->token = token;
    g_ptr_array_add(script->verdicts, msg_verdict_to_json(verdict));
}

static void on_dead(void *ctx, void *token, const struct err *why)
{
    struct script *script = ctx;
    script->token = token;
    g_ptr_array_add(script->dead, strdup(err_name(why->code)));
}

static void task_free(gpointer p)
{
    g_free(((struct script_task *)p)->sql);
    g_free(p);
}

static bool on_verify(void *ctx, const struct core_model_question *question)
{
    struct script *script = ctx;
    if (script->verifier_full) return false;
    struct script_task *copy = g_new0(struct script_task, 1);
    copy->key = question->key;
    memcpy(copy->hash, question->hash, sizeof copy->hash);
    copy->candidate = question->candidate;
    copy->deadline_ns = question->deadline_ns;
    g_strlcpy(copy->family, MSG_VERIFIER, sizeof copy->family);
    copy->sql = g_strdup(question->premise);
    cr_assert_str_eq(question->hypothesis, "What?");
    g_ptr_array_add(script->tasks, copy);
    return true;
}

static bool on_correct(void *ctx, const struct core_model_question *question)
{
    struct script *script = ctx;
    struct script_task *copy = g_new0(struct script_task, 1);
    copy->key = question->key;
    memcpy(copy->hash, question->hash, sizeof copy->hash);
    copy->candidate = question->candidate;
    g_strlcpy(copy->family, MSG_CORRECTOR, sizeof copy->family);
    copy->sql = g_strdup(script->correction);
    g_free(script->told);
    script->told = g_strdup(question->premise);
    g_ptr_array_add(script->tasks, copy);
    return true;
}

static bool on_polish(void *ctx, const struct core_model_question *question)
{
    struct script *script = ctx;
    if (script->polisher_full) return false;
    struct script_task *copy = g_new0(struct script_task, 1);
    copy->key = question->key;
    memcpy(copy->hash, question->hash, sizeof copy->hash);
    copy->candidate = question->candidate;
    copy->deadline_ns = question->deadline_ns;
    g_strlcpy(copy->family, MSG_POLISHER, sizeof copy->family);
    copy->sql = g_strdup(script->polished);
    g_free(script->told);
    script->told = g_strdup(question->premise);
    g_ptr_array_add(script->tasks, copy);
    return true;
}

static void on_duplicate(void *ctx, void *token)
{
    struct script *script = ctx;
    script->token = token;
    script->duplicates++;
}

static void on_dropped(void *ctx, void *token)
{
    struct script *script = ctx;
    script->token = token;
    script->dropped++;
}

static bool on_find(void *ctx, const struct core_wanted *wanted)
{
    struct script *script = ctx;
    if (script->cache_full) return false;
    script->looked_for++;
    g_strlcpy(script->wanted, wanted->key, sizeof script->wanted);
    return true;
}

static void on_keep(void *ctx, const struct core_kept *verdict)
{
    struct script *script = ctx;
    script->n_kept++;
    g_clear_pointer(&script->kept, g_bytes_unref);
    script->kept = g_bytes_new(verdict->bytes, verdict->len);
    g_strlcpy(script->kept_state, verdict->state, sizeof script->kept_state);
    g_strlcpy(script->kept_key, verdict->key, sizeof script->kept_key);
}

/* The optional parts, in addition to workers. */
struct parts {
    bool remote, corrector, polisher, cache;
};

static void open_with(struct script *script, struct scoring_models *models, struct msg_options defaults,
                      struct parts parts, int64_t max_deadline_ms)
{
    *script = (struct script){.models = models,
                              .tasks = g_ptr_array_new_with_free_func(task_free),
                              .verdicts = g_ptr_array_new_with_free_func(free),
                              .dead = g_ptr_array_new_with_free_func(free)};
    struct core_config config = {.models = script->models,
                                 .defaults = defaults,
                                 .max_deadline_ms = max_deadline_ms,
                                 .polish_ns = 50,
                                 .find_ns = 20,
                                 .max_kept_bytes = 64 << 10,
                                 .idle_wait_ns = max_deadline_ms != 0 ? SCRIPT_IDLE_NS : 0,
                                 .rows_at_once = max_deadline_ms != 0,
                                 .finds_duplicates = max_deadline_ms != 0};
    struct core_actions actions = {.ctx = script,
                                   .task = on_task,
                                   .verdict = on_verdict,
                                   .dead = on_dead,
                                   .verify = parts.remote ? on_verify : NULL,
                                   .correct = parts.corrector ? on_correct : NULL,
                                   .polish = parts.polisher ? on_polish : NULL,
                                   .find = parts.cache ? on_find : NULL,
                                   .keep = on_keep,
                                   .duplicate = on_duplicate,
                                   .dropped = on_dropped};
    script->core = core_new(&config, &actions);
}

void script_open(struct script *script, struct msg_options defaults)
{
    open_with(script, script_models(), defaults, (struct parts){0}, 0);
}

void script_open_remote(struct script *script, struct msg_options defaults)
{
    open_with(script, script_models(), defaults, (struct parts){.remote = true}, 0);
}

void script_open_models(struct script *script, struct scoring_models *models, struct msg_options defaults, bool remote)
{
    open_with(script, models, defaults, (struct parts){.remote = remote}, 0);
}

void script_open_corrector(struct script *script, struct scoring_models *models, struct msg_options defaults)
{
    open_with(script, models, defaults, (struct parts){.corrector = true}, 0);
}

void script_open_polisher(struct script *script, struct msg_options defaults)
{
    open_with(script, script_models(), defaults, (struct parts){.polisher = true}, 0);
}

void script_open_cache(struct script *script, struct scoring_models *models, struct msg_options defaults)
{
    open_with(script, models, defaults, (struct parts){.cache = true}, 0);
}

void script_open_shared(struct script *script, int64_t max_deadline_ms)
{
    open_with(script, script_models(), (struct msg_options){0}, (struct parts){0}, max_deadline_ms);
}

void script_ask_json(struct script *script, struct msg_key key, const char *line, int64_t now_ns)
{
    struct core_incoming incoming = {.key = key,
                                     .token = (void *)(intptr_t)(key.offset + 1),
                                     .bytes = line,
                                     .len = strlen(line),
                                     .type = EDGE_TYPE_JSON,
                                     .arrived_ns = now_ns - script->lay_ns};
    core_request(script->core, &incoming, now_ns);
}

void script_close(struct script *script)
{
    core_free(script->core);
    models_free(script->models);
    g_ptr_array_free(script->tasks, TRUE);
    g_ptr_array_free(script->verdicts, TRUE);
    g_ptr_array_free(script->dead, TRUE);
    g_clear_pointer(&script->told, g_free);
    g_clear_pointer(&script->kept, g_bytes_unref);
}

void script_ask(struct script *script, int64_t number, const struct msg_options *options, const char *const *sqls,
                int64_t now_ns)
{
    struct msg_candidate candidates[64];
    struct msg_request request = {.id = "r", .db = "d", .question = "What?", .candidates = candidates};
    if (options) request.options = *options;
    for (; sqls[request.n_candidates]; request.n_candidates++)
        candidates[request.n_candidates] = (struct msg_candidate){
            .sql = {sqls[request.n_candidates], (uint32_t)strlen(sqls[request.n_candidates])}, .score = NAN};
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_request(&buffer, &request), ERR_OK);
    struct core_incoming incoming = {.key = {0, number},
                                     .token = (void *)(intptr_t)(number + 1),
                                     .bytes = buffer.bytes,
                                     .len = buffer.len,
                                     .type = EDGE_TYPE_MSGPACK,
                                     .arrived_ns = now_ns - script->lay_ns};
    core_request(script->core, &incoming, now_ns);
    msg_buffer_free(&buffer);
}

/* --- results --- */

static unsigned number_after(const char *sql, const char *word)
{
    const char *found = strstr(sql, word);
    return found ? (unsigned)atoi(found + strlen(word)) : 0;
}

static struct msg_finding *finding(struct arena *arena, uint32_t signal, enum msg_severity severity)
{
    struct msg_finding *out = arena_new(arena, struct msg_finding);
    struct msg_clause *clause = arena_new(arena, struct msg_clause);
    static struct msg_fact facts[] = {{"named", "song.ReleaseYear"}, {"used", "song.year_sung"}};
    *clause = (struct msg_clause){"WHERE", "x", 0, 1};
    *out = (struct msg_finding){.signal = signal,
                                .name = signal ? NULL : "invalid_sql",
                                .severity = severity,
                                .message = "m",
                                .clauses = clause,
                                .n_clauses = 1,
                                .facts = facts,
                                .n_facts = 2};
    return out;
}

static enum msg_state state_of(const char *sql, unsigned number)
{
    const char *states = strstr(sql, "states_");
    size_t n = states ? strspn(states + strlen("states_"), "sfu") : 0;
    if (number >= n) return number < number_after(sql, "fires_") ? MSG_FIRED : MSG_SILENT;
    char state = states[strlen("states_") + number];
    return state == 'f' ? MSG_FIRED : state == 'u' ? MSG_UNAVAILABLE : MSG_SILENT;
}

/* Sets the states of the family's signals. `fires_N` fires the first N signals of the whole registry; `states_X` sets
 * each state. */
static void add_signals(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    out->signals = arena_new_array(arena, n, struct msg_signal);
    out->findings = arena_new_array(arena, n, struct msg_finding);
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(vsig_family_name(all[i]->family), task->family) != 0) continue;
        enum msg_state state = state_of(task->sql, i);
        const char *reason = state == MSG_UNAVAILABLE ? "unknown_name" : NULL;
        out->signals[out->n_signals++] =
            (struct msg_signal){.id = (uint32_t)all[i]->id, .state = state, .reason = reason};
        if (state == MSG_FIRED) out->findings[out->n_findings++] = *finding(arena, (uint32_t)all[i]->id, MSG_WARNING);
    }
}

static void add_explanation(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    if (strstr(task->sql, "unexplained")) {
        out->code = "limit_memory";
        return;
    }
    out->explanation = arena_new(arena, struct msg_explanation);
    const char *prose = task->part == MSG_PART_STATEMENT ? "It is as it says." : "It is as it is.";
    *out->explanation = (struct msg_explanation){.prose = prose, .premise = task->sql, .components = 1};
    if (task->part == MSG_PART_ROWS) return;
    out->explanation->numbers = arena_new_array(arena, 2, struct msg_number);
    out->explanation->n_numbers = 2;
    for (uint32_t i = 0; i < 2; i++)
        out->explanation->numbers[i] = (struct msg_number){features_id(i), (float)number_after(task->sql, "entails_")};
}

static void add_correction(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    if (!task->sql) {
        out->code = "unreachable";
        out->message = "nobody there";
        return;
    }
    out->proposals = arena_new_array(arena, 1, struct msg_proposal);
    out->proposals[out->n_proposals++] =
        (struct msg_proposal){.sql = {task->sql, (uint32_t)strlen(task->sql)}, .source = "mender-1, correct/1"};
}

static void add_polished(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    out->code = task->sql ? "ok" : "unreachable";
    out->message = task->sql ? "editor-1, polish/1" : "nobody there";
    if (!task->sql) return;
    out->explanation = arena_new(arena, struct msg_explanation);
    out->explanation->prose = task->sql;
}

static void add_proposals(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    out->proposes = true;
    out->schema = "t (1 rows)";
    out->proposals = arena_new_array(arena, 64, struct msg_proposal);
    for (const char *const *sql = task->proposals; sql && *sql; sql++)
        out->proposals[out->n_proposals++] = (struct msg_proposal){{*sql, (uint32_t)strlen(*sql)}, "m"};
    if (!out->n_proposals) out->message = "no similar query applies";
}

static void add_words(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    out->clarification = arena_new(arena, struct msg_clarification);
    *out->clarification = (struct msg_clarification){.text = "Which?", .n_choices = task->n_readings + 1, .gain = NAN};
    out->clarification->choices = arena_new_array(arena, task->n_readings + 1, struct msg_choice);
    for (uint32_t i = 0; i <= task->n_readings; i++)
        out->clarification->choices[i].text = arena_printf(arena, "reading %u", i);
}

void script_result(const struct script_task *task, struct arena *arena, struct msg_result *out)
{
    *out = (struct msg_result){.key = task->key,
                               .hash = {task->hash[0], task->hash[1]},
                               .candidate = task->candidate,
                               .family = task->family,
                               .asks = task->n_readings > 0,
                               .part = task->part,
                               .code = "ok",
                               .state = task->state};
    if (task->n_readings) {
        add_words(task, arena, out);
        return;
    }
    if (strcmp(task->family, MSG_VERIFIER) == 0) {
        bool unreachable = strstr(task->sql, "unreachable") != NULL, says = strstr(task->sql, "entails_") != NULL;
        out->code = unreachable ? "unreachable" : "ok";
        out->message = unreachable ? "nobody there" : "tei test";
        out->p = says ? number_after(task->sql, "entails_") / 10.0 : 0.9;
        return;
    }
    if (strcmp(task->family, MSG_CORRECTOR) == 0) {
        add_correction(task, arena, out);
        return;
    }
    if (strcmp(task->family, MSG_POLISHER) == 0) {
        add_polished(task, arena, out);
        return;
    }
    if (task->proposes) {
        add_proposals(task, arena, out);
        return;
    }
    bool bad = strstr(task->sql, "bad_name") != NULL, slow = strstr(task->sql, "slow") != NULL;
    bool unseen = strstr(task->sql, "no_data") != NULL;
    unsigned rows = number_after(task->sql, "rows_");
    if (strcmp(task->family, "execution") == 0 || strcmp(task->family, "explain") == 0) {
        out->execution = arena_new(arena, struct msg_execution);
        *out->execution = (struct msg_execution){.code = bad      ? "engine"
                                                         : slow   ? "limit_time"
                                                         : unseen ? "no_data"
                                                                  : "ok",
                                                 .error_offset = -1,
                                                 .rows = rows,
                                                 .columns = 1,
                                                 .digest = {rows, 1}};
    }
    if (!bad && strcmp(task->family, "explain") == 0) add_explanation(task, arena, out);
    if (!bad) {
        add_signals(task, arena, out);
        return;
    }
    out->invalid = true;
    out->findings = finding(arena, MSG_INVALID_SQL, MSG_ERROR);
    out->n_findings = 1;
}

enum err_code script_send(struct script *script, const struct msg_result *result, int64_t now_ns)
{
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_result(&buffer, result), ERR_OK);
    enum err_code code = core_result(script->core, result->key, buffer.bytes, buffer.len, now_ns, NULL);
    msg_buffer_free(&buffer);
    return code;
}

static struct script_task *take(struct script *script, unsigned place)
{
    cr_assert_lt(place, script->tasks->len);
    return g_ptr_array_steal_index(script->tasks, place);
}

void script_answer(struct script *script, unsigned place, int64_t now_ns)
{
    struct arena arena;
    struct msg_result result;
    struct script_task *task = take(script, place);
    arena_init(&arena, 0);
    script_result(task, &arena, &result);
    result.ns = script->spent_ns;
    cr_assert_eq(script_send(script, &result, now_ns), ERR_OK);
    arena_free(&arena);
    task_free(task);
}

void script_answer_failed(struct script *script, unsigned place, enum err_code code, int64_t now_ns)
{
    struct script_task *task = take(script, place);
    struct msg_result result = {.key = task->key,
                                .hash = {task->hash[0], task->hash[1]},
                                .family = task->family,
                                .proposes = task->proposes,
                                .asks = task->n_readings > 0,
                                .part = task->part,
                                .code = err_name(code),
                                .message = "so it is"};
    cr_assert_eq(script_send(script, &result, now_ns), ERR_OK);
    task_free(task);
}

void script_answer_all(struct script *script, uint64_t seed, int64_t now_ns)
{
    while (script->tasks->len)
        script_answer(script, seed ? (unsigned)(learn_random(&seed) % script->tasks->len) : 0, now_ns);
}

json_t *script_verdict(struct script *script)
{
    cr_assert_eq(script->verdicts->len, 1, "%u verdicts", script->verdicts->len);
    json_t *verdict = json_loads(script->verdicts->pdata[0], 0, NULL);
    cr_assert(verdict);
    return verdict;
}

const char *script_text(const json_t *verdict, const char *key)
{
    const char *text = json_string_value(json_object_get(verdict, key));
    return text ? text : "null";
}
