/* Defines an open index. Only for the files of eval/runs. */
#ifndef ASSAY_EVAL_RUNS_RUN_INDEX_INT_H
#define ASSAY_EVAL_RUNS_RUN_INDEX_INT_H

#include "eval/runs/run_index.h"
#include "lib/base/input.h"

#include <glib.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum { RUN_APPLICATION_ID = 0x41535256 /* "ASRV" */ };

/* Kinds of rows of the table `name`. */
enum run_name { RUN_DATABASE, RUN_REASON, RUN_SIGNAL, RUN_NAME_KINDS };

struct run_index {
    char *path;
    sqlite3 *db;
    struct stat file, index; /* state of the two files when the index was opened */
    struct lines lines;      /* lines of the verdict file */
    uint64_t verdicts;
    json_t *summary;
    char *signals[RUN_SIGNALS];
};

/* Returns "PATH.index". Free with g_free. */
char *run_index_path(const char *path);
/* Returns the identity of a file: size, time of change, digest of head and tail. Free with g_free. Returns NULL with
 * `err` set (ERR_IO). */
char *run_identity(const char *path, struct err *err);
/* Sets `err` to SQLite's error for an index. */
enum err_code run_sqlite_failed(sqlite3 *db, const char *path, struct err *err);

/* --- the summary, counted verdict by verdict (run_summary.c) --- */

/* The columns of a verdict's row. Texts are borrowed. */
struct run_row {
    const char *id, *db, *reason, *question;
    int status;
    double p, threshold, ms; /* NAN if there is none */
    int chosen;              /* index of the answer's candidate; -1 if there is none */
    uint32_t candidates, iterations;
    uint64_t fired, missing; /* bits of signals of the answer, or of the first candidate if there is no answer */
    int right;               /* label of the answer; -1 if unknown */
    bool answered, has_gold;
    uint64_t start;
    uint32_t length;
};

struct run_tally;
struct run_tally *run_tally_new(void);
void run_tally_free(struct run_tally *tally);
void run_tally_add(struct run_tally *tally, const struct run_row *row, uint32_t db);

/* Results of the pass over the file that are not in the rows. */
struct run_pass {
    uint64_t verdicts, broken, too_long, bytes, gold_failed;
    bool labelled, questions;
    const char *const *signals; /* names by bit */
    const char *const *databases;
    uint32_t n_signals, n_databases;
    sqlite3 *db; /* holds all rows */
};
/* Returns the summary. Release with json_decref. */
json_t *run_tally_summary(struct run_tally *tally, const struct run_pass *pass);

#endif
