/* From the name of a database to its file. The name comes from a message: it may only pick among what lies under the
 * operator's roots. */
#include "worker/worker.h"

#include "proto/msg.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_safe(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > MSG_MAX_NAME || name[0] == '.') return false;
    for (const char *c = name; *c; c++)
        if (*c == '/' || *c == '\\' || g_ascii_iscntrl(*c)) return false;
    return true;
}

/* `*path` if it exists there. */
static bool try_path(char *candidate, char **path)
{
    if (candidate && access(candidate, F_OK) == 0) {
        *path = candidate;
        return true;
    }
    free(candidate);
    return false;
}

static char *join(const char *format, const char *root, const char *name)
{
    char *path = NULL;
    int len = strcmp(format, "dir") == 0 ? asprintf(&path, "%s/%s/%s.sqlite", root, name, name)
                                         : asprintf(&path, "%s/%s.sqlite", root, name);
    return len < 0 ? NULL : path;
}

enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err)
{
    *path = NULL;
    for (uint32_t i = 0; i < databases->n_files; i++)
        if (strcmp(databases->files[i].name, name) == 0)
            return (*path = strdup(databases->files[i].path)) ? ERR_OK
                                                              : err_set(err, ERR_NOMEM, "no memory for a path");
    if (!is_safe(name))
        return err_set(err, ERR_DB_MISSING,
                       "a database name has no slash, control character or leading dot, and 1 to %d "
                       "bytes",
                       MSG_MAX_NAME);
    for (uint32_t i = 0; i < databases->n_roots; i++)
        if (try_path(join("dir", databases->roots[i], name), path) ||
            try_path(join("file", databases->roots[i], name), path))
            return ERR_OK;
    return err_set(err, ERR_DB_MISSING, "there is no database '%.100s' under %s", name,
                   databases->n_roots ? databases->roots[0] : "any root, for none was given");
}
