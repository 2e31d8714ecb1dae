/* Tests check, replay and eval through the program: verdicts, formats, order, resuming, bad input. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <sqlite3.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(judge, .init = scratch_begin, .fini = scratch_end);

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "line %d: %s\n%.500s", error.line, error.text, text);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* Returns the records of a JSONL text as an array. */
static json_t *records(const char *text)
{
    json_t *list = json_array();
    gchar **lines = g_strsplit(text, "\n", -1);
    for (gchar **line = lines; *line; line++)
        if (**line) json_array_append_new(list, parse(*line));
    g_strfreev(lines);
    return list;
}

#define CHECK "check", "--db", "shop/shop.sqlite", "--question", "How many customers are there?"

/* --- check ------------------------------------------------------------------------------------------------------ */

Test(judge, check_answers_in_json)
{
    struct run run =
        assay(CHECK, "--strategy=rerank", "SELECT count(*) FROM customer", "SELECT count(*) FROM customers");
    cr_expect(run.status == 0 || run.status == 1, "%d %s", run.status, run.err);
    json_t *verdict = parse(run.out), *candidates = json_object_get(verdict, "candidates");
    cr_expect_eq(json_integer_value(json_object_get(verdict, "schema_version")), 2);
    cr_expect_eq(json_integer_value(json_object_get(verdict, "chosen")), 0);
    cr_expect_str_eq(text_at(verdict, "sql"), "SELECT count(*) FROM customer");
    cr_expect_eq(json_array_size(candidates), 2);
    json_t *findings = json_object_get(json_array_get(candidates, 1), "findings");
    cr_expect_str_eq(text_at(json_array_get(findings, 0), "signal"), "invalid_sql");
    cr_expect_eq(run.status, strcmp(text_at(verdict, "status"), "validated") == 0 ? 0 : 1);
    json_decref(verdict);
    run_free(&run);
}

Test(judge, check_marks_location_for_people)
{
    struct run run = assay(CHECK, "--format=text", "SELECT nme FROM customer");
    cr_expect_eq(run.status, 1, "%s", run.err);
    cr_expect(strstr(run.out, "    SELECT nme FROM customer\n           ^^^ [1]\n"), "%s", run.out);
    cr_expect(strstr(run.out, "invalid_sql"));
    cr_expect(strstr(run.out, "1:8"));
    cr_expect(strstr(run.out, "name"), "a near name");
    run_free(&run);
}

/* The value is in no row of the column, but the question contains it. The signal does not vote, yet its finding is
 * listed first. */
Test(judge, data_finding_is_reported_without_vote)
{
    struct run run = assay("check", "--db", "shop/shop.sqlite", "--format=text", "--question",
                           "What are the names of the customers from 'Atlantis'?",
                           "SELECT name FROM customer WHERE country = 'Atlantis'");
    const char *place = strstr(run.out, "candidate 1 (the answer)");
    const char *note = strstr(run.out, "no row matches this condition on customer.country");
    cr_expect(strstr(run.out, "empty_predicate (note)"), "%s", run.out);
    cr_expect(note && place && note < place, "above the details: %s", run.out);
    run_free(&run);
}

Test(judge, refusals_name_the_refused_statement)
{
    GString *longer = g_string_new("SELECT '");
    while (longer->len < 70000) g_string_append(longer, "xxxxxxxxxxxxxxxx");
    g_string_append_c(longer, '\'');
    struct run run = assay(CHECK, "--strategy=rerank", longer->str, "SELECT load_extension('x')", "DROP TABLE customer",
                           "SELECT none FROM customer");
    json_t *verdict = parse(run.out), *candidates = json_object_get(verdict, "candidates");
    cr_expect_str_eq(text_at(json_array_get(candidates, 0), "why"), "refused: the SQL is longer than 64 KiB");
    for (unsigned i = 1; i < 4; i++) {
        const char *why = text_at(json_array_get(candidates, i), "why");
        cr_expect(g_str_has_prefix(why, i < 3 ? "refused: " : "the query does not execute: "), "%s", why);
    }
    json_decref(verdict);
    run_free(&run);
    g_string_free(longer, TRUE);
}

Test(judge, unavailable_checks_are_reported)
{
    struct run run = assay(CHECK, "--format=text",
                           "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
                           "--time-ms=100");
    cr_expect_eq(run.status, 1);
    cr_expect(strstr(run.out, "abstained") == run.out, "%s", run.out);
    cr_expect(strstr(run.out, "no candidate finishes; candidate 1: "), "%s", run.out);
    run_free(&run);
}

/* Checks SQL whose text looks different from the SQL that runs. Text output shows escapes and keeps the carets in
 * place; JSON keeps every byte. */
Test(judge, invisible_characters_in_sql_are_shown_unchanged)
{
    static const char sql[] = "SELECT nme, '\xE2\x80\xAE\xF3\xA0\x81\x81\xEF\xBB\xBF' FROM customer";
    static const char literal[] = "'\xE2\x80\xAE\xF3\xA0\x81\x81\xEF\xBB\xBF', nme";
    char *moved = g_strdup_printf("SELECT %s FROM customer", literal);
    struct run run = assay(CHECK, "--format=text", sql, moved);
    cr_expect_eq(run.status, 1, "%s", run.err);
    cr_expect(strstr(run.out, "    SELECT nme, '\\u202e\\U000e0041\\ufeff' FROM customer\n           ^^^ [1]\n"), "%s",
              run.out);
    cr_expect(strstr(run.out, "    SELECT '\\u202e\\U000e0041\\ufeff', nme FROM customer\n"
                              "                                     ^^^ [1]\n"),
              "%s", run.out);
    cr_expect(!strstr(run.out, "\xE2\x80\xAE") && !strstr(run.err, "\xE2\x80\xAE"), "%s%s", run.out, run.err);
    run_free(&run);
    run = assay(CHECK, sql);
    json_t *verdict = parse(run.out);
    const json_t *first = json_array_get(json_object_get(verdict, "candidates"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(first, "sql")), sql);
    json_decref(verdict);
    run_free(&run);
    g_free(moved);
}

/* The message may contain the name, because the user typed it. */
Test(judge, message_about_name_shows_full_name)
{
    struct run run =
        assay("check", "--db", "no\xE2\x80\xAEsuch.sqlite", "--question", "q", "--format=text", "SELECT 1");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.out, "no\\u202esuch") || strstr(run.err, "no\\u202esuch"), "%s%s", run.out, run.err);
    cr_expect(!strstr(run.out, "\xE2\x80\xAE") && !strstr(run.err, "\xE2\x80\xAE"), "%s%s", run.out, run.err);
    run_free(&run);
}

static size_t candidates_from(const char *input)
{
    struct run run = assay_input(input, CHECK);
    json_t *verdict = parse(run.out);
    size_t n = json_array_size(json_object_get(verdict, "candidates"));
    json_decref(verdict);
    run_free(&run);
    return n;
}

Test(judge, check_reads_candidates_from_stdin)
{
    cr_expect_eq(candidates_from("SELECT 1\nSELECT 2\n\nSELECT 3"), 3);
    cr_expect_eq(candidates_from("SELECT count(*)\n  FROM customer;\nSELECT 2;\n"), 2);
    cr_expect_eq(candidates_from("SELECT ';' AS x\nSELECT 2"), 2);
}

Test(judge, unjudgeable_request_gives_status_2)
{
    static const struct {
        const char *db, *says;
    } cases[] = {{"nothing.sqlite", "db_missing"}, {"text.sqlite", "db_corrupt"}, {"zero.sqlite", "db_empty"}};
    write_file("text.sqlite",
               "this is no database, only words, and more words, until it is long enough to be looked at......");
    write_file("zero.sqlite", "");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run run = assay("check", "--db", cases[i].db, "--question", "q", "SELECT 1");
        cr_expect_eq(run.status, 2, "%s: %d", cases[i].db, run.status);
        cr_expect(strstr(run.out, cases[i].says) || strstr(run.err, cases[i].says), "%s\n%s", run.out, run.err);
        run_free(&run);
    }
    struct run run = assay_input("\n\n", CHECK);
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.out, "no_candidates"), "%s", run.out);
    run_free(&run);
}

/* Each of these candidates gets a verdict, and the correct candidate of the same request is unaffected. */
Test(judge, odd_candidates_have_verdicts)
{
    char *huge = g_strnfill(70000, 'x'), *over = g_strdup_printf("SELECT '%s'", huge);
    const char *const cases[][2] = {{"DELETE FROM customer", "refused"},
                                    {"SELECT 1; SELECT 2", "refused"},
                                    {"", "invalid_sql"},
                                    {"SELECT FROM WHERE", "invalid_sql"},
                                    {"SELECT '\xff\xfe'", "encoding"},
                                    {"PRAGMA table_info(customer)", "refused"},
                                    {over, "limit_bytes"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run run = assay(CHECK, cases[i][0], "SELECT count(*) FROM customer");
        cr_expect(run.status == 0 || run.status == 1, "%.40s: %d %s", cases[i][0], run.status, run.err);
        json_t *verdict = parse(run.out);
        char *first = json_dumps(json_array_get(json_object_get(verdict, "candidates"), 0), 0);
        cr_expect(strstr(first, cases[i][1]), "no %s for %.40s in %.900s", cases[i][1], cases[i][0], first);
        cr_expect_eq(json_integer_value(json_object_get(verdict, "chosen")), 1);
        free(first);
        json_decref(verdict);
        run_free(&run);
    }
    g_free(huge);
    g_free(over);
}

/* --- replay ----------------------------------------------------------------------------------------------------- */

static void expect_order(const char *text, unsigned n)
{
    json_t *list = records(text);
    cr_assert_eq(json_array_size(list), n, "%zu records, not %u", json_array_size(list), n);
    for (unsigned i = 0; i < n; i++) {
        char id[16];
        g_snprintf(id, sizeof id, "q-%u", i + 1);
        cr_expect_str_eq(text_at(json_array_get(list, i), "id"), id);
        cr_expect_eq(json_integer_value(json_object_get(json_array_get(list, i), "line")), i + 1);
    }
    json_decref(list);
}

/* Checks that the text has every line exactly once, in any order. */
static void expect_all(const char *text, unsigned n)
{
    json_t *list = records(text);
    bool *seen = g_new0(bool, n + 1);
    cr_expect_eq(json_array_size(list), n, "%zu records, not %u", json_array_size(list), n);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t line = json_integer_value(json_object_get(json_array_get(list, i), "line"));
        cr_assert(line >= 1 && line <= n && !seen[line], "line %lld", (long long)line);
        seen[line] = true;
    }
    g_free(seen);
    json_decref(list);
}

static void write_log(unsigned n)
{
    char *log = shop_log(n);
    write_file("log.jsonl", log);
    g_free(log);
}

Test(judge, replay_keeps_log_order)
{
    write_log(100);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--workers=4", "--window=32");
    cr_expect_eq(run.status, 0, "%s", run.err);
    expect_order(run.out, 100);
    cr_expect(strstr(run.err, "100 verdicts on") && strstr(run.err, "p99"), "%s", run.err);
    run_free(&run);
    run = assay("replay", "log.jsonl", "--db-root", ".", "--unordered", "--limit", "40", "--quiet");
    cr_expect_eq(run.status, 0);
    expect_all(run.out, 40);
    cr_expect_str_empty(run.err);
    run_free(&run);
}

Test(judge, replay_reads_standard_input)
{
    char *log = shop_log(5);
    struct run run = assay_input(log, "replay", "-", "--db-root", ".");
    cr_expect_eq(run.status, 0);
    expect_order(run.out, 5);
    run_free(&run);
    g_free(log);
}

Test(judge, replay_refuses_to_overwrite_by_default)
{
    write_log(3);
    write_file("out.jsonl", "precious\n");
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "use --resume to continue it, or --force to overwrite it"));
    run_free(&run);
    run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--resume");
    cr_expect_eq(run.status, 2);
    char *kept = read_file("out.jsonl");
    cr_expect_str_eq(kept, "precious\n");
    g_free(kept);
    run_free(&run);
    run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--force");
    cr_expect_eq(run.status, 0);
    char *text = read_file("out.jsonl");
    expect_order(text, 3);
    g_free(text);
    run_free(&run);
}

/* Waits up to 20 s until the file has more than `bytes` bytes. */
static bool grows_past(const char *path, long bytes)
{
    for (int i = 0; i < 2000; i++) {
        struct stat status;
        if (stat(path, &status) == 0 && status.st_size > bytes) return true;
        g_usleep(10000);
    }
    return false;
}

static void kill_and_resume(const char *mode, int signal_number)
{
    enum { LINES = 3000 };
    write_log(LINES);
    unlink("out.jsonl");
    const char *const args[] = {"replay",    "log.jsonl",   "--db-root", ".", "--out",
                                "out.jsonl", "--workers=2", mode,        NULL};
    for (int i = 0; i < 3; i++) {
        const char *const again[] = {"replay",    "log.jsonl", "--db-root", ".", "--out",
                                     "out.jsonl", "--resume",  mode,        NULL};
        int child = assay_start(i ? again : args), status = 0;
        struct stat before = {0};
        if (i) stat("out.jsonl", &before);
        cr_assert(grows_past("out.jsonl", before.st_size + 1));
        kill(child, signal_number);
        cr_assert_eq(waitpid(child, &status, 0), child);
        if (signal_number == SIGINT && WIFEXITED(status))
            cr_expect(WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0);
    }
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--resume", mode);
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    char *text = read_file("out.jsonl");
    if (strcmp(mode, "--unordered") == 0)
        expect_all(text, LINES);
    else
        expect_order(text, LINES);
    g_free(text);
}

Test(judge, killed_replay_resumes)
{
    kill_and_resume("--unordered=no", SIGKILL);
}

Test(judge, killed_unordered_replay_resumes)
{
    kill_and_resume("--unordered", SIGKILL);
}

Test(judge, interrupted_replay_resumes)
{
    kill_and_resume("--unordered=no", SIGINT);
}

Test(judge, resume_refuses_other_log)
{
    write_log(3);
    write_file("out.jsonl", "{\"id\":\"z\",\"line\":1}\n");
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--resume");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "another log"), "%s", run.err);
    run_free(&run);
}

#define REQUEST(id, question, sql)                                                                                     \
    "{\"id\":\"" id "\",\"db\":\"shop\",\"question\":\"" question "\",\"candidates\":[\"" sql "\"]}\n"
#define FIRST  REQUEST("a", "Name all customers", "SELECT name FROM customer")
#define BROKEN "{\"id\":\"broken\",\"db\":7}\n"
#define LAST   REQUEST("z", "How many customers are there?", "SELECT count(*) FROM customer")

/* Resumes the verdicts in `out` with another log, and checks the exit status. With status 2, `out` must be
 * unchanged. */
static void expect_resume(const char *log, const char *out, int status, const char *says)
{
    write_file("log.jsonl", log);
    write_file("out.jsonl", out);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--resume");
    cr_expect_eq(run.status, status, "%s%s", log, run.err);
    cr_expect(!says || strstr(run.err, says), "%s%s", log, run.err);
    run_free(&run);
    char *after = read_file("out.jsonl");
    if (status == 2) cr_expect_str_eq(after, out);
    g_free(after);
}

/* No verdict is appended if the log differs in any way from the one of the verdicts. */
Test(judge, resume_compares_verdicts_with_log)
{
    write_file("log.jsonl", FIRST BROKEN LAST);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--quiet");
    cr_expect_eq(run.status, 1, "%s", run.err);
    run_free(&run);
    char *out = read_file("out.jsonl"), *old = g_strdup(out);
    cr_assert(out && strstr(out, "\"request_digest\":\""), "%s", out);
    expect_resume(FIRST BROKEN LAST, out, 0, NULL);
    expect_resume(FIRST BROKEN LAST FIRST, out, 0, NULL);
    expect_resume(FIRST BROKEN REQUEST("z", "How many shops are there?", "SELECT count(*) FROM customer") FIRST, out, 2,
                  "log.jsonl:3: the verdict in out.jsonl belongs to another request");
    expect_resume(FIRST BROKEN REQUEST("z", "How many customers are there?", "SELECT 1") FIRST, out, 2, "log.jsonl:3");
    expect_resume(BROKEN FIRST LAST, out, 2, "log.jsonl:1");
    expect_resume(FIRST "{\"id\":\"bruised\",\"db\":7}\n" LAST, out, 2, "log.jsonl:2");
    expect_resume(FIRST BROKEN "not a request\n" FIRST, out, 2, "log.jsonl:3");
    expect_resume(FIRST BROKEN, out, 2, "verdicts on 1 lines that are not in log.jsonl");
    expect_resume("", out, 2, "verdicts on 3 lines that are not in log.jsonl");
    for (char *at = old; (at = strstr(at, "\"schema_version\":2,\"request_digest\":\""));) {
        memcpy(at, "\"schema_version\":1,\"other", 24); /* a verdict as versions without digests wrote it */
        at += 24;
    }
    expect_resume(FIRST BROKEN LAST, old, 0, "verdicts of schema version 1 have no request digest");
    expect_resume(LAST BROKEN FIRST, old, 2, "log.jsonl:1");
    g_free(out);
    g_free(old);
}

#define GOOD "{\"id\":\"good\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[\"SELECT name FROM customer\"]}\n"

/* A bad line is reported or gets a failed verdict. The other lines of the log are unaffected. */
Test(judge, bad_lines_do_not_affect_others)
{
    GString *log = g_string_new(GOOD "not json\n");
    g_string_append(log, "{\"id\":\"nodb\",\"db\":\"nowhere\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}\n");
    g_string_append(log, "{\"id\":\"up\",\"db\":\"../shop\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}\n");
    g_string_append(log, "{\"id\":\"none\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[]}\n");
    g_string_append(log, "{\"id\":\"type\",\"db\":\"shop\",\"question\":7,\"candidates\":[\"SELECT 1\"]}\n");
    g_string_append(log, "{\"id\":\"utf\xff\",\"db\":\"shop\",\"candidates\":[\"SELECT 1\"]}\n");
    g_string_append(log, "[1,2]\n");
    g_string_append(log, "{\"id\":\"many\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[");
    for (int i = 0; i < 10001; i++) g_string_append_printf(log, "%s\"SELECT %d\"", i ? "," : "", i);
    g_string_append(log, "]}\n" GOOD);
    write_file("log.jsonl", log->str);
    g_string_free(log, TRUE);

    struct run run = assay("replay", "log.jsonl", "--db-root", ".");
    cr_expect_eq(run.status, 1);
    json_t *list = records(run.out);
    static const char *const want[][3] = {{"good", "", ""},
                                          {"nodb", "failed", "db_missing"},
                                          {"up", "failed", "db_missing"},
                                          {"none", "failed", "no_candidates"},
                                          {"type", "failed", "malformed"},
                                          {"many", "failed", "limit_count"},
                                          {"good", "", ""}};
    cr_assert_eq(json_array_size(list), G_N_ELEMENTS(want), "%zu\n%s", json_array_size(list), run.err);
    for (unsigned i = 0; i < G_N_ELEMENTS(want); i++) {
        json_t *verdict = json_array_get(list, i);
        cr_expect_str_eq(text_at(verdict, "id"), want[i][0]);
        if (*want[i][1]) cr_expect_str_eq(text_at(verdict, "status"), want[i][1], "%s", want[i][0]);
        if (strcmp(want[i][2], "malformed") == 0)
            cr_expect(json_is_null(json_object_get(verdict, "entailment_threshold")), "nothing was asked of it");
        if (*want[i][2]) cr_expect_str_eq(text_at(verdict, "reason"), want[i][2], "%s", want[i][0]);
        if (!*want[i][1]) cr_expect_str_neq(text_at(verdict, "status"), "failed");
    }
    cr_expect(strstr(run.err, "log.jsonl:2:") && strstr(run.err, "log.jsonl:7:") && strstr(run.err, "log.jsonl:8:"),
              "%s", run.err);
    cr_expect(strstr(run.err, "3 bad lines skipped"), "%s", run.err);
    json_decref(list);
    run_free(&run);

    run = assay("replay", "log.jsonl", "--db-root", ".", "--strict");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "log.jsonl:2:"), "%s", run.err);
    run_free(&run);
}

/* The report must include a name that no verdict contains. */
Test(judge, overlong_names_are_reported)
{
    char *name = g_strnfill(257, 'n');
    char *log = g_strdup_printf("{\"id\":\"%s\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}\n"
                                "{\"id\":\"db\",\"db\":\"%s\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}\n",
                                name, name);
    write_file("log.jsonl", log);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".");
    cr_expect_eq(run.status, 1);
    cr_expect(strstr(run.err, "log.jsonl:1: \"id\" has 257 bytes"), "%s", run.err);
    cr_expect(strstr(run.out, "\"id\":\"db\",\"db\":null,\"status\":\"failed\",\"reason\":\"limit_bytes\""), "%s",
              run.out);
    run_free(&run);
    g_free(log);
    g_free(name);
}

Test(judge, large_requests_are_judged)
{
    GString *log =
        g_string_new("{\"id\":\"many\",\"db\":\"shop\",\"question\":\"q\",\"deadline_ms\":-1,\"candidates\":[");
    for (int i = 0; i < 2000; i++)
        g_string_append_printf(log, "%s\"SELECT name FROM customer WHERE age > %d\"", i ? "," : "", i % 50);
    char *question = g_strnfill(1000000, 'w');
    g_string_append_printf(
        log, "]}\n{\"id\":\"long\",\"db\":\"shop\",\"question\":\"%s\",\"candidates\":[\"SELECT 1\"]}\n" GOOD,
        question);
    write_file("log.jsonl", log->str);
    g_string_free(log, TRUE);
    g_free(question);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--deadline-ms=-1");
    json_t *list = records(run.out);
    cr_assert_eq(json_array_size(list), 3, "%s", run.err);
    cr_expect_eq(json_array_size(json_object_get(json_array_get(list, 0), "candidates")), 2000);
    cr_expect_str_neq(text_at(json_array_get(list, 0), "status"), "failed");
    cr_expect_str_neq(text_at(json_array_get(list, 2), "status"), "failed");
    json_decref(list);
    run_free(&run);
}

/* --- formats ---------------------------------------------------------------------------------------------------- */

Test(judge, formats_agree)
{
    write_log(4);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--format=json", "--quiet");
    json_t *list = parse(run.out);
    cr_expect_eq(json_array_size(list), 4);
    json_decref(list);
    run_free(&run);

    run = assay("replay", "log.jsonl", "--db-root", ".", "--format=csv", "--quiet");
    gchar **lines = g_strsplit(run.out, "\r\n", -1);
    cr_expect_eq(g_strv_length(lines), 6, "%s", run.out); /* the heading, four records, the end */
    cr_expect_str_eq(lines[0],
                     "schema_version,line,id,db,status,reason,chosen,candidates,p_correct,iterations,ms,signals,sql");
    cr_expect(g_str_has_prefix(lines[3], "2,3,q-3,shop,"), "%s", lines[3]);
    g_strfreev(lines);
    run_free(&run);

    run = assay("replay", "log.jsonl", "--db-root", ".", "--format=text", "--quiet");
    cr_expect(g_str_has_prefix(run.out, "q-1  "), "%s", run.out);
    run_free(&run);
}

/* Every format identifies a candidate by its index from 0. A missing answer has no index. */
Test(judge, formats_number_candidates_alike)
{
    write_file("log.jsonl", "{\"id\":\"q\",\"db\":\"shop\",\"question\":\"Name all customers\",\"candidates\":["
                            "\"SELECT nme FROM customer\",\"SELECT name FROM customer\"]}\n"
                            "{\"id\":\"r\",\"db\":\"shop\",\"question\":\"Name all\",\"candidates\":[\"SELECT nme FROM "
                            "customer\"]}\n");
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--format=jsonl", "--quiet");
    json_t *list = records(run.out);
    cr_expect_eq(json_integer_value(json_object_get(json_array_get(list, 0), "chosen")), 1, "%s", run.out);
    cr_expect(json_is_null(json_object_get(json_array_get(list, 1), "chosen")), "%s", run.out);
    json_decref(list);
    run_free(&run);

    run = assay("replay", "log.jsonl", "--db-root", ".", "--format=csv", "--quiet");
    gchar **lines = g_strsplit(run.out, "\r\n", -1);
    gchar **some = g_strsplit(lines[1], ",", 9), **none = g_strsplit(lines[2], ",", 9);
    cr_expect(strcmp(some[0], "2") == 0 && strcmp(some[6], "1") == 0 && strcmp(some[7], "2") == 0, "%s", lines[1]);
    cr_expect(strcmp(none[6], "") == 0 && strcmp(none[7], "1") == 0, "%s", lines[2]);
    g_strfreev(some);
    g_strfreev(none);
    g_strfreev(lines);
    run_free(&run);

    run = assay("replay", "log.jsonl", "--db-root", ".", "--format=sarif", "--quiet");
    cr_expect(strstr(run.out, "\"uri\":\"q/0.sql\"") && !strstr(run.out, "\"uri\":\"q/2.sql\""), "%s", run.out);
    run_free(&run);
}

static int64_t integer_at(const json_t *json, const char *key)
{
    cr_assert(json_is_integer(json_object_get(json, key)), "%s", key);
    return json_integer_value(json_object_get(json, key));
}

/* Checks what the SARIF 2.1.0 schema requires of the parts that we write: property names, types, required members,
 * ranges. */
static void sarif_result(const json_t *result, const json_t *rules)
{
    static const char *const levels[] = {"none", "note", "warning", "error"};
    bool known = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(levels); i++) known |= strcmp(text_at(result, "level"), levels[i]) == 0;
    cr_expect(known, "level %s", text_at(result, "level"));
    cr_expect_str_not_empty(text_at(json_object_get(result, "message"), "text"));
    json_t *rule = json_array_get(rules, (size_t)integer_at(result, "ruleIndex"));
    cr_expect_str_eq(text_at(rule, "id"), text_at(result, "ruleId"));
    json_t *locations = json_object_get(result, "locations");
    cr_assert_gt(json_array_size(locations), 0);
    for (size_t i = 0; i < json_array_size(locations); i++) {
        json_t *physical = json_object_get(json_array_get(locations, i), "physicalLocation");
        json_t *region = json_object_get(physical, "region");
        const char *uri = text_at(json_object_get(physical, "artifactLocation"), "uri");
        cr_expect(*uri && !strpbrk(uri, " <>\"{}|\\^`"), "uri %s", uri);
        cr_expect_geq(integer_at(region, "startLine"), 1);
        cr_expect_geq(integer_at(region, "startColumn"), 1);
        cr_expect_geq(integer_at(region, "endColumn"), 1);
        cr_expect_geq(integer_at(region, "endLine"), integer_at(region, "startLine"));
        cr_expect_geq(integer_at(region, "byteOffset"), 0);
        cr_expect_geq(integer_at(region, "byteLength"), 0);
    }
}

Test(judge, sarif_follows_its_schema)
{
    write_file("log.jsonl",
               "{\"id\":\"a b/\xC3\xA9\",\"db\":\"shop\",\"question\":\"q\",\"candidates\":["
               "\"SELECT nme FROM customer\",\"SELECT c.name\\nFROM customer AS c, product AS p\"]}\n" GOOD);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--format=sarif", "--quiet");
    json_t *sarif = parse(run.out), *one = json_array_get(json_object_get(sarif, "runs"), 0);
    cr_expect_str_eq(text_at(sarif, "version"), "2.1.0");
    cr_expect_eq(json_array_size(json_object_get(sarif, "runs")), 1);
    json_t *driver = json_object_get(json_object_get(one, "tool"), "driver"), *rules = json_object_get(driver, "rules");
    cr_expect_str_eq(text_at(driver, "name"), "assay");
    cr_expect_str_eq(text_at(one, "columnKind"), "unicodeCodePoints");
    cr_expect_geq(json_array_size(rules), 26);
    json_t *results = json_object_get(one, "results");
    cr_assert_geq(json_array_size(results), 1, "%s", run.out);
    for (size_t i = 0; i < json_array_size(results); i++) sarif_result(json_array_get(results, i), rules);
    json_t *first = json_array_get(results, 0);
    cr_expect_str_eq(text_at(first, "ruleId"), "invalid_sql");
    json_t *region = json_object_get(
        json_object_get(json_array_get(json_object_get(first, "locations"), 0), "physicalLocation"), "region");
    cr_expect_eq(integer_at(region, "byteOffset"), 7);
    cr_expect_str_eq(text_at(json_object_get(region, "snippet"), "text"), "nme");
    json_decref(sarif);
    run_free(&run);
}

/* --- eval ------------------------------------------------------------------------------------------------------- */

static double real_at(const json_t *json, const char *group, const char *key)
{
    return json_number_value(json_object_get(json_object_get(json, group), key));
}

Test(judge, eval_counts_whole_log)
{
    write_file(
        "log.jsonl",
        "{\"id\":\"1\",\"db\":\"shop\",\"question\":\"Names?\",\"candidates\":[\"SELECT nope\",\"SELECT name FROM "
        "customer\"],"
        "\"gold\":\"SELECT name FROM customer\"}\n"
        "{\"id\":\"2\",\"db\":\"shop\",\"question\":\"Ages?\",\"candidates\":[\"SELECT age FROM customer\"],"
        "\"gold\":\"SELECT age FROM customer ORDER BY age\"}\n"
        "{\"id\":\"3\",\"db\":\"shop\",\"question\":\"Titles?\",\"candidates\":[\"SELECT id FROM product\","
        "{\"sql\":\"SELECT title FROM product\",\"count\":3}],\"gold\":\"SELECT title FROM product\"}\n"
        "{\"id\":\"4\",\"db\":\"shop\",\"question\":\"No gold\",\"candidates\":[\"SELECT 1\"]}\n"
        "{\"id\":\"5\",\"db\":\"shop\",\"question\":\"Old?\",\"candidates\":[\"SELECT id FROM product WHERE id > 9\"],"
        "\"gold\":\"SELECT name FROM customer WHERE age > 99\"}\n");
    struct run run =
        assay("eval", "log.jsonl", "--db-root", ".", "--format=json", "--labels=labels.json", "--bootstrap=50");
    cr_assert_eq(run.status, 0, "%s", run.err);
    json_t *report = parse(run.out);
    cr_expect_eq(json_integer_value(json_object_get(report, "questions")), 4);
    cr_expect_float_eq(real_at(report, "selection", "first"), 25, 1e-3);
    cr_expect_float_eq(real_at(report, "selection", "first_executable"), 50, 1e-3);
    cr_expect_float_eq(real_at(report, "selection", "majority"), 75, 1e-3);
    cr_expect_float_eq(real_at(report, "selection", "oracle"), 75, 1e-3);
    cr_expect_eq(real_at(report, "detection", "n"), 3, "the question without rows is left out");
    cr_expect_eq(real_at(report, "detection", "wrong"), 2);
    static const char *const keys[] = {"signals", "answered_at_95", "candidates_tried"};
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++) cr_expect(json_object_get(report, keys[i]), "%s", keys[i]);
    char *labels = read_file("labels.json");
    cr_expect_str_eq(labels, "[[\"err:no such column: nope\",\"ok\"],[\"wrong\"],[\"wrong\",\"ok\"],[],[\"ok\"]]");
    g_free(labels);
    json_decref(report);
    run_free(&run);

    run = assay("eval", "log.jsonl", "--db-root", ".", "--gold", "--format=json");
    cr_assert_eq(run.status, 0, "%s", run.err);
    report = parse(run.out);
    cr_expect_eq(json_integer_value(json_object_get(report, "golds")), 4);
    json_decref(report);
    run_free(&run);

    run = assay("eval", "log.jsonl", "--db-root", ".", "--bootstrap=50");
    cr_expect(strstr(run.out, "first that executes") && strstr(run.out, "Localisation"), "%s", run.out);
    run_free(&run);
}

/* Compares every label of a complete log with that of the reference labeller. */
static void labels_agree(const char *log, const char *root)
{
    if (!g_file_test(log, G_FILE_TEST_EXISTS)) cr_skip("%s is not here", log);
    const char *argv[] = {
        "python3", SHARED_DATA "/../tools/exeval.py", log, "--db-root", root, "--labels", "theirs.json", NULL};
    int status = -1;
    if (!g_spawn_sync(NULL, (gchar **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                      NULL, &status, NULL) ||
        status != 0)
        cr_skip("python3 or the reference labeller is not here");
    struct run run = assay("eval", log, "--db-root", root, "--format=json", "--labels=ours.json", "--bootstrap=0");
    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    char *a = read_file("theirs.json"), *b = read_file("ours.json");
    json_t *theirs = parse(a), *ours = parse(b);
    cr_assert_eq(json_array_size(theirs), json_array_size(ours));
    for (size_t i = 0; i < json_array_size(theirs); i++) {
        json_t *x = json_array_get(theirs, i), *y = json_array_get(ours, i);
        cr_assert_eq(json_array_size(x), json_array_size(y), "line %zu", i + 1);
        for (size_t k = 0; k < json_array_size(x); k++) {
            const char *want = json_string_value(json_array_get(x, k)), *got = json_string_value(json_array_get(y, k));
            bool same = strncmp(want, "err:", 4) == 0 ? strncmp(got, "err:", 4) == 0 : strcmp(want, got) == 0;
            cr_expect(same, "line %zu, candidate %zu: %s, the reference says %s", i + 1, k + 1, got, want);
        }
    }
    json_decref(theirs);
    json_decref(ours);
    g_free(a);
    g_free(b);
}

Test(judge, labels_agree_with_the_reference_on_spider, .timeout = 600)
{
    labels_agree(SHARED_DATA "/spider/logs/dev.chatgpt.jsonl", SHARED_DATA "/spider/database");
}

Test(judge, labels_agree_with_the_reference_on_beams, .timeout = 600)
{
    labels_agree(SHARED_DATA "/spider/logs/dev.resdsql.jsonl", SHARED_DATA "/spider/database");
}

Test(judge, labels_agree_with_the_reference_on_bird, .timeout = 600)
{
    labels_agree(SHARED_DATA "/bird-superhero/logs/superhero.jsonl", SHARED_DATA "/bird-superhero/database");
}

/* --- train and mutate ------------------------------------------------------------------------------------------- */

Test(judge, mutants_are_repeatable_with_named_faults)
{
    struct run a = assay("mutate", "--db", "shop/shop.sqlite", "--seed=3",
                         "SELECT name FROM customer WHERE country = 'France' AND age > 30");
    struct run b = assay("mutate", "--db", "shop/shop.sqlite", "--seed=3",
                         "SELECT name FROM customer WHERE country = 'France' AND age > 30");
    cr_expect_eq(a.status, 0, "%s", a.err);
    cr_expect_str_eq(a.out, b.out);
    json_t *list = records(a.out);
    cr_expect_geq(json_array_size(list), 5);
    cr_expect_str_not_empty(text_at(json_array_get(list, 0), "op"));
    json_decref(list);
    run_free(&a);
    run_free(&b);
    a = assay("mutate", "--db", "shop/shop.sqlite", "SELECT nme FROM customer");
    cr_expect_eq(a.status, 2);
    run_free(&a);
}

Test(judge, models_are_trained_and_used, .timeout = 300)
{
    write_log(120);
    struct run run = assay("mutate", "log.jsonl", "--db-root", ".", "--count=4");
    cr_expect_eq(run.status, 0, "%s", run.err);
    write_file("mutants.jsonl", run.out);
    run_free(&run);
    run = assay("train", "label-model", "mutants.jsonl", "log.jsonl", "--db-root", ".", "--out", "lm.json");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "rank correlation"), "%s", run.out);
    run_free(&run);
    char *model = read_file("lm.json");
    cr_assert_not_null(model);
    cr_expect(strstr(model, "assay train label-model mutants.jsonl log.jsonl"), "the command is in the file");
    g_free(model);
    run = assay("train", "classifier", "mutants.jsonl", "log.jsonl", "--db-root", ".", "--out", "c.json",
                "--label-model", "lm.json");
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    run = assay("train", "classifier", "mutants.jsonl", "--weak", "--db-root", ".", "--limit", "90", "--out", "w.json");
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    model = read_file("w.json");
    cr_expect(model && strstr(model, "--limit 90"), "all that made a difference is in it");
    g_free(model);
    run = assay("replay", "log.jsonl", "--db-root", ".", "--label-model", "lm.json", "--classifier", "c.json",
                "--limit=5");
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
}

/* --- an incomplete index ------------------------------------------------------------------------------------------ */

static void make_endless_view(const char *path)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db,
                              "CREATE TABLE t(a); INSERT INTO t VALUES(1);"
                              "CREATE VIEW v AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) "
                              "SELECT i AS n, 'x' || i AS label FROM c;",
                              NULL, NULL, NULL),
                 SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Returns the state of a signal on the first candidate. The index had 600 ms to be built. */
static char *state_of(const char *sql, const char *signal)
{
    struct run run = assay("check", "--db", "views.sqlite", "--index-ms", "600", "--format", "json", "--question",
                           "What is the first label?", sql);
    json_t *verdict = parse(run.out);
    const json_t *signals = json_object_get(json_array_get(json_object_get(verdict, "candidates"), 0), "signals");
    char *state = g_strdup(json_string_value(json_object_get(signals, signal)));
    json_decref(verdict);
    run_free(&run);
    return state;
}

Test(judge, unread_view_makes_statistics_unavailable)
{
    make_endless_view("views.sqlite");
    static const char on_view[] = "SELECT label FROM v WHERE n = 1 LIMIT 1", on_table[] = "SELECT a FROM t WHERE a = 1";
    static const char *const signals[] = {"type_mismatch", "table_similarity", "value_ambiguity"};
    for (unsigned i = 0; i < G_N_ELEMENTS(signals); i++) {
        char *unread = state_of(on_view, signals[i]), *read = state_of(on_table, signals[i]);
        cr_expect_str_eq(unread, "unavailable", "%s", signals[i]);
        cr_expect_str_eq(read, "silent", "%s", signals[i]);
        g_free(unread);
        g_free(read);
    }
    struct run run = assay("index", "show", "views.sqlite", "--index-ms", "600", "--format", "json");
    cr_expect(strstr(run.out, "view v could not be read"), "%s", run.out);
    run_free(&run);
    run = assay("index", "build", "views.sqlite", "--index-ms", "600");
    cr_expect(strstr(run.out, "view v could not be read"), "%s", run.out);
    run_free(&run);
}
