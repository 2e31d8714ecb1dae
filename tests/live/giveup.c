/* Implements the search of giveup.h. Each function is called with every list of argument shapes, and the engine's table
 * gives the SQL text of a shape for a size. A statement runs under the limit of the gate's handle. A second handle
 * polls the server until no other session of the role is active. Statements that end late run again, because the
 * machine may be busy. The worst ones are printed as Markdown. */
#include "tests/live/giveup.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <string.h>

enum { LARGEST = 1 << 24, PATIENCE_MS = 60000, POLL_MS = 10, AGAIN = 3 };

/* --- arguments ---------------------------------------------------------------------------------------------------- */

/* Shapes of arguments, one letter for each:
 *
 * - L: long text; P: a long pattern that matches it except at its end; S: a short text
 * - N: a number; D: digits; A: an array
 * - J: a document; X: a path; F: a format; T: a time */
static const char *const shapes[] = {"L",  "J",   "D",   "A",   "LL",  "LP",  "PL",  "LS",  "SL",
                                     "JX", "JJ",  "LN",  "NF",  "TF",  "LF",  "AA",  "AL",  "DD",
                                     "JL", "LSL", "LSP", "LPS", "LSS", "SPL", "SLN", "JXX", "LNN"};

static const struct giveup_kind postgres_kinds[] = {
    {'L', "repeat('a', @)"},
    {'P', "repeat('a', @) || 'b'"},
    {'S', "'a'"},
    {'N', "@"},
    {'J', "('[' || repeat('1,', @) || '1]')::jsonb"},
    {'X', "'$[*]'"},
    {'F', "repeat('YYYY', @)"},
    {'T', "now()"},
    {'A', "string_to_array(repeat('a,', @), ',')"},
    {'D', "repeat('9', @)::numeric"},
    {0, NULL},
};

static const struct giveup_kind mariadb_kinds[] = {
    {'L', "REPEAT('a', @)"},
    {'P', "CONCAT(REPEAT('a', @), 'b')"},
    {'S', "'a'"},
    {'N', "@"},
    {'J', "CONCAT('[', REPEAT('1,', @), '1]')"},
    {'X', "'$[*]'"},
    {'F', "REPEAT('%Y', @)"},
    {'T', "NOW()"},
    {'A', "REPEAT('a,', @)"},
    {'D', "REPEAT('9', @)"},
    {0, NULL},
};

static const char *const postgres_others[] = {
    "repeat('a', @) LIKE '%' || repeat('a', @) || 'b'",
    "repeat('a', @) LIKE repeat('%a', @) || 'b'",
    "repeat('a', @) ILIKE '%' || repeat('a', @) || 'b'",
    "repeat('a', @) ~ repeat('a?', @)",
    "repeat('a', @) ~ ('(a*)*b' || repeat('x', @))",
    "repeat('a', @) SIMILAR TO repeat('(a|b)*', @)",
    "repeat('a', @) || repeat('b', @)",
    "repeat('a', @) < repeat('a', @)",
    "('[' || repeat('{\"a\":1},', @) || '1]')::jsonb",
    "('[' || repeat('{\"a\":1},', @) || '1]')::json -> 5",
    "('[' || repeat('1,', @) || '1]')::jsonb @> ('[' || repeat('2,', @) || '1]')::jsonb",
    "string_to_array(repeat('a,', @), ',') && string_to_array(repeat('b,', @), ',')",
    "string_to_array(repeat('a,', @), ',') @> string_to_array(repeat('b,', @), ',')",
    "jsonb_pretty((repeat('[', @) || repeat(']', @))::jsonb)",
    "repeat('9', @)::numeric * repeat('9', @)::numeric",
    "repeat('9', @)::numeric / repeat('7', @)::numeric",
    "repeat('9', @)::numeric % repeat('7', @)::numeric",
    "10::numeric ^ @",
    "repeat('a ', @)::tsvector",
    "format('%s' || '%s', repeat('a', @), 'x')",
    "translate(lpad('x', n * 0 + @), 'abc', repeat('d', @))",
    "upper(repeat('a', n * 0 + @))",
    "(SELECT translate(string_agg(repeat('a', @), ','), 'abc', 'def') FROM generate_series(1, 100000))",
    "(SELECT translate(string_agg(repeat('a', @), ','), 'abc', 'def') FROM generate_series(1, 300000))",
    "(SELECT translate(string_agg(repeat('a', @), ','), 'abc', 'def') FROM generate_series(1, 1000000))",
    "(SELECT upper(string_agg(repeat('a', @), ',')) FROM generate_series(1, 300000))",
    "(SELECT replace(string_agg(repeat('a', @), ','), 'aa', 'b') FROM generate_series(1, 300000))",
    "translate(a, b, '')",
    "replace(a, b, a)",
    "a LIKE '%' || b || '%'",
    "regexp_replace(a, '(a*)*b', b, 'g')",
    "md5(repeat('x', @) || 'a') || md5(repeat('x', @) || 'b') || md5(repeat('x', @) || 'c') || md5(repeat('x', @) || "
    "'d')",
    NULL,
};

static const char *const mariadb_others[] = {
    "REPEAT('a', @) LIKE CONCAT('%', REPEAT('a', @), 'b')",
    "REPEAT('a', @) LIKE CONCAT(REPEAT('%a', @), 'b')",
    "CONCAT(REPEAT('a', @), 'b') REGEXP '^(a+)+$'",
    "CONCAT(REPEAT('a', @), 'b') REGEXP 'a*a*a*c'",
    "CONCAT(REPEAT('a', @), 'b') REGEXP 'a*b*a*b*a*c'",
    "CONCAT(REPEAT('a', @), 'b') REGEXP REPEAT('a?', @)",
    "REGEXP_REPLACE(CONCAT(REPEAT('a', @), 'b'), '(a|aa)+$', 'c')",
    "REPEAT('a', @) < REPEAT('a', @)",
    "REPLACE(REPEAT('a', @), 'a', REPEAT('b', @))",
    "CAST(REPEAT('9', @) AS DOUBLE)",
    "CAST(REPEAT('9', @) AS DECIMAL(65))",
    "TRIM('a' FROM REPEAT('a', @))",
    "CONVERT(REPEAT('a', @) USING latin1)",
    "REVERSE(REPEAT('a', n * 0 + @))",
    "HEX(LPAD('x', n * 0 + @))",
    "REPLACE(a, b, a)",
    "LOCATE(b, a)",
    "a LIKE CONCAT('%', b, '%')",
    "REGEXP_REPLACE(a, 'a', b)",
    "(SELECT REPLACE(GROUP_CONCAT(REPEAT('a', @)), 'a', 'bb') FROM many)",
    "CONCAT(MD5(REPEAT('x', @)), MD5(REPEAT('y', @)), MD5(REPEAT('z', @)), MD5(REPEAT('w', @)))",
    NULL,
};

static const char *const postgres_short[] = {"to_date", "translate", "jsonb_pretty", "replace", NULL};
static const char *const mariadb_short[] = {"replace", "regexp_replace", "locate", "json_extract", NULL};

const struct giveup_engine giveup_postgres = {
    postgres_kinds, postgres_others, postgres_short,
    "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE usename = current_user AND state = 'active' AND pid <> "
    "pg_catalog.pg_backend_pid()"};

const struct giveup_engine giveup_mariadb = {
    mariadb_kinds, mariadb_others, mariadb_short,
    "SELECT count(*) FROM information_schema.processlist WHERE command <> 'Sleep' AND id <> CONNECTION_ID() AND "
    "user = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"};

/* --- running ------------------------------------------------------------------------------------------------------ */

static bool note_count(void *ctx, const struct db_value *row, uint32_t n)
{
    *(int64_t *)ctx = n == 1 && row[0].type == DB_INT ? row[0].i : -1;
    return false;
}

static bool is_active(struct giveup *search, const struct giveup_engine *engine)
{
    int64_t n = -1;
    return db_scan(search->watch, engine->active, note_count, &n, NULL) == ERR_OK ? n != 0 : true;
}

static void note_case(struct giveup *search, const char *sql, double ms)
{
    search->n_stopped += ms > 0;
    search->n_late += ms > GIVEUP_MOST_MS;
    struct giveup_case *least = &search->worst[0];
    for (unsigned i = 1; i < GIVEUP_WORST; i++)
        if (search->worst[i].ms < least->ms) least = &search->worst[i];
    if (ms <= least->ms) return;
    least->ms = ms;
    g_strlcpy(least->sql, sql, sizeof least->sql);
}

/* Returns the ms from the limit until the server is done, or a negative value if the gate refused the statement. */
static double run_once(struct giveup *search, const struct giveup_engine *engine, const char *sql)
{
    struct db_result result;
    int64_t start = clock_now_ns();
    enum err_code code = db_query(search->db, search->arena, sql, strlen(sql), NULL, 0, 0, &result, NULL);
    arena_reset(search->arena);
    if (code == ERR_REFUSED) return -1;
    while (is_active(search, engine) && clock_now_ns() - start < PATIENCE_MS * INT64_C(1000000))
        g_usleep(POLL_MS * 1000);
    return MAX(0, clock_ms(clock_now_ns() - start) - GIVEUP_LIMIT_MS);
}

/* A statement that ends late runs again, because a busy machine may be the cause. */
bool giveup_run(struct giveup *search, const struct giveup_engine *engine, const char *sql)
{
    double ms = run_once(search, engine, sql);
    if (ms < 0) return false;
    search->n++;
    for (int i = 0; i < AGAIN && ms > GIVEUP_MOST_MS; i++) ms = MIN(ms, MAX(0, run_once(search, engine, sql)));
    note_case(search, sql, ms);
    return true;
}

/* --- the search --------------------------------------------------------------------------------------------------- */

static char *with_size(const char *expression, unsigned size)
{
    char number[16];
    g_snprintf(number, sizeof number, "%u", size);
    char **parts = g_strsplit(expression, "@", -1), *text = g_strjoinv(number, parts);
    char *sql = g_strdup_printf("SELECT (%s) IS NULL FROM large", text);
    g_strfreev(parts);
    g_free(text);
    return sql;
}

/* Runs the call with the largest size that the gate permits. */
static void try_expression(struct giveup *search, const struct giveup_engine *engine, const char *expression)
{
    bool ran = false;
    for (unsigned size = LARGEST; size > 0 && !ran; size /= 2) {
        char *sql = with_size(expression, size);
        ran = giveup_run(search, engine, sql);
        g_free(sql);
        if (!strchr(expression, '@')) break;
    }
    search->n_refused += !ran;
}

static const char *text_of(const struct giveup_engine *engine, char letter)
{
    const struct giveup_kind *kind = engine->kinds;
    while (kind->text && kind->letter != letter) kind++;
    return kind->text ? kind->text : "NULL";
}

static void try_function(struct giveup *search, const struct giveup_engine *engine, const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
        GString *call = g_string_new(name);
        for (const char *letter = shapes[i]; *letter; letter++)
            g_string_append_printf(call, "%s%s", letter == shapes[i] ? "(" : ", ", text_of(engine, *letter));
        g_string_append_c(call, ')');
        try_expression(search, engine, call->str);
        g_string_free(call, TRUE);
    }
}

static bool is_listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (g_str_equal(*list, name)) return true;
    return false;
}

void giveup_search(struct giveup *search, const struct giveup_engine *engine, const char *const *functions, size_t n,
                   bool full)
{
    for (size_t i = 0; i < n; i++)
        if (full || is_listed(engine->short_list, functions[i])) try_function(search, engine, functions[i]);
    for (const char *const *other = engine->others; *other; other++) try_expression(search, engine, *other);
}

static int by_ms(const void *a, const void *b)
{
    const struct giveup_case *x = a, *y = b;
    return (x->ms < y->ms) - (x->ms > y->ms);
}

void giveup_print(const struct giveup *search, const char *name, FILE *out)
{
    struct giveup_case worst[GIVEUP_WORST];
    memcpy(worst, search->worst, sizeof worst);
    qsort(worst, GIVEUP_WORST, sizeof *worst, by_ms);
    fprintf(out,
            "%s: %u statements ran, %u had no size that is let through; %u ran past the limit of %d ms, %u for more "
            "than %d ms\n\n| ran on, ms | statement |\n| --- | --- |\n",
            name, search->n, search->n_refused, search->n_stopped, GIVEUP_LIMIT_MS, search->n_late, GIVEUP_MOST_MS);
    for (unsigned i = 0; i < GIVEUP_WORST && worst[i].ms > 0; i++)
        fprintf(out, "| %.0f | `%s` |\n", worst[i].ms, worst[i].sql);
}
