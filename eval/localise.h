/* Measures whether findings point at the error. Compares the tree of a wrong candidate with that of the gold query. */
#ifndef ASSAY_EVAL_LOCALISE_H
#define ASSAY_EVAL_LOCALISE_H

#include "lib/sql/bind.h"
#include "proto/message/msg.h"

struct localisation {
    bool known;       /* both queries parse and bind, and they differ */
    bool pointed;     /* at least one finding has a clause */
    bool hit;         /* a finding's clause overlaps the difference */
    double by_chance; /* probability that the same number of random clauses of the candidate overlaps the difference */
};

/* Measures one candidate. `catalog` describes its database. Thread: any. */
struct localisation localise(const struct sql_catalog *catalog, const struct msg_judged *candidate, const char *gold);

#endif
