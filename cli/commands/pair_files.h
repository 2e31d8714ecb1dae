/* Reads pairs of a question and a query from files. A file holds a query, preceded by comment lines with its question.
 *
 *     -- question: How many customers are there in France?
 *     -- db: shop
 *     -- evidence: country is in English
 *     SELECT count(*) FROM customer WHERE country = 'France'
 *
 * If a key is repeated, its value continues the earlier one. Other comment lines are ignored. Files and folders are
 * untrusted: links are not followed, and the number and size of files and the depth of folders are bounded.
 */
#ifndef ASSAY_CLI_COMMANDS_PAIR_FILES_H
#define ASSAY_CLI_COMMANDS_PAIR_FILES_H

#include "cli/output/region.h"

#include <glib.h>

enum {
    PAIRS_MAX_FILES = 10000,
    PAIRS_MAX_BYTES = 64 << 20, /* total size of the files */
    PAIRS_MAX_DEPTH = 32        /* nesting of folders */
};

struct pair {
    struct sql_file file;
    const char *folder;                   /* name of the folder that contains it */
    const char *question, *evidence, *db; /* NULL if the file does not contain the key */
    struct msg_text sql;
    enum err_code code; /* ERR_OK, or the reason why the pair cannot be judged; `why` has the reason in words */
    const char *why;    /* reason in words. With ERR_OK, a reason means that the file holds no pair and is skipped */
    char *text;
};

/* Reads the pairs of files and folders, in order of their names. A file given as a path may have any name. In folders,
 * only *.sql files count, and names with a leading dot are skipped. Free *out, an array of struct pair *, with
 * pairs_free in any case. Errors: ERR_IO (unreadable or missing), ERR_LIMIT_COUNT, ERR_LIMIT_BYTES, ERR_LIMIT_DEPTH.
 * Thread: main. */
enum err_code pairs_read(const char *const *paths, int n, GPtrArray **out, struct err *err);
void pairs_free(GPtrArray *pairs);

#endif
