/* What one column holds, counted while its table is scanned.
 *
 * Distinct values are told apart by a 64-bit hash. Up to a cap the values themselves are kept, in order of appearance;
 * past it (or when the memory of the whole index is spent) the tally is frozen: known values are still counted, new
 * ones only move an estimate of how many there are (HyperLogLog, 1.6 %).
 */
#ifndef ASSAY_LIB_SCHEMA_TALLY_H
#define ASSAY_LIB_SCHEMA_TALLY_H

#include "lib/schema/schema.h"

/* One distinct value. While counting it has its hash; in the index its place in a chain (values.h) instead. */
struct value_entry {
    union {
        uint64_t hash;
        struct {
            uint32_t next, tag;
        };
    };
    uint32_t form; /* offset of its text in the column's strings; VALUE_NO_FORM: too long, or a blob */
    uint32_t count;
};

#define VALUE_NO_FORM UINT32_MAX

/* A form is NUL-terminated; before it stand its length and the type of the value. */
enum { FORM_PREFIX = 3 };
struct form {
    const char *text;
    uint32_t len;
    enum db_type type;
};
struct form form_at(const char *strings, uint32_t offset);

/* Memory of all tallies of an index together. */
struct budget {
    uint64_t used, max;
};

struct tally {
    struct budget *budget;
    uint64_t max_values, seed;
    uint32_t max_value_bytes;
    struct schema_stats stats; /* min and max point into the buffers below */
    struct value_entry *entries;
    uint32_t n_entries, room;
    uint32_t *slots; /* open addressing: entry number + 1 */
    uint32_t n_slots;
    char *strings;
    uint32_t n_strings, strings_room;
    uint8_t *registers; /* of the estimate; NULL until frozen */
    bool has_unindexed; /* a text was too long to keep */
    char min_text[256], max_text[256];
};

void tally_init(struct tally *tally, struct budget *budget, const struct schema_options *options, uint64_t seed);
void tally_add(struct tally *tally, const struct db_value *value);

/* What was counted is a sample, of one row in `factor`: counts become estimates of the whole, the values are not all.
 */
void tally_sample(struct tally *tally, double factor);

/* Complete the statistics, copied into the arena. false: the arena is full. */
bool tally_stats(struct tally *tally, struct arena *arena, struct schema_stats *out);
void tally_free(struct tally *tally);

/* Text of a number as it is indexed: 3 and 3.0 are "3". Length. */
size_t number_form(const struct db_value *value, char out[DB_REAL_TEXT]);

/* Does the text read as a whole number or decimal? As a date or a time? */
bool looks_numeric(const char *text, size_t len);
bool looks_like_date(const char *text, size_t len);

#endif
