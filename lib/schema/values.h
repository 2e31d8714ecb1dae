/* The inverted index: value → columns.
 *
 * Each column keeps the entries and strings that its tally collected. One hash table over the folded text of all of
 * them has the heads of chains through the entries, so that a value in many columns costs nothing to insert and its
 * columns are read in one walk. Built by one thread, then read-only.
 *
 * In an index from a cache the large columns are not there: each is a table of its own (a part) that is loaded when it
 * is needed. A filter tells at once when such a column does not hold a text, which is the answer to most lookups; one
 * time in a hundred a part is loaded in vain. A loaded part stays.
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
    bool indexed;          /* false: a view, or nothing was read */
    bool complete;         /* every value that could be looked up is here */
    bool apart;            /* the entries are in a part; the filter is here */
    uint8_t *filter;
    uint32_t n_filter;    /* bytes */
    uint64_t apart_bytes; /* that the part will hold */
    struct values *_Atomic part;
};

/* Gets the part of a column, or NULL. Called under a lock, at most one at a time. */
typedef struct values *values_load_fn(void *ctx, uint32_t column);

struct values {
    struct value_column *columns; /* by column id */
    uint32_t *base;               /* number of a column's first entry in the whole; n_columns + 1 */
    uint32_t n_columns;
    uint32_t *heads; /* entry number + 1; 0: empty */
    uint32_t mask;
    uint32_t max_value_bytes;
    uint64_t bytes;
    uint32_t *apart; /* ids of the columns that are apart, rising */
    uint32_t n_apart;
    pthread_mutex_t *loading; /* NULL: none is apart */
    values_load_fn *load;
    void *load_ctx;
};

bool values_init(struct values *values, uint32_t n_columns, const struct schema_options *options);
void values_free(struct values *values);

/* Take the tally's entries and strings over, shrunk to fit. */
void values_take(struct values *values, uint32_t column, struct tally *tally);

/* Link all entries. false: out of memory. */
bool values_seal(struct values *values);

/* A table of its own of the columns that are `picked` (by id), none of which is apart; the ids stay. `slots` is
 * values_slots. NULL: out of memory. values_free, then free. */
struct values *values_pick(const struct values *values, const uint32_t *slots, const bool *picked);
/* By entry number: the slot of the hash table whose chain it is in. malloc'd; NULL: out of memory. */
uint32_t *values_slots(const struct values *values);
/* A filter of a column that is not apart, malloc'd. NULL: out of memory. */
uint8_t *values_filter(const struct value_column *column, uint32_t *bytes);
/* Note which columns are apart. false: out of memory. */
bool values_note_apart(struct values *values);
/* The table that holds a column: this one, or its part, which is loaded if need be. NULL: it cannot be had. */
const struct values *values_holding(const struct values *values, uint32_t column);

/* A text to look up: as it is, folded, and as a number if it reads as one. */
struct value_query {
    const char *text, *folded;
    size_t len, folded_len;
    char number[DB_REAL_TEXT];
    size_t number_len;  /* 0: no number */
    bool unknown;       /* set by values_find: a part could not be had */
    char room[64];      /* of a short text, folded */
    struct arena arena; /* of a long one */
};
/* false: out of memory. Owes value_query_end in any case. */
bool value_query_begin(struct value_query *query, const char *text, size_t len);
void value_query_end(struct value_query *query);

enum value_match { VALUE_OTHER, VALUE_FOLDED, VALUE_EXACT };

/* Call `each` for every entry that matches, columns in rising order within a chain; it returns false to stop. `column`
 * is an id, or -1 for all. */
typedef bool value_each_fn(void *ctx, uint32_t column, const struct value_entry *entry, const char *form,
                           enum value_match match);
void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each,
                 void *ctx);

/* Share of the distinct values of column `a`, in an even sample of at most `sample`, that column `b` holds. -1: not
 * known. */
double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample);

#endif
