/* Tests the frames of questions with the cases of tests/data/question_frame; its README has the format. */
#include "lib/question/frame.h"
#include "tests/unit/db/fixture.h"
#include "tests/unit/sql/cases.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "q", "CREATE TABLE event (id INTEGER PRIMARY KEY, kind TEXT)");
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "q", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(frame, .init = setup, .fini = teardown);

/* How often each kind was found where expected, was missed, and was found where not expected. */
struct tally {
    unsigned found[FRAME_KIND_COUNT], missed[FRAME_KIND_COUNT], wrong[FRAME_KIND_COUNT], cases, right;
};

static void list(const struct golden_case *c, const char *what, const char *kind, const char *words)
{
    if (getenv("ASSAY_FRAME_LIST"))
        printf("%s:%d\t%s\t%s\t%s\t%s\n", c->file, c->line, what, kind, words, case_get(c, "question"));
}

static void check_kind(const struct golden_case *c, const struct question *question, enum frame_kind kind,
                       struct tally *tally, bool *right)
{
    const char *name = frame_kind_name(kind), *words = NULL;
    for (size_t i = 0; i < c->n_fields; i++) {
        const char *value = c->fields[i].value;
        if (g_str_equal(c->fields[i].key, "asks") && g_str_has_prefix(value, name) && value[strlen(name)] == ' ')
            words = value + strlen(name) + 1;
    }
    const struct frame_element *element = frame_find(question->frame, kind);
    tally->found[kind] += words && element;
    tally->missed[kind] += words && !element;
    tally->wrong[kind] += !words && element;
    if (words && !element) list(c, "missed", name, words);
    if (!words && element) {
        const struct text_token *first = &question->tokens.items[element->first], *last = first + element->n_tokens - 1;
        char *text = g_strndup(question->text + first->start, last->end - first->start);
        list(c, "wrong", name, text);
        g_free(text);
    }
    *right &= !words == !element;
}

static void check_case(const struct golden_case *c, void *self)
{
    struct tally *tally = self;
    bool right = true;
    arena_reset(&fixture.arena);
    const struct question *question = question_read(&fixture.arena, schema, case_get(c, "question"), NULL);
    cr_assert(question && question->frame, "%s:%d", c->file, c->line);
    for (unsigned kind = FRAME_IDIOM + 1; kind < FRAME_KIND_COUNT; kind++) check_kind(c, question, kind, tally, &right);
    tally->cases++;
    tally->right += right;
}

static void expect_quality(const char *file, double precision, double recall)
{
    struct tally tally = {0};
    unsigned found = 0, missed = 0, wrong = 0;
    cases_each(file, check_case, &tally);
    for (unsigned kind = FRAME_IDIOM + 1; kind < FRAME_KIND_COUNT; kind++) {
        unsigned f = tally.found[kind], m = tally.missed[kind], w = tally.wrong[kind];
        found += f;
        missed += m;
        wrong += w;
        if (getenv("ASSAY_FRAME_LIST"))
            printf("%-14s found %3u missed %3u wrong %3u\n", frame_kind_name(kind), f, m, w);
    }
    cr_log_info("%s: %u of %u cases right; %u found, %u missed, %u wrong", file, tally.right, tally.cases, found,
                missed, wrong);
    cr_expect_geq(found, precision * (found + wrong), "%s: precision %u of %u", file, found, found + wrong);
    cr_expect_geq(found, recall * (found + missed), "%s: recall %u of %u", file, found, found + missed);
}

/* The patterns were written from these cases. */
Test(frame, phrases)
{
    expect_quality("../question_frame/phrases.case", 0.9, 0.9);
}

/* Questions in other words, from which no pattern was written. */
Test(frame, whole_questions)
{
    expect_quality("../question_frame/whole.case", 0.8, 0.55);
}
