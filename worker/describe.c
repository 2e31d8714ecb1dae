/* What may be known of a database before anything is judged on it: its schema, under the policy that its tasks have. */
#include "worker/worker.h"

#include <stdlib.h>

/* Never with the text of what failed: that names files and servers. */
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
    *json = NULL;
    arena_init(&arena, 0);
    enum err_code code = worker_policy(&config->databases, &arena, &task, err);
    if (!code) code = get_index(config, &task, &index, err);
    if (!code) {
        const struct schema_json_options options = {.values = task.expose != MSG_EXPOSE_NONE,
                                                    .deny_columns = task.deny_columns,
                                                    .n_deny_columns = task.n_deny_columns};
        *json = schema_json(index, &options);
        if (!*json) code = ERR_NOMEM;
    }
    schema_unref(index);
    arena_free(&arena);
    return code ? failed_on(task.db, code, err) : ERR_OK;
}
