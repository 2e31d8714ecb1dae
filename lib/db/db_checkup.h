/* Checks of the rights of the role that Assay connects as, for `assay doctor`. */
#ifndef ASSAY_LIB_DB_DB_CHECKUP_H
#define ASSAY_LIB_DB_DB_CHECKUP_H

/* DB_TOO_WIDE: the role may do more than read. DB_ADVICE: no risk to Assay, but possibly to others that use the role.
 */
enum db_checkup_weight { DB_TOO_WIDE, DB_ADVICE };

/* A check that db_scan runs. Each row is a finding: its text, and the statement that narrows the right (or NULL). */
struct db_checkup {
    const char *name; /* NULL ends a list */
    enum db_checkup_weight weight;
    const char *why;
    const char *sql;
};

#endif
