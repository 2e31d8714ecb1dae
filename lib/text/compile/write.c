/* Writes the lexicon in the format of lib/text/lexicon_format.h. */
#include "lib/text/compile/compile.h"

#include "lib/text/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const double MIN_STRENGTH = 0.10, MIN_RARE_STRENGTH = 0.35;

struct image {
    GPtrArray *words; /* of struct build_word, sorted by text */
    uint32_t *number; /* by number in the build: number in the file, or TEXT_NO_WORD if the word is dropped */
    GByteArray *links, *texts, *entries;
};

static int by_strength(const void *a, const void *b)
{
    const struct build_link *x = a, *y = b;
    if (x->strength > y->strength || x->strength < y->strength) return x->strength > y->strength ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static int by_key(const void *a, const void *b)
{
    const struct build_word *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Drops weak links. Links to words that do not occur in tagged text need a greater strength. */
static void prune(const struct build *build, struct build_word *word)
{
    unsigned n = 0;
    g_array_sort(word->links, by_strength);
    for (unsigned l = 0; l < word->links->len && n < TEXT_MAX_LINKS; l++) {
        const struct build_link link = g_array_index(word->links, struct build_link, l);
        bool rare = build_word_at(build, link.to)->count < 1;
        if (link.strength >= (rare ? MIN_RARE_STRENGTH : MIN_STRENGTH))
            g_array_index(word->links, struct build_link, n++) = link;
    }
    g_array_set_size(word->links, n);
}

/* Numbers the words that have a link or are the target of one. Drops the others. */
static void number_words(const struct build *build, struct image *image)
{
    GHashTable *used = g_hash_table_new(NULL, NULL);
    image->words = g_ptr_array_new();
    image->number = g_new0(uint32_t, build->words->len);
    for (uint32_t i = 0; i < build->words->len; i++) {
        struct build_word *word = build_word_at(build, i);
        prune(build, word);
        if (word->links->len) g_hash_table_add(used, word);
        for (unsigned l = 0; l < word->links->len; l++)
            g_hash_table_add(used, build_word_at(build, g_array_index(word->links, struct build_link, l).to));
    }
    for (uint32_t i = 0; i < build->words->len; i++)
        if (g_hash_table_contains(used, build_word_at(build, i)))
            g_ptr_array_add(image->words, build_word_at(build, i));
    qsort(image->words->pdata, image->words->len, sizeof(void *), by_key);
    GHashTable *place = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < image->words->len; i++)
        g_hash_table_insert(place, g_ptr_array_index(image->words, i), GUINT_TO_POINTER(i));
    for (uint32_t i = 0; i < build->words->len; i++)
        image->number[i] = GPOINTER_TO_UINT(g_hash_table_lookup(place, build_word_at(build, i)));
    g_hash_table_destroy(used);
    g_hash_table_destroy(place);
}

static uint32_t info_of(const struct build_word *word)
{
    double bits = log2(word->count + 1);
    return (uint32_t)(bits > 15 ? 15 : bits) | (uint32_t)word->class << 8;
}

static void add_word(struct image *image, const struct build_word *word)
{
    struct lexicon_word entry = {image->texts->len, image->links->len / 4, info_of(word)};
    g_byte_array_append(image->entries, (const void *)&entry, sizeof entry);
    g_byte_array_append(image->texts, (const void *)word->key, (guint)strlen(word->key) + 1);
    uint32_t links[TEXT_MAX_LINKS], n = 0;
    for (; n < word->links->len; n++) {
        const struct build_link *link = &g_array_index(word->links, struct build_link, n);
        double strength = link->strength > 1 ? 1 : link->strength;
        links[n] = lexicon_link(image->number[link->to], link->kind, (uint32_t)(strength * 255 + 0.5));
    }
    qsort(links, n, sizeof links[0], by_number);
    g_byte_array_append(image->links, (const void *)links, n * (guint)sizeof links[0]);
}

static uint32_t *slots_of(const struct image *image, uint32_t *n_slots)
{
    uint32_t n = 1;
    while (n < image->words->len * 2) n *= 2;
    uint32_t *slots = g_new0(uint32_t, n);
    for (uint32_t i = 0; i < image->words->len; i++) {
        const struct build_word *word = g_ptr_array_index(image->words, i);
        uint32_t at = lexicon_hash(word->key) & (n - 1);
        while (slots[at]) at = (at + 1) & (n - 1);
        slots[at] = i + 1;
    }
    *n_slots = n;
    return slots;
}

static void write_image(const struct image *image, const char *path)
{
    struct lexicon_header header = {.version = LEXICON_VERSION,
                                    .n_words = image->words->len,
                                    .n_links = image->links->len / 4,
                                    .n_texts = image->texts->len};
    uint32_t *slots = slots_of(image, &header.n_slots);
    memcpy(header.magic, LEXICON_MAGIC, sizeof header.magic);
    header.slots = sizeof header;
    header.words = header.slots + header.n_slots * 4;
    header.links = header.words + image->entries->len;
    header.texts = header.links + image->links->len;
    header.size = header.texts + header.n_texts;
    GByteArray *file = g_byte_array_new();
    g_byte_array_append(file, (const void *)&header, sizeof header);
    g_byte_array_append(file, (const void *)slots, header.n_slots * 4);
    g_byte_array_append(file, image->entries->data, image->entries->len);
    g_byte_array_append(file, image->links->data, image->links->len);
    g_byte_array_append(file, image->texts->data, image->texts->len);
    header.checksum = XXH3_64bits(file->data + sizeof header, file->len - sizeof header);
    memcpy(file->data, &header, sizeof header);
    struct lexicon check;
    if (!lexicon_open(&check, (const char *)file->data, file->len, true)) build_fail("too large", path);
    if (!g_file_set_contents(path, (const char *)file->data, file->len, NULL)) build_fail("cannot be written", path);
    printf("%u words, %u links, %u bytes\n", header.n_words, header.n_links, header.size);
    g_byte_array_unref(file);
    g_free(slots);
}

void lexicon_write(const struct build *build, const char *path)
{
    struct image image = {.links = g_byte_array_new(), .texts = g_byte_array_new(), .entries = g_byte_array_new()};
    number_words(build, &image);
    for (uint32_t i = 0; i < image.words->len; i++) add_word(&image, g_ptr_array_index(image.words, i));
    struct lexicon_word end = {image.texts->len - 1, image.links->len / 4, 0};
    g_byte_array_append(image.entries, (const void *)&end, sizeof end);
    write_image(&image, path);
    g_free(image.number);
}
