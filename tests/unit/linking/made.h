/* Recordings of a linker that was never there: what it does and what its hidden states show is known. */
#ifndef ASSAY_TESTS_UNIT_LINKING_MADE_H
#define ASSAY_TESTS_UNIT_LINKING_MADE_H

#include <glib.h>
#include <stdint.h>

struct made {
    uint32_t questions;
    uint32_t layers, hidden;
    double wrong; /* share of the tokens that branch */
    double plain; /* how far hidden states of branching points stand off; 0: they show nothing */
    uint64_t seed;
    const char *stage; /* NULL: both, the tables of a question and then its columns */
};

/* Writes NAME.jsonl and NAME.safetensors. */
void made_write(const char *name, const struct made *made);
void made_remove(const char *name);

/* The first generation as a message (trace_message_read); g_bytes_unref. */
GBytes *made_message(const struct made *made);

/* A file of predictors that learned from generations like these, of tables alone. */
void made_predictor(const char *path, const struct made *made);

#endif
