/* Constructed recordings of a schema linker. Its behaviour is known, and so is the information in its hidden states. */
#ifndef ASSAY_TESTS_UNIT_LINKING_MADE_H
#define ASSAY_TESTS_UNIT_LINKING_MADE_H

#include <glib.h>
#include <stdint.h>

struct made {
    uint32_t questions;
    uint32_t layers, hidden;
    double wrong; /* share of the tokens that branch */
    double plain; /* distance of the hidden states of branching points from the others; 0 carries no information */
    uint64_t seed;
    const char *stage; /* NULL: both, the tables of a question and then its columns */
};

/* Writes NAME.jsonl and NAME.safetensors. */
void made_write(const char *name, const struct made *made);
void made_remove(const char *name);

/* Returns the first generation as a message (trace_message_read). Free with g_bytes_unref. */
GBytes *made_message(const struct made *made);

/* Writes a file of predictors trained on such generations of tables only. */
void made_predictor(const char *path, const struct made *made);

#endif
