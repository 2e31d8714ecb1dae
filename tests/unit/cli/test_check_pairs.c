/* Tests check --pairs: questions and queries in files, the reported locations in these files, and the formats for
 * CI. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

TestSuite(check_pairs, .init = scratch_begin, .fini = scratch_end);

#define GOOD "-- question: How many customers are there?\nSELECT count(*)\nFROM customer;\n"
#define BAD                                                                                                            \
    "-- what sales asks each month\n\n-- Question: What are the names of the customers\n-- QUESTION: from France?\n"   \
    "SELECT nme\nFROM customer WHERE country = 'France'\n"

static void write_pairs(void)
{
    cr_assert_eq(g_mkdir_with_parents("queries/shop", 0700), 0);
    write_file("queries/shop/good.sql", GOOD);
    write_file("queries/shop/bad.sql", BAD);
}

/* Returns the record with that id from lines of JSON. */
static json_t *record_of(const char *text, const char *id)
{
    json_t *found = NULL;
    gchar **lines = g_strsplit(text, "\n", -1);
    for (gchar **line = lines; *line && !found; line++) {
        json_t *record = **line ? json_loads(*line, 0, NULL) : NULL;
        const char *own = json_string_value(json_object_get(record, "id"));
        if (own && strcmp(own, id) == 0) found = json_incref(record);
        json_decref(record);
    }
    g_strfreev(lines);
    return found;
}

static const char *text_of(const json_t *record, const char *key)
{
    const char *text = json_string_value(json_object_get(record, key));
    return text ? text : "";
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

Test(check_pairs, findings_point_into_the_files)
{
    write_pairs();
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=github");
    cr_expect_eq(run.status, 1, "%d %s", run.status, run.err);
    cr_expect(strstr(run.out, "::error file=queries/shop/bad.sql,line=5,endLine=5,col=8,endColumn=11,"
                              "title=invalid_sql::no such column: nme"),
              "%s", run.out);
    cr_expect_null(strstr(run.out, "good.sql"), "%s", run.out);
    cr_expect_not_null(strstr(run.err, "1 of 2 queries validated, 1 not validated, 0 not judged, 0 skipped"), "%s",
                       run.err);
    run_free(&run);

    run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=text");
    cr_expect_not_null(strstr(run.out, "\n  queries/shop/bad.sql:5:8: error: no such column: nme [invalid_sql]\n"),
                       "%s", run.out);
    run_free(&run);
}

Test(check_pairs, sarif_has_the_bytes_of_the_file)
{
    write_pairs();
    struct run run = assay("check", "--pairs", "./queries/shop/bad.sql", "--db-root", ".", "--format=sarif", "-q");
    json_t *sarif = json_loads(run.out, 0, NULL), *one = json_array_get(json_object_get(sarif, "runs"), 0);
    json_t *results = json_object_get(one, "results"), *rules = NULL;
    json_unpack(one, "{s:{s:{s:o}}}", "tool", "driver", "rules", &rules);
    cr_assert_eq(json_array_size(results), 2, "%s", run.out);
    const char *uri = NULL, *rule = NULL;
    int line = 0, at = 0, index = -1;
    cr_expect_eq(json_unpack(json_array_get(results, 0), "{s:[{s:{s:{s:s},s:{s:i,s:i}}}]}", "locations",
                             "physicalLocation", "artifactLocation", "uri", &uri, "region", "startLine", &line,
                             "byteOffset", &at),
                 0);
    cr_expect_str_eq(uri, "queries/shop/bad.sql");
    cr_expect_eq(line, 5);
    cr_expect(g_str_has_prefix(BAD + at, "nme\n"), "byte %d", at);
    cr_expect_eq(json_unpack(json_array_get(results, 1), "{s:s,s:i}", "ruleId", &rule, "ruleIndex", &index), 0);
    cr_expect_str_eq(rule, "not_validated");
    cr_expect_str_eq(text_of(json_array_get(rules, (size_t)index), "id"), "not_validated");
    json_decref(sarif);
    run_free(&run);
}

Test(check_pairs, database_comes_from_file_flag_or_folder)
{
    cr_assert_eq(g_mkdir_with_parents("queries/other", 0700), 0);
    write_file("queries/other/named.sql", "-- db: shop\n" GOOD);
    write_file("queries/other/bare.sql", GOOD);
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=jsonl", "-q");
    json_t *named = record_of(run.out, "queries/other/named.sql"), *bare = record_of(run.out, "queries/other/bare.sql");
    cr_expect_eq(run.status, 2, "one could not be judged");
    cr_expect_str_eq(text_of(named, "status"), "validated");
    cr_expect_str_eq(text_of(bare, "reason"), "db_missing");
    cr_expect_str_eq(text_of(bare, "db"), "other");
    json_decref(named);
    json_decref(bare);
    run_free(&run);

    run = assay("check", "--pairs", "queries", "--db", "shop/shop.sqlite", "--format=jsonl", "-q");
    cr_expect_eq(run.status, 0, "%s%s", run.out, run.err);
    cr_expect_eq(count(run.out, "\"db\":\"shop\""), 2, "%s", run.out);
    run_free(&run);
}

/* Text that, without escaping, would end an element, an attribute, a line or a property. */
#define HOSTILE "]]> </failure> & <a>\x01\n::error::no,100% \xE2\x80\xAE"

Test(check_pairs, hostile_text_stays_text)
{
    cr_assert_eq(g_mkdir("queries", 0700), 0);
    write_file("queries/a,b:c%<&\".sql", "-- db: shop\n-- question: Which?\nSELECT \"" HOSTILE "\" FROM customer\n");
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=github", "-q");
    gchar **lines = g_strsplit(run.out, "\n", -1);
    for (gchar **line = lines; **line; line++)
        cr_expect(g_str_has_prefix(*line, "::error file=queries/a%2Cb%3Ac%25<&\".sql,line=") ||
                      g_str_has_prefix(*line, "::warning file=queries/a%2Cb%3Ac%25<&\".sql,line=") ||
                      g_str_has_prefix(*line, "::notice file=queries/a%2Cb%3Ac%25<&\".sql,line="),
                  "%s", *line);
    cr_expect_gt(g_strv_length(lines), 1);
    cr_expect_not_null(strstr(run.out, "100%25"), "%s", run.out);
    g_strfreev(lines);
    run_free(&run);

    run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=junit", "-q");
    cr_expect_eq(count(run.out, "<failure "), 1, "%s", run.out);
    cr_expect_eq(count(run.out, "</failure>"), 1, "%s", run.out);
    cr_expect_not_null(strstr(run.out, "a,b:c%&lt;&amp;&quot;.sql"), "%s", run.out);
    for (const char *at = run.out; *at; at++) cr_expect(*at == '\n' || (unsigned char)*at >= 0x20, "%s", run.out);
    run_free(&run);
}

Test(check_pairs, files_without_pairs_are_skipped_and_counted)
{
    write_pairs();
    write_file("queries/shop/view.sql", "CREATE VIEW v AS SELECT 1;\n");
    write_file("queries/shop/.hidden.sql", "SELECT 1\n");
    write_file("outside.sql", GOOD);
    cr_assert_eq(symlink("../outside.sql", "queries/link.sql"), 0);
    cr_assert_eq(symlink("../..", "queries/up"), 0);
    g_remove("queries/shop/bad.sql");
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=junit");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_not_null(strstr(run.out, "tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\""), "%s", run.out);
    cr_expect_not_null(strstr(run.err, "queries/shop/view.sql: skipped: no question"), "%s", run.err);
    cr_expect_not_null(strstr(run.err, "queries/link.sql: skipped: symbolic links are not followed"), "%s", run.err);
    cr_expect_null(strstr(run.out, "hidden"), "%s", run.out);
    run_free(&run);

    run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=junit", "--strict");
    cr_expect_eq(run.status, 2, "%s", run.err);
    cr_expect_not_null(strstr(run.out, "tests=\"3\" failures=\"0\" errors=\"2\" skipped=\"0\""), "%s", run.out);
    run_free(&run);
}

Test(check_pairs, broken_file_does_not_affect_others)
{
    write_pairs();
    write_file("queries/shop/bytes.sql", "-- question: caf\xE9?\nSELECT 1\n");
    write_file("queries/shop/empty.sql", "-- question: And the query?\n\n");
    char *long_text = g_strnfill((1 << 20) + 1, 'x');
    write_file("queries/shop/large.sql", long_text);
    g_free(long_text);
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".", "--format=jsonl", "-q");
    static const char *const codes[][2] = {{"queries/shop/bytes.sql", "encoding"},
                                           {"queries/shop/empty.sql", "malformed"},
                                           {"queries/shop/large.sql", "limit_bytes"}};
    cr_expect_eq(run.status, 2, "%s", run.err);
    for (unsigned i = 0; i < G_N_ELEMENTS(codes); i++) {
        json_t *record = record_of(run.out, codes[i][0]);
        cr_expect_str_eq(text_of(record, "status"), "failed", "%s", codes[i][0]);
        cr_expect_str_eq(text_of(record, "reason"), codes[i][1], "%s", codes[i][0]);
        json_decref(record);
    }
    json_t *good = record_of(run.out, "queries/shop/good.sql");
    cr_expect_str_eq(text_of(good, "status"), "validated");
    json_decref(good);
    run_free(&run);
}

Test(check_pairs, number_of_files_in_folder_is_bounded)
{
    GString *path = g_string_new("queries");
    for (unsigned i = 0; i < 40; i++) g_string_append(path, "/d");
    cr_assert_eq(g_mkdir_with_parents(path->str, 0700), 0);
    g_string_free(path, TRUE);
    struct run run = assay("check", "--pairs", "queries", "--db-root", ".");
    cr_expect_eq(run.status, 2);
    cr_expect_not_null(strstr(run.err, "folders are nested more than 32 deep"), "%s", run.err);
    run_free(&run);
}

Test(check_pairs, wrong_usage_is_refused)
{
    write_pairs();
    cr_assert_eq(g_mkdir("none", 0700), 0);
    const struct {
        const char *args[7], *says;
    } cases[] = {
        {{"check", "--pairs", "--db-root", "."}, "--pairs needs files"},
        {{"check", "--pairs", "queries"}, "no databases are given"},
        {{"check", "--pairs", "none", "--db-root", "."}, "none: no *.sql file found"},
        {{"check", "--pairs", "gone", "--db-root", "."}, "gone: cannot be read"},
        {{"check", "--pairs", "queries", "--db-root", ".", "--question=Why?"}, "cannot be combined with --question"},
        {{"replay", "log.jsonl", "--db-root", ".", "--format=junit"}, "replay does not support the format junit"},
    };
    write_file("log.jsonl", "{\"id\":\"1\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}\n");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run run = assay_with(NULL, cases[i].args);
        cr_expect_eq(run.status, 2, "%s", cases[i].says);
        cr_expect_not_null(strstr(run.err, cases[i].says), "%s: %s", cases[i].says, run.err);
        run_free(&run);
    }
}

/* A single request without a file also becomes a test case and an annotation. */
Test(check_pairs, single_check_supports_all_formats)
{
    struct run run = assay("check", "--db=shop/shop.sqlite", "--question=How many?", "--format=github", "SELECT nme");
    cr_expect_not_null(strstr(run.out, "::error title=invalid_sql::no such column: nme\n"), "%s", run.out);
    run_free(&run);
    run = assay("check", "--db=shop/shop.sqlite", "--question=How many customers are there?", "--format=junit",
                "SELECT count(*) FROM customer");
    cr_expect_not_null(strstr(run.out, "<testcase classname=\"shop\" name=\"check\""), "%s", run.out);
    cr_expect_not_null(strstr(run.out, "tests=\"1\" failures=\"0\" errors=\"0\""), "%s", run.out);
    run_free(&run);
}
