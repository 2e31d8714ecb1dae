/* Walks a log of queries with the schema of each line's database, for commands that learn from it without judging. */
#ifndef ASSAY_CLI_REPLAY_LEARNING_LOG_H
#define ASSAY_CLI_REPLAY_LEARNING_LOG_H

#include "cli/cli.h"
#include "lib/schema/schema.h"

#include <jansson.h>

struct learning_log {
    /* Handles one line: the name of its database, the schema and the JSON object. Returns NULL, or the name of what the
     * line lacks, which learning_log_walk reports. */
    const char *(*each)(void *ctx, const char *db, const struct schema_index *schema, const json_t *line);
    void *ctx;
};

/* Walks the log at `path`; "-" means standard input. Reports unusable lines on standard error and continues. Returns
 * the exit status: EXIT_ERROR if the log cannot be read, EXIT_JUDGED if a line was unusable, else 0. Thread: main. */
int learning_log_walk(struct cli *cli, const char *path, const struct learning_log *log);

#endif
