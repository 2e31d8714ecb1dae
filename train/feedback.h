/* Reads people's feedback on verdicts from JSON lines, and matches it to requests.
 *
 * DESIGN. Files hold records of three kinds in any order: requests, verdicts and feedback. A line has the form of a
 * record in the topic (`kcat -C`). Feedback may also be read from its topic directly. Feedback is read first and stored
 * by request. A second pass runs only if a record refers to a verdict's answer without giving its SQL. It reads the
 * verdicts and stores the SQL of these answers. Requests are read last, one at a time. Memory is therefore bounded by
 * the feedback, not by the size of the topics. Files are read up to three times, so "-" (standard input) is not
 * allowed. Rejected: fitting on verdicts alone. It needs no database. But verdicts lack question, votes and generators,
 * and have numbers for the verifier only with `explain: full`.
 *
 * A verdict whose answer the user chose among readings counts as a record that marks this answer right.
 *
 * A record that marks a candidate right makes its SQL the gold query of the request. One that marks it wrong applies to
 * all candidates with its result, and to no others. Of several records about one query, the last counts. Of several
 * queries marked right, the one marked last counts.
 *
 * Thread: main. */
#ifndef ASSAY_TRAIN_FEEDBACK_H
#define ASSAY_TRAIN_FEEDBACK_H

#include "proto/bus/source.h"
#include "proto/message/msg.h"

#include <jansson.h>

enum { FEEDBACK_VERSION = 1 };

/* True if the text contains the key of the feedback version. Such a text counts as a feedback record, even if it is
 * malformed. */
bool feedback_is_meant(const char *text, size_t len);

/* True if the text looks like a verdict. Files may also hold verdicts. */
bool feedback_is_verdict(const char *text, size_t len);

/* One record. Its texts belong to the JSON that it was read from. */
struct feedback_record {
    const char *id;
    const char *sql;       /* NULL if not given */
    int64_t candidate;     /* -1 if not given; without `sql` too, the verdict's answer is meant */
    const char *generator; /* NULL if not given */
    bool right;
};

/* Parses a record. Returns ERR_VERSION for a later version, ERR_MALFORMED or ERR_LIMIT_BYTES, with `err` set. */
enum err_code feedback_parse(const json_t *json, struct feedback_record *out, struct err *err);

struct feedback_counts {
    uint64_t records;    /* usable records */
    uint64_t bad;        /* skipped records */
    uint64_t requests;   /* requests with feedback so far */
    uint64_t unresolved; /* records about a candidate that the request lacks, or about an answer that no verdict has */
    uint64_t repeated;   /* requests whose id appeared before: they receive no feedback */
    uint64_t overruled;  /* requests with a gold query, or without a question: their feedback is unused */
};

struct feedback;

/* Reads these files, and then a range of the feedback topic to its end. `topic` may be NULL; source_open_topic opens
 * it, and every record in it should be feedback. Unusable records are counted and skipped; `skipped` is called for the
 * first twenty. Returns ERR_IO if a file cannot be read, or source_advance's errors. On success, free with
 * feedback_free. */
enum err_code feedback_read(const char *const *paths, int n, struct source *topic, input_skipped skipped,
                            struct feedback **out, struct err *err);
void feedback_free(struct feedback *feedback); /* NULL is fine */

/* The queries that feedback on one request marks as right or wrong. The texts belong to the feedback and the request;
 * the caller frees only the array `wrong`, with g_free. */
struct feedback_labels {
    const char *right; /* NULL if no candidate was marked right */
    const char **wrong;
    uint32_t n_wrong;
    const char *generator; /* generator that the records name; may be NULL */
};

/* Finds the feedback on a request. Returns false if there is none. Call it once for each request. */
bool feedback_labels(struct feedback *feedback, const struct msg_request *request, struct feedback_labels *out);

/* Skips a request that cannot use feedback, and counts it as overruled if it has feedback. Call it once for each
 * request, instead of feedback_labels. */
void feedback_pass_by(struct feedback *feedback, const struct msg_request *request);

/* Returns the counts. `left` is the number of request ids with feedback for which no request was seen. */
struct feedback_counts feedback_counts(const struct feedback *feedback, uint64_t *left);

#endif
