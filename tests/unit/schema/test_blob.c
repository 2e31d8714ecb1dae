/* Tests the binary form of a schema index: round trip, separate parts of large columns, damaged and hostile bytes, and
 * the key under which an index is cached. */
#include "lib/schema/blob.h"
#include "lib/schema/schema_int.h"
#include "tests/support/leak.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEADER = 32, VERSION_AT = 8, ORDER_AT = 12, LENGTH_AT = 16, CHECKSUM_AT = 24 };

/* Prints all of an index that schema_print can print, values included. */
static char *printed(const struct schema_index *index)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    schema_print(index, out, true, true);
    fclose(out);
    return text;
}

static struct schema_index *read_back(const struct schema_blob *blob)
{
    struct schema_index *index;
    struct err err = {0};
    cr_assert_eq(schema_blob_read(blob->bytes, blob->len, "school", NULL, &index, &err), ERR_OK, "%s", err.text);
    return index;
}

/* Checks that both indexes return the same hits for a literal, in the same order. */
static void same_hits(const struct schema_index *a, const struct schema_index *b, const char *text)
{
    struct schema_hit x[64], y[64];
    uint32_t n = schema_values_with(a, text, strlen(text), x, 64);
    cr_assert_eq(n, schema_values_with(b, text, strlen(text), y, 64), "%s", text);
    for (uint32_t i = 0; i < n; i++) {
        cr_assert(x[i].column == y[i].column && x[i].exact == y[i].exact && x[i].count == y[i].count, "%s", text);
        cr_assert_str_eq(x[i].form, y[i].form);
    }
    for (uint32_t c = 0; c < a->n_columns; c++)
        for (int exact = 0; exact < 2; exact++)
            cr_assert_eq(schema_column_has(a, a->columns[c], text, strlen(text), exact),
                         schema_column_has(b, b->columns[c], text, strlen(text), exact), "%s", text);
}

static void same_nearest(const struct schema_index *a, const struct schema_index *b, const char *text)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t c = 0; c < a->n_columns; c++) {
        const char *x[8], *y[8];
        uint32_t n = schema_nearest_values(&arena, a, a->columns[c], text, strlen(text), x, 8);
        cr_assert_eq(n, schema_nearest_values(&arena, b, b->columns[c], text, strlen(text), y, 8));
        for (uint32_t i = 0; i < n; i++) cr_assert_str_eq(x[i], y[i]);
    }
    arena_free(&arena);
}

static void same_index(const struct schema_index *a, struct schema_index *b)
{
    b->bytes = a->bytes; /* the only permitted difference: the copy has evicted no values */
    char *x = printed(a), *y = printed(b);
    cr_assert_str_eq(x, y);
    free(x);
    free(y);
    cr_assert_str_eq(a->fingerprint, b->fingerprint);
    cr_assert_eq(a->n_terms, b->n_terms);
    for (uint32_t t = 0; t < a->n_terms; t++) {
        cr_assert_str_eq(a->terms[t].term, b->terms[t].term);
        cr_assert_str_eq(a->terms[t].meaning, b->terms[t].meaning);
        cr_assert_eq(a->terms[t].column, b->terms[t].column);
        cr_assert_eq(a->terms[t].words.n, b->terms[t].words.n);
    }
    for (uint32_t t = 0; t < a->n_tables; t++) {
        const struct schema_table *table = &a->tables[t];
        cr_assert_eq(schema_find_table(b, table->name, strlen(table->name)), (int)t);
        for (uint32_t i = 0; i < table->n_columns; i++) {
            const struct schema_column *p = &table->columns[i], *q = &b->tables[t].columns[i];
            cr_assert_eq(schema_find_column(b, (int)t, p->name, strlen(p->name)), (int)i);
            cr_assert_eq(schema_is_foreign_key(a, p->id), schema_is_foreign_key(b, p->id));
            cr_assert_eq(p->words.n, q->words.n);
            for (uint32_t w = 0; w < p->words.n; w++) cr_assert_str_eq(p->words.items[w].stem, q->words.items[w].stem);
        }
    }
    static const char *const texts[] = {"North", "north", "ann lee", "Ann Lee", "3", "3.0", "007", "", "nothing"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) same_hits(a, b, texts[i]);
    same_nearest(a, b, "Noth");
    same_nearest(a, b, "An Lee");
    uint32_t all[64], tables_a[64], tables_b[64];
    for (uint32_t t = 0; t < a->n_tables; t++) all[t] = t;
    bool exact;
    for (uint32_t t = 0; t + 1 < a->n_tables; t++) {
        uint32_t n = schema_steiner(a, all + t, 2, tables_a, &exact);
        cr_assert_eq(n, schema_steiner(b, all + t, 2, tables_b, &exact));
        cr_assert_arr_eq(tables_a, tables_b, n * sizeof *tables_a);
    }
}

Test(blob, index_round_trips)
{
    struct school s;
    struct schema_blob blob, again;
    struct schema_options options = {.descriptions_dir = TEST_DATA "/schema/descriptions"};
    school_open(&s, NULL, &options);
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    struct schema_index *index = read_back(&blob);
    cr_assert(index->has_descriptions);
    same_index(s.index, index);
    cr_assert_eq(schema_blob_write(index, &again, NULL), ERR_OK);
    cr_assert_eq(blob.len, again.len);
    cr_assert_arr_eq(blob.bytes, again.bytes, blob.len, "writing what was read gives the same bytes");
    schema_blob_free(&again);
    schema_blob_free(&blob);
    schema_unref(index);
    school_end(&s);
}

Test(blob, empty_databases_round_trip)
{
    static const char *const scripts[] = {"CREATE TABLE t(a, b TEXT)", "CREATE TABLE t(a); INSERT INTO t VALUES(NULL)"};
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        struct school s;
        struct schema_blob blob;
        school_open(&s, scripts[i], NULL);
        cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
        struct schema_index *index = read_back(&blob);
        same_index(s.index, index);
        schema_unref(index);
        schema_blob_free(&blob);
        school_end(&s);
    }
}

static void put_checksum(unsigned char *bytes, size_t len)
{
    uint64_t body = len - HEADER, checksum = XXH3_64bits(bytes + HEADER, body);
    memcpy(bytes + LENGTH_AT, &body, sizeof body);
    memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
}

static enum err_code read_code(const unsigned char *bytes, size_t len)
{
    unsigned char *exact = malloc(len ? len : 1); /* an exact copy, so that a sanitizer detects a read past the end */
    memcpy(exact, bytes, len);
    struct schema_index *index;
    enum err_code code = schema_blob_read(exact, len, "school", NULL, &index, NULL);
    cr_assert_eq(code == ERR_OK, index != NULL);
    if (index) {
        char *text = printed(index);
        free(text);
        struct schema_hit hits[8];
        schema_values_with(index, "North", 5, hits, 8);
    }
    schema_unref(index);
    free(exact);
    return code;
}

Test(blob, damage_and_other_versions_are_refused)
{
    struct school s;
    struct schema_blob blob;
    school_open(&s, NULL, NULL);
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    cr_assert_eq(read_code(blob.bytes, 0), ERR_MALFORMED);
    cr_assert_eq(read_code(blob.bytes, HEADER - 1), ERR_MALFORMED);
    cr_assert_eq(read_code(blob.bytes, blob.len - 1), ERR_MALFORMED);
    for (size_t at = 0; at < blob.len; at++) {
        blob.bytes[at] ^= 0x10;
        enum err_code code = read_code(blob.bytes, blob.len);
        blob.bytes[at] ^= 0x10;
        bool version = at >= VERSION_AT && at < LENGTH_AT;
        cr_assert_eq(code, version ? ERR_VERSION : ERR_MALFORMED, "byte %zu", at);
    }
    cr_assert_eq(read_code(blob.bytes, blob.len), ERR_OK);
    schema_blob_free(&blob);
    school_end(&s);
}

/* Changes the index as if it came from a server with schemas. The first table can be named without its schema, the
 * others cannot. */
static void put_in_schemas(struct school *s)
{
    for (uint32_t i = 0; i < s->index->n_tables; i++) {
        struct schema_table *table = &s->index->tables[i];
        table->schema = i ? "sales" : "public";
        if (i) table->name = arena_printf(&s->index->priv->arena, "sales.%s", table->bare);
        if (i) table->bare = table->name + strlen("sales.");
    }
}

Test(blob, schema_names_round_trip)
{
    struct school s;
    struct schema_blob blob;
    school_open(&s, NULL, NULL);
    put_in_schemas(&s);
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    struct schema_index *index = read_back(&blob);
    for (uint32_t i = 0; i < index->n_tables; i++) {
        const struct schema_table *table = &index->tables[i];
        char *long_name = g_strdup_printf("%s.%s", i ? "sales" : "public", table->bare);
        cr_expect_str_eq(table->name, s.index->tables[i].name);
        cr_expect_eq(schema_find_table(index, long_name, strlen(long_name)), (int)i);
        cr_expect_eq(index->catalog.find_table(index, table->bare, strlen(table->bare)), i ? -1 : 0);
        cr_expect_eq(index->catalog.find_in_schema(index, "SALES", 5, table->bare, strlen(table->bare)),
                     i ? (int)i : -1);
        g_free(long_name);
    }
    schema_unref(index);
    schema_blob_free(&blob);
    s.index->tables[1].schema = NULL; /* a value that no column contains */
    s.index->tables[1].name = s.index->tables[1].bare;
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    cr_expect_eq(read_code(blob.bytes, blob.len), ERR_MALFORMED);
    schema_blob_free(&blob);
    school_end(&s);
}

/* The checksum is valid, so only the reader's other checks protect it from these bytes. AddressSanitizer detects a
 * missing check. */
static void lie(bool schemas)
{
    static const unsigned char marks[] = {0x00, 0x01, 0x7f, 0x80, 0xc1, 0xcf, 0xff};
    struct school s;
    struct schema_blob blob;
    unsigned refused = 0;
    school_open(&s, NULL, NULL);
    if (schemas) put_in_schemas(&s);
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    for (size_t at = HEADER; at < blob.len; at++) {
        unsigned char was = blob.bytes[at];
        blob.bytes[at] = marks[at % sizeof marks];
        put_checksum(blob.bytes, blob.len);
        refused += read_code(blob.bytes, blob.len) != ERR_OK;
        blob.bytes[at] = was;
    }
    for (size_t len = HEADER; len < blob.len; len += 7) {
        unsigned char *cut = g_memdup2(blob.bytes, len);
        put_checksum(cut, len);
        cr_assert_eq(read_code(cut, len), ERR_MALFORMED, "cut to %zu", len);
        g_free(cut);
    }
    cr_assert_gt(refused, 100);
    schema_blob_free(&blob);
    school_end(&s);
}

Test(blob, false_content_with_valid_checksum_is_safe)
{
    lie(false);
    lie(true);
}

/* A database with two columns that are large enough for separate parts. Small columns precede, separate and follow
 * them. */
static const char LARGE[] =
    "CREATE TABLE t(a TEXT, name TEXT, b TEXT, number INT, c TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
    "INSERT INTO t SELECT 'x' || (i % 9), 'Name ' || i, 'Name ' || (i % 7), i, 'NAME ' || (i % 5) FROM n;";

struct shelf {
    struct schema_blob parts[8];
    unsigned asked;
    bool empty;
};

static struct values *take_part(void *ctx, const struct schema_index *index, uint32_t column)
{
    struct shelf *shelf = ctx;
    struct values *part = NULL;
    shelf->asked++;
    if (shelf->empty) return NULL;
    cr_assert_eq(schema_part_read(shelf->parts[column].bytes, shelf->parts[column].len, index, column, &part, NULL),
                 ERR_OK);
    return part;
}

static struct schema_index *with_parts(const struct school *s, struct shelf *shelf)
{
    struct schema_blob blob;
    uint32_t columns[8];
    *shelf = (struct shelf){0};
    cr_assert_eq(schema_parts(s->index, columns), 2);
    cr_assert(columns[0] == 1 && columns[1] == 3);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(schema_part_write(s->index, columns[i], &shelf->parts[columns[i]], NULL), ERR_OK);
    cr_assert_eq(schema_blob_write(s->index, &blob, NULL), ERR_OK);
    cr_assert_lt(blob.len, shelf->parts[1].len, "the large columns are not in it");
    struct schema_index *index = read_back(&blob);
    schema_blob_free(&blob);
    schema_parts_from(index, &(struct schema_part_source){.ctx = shelf, .load = take_part});
    return index;
}

static void shelf_free(struct shelf *shelf)
{
    for (size_t i = 0; i < G_N_ELEMENTS(shelf->parts); i++) schema_blob_free(&shelf->parts[i]);
}

Test(blob, large_columns_answer_alike_from_separate_parts)
{
    static const char *const texts[] = {"Name 3", "name 3", "NAME 8999", "Name 9001", "8999",
                                        "8999.0", "9001",   "x3",        ""};
    struct school s;
    struct shelf shelf;
    school_open(&s, LARGE, NULL);
    struct schema_index *index = with_parts(&s, &shelf);
    cr_assert_geq(index->bytes * 3, s.index->bytes * 2, "counted as if they were here");
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) same_hits(s.index, index, texts[i]);
    same_nearest(s.index, index, "Nam 77");
    same_index(s.index, index);
    cr_assert_eq(shelf.asked, 2, "each once");
    schema_unref(index);
    shelf_free(&shelf);
    school_end(&s);
}

Test(blob, filter_avoids_fetch_for_absent_value)
{
    struct school s;
    struct shelf shelf;
    unsigned wrong = 0;
    school_open(&s, LARGE, NULL);
    struct schema_index *index = with_parts(&s, &shelf);
    shelf.empty = true;
    for (int i = 0; i < 1000; i++) {
        char text[32];
        struct schema_hit hit;
        shelf.asked = 0;
        int len = snprintf(text, sizeof text, "absent %d", i);
        cr_assert_eq(schema_values_with(index, text, (size_t)len, &hit, 1), 0);
        wrong += shelf.asked;
    }
    cr_assert_lt(wrong, 100, "%u of 4000 looks", wrong);
    schema_unref(index);
    shelf_free(&shelf);
    school_end(&s);
}

Test(blob, unavailable_part_means_unknown_value)
{
    struct school s;
    struct shelf shelf;
    struct schema_hit hits[8];
    struct arena arena;
    const char *near[4];
    school_open(&s, LARGE, NULL);
    struct schema_index *index = with_parts(&s, &shelf);
    shelf.empty = true;
    arena_init(&arena, 0);
    cr_assert_eq(schema_column_has(index, index->columns[1], "Name 3000", 9, true), -1);
    cr_assert_eq(schema_column_has(index, index->columns[1], "Surely not", 10, true), 0, "that the filter knows");
    uint32_t n = schema_values_with(index, "Name 3", 6, hits, 8);
    cr_assert_eq(n, 2, "in the columns that are here: %u", n);
    cr_assert_eq(schema_nearest_values(&arena, index, index->columns[1], "Nam 3", 5, near, 4), 0);
    shelf.empty = false;
    cr_assert_eq(schema_column_has(index, index->columns[1], "Name 3000", 9, true), 1, "asked again");
    arena_free(&arena);
    schema_unref(index);
    shelf_free(&shelf);
    school_end(&s);
}

Test(blob, part_is_validated_like_index)
{
    struct school s;
    struct shelf shelf;
    struct values *part;
    school_open(&s, LARGE, NULL);
    struct schema_index *index = with_parts(&s, &shelf);
    struct schema_blob *blob = &shelf.parts[3];
    cr_assert_eq(schema_part_read(blob->bytes, blob->len, index, 1, &part, NULL), ERR_MALFORMED, "of another column");
    blob->bytes[HEADER + 5] ^= 1; /* this byte belongs to the fingerprint */
    put_checksum(blob->bytes, blob->len);
    cr_assert_eq(schema_part_read(blob->bytes, blob->len, index, 3, &part, NULL), ERR_MALFORMED, "of another database");
    blob->bytes[HEADER + 5] ^= 1;
    unsigned refused = 0;
    for (size_t at = HEADER; at < blob->len; at += at < 3 * HEADER ? 1 : 997) {
        unsigned char was = blob->bytes[at];
        put_checksum(blob->bytes, blob->len);
        blob->bytes[at] = (unsigned char)~was;
        cr_assert_eq(schema_part_read(blob->bytes, blob->len, index, 3, &part, NULL), ERR_MALFORMED, "checksum");
        put_checksum(blob->bytes, blob->len);
        unsigned char *exact = g_memdup2(blob->bytes, blob->len);
        refused += schema_part_read(exact, blob->len, index, 3, &part, NULL) != ERR_OK;
        g_free(exact);
        schema_part_free(part);
        blob->bytes[at] = was;
    }
    cr_assert_gt(refused, 50);
    schema_unref(index);
    shelf_free(&shelf);
    school_end(&s);
}

Test(blob, index_size_limit_applies_to_blob)
{
    struct school s;
    struct schema_blob blob;
    struct schema_options tiny = {.max_bytes = 4096};
    struct schema_index *index;
    school_open(&s, NULL, NULL);
    cr_assert_eq(schema_blob_write(s.index, &blob, NULL), ERR_OK);
    cr_assert_eq(schema_blob_read(blob.bytes, blob.len, "school", &tiny, &index, NULL), ERR_LIMIT_MEMORY);
    schema_blob_free(&blob);
    school_end(&s);
}

Test(blob, key_covers_all_inputs_of_index)
{
    char one[33], other[33];
    const char *print = "0123456789abcdef0123456789abcdef";
    struct schema_options options = {.max_values = 7};
    schema_blob_key(print, NULL, NULL, one);
    schema_blob_key(print, NULL, &options, other);
    cr_assert_str_neq(one, other, "options");
    schema_blob_key("f123456789abcdef0123456789abcdef", NULL, NULL, other);
    cr_assert_str_neq(one, other, "fingerprint");
    options = (struct schema_options){.descriptions_dir = TEST_DATA "/schema/descriptions"};
    schema_blob_key(print, NULL, &options, other);
    cr_assert_str_neq(one, other, "descriptions");
    options = (struct schema_options){.max_values = 200000};
    schema_blob_key(print, NULL, &options, other);
    cr_assert_str_eq(one, other, "a default is a default");
    leak_check();
}
