/* assay mcp: serves agents over standard input and output, with an engine in this process. */
#include "cli/commands/agent.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "engine/assay_internal.h"
#include "lib/db/executor.h"
#include "server/mcp_stdio.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 8 /* calls that run at the same time */, MAX_OPEN = 64 };

static enum err_code judge(void *ctx, const char *request, char **verdict, struct err *err)
{
    struct assay_verdict *own = NULL;
    struct assay_error error;
    if (assay_judge(ctx, request, strlen(request), &own, &error))
        return err_set(err, err_from_name(error.code), "%s", error.text);
    *verdict = strdup(assay_verdict_json(own));
    assay_verdict_free(own);
    return ERR_OK;
}

/* Prints an error and returns false if the database cannot be opened. Returns true for an unreachable server, because
 * it may be reachable later. */
static bool check_database(const struct worker_database *database)
{
    struct err err = {0};
    struct db *db = NULL;
    enum err_code code = db_open(database->path, &database->limits, &db, &err);
    db_close(db);
    if (!code || err_class(code) == ERR_CLASS_RETRY) return true;
    complain_err(NULL, &err);
    return false;
}

/* Selects the database of --db, or those of --db-root and the catalogue. `one` must live as long as the engine. */
static bool choose_databases(struct cli *cli, struct worker_database *one, struct worker_databases *out)
{
    struct err err = {0};
    const char *asked = cli->settings.mcp.db;
    if (!asked && !engine_settings_has_databases(cli)) return false;
    *out = catalogue_databases(cli);
    if (!asked) return true;
    if (catalogue_pick(cli, asked, one, &err)) {
        complain_err(NULL, &err);
        return false;
    }
    char *name = db_path_name(one->path);
    if (one->path == asked) one->name = arena_strdup(&cli->arena, name);
    g_free(name);
    *out = (struct worker_databases){.files = one, .n_files = 1};
    return check_database(one);
}

static int serve(const struct cli *cli, struct assay_engine *engine, const struct worker_databases *databases, int out)
{
    struct err err = {0};
    struct agent *agent = agent_new(cli, databases, engine_schemas(assay_inner_engine(engine)));
    const struct mcp_stdio_config config = {.mcp = agent_mcp(agent),
                                            .in = STDIN_FILENO,
                                            .out = out,
                                            .threads = CALLS,
                                            .max_open = MAX_OPEN,
                                            .judge = judge,
                                            .ctx = engine};
    enum err_code code = mcp_stdio_run(&config, &err);
    agent_free(agent);
    return code ? complain_err(NULL, &err) : 0;
}

/* Reserves standard output for the protocol and returns a descriptor of it. Redirects all other output to standard
 * error. */
static int take_output(void)
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (out >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    return out;
}

static int mcp_run(struct cli *cli)
{
    struct err err = {0};
    struct worker_database one;
    struct engine_config config;
    struct worker_databases databases;
    struct assay_engine *engine = NULL;
    if (!choose_databases(cli, &one, &databases)) return EXIT_ERROR;
    int out = take_output();
    if (out < 0) return complain_err("standard output", &(struct err){.code = ERR_IO});
    engine_settings(cli, &config);
    engine_settings_polisher(cli, &config);
    config.databases = databases;
    config.executor = EXECUTOR_SELF; /* a child process runs the untrusted statements, as in a worker */
    int code =
        assay_open_config(&config, &engine, &err) ? complain_err(NULL, &err) : serve(cli, engine, &databases, out);
    assay_close(engine);
    close(out);
    return code;
}

const struct command command_mcp = {
    .name = "mcp",
    .guide = "mcp.md",
    .sentence = "let agents judge, explain and repair SQL (Model Context Protocol)",
    .args = "--db-root DIR|--db FILE",
    .description = "Serves the Model Context Protocol over standard input and output, for agents that write SQL. The "
                   "tools are judge_sql, repair_sql, explain_sql, describe_schema and list_databases. Full verdicts "
                   "are resources. A client starts the process. The process exits at the end of its input. Messages "
                   "over 1 MiB are refused. 8 calls run concurrently, and 56 more can wait.\n\n"
                   "The process only reads databases. Every statement runs within the limits, in a separate process. "
                   "--expose and --deny-column limit the data that an agent may see. Standard output carries only the "
                   "protocol. Messages for people go to standard error.\n\n"
                   "`assay serve --db-root DIR` offers the same tools over HTTP, at POST /mcp.",
    .examples = "assay mcp --db-root databases\nassay mcp --db shop.sqlite --expose none",
    .main_flags = "db db-root policy threshold expose deny-column",
    .groups = (const struct option_group *const[]){&options_mcp, &options_judge, &options_verifier, &options_repair,
                                                   &options_encoder, &options_llm, &options_consult, &options_corrector,
                                                   &options_polish, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .min_args = 0,
    .max_args = 0,
    .run = mcp_run,
};
