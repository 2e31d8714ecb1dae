/* The inverted index: value → columns.
 *
 * Each column owns the entries and strings that its tally collected. One hash table over the folded texts of all
 * columns holds the heads of chains of entries. So a value that many columns hold is cheap to insert, and one walk
 * finds all these columns. One thread builds the index; then it is read-only.
 *
 * An index from a cache lacks the values of large columns. The values of each such column form a separate table, a
 * part, which is loaded when a lookup needs it. A filter rules out most lookups of texts that the column does not hold.
 * One in a hundred such lookups loads the part in vain. A loaded part stays in memory.
 */
#ifndef ASSAY_LIB_SCHEMA_VALUES_H
#define ASSAY_LIB_SCHEMA_VALUES_H

#include "lib/schema/tally.h"

#include <pthread.h>
#include <stdatomic.h>

struct value_column {
    struct value_entry *entries;
    char *strings;
    uint32_t n, n_strings; /* number of entries; bytes of `strings` */
    bool indexed;          /* false for a view, or if no values were read */
    bool complete;         /* true if the column has every value that a lookup can find */
    bool apart;            /* the entries are in a part; this struct has only the filter */
    uint8_t *filter;
    uint32_t n_filter;    /* in bytes */
    uint64_t apart_bytes; /* size of the part once loaded */
    struct values *_Atomic part;
};

/* Loads the part of a column. Returns NULL if it is unavailable. Called under a lock, one call at a time. */
typedef struct values *values_load_fn(void *ctx, uint32_t column);

struct values {
    struct value_column *columns; /* by column id */
    uint32_t *base;               /* number of each column's first entry among all entries; n_columns + 1 elements */
    uint32_t n_columns;
    uint32_t *heads; /* hash table; an item is an entry number + 1, or 0 for an empty chain */
    uint32_t mask;
    uint32_t max_value_bytes;
    uint64_t bytes;
    uint32_t *apart; /* ids of the columns with a part, rising */
    uint32_t n_apart;
    pthread_mutex_t *loading; /* NULL if no column has a part */
    values_load_fn *load;
    void *load_ctx;
};

bool values_init(struct values *values, uint32_t n_columns, const struct schema_options *options);
void values_free(struct values *values);

/* Moves the tally's entries and strings to the column, and shrinks them to fit. */
void values_take(struct values *values, uint32_t column, struct tally *tally);

/* Links all entries into chains. Returns false if memory is exhausted. */
bool values_seal(struct values *values);

/* Copies the `picked` columns (by id) into a separate table with the same ids. None of these columns may have a part.
 * `slots` is the result of values_slots. Returns NULL if memory is exhausted. Free with values_free, then free. */
struct values *values_pick(const struct values *values, const uint32_t *slots, const bool *picked);
/* Returns an array that maps an entry's number to the hash slot of its chain. The caller frees it with free. Returns
 * NULL if memory is exhausted. */
uint32_t *values_slots(const struct values *values);
/* Returns a filter for a column that has no part. The caller frees it with free. Returns NULL if memory is
 * exhausted. */
uint8_t *values_filter(const struct value_column *column, uint32_t *bytes);
/* Records which columns have a part. Returns false if memory is exhausted. */
bool values_note_apart(struct values *values);
/* Returns the table that holds a column: `values`, or the column's part, which it loads if necessary. Returns NULL if
 * the part is unavailable. */
const struct values *values_holding(const struct values *values, uint32_t column);

/* A text to look up: as given, folded, and as a number if the text is one. */
struct value_query {
    const char *text, *folded;
    size_t len, folded_len;
    char number[DB_REAL_TEXT];
    size_t number_len;  /* 0 if the text is not a number */
    bool unknown;       /* set by values_find: a part was unavailable */
    char room[64];      /* buffer for a short folded text */
    struct arena arena; /* for a long folded text */
};
/* Prepares a query. Returns false if memory is exhausted. Call value_query_end in any case. */
bool value_query_begin(struct value_query *query, const char *text, size_t len);
void value_query_end(struct value_query *query);

enum value_match { VALUE_OTHER, VALUE_FOLDED, VALUE_EXACT };

/* Calls `each` for every matching entry until it returns false. Within a chain, columns come in rising order. `column`
 * is an id, or -1 for all columns. */
typedef bool value_each_fn(void *ctx, uint32_t column, const struct value_entry *entry, const char *form,
                           enum value_match match);
void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each,
                 void *ctx);

/* Returns the share of the distinct values of column `a` that column `b` holds, from an even sample of at most
 * `sample`. Returns -1 if unknown. */
double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample);

#endif
