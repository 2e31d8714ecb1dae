/* Tests the state of a database. It changes with every input of a worker's results. It is equal for two workers with
 * equal results, and every result contains it. There is no Redis, so states are not published; the rest works without
 * it. */
#include "tests/unit/db/fixture.h"
#include "worker/db_states.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static struct fixture shop;
static struct db *db;
static struct schema_cache *schemas;
static struct vsig_options *signals;
static char fingerprint[33];

static void begin(void)
{
    fixture_init(&shop, "CREATE TABLE person(id INTEGER PRIMARY KEY, email TEXT); INSERT INTO person VALUES(1, 'a')");
    cr_assert_eq(db_open(shop.path, NULL, &db, NULL), ERR_OK);
    cr_assert_eq(db_fingerprint(db, fingerprint, NULL), ERR_OK);
    schemas = schema_cache_new(NULL, 0);
    signals = vsig_options_new();
}

static void end(void)
{
    vsig_options_free(signals);
    schema_cache_free(schemas);
    db_close(db);
    fixture_end(&shop);
}
TestSuite(states, .init = begin, .fini = end);

static bool state_of(const struct worker_config *worker, const struct db *handle, const char *print,
                     char out[STATE_TEXT])
{
    static const struct cache_config nowhere = {.address = "127.0.0.1:1"};
    struct db_states *states;
    cr_assert_eq(db_states_open(&nowhere, worker, &states, NULL), ERR_OK);
    bool told = db_states_of(states, handle, "shop", shop.path, print, out);
    db_states_close(states);
    return told;
}

static struct worker_config plain(void)
{
    return (struct worker_config){.schemas = schemas, .signals = signals, .limits = {.time_ms = 3000}};
}

Test(states, every_input_of_results_changes_state)
{
    static const char *const denied[] = {"person.email"};
    char states[7][STATE_TEXT];
    struct worker_config worker = plain();
    struct worker_database entry = {.name = "shop", .path = shop.path};
    cr_assert(state_of(&worker, db, fingerprint, states[0]));
    cr_assert(state_of(&worker, db, "0123456789abcdef0123456789abcdef", states[1]));
    worker.limits.max_rows = 7;
    cr_assert(state_of(&worker, db, fingerprint, states[2]));
    worker = plain();
    worker.databases = (struct worker_databases){.files = &entry, .n_files = 1};
    entry.expose = MSG_EXPOSE_NONE;
    cr_assert(state_of(&worker, db, fingerprint, states[3]));
    entry.expose = MSG_EXPOSE_UNSET;
    entry.limits.time_ms = 5;
    cr_assert(state_of(&worker, db, fingerprint, states[4]));
    worker = plain();
    signals->enabled[VSIG_ID_rival_column] = !signals->enabled[VSIG_ID_rival_column];
    cr_assert(state_of(&worker, db, fingerprint, states[5]));
    signals->enabled[VSIG_ID_rival_column] = !signals->enabled[VSIG_ID_rival_column];
    const struct schema_options options = {.deny_columns = denied, .n_deny_columns = 1};
    schema_cache_options_for(schemas, "shop", &options);
    cr_assert(state_of(&worker, db, fingerprint, states[6]));
    for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
        cr_expect_eq(strspn(states[i], "0123456789abcdef"), STATE_TEXT - 1);
        for (unsigned k = 0; k < i; k++) cr_expect_str_neq(states[i], states[k], "%u and %u", i, k);
    }
}

Test(states, equal_workers_see_equal_state)
{
    char one[STATE_TEXT], other[STATE_TEXT];
    struct worker_config worker = plain();
    struct schema_cache *own = schema_cache_new(NULL, 0);
    cr_assert(state_of(&worker, db, fingerprint, one));
    worker.schemas = own;
    cr_assert(state_of(&worker, db, fingerprint, other));
    cr_expect_str_eq(one, other);
    schema_cache_free(own);
}

Test(states, handle_without_change_detection_has_no_state)
{
    char state[STATE_TEXT];
    struct db *schema;
    const struct worker_config worker = plain();
    cr_assert_eq(db_open(DB_SCHEMA_PREFIX "CREATE TABLE t (a)", NULL, &schema, NULL), ERR_OK);
    cr_expect_not(db_tells_changes(schema));
    cr_expect(db_tells_changes(db));
    cr_expect_not(state_of(&worker, schema, fingerprint, state));
    db_close(schema);
}
