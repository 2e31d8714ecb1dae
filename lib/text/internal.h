/* Internal to lib/text. */
#ifndef ASSAY_LIB_TEXT_INTERNAL_H
#define ASSAY_LIB_TEXT_INTERNAL_H

#include "lib/text/lexicon_format.h"
#include "lib/text/text.h"

#include <glib.h>

enum { WORD_MAX = 64 }; /* bytes of a word with its NUL; longer words are neither cached nor compared by meaning */

/* The cases of utf8_read, is_word_char and is_space_char that are not ASCII. */
unsigned utf8_read_wide(const char *p, const char *end, uint32_t *cp);
bool is_wide_word_char(uint32_t cp);
bool is_wide_space_char(uint32_t cp);

/* Reads one code point of [p, end), p < end. A byte that is not valid UTF-8 is read as Latin-1, so different encodings
 * of one value compare equal. Returns the number of bytes (1..4). */
static inline unsigned utf8_read(const char *p, const char *end, uint32_t *cp)
{
    unsigned char first = (unsigned char)*p;
    return first < 0x80 ? (*cp = first, 1U) : utf8_read_wide(p, end, cp);
}

/* Returns the code point that ends just before p, or 0 at the start of the text. */
uint32_t utf8_before(const char *start, const char *p);

/* Writes the code point. Returns the number of bytes written. */
unsigned utf8_write(char *out, uint32_t cp);

/* Returns true for a letter, mark, digit or underscore. */
static inline bool is_word_char(uint32_t cp)
{
    return cp < 0x80 ? g_ascii_isalnum((char)cp) || cp == '_' : is_wide_word_char(cp);
}

/* Returns the letter in lower case, like g_ascii_tolower but inline. */
static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns true for spaces, and for control characters and NUL, which separate words, too. */
static inline bool is_space_char(uint32_t cp)
{
    return cp < 0x80 ? cp <= ' ' || cp == 0x7F : is_wide_space_char(cp);
}

/* The facts of the tables about one folded word or stem. A member is zero if the tables do not state that fact. */
struct lexeme {
    const char *expansion; /* expansion of an abbreviation: one or more words; may be NULL */
    const char *base;      /* base of an irregular form: children → child, oldest → old; may be NULL */
    double number;         /* value of a number word; valid if is_number */
    uint16_t groups[6];    /* numbers of its synonym groups, from 1 on; found by the stem */
    uint8_t n_groups;
    bool is_number, is_stop;
    bool is_generic;     /* true if it says little about a column's content: name, id, type */
    bool is_known;       /* true for an ordinary word of the field, which may be one half of "firstname" */
    bool expands_inside; /* true if it is expanded only after another word: in "dept_no", but not in "no_smoking" */
};

/* Returns the entry of a word; NULL if the tables do not have it. Thread: any (the tables are built once). */
const struct lexeme *lexeme_find(const char *word);

/* Returns true if text_split_identifier certainly gives just this word. False means that it may give others. */
bool is_plain_word(const char *name, size_t len);

/* Writes the stem to `out`. Copies a word of WORD_MAX bytes or more unchanged, but truncated. */
void stem_into(const char *word, char out[WORD_MAX]);

/* The facts about a token's word, which is folded and shorter than WORD_MAX. */
struct word_facts {
    char stem[WORD_MAX];
    const struct lexeme *known; /* NULL if the tables do not have it */
    uint32_t number;            /* number of the stem in the lexicon */
};
void word_look(const char *word, struct word_facts *out);

/* Writes the plain Porter2 stem, without tables and cache. The tables are built with it. */
void stem_raw(const char *word, char out[WORD_MAX]);

/* Returns the bytes of models/words.lex, which is linked into the program. */
const char *lexicon_data(size_t *size);

/* A lexicon (lib/text/lexicon_format.h), as pointers into its bytes. lexicon_open fills it. */
struct lexicon {
    const uint32_t *slots, *links;
    const struct lexicon_word *words;
    const char *texts;
    uint32_t n_slots, n_words, n_links, n_texts;
};

/* Opens a lexicon. Returns false if the bytes are not a lexicon of this version, or if a part exceeds the bytes. With
 * `check_sum` it also reads all bytes and verifies their checksum. `data` must be aligned to 8. */
bool lexicon_open(struct lexicon *lexicon, const char *data, size_t size, bool check_sum);

/* lexicon_links returns the links of a word as stored in the file. lexicon_unpack returns one of them unpacked. */
struct text_link;
const uint32_t *lexicon_links(uint32_t word, uint32_t *n);
struct text_link lexicon_unpack(uint32_t link);

/* Makes the key of a folded word or phrase: the stems of its words, separated by a space. Returns false if it is too
 * long. */
enum { LEXICON_KEY = 128 };
bool lexicon_key(const char *phrase, char out[LEXICON_KEY]);

/* Returns true if two stems share a synonym group. */
bool stems_share_group(const char *a, const char *b);

/* Sets a token's norm, stem and flags. Returns false if the arena is full. `norm` must live in the arena. */
bool token_finish(struct arena *arena, struct text_token *token, const char *norm);

/* The position in a text that is being split into tokens. */
struct token_scan {
    const char *start, *end, *at; /* `at`: start of the next token */
};
struct token_span {
    enum text_token_kind kind;
    const char *text;
    size_t len;
    size_t inner, inner_len; /* for TEXT_QUOTED: the text inside the quotes */
};
struct token_scan token_scan_of(const char *text, size_t len);
/* Finds the next raw token. Returns false at the end of the text. */
bool token_next(struct token_scan *scan, struct token_span *span);
/* Fills `token`, which the caller has zeroed. Returns false if the arena is full. */
bool token_read(struct arena *arena, const struct token_scan *scan, const struct token_span *span,
                struct text_token *token);

/* A list of tokens that grows in the arena. token_push appends a token, and returns NULL if the arena is full. */
struct token_list {
    struct arena *arena;
    struct text_token *items;
    uint32_t n, room;
};
struct text_token *token_push(struct token_list *list);

#endif
