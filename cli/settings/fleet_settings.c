/* Opens the parts of a fleet's process from the settings (fleet_settings.h). */
#include "cli/settings/fleet_settings.h"

#include "cli/settings/engine_settings.h"
#include "lib/base/bom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SECRET = 64 << 10 };

/* Returns the value of the setting `name`. A text of the form "file:PATH" stands for the contents of that file; any
 * other text is the value itself. Returns NULL if the file cannot be used. */
static const char *value_of(struct cli *cli, const char *name, const char *text, struct err *err)
{
    static const char prefix[] = "file:";
    gchar *content = NULL;
    gsize len = 0;
    if (!g_str_has_prefix(text, prefix)) return text;
    const char *path = text + strlen(prefix);
    if (!g_file_get_contents(path, &content, &len, NULL)) {
        err_set(err, ERR_CONFIG, "kafka: %s: %s cannot be read", name, path);
        return NULL;
    }
    const char *value = NULL;
    len = bom_strip(content, len);
    if (len > MAX_SECRET || strlen(content) != len)
        err_set(err, ERR_CONFIG, "kafka: %s: %s is not a text of at most %d bytes", name, path, MAX_SECRET);
    else if (!(value = arena_strdup(&cli->arena, g_strchomp(content))))
        err_set(err, ERR_NOMEM, "too many settings");
    g_free(content);
    return value;
}

static enum err_code bus_settings(struct cli *cli, struct bus_config *config, struct err *err)
{
    const struct string_list *list = &cli->settings.kafka.properties;
    struct bus_property *properties = arena_new_array(&cli->arena, list->n + 1, struct bus_property);
    uint32_t n = 0;
    if (!properties) return err_set(err, ERR_NOMEM, "too many settings");
    if (cli->settings.kafka.servers)
        properties[n++] = (struct bus_property){"bootstrap.servers", cli->settings.kafka.servers};
    for (unsigned i = 0; i < list->n; i++) {
        const char *equals = strchr(list->items[i], '=');
        char *name = arena_printf(&cli->arena, "%.*s", (int)(equals - list->items[i]), list->items[i]);
        if (!name) return err_set(err, ERR_NOMEM, "too many settings");
        const char *value = value_of(cli, name, equals + 1, err);
        if (!value) return ERR_CONFIG;
        properties[n++] = (struct bus_property){name, value};
    }
    config->properties = properties;
    config->n_properties = n;
    config->connect_ms = cli->settings.kafka.connect_ms;
    return ERR_OK;
}

enum err_code fleet_settings_open_bus(struct cli *cli, struct bus **out, struct err *err)
{
    struct bus_config config = {0};
    enum err_code code = bus_settings(cli, &config, err);
    return code ? code : bus_open("kafka", &config, out, err);
}

void fleet_settings_start(const struct cli *cli)
{
    fleet_start((enum log_form)log_form_by_name(cli->settings.observe.log_form),
                (enum log_level)log_level_by_name(cli->settings.observe.log_level));
}

enum err_code fleet_settings_open_otlp(const struct cli *cli, const char *part, struct otlp **out, struct err *err)
{
    static const char variable[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
    const char *endpoint = cli->settings.observe.otlp, *named = getenv("OTEL_SERVICE_NAME");
    char service[32];
    if (!endpoint) return ERR_OK;
    if (strcmp(endpoint, "env") == 0 && !(endpoint = getenv(variable)))
        return err_set(err, ERR_CONFIG, "--otlp env: %s is not set", variable);
    snprintf(service, sizeof service, "assay-%s", part);
    const struct otlp_config config = {.endpoint = endpoint,
                                       .service = named && *named ? named : service,
                                       .version = ASSAY_VERSION,
                                       .headers_file = cli->settings.observe.otlp_headers_file,
                                       .ca_file = cli->settings.observe.otlp_ca_file,
                                       .proxy = cli->settings.observe.otlp_proxy,
                                       .tracer = {.ratio = cli->settings.observe.otlp_ratio}};
    return otlp_open(&config, out, err);
}

enum err_code fleet_settings_open_health(const struct cli *cli, struct health_config *config, struct health **out,
                                         struct err *err)
{
    config->listen = cli->settings.observe.listen;
    config->stall_ms = cli->settings.observe.stall_ms;
    config->commit = program_commit();
    return health_open(config, out, err);
}

enum err_code fleet_settings_verdicts(const struct cli *cli, struct cache_config *redis, struct err *err)
{
    *redis = engine_settings_cache(&cli->settings);
    redis->ttl_ms = cli->settings.verdicts.ttl_s * 1000;
    if (redis->address) return ERR_OK;
    return err_set(err, ERR_CONFIG, "--verdict-cache needs a Redis" ERR_HINT "set --redis");
}
