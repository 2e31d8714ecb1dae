/* Checks that statements with equal meanings return equal rows on any data.
 *
 * The statements are the forms of the golden cases and their mutants. The databases have random rows with NULLs, ties,
 * repeats, empty tables, and dates with and without a time.
 *
 * The result of some statements depends on the order of tied rows, for instance with LIMIT. These are compared only on
 * data without ties.
 *
 * ASSAY_MEANING_DEPTH=2 adds mutants of mutants: more than 100,000 pairs, which take some minutes. */
#include "lib/meaning/meaning.h"
#include "tests/support/catalog_sqlite.h"
#include "tests/support/leak.h"
#include "tests/support/row_digest.h"
#include "tests/unit/sql/cases.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(meaning_data, .timeout = 900);

enum { VARIANTS = 24, MUTANTS = 40, MOST_ROWS = 24, CASE_PAIRS = 300 };

struct run {
    char *schema;
    struct catalog_sqlite *catalog;
    sqlite3 *data[VARIANTS];
    GPtrArray *literals; /* literals of the file's statements; data contain them, so that conditions can be met */
    GHashTable *first;   /* hash → the first statement with that meaning */
    GHashTable *seen;
    size_t statements, pairs, compared, wrong;
    int depth;        /* depth of the mutants */
    size_t case_ends; /* pairs within one case; each case gets its share */
};

/* --- data --- */

static bool is_distinct(int variant)
{
    return variant % 3 == 2;
}

static char *random_text(struct run *run, GRand *rand, const char *column, int row, bool distinct)
{
    static const char *const days[] = {"2023-12-31", "2024-01-01", "2024-01-31", "2024-02-29", "2024-03-31",
                                       "2024-04-01", "2024-06-30", "2024-12-31", "2025-01-01", "2024-05-05"};
    static const char *const times[] = {"", "", " 00:00:00", " 10:20:30", " 23:59:59"};
    bool date = g_str_has_suffix(column, "_at") || g_str_has_suffix(column, "_on") || strstr(column, "date") ||
                strstr(column, "born") || strstr(column, "opened") || strstr(column, "hired") ||
                strstr(column, "closed");
    if (date && distinct) return g_strdup_printf("2024-%02d-%02d 10:%02d:00", row % 12 + 1, row % 28 + 1, row);
    if (date)
        return g_strdup_printf("%s%s", days[g_rand_int_range(rand, 0, G_N_ELEMENTS(days))],
                               times[g_rand_int_range(rand, 0, G_N_ELEMENTS(times))]);
    if (distinct || !run->literals->len || g_rand_int_range(rand, 0, 6) == 0) return g_strdup_printf("w%d", row);
    return g_strdup(g_ptr_array_index(run->literals, (guint)g_rand_int_range(rand, 0, (gint32)run->literals->len)));
}

static void insert_row(struct run *run, sqlite3 *db, GRand *rand, const char *table, int row, bool distinct)
{
    sqlite3_stmt *columns;
    char *list = g_strdup_printf("SELECT name, lower(type), \"notnull\", pk FROM pragma_table_info('%s')", table);
    GString *sql = g_string_new(NULL);
    g_string_append_printf(sql, "INSERT OR IGNORE INTO \"%s\" VALUES (", table);
    cr_assert_eq(sqlite3_prepare_v2(db, list, -1, &columns, NULL), SQLITE_OK);
    for (int c = 0; sqlite3_step(columns) == SQLITE_ROW; c++) {
        const char *name = (const char *)sqlite3_column_text(columns, 0),
                   *type = (const char *)sqlite3_column_text(columns, 1);
        bool required = sqlite3_column_int(columns, 2) || sqlite3_column_int(columns, 3);
        bool text = strstr(type, "char") || strstr(type, "text") || strstr(type, "date") || strstr(type, "time");
        if (c) g_string_append(sql, ", ");
        char *value = text ? random_text(run, rand, name, row, distinct) : NULL;
        if (!required && g_rand_int_range(rand, 0, 5) == 0)
            g_string_append(sql, "NULL");
        else if (value)
            g_string_append_printf(sql, "'%s'", value);
        else if (sqlite3_column_int(columns, 3) == 1)
            g_string_append_printf(sql, "%d", row + 1);
        else
            g_string_append_printf(sql, "%d", distinct ? row * 7 % MOST_ROWS + 1 : g_rand_int_range(rand, 0, 7));
        g_free(value);
    }
    sqlite3_finalize(columns);
    g_string_append(sql, ")");
    sqlite3_exec(db, sql->str, NULL, NULL, NULL);
    g_string_free(sql, TRUE);
    g_free(list);
}

static void fill(struct run *run, int variant)
{
    GRand *rand = g_rand_new_with_seed((guint32)variant + 1);
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, run->schema, NULL, NULL, NULL), SQLITE_OK);
    for (int t = 0; t < run->catalog->n_tables; t++) {
        const struct sql_catalog *catalog = &run->catalog->catalog;
        int rows = g_rand_int_range(rand, 0, 8) == 0 ? 0 : g_rand_int_range(rand, 1, MOST_ROWS);
        for (int row = 0; row < rows; row++)
            insert_row(run, db, rand, catalog->table_name(catalog->self, t), row, is_distinct(variant));
    }
    run->data[variant] = db;
    g_rand_free(rand);
}

/* --- statements --- */

static bool depends_on_order(const char *sql)
{
    static const char *const words[] = {"limit ",     "fetch ",    "row_number", "lag(",  "lead(",       "first_value",
                                        "last_value", "nth_value", "rows ",      "ntile", "distinct on", "concat("};
    char *lower = g_ascii_strdown(sql, -1);
    bool found = false;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) found |= strstr(lower, words[i]) != NULL;
    g_free(lower);
    return found;
}

/* The guarantee does not cover a date function of a column without dates. */
static bool reads_dates(const char *sql)
{
    static const char *const words[] = {"date", "strftime", "substr", "'20", "'19", "left("};
    char *lower = g_ascii_strdown(sql, -1);
    bool found = false;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) found |= strstr(lower, words[i]) != NULL;
    g_free(lower);
    return found;
}

static bool changes_column(enum sql_mutator op)
{
    static const enum sql_mutator ops[] = {SQL_MUTATE_column_sibling,   SQL_MUTATE_column_other_table,
                                           SQL_MUTATE_string_column,    SQL_MUTATE_value_in_other_column,
                                           SQL_MUTATE_date_part,        SQL_MUTATE_superlative_on_wrong_column,
                                           SQL_MUTATE_wrong_projection, SQL_MUTATE_wrong_entity,
                                           SQL_MUTATE_change_group,     SQL_MUTATE_group_key};
    for (size_t i = 0; i < G_N_ELEMENTS(ops); i++)
        if (ops[i] == op) return true;
    return false;
}

static void compare(struct run *run, const char *a, const char *b)
{
    bool ordered = depends_on_order(a) || depends_on_order(b);
    run->pairs++;
    for (int v = 0; v < VARIANTS; v++) {
        if (ordered && !is_distinct(v)) continue;
        char *x = row_digest(run->data[v], a), *y = row_digest(run->data[v], b);
        bool differ = x && y && strcmp(x, y) != 0;
        run->compared += x && y;
        if (differ && run->wrong++ < 20) fprintf(stderr, "equal meaning, other rows (%d):\n  %s\n  %s\n", v, a, b);
        g_free(x);
        g_free(y);
        if (differ) return;
    }
}

/* --- what the contract leaves open --- */

/* Statements whose rows may depend on order: columns beside a grouping, LIMIT without an order, tied rows, texts joined
 * in any order, subqueries of several rows as values. */

static bool is_bare(const struct meaning *m, const struct meaning_term *term)
{
    for (uint32_t i = 0; i < m->n_keys; i++)
        if (m->keys[i]->hash == term->hash) return false;
    if (term->kind == MEANING_MEASURE) return false;
    if (term->kind == MEANING_COLUMN || (term->kind == MEANING_QUERY && term->name && *term->name)) return true;
    for (uint32_t i = 0; i < term->n_parts; i++)
        if (is_bare(m, term->parts[i])) return true;
    return false;
}

/* Here the rows of two tables may tie on any data. */
static bool reads_set(const struct meaning *m)
{
    bool set = m->set != NULL;
    for (uint32_t i = 0; i < m->n_sources; i++) set |= m->sources[i].relation && reads_set(m->sources[i].relation);
    return set;
}

static void find_choice(void *self, const struct meaning *m)
{
    *(bool *)self |= m->limit && (!m->n_order || reads_set(m));
    if (m->grain == MEANING_ROWS || m->set) return;
    for (uint32_t i = 0; i < m->n_outputs; i++) *(bool *)self |= is_bare(m, m->outputs[i].term);
    for (uint32_t i = 0; i < m->n_group_conditions; i++) *(bool *)self |= is_bare(m, m->group_conditions[i]);
    for (uint32_t i = 0; i < m->n_order; i++) *(bool *)self |= is_bare(m, m->order[i].term);
}

static bool is_set_test(const struct meaning_term *term)
{
    static const char *const names[] = {"exists", "not exists", "in", "not in"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (term->kind == MEANING_OPERATION && g_str_equal(term->name, names[i])) return true;
    return false;
}

static bool is_any_row(const struct meaning_term *term)
{
    return meaning_is_subquery(term) && (term->relation->set || term->relation->grain != MEANING_ONE);
}

static void find_open_term(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    bool *open = self;
    (void)owner;
    *open |= term->kind == MEANING_MEASURE && (strstr(term->name, "concat") || strstr(term->name, "string_agg"));
    for (uint32_t i = 0; !is_set_test(term) && i < term->n_parts; i++) *open |= is_any_row(term->parts[i]);
}

static void find_open_output(void *self, const struct meaning *m)
{
    find_choice(self, m);
    for (uint32_t i = 0; i < m->n_outputs; i++) *(bool *)self |= is_any_row(m->outputs[i].term);
}

static bool leaves_choice(const struct meaning *m)
{
    bool open = false;
    meaning_visit(m, &(struct meaning_visitor){.self = &open, .relation = find_open_output, .term = find_open_term});
    return open;
}

static struct sql_bound *bind(struct run *run, struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    return sql_bind(arena, stmt, &run->catalog->catalog, &bound) == ERR_OK ? bound : NULL;
}

static void check_statement(struct run *run, const char *sql, int depth)
{
    struct arena arena;
    struct meaning *m = NULL;
    struct sql_mutation *mutants = NULL;
    if (run->pairs >= run->case_ends || !g_hash_table_add(run->seen, g_strdup(sql))) return;
    arena_init(&arena, 0);
    struct sql_bound *bound = bind(run, &arena, sql);
    if (bound) cr_assert_eq(meaning_read(&arena, bound, &m), ERR_OK);
    if (m && m->hash && !leaves_choice(m)) {
        const char *first = g_hash_table_lookup(run->first, &m->hash);
        run->statements++;
        if (first)
            compare(run, first, sql);
        else
            g_hash_table_insert(run->first, g_memdup2(&m->hash, sizeof m->hash), g_strdup(sql));
    }
    int n = bound && depth ? sql_mutate(&arena, bound, &run->catalog->env, 1, MUTANTS, &mutants) : 0;
    for (int i = 0; i < n; i++)
        if (!reads_dates(sql) || !changes_column(mutants[i].op)) check_statement(run, mutants[i].sql, depth - 1);
    arena_free(&arena);
}

static void run_end(struct run *run)
{
    for (int v = 0; v < VARIANTS && run->schema; v++) sqlite3_close(run->data[v]);
    catalog_sqlite_free(run->catalog);
    g_clear_pointer(&run->schema, g_free);
    if (run->first) g_hash_table_destroy(run->first);
    if (run->seen) g_hash_table_destroy(run->seen);
    run->catalog = NULL;
    run->first = run->seen = NULL;
}

static void run_begin(struct run *run, const char *schema)
{
    run_end(run);
    run->schema = g_strdup(schema);
    run->catalog = catalog_sqlite_script(schema);
    cr_assert_not_null(run->catalog);
    run->first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    run->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int v = 0; v < VARIANTS; v++) fill(run, v);
}

static void check_case(const struct golden_case *c, void *self)
{
    struct run *run = self;
    if (!run->schema || strcmp(run->schema, c->schema) != 0) run_begin(run, c->schema);
    run->case_ends = run->pairs + CASE_PAIRS;
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].key, "is") != 0) check_statement(run, c->fields[i].value, run->depth);
}

static void add_literals(const struct golden_case *c, void *self)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        char **parts = g_strsplit(c->fields[i].value, "'", -1);
        for (guint k = 1; parts[k] && parts[k + 1]; k += 2)
            if (strlen(parts[k]) > 0 && strlen(parts[k]) < 20 && !strchr(parts[k], '%'))
                g_ptr_array_add(((struct run *)self)->literals, g_strdup(parts[k]));
        g_strfreev(parts);
    }
}

Test(meaning_data, equal_meanings_give_equal_rows)
{
    const char *depth = getenv("ASSAY_MEANING_DEPTH");
    struct run run = {.depth = depth ? atoi(depth) : 1};
    GDir *folder = g_dir_open(TEST_DATA "/meaning", 0, NULL);
    cr_assert_not_null(folder);
    for (const char *name; (name = g_dir_read_name(folder));) {
        char *path = g_strdup_printf("../meaning/%s", name);
        run.literals = g_ptr_array_new_with_free_func(g_free);
        if (g_str_has_suffix(name, ".case")) cases_each(path, add_literals, &run);
        if (g_str_has_suffix(name, ".case")) cases_each(path, check_case, &run);
        run_end(&run);
        g_ptr_array_free(run.literals, TRUE);
        g_free(path);
    }
    g_dir_close(folder);
    fprintf(stderr, "meanings on random data: %zu statements, %zu pairs, %zu comparisons, %zu pairs differ\n",
            run.statements, run.pairs, run.compared, run.wrong);
    cr_expect_eq(run.wrong, 0);
    cr_expect_geq(run.compared, 10000);
    leak_check();
}
