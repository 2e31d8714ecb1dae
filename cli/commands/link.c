/* assay link: predicts errors of a schema linker (docs/linking.md). */
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
    complain("link expects export, train, eval or judge, followed by files; got '%s'", cli->args[0]);
    return EXIT_ERROR;
}

const struct command command_link = {
    .name = "link",
    .guide = "linking.md",
    .sentence = "predict the errors of a schema linker from its hidden states",
    .args = "export|train|eval|judge FILE...",
    .description =
        "Predicts where a schema linker makes errors. A schema linker is a model that selects tables and columns for a "
        "question. The predictions come from recordings of its hidden states. A recording is a pair of files, "
        "NAME.jsonl and NAME.safetensors, written by the Python package assay-traces (docs/traces.md).\n\n"
        "export reads logs and writes training data and prompts for a schema linker, one line per question. A line has "
        "the schema, the parts of the schema that the question names, and the tables and columns that the reference "
        "(gold) query uses.\n\n"
        "train learns from recordings where the linker leaves the correct path, and writes the predictors to --out. It "
        "also needs the recordings of --calibrate-on.\n\n"
        "eval measures --predictor on a recording with gold queries. It prints the linker's own accuracy, the share of "
        "branching points detected, and the accuracy on questions for which it does not abstain. With --ablation, it "
        "does so for many settings.\n\n"
        "judge prints the linking of each question, one per line, with its uncertain places. Put that object into a "
        "request as `linking`. With --from-topic, judge reads traces that a linker sends while it works, instead of "
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
