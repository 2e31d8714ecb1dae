/* The bytes of models/words.lex. Numbers are little-endian. Offsets count from the start of the file and are multiples
 * of 4.
 *   - header
 *   - slots: n_slots (a power of two) u32, each the number of a word + 1, or 0 if free. Probing starts at
 *     lexicon_hash(stem) and goes upwards.
 *   - words: n_words + 1 entries, sorted by text. The last entry only marks the end of the previous word's links.
 *   - links: n_links u32, each a lexicon_link, ascending within a word
 *   - texts: n_texts bytes, the stems, each with its NUL */
#ifndef ASSAY_LIB_TEXT_LEXICON_FORMAT_H
#define ASSAY_LIB_TEXT_LEXICON_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum { LEXICON_VERSION = 1, LEXICON_MAX_BYTES = 6 << 20 };
static const char LEXICON_MAGIC[8] = "assaylex";

struct lexicon_header {
    char magic[8];
    uint32_t version, size; /* size of the file in bytes */
    uint64_t checksum;      /* XXH3 of all bytes after the header */
    uint32_t n_slots, n_words, n_links, n_texts;
    uint32_t slots, words, links, texts; /* offsets */
};

struct lexicon_word {
    uint32_t text;  /* offset into the texts */
    uint32_t links; /* index of its first link */
    uint32_t info;  /* commonness | class << 8 */
};

/* Packs a link: 20 bits for the other word, 4 for the kind, 8 for the strength in units of 1/255. */
static inline uint32_t lexicon_link(uint32_t word, uint32_t kind, uint32_t strength)
{
    return word << 12 | kind << 8 | strength;
}

static inline uint32_t lexicon_hash(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash ^ hash >> 15;
}

#endif
