/* Measures whether findings point at the error of a wrong candidate. Compares the trees of the candidate and of the
 * gold query. */
#ifndef ASSAY_EVAL_LOCALISE_H
#define ASSAY_EVAL_LOCALISE_H

#include "lib/sql/bind.h"
#include "proto/message/msg.h"

struct localisation {
    bool known;       /* both parse and bind, and they differ */
    bool pointed;     /* at least one finding has a clause */
    bool hit;         /* a finding's clause overlaps the difference */
    double by_chance; /* probability that as many clauses of the candidate, taken at random, would */
};

/* Thread: any. `catalog` is that of the candidate's database. */
struct localisation localise(const struct sql_catalog *catalog, const struct msg_judged *candidate, const char *gold);

#endif
