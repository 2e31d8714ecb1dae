/* Tests a store of examples in PostgreSQL with pgvector. It finds the same examples as a file, accepts concurrent
 * writers, and survives an outage of its server. Each test has its own database on the server that ASSAY_TEST_PGVECTOR
 * names. */
#include "examples/examples.h"
#include "lib/base/clock.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MADE_UP = 3000, FEW = 150, WAIT_MS = 60000 };

static char server[256], dsn[320], path[64];
static struct examples *store;

static void sql(const char *where, const char *statements)
{
    PGconn *link = PQconnectdb(where);
    cr_assert_eq(PQstatus(link), CONNECTION_OK, "%s", PQerrorMessage(link));
    PGresult *result = PQexec(link, statements);
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s", PQresultErrorMessage(result));
    PQclear(result);
    PQfinish(link);
}

/* Writes the server's address with another database or another user. */
static void address(char *out, size_t size, const char *user, const char *database)
{
    const char *at = strchr(server, '@');
    g_snprintf(out, (gulong)size, "postgresql://%s%.*s/%s", user, (int)(strrchr(server, '/') - at), at, database);
}

static void begin(void)
{
    const char *given = getenv("ASSAY_TEST_PGVECTOR");
    char name[32], statement[64];
    if (!given || !*given)
        cr_skip_test("no PostgreSQL with pgvector: ASSAY_TEST_PGVECTOR is not set (tests/live/servers.sh)");
    g_strlcpy(server, given, sizeof server);
    g_setenv("PGPASSWORD", "of-the-tests", TRUE);
    g_snprintf(name, sizeof name, "examples_%d", (int)getpid());
    g_snprintf(statement, sizeof statement, "CREATE DATABASE %s", name);
    sql(server, statement);
    address(dsn, sizeof dsn, "assay", name);
    strcpy(path, "/tmp/assay-examples-XXXXXX");
    g_close(g_mkstemp(path), NULL);
}

static void end(void)
{
    examples_close(store, NULL);
    g_unlink(path);
    leak_check();
}
TestSuite(examples_postgres, .init = begin, .fini = end, .timeout = 240);

static void made_up(unsigned i, char question[160], char wrong[160])
{
    static const char *const things[] = {"customers", "invoices", "flights", "players", "books", "schools", "songs"};
    static const char *const traits[] = {"age", "price", "rating", "capacity", "year"};
    const char *thing = things[i % 7], *trait = traits[i / 7 % 5];
    g_snprintf(question, 160, "Which %s have the %ssest %s of group %u in region %u?", thing, i % 2 ? "large" : "small",
               trait, i / 35, i % 11);
    g_snprintf(wrong, 160, "SELECT %s FROM %s WHERE id %s %u", trait, thing, i % 3 ? ">" : "<=", i);
}

static bool add_to(struct examples *to, const char *question, const char *wrong)
{
    const struct example example = {.source = "q-1",
                                    .db = "shop",
                                    .question = question,
                                    .wrong = wrong,
                                    .error = "its result is another one",
                                    .right = "SELECT 1",
                                    .steps = "WHERE: a becomes b",
                                    .kind = "WHERE"};
    struct err err = {0};
    bool added;
    cr_assert_eq(examples_add(to, &example, &added, &err), ERR_OK, "%s", err.text);
    return added;
}

static void build(const char *where, unsigned n)
{
    struct err err = {0};
    struct examples *out;
    char question[160], wrong[160];
    cr_assert_eq(examples_create(where, NULL, &out, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < n; i++) {
        made_up(i, question, wrong);
        cr_assert(add_to(out, question, wrong));
    }
    cr_assert_eq(examples_close(out, &err), ERR_OK, "%s", err.text);
}

static struct examples *opened(const char *where, bool writes)
{
    struct err err = {0};
    struct examples *out;
    cr_assert_eq(examples_open(where, writes, NULL, &out, &err), ERR_OK, "%s", err.text);
    return out;
}

static uint32_t find(struct examples *in, unsigned i, enum examples_key key, struct examples_found out[3])
{
    char question[160], wrong[160];
    made_up(i, question, wrong);
    strcat(question, " Sorted.");
    const struct examples_query query = {question, wrong, "its result is another one", NULL};
    return examples_search(in, &query, key, 3, out);
}

/* Returns the recall of PostgreSQL: the share of the file's three nearest examples for which it finds an equally near
 * one. */
static double recall(unsigned asked, enum examples_key key, struct examples *file)
{
    unsigned found = 0, all = 0;
    for (unsigned i = 0; i < asked; i++) {
        struct examples_found exact[3], near[3];
        uint32_t n = find(file, i * 17, key, exact), m = find(store, i * 17, key, near);
        for (uint32_t k = 0; k < n; k++) found += k < m && near[k].likeness >= exact[k].likeness - 0.001F;
        all += n;
    }
    return (double)found / all;
}

Test(examples_postgres, store_finds_same_examples_as_file)
{
    build(path, FEW);
    build(dsn, FEW);
    struct examples *file = opened(path, false);
    store = opened(dsn, false);
    cr_expect_eq(examples_count(store), FEW);
    for (int key = 0; key < EXAMPLES_HYBRID; key++)
        cr_expect_float_eq(recall(40, (enum examples_key)key, file), 1, 1e-9, "key %d: %g", key,
                           recall(40, (enum examples_key)key, file));
    struct examples_found here[3], there[3];
    cr_assert_eq(find(store, 5, EXAMPLES_HYBRID, here), 3);
    cr_assert_eq(find(file, 5, EXAMPLES_HYBRID, there), 3);
    cr_expect_float_eq(here[0].likeness, there[0].likeness, 0.001, "the first by words and vectors together");
    struct arena arena;
    struct example read[3], same[3];
    struct err err = {0};
    arena_init(&arena, 0);
    cr_assert_eq(examples_read(store, &arena, here, 3, read, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_read(file, &arena, there, 1, same, &err), ERR_OK, "%s", err.text);
    cr_expect_str_eq(read[0].question, same[0].question);
    cr_expect_str_eq(read[0].steps, "WHERE: a becomes b");
    arena_free(&arena);
    examples_close(file, NULL);
}

Test(examples_postgres, large_index_finds_most_examples)
{
    build(path, MADE_UP);
    build(dsn, MADE_UP);
    struct examples *file = opened(path, false);
    store = opened(dsn, false);
    static const enum examples_key keys[] = {EXAMPLES_QUESTION, EXAMPLES_SQL, EXAMPLES_ALL};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        double share = recall(100, keys[i], file);
        cr_expect_geq(share, 0.95, "key %d: %g", (int)keys[i], share);
    }
    examples_close(file, NULL);
}

Test(examples_postgres, examples_of_same_question_are_excluded)
{
    build(dsn, 3);
    store = opened(dsn, false);
    char question[160], wrong[160];
    struct examples_found found[5];
    made_up(1, question, wrong);
    for (char *c = question; *c; c++) *c = g_ascii_toupper(*c);
    const struct examples_query query = {question, wrong, NULL, NULL}, own = {"Another", wrong, NULL, "q-1"};
    cr_expect_eq(examples_search(store, &query, EXAMPLES_QUESTION_SQL, 5, found), 2, "but for case");
    cr_expect_eq(examples_search(store, &own, EXAMPLES_QUESTION_SQL, 5, found), 0, "all are of that request");
    cr_expect_eq(examples_search(store, &(struct examples_query){0}, EXAMPLES_ALL, 5, found), 0, "nothing is asked");
}

/* --- adding --- */

static void *add_all(void *ctx)
{
    struct examples *own = opened(dsn, true);
    unsigned *added = ctx;
    char question[160], wrong[160];
    for (unsigned i = 0; i < 60; i++) {
        made_up(i, question, wrong);
        *added += add_to(own, question, wrong);
    }
    examples_close(own, NULL);
    return NULL;
}

Test(examples_postgres, concurrent_additions_are_stored_once)
{
    pthread_t threads[4];
    unsigned added[4] = {0};
    build(dsn, 20);
    for (size_t i = 0; i < 4; i++) cr_assert_eq(pthread_create(&threads[i], NULL, add_all, &added[i]), 0);
    for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    cr_expect_eq(added[0] + added[1] + added[2] + added[3], 40, "twenty were there");
    store = opened(dsn, false);
    cr_expect_eq(examples_count(store), 60);
}

Test(examples_postgres, rebuilt_store_replaces_old_one)
{
    build(dsn, 10);
    store = opened(dsn, false);
    struct examples_found found[3];
    build(dsn, 5);
    cr_expect_eq(find(store, 7, EXAMPLES_ALL, found), 3, "whoever searches goes on");
    examples_close(store, NULL);
    store = opened(dsn, false);
    cr_expect_eq(examples_count(store), 5);
}

Test(examples_postgres, near_duplicates_are_pruned_like_file)
{
    uint32_t here = 0, there = 0;
    struct err err = {0};
    build(path, 60);
    build(dsn, 60);
    struct examples *file = opened(path, true);
    store = opened(dsn, true);
    cr_assert_eq(examples_prune(file, 0.75F, &there, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_prune(store, 0.75F, &here, &err), ERR_OK, "%s", err.text);
    cr_expect_gt(here, 0);
    cr_expect_eq(here, there);
    examples_close(file, NULL);
}

Test(examples_postgres, hostile_texts_are_stored_as_data)
{
    static const char *const texts[] = {"'; DROP TABLE assay_example; --",
                                        "\xff\xfe broken \x80",
                                        "$1 %s \\x00 {\"}",
                                        "",
                                        "a\tb\nc\x01",
                                        "'''' | & ! ( <-> )"};
    struct examples_found found[10];
    struct arena arena;
    struct example read[10];
    arena_init(&arena, 0);
    build(dsn, 0);
    store = opened(dsn, true);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        cr_expect(add_to(store, texts[i], texts[(i + 1) % G_N_ELEMENTS(texts)]));
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        const struct examples_query query = {"Something else", texts[i], texts[i], NULL};
        uint32_t n = examples_search(store, &query, EXAMPLES_HYBRID, 10, found);
        cr_expect_eq(examples_read(store, &arena, found, n, read, NULL), ERR_OK);
        if (*texts[i]) cr_expect_gt(n, 0, "%s", texts[i]);
    }
    cr_expect_eq(examples_list(store, 10, found), G_N_ELEMENTS(texts));
    arena_free(&arena);
}

/* --- invalid stores, and an outage --- */

/* The error must show neither the password nor any text that contains it. */
static void refused(const char *where, enum err_code code, const char *why)
{
    struct err err = {0};
    cr_expect_eq(examples_open(where, false, NULL, &store, &err), code, "%s", err.text);
    cr_expect(strstr(err.text, why), "%s", err.text);
    cr_expect_null(strstr(err.text, "of-the-tests"), "%s", err.text);
    examples_close(store, NULL);
    store = NULL;
}

Test(examples_postgres, invalid_store_is_reported_with_hint)
{
    char other[320], statement[160];
    refused(dsn, ERR_CONFIG, "assay examples build");
    build(dsn, 2);
    sql(dsn, "UPDATE assay_examples_about SET value = '7' WHERE key = 'version'");
    refused(dsn, ERR_CONFIG, "version 7");
    sql(dsn, "UPDATE assay_examples_about SET value = '1' WHERE key = 'version';"
             "UPDATE assay_examples_about SET value = 'model x' WHERE key = 'embedder'");
    refused(dsn, ERR_CONFIG, "another embedder");
    sql(dsn, "UPDATE assay_examples_about SET value = 'built-in' WHERE key = 'embedder'");
    g_snprintf(statement, sizeof statement, "CREATE ROLE reader%d LOGIN PASSWORD 'of-the-tests'", (int)getpid());
    sql(dsn, statement);
    char user[32];
    g_snprintf(user, sizeof user, "reader%d", (int)getpid());
    address(other, sizeof other, user, strrchr(dsn, '/') + 1);
    refused(other, ERR_CONFIG, "cannot be read");
    refused("postgresql://assay@127.0.0.1:1/postgres", ERR_UNREACHABLE, "cannot be reached");
    refused("postgresql://assay:of-the-tests@127.0.0.1:1/postgres", ERR_CONFIG, "PGPASSFILE");
    refused("postgresql://assay:of-the-tests@[/nonsense", ERR_CONFIG, "PGPASSFILE");
    cr_expect_eq(examples_create("host=a password=of-the-tests", NULL, &store, NULL), ERR_CONFIG);
}

Test(examples_postgres, search_needs_only_read_access)
{
    char statement[256], user[32], other[320];
    struct examples_found found[3];
    build(dsn, 4);
    g_snprintf(user, sizeof user, "searcher%d", (int)getpid());
    g_snprintf(
        statement, sizeof statement,
        "CREATE ROLE %s LOGIN PASSWORD 'of-the-tests'; GRANT SELECT ON assay_example, assay_examples_about TO %s", user,
        user);
    sql(dsn, statement);
    address(other, sizeof other, user, strrchr(dsn, '/') + 1);
    store = opened(other, false);
    cr_expect_eq(find(store, 9, EXAMPLES_HYBRID, found), 3);
}

static void serve(const char *command)
{
    char *line = g_strdup_printf("bash '%s/tests/live/servers.sh' %s '%s' pgvector", SOURCE_ROOT, command,
                                 getenv("ASSAY_TEST_SERVERS"));
    cr_assert_eq(system(line), 0, "%s", line); /* NOLINT(cert-env33-c): runs a script of the test */
    g_free(line);
}

static bool finds(void *ctx)
{
    struct examples_found found[3];
    (void)ctx;
    return find(store, 3, EXAMPLES_ALL, found) == 3;
}

/* During an outage no example is found and no search waits long. After it the example is found again. */
Test(examples_postgres, recovered_server_is_used_again)
{
    build(dsn, 10);
    store = opened(dsn, false);
    cr_assert(finds(NULL));
    serve("kill");
    int64_t start = clock_now_ns();
    for (int i = 0; i < 20; i++) cr_expect_not(finds(NULL));
    cr_expect_lt(clock_now_ns() - start, INT64_C(10000000000));
    serve("up");
    cr_expect(wait_until(finds, NULL, WAIT_MS), "the server is back, and not asked");
}
