/* assay train verifier: trains the verifier from logs, and evaluates it on held-out databases. */
#include "cli/commands/train_verifier.h"

#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "lib/learn/json_file.h"
#include "lib/learn/metrics.h"
#include "lib/sql/mutate.h"
#include "train/verifier_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *command_line(const struct cli *cli)
{
    const struct settings *s = &cli->settings;
    GString *text = g_string_new("assay train verifier");
    for (int i = 1; i < cli->n_args; i++) g_string_append_printf(text, " %s", cli->args[i]);
    for (unsigned i = 0; i < s->database.root.n; i++)
        g_string_append_printf(text, " --db-root %s", s->database.root.items[i]);
    g_string_append_printf(text, " --seed %lld", (long long)s->train.seed);
    if (s->train.blind) g_string_append_printf(text, " --blind %s", s->train.blind);
    train_append_recipe(cli, text);
    return g_string_free(text, FALSE);
}

static struct verifier_fit_options fit_options(const struct cli *cli, const char *command)
{
    const struct settings *s = &cli->settings;
    struct verifier_fit_options o = verifier_fit_options_default();
    o.seed = (uint64_t)s->train.seed;
    o.trees.rounds = (unsigned)s->train.rounds;
    o.trees.depth = (unsigned)s->train.depth;
    o.trees.rank = s->train.rank;
    o.trees.focal_gamma = s->train.focal_gamma;
    o.trees.focal_alpha = s->train.focal_alpha;
    o.right_share = s->train.right_share;
    o.hard = s->train.hard;
    o.by_chance = s->train.by_chance;
    o.wording = s->train.wording;
    o.command = command;
    for (unsigned i = 0; i < s->train.without.n; i++)
        o.without |= 1U << (unsigned)features_group_by_name(s->train.without.items[i]);
    return o;
}

/* --- accuracy on held-out databases --- */

/* Selects wrong samples of one origin. If `op` is not negative, only those of that mutator. */
struct slips {
    enum verifier_origin origin;
    int op;
};

static bool is_slip(struct slips which, const struct verifier_sample *sample)
{
    return sample->origin == which.origin && (which.op < 0 || sample->op == which.op);
}

struct tally {
    uint32_t n, right;
    double auc, pairs; /* NAN if there are no wrong samples */
};

/* True if the sample is certainly right. A mutant is not, because it may have the result of gold by chance. */
static bool is_given_right(const struct verifier_sample *sample)
{
    return sample->right && (sample->origin == ORIGIN_GOLD || sample->origin == ORIGIN_BEAM);
}

/* Returns the AUC of right samples against the selected wrong samples. */
static double auc_of(const struct verifier_data *data, const double *p, struct slips which)
{
    double *score = g_new(double, data->n + 1);
    uint8_t *right = g_new(uint8_t, data->n + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < data->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        bool real = which.origin == ORIGIN_BEAM;
        bool fits = s->right ? is_given_right(s) && real == (s->origin == ORIGIN_BEAM) : is_slip(which, s);
        if (!fits) continue;
        score[n] = p[i];
        right[n++] = s->right;
    }
    double auc = learn_auc(score, right, n);
    g_free(score);
    g_free(right);
    return auc;
}

/* Pairs each right sample with each selected wrong sample of the same question. Returns the share of pairs in which the
 * right one scores higher; equal scores count half. */
static double pairs_of(const struct verifier_data *data, const double *p, struct slips which)
{
    double won = 0, n = 0;
    for (uint32_t q = 0; q < data->n_questions; q++) {
        const struct verifier_question *question = &data->questions[q];
        for (uint32_t r = question->first; r < question->first + question->n; r++)
            for (uint32_t w = question->first; w < question->first + question->n && is_given_right(&data->samples[r]);
                 w++) {
                if (data->samples[w].right || !is_slip(which, &data->samples[w])) continue;
                n++;
                won += p[r] > p[w] ? 1 : p[r] < p[w] ? 0 : 0.5;
            }
    }
    return won / n;
}

static struct tally tally_of(const struct verifier_data *data, const double *p, struct slips which)
{
    struct tally t = {0};
    for (uint32_t i = 0; i < data->n; i++) {
        t.n += is_slip(which, &data->samples[i]);
        t.right += is_slip(which, &data->samples[i]) && data->samples[i].right;
    }
    t.auc = t.n > t.right ? auc_of(data, p, which) : (double)NAN;
    t.pairs = t.n > t.right ? pairs_of(data, p, which) : (double)NAN;
    return t;
}

static void print_tally(struct table *table, const char *name, const struct tally *t)
{
    table_row(table);
    table_cell(table, 0, "%s", name);
    table_cell(table, 1, "%u", t->n);
    table_cell(table, 2, "%.1f", 100.0 * t->right / t->n);
    if (!isnan(t->auc)) table_cell(table, 3, "%.1f", 100 * t->auc);
    if (!isnan(t->pairs)) table_cell(table, 4, "%.1f", 100 * t->pairs);
}

static struct table *tally_table(void)
{
    static const struct table_column columns[] = {{"wrong candidates"},       {"n", .right = true},
                                                  {"right %", .right = true}, {"AUC %", .right = true},
                                                  {"pairs %", .right = true}, {NULL}};
    return table_new(columns);
}

/* A kind of error: its name, and how well the verifier separates it from right samples. */
struct kind_row {
    const char *name;
    struct tally tally;
};

static int worst_first(const void *a, const void *b)
{
    const struct kind_row *x = a, *y = b;
    return x->tally.pairs < y->tally.pairs ? -1 : x->tally.pairs > y->tally.pairs;
}

/* Prints the kinds of errors of single mutants, the worst separated first. */
static void print_kinds(const struct verifier_data *data, const double *p)
{
    struct kind_row rows[SQL_MUTATOR_COUNT];
    size_t n = 0;
    for (int op = 0; op < SQL_MUTATOR_COUNT; op++) {
        struct kind_row row = {sql_mutator_name((enum sql_mutator)op),
                               tally_of(data, p, (struct slips){ORIGIN_MUTANT, op})};
        if (!isnan(row.tally.pairs)) rows[n++] = row;
    }
    if (!n) return;
    qsort(rows, n, sizeof *rows, worst_first);
    struct table *table = tally_table();
    for (size_t i = 0; i < n; i++) print_tally(table, rows[i].name, &rows[i].tally);
    table_print(table, stdout);
    table_free(table);
}

static void print_held_out(const struct verifier_data *data, const double *p, unsigned folds)
{
    print_kinds(data, p);
    struct table *table = tally_table();
    for (unsigned o = 0; o < ORIGIN_COUNT; o++) {
        struct tally t = tally_of(data, p, (struct slips){(enum verifier_origin)o, -1});
        if (t.n > t.right) print_tally(table, verifier_origin_name((enum verifier_origin)o), &t);
    }
    table_print(table, stdout);
    table_free(table);
    printf("%u candidates of %u questions on %u databases, %u-fold by database; %u lines skipped\n", data->n,
           data->n_questions, data->n_databases, folds, data->skipped);
}

static void print_importance(const struct learn_model *model)
{
    enum { SHOWN = 30 };
    unsigned n = learn_n_features(model);
    bool *shown = g_new0(bool, n + 1);
    printf("importance %%:");
    for (unsigned k = 0; k < SHOWN && k < n; k++) {
        unsigned best = 0;
        while (shown[best]) best++;
        for (unsigned i = best; i < n; i++)
            if (!shown[i] && learn_importance(model, i) > learn_importance(model, best)) best = i;
        shown[best] = true;
        printf(" %s %.1f", learn_feature(model, best), 100 * learn_importance(model, best));
    }
    printf("\n");
    g_free(shown);
}

static enum err_code write_scores(const char *path, const struct verifier_data *data, const double *p, struct err *err)
{
    GString *text = g_string_new("question\torigin\tright\trows\tresult\tp\n");
    for (uint32_t i = 0; i < data->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        g_string_append_printf(text, "%u\t%s\t%d\t%u\t%016llx\t%.5f\n", s->question, verifier_origin_name(s->origin),
                               s->right, s->rows, (unsigned long long)s->digest[0], p[i]);
    }
    enum err_code code = model_file_write(path, text->str, err);
    g_string_free(text, TRUE);
    return code;
}

/* --- the command --- */

static void draw(void *ctx, double share)
{
    progress_draw(ctx, share);
}

static enum err_code fit(const struct cli *cli, const struct verifier_data *data, struct err *err)
{
    char *command = command_line(cli);
    struct verifier_fit_options options = fit_options(cli, command);
    struct verifier_fitted fitted;
    bool cross = cli->settings.train.cross;
    enum err_code code = (cross ? verifier_cross : verifier_fit)(data, &options, &fitted, err);
    if (code == ERR_OK) {
        char *text = cross ? NULL : verifier_fitted_text(&fitted, &options);
        if (!cross) code = model_file_write(cli->settings.train.out, text, err);
        print_held_out(data, fitted.held_out, options.folds);
        if (!code && cli->settings.train.scores)
            code = write_scores(cli->settings.train.scores, data, fitted.held_out, err);
        if (!cross) print_importance(fitted.content);
        free(text);
        verifier_fitted_free(&fitted);
    }
    g_free(command);
    return code;
}

void train_append_recipe(const struct cli *cli, GString *command)
{
    const char *comma = "";
    struct arena arena;
    arena_init(&arena, 0);
    g_string_append(command, " --recipe '{");
    for (const struct option_row *row = options_recipe.rows; row->name; row++) {
        char key[64];
        option_key(row, key, sizeof key);
        const char *value = option_value_text(&arena, row, &cli->settings);
        if (!value || !*value || strcmp(value, "[]") == 0) continue;
        g_string_append_printf(command, "%s%s: %s", comma, key, value);
        comma = ", ";
    }
    g_string_append(command, "}'");
    arena_free(&arena);
}

void train_skipped(const char *where, const char *why)
{
    complain("%s: skipped: %s", where, why);
}

int train_left_out(const struct verifier_data *data)
{
    if (!data->unreached) return 0;
    complain("%u requests are left out: their databases could not be opened", data->unreached);
    return EXIT_JUDGED;
}

/* --- favourites --- */

struct liking {
    const struct verifier_fitted *fitted;
    const struct verifier_data *data;
};

static double like(const void *ctx, const struct verifier_sample *sample)
{
    const struct liking *l = ctx;
    return verifier_fitted_blind(l->fitted, l->data, sample);
}

/* Runs one round: trains a verifier on folds, selects wrong queries to which it gives high scores, and adds them to
 * `data`. */
static enum err_code add_favourites(const struct cli *cli, struct verifier_collect *collect, uint64_t round,
                                    struct verifier_data *data, struct err *err)
{
    struct verifier_fit_options options = fit_options(cli, NULL);
    struct verifier_fitted fitted;
    struct verifier_data *more = NULL;
    enum err_code code = verifier_cross(data, &options, &fitted, err);
    if (code) return code;
    const struct liking liking = {&fitted, data};
    const struct verifier_search search = {like, &liking, (uint32_t)cli->settings.train.pool,
                                           (uint32_t)cli->settings.train.favourites, round};
    collect->search = &search;
    code = verifier_collect(collect, cli->args + 1, cli->n_args - 1, &more, err);
    collect->search = NULL;
    if (code == ERR_OK) verifier_data_merge(data, more);
    verifier_data_free(more);
    verifier_fitted_free(&fitted);
    return code;
}

static enum err_code gather(const struct cli *cli, struct verifier_collect *collect, struct verifier_data **data,
                            struct err *err)
{
    enum err_code code = verifier_collect(collect, cli->args + 1, cli->n_args - 1, data, err);
    int64_t rounds = cli->settings.train.favourites ? cli->settings.train.favourite_rounds : 0;
    for (int64_t i = 1; code == ERR_OK && i <= rounds; i++)
        code = add_favourites(cli, collect, (uint64_t)i, *data, err);
    return code;
}

int train_verifier(struct cli *cli)
{
    struct err err = {0};
    struct engine_config config;
    struct progress progress = {0};
    struct verifier_data *data = NULL;
    engine_settings(cli, &config);
    struct verifier_collect collect = {.databases = &config.databases,
                                       .schemas = engine_settings_schemas(cli, &config, &err),
                                       .expose = config.defaults.expose,
                                       .limits = &config.limits,
                                       .signals = config.signals,
                                       .mutants = (uint32_t)cli->settings.train.mutants,
                                       .doubles = (uint32_t)cli->settings.train.doubles,
                                       .siblings = (uint32_t)cli->settings.train.siblings,
                                       .blind = cli->settings.train.blind,
                                       .seed = (uint64_t)cli->settings.train.seed,
                                       .limit = (uint64_t)cli->settings.log.limit,
                                       .skipped = train_skipped,
                                       .on_empty = complain_empty,
                                       .ctx = &progress};
    if (!collect.schemas) return complain_err(NULL, &err);
    bool show = terminal_progress() && !cli->settings.general.quiet;
    if (show) {
        collect.tick = draw;
        progress_start(&progress);
    }
    enum err_code code = gather(cli, &collect, &data, &err);
    if (show) progress_clear(&progress);
    schema_cache_free(collect.schemas);
    if (code == ERR_OK) code = fit(cli, data, &err);
    int status = code ? EXIT_ERROR : train_left_out(data);
    verifier_data_free(data);
    err.code = code;
    return code == ERR_OK ? status : complain_err(cli->settings.train.out, &err);
}
