/* Checks the English of all output about a sample of the dev logs; see tests/support/english.h. bench_english checks
 * whole logs. */
#include "tests/support/english.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(english, .init = begin, .fini = end);

Test(english, faults_are_found)
{
    static const char *const FAULTY[] = {
        "Rows are put into groups by the the name.",
        "The sum over the rows with the same the continent.",
        "Only rows where the is official is equal to 'T' are kept.",
        "The query returns one row: the average of the 100.",
        "The first 1 rows are skipped.",
        "The question asks for 1 columns.",
        "It looks at cars datas.",
        "Only rows where there is a album where the id is 1 are kept.",
        "There is an vessel.",
        "The name is is NULL.",
        "It looks  at vessels.",
        "It looks at vessels .",
        "( the name) is NULL.",
        "The name is NULL..",
        "It looks at vessels. only rows are kept.",
        "candidate 1 is preferred; ``order`.id = 1`: it is no key",
        "It returns the name of.",
        "This row comes from id of box 1 2.",
        "Only rows where the name is equal to 'it''s are kept.",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(FAULTY); i++) cr_expect(english_fault(FAULTY[i]), "sound: %s", FAULTY[i]);
}

Test(english, correct_english_has_no_fault)
{
    static const char *const SOUND[] = {
        "Only rows where the name is equal to 'the the  a album , ''x' are kept.",
        "In its only row the number of rows is 1. This row comes from 11 rows, for instance id 1.",
        "The unit is a unit of a user, an hour is an hour, and 1 row is 1 row.",
        "the query does not execute: unexpected \"!=\": expected a name, \",\", JOIN or ON",
        "candidate 3 is more likely correct: P(correct) 0.78 against 0.05; \"`a`  = 1\": no row of a.b meets it (x_y)",
        "The superhero's name (the name of the superhero) is like '%a%' (containing 'a').",
        "The column 100 is 5, and the first 3 rows are kept; the value is -4.",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(SOUND); i++)
        cr_expect_null(english_fault(SOUND[i]), "%s: %s", english_fault(SOUND[i]), SOUND[i]);
}

/* Writes every n-th line of the log, with explanations requested. */
static bool write_sample(const char *log, unsigned every)
{
    FILE *from = fopen(log, "r"), *to = from ? fopen("log.jsonl", "w") : NULL;
    char *line = NULL;
    size_t size = 0;
    for (unsigned i = 0; to && getline(&line, &size, from) > 0; i++) {
        json_t *request = i % every == 0 ? json_loads(line, 0, NULL) : NULL;
        if (!request) continue;
        json_object_set_new(request, "explain", json_true());
        json_dumpf(request, to, JSON_COMPACT);
        fputc('\n', to);
        json_decref(request);
    }
    free(line);
    if (from) fclose(from);
    if (to) fclose(to);
    return to != NULL;
}

static void reads_as_english(const char *log, const char *root, unsigned every, unsigned least)
{
    struct english_count count = {0};
    if (!write_sample(log, every)) cr_skip("%s is not here", log);
    struct run run = assay("replay", "log.jsonl", "--db-root", root, "--out", "verdicts.jsonl", "--workers=2");
    cr_assert(run.status <= 1, "%s", run.err);
    char *text = read_file("verdicts.jsonl"), **lines = g_strsplit(text ? text : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        json_t *verdict = json_loads(*line, 0, NULL);
        english_verdict(verdict, &count);
        json_decref(verdict);
    }
    cr_expect(count.texts >= least, "only %lu texts", (unsigned long)count.texts);
    cr_expect_eq(count.faults, 0, "%lu of %lu texts have a fault", (unsigned long)count.faults,
                 (unsigned long)count.texts);
    g_strfreev(lines);
    g_free(text);
    run_free(&run);
}

Test(english, texts_of_single_answers_are_english, .timeout = 300)
{
    reads_as_english(SHARED_DATA "/spider/logs/dev.chatgpt.jsonl", SHARED_DATA "/spider/database", 3, 2000);
}

Test(english, texts_of_beams_are_english, .timeout = 300)
{
    reads_as_english(SHARED_DATA "/spider/logs/dev.resdsql.jsonl", SHARED_DATA "/spider/database", 4, 4000);
}

Test(english, texts_of_described_columns_are_english, .timeout = 300)
{
    reads_as_english(SHARED_DATA "/bird-superhero/logs/superhero.jsonl", SHARED_DATA "/bird-superhero/database", 1,
                     1000);
}
