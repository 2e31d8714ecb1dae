/* Aligns any question with any statement that binds: the question is the first line of the input, the statement the
 * rest. Checks that the aligned items point into both texts, and that each difference has a sentence. Also runs all
 * signals of the structure and question families and scores the words. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/question/question.h"
#include "lib/question/wording.h"
#include "signals/support/meaning.h"
#include "tests/fuzz/ground.h"

static const char SCHEMA[] =
    "CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, town TEXT);"
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop(id), sold_at TEXT, amount INTEGER, "
    "note "
    "TEXT);"
    "INSERT INTO shop VALUES (1, 'A', 'Ayr'), (2, 'B', NULL);"
    "INSERT INTO sale VALUES (1, 1, '2024-01-02 10:00:00', 5, NULL), (2, 1, '2024-02-03', 7, 'x'), (3, 2, NULL, NULL, "
    "'y');";

static struct db *db;
static struct schema_index *schema;

static void require(bool holds)
{
    if (!holds) abort();
}

static void check(const struct question *question, const struct alignment *alignment, size_t sql_len)
{
    require(alignment->n <= ALIGN_MAX_ITEMS);
    for (uint32_t i = 0; i < alignment->n; i++) {
        const struct align_item *item = &alignment->items[i];
        require(item->first + item->n_tokens <= question->tokens.n);
        require(item->start <= item->end && item->end <= sql_len);
        require(item->agrees == !item->says && !(item->agrees && item->certain));
    }
}

static void run_signals(struct vsig_subject *subject)
{
    static struct vsig_options *options;
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    if (!options) require((options = vsig_options_new()) != NULL);
    for (unsigned i = 0; i < n; i++) {
        if (all[i]->family != VSIG_STRUCTURE && all[i]->family != VSIG_QUESTION) continue;
        struct vsig_verdict verdict = {0};
        vsig_run_one(subject, all[i], options, &verdict);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!db) fuzz_ground(SCHEMA, &db, &schema);
    struct arena arena;
    arena_init(&arena, 64UL << 20);
    const char *text = arena_strndup(&arena, (const char *)data, size);
    size_t line = strcspn(text, "\n"), rest = line + (text[line] != '\0');
    const char *question = arena_strndup(&arena, text, line), *sql = text + rest;
    struct vsig_subject subject;
    if (vsig_subject_init(&subject, &arena, schema, NULL, sql, strlen(sql), question, NULL, NULL) == ERR_OK) {
        const struct alignment *alignment = vsig_alignment(&subject);
        if (alignment) check(subject.analysis, alignment, strlen(sql));
        run_signals(&subject);
        wording_score(&arena, subject.analysis->wording, vsig_meaning(&subject));
    }
    arena_free(&arena);
    return 0;
}
