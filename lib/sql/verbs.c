/* The first words of statements that are not queries. The parser refuses such statements by name. */
#include "lib/sql/parser.h"

static const char *const VERBS[] = {
    "ABORT",    "ALTER",   "ANALYZE", "ATTACH",  "BEGIN",      "CALL",     "CHECKPOINT", "CLOSE",    "CLUSTER",
    "COMMENT",  "COMMIT",  "COPY",    "CREATE",  "DEALLOCATE", "DECLARE",  "DELETE",     "DESC",     "DESCRIBE",
    "DETACH",   "DISCARD", "DO",      "DROP",    "END",        "EXECUTE",  "EXPLAIN",    "FETCH",    "GRANT",
    "IMPORT",   "INSERT",  "LISTEN",  "LOAD",    "LOCK",       "MERGE",    "MOVE",       "NOTIFY",   "PRAGMA",
    "PREPARE",  "REFRESH", "REINDEX", "RELEASE", "REPLACE",    "RESET",    "REVOKE",     "ROLLBACK", "SAVEPOINT",
    "SECURITY", "SET",     "SHOW",    "START",   "TRUNCATE",   "UNLISTEN", "UPDATE",     "USE",      "VACUUM"};

const char *sql_refused_verb(const struct sql_parser *p, struct sql_token word)
{
    char first = (char)(p->text[word.start] & ~32); /* upper case, if it is a letter */
    for (unsigned i = 0; i < sizeof VERBS / sizeof *VERBS; i++)
        if (VERBS[i][0] == first && sql_token_is(p, word, VERBS[i])) return VERBS[i];
    return NULL;
}
