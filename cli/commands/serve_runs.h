/* The runs of assay serve --runs: files of verdicts in one folder, over HTTP.
 *
 *   GET  /v1/runs                       the files
 *   POST /v1/runs?name=NAME             verdicts, a line each, at most RUNS_DROP_BYTES; what run_index_report says of them, and
 *                                       nothing of them stays
 *   GET  /v1/runs/NAME                  the summary; 202 as long as its index is made, which the first who asks begins
 *   GET  /v1/runs/NAME/verdicts?...     filtered, a page at a time
 *   GET  /v1/runs/NAME/verdicts/N       the n-th verdict
 *   GET  /v1/runs/A/diff/B              as assay diff --format json; the first RUNS_CHANGES changes
 *
 * A name is that of a regular file in the folder itself, so no path leads out of it. Runs hold verdicts of whoever asked, so where
 * callers have tokens nobody sees them. docs/runs.md has the parameters.
 *
 * One thread makes indexes, one after the other. A run that is open is asked by one caller at a time. */
#ifndef ASSAY_CLI_COMMANDS_SERVE_RUNS_H
#define ASSAY_CLI_COMMANDS_SERVE_RUNS_H

#include "server/http_route.h"

enum {
    RUNS_DROP_BYTES = 32 << 20,
    RUNS_FILES = 1000,      /* that are listed, and known at a time */
    RUNS_OPEN = 16,         /* indexes open at a time */
    RUNS_QUIET_MS = 2000,   /* a file that has changed since is still written */
    RUNS_COMPARED = 200000, /* verdicts of a side */
    RUNS_CHANGES = 1000     /* that are listed */
};

struct serve_runs;

/* ERR_CONFIG: `dir` is no folder that can be read. The caller owes serve_runs_close. */
enum err_code serve_runs_open(const char *dir, struct serve_runs **out, struct err *err);
/* After the last row was answered; an index that is being made is given up. NULL is fine. */
void serve_runs_close(struct serve_runs *runs);

/* Append its rows. */
void serve_runs_routes(struct serve_runs *runs, GArray *routes);

#endif
