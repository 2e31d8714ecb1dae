#include "cli/settings/predictor_settings.h"

#include <string.h>

struct predictor_options predictor_settings(const struct cli *cli)
{
    const struct settings *s = &cli->settings;
    return (struct predictor_options){.alpha = s->link.alpha,
                                      .layers = (uint32_t)s->link.layers,
                                      .merge = strcmp(s->link.merge, "majority") == 0 ? PREDICTOR_MAJORITY
                                                                                      : PREDICTOR_PERMUTED,
                                      .tau = s->link.tau,
                                      .marginal = s->link.marginal,
                                      .near = (uint32_t)s->link.near,
                                      .temperature = s->link.temperature};
}

enum err_code predictor_settings_load(const struct cli *cli, struct predictor **out, struct err *err)
{
    const char *path = cli->settings.link.predictor;
    if (path) return predictor_load(path, out, err);
    return err_set(err, ERR_USAGE,
                   "--predictor is required" ERR_HINT "set --predictor=FILE, the output of `assay link train`");
}
