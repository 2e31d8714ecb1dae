/* Reads answers of language models for the family llm. For any JSON object, each signal must be silent, fired with
 * clauses within the query, or unavailable with a reason. Messages are bounded and valid UTF-8. A signal whose part of
 * the answer is missing must be unavailable. */
#include "signals/support/ask.h"
#include "tests/fuzz/ground.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEMA[] = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, \"odd.name\" TEXT);"
                             "CREATE TABLE u (id INTEGER PRIMARY KEY, t_id INTEGER REFERENCES t(id), name TEXT);"
                             "INSERT INTO t VALUES (1, 'x', 'y');";
static const char SQL[] =
    "SELECT count(*) FROM t JOIN u ON u.t_id = t.id WHERE t.name = 'ä' AND u.name = 'x' ORDER BY 1";

static struct db *db;
static struct schema_index *schema;

static void require(bool holds)
{
    if (!holds) abort();
}

static void check(const struct vsig_verdict *verdict)
{
    require(verdict->n_findings <= VSIG_MAX_FINDINGS);
    require((verdict->state == VSIG_UNAVAILABLE) == (verdict->reason != NULL));
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next) {
        require(g_utf8_validate(f->message, -1, NULL) && strlen(f->message) < 512);
        require(f->n_clauses <= VSIG_MAX_CLAUSES);
        for (uint32_t i = 0; i < f->n_clauses; i++)
            require(f->clauses[i].start < f->clauses[i].end && f->clauses[i].end < sizeof SQL);
        for (const struct vsig_fact *fact = f->facts; fact; fact = fact->next)
            require(g_utf8_validate(fact->value, -1, NULL) && strlen(fact->value) < 1024);
    }
}

static void read_answer(const json_t *answer)
{
    static const char *const names[] = {
#define X(name) #name,
        ASK_SIGNALS(X)
#undef X
    };
    static struct vsig_options *options;
    struct vsig_verdict verdicts[VSIG_ID_END] = {0};
    struct vsig_subject subject;
    struct vsig_reply reply;
    struct arena arena;
    if (!options) options = vsig_options_new();
    arena_init(&arena, 16UL << 20);
    require(vsig_subject_init(&subject, &arena, schema, db, SQL, strlen(SQL), "How many are called x?", NULL, NULL) ==
            ERR_OK);
    for (unsigned i = 0; i < ASK_COUNT; i++) {
        reply.parts[i] = json_object_get(answer, names[i]);
        reply.reasons[i] = "none";
    }
    subject.reply = &reply;
    vsig_run_family(&subject, VSIG_LLM, options, verdicts);
    for (unsigned i = 0; i < ASK_COUNT; i++) {
        const struct vsig_verdict *verdict = &verdicts[vsig_by_name(names[i])->id];
        require(reply.parts[i] || verdict->state == VSIG_UNAVAILABLE);
        check(verdict);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!db) fuzz_ground(SCHEMA, &db, &schema);
    json_t *answer = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (answer) read_answer(answer);
    json_decref(answer);
    return 0;
}
