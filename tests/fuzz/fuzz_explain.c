/* Explains any statement that parses and binds. Checks that the text is bounded, valid UTF-8 and equal in two runs, and
 * that each phrase has a span. Also lists the statement among the readings of a question. The choices must differ, or
 * there must be none. The database is small, and its values are hostile. */
#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/explain/readings.h"
#include "tests/fuzz/ground.h"

static const char SCHEMA[] =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER REFERENCES u(id), b INTEGER REFERENCES u(id), name TEXT);"
    "CREATE TABLE u (id INTEGER PRIMARY KEY, a REAL, b BLOB, name TEXT);"
    "INSERT INTO u VALUES (1, 0.5, x'00ff', 'x'), (2, NULL, NULL, CAST(x'c328' AS TEXT));"
    "INSERT INTO t VALUES (1, 1, 2, 'X'), (2, 2, NULL, NULL), (3, NULL, 1, 'it''s');";

static struct db *db;
static struct schema_index *schema;

static void require(bool holds)
{
    if (!holds) abort();
}

static void check(const struct explanation *e, size_t sql_len)
{
    require(strlen(e->premise) <= explain_defaults.max_text && strlen(e->prose) <= explain_defaults.max_text);
    require(g_utf8_validate(e->premise, -1, NULL) && g_utf8_validate(e->prose, -1, NULL));
    require(e->n_phrases > 0 && (!e->cut || e->missing));
    for (uint32_t i = 0; i < e->n_phrases; i++)
        require(e->phrases[i].node && e->phrases[i].start <= e->phrases[i].end && e->phrases[i].end <= sql_len);
}

static void check_readings(struct arena *arena, const char *sql, size_t len)
{
    static const char plain[] = "SELECT name FROM t WHERE a = 1",
                      joined[] = "SELECT t.name, count(u.id) FROM t LEFT JOIN u ON t.a = u.id GROUP BY t.id";
    const struct explain_statement statements[] = {{sql, len}, {plain, sizeof plain - 1}, {joined, sizeof joined - 1}};
    struct explain_readings readings;
    if (explain_readings(arena, schema, statements, 3, &readings, NULL) != ERR_OK) return;
    require(g_utf8_validate(readings.question, -1, NULL) && *readings.question);
    for (uint32_t i = 0; i < readings.n; i++) {
        require(*readings.choices[i] && strlen(readings.choices[i]) <= 1024 &&
                g_utf8_validate(readings.choices[i], -1, NULL));
        require(!i || strcmp(readings.choices[i], readings.choices[i - 1]) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!db) fuzz_ground(SCHEMA, &db, &schema);
    struct arena arena;
    arena_init(&arena, 64UL << 20);
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    const char *sql = arena_strndup(&arena, (const char *)data, size);
    if (sql_parse(&arena, sql, size, NULL, &stmt) == ERR_OK && stmt->root &&
        sql_bind(&arena, stmt, &schema->catalog, &bound) == ERR_OK) {
        struct explain_options dry = explain_defaults;
        dry.may_probe = false;
        struct explain_source source = {
            .sql = sql, .sql_len = size, .stmt = stmt, .bound = bound, .index = schema, .db = db};
        struct explanation *e, *again;
        if (explain_query(&arena, &source, NULL, &e, NULL) == ERR_OK) check(e, size);
        if (explain_query(&arena, &source, &dry, &e, NULL) == ERR_OK &&
            explain_query(&arena, &source, &dry, &again, NULL) == ERR_OK)
            require(strcmp(e->premise, again->premise) == 0 && strcmp(e->prose, again->prose) == 0);
        check_readings(&arena, sql, size);
    }
    arena_free(&arena);
    return 0;
}
