/* assay train wording: trains models/wording.bin from pairs of a right and a wrong query, and evaluates it on held-out
 * databases. */
#include "cli/commands/train_verifier.h"

#include "cli/cli.h"
#include "cli/settings/engine_settings.h"
#include "train/word_fit.h"

#include <stdio.h>

enum { FOLDS = 5 };

int train_wording(struct cli *cli)
{
    const struct settings *s = &cli->settings;
    struct err err = {0};
    struct engine_config config;
    struct word_fit_result result;
    engine_settings(cli, &config);
    const struct word_fit_options options = {.databases = &config.databases,
                                             .schemas = engine_settings_schemas(cli, &config, &err),
                                             .limits = &config.limits,
                                             .bits = (unsigned)s->train.bits,
                                             .folds = FOLDS,
                                             .cost = s->train.cost,
                                             .out = s->train.out,
                                             .blind = s->train.blind,
                                             .skipped = train_skipped};
    if (!options.schemas) return complain_err(NULL, &err);
    err.code = fit_words(&options, cli->args + 1, cli->n_args - 1, &result, &err);
    schema_cache_free(options.schemas);
    if (err.code) return complain_err(s->train.out, &err);
    printf("%u pairs of %u databases, %u lines not used; %u common words, %u weights\n", result.pairs, result.databases,
           result.unused, result.common, result.keys);
    printf("right query preferred: %.1f %% (%d-fold by database)\n", 100 * result.preferred, FOLDS);
    return 0;
}
