#include "cli/settings/denied_settings.h"

#include "cli/settings/catalogue.h"
#include "lib/base/log.h"
#include "worker/deny_check.h"

#include <string.h>

void denied_settings_warn(const char *text)
{
    if (!log_enabled(LOG_LEVEL_WARN)) {
        complain("%s", text);
        return;
    }
    const struct log_field why = log_field_text("why", text);
    log_event(LOG_LEVEL_WARN, "databases", &why, 1, "cannot check a denied column");
}

static const char *origin_of(const struct cli *cli, const char *name)
{
    for (uint32_t i = 0; cli->catalogue && i < cli->catalogue->n; i++)
        if (strcmp(cli->catalogue->entries[i]->name, name) == 0) return cli->catalogue->entries[i]->origin;
    return NULL;
}

/* Returns the name to report for a database. For a path, returns only the database name in it, because the path may
 * contain a password. */
static const char *owner_of(const struct cli *cli, struct arena *arena, const struct worker_database *database)
{
    const char *origin = origin_of(cli, database->name);
    char *name = origin ? g_strdup(database->name) : db_path_name(database->name);
    const char *owner = arena_printf(arena, "%s%sdatabase %.100s", origin ? origin : "", origin ? ": " : "", name);
    g_free(name);
    return owner ? owner : "a database";
}

enum err_code denied_settings_check(const struct cli *cli, const struct worker_databases *databases,
                                    void (*warn)(const char *text), struct err *err)
{
    const struct string_list *flags = &cli->settings.judge.deny_columns;
    struct arena arena;
    uint32_t n = 0;
    arena_init(&arena, 0);
    struct deny_scope *scopes = arena_new_array(&arena, databases->n_files + 1, struct deny_scope);
    const char **names = arena_new_array(&arena, 2 * (size_t)databases->n_files + 1, const char *);
    enum err_code code = scopes && names ? ERR_OK : err_set(err, ERR_NOMEM, "%s", err_meaning(ERR_NOMEM));
    for (size_t i = 0; !code && i < databases->n_files; i++) {
        const struct worker_database *file = &databases->files[i];
        names[2 * i] = file->name;
        if (!file->n_deny_columns) continue;
        scopes[n++] =
            (struct deny_scope){owner_of(cli, &arena, file), &names[2 * i], file->deny_columns, file->n_deny_columns};
    }
    if (!code && flags->n) scopes[n++] = (struct deny_scope){"deny_column", NULL, flags->items, flags->n};
    if (!code && n) code = deny_check(databases, scopes, n, warn, err);
    arena_free(&arena);
    return code;
}

enum err_code denied_settings_check_tenants(void *ctx, const char *path, const struct tenant *const *tenants,
                                            uint32_t n, struct err *err)
{
    struct deny_scope *scopes = g_new0(struct deny_scope, n + 1);
    GPtrArray *owners = g_ptr_array_new_with_free_func(g_free);
    uint32_t n_scopes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct tenant *tenant = tenants[i];
        if (!tenant->deny_columns[0]) continue;
        char *owner = g_strdup_printf("%s: tenant '%s'", path, tenant->name);
        g_ptr_array_add(owners, owner);
        scopes[n_scopes++] =
            (struct deny_scope){owner, tenant->all ? NULL : (const char *const *)tenant->databases,
                                (const char *const *)tenant->deny_columns, g_strv_length(tenant->deny_columns)};
    }
    enum err_code code = n_scopes ? deny_check(ctx, scopes, n_scopes, denied_settings_warn, err) : ERR_OK;
    g_ptr_array_free(owners, TRUE);
    g_free(scopes);
    return code;
}
