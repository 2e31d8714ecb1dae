/* Counts the values of one column during the scan of its table.
 *
 * A 64-bit hash identifies a distinct value. The tally stores distinct values in order of appearance, up to a cap. At
 * the cap, or when the memory budget of the whole index is exhausted, the tally freezes. A frozen tally still counts
 * the stored values. Other values only change an estimate of the number of distinct values (HyperLogLog, 1.6 % error).
 */
#ifndef ASSAY_LIB_SCHEMA_TALLY_H
#define ASSAY_LIB_SCHEMA_TALLY_H

#include "lib/schema/schema.h"

/* One distinct value. While counting, the entry has a hash. In the index it has a link of a chain instead
 * (values.h). */
struct value_entry {
    union {
        uint64_t hash;
        struct {
            uint32_t next, tag;
        };
    };
    uint32_t form; /* offset of the text in the column's strings; VALUE_NO_FORM for a long text or a blob */
    uint32_t count;
};

#define VALUE_NO_FORM UINT32_MAX

/* A form is the text of a value in the strings. It is NUL-terminated, and its length and the value's type precede
 * it. */
enum { FORM_PREFIX = 3 };
struct form {
    const char *text;
    uint32_t len;
    enum db_type type;
};
struct form form_at(const char *strings, uint32_t offset);

/* The memory that all tallies of an index share. */
struct budget {
    uint64_t used, max;
};

struct tally {
    struct budget *budget;
    uint64_t max_values, seed;
    uint32_t max_value_bytes;
    struct schema_stats stats; /* `min` and `max` point into the buffers below */
    struct value_entry *entries;
    uint32_t n_entries, room;
    uint32_t *slots; /* hash table with open addressing; an item is an entry number + 1 */
    uint32_t n_slots;
    char *strings;
    uint32_t n_strings, strings_room;
    uint8_t *registers; /* HyperLogLog registers; NULL until frozen */
    bool has_unindexed; /* true if a text was too long to store */
    char min_text[256], max_text[256];
};

void tally_init(struct tally *tally, struct budget *budget, const struct schema_options *options, uint64_t seed);
void tally_add(struct tally *tally, const struct db_value *value);

/* Extrapolates the counts to the whole table, if the rows are a sample of one in `factor`. Marks the values as
 * incomplete. */
void tally_sample(struct tally *tally, double factor);

/* Completes the statistics and copies them into the arena. Returns false if the arena is full. */
bool tally_stats(struct tally *tally, struct arena *arena, struct schema_stats *out);
void tally_free(struct tally *tally);

/* Writes the index form of a number: 3 and 3.0 become "3". Returns its length. */
size_t number_form(const struct db_value *value, char out[DB_REAL_TEXT]);

/* looks_numeric returns true if the text is a whole number or decimal, looks_like_date if it is a date or time. */
bool looks_numeric(const char *text, size_t len);
bool looks_like_date(const char *text, size_t len);

#endif
