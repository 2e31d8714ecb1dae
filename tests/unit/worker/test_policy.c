/* Tests which data may leave a worker. The stricter of the request's policy and the catalogue's policy must apply to
 * every byte. */
#include "tests/unit/db/fixture.h"
#include "tests/unit/worker/rig.h"

#include "lib/schema/blob.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word that no question or candidate of these tests contains. */
#define SECRET "quokkaville"

static const char SQL[] =
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, email TEXT, city TEXT, doc TEXT,"
    " email_lc AS (lower(email)), stored_lc TEXT GENERATED ALWAYS AS (lower(email) || email_lc) STORED);"
    "CREATE VIEW address AS SELECT id, email FROM person;"
    "CREATE VIEW renamed AS SELECT id, upper(e) AS reach FROM (SELECT id, email AS e FROM person);"
    "CREATE VIEW again AS SELECT reach AS r FROM renamed;"
    "CREATE VIEW filtered AS SELECT name FROM person WHERE email LIKE '%one%';"
    "CREATE VIRTUAL TABLE note USING fts5(name, email);"
    "INSERT INTO note VALUES('Ann', '" SECRET "@one.example');"
    "INSERT INTO person(id, name, email, city, doc) VALUES(1,'Ann','" SECRET "@one.example','Perth','" SECRET "'),"
    "(2,'Bo','" SECRET "@two.example','Perth','{}'),(3,'Cy','" SECRET "@three.example','Broome','{}');"
    "CREATE TABLE visit(id INTEGER PRIMARY KEY, person_email TEXT, place TEXT);"
    "INSERT INTO visit VALUES(1,'" SECRET "@one.example','Broome');";

static const char *const CANDIDATES[] = {
    "SELECT email FROM person",
    "SELECT * FROM person",
    "SELECT p.* FROM person AS p JOIN visit AS v ON v.person_email = p.email",
    "SELECT name FROM person WHERE email = 'quokkavile@one.example'",
    "SELECT name FROM person WHERE email LIKE 'quokka%' AND city = 'Pert'",
    "SELECT name FROM person WHERE city = 'quokkavill@one.example'",
    "SELECT max(email), min(email), group_concat(email) FROM person",
    "SELECT e FROM (SELECT email AS e FROM person)",
    "WITH x AS (SELECT email FROM person) SELECT upper(email) FROM x",
    "SELECT email FROM address",
    "SELECT * FROM address",
    "SELECT name FROM person WHERE email > 3",
    "SELECT name FROM person WHERE email IN (SELECT person_email FROM visit WHERE place = 'Darwin')",
    "SELECT json_extract(doc, '$.a') FROM person",
    "SELECT name, (SELECT person_email FROM visit LIMIT 1) FROM person",
    "SELECT email FROM person ORDER BY emial",
    "SELECT email_lc FROM person",
    "SELECT stored_lc FROM person WHERE email_lc > 'a'",
    "SELECT name FROM person WHERE email_lc = 'quokkavile@one.example'",
    "SELECT reach FROM renamed",
    "SELECT r FROM again",
    "SELECT snippet(note, 1, '', '', '', 3) FROM note",
    "SELECT email FROM note('Ann')",
    "SELECT highlight(note, 1, '', '') FROM note WHERE note MATCH 'Ann'",
    "SELECT name FROM person WHERE name -> '$' AND json_extract(email, '$.a') = 1",
    "SELECT p.name FROM person AS p, json_each(p.email) AS j",
    "SELECT name FROM person NATURAL JOIN address",
};
enum { N_CANDIDATES = sizeof CANDIDATES / sizeof *CANDIDATES };

static const char *const DENIED[] = {"person.email", "person_email", "person.doc"};

static struct fixture people;
static struct rig rig;

static void begin(void)
{
    fixture_init(&people, SQL);
}

static void end(void)
{
    fixture_end(&people);
}
TestSuite(policy, .init = begin, .fini = end);

enum { FAMILIES = VSIG_FAMILY_COUNT - 1 }; /* all families except llm, because no model is configured */

static void put(const char *sql, unsigned number, enum msg_expose expose, const char *const *denied, uint32_t n)
{
    for (unsigned f = 0; f < FAMILIES; f++) {
        struct msg_task task = {.key = {0, number},
                                .hash = {number, 1},
                                .family = vsig_family_name((enum vsig_family)f),
                                .db = "people",
                                .question = "Which people of Perth have an address at one.example?",
                                .sql = {sql, (uint32_t)strlen(sql)},
                                .expose = expose,
                                .deny_columns = denied,
                                .n_deny_columns = n};
        rig_put(&rig, &task);
    }
}

static bool holds(const void *bytes, size_t len)
{
    return memmem(bytes, len, SECRET, strlen(SECRET)) != NULL;
}

/* Judges all candidates by all families, with this entry and these options. Returns the number of results that contain
 * the secret. */
static unsigned count_leaks(const struct worker_database *entry, enum msg_expose expose, const char *const *denied,
                            uint32_t n)
{
    struct err err = {0};
    struct worker_databases databases = {.files = entry, .n_files = 1};
    unsigned leaks = 0;
    rig_begin(&rig);
    cr_assert_eq(worker_databases_apply(&databases, rig.schemas, NULL, NULL, &err), ERR_OK);
    for (unsigned i = 0; i < N_CANDIDATES; i++) put(CANDIDATES[i], i, expose, denied, n);
    rig_start(&rig, (struct worker_config){.databases = databases});
    for (unsigned i = 0; i < N_CANDIDATES * FAMILIES; i++) {
        struct bus_message *message = rig_next_message(&rig, 0);
        leaks += holds(message->value, message->len);
        for (uint32_t h = 0; h < message->n_headers; h++)
            leaks += holds(message->headers[h].value, message->headers[h].len);
        bus_ack(rig.results, message);
    }
    rig_end(&rig);
    return leaks;
}

Test(policy, no_policy_shows_data)
{
    struct worker_database open = {.name = "people", .path = people.path};
    cr_assert_gt(count_leaks(&open, MSG_EXPOSE_ROWS, NULL, 0), 5, "else the tests below would show nothing");
}

Test(policy, column_denied_by_catalogue_is_never_shown)
{
    struct worker_database entry = {.name = "people", .path = people.path, .deny_columns = DENIED, .n_deny_columns = 3};
    cr_expect_eq(count_leaks(&entry, MSG_EXPOSE_ROWS, NULL, 0), 0);
    cr_expect_eq(count_leaks(&entry, MSG_EXPOSE_ROWS, (const char *const[]){"person.name"}, 1), 0,
                 "the request adds to it and takes nothing away");
}

Test(policy, column_denied_by_request_is_never_shown)
{
    struct worker_database open = {.name = "people", .path = people.path};
    cr_expect_eq(count_leaks(&open, MSG_EXPOSE_ROWS, DENIED, 3), 0);
}

/* Each of these statements reads a denied column that its output does not show. */
static const char *const READERS[] = {
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
    " SELECT 1 FROM n WHERE i <= (SELECT unicode(email) FROM person WHERE id = 1)",
    "SELECT CASE WHEN email LIKE 'q%' THEN abs(-9223372036854775807 - 1) END FROM person",
    "SELECT count(*) FROM person WHERE email = 'a'",
    "SELECT name FROM person ORDER BY email",
    "SELECT name FROM person GROUP BY email",
    "SELECT name, row_number() OVER (PARTITION BY doc) FROM person",
    "SELECT name FROM person WHERE length(email_lc) > 3",
    "SELECT count(*) FROM address WHERE email > 'q'",
    "SELECT count(*) FROM note",
    "SELECT name FROM person LIMIT (SELECT length(email) FROM person)",
    "SELECT p.name FROM person AS p JOIN visit AS v ON v.person_email = p.name",
    "SELECT count(*) FROM filtered",
    "SELECT email FROM person",
};
enum { N_READERS = sizeof READERS / sizeof *READERS };

/* Judges all READERS on `entry`. Counts the statements that were denied, the statements that ran, and the signals that
 * inspected a candidate. A signal counts as inspected unless it is unavailable because of "denied". */
static void judge_readers(const struct worker_database *entry, unsigned *denied, unsigned *ran, unsigned *inspected)
{
    struct err err = {0};
    const struct worker_databases databases = {.files = entry, .n_files = 1};
    *denied = *ran = *inspected = 0;
    rig_begin(&rig);
    cr_assert_eq(worker_databases_apply(&databases, rig.schemas, NULL, NULL, &err), ERR_OK);
    for (unsigned i = 0; i < N_READERS; i++) put(READERS[i], i, MSG_EXPOSE_NONE, NULL, 0);
    rig_start(&rig, (struct worker_config){.databases = databases});
    for (unsigned i = 0; i < N_READERS * FAMILIES; i++) {
        const struct msg_result *result = rig_next(&rig);
        if (result->execution && strcmp(result->family, "execution") == 0) {
            *denied += strcmp(result->execution->code, "denied") == 0 && !result->execution->rows && !result->invalid;
            *ran += strcmp(result->execution->code, "denied") != 0;
        }
        for (uint32_t s = 0; s < result->n_signals; s++)
            *inspected +=
                result->signals[s].state != MSG_UNAVAILABLE || strcmp(result->signals[s].reason, "denied") != 0;
    }
    rig_end(&rig);
}

Test(policy, statement_that_reads_denied_column_is_not_run)
{
    struct worker_database entry = {.name = "people", .path = people.path, .deny_columns = DENIED, .n_deny_columns = 3};
    unsigned denied, ran, inspected;
    judge_readers(&entry, &denied, &ran, &inspected);
    cr_expect_eq(denied, N_READERS, "%u", denied);
    cr_expect_eq(ran, 0, "%u", ran);
    cr_expect_eq(inspected, 0, "%u", inspected);
}

Test(policy, hidden_columns_are_read_if_operator_says_so)
{
    struct worker_database entry = {.name = "people",
                                    .path = people.path,
                                    .deny_columns = DENIED,
                                    .n_deny_columns = 3,
                                    .deny_mode = WORKER_DENY_HIDE};
    unsigned denied, ran, inspected;
    judge_readers(&entry, &denied, &ran, &inspected);
    cr_expect_eq(denied, 0);
    cr_expect_eq(ran, N_READERS);
    cr_expect_gt(inspected, 0);
}

Test(policy, statement_beside_denied_column_runs)
{
    static const char *const sql[] = {"SELECT name FROM person WHERE city = 'Perth'", "SELECT count(*) FROM person",
                                      "SELECT p.name, v.place FROM person p JOIN visit v ON v.id = p.id"};
    struct worker_database entry = {.name = "people", .path = people.path, .deny_columns = DENIED, .n_deny_columns = 3};
    const struct worker_databases databases = {.files = &entry, .n_files = 1};
    struct err err = {0};
    rig_begin(&rig);
    cr_assert_eq(worker_databases_apply(&databases, rig.schemas, NULL, NULL, &err), ERR_OK);
    for (unsigned i = 0; i < 3; i++) put(sql[i], i, MSG_EXPOSE_ROWS, NULL, 0);
    rig_start(&rig, (struct worker_config){.databases = databases});
    for (unsigned i = 0; i < 3 * FAMILIES; i++) {
        const struct msg_result *result = rig_next(&rig);
        if (result->execution) cr_expect_str_eq(result->execution->code, "ok", "%s", sql[result->key.offset]);
        for (uint32_t s = 0; s < result->n_signals; s++)
            cr_expect(result->signals[s].state != MSG_UNAVAILABLE || strcmp(result->signals[s].reason, "denied") != 0,
                      "%s: signal %u", sql[result->key.offset], result->signals[s].id);
        if (result->explanation)
            cr_expect_not(strstr(result->explanation->prose, "denied"), "%s", result->explanation->prose);
    }
    rig_end(&rig);
}

Test(policy, request_cannot_exceed_catalogue_exposure)
{
    struct worker_database closed = {.name = "people", .path = people.path, .expose = MSG_EXPOSE_NONE};
    cr_expect_eq(count_leaks(&closed, MSG_EXPOSE_ROWS, NULL, 0), 0);
}

Test(policy, stricter_policy_wins)
{
    struct worker_database entry = {.name = "people", .deny_columns = DENIED, .n_deny_columns = 1};
    struct worker_databases databases = {.files = &entry, .n_files = 1};
    static const struct {
        enum msg_expose asked, allowed, got;
    } cases[] = {
        {MSG_EXPOSE_ROWS, MSG_EXPOSE_UNSET, MSG_EXPOSE_ROWS},   {MSG_EXPOSE_ROWS, MSG_EXPOSE_VALUES, MSG_EXPOSE_VALUES},
        {MSG_EXPOSE_NONE, MSG_EXPOSE_ROWS, MSG_EXPOSE_NONE},    {MSG_EXPOSE_UNSET, MSG_EXPOSE_ROWS, MSG_EXPOSE_VALUES},
        {MSG_EXPOSE_UNSET, MSG_EXPOSE_NONE, MSG_EXPOSE_NONE},   {MSG_EXPOSE_VALUES, MSG_EXPOSE_ROWS, MSG_EXPOSE_VALUES},
        {MSG_EXPOSE_UNSET, MSG_EXPOSE_UNSET, MSG_EXPOSE_UNSET},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_task task = {
            .db = "people", .expose = cases[i].asked, .deny_columns = DENIED + 1, .n_deny_columns = 1};
        entry.expose = cases[i].allowed;
        cr_assert_eq(worker_policy(&databases, &arena, &task, NULL), ERR_OK);
        cr_expect_eq(task.expose, cases[i].got, "case %zu", i);
        cr_expect_eq(task.n_deny_columns, 2);
    }
    struct msg_task other = {.db = "elsewhere", .expose = MSG_EXPOSE_ROWS};
    cr_assert_eq(worker_policy(&databases, &arena, &other, NULL), ERR_OK);
    cr_expect_eq(other.expose, MSG_EXPOSE_ROWS);
    cr_expect_eq(other.n_deny_columns, 0);
    arena_free(&arena);
}

/* Checks the bytes that a shared cache would receive. */
Test(policy, index_holds_no_denied_value)
{
    struct db *db;
    struct schema_index *index;
    struct schema_blob blob = {0};
    struct err err = {0};
    struct schema_options options = {.deny_columns = DENIED, .n_deny_columns = 3};
    char open_key[33], key[33];
    cr_assert_eq(db_open(people.path, NULL, &db, &err), ERR_OK, "%s", err.text);
    for (int closed = 0; closed < 2; closed++) {
        options.n_deny_columns = closed ? 3 : 0;
        cr_assert_eq(schema_build(db, "people", people.path, &options, &index, &err), ERR_OK, "%s", err.text);
        cr_assert_eq(schema_blob_write(index, &blob, &err), ERR_OK);
        cr_expect_eq(holds(blob.bytes, blob.len), !closed);
        const struct schema_column *email = index->columns[2];
        cr_expect_eq(email->stats.rows, closed ? 0 : 3, "a denied column is not read");
        cr_expect_eq(schema_column_has(index, email, SECRET "@one.example", strlen(SECRET "@one.example"), true),
                     closed ? -1 : 1, "not known, which is not absent");
        schema_blob_key(index->fingerprint, people.path, &options, closed ? key : open_key);
        schema_blob_free(&blob);
        schema_unref(index);
    }
    cr_expect_str_neq(key, open_key, "a worker without the policy never gets an index made with it, nor the reverse");
    db_close(db);
}

/* Returns all bytes of the index except its fingerprint. */
static char *index_of(const char *path, const struct schema_options *options)
{
    struct db *db;
    struct schema_index *index;
    struct err err = {0};
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    cr_assert_eq(db_open(path, NULL, &db, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(schema_build(db, "people", NULL, options, &index, &err), ERR_OK, "%s", err.text);
    memset(index->fingerprint, '0', 32);
    index->build_ns = 0;
    index->bytes = 0;
    schema_print(index, out, true, true);
    fclose(out);
    schema_unref(index);
    db_close(db);
    return text;
}

Test(policy, index_is_same_whatever_denied_columns_hold)
{
    static const struct schema_options refuse = {.deny_columns = DENIED, .n_deny_columns = 3}, open = {0};
    struct fixture others;
    GString *sql = g_string_new(SQL);
    g_string_replace(sql, SECRET "@one.example", "z", 0);
    g_string_replace(sql, SECRET, "some other and longer text", 0);
    fixture_init(&others, sql->str);
    char *a = index_of(people.path, &refuse), *b = index_of(others.path, &refuse);
    cr_expect_str_eq(a, b);
    free(a);
    free(b);
    a = index_of(people.path, &open);
    b = index_of(others.path, &open);
    cr_expect_str_neq(a, b, "else the comparison above shows nothing");
    free(a);
    free(b);
    fixture_end(&others);
    g_string_free(sql, TRUE);
}

/* Returns the schema document of `people` under the policies of the entry and the task. The caller frees it. */
static char *describe(const struct worker_database *entry, const struct msg_task *task)
{
    struct err err = {0};
    char *json = NULL;
    const struct worker_databases databases = {.files = entry, .n_files = 1};
    struct schema_cache *cache = schema_cache_new(NULL, 0);
    const struct worker_config config = {.databases = databases, .schemas = cache};
    cr_assert_eq(worker_databases_apply(&databases, cache, NULL, NULL, &err), ERR_OK);
    cr_assert_eq(worker_describe(&config, task, &json, &err), ERR_OK, "%s", err.text);
    schema_cache_free(cache);
    return json;
}

Test(policy, schema_shows_no_denied_value)
{
    const struct worker_database open = {.name = "people", .path = people.path};
    const struct worker_database closed = {.name = "people", .path = people.path, .expose = MSG_EXPOSE_NONE};
    const struct worker_database entry = {
        .name = "people", .path = people.path, .deny_columns = DENIED, .n_deny_columns = 3};
    const struct msg_task asks = {.db = "people", .expose = MSG_EXPOSE_ROWS};
    const struct msg_task denies = {.db = "people", .deny_columns = DENIED, .n_deny_columns = 3};
    const struct {
        const struct worker_database *entry;
        const struct msg_task *task;
        bool secret, values;
    } cases[] = {{&open, &asks, true, true},
                 {&closed, &asks, false, false},
                 {&entry, &asks, false, true},
                 {&open, &denies, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *json = describe(cases[i].entry, cases[i].task);
        cr_expect_eq(holds(json, strlen(json)), cases[i].secret, "case %zu: %s", i, json);
        cr_expect_eq(strstr(json, "Perth") != NULL, cases[i].values, "case %zu", i);
        cr_expect(strstr(json, "\"email_lc\""), "names are told in any case");
        free(json);
    }
}

Test(policy, unavailable_schema_error_names_no_file)
{
    const struct worker_database gone = {.name = "gone", .path = "/nowhere/" SECRET ".sqlite"};
    struct schema_cache *cache = schema_cache_new(NULL, 0);
    const struct worker_config config = {.databases = {.files = &gone, .n_files = 1}, .schemas = cache};
    static const char *const names[] = {"gone", "other"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err err = {0};
        char *json = NULL;
        const struct msg_task task = {.db = names[i]};
        cr_expect_eq(worker_describe(&config, &task, &json, &err), ERR_DB_MISSING);
        cr_expect(!json && !strstr(err.text, "nowhere") && strstr(err.text, names[i]), "%s", err.text);
    }
    schema_cache_free(cache);
}
