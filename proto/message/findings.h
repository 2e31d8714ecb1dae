/* The `invalid_sql` finding: SQL that does not parse, names what does not exist, is refused, or that the engine fails.
 * Outside the vector of signals (SQLens validates only what executes). */
#ifndef ASSAY_PROTO_MESSAGE_FINDINGS_H
#define ASSAY_PROTO_MESSAGE_FINDINGS_H

#include "lib/sql/bind.h"
#include "proto/message/msg.h"

#define FINDINGS_INVALID_SQL "invalid_sql"

/* From what our parser says: span, expected tokens or near names. `stmt` may be NULL. NULL when the arena is full. */
struct msg_finding *findings_from_parser(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag);

/* From what the engine says, which is the authority: its message and the byte it points at (-1: none). A diagnostic of
 * ours (first of `diags`, may be NULL) that stands at the same token adds near names and the better sentence. */
struct msg_finding *findings_from_engine(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diags,
                                         const char *message, int offset);

#endif
