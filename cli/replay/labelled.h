/* Logs with gold queries, or with feedback among their lines, judged: each verdict with what is known to be right. */
#ifndef ASSAY_CLI_REPLAY_LABELLED_H
#define ASSAY_CLI_REPLAY_LABELLED_H

#include "cli/settings/engine_settings.h"
#include "eval/label.h"

struct labelled {
    const struct msg_verdict *verdict;
    const char *question;
    const char *generator;             /* of the request or its feedback; "" none, "*" several */
    const struct labels *labels;       /* of the candidates and the repair; NULL: the right query is not known */
    const char *const *wrong;          /* SQL that people called wrong, NULL-terminated; NULL: none */
    const struct schema_index *schema; /* of its database; NULL: none was asked for, or it cannot be built */
};

struct labelled_run {
    struct cli *cli; /* its arguments from the `first` on are the logs */
    int first;
    struct engine_config config;
    struct schema_cache *schemas; /* where schema indexes come from; NULL: none are asked for */
    void (*each)(void *ctx, const struct labelled *one);
    void *ctx;
    bool unreached;   /* a database could not be opened, which is complained of: the exit status is EXIT_JUDGED */
    uint64_t skipped; /* lines that cannot be read, and requests whose gold query fails */
};

/* Judge all of them that something is known of, in order. Broken lines are told on standard error. Thread: main. */
enum err_code labelled_run(struct labelled_run *run, struct err *err);

#endif
