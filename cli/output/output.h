/* Writes verdicts: as text for people, as jsonl, json, csv or SARIF for programs, or in the formats of CI systems. */
#ifndef ASSAY_CLI_OUTPUT_OUTPUT_H
#define ASSAY_CLI_OUTPUT_OUTPUT_H

#include "cli/output/format.h"
#include "cli/output/region.h"
#include "proto/message/msg.h"

struct output;

/* Begins the output. With `full`, expects one verdict and writes all details. Otherwise writes many verdicts, with one
 * line each in text and csv. Never returns NULL. Free with output_end. Thread: main. */
struct output *output_begin(enum format format, bool full, FILE *stream);

/* Writes one verdict. `place` is the position of its request (proto/bus/position.h), or 0 if it has none. */
void output_verdict(struct output *output, uint64_t place, const struct msg_verdict *verdict);

/* Writes the verdict of a query that was read from a file. Formats with locations refer to that file. */
void output_verdict_of_file(struct output *output, const struct sql_file *file, const struct msg_verdict *verdict);

/* Writes a file that was not judged, and the reason. Formats that do not count skipped files write nothing. */
void output_skipped(struct output *output, const struct sql_file *file, const char *why);

/* Ends the lists and documents of the format, and frees `output`. Returns false if a verdict is missing because memory
 * was exhausted. The error flag of the stream tells whether a write failed. */
bool output_end(struct output *output);

/* Prints one verdict for people: the status, the candidates with marked suspect clauses, and the report. */
void verdict_print(FILE *stream, const struct msg_verdict *verdict);

/* Prints a repair: both queries, the steps between them, the reason, and both P(correct). */
void repair_print(FILE *stream, const struct msg_repaired *repair);

/* True if the verdict validates the query. With `file`, a validated repair does not count, because the file has the old
 * query. `file` may be NULL. */
bool verdict_holds(const struct msg_verdict *verdict, const struct sql_file *file);

/* Returns a one-line summary of the verdict, with the reason if it does not validate. Free with g_free. */
char *verdict_sentence(const struct msg_verdict *verdict);

/* finding_name returns a finding's name. finding_line returns the finding in compiler style: "q1.sql:3:8: error: no
 * such column: nme [invalid_sql]", or without a file "candidate 1:3:8: ...". Free the line with g_free. */
const char *finding_name(const struct msg_finding *finding);
char *finding_line(const struct sql_file *file, uint32_t candidate, const struct msg_judged *judged,
                   const struct msg_finding *finding);

/* Write SARIF 2.1.0 incrementally, so that earlier parts need not stay in memory. `file` may be NULL. */
void sarif_begin(FILE *stream);
void sarif_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file, bool *first);
void sarif_end(FILE *stream);

/* Write JUnit XML. It is buffered until junit_end. `file` may be NULL, except for junit_skipped. */
struct junit *junit_begin(void);
void junit_verdict(struct junit *junit, const struct msg_verdict *verdict, const struct sql_file *file);
void junit_skipped(struct junit *junit, const struct sql_file *file, const char *why);
void junit_end(struct junit *junit, FILE *stream); /* writes and frees it */

/* Write workflow commands of GitHub Actions. `file` may be NULL, except for github_skipped. */
void github_verdict(FILE *stream, const struct msg_verdict *verdict, const struct sql_file *file);
void github_skipped(FILE *stream, const struct sql_file *file, const char *why);

#endif
