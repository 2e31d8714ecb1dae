/* Searches for statements that the allow lists permit and that overrun their time limit.
 *
 *   bench_overrun [--db DSN] [--executor child] [--ms LIMIT] [--show MS] [--part texts|chains|functions|bulks]
 *
 * Calls every function of the database engine with values of several kinds, and of sizes up to the limits. A statement
 * has one call, or one in as many columns as it may have. Also tries shapes without functions: chains of operators,
 * comparisons, sorts, joins, sets, and texts that are slow to compile. Each statement runs alone with a limit of LIMIT
 * (100 ms); statements that sort get enough time to reach the sort. Prints the worst statement of each group that
 * overran by more than MS (20). With a DSN, it tries the functions of that PostgreSQL instead. */
#include "lib/base/clock.h"
#include "lib/db/executor.h"

#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SQL_BYTES = 65536, MAX_COLUMNS = 1900, MAX_GROUPS = 1000 };

struct search {
    struct db *db;
    struct arena arena;
    int64_t limit_ms;
    double show_ms;
    GHashTable *worst; /* group → struct finding */
    unsigned n, ok, over;
    bool refused; /* true if the gate refused the last statement */
};

struct finding {
    double past_ms;
    enum err_code code;
    char *what;
};

/* --- running ------------------------------------------------------------------------------------------------------ */

static void keep(struct search *s, const char *group, const char *what, double past_ms, enum err_code code)
{
    struct finding *finding = g_hash_table_lookup(s->worst, group);
    if (!finding) g_hash_table_insert(s->worst, g_strdup(group), finding = g_new0(struct finding, 1));
    if (finding->what && finding->past_ms >= past_ms) return;
    g_free(finding->what);
    *finding = (struct finding){past_ms, code, g_strdup(what)};
}

static void try(struct search *s, const char *group, const char *what, const char *sql)
{
    struct db_result result;
    struct err err = {0};
    arena_reset(&s->arena);
    int64_t start = clock_now_ns();
    enum err_code code = db_query(s->db, &s->arena, sql, strlen(sql), NULL, 0, 0, &result, &err);
    double past_ms = clock_ms(clock_now_ns() - start) - (double)s->limit_ms;
    s->n++;
    s->ok += code == ERR_OK;
    s->refused = code == ERR_REFUSED;
    s->over += past_ms > s->show_ms;
    keep(s, group, what, past_ms, code);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* Row sources with one value as x, which is computed once however often x is used. "$" is replaced by its size in
 * bytes. */
static const struct {
    const char *name, *source;
} values[] = {
    {"digits", "(SELECT hex(hex(zeroblob($ / 4))) AS x LIMIT 1)"},
    {"letters", "(SELECT replace(hex(zeroblob($ / 2)), '00000000', 'aaaaaaaa') AS x LIMIT 1)"},
    {"blob", "(SELECT zeroblob($) AS x LIMIT 1)"},
    {"spaces", "(SELECT replace(hex(zeroblob($ / 2)), '00000000', '        ') AS x LIMIT 1)"},
    {"accents", "(SELECT replace(hex(zeroblob($ / 2)), '00000000', 'ääää') AS x LIMIT 1)"},
    {"formats", "(SELECT replace(hex(zeroblob($ / 2)), '00000000', '%5d%.9f%') AS x LIMIT 1)"},
    {"json array", "(SELECT '[' || replace(hex(zeroblob($ / 2)), '00', '1,') || '1]' AS x LIMIT 1)"},
    {"json object",
     "(SELECT '{' || replace(hex(zeroblob($ / 2)), '00000000', '\"ab\":10,') || '\"c\":1}' AS x LIMIT 1)"},
    {"json depth", "(SELECT replace(hex(zeroblob(900)), '00', '[') || replace(hex(zeroblob(900)), '00', ']') || "
                   "substr('$', 1, 0) AS x LIMIT 1)"},
};
static const unsigned sizes[] = {40000, 400000, 4000000};

/* Returns the text with each "$" replaced by a number. */
static char *with_number(const char *text, unsigned number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    GString *out = g_string_new(text);
    g_string_replace(out, "$", digits, 0);
    return g_string_free(out, FALSE);
}

/* Returns a statement that repeats `expression` as often as fits, at most `most` times. */
static char *many(const char *expression, const char *separator, unsigned most, const char *source, unsigned size)
{
    char *from = with_number(source, size);
    GString *sql = g_string_new("SELECT ");
    size_t room = SQL_BYTES - strlen(from) - 20;
    for (unsigned i = 0; i < most && sql->len + strlen(expression) + strlen(separator) < room; i++)
        g_string_append_printf(sql, "%s%s", i ? separator : "", expression);
    g_string_append_printf(sql, " FROM %s", from);
    g_free(from);
    return g_string_free(sql, FALSE);
}

static void try_call(struct search *s, const char *group, const char *call)
{
    static const unsigned times[] = {1, 100, MAX_COLUMNS};
    for (size_t v = 0; v < G_N_ELEMENTS(values); v++)
        for (size_t z = 0; z < G_N_ELEMENTS(sizes); z++)
            for (size_t t = 0; t < G_N_ELEMENTS(times); t++) {
                char *sql = many(call, ", ", times[t], values[v].source, sizes[z]);
                char *what =
                    g_strdup_printf("%u x %.40s over %u bytes of %s", times[t], call, sizes[z], values[v].name);
                try(s, group, what, sql);
                g_free(what);
                g_free(sql);
            }
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

/* The second and later arguments of a call; the first is x. */
static const char *const others[] = {"x", "'%a%b'", "'$[#-1]'", "-1", "'%J%s'"};

static char *call_of(const char *name, int n, const char *other, bool x_last)
{
    GString *call = g_string_new(name);
    g_string_append_c(call, '(');
    for (int i = 0; i < n; i++)
        g_string_append_printf(call, "%s%s", i ? "," : "", (i == 0) != x_last || n == 1 ? "x" : other);
    g_string_append_c(call, ')');
    return g_string_free(call, FALSE);
}

static bool is_taken(struct search *s, const char *call)
{
    char *sql = g_strdup_printf("SELECT %s FROM (SELECT '1' AS x LIMIT 1)", call);
    struct err err;
    enum err_code code = db_prepare_check(s->db, sql, strlen(sql), NULL, &err);
    g_free(sql);
    return code == ERR_OK;
}

static void try_function(struct search *s, const char *name, int n)
{
    for (size_t i = 0; i < (n > 1 ? G_N_ELEMENTS(others) : 1); i++)
        for (int last = 0; last <= (n > 1 && n < 4); last++) {
            char *call = call_of(name, n, others[i], last);
            if (is_taken(s, call)) try_call(s, name, call);
            g_free(call);
        }
}

static void search_functions(struct search *s)
{
    static const int some[] = {1, 2, 3, 99};
    sqlite3 *conn;
    sqlite3_stmt *stmt;
    sqlite3_open(":memory:", &conn);
    sqlite3_prepare_v2(conn, "SELECT DISTINCT name, narg FROM pragma_function_list ORDER BY 1, 2", -1, &stmt, NULL);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        int n = sqlite3_column_int(stmt, 1);
        char *quoted = g_strdup_printf("\"%s\"", name);
        if (n > 0) try_function(s, quoted, n);
        for (size_t i = 0; n < 0 && i < G_N_ELEMENTS(some); i++) try_function(s, quoted, some[i]);
        g_free(quoted);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(conn);
}

/* --- functions of PostgreSQL -------------------------------------------------------------------------------------- */

static const char *const server_values[] = {
    "(SELECT repeat('1', $) AS x OFFSET 0) v",
    "(SELECT repeat('ab ', $ / 3) AS x OFFSET 0) v",
    "(SELECT '[' || repeat('1,', $ / 2) || '1]' AS x OFFSET 0) v",
    "(SELECT ('[' || repeat('1,', $ / 2) || '1]')::jsonb AS x OFFSET 0) v",
    "(SELECT array_fill(1, ARRAY[$ / 8]) AS x OFFSET 0) v",
    "(SELECT $ * 1000 AS x OFFSET 0) v",
};
static const char *const server_others[] = {"x", "'(a*)*b'", "1", "1000000", "'{1}'", "'b'"};

static void try_server_call(struct search *s, const char *name, const char *call)
{
    for (size_t v = 0; v < G_N_ELEMENTS(server_values); v++)
        for (size_t z = 0; z < G_N_ELEMENTS(sizes); z++) {
            char *from = with_number(server_values[v], sizes[z]);
            char *sql = g_strdup_printf("SELECT %s FROM %s", call, from);
            char *what = g_strdup_printf("%s over %.60s", call, from);
            try(s, name, what, sql);
            g_free(what);
            g_free(sql);
            g_free(from);
            if (s->refused) return;
        }
}

static bool take_name(void *ctx, const struct db_value *row, uint32_t n)
{
    (void)n;
    g_ptr_array_add(ctx, g_strdup(row[0].text));
    g_ptr_array_add(ctx, GINT_TO_POINTER((int)row[1].i));
    return true;
}

static void search_server(struct search *s)
{
    GPtrArray *names = g_ptr_array_new();
    struct err err = {0};
    if (db_scan(s->db,
                "SELECT DISTINCT proname::text, pronargs::int FROM pg_catalog.pg_proc WHERE pronargs BETWEEN 1 AND 4 "
                "AND pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'v' ORDER BY 1, 2",
                take_name, names, &err))
        fprintf(stderr, "%s\n", err.text);
    for (guint i = 0; i < names->len; i += 2) {
        int n = GPOINTER_TO_INT(names->pdata[i + 1]);
        s->refused = false;
        for (size_t o = 0; !s->refused && o < (n > 1 ? G_N_ELEMENTS(server_others) : 1); o++) {
            char *call = call_of(names->pdata[i], n, server_others[o], false);
            try_server_call(s, names->pdata[i], call);
            g_free(call);
        }
        g_free(names->pdata[i]);
    }
    g_ptr_array_free(names, TRUE);
}

/* --- without functions -------------------------------------------------------------------------------------------- */

static const struct {
    const char *group, *expression, *separator;
    unsigned most;
} chains[] = {
    {"x + x", "x", "+", 390},
    {"x + x", "x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x", ",", MAX_COLUMNS},
    {"x / x", "x", "/", 390},
    {"x & x", "x&x&x&x&x&x&x&x&x&x&x&x&x&x&x&x", ",", MAX_COLUMNS},
    {"x || x", "x||x", ",", MAX_COLUMNS},
    {"-x", "-x", ",", MAX_COLUMNS},
    {"x = x", "x=x", ",", MAX_COLUMNS},
    {"x COLLATE NOCASE", "x=x COLLATE NOCASE", ",", MAX_COLUMNS},
    {"x COLLATE RTRIM", "x=x COLLATE RTRIM", ",", MAX_COLUMNS},
    {"x IN", "x IN (x,x,x,x,x,x,x,x,x)", ",", MAX_COLUMNS},
    {"CAST", "CAST(x AS NUMERIC)", ",", MAX_COLUMNS},
    {"CAST", "CAST(x AS INTEGER)", ",", MAX_COLUMNS},
    {"CAST", "CAST(x AS NUMERIC)<CAST(x AS REAL)", ",", MAX_COLUMNS},
    {"->>", "x->>'$[#-1]'", ",", MAX_COLUMNS},
    {"->>", "x->>'c'", ",", MAX_COLUMNS},
    {"LIKE", "x LIKE '%a%aaaaaaaaaaaaaaaaaaaaaaac'", ",", MAX_COLUMNS},
    {"GLOB", "x GLOB '*aaaaaaaaaaaaaaaaaaaaaaa[c]*'", ",", MAX_COLUMNS},
    {"CASE", "CASE x WHEN 1 THEN 2 WHEN 2 THEN 3 END", ",", MAX_COLUMNS},
    {"BETWEEN", "x BETWEEN x AND x", ",", MAX_COLUMNS},
};

static void search_chains(struct search *s)
{
    for (size_t i = 0; i < G_N_ELEMENTS(chains); i++)
        for (size_t v = 0; v < G_N_ELEMENTS(values); v++)
            for (size_t z = 0; z < G_N_ELEMENTS(sizes); z++) {
                char *sql = many(chains[i].expression, chains[i].separator, chains[i].most, values[v].source, sizes[z]);
                char *what =
                    g_strdup_printf("%.20s over %u bytes of %s", chains[i].expression, sizes[z], values[v].name);
                try(s, chains[i].group, what, sql);
                g_free(what);
                g_free(sql);
            }
}

/* Statements that sort %u generated rows, or make a set of them. A single opcode sorts all rows. */
static const struct {
    const char *group, *sql;
} bulks[] = {
    {"ORDER BY", "SELECT i FROM c ORDER BY i * 7919 % 1000003 LIMIT -1 OFFSET 0"},
    {"ORDER BY", "SELECT 1 FROM c ORDER BY i || 'x' COLLATE NOCASE LIMIT -1"},
    {"ORDER BY", "SELECT 1 FROM c ORDER BY hex(zeroblob(100)) || (i * 7919 % 1000003) LIMIT -1"},
    {"ORDER BY", "SELECT 1 FROM c ORDER BY hex(zeroblob(10000)) || (i * 7919 % 1000003) COLLATE NOCASE LIMIT -1"},
    {"DISTINCT", "SELECT count(*) FROM (SELECT DISTINCT i * 7919 % 1000003 FROM c)"},
    {"GROUP BY", "SELECT i * 7919 % 1000003 AS k, count(*) FROM c GROUP BY k"},
    {"UNION", "SELECT i FROM c UNION SELECT -i FROM c"},
    {"window", "SELECT row_number() OVER (ORDER BY i * 7919 % 1000003) FROM c"},
    {"window", "SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING) FROM c"},
    {"window", "SELECT group_concat(i) OVER (ORDER BY i) FROM c"},
    {"window", "SELECT max(i % 7) OVER (ORDER BY i RANGE BETWEEN 1000 PRECEDING AND CURRENT ROW) FROM c"},
    {"aggregate", "SELECT count(DISTINCT i * 7919 % 1000003) FROM c"},
    {"aggregate", "SELECT length(group_concat(hex(i))) FROM c"},
    {"aggregate", "SELECT length(json_group_array(i)) FROM c"},
    {"aggregate", "SELECT length(json_group_object(i, i)) FROM c"},
    {"join", "SELECT count(*) FROM c a, c b WHERE a.i = b.i + 1"},
    {"IN (SELECT)", "SELECT count(*) FROM c WHERE i IN (SELECT -i FROM c)"},
    {"json_each", "SELECT count(*) FROM json_each((SELECT json_group_array(i) FROM c))"},
    {"json_tree", "SELECT max(fullkey) FROM json_tree((SELECT json_group_array(json_array(i)) FROM c))"},
};
static const unsigned rows[] = {10000, 100000, 1000000, 2000000, 4000000};

static void search_bulks(struct search *s)
{
    struct db_limits limits = db_get_limits(s->db);
    for (size_t i = 0; i < G_N_ELEMENTS(bulks); i++)
        for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
            char *sql = g_strdup_printf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT %u) %s",
                                        rows[r], bulks[i].sql);
            char *what = g_strdup_printf("%.50s of %u rows", bulks[i].sql, rows[r]);
            limits.time_ms = s->limit_ms = rows[r] / 400 > 100 ? rows[r] / 400 : 100; /* time to reach the sort */
            if (limits.time_ms > 3000) limits.time_ms = s->limit_ms = 3000;
            db_set_limits(s->db, &limits);
            try(s, bulks[i].group, what, sql);
            g_free(what);
            g_free(sql);
        }
}

/* Texts that are slow to compile: `before`, then `part` as often as it fits, then `after`. */
static const struct {
    const char *group, *before, *part, *after;
    unsigned most;
} texts[] = {
    {"compile: joins", "SELECT 1 FROM t", ", t", "", 63},
    {"compile: joins", "SELECT 1 FROM t", " NATURAL JOIN t", "", 63},
    {"compile: joins on", "SELECT 1 FROM t a", " LEFT JOIN t USING (a)", "", 63},
    {"compile: unions", "SELECT 1", " UNION SELECT a FROM t", "", 49},
    {"compile: aggregates", "SELECT 1", ", sum(a + 1) + sum(b || a)", " FROM t", MAX_COLUMNS},
    {"compile: windows", "SELECT 1", ", sum(a) OVER (PARTITION BY b ORDER BY a)", " FROM t", MAX_COLUMNS},
    {"compile: OR", "SELECT 1 FROM t WHERE (a = 1", " OR b = 2", ")", 380},
    {"compile: AND", "SELECT 1 FROM t WHERE a = 1", " AND b = a", "", 380},
    {"compile: IN", "SELECT 1 FROM t WHERE a IN (1", ",2", ")", SQL_BYTES},
    {"compile: VALUES", "VALUES (1)", ",(2)", "", SQL_BYTES},
    {"compile: ORDER BY", "SELECT 1 FROM t ORDER BY a", ",b+a", "", MAX_COLUMNS},
    {"compile: GROUP BY", "SELECT 1 FROM t GROUP BY a", ",b+a", "", MAX_COLUMNS},
    {"compile: subqueries", "SELECT 1", ", (SELECT max(a) FROM t WHERE b = 1)", "", MAX_COLUMNS},
    {"compile: EXISTS", "SELECT 1 FROM t WHERE 1", " AND EXISTS (SELECT 1 FROM t x WHERE x.a = t.b)", "", 300},
    {"compile: stars", "SELECT *", ", *", " FROM t, t t2, t t3", SQL_BYTES},
};

static void search_texts(struct search *s)
{
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        GString *sql = g_string_new(texts[i].before);
        for (unsigned n = 0; n < texts[i].most && sql->len + 200 < SQL_BYTES; n++) g_string_append(sql, texts[i].part);
        g_string_append(sql, texts[i].after);
        try(s, texts[i].group, texts[i].part, sql->str);
        g_string_free(sql, TRUE);
    }
}

/* Tries chains of queries in which each reads the previous one twice, so that copied results double in size. */
static void search_doublings(struct search *s)
{
    static const char *const forms[] = {"SELECT x + x AS x FROM $", "SELECT a.x FROM $ a, $ b",
                                        "SELECT x || x AS x FROM $", "SELECT x FROM $ UNION ALL SELECT x FROM $"};
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
        for (unsigned depth = 8; depth <= 40; depth += 8) {
            GString *sql = g_string_new("WITH c0 AS (SELECT hex(hex(zeroblob(1000))) AS x)");
            for (unsigned n = 0; n < depth; n++) {
                g_string_append_printf(sql, ", c%u AS (", n + 1);
                char *name = g_strdup_printf("c%u", n);
                g_string_append(sql, forms[i]);
                g_string_replace(sql, "$", name, 0);
                g_free(name);
                g_string_append_c(sql, ')');
            }
            g_string_append_printf(sql, " SELECT count(x) FROM c%u", depth);
            try(s, "doubling", forms[i], sql->str);
            g_string_free(sql, TRUE);
        }
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static int by_past(const void *a, const void *b, void *worst)
{
    const struct finding *x = g_hash_table_lookup(worst, *(char *const *)a);
    const struct finding *y = g_hash_table_lookup(worst, *(char *const *)b);
    return (x->past_ms < y->past_ms) - (x->past_ms > y->past_ms);
}

static void print(struct search *s)
{
    guint n;
    char **groups = (char **)g_hash_table_get_keys_as_array(s->worst, &n);
    g_qsort_with_data(groups, (int)n, sizeof *groups, by_past, s->worst);
    printf("%u statements, %u ran to their end, %u more than %.0f ms past their limit; %u groups\n\n", s->n, s->ok,
           s->over, s->show_ms, n);
    printf("| | ms past the limit | class | statement |\n| --- | --- | --- | --- |\n");
    for (guint i = 0; i < n; i++) {
        const struct finding *finding = g_hash_table_lookup(s->worst, groups[i]);
        if (i && finding->past_ms < s->show_ms) break;
        printf("| %s | %.0f | %s | %s |\n", groups[i], finding->past_ms, err_name(finding->code), finding->what);
    }
    g_free(groups);
}

static void finding_free(gpointer p)
{
    struct finding *finding = p;
    g_free(finding->what);
    g_free(finding);
}

static void limit(struct search *s, int64_t ms)
{
    struct db_limits limits = db_get_limits(s->db);
    limits.time_ms = s->limit_ms = ms;
    db_set_limits(s->db, &limits);
}

static const struct {
    const char *name;
    void (*search)(struct search *s);
} parts[] = {{"texts", search_texts},
             {"texts", search_doublings},
             {"chains", search_chains},
             {"functions", search_functions},
             {"bulks", search_bulks}};

int main(int argc, char **argv)
{
    struct search s = {.show_ms = 20};
    int64_t limit_ms = 100;
    const char *part = NULL, *server = NULL;
    struct executor *executor = NULL;
    if (strcmp(argv[0], EXECUTOR_NAME) == 0) executor_serve(argc > 1 ? argv[1] : NULL);
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--ms") == 0) limit_ms = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--executor") == 0) executor = executor_new(EXECUTOR_SELF);
        if (strcmp(argv[i], "--db") == 0) server = argv[i + 1];
        if (strcmp(argv[i], "--part") == 0) part = argv[i + 1];
        if (strcmp(argv[i], "--show") == 0) s.show_ms = atof(argv[i + 1]);
    }
    char path[] = "/tmp/assay-overrun-XXXXXX";
    struct err err = {0};
    sqlite3 *conn;
    close(mkstemp(path));
    sqlite3_open(path, &conn);
    sqlite3_exec(conn, "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 2, 3)", NULL, NULL, NULL);
    sqlite3_close(conn);
    if (server) {
        unlink(path);
        if (db_open(server, NULL, &s.db, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
    } else if (executor ? executor_open(executor, path, NULL, &s.db, &err) : db_open(path, NULL, &s.db, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    arena_init(&s.arena, (size_t)256 << 20);
    s.worst = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, finding_free);
    limit(&s, limit_ms);
    if (server) search_server(&s);
    for (size_t i = 0; !server && i < G_N_ELEMENTS(parts); i++)
        if (!part || strcmp(part, parts[i].name) == 0) parts[i].search(&s);
    print(&s);
    g_hash_table_destroy(s.worst);
    arena_free(&s.arena);
    db_close(s.db);
    executor_free(executor);
    unlink(path);
    return 0;
}
