/* Serves the runs of assay serve --runs over HTTP: files of verdicts in one folder.
 *
 *     GET  /v1/runs                       the files
 *     POST /v1/runs?name=NAME             verdicts in lines, at most RUNS_DROP_BYTES; replies with run_index_report
 *                                         and stores nothing
 *     GET  /v1/runs/NAME                  the summary; 202 while its index is built, which the first request starts
 *     GET  /v1/runs/NAME/verdicts?...     filtered, one page at a time
 *     GET  /v1/runs/NAME/verdicts/N       the n-th verdict
 *     GET  /v1/runs/A/diff/B              as assay diff --format json; the first RUNS_CHANGES changes
 *
 * NAME is the name of a regular file directly in the folder, so no name can refer to a file elsewhere. Runs hold
 * verdicts of all callers, so no runs are served if callers have tokens. docs/runs.md has the parameters.
 *
 * One thread builds the indexes, one after the other. An open run serves one caller at a time.
 */
#ifndef ASSAY_CLI_COMMANDS_SERVE_RUNS_H
#define ASSAY_CLI_COMMANDS_SERVE_RUNS_H

#include "server/http_route.h"

enum {
    RUNS_DROP_BYTES = 32 << 20,
    RUNS_FILES = 1000,      /* maximum number of listed files, and of entries in the table of runs */
    RUNS_OPEN = 16,         /* maximum number of indexes open at a time */
    RUNS_QUIET_MS = 2000,   /* a file that changed within this time counts as still being written */
    RUNS_COMPARED = 200000, /* maximum number of verdicts of each side in a comparison */
    RUNS_CHANGES = 1000     /* maximum number of listed changes */
};

struct serve_runs;

/* Opens the runs of a folder. Close with serve_runs_close. Returns ERR_CONFIG if `dir` is not a readable folder. */
enum err_code serve_runs_open(const char *dir, struct serve_runs **out, struct err *err);
/* Closes the runs, and cancels an index that is being built. Call it after the last request was answered. `runs` may be
 * NULL. */
void serve_runs_close(struct serve_runs *runs);

/* Appends the routes. */
void serve_runs_routes(struct serve_runs *runs, GArray *routes);

#endif
