/* Measures a search of a large store of examples: its time, and its recall against a full comparison.
 *
 *   bench_examples FILE [N [STORE]]
 *
 * FILE is a store of N (1,000,000) made-up examples, and is created if it does not exist. STORE is a connection string
 * of PostgreSQL. If it is given, that store is also built, and is measured instead. FILE then has the exact results. */
#include "examples/file.h"
#include "lib/base/clock.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

enum { ASKED = 200, NEAREST = 3, ROOM = 256 };

static const char *const things[] = {"customers", "invoices", "flights", "players", "books", "schools",
                                     "songs",     "orders",   "doctors", "museums", "cars",  "films",
                                     "stadiums",  "teachers", "parts",   "villages"};
static const char *const traits[] = {"age",    "price",  "rating",   "capacity", "year", "salary",   "length", "weight",
                                     "budget", "height", "distance", "score",    "rank", "duration", "area",   "grade"};
static const char *const forms[] = {"How many %s have a %s above %u in the group %u?",
                                    "Show the %s with the highest %s of %u, at most %u",
                                    "Which %s have no %s recorded since %u? Give %u of them",
                                    "average over %s of their %s in %u, by region %u",
                                    "List all %s whose %s lies between %u and %u",
                                    "For each kind of %s, what is the total %s after %u and before %u?"};
static const char *const wrongs[] = {"SELECT count(*) FROM %s WHERE %s > %u",
                                     "SELECT max(%2$s) FROM %1$s WHERE id = %3$u",
                                     "SELECT * FROM %s WHERE %s IS NOT NULL LIMIT %u",
                                     "SELECT sum(%2$s) FROM %1$s GROUP BY %2$s HAVING count(*) > %3$u"};

static void make(uint64_t at, char question[ROOM], char wrong[ROOM])
{
    uint64_t draw = at * 0x9E3779B97F4A7C15ULL;
    const char *thing = things[draw >> 8 & 15], *trait = traits[draw >> 16 & 15];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    g_snprintf(question, ROOM, forms[(draw >> 24) % G_N_ELEMENTS(forms)], thing, trait, (unsigned)(draw >> 32 & 4095),
               (unsigned)(draw >> 44 & 4095));
    g_snprintf(wrong, ROOM, wrongs[draw >> 60 & 3], thing, trait, (unsigned)(draw >> 32 & 4095));
#pragma GCC diagnostic pop
}

static int fail(const struct err *err)
{
    fprintf(stderr, "bench_examples: %s\n", err->text);
    return 2;
}

static enum err_code build(const char *path, uint32_t n, struct err *err)
{
    struct examples *store = NULL;
    enum err_code code = examples_create(path, NULL, &store, err);
    for (uint32_t i = 0; i < n && !code; i++) {
        char question[ROOM], wrong[ROOM];
        bool added;
        make(i, question, wrong);
        const struct example example = {"",         "made_up", question, wrong, "its result is another one",
                                        "SELECT 1", "",        "WHERE"};
        code = examples_add(store, &example, &added, err);
    }
    enum err_code closed = examples_close(store, code ? NULL : err);
    return code ? code : closed;
}

/* Measures one key of `store` against a full comparison in `exact`, which must be a file. */
static void measure(struct examples *store, struct examples *exact, enum examples_key key, const char *name)
{
    struct examples_file *file = (struct examples_file *)exact;
    uint64_t *signs = file->signs;
    double took[ASKED], full = 0;
    unsigned found = 0, asked = 0;
    for (unsigned i = 0; i < ASKED; i++) {
        char question[ROOM], wrong[ROOM];
        struct examples_found quick[NEAREST], all[NEAREST];
        make(store->n + 17 * i, question, wrong);
        const struct examples_query query = {question, wrong, "another result than the right query's", NULL};
        int64_t start = clock_now_ns();
        uint32_t n = examples_search(store, &query, key, NEAREST, quick);
        took[i] = (double)(clock_now_ns() - start) / 1e6;
        file->signs = NULL;
        start = clock_now_ns();
        uint32_t n_all = examples_search(exact, &query, key, NEAREST, all);
        full += (double)(clock_now_ns() - start) / 1e6 / ASKED;
        file->signs = signs;
        asked += n_all;
        /* an example of equal similarity counts as found */
        for (uint32_t a = 0; a < n_all; a++) found += n > a && quick[a].likeness >= all[a].likeness - 1e-5F;
    }
    for (unsigned i = 1; i < ASKED; i++)
        for (unsigned k = i; k && took[k] < took[k - 1]; k--) {
            double swap = took[k];
            took[k] = took[k - 1];
            took[k - 1] = swap;
        }
    printf("| %s | %u | %.1f | %.1f | %.1f | %.3f |\n", name, store->n, took[ASKED / 2], took[ASKED * 95 / 100], full,
           (double)found / asked);
}

static enum err_code open_built(const char *path, uint32_t n, struct examples **out, struct err *err)
{
    bool there = g_file_test(path, G_FILE_TEST_EXISTS);
    int64_t start = clock_now_ns();
    if (!there && build(path, n, err)) return err->code;
    if (!there) printf("built in %.0f s\n", (double)(clock_now_ns() - start) / 1e9);
    start = clock_now_ns();
    enum err_code code = examples_open(path, false, NULL, out, err);
    printf("opened in %.1f s\n", (double)(clock_now_ns() - start) / 1e9);
    return code;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct examples *file = NULL, *other = NULL;
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : EXAMPLES_MAX;
    if (argc < 2) return fail(&(struct err){.text = "a file is wanted"});
    if (open_built(argv[1], n, &file, &err) || !file) return fail(&err);
    if (argc > 3 && open_built(argv[3], n, &other, &err)) return fail(&err);
    struct examples *store = other ? other : file;
    printf("\n| key | examples | median ms | 95 %% ms | full comparison ms | recall@3 |\n| --- | --- "
           "| --- | --- | --- | --- |\n");
    measure(store, file, EXAMPLES_QUESTION, "question");
    measure(store, file, EXAMPLES_SQL, "sql");
    measure(store, file, EXAMPLES_QUESTION_SQL, "question_sql");
    measure(store, file, EXAMPLES_ALL, "all");
    examples_close(other, NULL);
    return examples_close(file, &err) ? fail(&err) : 0;
}
