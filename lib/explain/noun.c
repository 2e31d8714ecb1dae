/* Reads names of tables and columns as English noun phrases.
 *
 * The name is already split into words. Word lists classify words as mass nouns, verbs, prepositions, adjectives and so
 * on. A hash table of the lists is built once and is then read-only, so all functions are thread-safe. The head is the
 * word with a singular and a plural; only its ending changes. A name that is not certainly a noun phrase keeps its
 * spelling, because a wrong noun would mislead readers. */
#include "lib/explain/noun.h"

#include "lib/sql/sql.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

/* --- classes of words --- */

/* Nouns whose plural does not follow from their ending. */
static const struct {
    const char *one, *many;
} IRREGULAR[] = {
    {"person", "people"},
    {"child", "children"},
    {"man", "men"},
    {"woman", "women"},
    {"foot", "feet"},
    {"tooth", "teeth"},
    {"mouse", "mice"},
    {"goose", "geese"},
    {"movie", "movies"},
    {"cookie", "cookies"},
    {"calorie", "calories"},
    {"zombie", "zombies"},
    {"analysis", "analyses"},
    {"basis", "bases"},
    {"crisis", "crises"},
    {"thesis", "theses"},
    {"index", "indexes"},
    {"matrix", "matrices"},
    {"criterion", "criteria"},
    {"phenomenon", "phenomena"},
    {"quiz", "quizzes"},
    {"life", "lives"},
    {"wife", "wives"},
    {"knife", "knives"},
    {"leaf", "leaves"},
    {"shelf", "shelves"},
    {"half", "halves"},
    {"thief", "thieves"},
    {"hero", "heroes"},
    {"superhero", "superheroes"},
    {"potato", "potatoes"},
    {"tomato", "tomatoes"},
    {"echo", "echoes"},
    {"veto", "vetoes"},
    {"shoe", "shoes"},
    {"toe", "toes"},
    {"canoe", "canoes"},
    {"cache", "caches"},
    {"ache", "aches"},
    {"axe", "axes"},
    {"gas", "gases"},
    {"bus", "buses"},
    {"lens", "lenses"},
    {"alias", "aliases"},
    {"canvas", "canvases"},
    {"atlas", "atlases"},
    {"bias", "biases"},
    {"series", "series"},
    {"species", "species"},
    {"aircraft", "aircraft"},
    {"spacecraft", "spacecraft"},
    {"sheep", "sheep"},
    {"fish", "fish"},
    {"deer", "deer"},
    {"headquarters", "headquarters"},
    {"premises", "premises"},
    {"arrears", "arrears"},
    {"means", "means"},
};

/* Mass nouns, which have no plural. */
static const char MASS[] =
    " data metadata information staff personnel equipment software hardware furniture machinery music news "
    "weather traffic luggage baggage money cash research knowledge advice homework management employment "
    "physics mathematics economics politics athletics gymnastics electronics logistics police faculty ";

/* Verb forms that are rarely nouns. A name with a verb states an event or a condition. */
static const char VERBS[] =
    " is are was were has have had does did should would could became becomes took went lives participates "
    "belongs goes wrote writes teaches taught takes undergoes prescribes owns treats contains requires cites "
    "knows sells eats affects allows wants gets got made makes gave gives ran sang led plays performs enroll ";

static const char PREPOSITIONS[] = " of on in at by with to from for into onto per under over until since ";

/* Prepositions that begin the name of a state: "on_call" and "in_stock" name a state, "from_port" and "to_date" do
 * not. */
static const char STATES[] = " on in at by with under ";

/* Words that are not nouns, but may be a whole column name. */
static const char ADJECTIVES[] =
    " active inactive available unavailable valid invalid visible hidden official unofficial optional mandatory "
    "current permanent born built won lost sold held known written paid sent given taken done ";

static const char PARTICIPLES[] =
    " born built won lost sold held known written paid sent given taken done made spent kept led run shown ";

static const char NOUNS_IN_ED[] = " hundred shed sled moped biped naked sacred ";

static const char TIMES[] = " years months weeks days hours minutes seasons games ";

enum word_kind {
    MASS_NOUN = 1 << 0,
    VERB = 1 << 1,
    PREPOSITION = 1 << 2,
    STATE = 1 << 3,
    ADJECTIVE = 1 << 4,
    PARTICIPLE = 1 << 5,
    NOUN_IN_ED = 1 << 6,
    TIME = 1 << 7,
};

static const struct {
    enum word_kind kind;
    const char *words;
} LISTS[] = {
    {MASS_NOUN, MASS},         {VERB, VERBS},           {PREPOSITION, PREPOSITIONS},
    {STATE, STATES},           {ADJECTIVE, ADJECTIVES}, {PARTICIPLE, PARTICIPLES},
    {NOUN_IN_ED, NOUNS_IN_ED}, {TIME, TIMES},
};

enum { LONGEST_LISTED = 24 };

static GHashTable *kinds; /* maps a word to its classes */

static void build_kinds(void)
{
    kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(LISTS); i++) {
        char **words = g_strsplit(LISTS[i].words, " ", -1);
        for (char **word = words; *word; word++) {
            guint known = GPOINTER_TO_UINT(g_hash_table_lookup(kinds, *word));
            if (**word) g_hash_table_replace(kinds, g_strdup(*word), GUINT_TO_POINTER(known | LISTS[i].kind));
        }
        g_strfreev(words);
    }
}

static bool is_kind(enum word_kind kind, const char *word, size_t len)
{
    static pthread_once_t built = PTHREAD_ONCE_INIT; /* not g_once: ThreadSanitizer does not see into GLib */
    char text[LONGEST_LISTED];
    if (len == 0 || len >= sizeof text) return false;
    pthread_once(&built, build_kinds);
    memcpy(text, word, len);
    text[len] = '\0';
    return (GPOINTER_TO_UINT(g_hash_table_lookup(kinds, text)) & kind) != 0;
}

static bool ends_in(const char *word, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && memcmp(word + len - n, ending, n) == 0;
}

static bool is_participle(const char *word, size_t len)
{
    if (is_kind(PARTICIPLE, word, len)) return true;
    return len > 4 && ends_in(word, len, "ed") && !ends_in(word, len, "eed") && !is_kind(NOUN_IN_ED, word, len);
}

/* Returns the row of IRREGULAR, or -1. */
static int irregular(const char *word, size_t len)
{
    for (size_t i = 0; i < G_N_ELEMENTS(IRREGULAR); i++) {
        const char *one = IRREGULAR[i].one, *many = IRREGULAR[i].many;
        if (*one != *word) continue; /* the two forms have the same first letter */
        if ((strlen(one) == len && memcmp(one, word, len) == 0) ||
            (strlen(many) == len && memcmp(many, word, len) == 0))
            return (int)i;
    }
    return -1;
}

static bool is_plural(const char *word, size_t len)
{
    int row = irregular(word, len);
    if (row >= 0)
        return strlen(IRREGULAR[row].many) == len && memcmp(IRREGULAR[row].many, word, len) == 0 &&
               strcmp(IRREGULAR[row].one, IRREGULAR[row].many) != 0;
    return len > 3 && word[len - 1] == 's' && !ends_in(word, len, "ss") && !ends_in(word, len, "us") &&
           !ends_in(word, len, "is");
}

/* --- reading a name --- */

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80) return false;
    return true;
}

static void put(struct noun *out, const char *text, size_t len)
{
    size_t at = strlen(out->text), gap = at > 0;
    if (at + gap + len >= sizeof out->text) return;
    if (gap) out->text[at++] = ' ';
    memcpy(out->text + at, text, len);
    out->text[at + len] = '\0';
}

/* True for letters and digits that form no words: f1, 1st, MiB, or a single letter or number at the start. */
static bool is_code(const struct text_tokens *words)
{
    enum { SHORT = 2 };
    for (uint32_t i = 0; i < words->n; i++) {
        const struct text_token *w = &words->items[i], *next = i + 1 < words->n ? w + 1 : NULL;
        bool digits = w->kind == TEXT_NUMBER;
        if (i == 0 && (digits || w->end - w->start == 1)) return true;
        if (!next || next->start != w->end) continue;
        bool mixed = digits != (next->kind == TEXT_NUMBER);
        const struct text_token *letters = digits ? next : w;
        if (mixed && letters->end - letters->start <= SHORT) return true;
        if (!mixed && !digits && (w->end - w->start == 1 || next->end - next->start == 1)) return true;
    }
    return false;
}

static bool is_noun_phrase(const struct text_tokens *words, bool is_table)
{
    if (words->n == 0 || is_code(words)) return false;
    const char *first = words->items[0].norm, *last = words->items[words->n - 1].norm;
    for (uint32_t i = 0; i < words->n; i++)
        if (is_kind(VERB, words->items[i].norm, strlen(words->items[i].norm))) return false;
    if (is_kind(PREPOSITION, last, strlen(last)) || is_kind(STATE, first, strlen(first))) return false;
    if (words->n == 1 && is_kind(ADJECTIVE, first, strlen(first))) return false;
    return !(is_participle(last, strlen(last)) && (is_table || words->n == 1));
}

/* Returns the word that the letter of a name abbreviates: "last" for the l of LName. Returns NULL for other words. */
static const char *spelt_out(const struct text_tokens *words, uint32_t i)
{
    static const char *const NAMES[][2] = {{"l", "last"}, {"f", "first"}, {"m", "middle"}};
    if (i > 0 || words->n != 2 || strcmp(words->items[1].norm, "name") != 0) return NULL;
    for (size_t k = 0; k < G_N_ELEMENTS(NAMES); k++)
        if (strcmp(words->items[0].norm, NAMES[k][0]) == 0) return NAMES[k][1];
    return NULL;
}

/* Writes the words in order. Words that are not ASCII keep their spelling. */
static void put_words(struct noun *out, const char *name, const struct text_tokens *words)
{
    for (uint32_t i = 0; i < words->n; i++) {
        const struct text_token *w = &words->items[i];
        const char *full = spelt_out(words, i), *word = full ? full : w->norm;
        if (is_ascii(name + w->start, w->end - w->start))
            put(out, word, strlen(word));
        else if (i == 0 || w->start != words->items[i - 1].start)
            put(out, name + w->start, w->end - w->start);
        bool counts = i == 0 && words->n > 1 && strcmp(w->norm, "number") == 0;
        const char *last = words->items[words->n - 1].norm;
        if (counts && is_plural(last, strlen(last)) && strcmp(words->items[1].norm, "of") != 0) put(out, "of", 2);
    }
}

struct noun_words {
    struct word {
        uint32_t at, len;
    } items[NOUN_BYTES / 2];
    uint32_t n;
};

static void split(const char *text, struct noun_words *out)
{
    out->n = 0;
    for (uint32_t at = 0; text[at] && out->n < G_N_ELEMENTS(out->items);) {
        uint32_t len = (uint32_t)strcspn(text + at, " ");
        if (len) out->items[out->n++] = (struct word){at, len};
        at += len + (text[at + len] == ' ');
    }
}

static bool word_is(enum word_kind kind, const struct noun *noun, struct word word)
{
    return is_kind(kind, noun->text + word.at, word.len);
}

/* True if the word can follow the noun that it describes: days held, dates active, years working. */
static bool stands_behind(const struct noun *noun, struct word word, struct word before)
{
    const char *text = noun->text + word.at;
    if (is_participle(text, word.len) || word_is(ADJECTIVE, noun, word)) return true;
    return ends_in(text, word.len, "ing") && word_is(TIME, noun, before);
}

/* Finds the head, the word with a singular and a plural. It is the last word before a preposition, or else the last
 * word or the noun that the last word describes. */
static void find_head(struct noun *out)
{
    struct noun_words words;
    split(out->text, &words);
    if (words.n == 0) return;
    uint32_t head = words.n - 1;
    for (uint32_t i = 1; i < words.n; i++)
        if (word_is(PREPOSITION, out, words.items[i])) {
            head = i - 1;
            break;
        }
    if (head > 0) {
        struct word before = words.items[head - 1];
        if (is_plural(out->text + before.at, before.len) && stands_behind(out, words.items[head], before)) head--;
    }
    out->head = words.items[head].at;
    out->head_len = words.items[head].len;
    bool inflects = g_ascii_islower(out->text[out->head + out->head_len - 1]);
    out->is_counted = inflects && !word_is(MASS_NOUN, out, words.items[head]);
}

void noun_of_words(struct noun *out, const char *words)
{
    *out->text = '\0';
    out->head = out->head_len = 0;
    out->is_phrase = true;
    out->is_counted = false;
    while (*words) {
        size_t len = strcspn(words, " ");
        if (len) put(out, words, len);
        words += len + (words[len] == ' ');
    }
    find_head(out);
}

/* Writes a name that contains quotes. The quotes are part of the name, so the name gets quotes of its own. */
static void put_quoted(struct noun *out, const char *name)
{
    size_t len = strnlen(name, NOUN_BYTES / 2);
    const char *mark = sql_quote_mark(name, len);
    g_snprintf(out->text, sizeof out->text, "%s%.*s%s", mark, (int)len, name, mark);
}

/* True if a sentence can contain the name unchanged. */
static bool is_readable(const char *name)
{
    for (const char *c = name; *c; c++)
        if (!g_ascii_isalnum(*c) && (unsigned char)*c < 0x80 && !strchr("_-. /#$%&", *c)) return false;
    return *name != '\0' && !strstr(name, "  ");
}

void noun_of_name(struct noun *out, const char *name, const struct text_tokens *words, bool is_table)
{
    *out->text = '\0';
    out->head = out->head_len = 0;
    out->is_counted = false;
    out->is_phrase = is_noun_phrase(words, is_table) || (words->n && spelt_out(words, 0));
    if (strpbrk(name, "'\"`|")) {
        out->is_phrase = false;
        put_quoted(out, name);
        return;
    }
    if (out->is_phrase || !is_readable(name)) put_words(out, name, words);
    if (*out->text == '\0') put(out, name, strnlen(name, NOUN_BYTES / 2));
    if (out->is_phrase) find_head(out);
}

/* --- writing a noun --- */

static void say_part(struct say *out, const char *text, size_t len)
{
    say_bytes(out, text, len, NOUN_BYTES);
}

static void say_word_singular(struct say *out, const char *word, size_t len)
{
    size_t drop = 0;
    const char *add = "";
    if (!is_plural(word, len))
        ;
    else if (ends_in(word, len, "ies") && len > 4)
        drop = 3, add = "y";
    else if (ends_in(word, len, "ches") || ends_in(word, len, "shes") || ends_in(word, len, "xes") ||
             ends_in(word, len, "sses") || ends_in(word, len, "oes"))
        drop = 2;
    else if (ends_in(word, len, "uses") && len > 4 && !strchr("oa", word[len - 5]))
        drop = 2;
    else
        drop = 1;
    say_part(out, word, len - drop);
    say(out, add);
}

static void say_word_plural(struct say *out, const char *word, size_t len)
{
    if (is_plural(word, len)) {
        say_part(out, word, len);
        return;
    }
    bool in_y = len > 1 && word[len - 1] == 'y' && !strchr("aeiou", word[len - 2]);
    bool hissing = ends_in(word, len, "s") || ends_in(word, len, "x") || ends_in(word, len, "z") ||
                   ends_in(word, len, "ch") || ends_in(word, len, "sh");
    say_part(out, word, in_y ? len - 1 : len);
    say(out, in_y ? "ies" : hissing ? "es" : "s");
}

static void say_in_number(struct say *out, const struct noun *noun, bool many)
{
    const char *head = noun->text + noun->head, *rest = head + noun->head_len;
    if (!noun->is_phrase || !noun->is_counted || noun->head_len < 3) {
        say_noun(out, noun);
        return;
    }
    int row = irregular(head, noun->head_len);
    say_part(out, noun->text, noun->head);
    if (row >= 0)
        say(out, many ? IRREGULAR[row].many : IRREGULAR[row].one);
    else
        (many ? say_word_plural : say_word_singular)(out, head, noun->head_len);
    say_part(out, rest, strlen(rest));
}

void say_noun(struct say *out, const struct noun *noun)
{
    say_part(out, noun->text, strlen(noun->text));
}

void say_noun_singular(struct say *out, const struct noun *noun)
{
    say_in_number(out, noun, false);
}

void say_noun_plural(struct say *out, const struct noun *noun)
{
    say_in_number(out, noun, true);
}

bool noun_is_plural(const struct noun *noun)
{
    return noun->is_phrase && noun->is_counted && is_plural(noun->text + noun->head, noun->head_len);
}

bool noun_takes_an(const char *text)
{
    static const char *const LIKE_YOU[] = {"uni", "use", "usu", "uti", "eu", "one", "once"};
    static const char *const SILENT_H[] = {"hour", "honest", "honor", "honour", "heir"};
    for (size_t i = 0; i < G_N_ELEMENTS(SILENT_H); i++)
        if (g_ascii_strncasecmp(text, SILENT_H[i], strlen(SILENT_H[i])) == 0) return true;
    for (size_t i = 0; i < G_N_ELEMENTS(LIKE_YOU); i++)
        if (g_ascii_strncasecmp(text, LIKE_YOU[i], strlen(LIKE_YOU[i])) == 0) return false;
    return *text && strchr("aeiouAEIOU8", *text) != NULL;
}
