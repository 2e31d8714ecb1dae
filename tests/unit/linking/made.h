/* Constructs recordings of a schema linker whose behaviour is known. The amount of information in its hidden states is
 * also known. */
#ifndef ASSAY_TESTS_UNIT_LINKING_MADE_H
#define ASSAY_TESTS_UNIT_LINKING_MADE_H

#include <glib.h>
#include <stdint.h>

struct made {
    uint32_t questions;
    uint32_t layers, hidden;
    double wrong; /* share of the tokens that branch */
    double plain; /* distance between the hidden states of branching points and of others; 0 gives no information */
    uint64_t seed;
    const char *stage; /* NULL: a generation of the tables, then one of the columns, for each question */
};

/* Writes NAME.jsonl and NAME.safetensors. */
void made_write(const char *name, const struct made *made);
void made_remove(const char *name);

/* Returns the first generation as a message (trace_message_read). Free with g_bytes_unref. */
GBytes *made_message(const struct made *made);

/* Writes a file of predictors trained on such generations of tables only. */
void made_predictor(const char *path, const struct made *made);

#endif
