/* assay train calibration: fits the weights of votes, positions and the content model for each generator of a log
 * (train/prior_fit.h). Writes them into the verifier's file. */
#include "cli/commands/train_verifier.h"

#include "cli/output/table.h"
#include "cli/replay/replay.h"
#include "cli/settings/engine_settings.h"
#include "cli/settings/fleet_settings.h"
#include "lib/learn/json_file.h"
#include "train/prior_fit.h"

#include <stdlib.h>
#include <string.h>

/* --- the file --- */

static bool set_prior(json_t *root, const char *generator, const struct verifier_prior *h)
{
    json_t *generators = json_object_get(root, "generators");
    if (!generators) {
        json_object_set_new(root, "generators", json_object());
        generators = json_object_get(root, "generators");
    }
    return json_object_set_new(generators, generator,
                               json_pack("{s:f,s:f,s:f,s:f}", "vote", h->vote, "first", h->first, "none", h->none,
                                         "temperature", h->temperature)) == 0;
}

static const char *shown_name(const char *generator)
{
    return !*generator ? "(no name)" : strcmp(generator, "*") == 0 ? "* (several)" : generator;
}

/* Reports that a generator has too few questions, so no entry is written for it. */
static void say_few(const json_t *root, const char *generator, uint32_t n)
{
    bool known = json_object_get(json_object_get(root, "generators"), generator) != NULL;
    complain("generator %s: too few usable questions: %u, at least %d are needed; %s", shown_name(generator), n,
             PRIOR_FIT_QUESTIONS,
             known ? "its entry in the file is unchanged" : "it has no entry, and is judged as an unknown generator");
}

static void fit_generator(const struct verifier_data *data, const double *content, const char *generator, json_t *root,
                          struct table *table)
{
    struct prior_fit fit = prior_fit(data, content, generator);
    if (fit.fitted)
        set_prior(root, generator, &fit.prior);
    else
        say_few(root, generator, fit.n);
    table_row(table);
    table_cell(table, 0, "%s", shown_name(generator));
    table_cell(table, 1, "%u", fit.n);
    table_cell(table, 2, "%.2f", fit.prior.vote);
    table_cell(table, 3, "%.2f", fit.prior.first);
    table_cell(table, 4, "%.2f", fit.prior.none);
    table_cell(table, 5, "%.2f", fit.prior.temperature);
    table_cell(table, 6, "%.3f", fit.loss_neutral);
    table_cell(table, 7, "%.3f", fit.loss);
}

static void fit_all(const struct verifier_model *model, const struct verifier_data *data, json_t *root)
{
    static const struct table_column columns[] = {{"generator"},
                                                  {"questions", .right = true},
                                                  {"vote", .right = true},
                                                  {"first", .right = true},
                                                  {"none", .right = true},
                                                  {"temperature", .right = true},
                                                  {"log loss before", .right = true},
                                                  {"after", .right = true},
                                                  {NULL}};
    GHashTable *done = g_hash_table_new(g_str_hash, g_str_equal);
    double *content = prior_fit_content(model, data);
    struct table *table = table_new(columns);
    if (!data->n_questions) complain("no question with gold or feedback: nothing was fitted");
    for (uint32_t k = 0; k < data->n_questions; k++) {
        char *generator = data->questions[k].generator;
        if (g_hash_table_add(done, generator)) fit_generator(data, content, generator, root, table);
    }
    table_print(table, stdout);
    table_free(table);
    g_free(content);
    g_hash_table_destroy(done);
}

/* Reports the number of feedback records that were read and skipped. */
static void say_feedback(const struct feedback *feedback, uint64_t unread)
{
    uint64_t left;
    struct feedback_counts counts = feedback_counts(feedback, &left);
    if (counts.bad + unread)
        complain("%llu records cannot be read and were skipped", (unsigned long long)(counts.bad + unread));
    if (!counts.records && !counts.bad) return;
    printf("feedback: %llu records for %llu requests; skipped: %llu unreadable records, %llu for an unknown candidate; "
           "%llu requests are not in the files, %llu are repeated, %llu need no feedback (they have gold, or no "
           "question)\n",
           (unsigned long long)counts.records, (unsigned long long)counts.requests,
           (unsigned long long)(counts.bad + unread), (unsigned long long)counts.unresolved, (unsigned long long)left,
           (unsigned long long)counts.repeated, (unsigned long long)counts.overruled);
}

/* Adds the weights of each generator, fitted on the logs and the feedback, to the verifier's file. */
static enum err_code complete(struct cli *cli, const struct verifier_model *model, json_t *root, int *status,
                              struct err *err)
{
    struct engine_config config;
    struct verifier_data *data = NULL;
    engine_settings(cli, &config);
    struct verifier_collect collect = {.databases = &config.databases,
                                       .expose = config.defaults.expose,
                                       .limits = &config.limits,
                                       .signals = config.signals,
                                       .skipped = train_skipped,
                                       .on_empty = complain_empty,
                                       .limit = (uint64_t)cli->settings.log.limit};
    enum err_code code =
        replay_read_feedback(cli, cli->args + 1, cli->n_args - 1, train_skipped, &collect.feedback, err);
    if (code == ERR_OK && !(collect.schemas = engine_settings_schemas(cli, &config, err))) code = ERR_NOMEM;
    if (code == ERR_OK) code = verifier_collect(&collect, cli->args + 1, cli->n_args - 1, &data, err);
    if (code == ERR_OK) {
        fit_all(model, data, root);
        say_feedback(collect.feedback, data->unread);
        char *out = model_json_text(json_incref(root), true);
        code = model_file_write(cli->settings.train.out, out, err);
        free(out);
        *status = train_left_out(data);
    }
    verifier_data_free(data);
    schema_cache_free(collect.schemas);
    feedback_free(collect.feedback);
    return code;
}

int train_calibration(struct cli *cli)
{
    char *text = NULL;
    size_t len;
    struct err err = {0};
    struct verifier_model *model = NULL;
    const char *path = cli->settings.train.verifier ? cli->settings.train.verifier : cli->settings.train.out;
    err.code = model_file_read(path, &text, &len, &err);
    if (err.code == ERR_OK) err.code = verifier_load_text(text, len, &model, &err);
    if (err.code != ERR_OK) {
        g_free(text);
        return complain_err(path, &err);
    }
    json_t *root = json_loadb(text, len, 0, NULL);
    int status = 0;
    err.code = complete(cli, model, root, &status, &err);
    json_decref(root);
    verifier_free(model);
    g_free(text);
    return err.code == ERR_OK ? status : complain_err(NULL, &err);
}
