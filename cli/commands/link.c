/* assay link: when a schema linker should not be believed (docs/linking.md). */
#include "cli/commands/link.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(struct cli *cli);
} parts[] = {{"export", link_export}, {"train", link_train}, {"eval", link_eval}, {"judge", link_judge}};

static int link_run(struct cli *cli)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
        if (strcmp(cli->args[0], parts[i].name) == 0 && (cli->n_args > 1 || parts[i].run == link_judge))
            return parts[i].run(cli);
    complain("link does export, train, eval and judge, of files: not '%s'", cli->args[0]);
    return EXIT_ERROR;
}

const struct command command_link = {
    .name = "link",
    .sentence = "tell where a schema linker goes wrong, from its hidden states",
    .args = "export|train|eval|judge FILE...",
    .description =
        "A recording is NAME.jsonl and NAME.safetensors, as the Python package assay-traces writes them "
        "(docs/traces.md).\n\n"
        "export writes, from logs, what a schema linker is trained on and asked with, a line a question: the schema, "
        "what of it the question names, and the tables and columns that the gold query uses.\n\n"
        "train learns from recordings, and from those of --calibrate-on, where the linker leaves the right path, and "
        "writes the predictors to --out.\n\n"
        "eval says what --predictor is worth on a recording with gold: the linker's own accuracy, how many branching "
        "points are noticed, and what is right of what is not abstained from; with --ablation for many settings.\n\n"
        "judge prints the linking of each question, a line each, with the places that are not to be trusted: the "
        "`linking` of a request. With --from-topic it reads traces that a linker sends as it works, in place of "
        "recordings.",
    .examples = "assay link export train.jsonl --db-root databases --out lines.jsonl\n"
                "assay link train folds --calibrate-on others --out linker.assay\n"
                "assay link eval dev --predictor linker.assay --link-alpha 0.1\n"
                "assay link judge today --predictor linker.assay > linkings.jsonl\n"
                "assay link judge --servers kafka:9092 --from-topic assay.traces --follow --predictor linker.assay",
    .main_flags = "db-root out calibrate-on predictor link-alpha layers format",
    .words = "export train eval judge",
    .groups =
        (const struct option_group *const[]){&options_link, &options_predictor, &options_log, &options_judge,
                                             &options_signals, &options_database, &options_schema, &options_output,
                                             &options_range, &options_kafka, &options_general, NULL},
    .min_args = 1,
    .max_args = -1,
    .run = link_run};
