/* Computes provenance by rewriting (provenance.h): chooses the row and the arms, and runs their statements.
 *
 * The statement of an arm first has strict conditions. If it finds no rows, looser conditions are tried. If its rows
 * only resemble the chosen row, exact conditions are tried. The limits of time and steps of each statement depend on
 * the cost of the candidate. If a statement fails, its arm becomes unavailable with a reason, and the other arms
 * continue. No additional statement counts the source rows. */
#include "lib/explain/provenance.h"

#include "lib/base/clock.h"
#include "lib/explain/trace.h"

#include <string.h>

static const struct prov_options DEFAULTS = {
    .max_rows = 8, .max_arms = 8, .max_depth = 2, .max_columns = 64, .max_probes = 24, .time_ms = 500};

enum {
    SLOWER = 3,           /* a rewritten statement may take this multiple of the candidate's time */
    LEAST_STEPS = 250000, /* minimum limit of engine steps, about 5 ms */
};

struct prov_options prov_defaults(const struct prov_options *asked)
{
    struct prov_options options = asked ? *asked : DEFAULTS;
    if (!options.max_rows) options.max_rows = DEFAULTS.max_rows;
    if (!options.max_arms) options.max_arms = DEFAULTS.max_arms;
    if (!options.max_depth) options.max_depth = DEFAULTS.max_depth;
    if (!options.max_columns) options.max_columns = DEFAULTS.max_columns;
    if (!options.max_probes) options.max_probes = DEFAULTS.max_probes;
    if (options.time_ms <= 0) options.time_ms = DEFAULTS.time_ms;
    return options;
}

struct db_limits prov_limit(const struct explain_source *source, struct prov_options *options)
{
    struct db_limits before = db_get_limits(source->db), limits = before;
    int64_t own_ms = source->result ? source->result->ns / 1000000 : 0;
    int64_t steps = SLOWER * (source->result ? source->result->steps : 0);
    if (options->time_ms < SLOWER * own_ms) options->time_ms = SLOWER * own_ms;
    if (limits.time_ms > options->time_ms) limits.time_ms = options->time_ms;
    if (steps < LEAST_STEPS) steps = LEAST_STEPS;
    if (!limits.max_steps || limits.max_steps > steps) limits.max_steps = steps;
    db_set_limits(source->db, &limits);
    return before;
}

const char *prov_rule_text(enum prov_rule rule)
{
    static const char *const texts[] = {
        [PROV_RULE_ONLY] = "the only row",
        [PROV_RULE_FIRST] = "the first row",
        [PROV_RULE_SEEDED] = "a row drawn by the seed",
        [PROV_RULE_NO_NULL] = "the first row that holds no NULL",
    };
    return (unsigned)rule < sizeof texts / sizeof *texts ? texts[rule] : "?";
}

/* ---- the representative row ------------------------------------------------------------------------------------- */

enum { NULL_FREE_ROWS = 64, EQUAL_ROWS = 1024 };

static const struct db_value *row_at(const struct db_result *result, uint32_t row)
{
    return result->values + (size_t)row * result->n_columns;
}

static uint64_t splitmix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static bool holds_null(const struct db_result *result, uint32_t row)
{
    for (uint32_t i = 0; i < result->n_columns; i++)
        if (row_at(result, row)[i].type == DB_NULL) return true;
    return false;
}

static bool equal_rows(const struct db_result *result, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < result->n_columns; i++)
        if (db_value_compare(&row_at(result, a)[i], &row_at(result, b)[i]) != 0) return false;
    return true;
}

static uint32_t start_row(const struct tracer *t, const struct db_result *result, enum prov_rule *rule)
{
    bool ordered = sql_kid(t->source->stmt->root, QUERY_ORDER);
    *rule = result->n_rows == 1 ? PROV_RULE_ONLY : PROV_RULE_FIRST;
    if (ordered || !t->options.seed || result->n_rows == 1) return 0;
    *rule = PROV_RULE_SEEDED;
    return (uint32_t)(splitmix64(t->options.seed) % result->n_rows);
}

static void choose_row(struct tracer *t)
{
    struct provenance *out = t->out;
    const struct db_result *result = out->result;
    uint32_t start = start_row(t, result, &out->rule), n = result->n_rows;
    out->row = start;
    for (uint32_t i = 0; i < n && i < NULL_FREE_ROWS; i++) {
        uint32_t row = (uint32_t)(((uint64_t)start + i) % n);
        if (holds_null(result, row)) continue;
        if (i) out->rule = PROV_RULE_NO_NULL;
        out->row = row;
        break;
    }
    for (uint32_t row = 0; row < out->row && row < EQUAL_ROWS; row++)
        if (equal_rows(result, row, out->row)) out->row = row;
}

/* Counts the rows of the result that equal the chosen row. Returns 0 if the number is unknown. */
static uint32_t count_copies(const struct provenance *out)
{
    const struct db_result *result = out->result;
    uint32_t copies = 0;
    for (uint32_t row = out->row; row < result->n_rows && row - out->row < EQUAL_ROWS; row++)
        copies += equal_rows(result, row, out->row);
    return copies;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void give_up(struct provenance *out, enum err_code code, const char *reason)
{
    out->status = PROV_UNAVAILABLE;
    out->code = code;
    out->reason = reason;
}

static void arm_failed(struct tracer *t, struct prov_arm *arm, enum err_code code, const char *text)
{
    char *reason = arena_strdup(t->arena, text);
    arm->state = PROV_ARM_UNAVAILABLE;
    arm->reason = reason ? reason : err_meaning(code);
    if (!t->out->code) t->out->code = code;
}

/* Runs the statement of the arm. Returns false if it failed. */
static bool run_arm(struct arm_work *work)
{
    struct tracer *t = work->t;
    struct prov_arm *arm = work->arm;
    struct err err = {0};
    struct db_result result;
    if (!arm->sql || t->arena->failed) {
        arm_failed(t, arm, ERR_LIMIT_MEMORY, "no memory for the statement");
        return false;
    }
    if (t->out->sql_ns >= 2 * t->options.time_ms * 1000000) {
        arm_failed(t, arm, ERR_LIMIT_TIME, "the time for tracing was used up before");
        return false;
    }
    t->out->statements++;
    int64_t start = clock_now_ns(); /* needed because a failed statement reports no time of its own */
    enum err_code code = db_query(t->source->db, t->arena, arm->sql, strlen(arm->sql), arm->params, arm->n_params,
                                  t->options.max_rows + 1, &result, &err);
    t->out->sql_ns += clock_now_ns() - start;
    if (code) {
        arm_failed(t, arm, code, err.text);
        return false;
    }
    arm->more = result.n_rows > t->options.max_rows;
    arm->n_rows = arm->more ? t->options.max_rows : result.n_rows;
    arm->values = result.values;
    arm->state = arm->n_rows ? PROV_ARM_ROWS : PROV_ARM_OTHER;
    return true;
}

/* True if the values are identical. If `by_collation`, true for any two texts, because a collation may make them
 * equal. */
static bool is_same(const struct db_value *value, const struct db_value *want, bool by_collation)
{
    bool texts = value->type == DB_TEXT && want->type == DB_TEXT;
    return db_value_compare(value, want) == 0 || (texts && by_collation);
}

/* True if the column has the chosen row's value in each source row. Of a group, only the first row certainly has the
 * values of columns that are neither aggregated nor keys. DISTINCT and GROUP BY merge texts by collation, so `key`
 * accepts any text. */
static bool column_is_same(const struct prov_arm *arm, uint32_t column, bool key, const struct db_value *want)
{
    bool grouped = arm->shape == PROV_SHAPE_GROUP || arm->shape == PROV_SHAPE_WHOLE;
    uint32_t n = grouped && arm->n_rows ? 1 : arm->n_rows;
    for (uint32_t row = 0; row < n; row++)
        if (!is_same(&arm->values[(size_t)row * arm->n_columns + column], want, key)) return false;
    return true;
}

/* True if the selected columns of the source rows have exactly the values of the chosen row. */
static bool is_verbatim(struct arm_work *work)
{
    const struct prov_arm *arm = work->arm;
    if (arm->condition) return true; /* IN and comparisons apply affinity and collation themselves */
    for (uint32_t i = 0; i < arm->block->n_outputs && i < work->chosen->n; i++) {
        const struct arm_output *output = &work->outputs[i];
        if (!output->source || (work->chosen->known && !work->chosen->known[i])) continue;
        bool key = arm->shape == PROV_SHAPE_MERGED || trace_is_key(work, output);
        for (uint32_t c = 0; c < arm->n_columns; c++)
            if (arm->columns[c].source == output->source && arm->columns[c].output == output->column &&
                !column_is_same(arm, c, key, &work->chosen->values[i]))
                return false;
    }
    return true;
}

static bool try_arm(struct arm_work *work, enum trace_way way)
{
    work->way = way;
    trace_write(work);
    return run_arm(work);
}

/* Tries the ways in order. If the arm is the only one of its query, it must have rows, unless it aggregates over no
 * rows. */
static void run_ways(struct arm_work *work)
{
    struct prov_arm *arm = work->arm;
    if (!try_arm(work, TRACE_STRICT)) return;
    bool may_be_empty = arm->set_op != SQL_OP_NONE || arm->shape == PROV_SHAPE_WHOLE;
    if (!arm->n_rows && !may_be_empty && !try_arm(work, TRACE_LOOSE)) return;
    if (arm->n_rows && !is_verbatim(work)) try_arm(work, TRACE_EXACT);
}

/* Returns the number of source rows according to a count(*) in the result; -1 if there is none. */
static int64_t counted(const struct arm_work *work)
{
    const struct prov_arm *arm = work->arm;
    if (arm->shape != PROV_SHAPE_WHOLE && arm->shape != PROV_SHAPE_GROUP) return -1;
    for (uint32_t i = 0; i < arm->block->n_outputs && i < work->chosen->n; i++) {
        const struct sql_node *expr = work->outputs[i].expr;
        bool star =
            sql_is(expr, SQL_CALL) && expr->flags & SQL_F_STAR && sql_is_aggregate(expr) && !sql_kid(expr, CALL_FILTER);
        bool known = !work->chosen->known || work->chosen->known[i];
        if (star && known && work->chosen->values[i].type == DB_INT) return work->chosen->values[i].i;
    }
    return -1;
}

/* ---- arms ------------------------------------------------------------------------------------------------------- */

static enum prov_arm_shape shape_of(const struct sql_block *block)
{
    if (block->grouped) return PROV_SHAPE_GROUP;
    if (block->aggregate || sql_kid(block->node, SELECT_HAVING)) return PROV_SHAPE_WHOLE;
    return sql_kid(block->node, SELECT_DISTINCT) ? PROV_SHAPE_MERGED : PROV_SHAPE_PLAIN;
}

static struct prov_arm *add_arm(struct tracer *t, const struct sql_node *select, const struct origin *origin)
{
    struct provenance *out = t->out;
    if (out->n_arms == t->cap_arms) {
        out->arms_cut = true;
        return NULL;
    }
    struct prov_arm *arm = &out->arms[out->n_arms];
    *arm = (struct prov_arm){
        .select = select, .parent = origin->parent, .inside = origin->inside, .reason = "", .total = -1, .exact = true};
    arm->condition = origin->condition;
    arm->value = origin->value;
    arm->block = sql_block_of(t->source->bound, select);
    if (!arm->block) return NULL;
    arm->shape = shape_of(arm->block);
    out->n_arms++;
    return arm;
}

/* Adds the arms of a query body. Recursion is as deep as the tree. `excluded` is true on the right side of an
 * EXCEPT. */
static void add_arms(struct tracer *t, const struct sql_node *body, const struct origin *origin, enum sql_op set_op,
                     bool right, bool excluded)
{
    if (sql_is(body, SQL_QUERY)) body = sql_kid(body, QUERY_BODY);
    if (sql_is(body, SQL_COMPOUND)) {
        bool except = body->op == SQL_EXCEPT || body->op == SQL_EXCEPT_ALL;
        add_arms(t, body->kids[0], origin, (enum sql_op)body->op, false, excluded);
        add_arms(t, body->kids[1], origin, (enum sql_op)body->op, true, excluded || except);
        return;
    }
    if (!sql_is(body, SQL_SELECT) && !sql_is(body, SQL_VALUES)) return;
    struct prov_arm *arm = add_arm(t, body, origin);
    if (!arm) return;
    arm->set_op = set_op;
    arm->right = right;
    if (excluded)
        arm->state = PROV_ARM_EXCLUDED;
    else if (!sql_is(body, SQL_SELECT) || !sql_kid(body, SELECT_FROM))
        arm->state = PROV_ARM_NO_SOURCE;
}

static void trace_arm(struct tracer *t, const struct origin *origin, uint32_t at)
{
    struct prov_arm *arm = &t->out->arms[at];
    struct arm_work work = {.t = t, .arm = arm, .query = origin->query, .chosen = &origin->chosen};
    work.outer = origin->outer;
    work.alone = arm->set_op == SQL_OP_NONE;
    trace_outputs(&work);
    trace_columns(&work);
    if (t->arena->failed) return;
    if (arm->state == PROV_ARM_EXCLUDED) {
        trace_write(&work);
        return;
    }
    run_ways(&work);
    if (arm->state != PROV_ARM_ROWS) return;
    arm->total = arm->more ? counted(&work) : (int64_t)arm->n_rows;
    if (origin->depth < t->options.max_depth) trace_follow(t, origin, at);
}

void trace_query(struct tracer *t, const struct origin *origin)
{
    uint32_t first = t->out->n_arms;
    add_arms(t, sql_kid(origin->query, QUERY_BODY), origin, SQL_OP_NONE, false, false);
    uint32_t end = t->out->n_arms;
    for (uint32_t i = first; i < end && !t->arena->failed; i++)
        if (t->out->arms[i].state != PROV_ARM_NO_SOURCE) trace_arm(t, origin, i);
}

/* ---- the whole statement ---------------------------------------------------------------------------------------- */

static bool get_result(struct tracer *t)
{
    struct provenance *out = t->out;
    const struct explain_source *source = t->source;
    if (source->result) {
        out->result = source->result;
        out->result_cut = source->result->truncated;
        return true;
    }
    struct db_result *result = arena_new(t->arena, struct db_result);
    struct err err = {0};
    if (!result) return false;
    out->statements++;
    int64_t start = clock_now_ns();
    enum err_code code =
        db_query(source->db, t->arena, source->sql, source->sql_len, NULL, 0, NULL_FREE_ROWS, result, &err);
    out->sql_ns += clock_now_ns() - start;
    if (code) {
        char *reason = arena_strdup(t->arena, err.text);
        give_up(out, code, reason ? reason : err_meaning(code));
        return false;
    }
    out->result = result;
    out->result_cut = result->truncated;
    return true;
}

static bool any_source(const struct tracer *t)
{
    for (uint32_t i = 0; i < t->source->bound->n_blocks; i++)
        if (t->source->bound->blocks[i]->n_sources) return true;
    return false;
}

/* Derives the status from the states of the statement's own arms. */
static void conclude(struct tracer *t)
{
    struct provenance *out = t->out;
    const struct prov_arm *failed = NULL;
    bool rows = false, nothing = false, no_source = false;
    for (uint32_t i = 0; i < out->n_arms; i++) {
        const struct prov_arm *arm = &out->arms[i];
        if (arm->parent >= 0) continue;
        rows |= arm->state == PROV_ARM_ROWS;
        nothing |= arm->state == PROV_ARM_OTHER && arm->shape == PROV_SHAPE_WHOLE;
        no_source |= arm->state == PROV_ARM_NO_SOURCE;
        if (arm->state == PROV_ARM_UNAVAILABLE) failed = arm;
    }
    if (rows)
        out->status = PROV_ROWS;
    else if (failed)
        give_up(out, out->code, failed->reason);
    else if (nothing)
        out->status = PROV_NOTHING;
    else if (no_source)
        out->status = PROV_NO_SOURCE;
    else
        give_up(out, ERR_INTERNAL, "the rows behind the result were not found");
    if (out->status != PROV_UNAVAILABLE) out->code = ERR_OK;
}

static void trace(struct tracer *t)
{
    struct provenance *out = t->out;
    const struct explain_source *source = t->source;
    out->arms = arena_new_array(t->arena, t->options.max_arms, struct prov_arm);
    t->cap_arms = t->options.max_arms;
    if (!out->arms || !get_result(t)) return;
    if (!out->result->n_rows) {
        out->status = PROV_EMPTY;
        return;
    }
    choose_row(t);
    if (!any_source(t)) {
        out->status = PROV_NO_SOURCE;
        return;
    }
    struct origin top = {.query = source->stmt->root, .parent = -1};
    top.chosen = (struct chosen){row_at(out->result, out->row), NULL, out->result->n_columns, 0};
    if (sql_kid(source->stmt->root, QUERY_LIMIT)) top.chosen.copies = count_copies(out);
    trace_query(t, &top);
    conclude(t);
}

enum err_code prov_trace(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                         struct provenance *out)
{
    *out = (struct provenance){.reason = "", .result = source->result};
    struct tracer t = {.arena = arena, .source = source, .options = prov_defaults(options), .out = out};
    if (!source->db) {
        give_up(out, ERR_DB_MISSING, "there is no database to look into");
        return ERR_OK;
    }
    bool failed_before = arena->failed;
    arena->failed = false;
    struct db_limits limits = prov_limit(source, &t.options);
    trace(&t);
    db_set_limits(source->db, &limits);
    bool failed = arena->failed;
    arena->failed = failed || failed_before;
    if (!failed) return ERR_OK;
    give_up(out, ERR_LIMIT_MEMORY, "no memory to trace the result");
    return ERR_LIMIT_MEMORY;
}
