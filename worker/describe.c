/* Describes a database before any judgement: its schema, under the policy that applies to its tasks. */
#include "worker/worker.h"

#include "lib/base/locations.h"
#include "lib/base/log.h"

#include <stdlib.h>

void worker_log_failure(const struct worker_databases *databases, const char *name, const struct err *why)
{
    bool known = why->code != ERR_DB_MISSING || worker_database_find(databases, name);
    const struct log_field fields[] = {
        log_field_text("code", err_name(why->code)),
        known ? log_field_text("db", name) : log_field_outside("db", name),
        known && err_names_locations(why->code) ? log_field_text("why", why->text)
                                                : log_field_outside("why", why->text),
    };
    log_event(LOG_LEVEL_WARN, "worker", fields, sizeof fields / sizeof *fields, "cannot use a database");
}

/* Sets an error that names the database and the meaning of the code. The text of the failure may name files and
 * servers, so it is not used. */
static enum err_code failed_on(const char *name, enum err_code code, struct err *err)
{
    return err_set(err, code, "'%.100s': %s", name, err_meaning(code));
}

static enum err_code get_index(const struct worker_config *config, const struct msg_task *task,
                               struct schema_index **out, struct err *err)
{
    const char *name = task->db;
    char *path = NULL;
    struct db *db = NULL;
    enum err_code code = worker_database_path(&config->databases, name, &path, err);
    if (!code) code = db_open(path, &config->limits, &db, err);
    if (!code)
        code = schema_cache_get_denying(config->schemas, db, name, path, task->deny_columns, task->n_deny_columns, out,
                                        err);
    db_close(db);
    free(path);
    return code;
}

enum err_code worker_describe(const struct worker_config *config, const struct msg_task *asked, char **json,
                              struct err *err)
{
    struct arena arena;
    struct msg_task task = *asked;
    struct schema_index *index = NULL;
    struct err why = {0};
    *json = NULL;
    arena_init(&arena, 0);
    enum err_code code = worker_policy(&config->databases, &arena, &task, &why);
    if (!code) code = get_index(config, &task, &index, &why);
    if (!code) {
        const struct schema_json_options options = {.values = task.expose != MSG_EXPOSE_NONE,
                                                    .deny_columns = task.deny_columns,
                                                    .n_deny_columns = task.n_deny_columns};
        *json = schema_json(index, &options);
        if (!*json) code = ERR_NOMEM;
    }
    schema_unref(index);
    arena_free(&arena);
    if (!code) return ERR_OK;
    if (!why.code) err_set(&why, code, "%s", err_meaning(code));
    worker_log_failure(&config->databases, task.db, &why);
    return failed_on(task.db, code, err);
}
