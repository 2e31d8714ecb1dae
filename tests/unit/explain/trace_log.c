/* Checks provenance against the database: see trace_log.h. The log is read line by line, and each database is opened
 * once. For each arm, the arm's select list is computed again from its source rows alone. The result must be the
 * explained row. */
#include "tests/unit/explain/trace_log.h"

#include "lib/base/clock.h"
#include "lib/explain/provenance.h"

#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ground {
    struct db *db;
    struct schema_index *index;
    GHashTable *seen; /* candidates already checked on this database */
};

struct reading {
    const char *databases;
    GHashTable *grounds; /* name → struct ground */
    struct arena *arena;
    struct trace_tally *tally;
    const char *sql;
};

static void complain(const struct reading *r, const char *what, const char *more)
{
    fprintf(stderr, "%s: %s\n    %s\n", what, r->sql, more ? more : "");
}

/* ---- the check -------------------------------------------------------------------------------------------------- */

static bool is_number(const struct db_value *value)
{
    return value->type == DB_INT || value->type == DB_FLOAT;
}

static double number_of(const struct db_value *value)
{
    return value->type == DB_INT ? (double)value->i : value->f;
}

/* True if the values are equal. Floats may differ by 1e-9 of their size. Concatenated texts need only equal lengths,
 * because the engine chooses their order. */
static bool same_value(const struct db_value *a, const struct db_value *b, bool concatenated)
{
    if (db_value_compare(a, b) == 0) return true;
    if (concatenated && a->type == DB_TEXT && b->type == DB_TEXT) return a->len == b->len;
    if (!is_number(a) || !is_number(b)) return false;
    double x = number_of(a), y = number_of(b);
    return fabs(x - y) <= 1e-9 * fmax(fabs(x), fabs(y));
}

static bool has_aggregate(const struct sql_node *expr, bool *concatenated)
{
    bool found = false;
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n)) {
        found |= sql_is_aggregate(n);
        *concatenated |= n->kind == SQL_CALL && sql_name_is(n->text, n->text_len, "group_concat", 12);
    }
    return found;
}

/* True if the first source row holds the value. A column of a group that is neither aggregated nor a key takes its
 * value from any row. */
static bool held_by_first(const struct prov_arm *arm, const struct sql_output *output, const struct db_value *want)
{
    for (uint32_t i = 0; i < arm->n_columns; i++) {
        const struct schema_column *column = arm->columns[i].column;
        if (!(arm->columns[i].roles & PROV_SELECTED)) continue;
        bool same = output->table < 0 ||
                    (column && (int)column->table == output->table && (int)column->index == output->column);
        if (same && arm->n_rows && same_value(&arm->values[i], want, false)) return true;
    }
    return arm->n_rows == 0 && want->type == DB_NULL;
}

static bool same_row(const struct provenance *p, const struct prov_arm *arm, const struct db_result *again,
                     uint32_t row)
{
    const struct db_value *got = again->values + (size_t)row * again->n_columns;
    const struct db_value *want = p->result->values + (size_t)p->row * p->result->n_columns;
    bool grouped = arm->shape == PROV_SHAPE_GROUP || arm->shape == PROV_SHAPE_WHOLE;
    if (again->n_columns != p->result->n_columns) return false;
    for (uint32_t i = 0; i < again->n_columns; i++) {
        const struct sql_output *output = &arm->block->outputs[i];
        bool concatenated = false, aggregate = output->expr && has_aggregate(output->expr, &concatenated);
        if (same_value(&got[i], &want[i], concatenated)) continue;
        if (!grouped || aggregate || !held_by_first(arm, output, &want[i])) return false;
    }
    return true;
}

/* True if the explained row is among the computed rows. After DISTINCT any row may match, because DISTINCT merges by
 * collation. Otherwise only the first row counts. */
static bool any_same_row(const struct provenance *p, const struct prov_arm *arm, const struct db_result *again)
{
    uint32_t n = arm->shape == PROV_SHAPE_MERGED ? again->n_rows : again->n_rows > 0;
    for (uint32_t row = 0; row < n; row++)
        if (same_row(p, arm, again, row)) return true;
    return false;
}

static bool check_arm(struct reading *r, const struct explain_source *source, const struct provenance *p,
                      const struct prov_arm *arm)
{
    struct trace_tally *t = r->tally;
    const char *sql = prov_check_sql(r->arena, source, arm);
    t->inexact += !arm->exact;
    if (!sql) {
        t->unsaid++;
        return true;
    }
    struct db_result again;
    struct err err = {0};
    bool ran =
        db_query(source->db, r->arena, sql, strlen(sql), arm->params, arm->n_params, 1000, &again, &err) == ERR_OK;
    t->checked++;
    if (ran && any_same_row(p, arm, &again)) return true;
    t->differ++;
    complain(r, ran ? "the source rows give another row" : err.text, sql);
    return false;
}

static void check_why_not(struct reading *r, const struct explain_source *source)
{
    struct trace_tally *t = r->tally;
    struct whynot why;
    int64_t start = clock_now_ns();
    if (prov_whynot(r->arena, source, NULL, &why)) why.status = WHYNOT_UNAVAILABLE;
    int64_t ns = clock_now_ns() - start;
    if (t->why) g_array_append_val(t->why, ns);
    t->probes += why.probes;
    t->found += why.status == WHYNOT_FOUND;
    t->minimal += why.status == WHYNOT_FOUND && why.minimal;
    t->no_data += why.status == WHYNOT_NO_DATA;
    if (why.status == WHYNOT_FOUND || why.status == WHYNOT_NO_DATA) return;
    t->not_found++;
    complain(r, "no reason found for an empty result", why.reason);
}

static void count(struct reading *r, const struct explain_source *source, const struct provenance *p)
{
    struct trace_tally *t = r->tally;
    t->statements += p->statements;
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const struct prov_arm *arm = &p->arms[i];
        t->arms++;
        t->inner_arms += arm->parent >= 0 && arm->inside;
        t->condition_arms += arm->condition != NULL;
        bool may_be_empty = arm->set_op != SQL_OP_NONE || arm->shape == PROV_SHAPE_WHOLE;
        bool failed = arm->state == PROV_ARM_UNAVAILABLE || (arm->state == PROV_ARM_OTHER && !may_be_empty);
        if (arm->parent >= 0 && failed) complain(r, *arm->reason ? arm->reason : "an inner arm without rows", arm->sql);
        bool nothing = p->status == PROV_NOTHING && arm->set_op == SQL_OP_NONE; /* unknown within a set operation */
        if (arm->parent < 0 && (arm->state == PROV_ARM_ROWS || nothing)) check_arm(r, source, p, arm);
    }
    t->rows += p->status == PROV_ROWS;
    t->no_source += p->status == PROV_NO_SOURCE;
    t->empty += p->status == PROV_EMPTY;
    t->nothing += p->status == PROV_NOTHING;
    t->unavailable += p->status == PROV_UNAVAILABLE;
    if (p->status == PROV_UNAVAILABLE) complain(r, p->reason, p->n_arms ? p->arms[0].sql : NULL);
    if (p->status == PROV_EMPTY || p->status == PROV_NOTHING) check_why_not(r, source);
}

static void check_candidate(struct reading *r, struct db *db, const struct schema_index *index, const char *sql)
{
    struct explain_source source = {.sql = sql, .sql_len = strlen(sql), .index = index, .db = db};
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct db_result result;
    struct provenance p;
    arena_reset(r->arena);
    r->sql = sql;
    if (db_query(db, r->arena, sql, strlen(sql), NULL, 0, 0, &result, NULL)) return;
    r->tally->executable++;
    if (sql_parse(r->arena, sql, strlen(sql), NULL, &stmt) || sql_bind(r->arena, stmt, &index->catalog, &bound)) {
        r->tally->unavailable++;
        complain(r, "runs, but does not parse or bind", NULL);
        return;
    }
    source.stmt = stmt;
    source.bound = bound;
    source.result = &result;
    int64_t start = clock_now_ns();
    if (prov_trace(r->arena, &source, NULL, &p)) complain(r, "arena full", NULL);
    int64_t own = clock_now_ns() - start - p.sql_ns;
    if (r->tally->own) g_array_append_val(r->tally->own, own);
    if (r->tally->sql) g_array_append_val(r->tally->sql, p.sql_ns);
    count(r, &source, &p);
}

void trace_candidate(struct db *db, const struct schema_index *index, struct arena *arena, const char *sql,
                     struct trace_tally *tally)
{
    struct reading r = {.arena = arena, .tally = tally};
    check_candidate(&r, db, index, sql);
}

/* ---- the log ---------------------------------------------------------------------------------------------------- */

static void ground_free(gpointer data)
{
    struct ground *ground = data;
    if (ground->index) schema_unref(ground->index);
    if (ground->db) db_close(ground->db);
    g_hash_table_destroy(ground->seen);
    g_free(ground);
}

static struct ground *ground_of(struct reading *r, const char *name)
{
    struct ground *ground = g_hash_table_lookup(r->grounds, name);
    if (ground) return ground;
    ground = g_new0(struct ground, 1);
    ground->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(r->grounds, g_strdup(name), ground);
    char *path = g_strdup_printf("%s/%s/%s.sqlite", r->databases, name, name);
    struct err err = {0};
    if (db_open(path, NULL, &ground->db, &err) != ERR_OK ||
        schema_build(ground->db, name, path, NULL, &ground->index, &err) != ERR_OK)
        fprintf(stderr, "%s: %s\n", path, err.text);
    g_free(path);
    return ground;
}

static void check_line(struct reading *r, const char *line)
{
    json_t *root = json_loads(line, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "db"));
    struct ground *ground = name ? ground_of(r, name) : NULL;
    const char *gold = json_string_value(json_object_get(root, "gold"));
    size_t i;
    json_t *candidate;
    json_array_foreach(json_object_get(root, "candidates"), i, candidate)
    {
        const char *sql = json_string_value(json_object_get(candidate, "sql"));
        if (ground && ground->index && sql && g_hash_table_add(ground->seen, g_strdup(sql)))
            check_candidate(r, ground->db, ground->index, sql);
    }
    if (ground && ground->index && gold && g_hash_table_add(ground->seen, g_strdup(gold)))
        check_candidate(r, ground->db, ground->index, gold);
    json_decref(root);
}

bool trace_log(const char *log, const char *databases, struct trace_tally *tally)
{
    FILE *file = fopen(log, "r");
    if (!file) return false;
    struct arena arena;
    arena_init(&arena, 256U << 20);
    struct reading r = {.databases = databases, .arena = &arena, .tally = tally};
    r.grounds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, ground_free);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) check_line(&r, line);
    free(line);
    fclose(file);
    arena_free(&arena);
    g_hash_table_destroy(r.grounds);
    return true;
}

unsigned trace_covered(const struct trace_tally *t)
{
    return t->rows + t->no_source + t->empty + t->nothing - t->differ;
}

void trace_print(const struct trace_tally *t, const char *name, FILE *out)
{
    double share = t->executable ? 100.0 * trace_covered(t) / t->executable : 0;
    fprintf(out, "%s: %u executable candidates, %.2f %% covered\n", name, t->executable, share);
    fprintf(out, "  rows %u, no FROM %u, empty %u, aggregate over nothing %u, unavailable %u\n", t->rows, t->no_source,
            t->empty, t->nothing, t->unavailable);
    fprintf(out, "  statements %u, arms %u: %u inside of a derived table, %u of a condition\n", t->statements, t->arms,
            t->inner_arms, t->condition_arms);
    fprintf(out, "  computed again %u arms, %u differ; not said %u, inexact %u\n", t->checked, t->differ, t->unsaid,
            t->inexact);
    fprintf(out, "  why-not: found %u (%u minimal), no data %u, not found %u, probes %u\n", t->found, t->minimal,
            t->no_data, t->not_found, t->probes);
}
