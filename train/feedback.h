/* What people said of verdicts, read from JSON lines, and put to the requests that it is about.
 *
 * DESIGN. Files hold records of three kinds in any order: requests, verdicts and feedback, as they lie in their topics
 * (`kcat -C` writes them so). Feedback may also come from its topic itself. It is read first and kept by request; of
 * verdicts, in a second pass and only where some record speaks of "the answer" without saying which, the SQL of that
 * answer. Requests stream past afterwards. So memory is that of the feedback, whatever the topics hold, and files are
 * read up to three times: "-" cannot be, and is left out here. Rejected: fitting on verdicts alone, which need no
 * database, but hold neither question, votes nor generators, and numbers for the verifier only under `explain: full`.
 *
 * A verdict whose answer the person who asked chose among readings counts as such a record too: that answer is right.
 *
 * A record that calls a candidate right makes its SQL the gold query of the request. One that calls it wrong says so of
 * all candidates with its result, and nothing of the others. The last record about a piece of SQL counts, and of
 * several right ones the last.
 *
 * Thread: main.
 */
#ifndef ASSAY_TRAIN_FEEDBACK_H
#define ASSAY_TRAIN_FEEDBACK_H

#include "proto/bus/source.h"
#include "proto/message/msg.h"

#include <jansson.h>

enum { FEEDBACK_VERSION = 1 };

/* Does the text name the key of feedback's version? Then it is meant as a record, even if it is a broken one. */
bool feedback_is_meant(const char *text, size_t len);

/* Does it look like a verdict, which files may hold too? */
bool feedback_is_verdict(const char *text, size_t len);

/* One record; texts belong to the JSON it was read from. */
struct feedback_record {
    const char *id;
    const char *sql;       /* NULL: not said */
    int64_t candidate;     /* -1: not said; without both it is about the verdict's answer */
    const char *generator; /* NULL: not said */
    bool right;
};

/* Take a record apart. ERR_VERSION: of a later version; ERR_MALFORMED, ERR_LIMIT_BYTES, with `err` set. */
enum err_code feedback_parse(const json_t *json, struct feedback_record *out, struct err *err);

struct feedback_counts {
    uint64_t records;    /* good ones */
    uint64_t bad;        /* skipped */
    uint64_t requests;   /* that got some, so far */
    uint64_t unresolved; /* records about a candidate that the request has not, or an answer that no verdict names */
    uint64_t repeated;   /* requests whose id had been there before: they get none */
    uint64_t overruled;  /* requests with gold of their own, or without a question: what was said of them goes unused */
};

struct feedback;

/* Read what these files hold, and then, to its end, a range of the topic of feedback (NULL: none; opened by
 * source_open_topic), of which every record should be feedback. One that cannot be used is counted and skipped;
 * `skipped` is told of the first twenty. ERR_IO when a file cannot be read; source_advance's for the topic. On success
 * the caller owes feedback_free. */
enum err_code feedback_read(const char *const *paths, int n, struct source *topic, input_skipped skipped,
                            struct feedback **out, struct err *err);
void feedback_free(struct feedback *feedback); /* NULL is fine */

/* What is known of one request: SQL. Points into the feedback and the request; `wrong` is the caller's to g_free. */
struct feedback_labels {
    const char *right; /* NULL: nothing was called right */
    const char **wrong;
    uint32_t n_wrong;
    const char *generator; /* that the records name; NULL */
};

/* False: nothing is. To be asked once a request. */
bool feedback_labels(struct feedback *feedback, const struct msg_request *request, struct feedback_labels *out);

/* Pass a request by that has no use for feedback: it is there, and counts as overruled if something was said of it. To
 * be asked once a request, in place of feedback_labels. */
void feedback_pass_by(struct feedback *feedback, const struct msg_request *request);

/* How it went. `left`: requests with feedback that were never asked for. */
struct feedback_counts feedback_counts(const struct feedback *feedback, uint64_t *left);

#endif
