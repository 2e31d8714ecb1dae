/* From settings to a running engine: what check, replay, eval and train have in common. */
#ifndef ASSAY_CLI_JUDGE_H
#define ASSAY_CLI_JUDGE_H

#include "cli/cli.h"
#include "cli/engine.h"

/* The engine's configuration as the settings ask for it. Points into `cli`, which must outlive the engine. */
void judge_config(const struct cli *cli, struct engine_config *out);

/* Indexes for whoever reads them beside the engine (eval, train, mutate): each built as its entry of the catalogue
 * allows and as a worker's would be, none with values of what --deny-column names. NULL with `err` set. Lists live as
 * long as `cli`; the caller owes schema_cache_free. */
struct schema_cache *judge_schemas(struct cli *cli, const struct engine_config *config, struct err *err);

/* The index options for one database, as catalogue_pick found it. */
struct schema_options judge_schema_options(const struct cli *cli, const struct worker_database *database);

/* The fleet's index cache as the settings ask for it; no address: none. For whoever runs workers. */
struct cache_config judge_cache_config(const struct settings *settings);

/* One line on standard error: what the fleet's index cache did. Nothing without one, or with --quiet. */
void judge_report_cache(const struct cli *cli, struct engine *engine);

/* One request by an engine of its own; the caller owes msg_verdict_free. */
enum err_code judge_request(const struct engine_config *config, const struct msg_request *request,
                            struct msg_verdict **out, struct err *err);

/* Run a whole log through an engine: requests come from `next`, verdicts go to `each` in order of completion or, with
 * `in_order`, of the requests, whose tags must differ and not be 0.
 *
 * next: the next request, in the arena (which is emptied before the call): 1; 0 at the end; JUDGE_LATER: none yet, ask
 * again, which it does at once, so that `next` itself waits for some milliseconds; below 0: stop now, the
 * verdicts that are still out are not waited for. each: takes the verdict over (msg_verdict_free); false: stop now.
 * `wait` (may be NULL) is asked before each submit: true says that the caller holds enough verdicts and wants none but
 * the next ones. `tick` (may be NULL) is called at least ten times a second.
 */
enum { JUDGE_LATER = 2 };

struct judge_loop {
    int (*next)(void *ctx, struct arena *arena, struct msg_request **out);
    bool (*each)(void *ctx, struct msg_verdict *verdict);
    bool (*wait)(void *ctx);
    void (*tick)(void *ctx);
    void *ctx;
    bool in_order;
};

/* ERR_OK when everything was handed out or a callback stopped it. Thread: main; all callbacks run on it. */
enum err_code judge_run(struct engine *engine, const struct judge_loop *loop, struct err *err);

/* --db-root and the catalogue as the engine wants them, before judge_config. Complains and returns false when there is
 * neither, a root that is no folder, or a password that cannot be read. */
bool judge_has_databases(struct cli *cli);

#endif
