/* Options of all signals. They start with the defaults of the definitions and are changed one at a time. */
#include "signals/vsig.h"

#include <glib.h>
#include <string.h>

static unsigned count_options(const struct vsig_def *def)
{
    unsigned n = 0;
    while (def->options && def->options[n].name) n++;
    return n;
}

void vsig_options_add(struct vsig_options *options, const struct vsig_def *def)
{
    unsigned n = count_options(def);
    options->enabled[def->id] = !def->off_by_default;
    g_free(options->values[def->id]);
    options->values[def->id] = g_new0(double, n + 1);
    for (unsigned i = 0; i < n; i++) options->values[def->id][i] = def->options[i].fallback;
}

struct vsig_options *vsig_options_new(void)
{
    struct vsig_options *options = g_new0(struct vsig_options, 1);
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) vsig_options_add(options, all[i]);
    return options;
}

void vsig_options_free(struct vsig_options *options)
{
    if (!options) return;
    for (unsigned id = 0; id < VSIG_ID_END; id++) g_free(options->values[id]);
    g_free(options);
}

/* Lists the keys that a signal accepts, such as "enabled, max_subqueries". */
static void list_keys(const struct vsig_def *def, char *out, size_t size)
{
    g_strlcpy(out, "enabled", size);
    for (const struct vsig_option *option = def->options; option && option->name; option++) {
        g_strlcat(out, ", ", size);
        g_strlcat(out, option->name, size);
    }
}

enum err_code vsig_options_set(struct vsig_options *options, const char *signal, const char *key, double value,
                               struct err *err)
{
    const struct vsig_def *def = vsig_by_name(signal);
    if (!def)
        return err_set(err, ERR_CONFIG, "unknown signal \"%s\"" ERR_HINT "run `assay signals` to list the signals",
                       signal);
    if (strcmp(key, "enabled") == 0) {
        if (value != 0 && value != 1) return err_set(err, ERR_CONFIG, "%s: enabled must be true or false", signal);
        options->enabled[def->id] = value != 0;
        return ERR_OK;
    }
    for (unsigned i = 0; i < count_options(def); i++) {
        const struct vsig_option *option = &def->options[i];
        if (strcmp(option->name, key) != 0) continue;
        if (!(value >= option->min && value <= option->max))
            return err_set(err, ERR_CONFIG, "%s: %s must be from %g to %g, got %g", signal, key, option->min,
                           option->max, value);
        options->values[def->id][i] = value;
        return ERR_OK;
    }
    char keys[ERR_TEXT_MAX / 2];
    list_keys(def, keys, sizeof keys);
    return err_set(err, ERR_CONFIG, "%s: unknown key \"%s\"" ERR_HINT "use one of: %s", signal, key, keys);
}
