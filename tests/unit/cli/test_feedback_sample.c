/* Tests how assay feedback sample chooses verdicts to label. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(feedback_sample, .init = scratch_begin, .fini = scratch_end);

/* Writes `n` requests of a generator and their verdicts. P(correct) falls from 0.999. The first `labelled` of them have
 * feedback. */
static void add(GString *out, const char *generator, unsigned n, unsigned labelled)
{
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(
            out,
            "{\"id\":\"%s-%u\",\"db\":\"d\",\"question\":\"?\",\"candidates\":[{\"sql\":\"SELECT "
            "1\",\"generators\":[\"%s\"]}]}\n"
            "{\"schema_version\":2,\"id\":\"%s-%u\",\"status\":\"validated\",\"sql\":\"SELECT 1\",\"p_correct\":%g}\n",
            generator, i, generator, generator, i, 0.999 - 0.0001 * i);
        if (i < labelled)
            g_string_append_printf(out, "{\"feedback_version\":1,\"id\":\"%s-%u\",\"right\":true}\n", generator, i);
    }
}

static unsigned count_lines(const char *text, const char *prefix)
{
    unsigned n = 0;
    gchar **lines = g_strsplit(text, "\n", -1);
    for (gchar **line = lines; *line; line++) n += g_str_has_prefix(*line, prefix) ? 1 : 0;
    g_strfreev(lines);
    return n;
}

Test(feedback_sample, most_useful_verdicts_are_picked_once)
{
    GString *text = g_string_new(NULL);
    add(text, "many", 400, 0);
    add(text, "few", 30, 0);
    add(text, "known", 400, 200);
    write_file("log.jsonl", text->str);
    struct run all = assay("feedback", "sample", "log.jsonl", "--format=text", "--alpha=0.05"),
               again = assay("feedback", "sample", "log.jsonl", "--format=text", "--alpha=0.05"),
               one = assay("feedback", "sample", "log.jsonl", "--format=jsonl", "-n", "1");
    cr_expect_eq(all.status, 0, "%s", all.err);
    cr_expect_gt(count_lines(all.out, "many-"), 50);
    cr_expect_eq(count_lines(all.out, "few-"), 0, "all thirty would not do");
    cr_expect_eq(count_lines(all.out, "known-"), 0, "what is there will do");
    cr_expect(strstr(all.err, "few: 30 answers; too few"), "%s", all.err);
    cr_expect_str_eq(all.out, again.out, "the same each time");
    cr_expect(strstr(one.out, "\"generator\":\"many\"") && strstr(one.out, "\"p_correct\""), "%s", one.out);
    run_free(&all);
    run_free(&again);
    run_free(&one);
    g_string_free(text, TRUE);
}

Test(feedback_sample, errors_are_reported)
{
    write_file("empty.jsonl", "{\"id\":\"q\",\"db\":\"d\",\"question\":\"?\",\"candidates\":[]}\nno json\n");
    struct run none = assay("feedback", "sample", "empty.jsonl"), other = assay("feedback", "guess", "empty.jsonl"),
               missing = assay("feedback", "sample", "nowhere.jsonl");
    cr_expect_eq(none.status, 2);
    cr_expect(strstr(none.err, "no verdict with an answer"), "%s", none.err);
    cr_expect_eq(other.status, 2);
    cr_expect(strstr(other.err, "unknown feedback action 'guess'"), "%s", other.err);
    cr_expect_eq(missing.status, 2);
    run_free(&none);
    run_free(&other);
    run_free(&missing);
}
