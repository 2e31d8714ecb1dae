/* Judges logs that contain gold queries or lines of feedback, and passes each verdict to a callback with its labels. */
#ifndef ASSAY_CLI_REPLAY_LABELLED_H
#define ASSAY_CLI_REPLAY_LABELLED_H

#include "cli/settings/engine_settings.h"
#include "eval/label.h"

struct labelled {
    const struct msg_verdict *verdict;
    const char *question;
    /* generator that the request or its feedback names; "" if none is named, "*" for several */
    const char *generator;
    const struct labels *labels; /* labels of the candidates and the repair; NULL if the right query is unknown */
    const char *const *wrong;    /* SQL that people marked as wrong, NULL-terminated; NULL if there is none */
    /* schema index of its database; NULL if none was requested or it cannot be built */
    const struct schema_index *schema;
};

struct labelled_run {
    struct cli *cli; /* its arguments from index `first` on are the logs */
    int first;
    struct engine_config config;
    struct schema_cache *schemas; /* source of schema indexes; NULL if none are requested */
    void (*each)(void *ctx, const struct labelled *one);
    void *ctx;
    /* set if a database could not be opened, which was reported; the exit status is then EXIT_JUDGED */
    bool unreached;
    uint64_t skipped; /* unreadable lines, and requests whose gold query fails */
};

/* Judges all labelled requests, in order. Reports broken lines on standard error. Thread: main. */
enum err_code labelled_run(struct labelled_run *run, struct err *err);

#endif
