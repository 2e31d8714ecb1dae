/* assay train calibration: what votes, places and the content model are worth for a generator.
 *
 * The four numbers of struct verifier_prior are fitted to a log with candidates and gold, by the likelihood of "right"
 * over all candidates that ran: coordinate search over fixed steps, from the neutral default, with a pull towards it
 * that weighs as much as PULL questions, so that ten questions of feedback move little. Lines are fitted together by
 * the generator that they name; a log that names none fits "".
 *
 * Where feedback stands for gold (train/feedback.h), candidates that nobody spoke of are peers to the others and count
 * for nothing themselves. Each candidate weighs what it would with gold: an answer that was called right and one that
 * was called wrong weigh the same, though only the first says something of its peers too.
 */
#include "cli/commands/train_verifier.h"

#include "cli/settings/engine_settings.h"
#include "cli/replay/replay.h"
#include "cli/settings/fleet_settings.h"
#include "cli/output/table.h"
#include "train/verifier_data.h"
#include "scoring/verifier_context.h"
#include "lib/learn/json_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PULL = 20, SWEEPS = 6, MIN_QUESTIONS = 10 };

/* The lines of one generator, as the coordinator would see them. */
struct lines_of {
    const struct verifier_data *data;
    const char *generator;
    const double *content;                  /* by sample: log-odds */
    struct msg_judged **judged;             /* by question; NULL: of another generator */
    const struct msg_execution *executions; /* by sample */
};

static const struct {
    size_t offset;
    double step, low, high;
} numbers[] = {{offsetof(struct verifier_prior, vote), 0.1, -2, 4},
               {offsetof(struct verifier_prior, first), 0.2, -4, 8},
               {offsetof(struct verifier_prior, none), 0.1, 0.05, 10},
               {offsetof(struct verifier_prior, temperature), 0.05, 0.1, 2}};

static double *number(struct verifier_prior *prior, size_t i)
{
    return (double *)(void *)((char *)prior + numbers[i].offset);
}

/* Candidates of a line with what is known of them: those without a sample did not run. */
static struct msg_judged *judged_of(const struct verifier_data *data, const struct verifier_question *q,
                                    struct msg_execution *executions)
{
    struct msg_judged *judged = g_new0(struct msg_judged, q->given + 1);
    for (uint32_t i = 0; i < q->given; i++)
        judged[i] = (struct msg_judged){.judged = true, .invalid = true, .count = 1};
    for (uint32_t i = q->first; i < q->first + q->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        executions[i] = (struct msg_execution){.code = "ok", .rows = s->rows, .digest = {s->digest[0], s->digest[1]}};
        judged[s->rank].invalid = false;
        judged[s->rank].count = s->count;
        judged[s->rank].execution = &executions[i];
    }
    return judged;
}

static double loss(const struct lines_of *lines, const struct verifier_prior *prior)
{
    double sum = 0;
    for (uint32_t k = 0; k < lines->data->n_questions; k++) {
        const struct verifier_question *q = &lines->data->questions[k];
        for (uint32_t i = q->first; lines->judged[k] && i < q->first + q->n; i++) {
            const struct verifier_sample *s = &lines->data->samples[i];
            if (s->unknown) continue;
            struct verifier_subject subject = {
                .candidates = lines->judged[k], .n_candidates = q->given, .n_seen = q->given, .index = s->rank};
            double z = prior->temperature * lines->content[i] + verifier_context(prior, &subject);
            sum += log1p(exp(s->right ? -z : z)) / q->n;
        }
    }
    return sum;
}

static double pulled(const struct lines_of *lines, struct verifier_prior prior, struct verifier_prior neutral)
{
    double away = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        double d = (*number(&prior, i) - *number(&neutral, i)) / (numbers[i].high - numbers[i].low);
        away += d * d;
    }
    return loss(lines, &prior) + PULL * away;
}

static struct verifier_prior fit(const struct lines_of *lines, struct verifier_prior neutral)
{
    struct verifier_prior best = neutral;
    double least = pulled(lines, best, neutral);
    for (unsigned sweep = 0, moved = 1; sweep < SWEEPS && moved; sweep++) {
        moved = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
            struct verifier_prior from = best;
            for (int step = -10; step <= 10; step++) {
                struct verifier_prior tried = from;
                *number(&tried, i) = CLAMP(*number(&from, i) + step * numbers[i].step, numbers[i].low, numbers[i].high);
                double l = pulled(lines, tried, neutral);
                if (l >= least - 1e-9) continue;
                least = l;
                best = tried;
                moved = 1;
            }
        }
    }
    return best;
}

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

/* A handful of questions says nothing of a generator, and nothing is made of it. */
static void say_few(const json_t *root, const char *generator, uint32_t n)
{
    bool known = json_object_get(json_object_get(root, "generators"), generator) != NULL;
    complain("generator %s: %u usable questions are too few to fit it (%d are needed); %s", shown_name(generator), n,
             MIN_QUESTIONS,
             known ? "what the file says of it stays" : "it is left out, and judged like an unknown one");
}

static void fit_generator(struct lines_of *lines, json_t *root, struct table *table)
{
    struct msg_execution *executions = g_new0(struct msg_execution, lines->data->n + 1);
    uint32_t n = 0;
    lines->judged = g_new0(struct msg_judged *, lines->data->n_questions + 1);
    for (uint32_t k = 0; k < lines->data->n_questions; k++) {
        const struct verifier_question *q = &lines->data->questions[k];
        if (!q->usable || !q->n || strcmp(q->generator, lines->generator) != 0) continue;
        lines->judged[k] = judged_of(lines->data, q, executions);
        n++;
    }
    struct verifier_prior neutral = strcmp(lines->generator, "*") == 0 ? verifier_prior_several : verifier_prior_one;
    struct verifier_prior fitted = n >= MIN_QUESTIONS ? fit(lines, neutral) : neutral;
    if (n >= MIN_QUESTIONS)
        set_prior(root, lines->generator, &fitted);
    else
        say_few(root, lines->generator, n);
    table_row(table);
    table_cell(table, 0, "%s", shown_name(lines->generator));
    table_cell(table, 1, "%u", n);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) table_cell(table, 2 + (unsigned)i, "%.2f", *number(&fitted, i));
    table_cell(table, 6, "%.3f", loss(lines, &neutral) / MAX(n, 1));
    table_cell(table, 7, "%.3f", loss(lines, &fitted) / MAX(n, 1));
    for (uint32_t k = 0; k < lines->data->n_questions; k++) g_free(lines->judged[k]);
    g_free(lines->judged);
    g_free(executions);
}

/* Content's log-odds of each sample under the model. */
static double *content_of(const struct verifier_model *model, const struct verifier_data *data)
{
    double *content = g_new0(double, data->n + 1);
    for (uint32_t i = 0; i < data->n; i++) {
        const struct verifier_sample *s = &data->samples[i];
        const struct verifier_question *q = &data->questions[s->question];
        content[i] = verifier_content(model, q->text, s->features, s->signals);
    }
    return content;
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
    double *content = content_of(model, data);
    struct table *table = table_new(columns);
    if (!data->n_questions) complain("no question with gold or feedback: nothing was fitted");
    for (uint32_t k = 0; k < data->n_questions; k++) {
        struct lines_of lines = {.data = data, .generator = data->questions[k].generator, .content = content};
        if (g_hash_table_add(done, data->questions[k].generator)) fit_generator(&lines, root, table);
    }
    table_print(table, stdout);
    table_free(table);
    g_free(content);
    g_hash_table_destroy(done);
}

/* What was read and what was not. A broken record of feedback is none of the lines of another kind. */
static void say_feedback(const struct feedback *feedback, uint64_t unread)
{
    uint64_t left;
    struct feedback_counts counts = feedback_counts(feedback, &left);
    if (counts.bad + unread)
        complain("%llu records cannot be read and were skipped", (unsigned long long)(counts.bad + unread));
    if (!counts.records && !counts.bad) return;
    printf(
        "feedback: %llu records, for %llu requests; skipped: %llu records that cannot be read, %llu that name no "
        "known candidate; %llu requests are not in the files, %llu came again, %llu need none: they have gold, or no "
        "question\n",
        (unsigned long long)counts.records, (unsigned long long)counts.requests,
        (unsigned long long)(counts.bad + unread), (unsigned long long)counts.unresolved, (unsigned long long)left,
        (unsigned long long)counts.repeated, (unsigned long long)counts.overruled);
}

/* With a group that no fleet uses, and nothing is committed: the same range is read each time. */
static enum err_code open_topic(struct cli *cli, struct bus **bus, struct source *topic, struct err *err)
{
    struct range_config config;
    enum err_code code = replay_range(&cli->settings, &config, err);
    config.group = "assay-train";
    if (code == ERR_OK) code = fleet_settings_open_bus(cli, bus, err);
    return code ? code : source_open_topic(topic, *bus, &config, err);
}

/* Of the logs, and of --from-topic. */
static enum err_code read_feedback(struct cli *cli, struct feedback **out, struct err *err)
{
    struct bus *bus = NULL;
    struct source topic = {0};
    bool remote = cli->settings.past.from_topic != NULL;
    enum err_code code = remote ? open_topic(cli, &bus, &topic, err) : ERR_OK;
    if (code == ERR_OK)
        code = feedback_read(cli->args + 1, cli->n_args - 1, remote ? &topic : NULL, train_skipped, out, err);
    source_close(&topic);
    if (bus) bus_close(bus);
    return code;
}

/* What the logs and the feedback say, into the verifier's file. */
static enum err_code complete(struct cli *cli, const struct verifier_model *model, json_t *root, struct err *err)
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
    enum err_code code = read_feedback(cli, &collect.feedback, err);
    if (code == ERR_OK && !(collect.schemas = engine_settings_schemas(cli, &config, err))) code = ERR_NOMEM;
    if (code == ERR_OK) code = verifier_collect(&collect, cli->args + 1, cli->n_args - 1, &data, err);
    if (code == ERR_OK) {
        fit_all(model, data, root);
        say_feedback(collect.feedback, data->unread);
        char *out = model_json_text(json_incref(root), true);
        code = model_file_write(cli->settings.train.out, out, err);
        free(out);
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
    err.code = complete(cli, model, root, &err);
    json_decref(root);
    verifier_free(model);
    g_free(text);
    return err.code == ERR_OK ? 0 : complain_err(NULL, &err);
}
