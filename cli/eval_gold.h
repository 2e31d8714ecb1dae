/* How often signals fire on queries that are known to be right: false alarms, counted. */
#ifndef ASSAY_CLI_EVAL_GOLD_H
#define ASSAY_CLI_EVAL_GOLD_H

#include "cli/format.h"
#include "proto/message/msg.h"

struct eval_gold;

struct eval_gold *eval_gold_new(void);
void eval_gold_free(struct eval_gold *golds);

/* Count a verdict whose first candidate is the gold query. */
void eval_gold_add(struct eval_gold *golds, const struct msg_verdict *verdict);

void eval_gold_write(const struct eval_gold *golds, enum format format, FILE *stream);

#endif
