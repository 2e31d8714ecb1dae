/* The `invalid_sql` finding: SQL that does not parse, uses unknown names, is refused, or fails in the engine. It is not
 * part of the signal vector, because SQLens validates only executable queries. */
#ifndef ASSAY_PROTO_MESSAGE_FINDINGS_H
#define ASSAY_PROTO_MESSAGE_FINDINGS_H

#include "lib/sql/bind.h"
#include "proto/message/msg.h"

#define FINDINGS_INVALID_SQL "invalid_sql"

/* Builds the finding from a parser diagnostic: span, expected tokens or near names. `stmt` may be NULL. Returns NULL if
 * the arena is full. */
struct msg_finding *findings_from_parser(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag);

/* Builds the finding from the engine's error, which takes precedence over parser diagnostics. `message` is the error,
 * and `offset` its byte offset (-1 if unknown). `diags` is the first diagnostic of our parser and may be NULL. A
 * diagnostic at the same token adds near names and a better sentence. */
struct msg_finding *findings_from_engine(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diags,
                                         const char *message, int offset);

#endif
