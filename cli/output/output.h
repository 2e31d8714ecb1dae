/* Verdicts going out: as text for a person, or as jsonl, json, csv or SARIF for programs. */
#ifndef ASSAY_CLI_OUTPUT_OUTPUT_H
#define ASSAY_CLI_OUTPUT_OUTPUT_H

#include "cli/output/format.h"
#include "proto/message/msg.h"

struct output;

/* `full`: one verdict with all there is to say; else one of many, a line each in text and csv. Never NULL; the caller
 * owes output_end. Thread: main. */
struct output *output_begin(enum format format, bool full, FILE *stream);

/* Write one verdict. `place` of the request it answers (proto/bus/position.h); 0: none. */
void output_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict);

/* Close lists and documents, flush, free. False when the stream failed (errno). */
bool output_end(struct output *output);

/* One verdict for a person: status, candidates, suspect clauses marked, report. */
void verdict_print(FILE *stream, const struct msg_verdict *verdict);

/* A repair: both queries, the steps from one to the other, why, and both P. */
void repair_print(FILE *stream, const struct msg_repaired *repair);

/* SARIF 2.1.0, piece by piece: the log so far need not be in memory. */
void sarif_begin(FILE *stream);
void sarif_verdict(FILE *stream, const struct msg_verdict *verdict, bool *first);
void sarif_end(FILE *stream);

#endif
