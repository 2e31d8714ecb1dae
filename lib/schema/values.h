/* The inverted index: value → columns.
 *
 * Each column keeps the entries and strings that its tally collected. One hash table over the folded text of all of
 * them has the heads of chains through the entries, so that a value in many columns costs nothing to insert and its
 * columns are read in one walk. Built by one thread, then read-only.
 */
#ifndef ASSAY_LIB_SCHEMA_VALUES_H
#define ASSAY_LIB_SCHEMA_VALUES_H

#include "lib/schema/tally.h"

struct value_column {
    struct value_entry *entries;
    char *strings;
    uint32_t n, n_strings; /* n_strings: bytes */
    bool indexed;  /* false: a view, or nothing was read */
    bool complete; /* every value that could be looked up is here */
};

struct values {
    struct value_column *columns; /* by column id */
    uint32_t *base;               /* number of a column's first entry in the whole; n_columns + 1 */
    uint32_t n_columns;
    uint32_t *heads; /* entry number + 1; 0: empty */
    uint32_t mask;
    uint32_t max_value_bytes;
    uint64_t bytes;
};

bool values_init(struct values *values, uint32_t n_columns, const struct schema_options *options);
void values_free(struct values *values);

/* Take the tally's entries and strings over, shrunk to fit. */
void values_take(struct values *values, uint32_t column, struct tally *tally);

/* Link all entries. false: out of memory. */
bool values_seal(struct values *values);

/* A text to look up: as it is, folded, and as a number if it reads as one. */
struct value_query {
    const char *text, *folded;
    size_t len, folded_len;
    char number[DB_REAL_TEXT];
    size_t number_len;  /* 0: no number */
    struct arena arena; /* scratch */
};
/* false: out of memory. Owes value_query_end in any case. */
bool value_query_begin(struct value_query *query, const char *text, size_t len);
void value_query_end(struct value_query *query);

enum value_match { VALUE_OTHER, VALUE_FOLDED, VALUE_EXACT };

/* Call `each` for every entry that matches, columns in rising order within a chain; it returns false to stop. `column`
 * is an id, or -1 for all. */
typedef bool value_each_fn(void *ctx, uint32_t column, const struct value_entry *entry, enum value_match match);
void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each,
                 void *ctx);

/* Share of the distinct values of column `a`, in an even sample of at most `sample`, that column `b` holds. -1: not
 * known. */
double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample);

#endif
