/* assay feedback: selects verdicts for people to label, so that a guarantee can be computed (docs/guarantee.md). */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "lib/learn/learn.h"
#include "lib/learn/risk.h"
#include "proto/bus/source.h"
#include "scoring/verifier_context.h"
#include "train/feedback.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_ALPHA = 0.05;
enum { SEED = 1 };

/* A verdict with an answer. */
struct answer {
    char *id, *sql;
    double p;
    bool labelled, picked;
};

struct generator {
    char *name;
    GPtrArray *answers; /* sorted by P, highest first, after all are read */
    struct risk_wanted wanted;
    uint32_t labelled, picked; /* numbers of labelled and of picked answers in the region */
};

struct sample {
    GHashTable *generators_of; /* id of a request → its generator's name */
    GHashTable *labelled;      /* ids with feedback */
    GHashTable *seen;          /* ids that already have a verdict; only the first verdict of an id counts */
    GPtrArray *generators;
};

static void answer_free(gpointer p)
{
    struct answer *answer = p;
    g_free(answer->id);
    g_free(answer->sql);
    g_free(answer);
}

static void generator_free(gpointer p)
{
    struct generator *generator = p;
    g_free(generator->name);
    g_ptr_array_free(generator->answers, TRUE);
    g_free(generator);
}

/* --- reading: requests and feedback first, then verdicts --- */

static void read_request(struct sample *s, const struct source *at)
{
    struct arena arena;
    struct msg_request *request;
    arena_init(&arena, 0);
    if (source_read(at, &arena, &request, NULL) == ERR_OK && request->id &&
        !g_hash_table_contains(s->generators_of, request->id)) {
        const char *name = verifier_generator(request);
        g_hash_table_insert(s->generators_of, g_strdup(request->id), g_strdup(name ? name : "*"));
    }
    arena_free(&arena);
}

static void read_others(struct sample *s, const struct source *at)
{
    size_t len;
    const char *text = source_text(at, &len);
    if (feedback_is_meant(text, len)) {
        json_t *json = json_loadb(text, len, 0, NULL);
        const char *id = json_string_value(json_object_get(json, "id"));
        if (id) g_hash_table_add(s->labelled, g_strdup(id));
        json_decref(json);
    } else if (!feedback_is_verdict(text, len)) {
        read_request(s, at);
    }
}

static struct generator *generator_of(struct sample *s, const char *id)
{
    const char *name = g_hash_table_lookup(s->generators_of, id);
    for (guint i = 0; i < s->generators->len; i++) {
        struct generator *known = s->generators->pdata[i];
        if (strcmp(known->name, name ? name : "") == 0) return known;
    }
    struct generator *generator = g_new0(struct generator, 1);
    generator->name = g_strdup(name ? name : "");
    generator->answers = g_ptr_array_new_with_free_func(answer_free);
    g_ptr_array_add(s->generators, generator);
    return generator;
}

static void read_verdict(struct sample *s, const struct source *at)
{
    size_t len;
    const char *text = source_text(at, &len);
    json_t *json = feedback_is_verdict(text, len) ? json_loadb(text, len, 0, NULL) : NULL;
    const char *id = json_string_value(json_object_get(json, "id")),
               *sql = json_string_value(json_object_get(json, "sql"));
    const json_t *p = json_object_get(json, "p_correct");
    if (id && sql && json_is_number(p) && g_hash_table_add(s->seen, g_strdup(id))) {
        struct answer *answer = g_new0(struct answer, 1);
        *answer = (struct answer){.id = g_strdup(id), .sql = g_strdup(sql), .p = json_number_value(p)};
        answer->labelled = g_hash_table_contains(s->labelled, id);
        g_ptr_array_add(generator_of(s, id)->answers, answer);
    }
    json_decref(json);
}

typedef void read_one(struct sample *s, const struct source *at);

static enum err_code each_line(struct sample *s, const struct cli *cli, read_one *each, struct err *err)
{
    for (int i = 1; i < cli->n_args; i++) {
        struct source source;
        enum err_code code = source_open_log(&source, cli->args[i], err);
        if (code) return code;
        int more;
        while ((more = source_advance(&source, err)) > 0)
            if (more == SOURCE_READY) each(s, &source);
        source_close(&source);
        if (more != SOURCE_END) return err->code ? err->code : ERR_IO;
    }
    return ERR_OK;
}

/* --- choosing --- */

static gint surest_first(gconstpointer a, gconstpointer b)
{
    const struct answer *left = *(struct answer *const *)a, *right = *(struct answer *const *)b;
    if (left->p != right->p) return left->p < right->p ? 1 : -1;
    return strcmp(left->id, right->id);
}

static void want(struct generator *g, double alpha, double delta)
{
    double *p = g_new(double, g->answers->len + 1);
    g_ptr_array_sort(g->answers, surest_first);
    for (guint i = 0; i < g->answers->len; i++) p[i] = ((struct answer *)g->answers->pdata[i])->p;
    g->wanted = risk_labels_wanted(p, g->answers->len, alpha, delta);
    for (uint32_t i = 0; i < g->wanted.region; i++) g->labelled += ((struct answer *)g->answers->pdata[i])->labelled;
    g_free(p);
}

static uint32_t missing(const struct generator *g)
{
    return g->wanted.labels > g->labelled ? g->wanted.labels - g->labelled : 0;
}

/* Orders generators by the number of answers that the guarantee gains for each missing label, highest first. */
static gint cheapest_first(gconstpointer a, gconstpointer b)
{
    const struct generator *left = *(struct generator *const *)a, *right = *(struct generator *const *)b;
    double x = (double)left->wanted.region / (missing(left) + 1),
           y = (double)right->wanted.region / (missing(right) + 1);
    return x < y ? 1 : x > y ? -1 : strcmp(left->name, right->name);
}

/* Picks unlabelled answers in the generator's region, at most `most` and no more than needed. Each has the same
 * probability. */
static void pick(struct generator *g, uint32_t most, uint64_t *random)
{
    uint32_t left = g->wanted.region - g->labelled, wanted = MIN(MIN(most, missing(g)), left);
    for (uint32_t i = 0; i < g->wanted.region && wanted; i++) {
        struct answer *answer = g->answers->pdata[i];
        if (answer->labelled) continue;
        if (learn_random(random) % left-- >= wanted) continue;
        answer->picked = true;
        g->picked++;
        wanted--;
    }
}

/* --- output --- */

static void print_answers(const struct sample *s, enum format format)
{
    json_t *rows = json_array();
    for (guint i = 0; i < s->generators->len; i++) {
        const struct generator *g = s->generators->pdata[i];
        for (guint k = 0; k < g->answers->len; k++) {
            const struct answer *answer = g->answers->pdata[k];
            if (!answer->picked) continue;
            if (format == FORMAT_TEXT)
                printf("%s\n", answer->id);
            else
                json_array_append_new(rows, json_pack("{s:s,s:s,s:f,s:s}", "id", answer->id, "generator", g->name,
                                                      "p_correct", answer->p, "sql", answer->sql));
        }
    }
    if (format != FORMAT_TEXT) format_json(rows, format, stdout);
    json_decref(rows);
}

static void print_generators(const struct sample *s, double alpha)
{
    for (guint i = 0; i < s->generators->len; i++) {
        const struct generator *g = s->generators->pdata[i];
        fprintf(stderr, "%s: %u answers; ", *g->name ? g->name : "(no name)", g->answers->len);
        if (!g->wanted.labels)
            fprintf(stderr, "too few to guarantee at most %g %% wrong, even if all are labelled\n", 100 * alpha);
        else
            fprintf(stderr,
                    "of the %u with the highest P, about %u need labels to guarantee at most %g %% wrong: %u have one, "
                    "%u are picked\n",
                    g->wanted.region, g->wanted.labels, 100 * alpha, g->labelled, g->picked);
    }
}

static enum err_code sample(struct cli *cli, struct sample *s, enum format format, struct err *err)
{
    const struct settings *settings = &cli->settings;
    double alpha = settings->judge.alpha > 0 ? settings->judge.alpha : USUAL_ALPHA;
    uint64_t random = SEED;
    uint32_t left = (uint32_t)settings->feedback.n;
    enum err_code code = each_line(s, cli, read_others, err);
    if (!code) code = each_line(s, cli, read_verdict, err);
    if (code) return code;
    if (!s->generators->len)
        return err_set(err, ERR_CONFIG,
                       "the files contain no verdict with an answer" ERR_HINT
                       "give the files of requests, of verdicts and of any feedback");
    for (guint i = 0; i < s->generators->len; i++) want(s->generators->pdata[i], alpha, settings->judge.delta);
    g_ptr_array_sort(s->generators, cheapest_first);
    for (guint i = 0; i < s->generators->len; i++) {
        struct generator *g = s->generators->pdata[i];
        pick(g, left, &random);
        left -= g->picked;
    }
    print_answers(s, format);
    if (!settings->general.quiet) print_generators(s, alpha);
    return ERR_OK;
}

static int feedback_run(struct cli *cli)
{
    struct err err = {0};
    enum format format;
    if (strcmp(cli->args[0], "sample") != 0) {
        complain("unknown feedback action '%s', expected sample", cli->args[0]);
        return EXIT_ERROR;
    }
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    struct sample s = {.generators_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                       .labelled = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                       .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                       .generators = g_ptr_array_new_with_free_func(generator_free)};
    enum err_code code = sample(cli, &s, format, &err);
    g_hash_table_destroy(s.generators_of);
    g_hash_table_destroy(s.labelled);
    g_hash_table_destroy(s.seen);
    g_ptr_array_free(s.generators, TRUE);
    return code ? complain_err("feedback sample", &err) : 0;
}

const struct command command_feedback = {
    .name = "feedback",
    .guide = "guarantee.md",
    .sentence = "select the verdicts to label first",
    .args = "sample FILE...",
    .description = "Selects the verdicts to label first. With `sample`, these are the verdicts whose labels help most "
                   "to guarantee alpha. For each generator (system that wrote the candidates), sample selects among "
                   "the answers with the highest P(correct), where the threshold may lie. It starts with the "
                   "generators that need the fewest labels.\n\n"
                   "The files hold requests, verdicts and feedback in the format of their topics, in any order. "
                   "Verdicts with feedback are not selected again. The output is a list of ids. With --format jsonl, "
                   "it also has the generator, P(correct) and the SQL. Standard error shows how many labels are "
                   "needed. Label all selected verdicts, then run `assay calibrate`. See docs/guarantee.md.",
    .examples = "assay feedback sample requests.jsonl verdicts.jsonl --alpha 0.05 --labels-wanted 200\n"
                "assay feedback sample requests.jsonl verdicts.jsonl feedback.jsonl --format jsonl",
    .main_flags = "alpha delta labels-wanted format",
    .words = "sample",
    .groups = (const struct option_group *const[]){&options_feedback, &options_judge, &options_output, &options_general,
                                                   NULL},
    .min_args = 2,
    .max_args = -1,
    .run = feedback_run,
};
