/* Looks up words in models/words.lex (lib/text/lexicon.h).
 *
 * The file is opened once, on first use, and only its header is checked then. If the header is invalid, no word is
 * known, and each lookup finds nothing. Words are found by hash in the slots. The relation of two words is the stronger
 * one of their links in both directions. Two words in one row of the hand-made synonyms have at least
 * TABLE_STRENGTH. */
#include "lib/text/internal.h"
#include "lib/text/lexicon.h"

#include <pthread.h>
#include <string.h>
#include <xxhash.h>

static const float TABLE_STRENGTH = 0.9F; /* strength of two words in one row of the hand-made synonyms */

/* True if the part is inside the file. */
static bool part(const struct lexicon_header *h, uint32_t offset, uint64_t n, size_t size)
{
    return offset % 4 == 0 && offset >= sizeof *h && offset + n * size <= h->size;
}

/* True for a valid header. On a machine with the other byte order, the version does not match, so the lexicon stays
 * empty. */
static bool header_ok(const struct lexicon_header *h, size_t size)
{
    return size >= sizeof *h && memcmp(h->magic, LEXICON_MAGIC, sizeof h->magic) == 0 &&
           h->version == LEXICON_VERSION && h->size == size && size <= LEXICON_MAX_BYTES && h->n_slots &&
           !(h->n_slots & (h->n_slots - 1)) && h->n_words < h->n_slots && h->n_words < TEXT_NO_WORD &&
           part(h, h->slots, h->n_slots, sizeof(uint32_t)) &&
           part(h, h->words, h->n_words + 1ULL, sizeof(struct lexicon_word)) &&
           part(h, h->links, h->n_links, sizeof(uint32_t)) && h->n_texts && part(h, h->texts, h->n_texts, 1);
}

bool lexicon_open(struct lexicon *lexicon, const char *data, size_t size, bool check_sum)
{
    const struct lexicon_header *h = (const void *)data;
    if (!header_ok(h, size) || data[h->texts + h->n_texts - 1] != '\0') return false;
    if (check_sum && XXH3_64bits(data + sizeof *h, size - sizeof *h) != h->checksum) return false;
    *lexicon = (struct lexicon){.slots = (const void *)(data + h->slots),
                                .links = (const void *)(data + h->links),
                                .words = (const void *)(data + h->words),
                                .texts = data + h->texts,
                                .n_slots = h->n_slots,
                                .n_words = h->n_words,
                                .n_links = h->n_links,
                                .n_texts = h->n_texts};
    return true;
}

static struct lexicon the_lexicon; /* all zero if it could not be opened, so that no word is known */

static void open_it(void)
{
    size_t size;
    const char *data = lexicon_data(&size);
    if (!lexicon_open(&the_lexicon, data, size, false)) the_lexicon = (struct lexicon){0};
}

static const struct lexicon *lexicon_get(void)
{
    static pthread_once_t opened = PTHREAD_ONCE_INIT;
    pthread_once(&opened, open_it);
    return &the_lexicon;
}

static const char *text_of(const struct lexicon *lexicon, uint32_t word)
{
    uint32_t text = lexicon->words[word].text;
    return text < lexicon->n_texts ? lexicon->texts + text : "";
}

uint32_t text_lexicon_stem(const char *stem)
{
    const struct lexicon *lexicon = lexicon_get();
    if (!lexicon->n_words || !*stem) return TEXT_NO_WORD;
    uint32_t hash = lexicon_hash(stem), mask = lexicon->n_slots - 1;
    for (uint32_t i = 0; i < lexicon->n_slots; i++) {
        uint32_t word = lexicon->slots[(hash + i) & mask];
        if (!word || word > lexicon->n_words) return TEXT_NO_WORD;
        if (strcmp(text_of(lexicon, word - 1), stem) == 0) return word - 1;
    }
    return TEXT_NO_WORD;
}

bool lexicon_key(const char *phrase, char out[LEXICON_KEY])
{
    size_t at = 0;
    while (*phrase) {
        char word[WORD_MAX], stem[WORD_MAX];
        size_t n = strcspn(phrase, " ");
        if (n >= WORD_MAX) return false;
        memcpy(word, phrase, n);
        word[n] = '\0';
        phrase += n + (phrase[n] == ' ');
        if (!n) continue;
        stem_into(word, stem);
        size_t len = strlen(stem);
        if (at + len + 2 > LEXICON_KEY) return false;
        if (at) out[at++] = ' ';
        memcpy(out + at, stem, len);
        at += len;
    }
    out[at] = '\0';
    return at > 0;
}

uint32_t text_lexicon_word(const char *word)
{
    char key[LEXICON_KEY];
    return lexicon_key(word, key) ? text_lexicon_stem(key) : TEXT_NO_WORD;
}

const char *text_lexicon_text(uint32_t word)
{
    const struct lexicon *lexicon = lexicon_get();
    return word < lexicon->n_words ? text_of(lexicon, word) : "";
}

struct text_word_info text_lexicon_info(uint32_t word)
{
    const struct lexicon *lexicon = lexicon_get();
    if (word >= lexicon->n_words) return (struct text_word_info){0};
    uint32_t info = lexicon->words[word].info;
    return (struct text_word_info){.commonness = info & 0xFF, .class = (uint8_t)(info >> 8)};
}

struct text_link lexicon_unpack(uint32_t link)
{
    uint32_t kind = link >> 8 & 0xF;
    if (kind >= TEXT_RELATION_KINDS) kind = TEXT_RELATION_NONE;
    return (struct text_link){link >> 12, {(enum text_relation_kind)kind, (float)(link & 0xFF) / 255.0F}};
}

const uint32_t *lexicon_links(uint32_t word, uint32_t *n)
{
    const struct lexicon *lexicon = lexicon_get();
    *n = 0;
    if (word >= lexicon->n_words) return NULL;
    uint32_t first = lexicon->words[word].links, end = lexicon->words[word + 1].links;
    if (first > end || end > lexicon->n_links) return NULL;
    *n = end - first < TEXT_MAX_LINKS ? end - first : TEXT_MAX_LINKS;
    return lexicon->links + first;
}

unsigned text_lexicon_links(uint32_t word, struct text_link *links, unsigned room)
{
    uint32_t n;
    const uint32_t *found = lexicon_links(word, &n);
    if (n > room) n = room;
    for (uint32_t i = 0; i < n; i++) links[i] = lexicon_unpack(found[i]);
    return n;
}

static struct text_relation linked(uint32_t a, uint32_t b)
{
    uint32_t n;
    const uint32_t *links = lexicon_links(a, &n);
    for (uint32_t i = 0; i < n && links[i] >> 12 <= b; i++)
        if (links[i] >> 12 == b) return lexicon_unpack(links[i]).relation;
    return (struct text_relation){TEXT_RELATION_NONE, 0};
}

struct text_relation text_lexicon_relate(uint32_t a, uint32_t b)
{
    if (a == TEXT_NO_WORD || b == TEXT_NO_WORD) return (struct text_relation){TEXT_RELATION_NONE, 0};
    if (a == b) return (struct text_relation){TEXT_RELATION_SAME, 1};
    struct text_relation there = linked(a, b), back = linked(b, a);
    if (back.kind == TEXT_RELATION_IS_A) back.kind = TEXT_RELATION_HAS_KIND;
    return there.strength >= back.strength ? there : back;
}

struct text_relation text_relate(const char *a, const char *b)
{
    char a_key[LEXICON_KEY], b_key[LEXICON_KEY];
    if (!lexicon_key(a, a_key) || !lexicon_key(b, b_key)) return (struct text_relation){TEXT_RELATION_NONE, 0};
    if (strcmp(a_key, b_key) == 0) return (struct text_relation){TEXT_RELATION_SAME, 1};
    struct text_relation found = text_lexicon_relate(text_lexicon_stem(a_key), text_lexicon_stem(b_key));
    if (found.kind == TEXT_RELATION_OPPOSITE || !stems_share_group(a_key, b_key)) return found;
    if (found.kind == TEXT_RELATION_NONE) found.kind = TEXT_RELATION_SYNONYM;
    if (found.strength < TABLE_STRENGTH) found.strength = TABLE_STRENGTH;
    return found;
}

const char *text_relation_name(enum text_relation_kind kind)
{
    static const char *const NAMES[TEXT_RELATION_KINDS] = {
        [TEXT_RELATION_NONE] = "none",           [TEXT_RELATION_SAME] = "same",
        [TEXT_RELATION_SYNONYM] = "synonym",     [TEXT_RELATION_DERIVED] = "derived",
        [TEXT_RELATION_ATTRIBUTE] = "attribute", [TEXT_RELATION_DEMONYM] = "demonym",
        [TEXT_RELATION_CODE] = "code",           [TEXT_RELATION_IS_A] = "is_a",
        [TEXT_RELATION_HAS_KIND] = "has_kind",   [TEXT_RELATION_OPPOSITE] = "opposite",
    };
    return (unsigned)kind < TEXT_RELATION_KINDS ? NAMES[kind] : "none";
}
