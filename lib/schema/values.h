/* The inverted index: value → columns.
 *
 * Each column owns the entries and strings that its tally collected. One hash table over the folded texts holds the
 * heads of chains through the entries. So a value in many columns is cheap to insert, and one walk reads its columns.
 * Built by one thread, then read-only.
 *
 * An index from a cache lacks the large columns. Each is a separate table (a part) that is loaded when needed. A filter
 * rules out most lookups of texts that such a column does not hold. One such lookup in a hundred loads a part in vain.
 * A loaded part stays.
 */
#ifndef ASSAY_LIB_SCHEMA_VALUES_H
#define ASSAY_LIB_SCHEMA_VALUES_H

#include "lib/schema/tally.h"

#include <pthread.h>
#include <stdatomic.h>

struct value_column {
    struct value_entry *entries;
    char *strings;
    uint32_t n, n_strings; /* n_strings: bytes */
    bool indexed;          /* false for a view, or if nothing was read */
    bool complete;         /* every value that can be looked up is present */
    bool apart;            /* the entries are in a part; only the filter is here */
    uint8_t *filter;
    uint32_t n_filter;    /* bytes */
    uint64_t apart_bytes; /* size that the part will have */
    struct values *_Atomic part;
};

/* Loads the part of a column, or returns NULL. Called under a lock, one call at a time. */
typedef struct values *values_load_fn(void *ctx, uint32_t column);

struct values {
    struct value_column *columns; /* by column id */
    uint32_t *base;               /* number of a column's first entry in the whole; n_columns + 1 elements */
    uint32_t n_columns;
    uint32_t *heads; /* entry number + 1; 0 if empty */
    uint32_t mask;
    uint32_t max_value_bytes;
    uint64_t bytes;
    uint32_t *apart; /* ids of the columns that are apart, rising */
    uint32_t n_apart;
    pthread_mutex_t *loading; /* NULL if no column is apart */
    values_load_fn *load;
    void *load_ctx;
};

bool values_init(struct values *values, uint32_t n_columns, const struct schema_options *options);
void values_free(struct values *values);

/* Moves the tally's entries and strings to the column, shrunk to fit. */
void values_take(struct values *values, uint32_t column, struct tally *tally);

/* Links all entries. Returns false if memory is exhausted. */
bool values_seal(struct values *values);

/* Copies the `picked` columns (by id), none of which is apart, into a separate table with the same ids. `slots` is the
 * result of values_slots. Returns NULL if memory is exhausted. Free with values_free, then free. */
struct values *values_pick(const struct values *values, const uint32_t *slots, const bool *picked);
/* Returns, by entry number, the hash slot whose chain contains the entry. malloc'd; NULL if memory is exhausted. */
uint32_t *values_slots(const struct values *values);
/* Returns a filter for a column that is not apart, malloc'd, or NULL if memory is exhausted. */
uint8_t *values_filter(const struct value_column *column, uint32_t *bytes);
/* Records the columns that are apart. Returns false if memory is exhausted. */
bool values_note_apart(struct values *values);
/* Returns the table that holds a column: `values` or the column's part, which is loaded if necessary. Returns NULL if
 * the part is unavailable. */
const struct values *values_holding(const struct values *values, uint32_t column);

/* A text to look up: as given, folded, and as a number if it reads as one. */
struct value_query {
    const char *text, *folded;
    size_t len, folded_len;
    char number[DB_REAL_TEXT];
    size_t number_len;  /* 0 if it is not a number */
    bool unknown;       /* set by values_find: a part was unavailable */
    char room[64];      /* buffer for a short folded text */
    struct arena arena; /* for a long folded text */
};
/* Prepares a query. Returns false if memory is exhausted. Call value_query_end in any case. */
bool value_query_begin(struct value_query *query, const char *text, size_t len);
void value_query_end(struct value_query *query);

enum value_match { VALUE_OTHER, VALUE_FOLDED, VALUE_EXACT };

/* Calls `each` for every matching entry, columns in rising order within a chain, until it returns false. `column` is an
 * id, or -1 for all. */
typedef bool value_each_fn(void *ctx, uint32_t column, const struct value_entry *entry, const char *form,
                           enum value_match match);
void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each,
                 void *ctx);

/* Returns the share of the distinct values of column `a` that column `b` holds, from an even sample of at most
 * `sample`. Returns -1 if unknown. */
double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample);

#endif
