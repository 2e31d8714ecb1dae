/* Question/SQL pairs in files: a file is a query, and the comment lines that it begins with say what it should answer.
 *
 *   -- question: How many customers are there in France?
 *   -- db: shop
 *   -- evidence: country is in English
 *   SELECT count(*) FROM customer WHERE country = 'France'
 *
 * A key that comes again goes on where the last one ended. Other comment lines may stand between them. Files and folders
 * are those of strangers: links are not followed, and files, their bytes and the depth of folders are bounded.
 */
#ifndef ASSAY_CLI_COMMANDS_PAIR_FILES_H
#define ASSAY_CLI_COMMANDS_PAIR_FILES_H

#include "cli/output/region.h"

#include <glib.h>

enum {
    PAIRS_MAX_FILES = 10000,
    PAIRS_MAX_BYTES = 64 << 20, /* of all of them */
    PAIRS_MAX_DEPTH = 32        /* folders in one another */
};

struct pair {
    struct sql_file file;
    const char *folder;                   /* the name of the folder that it lies in */
    const char *question, *evidence, *db; /* NULL: the file does not say */
    struct msg_text sql;
    enum err_code code; /* ERR_OK, or why it cannot be judged; with `why` in words */
    const char *why;    /* it is not judged; with ERR_OK: it holds no pair */
    char *text;
};

/* Read the pairs of files, whatever they are called, and of folders, whose *.sql count, in order of their names; what
 * begins with a dot does not count. ERR_IO: one cannot be read or is not there. ERR_LIMIT_COUNT, ERR_LIMIT_BYTES,
 * ERR_LIMIT_DEPTH. The caller owes pairs_free of *out, an array of struct pair *, in any case. Thread: main. */
enum err_code pairs_read(const char *const *paths, int n, GPtrArray **out, struct err *err);
void pairs_free(GPtrArray *pairs);

#endif
