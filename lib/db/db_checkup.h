/* Checks of the rights of the database role that Assay uses, for `assay doctor`. */
#ifndef ASSAY_LIB_DB_DB_CHECKUP_H
#define ASSAY_LIB_DB_DB_CHECKUP_H

/* DB_TOO_WIDE: the role may do more than read. DB_ADVICE: the finding is no risk to Assay, but may be one to other
 * users of the role. */
enum db_checkup_weight { DB_TOO_WIDE, DB_ADVICE };

/* A check, as a statement for db_scan. Each row of its result is a finding: the text of the finding, and a statement
 * that revokes the right, or NULL. */
struct db_checkup {
    const char *name; /* name of the check; NULL ends a list */
    enum db_checkup_weight weight;
    const char *why;
    const char *sql;
};

#endif
