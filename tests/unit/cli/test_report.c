/* Tests assay report: text, JSON, and one self-contained page. */
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(report, .init = scratch_begin, .fini = end);

#define VERDICT(id, db, sql)                                                                                           \
    "{\"schema_version\":2,\"id\":\"" id "\",\"db\":\"" db "\",\"status\":\"validated\",\"sql\":\"" sql                \
    "\",\"chosen\":0,\"p_correct\":0.9,\"threshold\":0.5,\"candidates\":[{\"sql\":\"" sql                              \
    "\",\"signals\":{\"fan_out\":\"fired\",\"null_first\":\"silent\"}}],\"iterations\":1,\"timings\":{\"total_ms\":2." \
    "5}"                                                                                                               \
    ",\"gold\":\"SELECT 1\"}\n"

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

Test(report, report_sums_up_run)
{
    write_file("run.jsonl", VERDICT("a", "shop", "SELECT 1") VERDICT("b", "shop", "SELECT 2"));
    expect(assay("report", "run.jsonl", "--format=text"), 0, "2 verdicts, validated 2", NULL);
    expect(assay("report", "run.jsonl", "--format=text"), 0, "correctness is unknown", NULL);
    expect(assay("report", "run.jsonl", "--gold"), 2, NULL, "--db-root");
    expect(assay("report", "run.jsonl", "--gold", "--db-root=.", "--format=text"), 0,
           "right by execution: 1 of 2 answers", NULL);
    struct run run = assay("report", "run.jsonl", "--format=json"); /* without --gold: gold queries are in the index */
    json_t *json = json_loads(run.out, 0, NULL);
    cr_assert(json, "%s", run.out);
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "labels"), "right")), 1);
    json_decref(json);
    run_free(&run);
    write_file("log.jsonl", "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"How many lamps?\",\"candidates\":[]}\n");
    expect(assay("report", "run.jsonl", "--log=log.jsonl", "--html=run.html", "--gold", "--db-root=."), 0, NULL, NULL);
    char *html = read_file("run.html");
    cr_expect(html && strstr(html, "How many lamps?"));
    g_free(html);
}

Test(report, file_without_verdicts_is_refused)
{
    write_file("empty.jsonl", "");
    write_file("log.jsonl", "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[]}\n");
    write_file("bin.jsonl", "\x1f\x8b\x08\n\x01\n");
    expect(assay("report", "nowhere.jsonl"), 2, NULL, "nowhere.jsonl");
    expect(assay("report", "empty.jsonl"), 2, NULL, "no line is a verdict");
    expect(assay("report", "log.jsonl"), 2, NULL, "no line is a verdict");
    expect(assay("report", "bin.jsonl"), 2, NULL, "not a text file");
    expect(assay("report", "."), 2, NULL, "not a regular file");
    expect(assay("report", "log.jsonl", "--format=csv"), 2, NULL, "does not support the format csv");
}

static unsigned times(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

/* The page loads no other resource. No text of the data ends the element that contains it. */
Test(report, page_is_self_contained)
{
    write_file("<i>x&.jsonl",
               VERDICT("</script><script>alert(1)</script>", "<!--<script>", "SELECT '</ScRiPt>\\u2028<img src=x>'")
                   VERDICT("]]>--></style>", "shop", "SELECT 1"));
    expect(assay("report", "<i>x&.jsonl", "--html", "run.html"), 0, NULL, NULL);
    char *html = read_file("run.html");
    cr_assert(html);
    cr_expect_eq(times(html, "<script"), 3);
    cr_expect_eq(times(html, "</script"), 3);
    cr_expect_eq(times(html, "</ScRiPt"), 0);
    cr_expect_eq(times(html, "<!--"), 0);
    cr_expect_eq(times(html, "<img"), 0);
    cr_expect_eq(times(html, "<i>x"), 0);
    cr_expect_eq(times(html, "\xe2\x80\xa8"), 0);
    cr_expect_eq(times(html, "https://"), 0);
    cr_expect_eq(times(html, "http://"),
                 times(html, "http://www.w3.org/2000/svg") + times(html, "http://127.0.0.1 or http://localhost.") * 2,
                 "nothing but the name of a namespace, and an advice");
    cr_expect(strstr(html, "default-src 'none'") && strstr(html, "script-src 'sha256-"));
    const char *data = strstr(html, "id=\"report\">"), *data_end = data ? strstr(data, "</script>") : NULL;
    cr_assert(data_end);
    data += strlen("id=\"report\">");
    json_t *json = json_loadb(data, (size_t)(data_end - data), 0, NULL);
    cr_assert(json);
    const json_t *row = json_array_get(json_object_get(json, "rows"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(row, "id")), "</script><script>alert(1)</script>");
    const json_t *verdict = json_object_get(json_object_get(json, "verdicts"), "1"),
                 *candidate = json_array_get(json_object_get(verdict, "candidates"), 0);
    cr_expect_eq(json_object_size(json_object_get(candidate, "signals")), 1, "those that are silent are left out");
    json_decref(json);
    g_free(html);
}

Test(report, page_of_large_run_holds_most_informative_verdicts)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 30; i++) g_string_append(text, VERDICT("right", "shop", "SELECT 1"));
    g_string_append(text, VERDICT("wrong", "shop", "SELECT 2"));
    write_file("run.jsonl", text->str);
    expect(assay("report", "run.jsonl", "--gold", "--db-root=.", "--html=run.html", "--rows=2"), 0, NULL, NULL);
    char *html = read_file("run.html"), *rows = html ? strstr(html, "\"rows\":[") : NULL;
    cr_assert(rows);
    cr_expect(strstr(html, "\"all\":false"));
    const char *first = strstr(rows, "\"id\":\"");
    cr_expect(first && g_str_has_prefix(first, "\"id\":\"wrong\""), "%.40s", first);
    g_free(html);
    g_string_free(text, TRUE);
}
