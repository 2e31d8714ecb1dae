/* What an engine can be asked about the rights of the role that Assay connects as, for `assay doctor`. */
#ifndef ASSAY_LIB_DB_DB_CHECKUP_H
#define ASSAY_LIB_DB_DB_CHECKUP_H

/* too wide: the role may do more than read. advice: Assay holds without it, others that reach the role may not. */
enum db_checkup_weight { DB_TOO_WIDE, DB_ADVICE };

/* A question to the database, for db_scan; each row is a finding: what, and the statement that narrows it (or NULL). */
struct db_checkup {
    const char *name; /* NULL ends a list */
    enum db_checkup_weight weight;
    const char *why;
    const char *sql;
};

#endif
