/* assay link train, eval and judge: train predictors on recordings of a linker, evaluate them, and apply them. */
#include "cli/commands/link.h"

#include "cli/commands/link_surrogate.h"
#include "cli/output/format.h"
#include "cli/output/link_output.h"
#include "cli/replay/replay.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "cli/settings/predictor_settings.h"
#include "linking/result.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_BYTES = 256 << 20 };

int link_train(struct cli *cli)
{
    struct err err = {0};
    struct predictor *predictor = NULL;
    const struct settings *s = &cli->settings;
    struct predictor_sources sources = {.training = cli->args + 1,
                                        .n_training = (uint32_t)cli->n_args - 1,
                                        .calibration = s->link.calibrate.items,
                                        .n_calibration = s->link.calibrate.n};
    struct perceptron_options options = perceptron_options_default();
    options.hidden = (uint32_t)s->link.units;
    options.epochs = (uint32_t)s->link.epochs;
    options.seed = (uint64_t)s->link.seed;
    if (!s->link.out || !sources.n_calibration) {
        complain(s->link.out ? "--calibrate-on is required" ERR_HINT
                               "set --calibrate-on=RECORDING, with databases that are not in the training recordings"
                             : "--out is required" ERR_HINT "set --out=FILE");
        return EXIT_ERROR;
    }
    GString *command = g_string_new("assay link train");
    for (int i = 1; i < cli->n_args; i++) g_string_append_printf(command, " %s", cli->args[i]);
    for (unsigned i = 0; i < sources.n_calibration; i++)
        g_string_append_printf(command, " --calibrate-on %s", sources.calibration[i]);
    enum err_code code = predictor_train(&sources, &options, &predictor, &err);
    if (!code) code = predictor_save(predictor, command->str, s->link.out, &err);
    if (!code && !s->general.quiet) link_print_training(predictor, stderr);
    g_string_free(command, TRUE);
    predictor_free(predictor);
    return code ? complain_err("link train", &err) : 0;
}

int link_eval(struct cli *cli)
{
    struct err err = {0};
    enum format format;
    struct predictor *predictor = NULL;
    struct surrogate *surrogate = NULL;
    const struct settings *s = &cli->settings;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    if (s->link.surrogate && catalogue_open(cli, &err) != ERR_OK) return complain_err(NULL, &err);
    if (s->link.surrogate && !engine_settings_has_databases(cli)) return EXIT_ERROR;
    struct predictor_options options = predictor_settings(cli);
    enum err_code code = predictor_settings_load(cli, &predictor, &err);
    if (!code && s->link.surrogate) code = surrogate_open(cli, s->link.surrogate, &surrogate, &err);
    struct link_surrogate judge = surrogate_of(surrogate);
    for (int i = 1; !code && i < cli->n_args; i++)
        code = link_print_evaluation(predictor, &options, cli->args[i], surrogate ? &judge : NULL, s->link.ablation,
                                     format, stdout, &err);
    surrogate_close(surrogate);
    predictor_free(predictor);
    return code ? complain_err("link eval", &err) : 0;
}

static enum err_code judge_recording(const struct predictor *predictor, const struct predictor_options *options,
                                     const char *name, struct err *err)
{
    struct recording recording;
    struct arena arena;
    struct trace *trace = NULL;
    struct linking_results *results = linking_results_new();
    enum err_code code = recording_open(name, &recording, err);
    if (code) return linking_results_free(results), code;
    arena_init(&arena, TRACE_BYTES);
    while (!(code = recording_next(&recording, &arena, &trace, err)) && trace) {
        if ((code = linking_results_add(results, predictor, options, &recording, trace, &arena, err))) break;
        arena_reset(&arena);
    }
    if (!code) {
        json_t *list = linking_results_json(results);
        format_json_list(list, FORMAT_JSONL, stdout);
        json_decref(list);
    }
    arena_free(&arena);
    recording_close(&recording);
    linking_results_free(results);
    return code;
}

int link_judge(struct cli *cli)
{
    struct err err = {0};
    struct predictor *predictor = NULL;
    bool topic = cli->settings.past.from_topic;
    if (topic == (cli->n_args > 1) || !replay_check_range(&cli->settings)) {
        complain("expected either recordings or --from-topic=TOPIC");
        return EXIT_ERROR;
    }
    struct predictor_options options = predictor_settings(cli);
    enum err_code code = predictor_settings_load(cli, &predictor, &err);
    for (int i = 1; !code && i < cli->n_args; i++) code = judge_recording(predictor, &options, cli->args[i], &err);
    if (!code && topic) code = link_judge_topic(cli, predictor, &options, &err);
    predictor_free(predictor);
    return code ? complain_err("link judge", &err) : 0;
}
