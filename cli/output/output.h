/* Verdicts going out: as text for a person, as jsonl, json, csv or SARIF for programs, or as what CI shows. */
#ifndef ASSAY_CLI_OUTPUT_OUTPUT_H
#define ASSAY_CLI_OUTPUT_OUTPUT_H

#include "cli/output/format.h"
#include "cli/output/region.h"
#include "proto/message/msg.h"

struct output;

/* `full`: one verdict with all there is to say; else one of many, a line each in text and csv. Never NULL; the caller
 * owes output_end. Thread: main. */
struct output *output_begin(enum format format, bool full, FILE *stream);

/* Write one verdict. `place` of the request it answers (proto/bus/position.h); 0: none. */
void output_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict);

/* The same of a query that was read from a file: formats that say where something is mean that file. */
void output_verdict_of_file(struct output *output, const struct sql_file *file, const struct msg_verdict *verdict);

/* A file that was not judged, and why. Formats that do not count what is skipped say nothing. */
void output_skipped(struct output *output, const struct sql_file *file, const char *why);

/* Closes lists and documents, and frees. Returns false if a verdict is missing because no memory was left. Failed writes
 * are known to the stream. */
bool output_end(struct output *output);

/* One verdict for a person: status, candidates, suspect clauses marked, report. */
void verdict_print(FILE *stream, const struct msg_verdict *verdict);

/* A repair: both queries, the steps from one to the other, why, and both P. */
void repair_print(FILE *stream, const struct msg_repaired *repair);

/* Does it say that the query holds? Of a file that is its own query, and not a repair of it. `file` may be NULL. */
bool verdict_holds(const struct msg_verdict *verdict, const struct sql_file *file);

/* Why it does not, or what it is, in a line. g_free */
char *verdict_sentence(const struct msg_verdict *verdict);

/* A finding's name, and the finding as compilers say it: "q1.sql:3:8: error: no such column: nme [invalid_sql]"; without
 * a file "candidate 1:3:8: ...". g_free the line. */
const char *finding_name(const struct msg_finding *finding);
char *finding_line(const struct sql_file *file, uint32_t candidate, const struct msg_judged *judged,
                   const struct msg_finding *finding);

/* SARIF 2.1.0, piece by piece: the log so far need not be in memory. `file` may be NULL. */
void sarif_begin(FILE *stream);
void sarif_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file, bool *first);
void sarif_end(FILE *stream);

/* JUnit XML, kept until its end. `file` may be NULL but of what is skipped. */
struct junit *junit_begin(void);
void junit_verdict(struct junit *junit, const struct msg_verdict *verdict, const struct sql_file *file);
void junit_skipped(struct junit *junit, const struct sql_file *file, const char *why);
void junit_end(struct junit *junit, FILE *stream); /* frees it */

/* Workflow commands of GitHub Actions. Likewise. */
void github_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file);
void github_skipped(FILE *stream, const struct sql_file *file, const char *why);

#endif
