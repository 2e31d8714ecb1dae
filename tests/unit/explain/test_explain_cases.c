/* Compares explanations with golden cases; tests/data/explain/told/README.md has the format. */
#include "tests/support/leak.h"
#include "tests/unit/explain/ground.h"
#include "tests/unit/signals/case_file.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stage {
    const char *path, *case_name, *descriptions, *described;
    char *database; /* SQL text */
    struct ground ground;
    struct explain_options options;
    bool no_database;
    char *denied;
    unsigned explained, failures;
};

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Returns the explanation as the lines of a case. */
static char *as_case(const struct explanation *e)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < e->n_phrases; i++)
        if (*e->phrases[i].premise)
            g_string_append_printf(text, "%s%s: %s\n", explain_kind_name(e->phrases[i].kind),
                                   e->phrases[i].from_data ? "*" : "", e->phrases[i].premise);
    g_string_append_printf(text, "prose: %s\n", e->prose);
    if (e->missing) g_string_append_printf(text, "missing: %s\n", e->missing);
    return g_string_free(text, FALSE);
}

static bool is_expectation(const struct case_line *line)
{
    static const char *const OTHERS[] = {"database", "schema", "descriptions", "options", "case", "sql", NULL};
    return !g_strv_contains(OTHERS, line->key);
}

/* Returns the expected lines from `at` on, in the form that as_case writes. */
static char *expected_case(GPtrArray *lines, unsigned at)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = at; i < lines->len && is_expectation(lines->pdata[i]); i++) {
        const struct case_line *line = lines->pdata[i];
        char *value = g_strdelimit(g_strdup(line->value), "\n", ' ');
        g_string_append_printf(text, "%s: %s\n", line->key, value);
        g_free(value);
    }
    return g_string_free(text, FALSE);
}

static void complain(struct stage *stage, const struct case_line *line, const char *what)
{
    fprintf(stderr, "%s:%u: [%s] %s\n", stage->path, line->number, stage->case_name ? stage->case_name : "", what);
    stage->failures++;
}

static void explain(struct stage *stage, GPtrArray *lines, unsigned at)
{
    const struct case_line *line = lines->pdata[at];
    struct arena arena;
    arena_init(&arena, 0);
    struct explain_source *source = ground_source(&stage->ground, &arena, line->value);
    struct explanation *e = NULL, *again = NULL;
    if (source && stage->no_database) source->db = NULL;
    if (!source || explain_query(&arena, source, &stage->options, &e, NULL) != ERR_OK ||
        explain_query(&arena, source, &stage->options, &again, NULL) != ERR_OK) {
        complain(stage, line, "cannot be explained");
    } else {
        const char *wrong = ground_check(&stage->ground, source, &stage->options, e);
        char *got = as_case(e), *wanted = expected_case(lines, at + 1);
        if (wrong) complain(stage, line, wrong);
        if (!same(e->premise, again->premise) || !same(e->prose, again->prose))
            complain(stage, line, "differs when repeated");
        if (!same(got, wanted)) {
            complain(stage, line, "is explained like this:");
            fprintf(stderr, "%s", got);
        }
        g_free(got);
        g_free(wanted);
    }
    stage->explained++;
    arena_free(&arena);
}

static void set_options(struct stage *stage, const char *value)
{
    g_free(stage->denied);
    stage->denied = NULL;
    stage->options = explain_defaults;
    stage->no_database = false;
    char **words = g_strsplit(value, " ", -1);
    for (char **w = words; *w; w++) {
        if (same(*w, "expose=none")) stage->options.expose = EXPLAIN_NONE;
        if (same(*w, "expose=rows")) stage->options.expose = EXPLAIN_ROWS;
        if (same(*w, "no_probe")) stage->options.may_probe = false;
        if (same(*w, "no_database")) stage->no_database = true;
        if (g_str_has_prefix(*w, "max_text=")) stage->options.max_text = (uint32_t)strtoul(*w + 9, NULL, 10);
        if (g_str_has_prefix(*w, "deny=")) stage->denied = g_strdup(*w + 5);
    }
    g_strfreev(words);
    stage->options.deny_columns = (const char *const *)&stage->denied;
    stage->options.n_deny_columns = stage->denied != NULL;
}

static void open_ground(struct stage *stage, const struct case_line *line)
{
    ground_close(&stage->ground);
    char *why = ground_open(&stage->ground, stage->database, stage->described, stage->descriptions);
    if (why) complain(stage, line, why);
    g_free(why);
}

static void set_database(struct stage *stage, const struct case_line *line)
{
    char *name = g_strconcat(line->value, ".sql", NULL);
    char *file = g_build_filename(SOURCE_ROOT, "deploy", "samples", name, NULL);
    g_free(stage->database);
    stage->database = NULL;
    stage->descriptions = NULL;
    if (same(line->key, "schema"))
        stage->database = g_strdup(line->value);
    else if (!g_file_get_contents(file, &stage->database, NULL, NULL))
        stage->database = g_strdup("");
    g_free(name);
    g_free(file);
    open_ground(stage, line);
}

/* The first word of the line is a table, such as "grower". The lines of its sidecar file follow. */
static void set_descriptions(struct stage *stage, struct case_line *line)
{
    char *rest = strchr(line->value, '\n');
    if (rest) *rest++ = '\0';
    stage->described = line->value;
    stage->descriptions = rest;
    open_ground(stage, line);
}

static void run_file(const char *path, unsigned *explained)
{
    char *why = NULL;
    struct case_file *file = case_file_read(path, &why);
    cr_assert_not_null(file, "%s", why);
    struct stage stage = {.path = path, .options = explain_defaults};
    for (unsigned i = 0; i < file->lines->len; i++) {
        struct case_line *line = file->lines->pdata[i];
        if (same(line->key, "database") || same(line->key, "schema"))
            set_database(&stage, line);
        else if (same(line->key, "descriptions"))
            set_descriptions(&stage, line);
        else if (same(line->key, "options"))
            set_options(&stage, line->value);
        else if (same(line->key, "case"))
            stage.case_name = line->value;
        else if (same(line->key, "sql") && stage.ground.schema)
            explain(&stage, file->lines, i);
    }
    cr_expect(stage.failures == 0, "%s: %u of %u are not as they should be", path, stage.failures, stage.explained);
    *explained += stage.explained;
    ground_close(&stage.ground);
    g_free(stage.denied);
    g_free(stage.database);
    case_file_free(file);
}

Test(explain, golden_cases_match)
{
    unsigned explained = 0;
    GDir *folder = g_dir_open(TEST_DATA "/explain/told", 0, NULL);
    cr_assert_not_null(folder);
    for (const char *name; (name = g_dir_read_name(folder));) {
        if (!g_str_has_suffix(name, ".case")) continue;
        char *path = g_build_filename(TEST_DATA, "explain", "told", name, NULL);
        run_file(path, &explained);
        g_free(path);
    }
    g_dir_close(folder);
    cr_expect(explained >= 40, "only %u cases", explained);
    leak_check();
}
