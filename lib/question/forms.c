/* Compares the forms of values (forms.h).
 *
 * Two tables hold the knowledge: peoples with their countries, and words with their codes. They serve to compare two
 * texts, and to find a text in a question or in a column. They also serve to find a column's values in a question.
 * Results are cached with the question (memo.h). Only note_words, is_of_people, is_people and ask_peoples read the
 * table of peoples, so a larger lexicon can replace it. */
#include "lib/question/forms.h"

#include "lib/question/memo.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

enum {
    MAX_TEXT = 200,
    MIN_PART = 3,
    MIN_SPELLED = 5,  /* letters; in shorter words, a different letter means a different word */
    LONG_SPELLED = 9, /* letters; from this length on, two letters may differ */
    MAX_TOP = 16,
    MAX_NEAR = 6,
    MAX_HITS = 32,
    MAX_WORDS = 200
};

static const struct {
    double strength;
    const char *name;
} FORMS[QUESTION_FORMS] = {
    [QUESTION_FORM_NONE] = {0, "nothing in common"},
    [QUESTION_FORM_SPELLING] = {0.5, "another spelling"},
    [QUESTION_FORM_PART] = {0.6, "a part of it"},
    [QUESTION_FORM_INITIALS] = {0.7, "its initials"},
    [QUESTION_FORM_PEOPLE] = {0.8, "a people and its country"},
    [QUESTION_FORM_CODE] = {0.8, "a code of it"},
    [QUESTION_FORM_DATE] = {0.8, "another notation of the date"},
    [QUESTION_FORM_WORD] = {0.9, "another form of the word"},
    [QUESTION_FORM_SAME] = {1, "the same"},
};

/* clang-format off */
/* Peoples and languages with their countries. A country may have several names. */
static const char *const PEOPLES[][2] = {
    {"afghan", "afghanistan"}, {"albanian", "albania"}, {"algerian", "algeria"}, {"american", "united states"},
    {"american", "united states of america"}, {"american", "usa"}, {"american", "us"}, {"american", "america"},
    {"arabic", "saudi arabia"}, {"argentine", "argentina"}, {"argentinian", "argentina"}, {"armenian", "armenia"},
    {"australian", "australia"}, {"austrian", "austria"}, {"belgian", "belgium"}, {"flemish", "belgium"},
    {"bolivian", "bolivia"}, {"brazilian", "brazil"}, {"british", "united kingdom"}, {"british", "uk"},
    {"british", "great britain"}, {"british", "britain"}, {"british", "gb"}, {"bulgarian", "bulgaria"},
    {"cambodian", "cambodia"}, {"canadian", "canada"}, {"chilean", "chile"}, {"chinese", "china"},
    {"colombian", "colombia"}, {"croatian", "croatia"}, {"cuban", "cuba"}, {"czech", "czech republic"},
    {"czech", "czechia"}, {"danish", "denmark"}, {"dane", "denmark"}, {"dutch", "netherlands"}, {"dutch", "holland"},
    {"dutch", "the netherlands"}, {"ecuadorian", "ecuador"}, {"egyptian", "egypt"}, {"english", "england"},
    {"english", "united kingdom"}, {"estonian", "estonia"}, {"ethiopian", "ethiopia"}, {"european", "europe"},
    {"african", "africa"}, {"asian", "asia"}, {"filipino", "philippines"}, {"finnish", "finland"}, {"finn", "finland"},
    {"french", "france"}, {"german", "germany"}, {"ghanaian", "ghana"}, {"greek", "greece"}, {"hungarian", "hungary"},
    {"icelandic", "iceland"}, {"indian", "india"}, {"indonesian", "indonesia"}, {"iranian", "iran"}, {"iraqi", "iraq"},
    {"irish", "ireland"}, {"israeli", "israel"}, {"italian", "italy"}, {"jamaican", "jamaica"}, {"japanese", "japan"},
    {"jordanian", "jordan"}, {"kenyan", "kenya"}, {"korean", "korea"}, {"korean", "south korea"},
    {"latvian", "latvia"}, {"lebanese", "lebanon"}, {"lithuanian", "lithuania"}, {"malaysian", "malaysia"},
    {"mexican", "mexico"}, {"moroccan", "morocco"}, {"nigerian", "nigeria"}, {"norwegian", "norway"},
    {"pakistani", "pakistan"}, {"peruvian", "peru"}, {"polish", "poland"}, {"portuguese", "portugal"},
    {"romanian", "romania"}, {"russian", "russia"}, {"russian", "russian federation"}, {"scottish", "scotland"},
    {"serbian", "serbia"}, {"slovak", "slovakia"}, {"slovenian", "slovenia"}, {"spanish", "spain"},
    {"spaniard", "spain"}, {"swedish", "sweden"}, {"swede", "sweden"}, {"swiss", "switzerland"}, {"syrian", "syria"},
    {"thai", "thailand"}, {"tunisian", "tunisia"}, {"turkish", "turkey"}, {"ukrainian", "ukraine"},
    {"venezuelan", "venezuela"}, {"vietnamese", "vietnam"}, {"welsh", "wales"},
};

/* Words with the codes that columns store for them. Each row is one meaning, with spaces around each word. */
static const char *const CODES[] = {
    " m male males man men boy boys gentleman gentlemen ", " f female females woman women girl girls lady ladies ",
    " y yes t true 1 ", " n no f false 0 ",
    " january jan 1 01 ", " february feb 2 02 ", " march mar 3 03 ", " april apr 4 04 ", " may 5 05 ",
    " june jun 6 06 ", " july jul 7 07 ", " august aug 8 08 ", " september sep sept 9 09 ", " october oct 10 ",
    " november nov 11 ", " december dec 12 ",
    " monday mon ", " tuesday tue tues ", " wednesday wed ", " thursday thu thur thurs ", " friday fri ",
    " saturday sat ", " sunday sun ",
};
/* clang-format on */
enum { CODES_MALE = 0, CODES_FEMALE = 1, CODES_YES = 2, CODES_NO = 3, CODES_JANUARY = 4, MONTHS = 12 };

double question_form_strength(enum question_form form)
{
    return form < QUESTION_FORMS ? FORMS[form].strength : 0;
}

const char *question_form_name(enum question_form form)
{
    return form < QUESTION_FORMS ? FORMS[form].name : "";
}

/* --- words of the tables ------------------------------------------------------------------------------------------ */

/* For each first letter, the lengths of a table's words as bits. They exclude most words with one test. */
struct word_lengths {
    uint64_t by_letter[32];
};

static struct table_lengths {
    struct word_lengths codes, peoples;
} lengths;

static void note_word(struct word_lengths *out, const char *word, size_t len)
{
    out->by_letter[*word & 31] |= UINT64_C(1) << MIN(len, 63);
}

static bool may_have(const struct word_lengths *table, const char *word, size_t len)
{
    return table->by_letter[*word & 31] >> MIN(len, 63) & 1U;
}

static void note_words(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(CODES); i++)
        for (const char *at = CODES[i] + 1; *at; at += strcspn(at, " ") + 1)
            note_word(&lengths.codes, at, strcspn(at, " "));
    for (size_t i = 0; i < G_N_ELEMENTS(PEOPLES); i++)
        for (unsigned side = 0; side < 2; side++)
            note_word(&lengths.peoples, PEOPLES[i][side], strlen(PEOPLES[i][side]));
}

static const struct table_lengths *table_lengths(void)
{
    static pthread_once_t noted = PTHREAD_ONCE_INIT; /* not g_once: ThreadSanitizer does not see into GLib */
    pthread_once(&noted, note_words);
    return &lengths;
}

/* --- codes -------------------------------------------------------------------------------------------------------- */

static bool row_has(const char *row, const char *word, size_t len)
{
    if (len == 0 || memchr(word, ' ', len)) return false;
    for (const char *at = row + 1; *at; at++) {
        if (*at == *word && strncmp(at, word, len) == 0 && at[len] == ' ') return true;
        while (*at != ' ') at++;
    }
    return false;
}

/* Returns the rows of the table of codes that have the word, as bits. */
static unsigned code_rows(const char *word)
{
    unsigned rows = 0;
    size_t len = strlen(word);
    if (len > 5 && word[len - 1] == 's') len--; /* "Decembers" is read as "december" */
    if (!may_have(&table_lengths()->codes, word, len)) return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(CODES) && len < 10; i++)
        if (row_has(CODES[i], word, len)) rows |= 1U << i;
    return rows;
}

enum question_gender question_gender_of(const char *word, size_t len, bool codes)
{
    char low[16];
    if (len >= sizeof low || (len < 2 && !codes)) return QUESTION_NO_GENDER;
    for (size_t i = 0; i < len; i++) low[i] = g_ascii_tolower(word[i]);
    return row_has(CODES[CODES_MALE], low, len)     ? QUESTION_MALE
           : row_has(CODES[CODES_FEMALE], low, len) ? QUESTION_FEMALE
                                                    : QUESTION_NO_GENDER;
}

bool question_column_is_gender(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    unsigned seen = 0;
    if (stats->distinct > 4 || stats->n_top != stats->distinct) return false;
    for (uint32_t i = 0; i < stats->n_top; i++) {
        const struct db_value *value = &stats->top[i].value;
        if (value->type == DB_TEXT) seen |= 1U << question_gender_of(value->text, value->len, true);
    }
    return (seen & 1U << QUESTION_MALE) && (seen & 1U << QUESTION_FEMALE);
}

/* --- dates -------------------------------------------------------------------------------------------------------- */

struct date_reader {
    const char *at, *end;
    struct question_date *out;
    int numbers[3], n;
    bool year_first, day_first;
};

static int month_of(const char *word, size_t len)
{
    for (int i = 0; i < MONTHS; i++)
        if (!g_ascii_isdigit(*word) && row_has(CODES[CODES_JANUARY + i], word, len)) return i + 1;
    return -1;
}

static bool read_date_word(struct date_reader *reader)
{
    char word[16] = {0};
    size_t n = 0;
    for (; reader->at < reader->end && g_ascii_isalpha(*reader->at); reader->at++)
        if (n < sizeof word) word[n++] = g_ascii_tolower(*reader->at);
    int month = month_of(word, n);
    bool ending = n == 2 && reader->n > 0 && strchr("snrt", word[0]); /* ending of an ordinal: 1st, 2nd, 3rd, 4th */
    if (month > 0) reader->out->month = month;
    return month > 0 || ending || (n == 1 && word[0] == 't') || (n == 2 && memcmp(word, "of", 2) == 0);
}

static bool read_date_number(struct date_reader *reader)
{
    const char *start = reader->at;
    int number = 0;
    for (; reader->at < reader->end && g_ascii_isdigit(*reader->at) && reader->at - start < 5; reader->at++)
        number = number * 10 + (*reader->at - '0');
    long digits = reader->at - start;
    if (digits == 4) {
        if (reader->out->year >= 0 || number < 1000 || number > 2999) return false;
        reader->out->year = number;
        reader->year_first |= reader->n == 0;
        return true;
    }
    if (digits > 2 || reader->n == 2) return false;
    reader->numbers[reader->n++] = number;
    return true;
}

/* Assigns the numbers. Two numbers with a year are month and day. One number with a month is the day. */
static bool settle_date(struct date_reader *reader)
{
    struct question_date *out = reader->out;
    if (out->month > 0) {
        if (reader->n > 1) return false;
        if (reader->n == 1) out->day = reader->numbers[0];
    } else if (reader->n == 2) {
        bool swap = !reader->year_first && (reader->day_first || reader->numbers[0] > MONTHS);
        if (reader->numbers[1] > MONTHS) swap = false;
        out->month = reader->numbers[swap];
        out->day = reader->numbers[!swap];
    } else if (reader->n == 1) {
        if (!reader->year_first) return false;
        out->month = reader->numbers[0];
    }
    return (out->year > 0 || (out->month > 0 && out->day > 0)) && out->month <= MONTHS && out->day <= 31;
}

static bool has_digit(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (g_ascii_isdigit(text[i])) return true;
    return false;
}

bool question_read_date(const char *text, size_t len, bool day_first, struct question_date *out)
{
    *out = (struct question_date){-1, -1, -1};
    if (!has_digit(text, len)) return false; /* a fast exit, because most texts have no digit */
    struct date_reader reader = {text, text + len, out, {0}, 0, false, day_first};
    const char *colon = memchr(text, ':', len);
    if (len > 40 || len < 4) return false;
    if (colon) { /* a time follows the date: the date ends before the hour */
        reader.end = colon;
        while (reader.end > text && g_ascii_isdigit(reader.end[-1])) reader.end--;
    }
    while (reader.at < reader.end) {
        if (g_ascii_isdigit(*reader.at)) {
            if (!read_date_number(&reader)) return false;
        } else if (g_ascii_isalpha(*reader.at)) {
            if (!read_date_word(&reader)) return false;
        } else if (strchr(" ,-/.", *reader.at)) {
            reader.at++;
        } else {
            return false;
        }
    }
    return settle_date(&reader);
}

/* True if the texts are one day or one month in two notations. A year alone does not count. */
static bool same_date(const char *a, size_t a_len, const char *b, size_t b_len)
{
    for (unsigned way = 0; way < 4; way++) {
        struct question_date x, y;
        if (!question_read_date(a, a_len, way & 1U, &x) || !question_read_date(b, b_len, way >> 1U, &y)) return false;
        if (x.month < 0) return false;
        if (x.year == y.year && x.month == y.month && x.day == y.day) return true;
    }
    return false;
}

/* --- two texts ---------------------------------------------------------------------------------------------------- */

static bool is_of_people(const char *word)
{
    if (!may_have(&table_lengths()->peoples, word, strlen(word))) return false;
    for (size_t i = 0; i < G_N_ELEMENTS(PEOPLES); i++)
        if (text_same(word, PEOPLES[i][0]) || text_same(word, PEOPLES[i][1])) return true;
    return false;
}

static bool is_people(const char *a, const char *b)
{
    for (size_t i = 0; i < G_N_ELEMENTS(PEOPLES); i++)
        if ((text_same(a, PEOPLES[i][0]) && text_same(b, PEOPLES[i][1])) ||
            (text_same(b, PEOPLES[i][0]) && text_same(a, PEOPLES[i][1])))
            return true;
    return false;
}

/* Returns the letters, digits and non-ASCII bytes of a text; NULL if the arena is full. */
static char *letters_of(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, strlen(text) + 1);
    size_t n = 0;
    for (; out && *text; text++)
        if (g_ascii_isalnum(*text) || (unsigned char)*text >= 0x80) out[n++] = *text;
    if (out) out[n] = '\0';
    return out;
}

static bool same_stems(const struct text_tokens *a, const struct text_tokens *b)
{
    if (a->n != b->n || a->n == 0) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].stem, b->items[i].stem) != 0) return false;
    return true;
}

/* True if `whole` has all words of `part`, in any order. Function words need not match. */
static bool is_part(const struct text_tokens *part, const struct text_tokens *whole)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < part->n; i++) {
        const struct text_token *word = &part->items[i];
        if (word->kind == TEXT_PUNCT || word->is_stop) continue;
        if (part->n == 1 && strlen(word->norm) < MIN_PART) return false;
        uint32_t at = 0;
        while (at < whole->n && strcmp(word->stem, whole->items[at].stem) != 0) at++;
        if (at == whole->n) return false;
        words++;
    }
    return words > 0 && whole->n > 1;
}

/* True if the letters are the initials of the words, in order: "usa" for united states of america. Function words may
 * be skipped. */
static bool is_initials(const char *letters, const struct text_tokens *words)
{
    size_t at = 0, len = strlen(letters);
    if (len < 2 || len > 6 || words->n < 2) return false;
    for (uint32_t i = 0; i < words->n; i++) {
        if (words->items[i].kind == TEXT_PUNCT) continue;
        if (at < len && words->items[i].norm[0] == letters[at])
            at++;
        else if (!words->items[i].is_stop)
            return false;
    }
    return at == len;
}

static bool near_spelling(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), least = MIN(a_len, b_len);
    if (least < MIN_SPELLED || strpbrk(a, "0123456789") || strpbrk(b, "0123456789")) return false;
    unsigned limit = least >= LONG_SPELLED ? 2 : 1;
    return text_distance(a, b, limit) <= limit;
}

bool question_text_of(struct arena *arena, const char *text, size_t len, struct question_text *out)
{
    *out = (struct question_text){0};
    if (len == 0 || len > MAX_TEXT) return false;
    out->folded = text_fold(arena, text, len);
    out->letters = out->folded ? letters_of(arena, out->folded) : NULL;
    if (!out->letters) return false;
    out->words = text_tokenize(arena, out->folded, strlen(out->folded));
    out->codes = code_rows(out->folded);
    out->people = is_of_people(out->folded);
    return out->words.items != NULL;
}

/* Prepares a word of a question without looking it up in the tables. A comparison looks it up if the other text is in a
 * table. */
static struct question_text text_of_token(struct arena *arena, const struct text_token *token)
{
    struct text_tokens words = {.items = (struct text_token *)token, .n = 1};
    const char *letters = strpbrk(token->norm, "-_.'") ? letters_of(arena, token->norm) : token->norm;
    return (struct question_text){.folded = token->norm, .letters = letters ? letters : token->norm, .words = words};
}

enum question_form question_form_between(const struct question_text *a, const struct question_text *b)
{
    if (*a->letters && strcmp(a->letters, b->letters) == 0) return QUESTION_FORM_SAME;
    if (a->codes && (a->codes & (b->codes ? b->codes : code_rows(b->folded)))) return QUESTION_FORM_CODE;
    if (a->people && is_people(a->folded, b->folded)) return QUESTION_FORM_PEOPLE;
    if (same_date(a->folded, strlen(a->folded), b->folded, strlen(b->folded))) return QUESTION_FORM_DATE;
    if (same_stems(&a->words, &b->words)) return QUESTION_FORM_WORD;
    if (is_initials(a->letters, &b->words) || is_initials(b->letters, &a->words)) return QUESTION_FORM_INITIALS;
    if (is_part(&a->words, &b->words) || is_part(&b->words, &a->words)) return QUESTION_FORM_PART;
    return near_spelling(a->letters, b->letters) ? QUESTION_FORM_SPELLING : QUESTION_FORM_NONE;
}

/* --- cached results: candidates and signals repeat the same comparisons ------------------------------------------- */

enum { KEPT_FORMS = 64 };
static const uint32_t NO_COLUMN = UINT32_MAX;

struct kept_form {
    uint32_t column; /* column of the search; NO_COLUMN if the question was searched */
    bool known;
    const char *text;
    size_t len;
    enum question_form form;
    uint32_t first;     /* token of the question */
    const char *stored; /* the value as the column stores it */
};

struct kept_forms {
    struct kept_form items[KEPT_FORMS];
    uint32_t n;
};

/* Returns a new cache entry that is not `known` yet. Returns NULL if the cache or the arena is full, or if the text is
 * empty or too long. */
static struct kept_form *keep_form(struct arena *arena, struct kept_forms *kept, uint32_t column, const char *text,
                                   size_t len)
{
    if (kept->n == KEPT_FORMS || len == 0 || len > MAX_TEXT) return NULL;
    const char *own = arena_strndup(arena, text, len);
    if (!own) return NULL;
    kept->items[kept->n] = (struct kept_form){.column = column, .text = own, .len = len};
    return &kept->items[kept->n++];
}

/* Returns the cached entry, or a new one. Returns NULL if the question has no cache or keep_form fails. */
static struct kept_form *kept_form_of(const struct question *question, uint32_t column, const char *text, size_t len)
{
    struct question_memo *memo = question ? question->memo : NULL;
    if (!memo) return NULL;
    if (!memo->forms) memo->forms = arena_new(memo->arena, struct kept_forms);
    for (uint32_t i = 0; memo->forms && i < memo->forms->n; i++) {
        struct kept_form *item = &memo->forms->items[i];
        if (item->column == column && item->len == len && memcmp(item->text, text, len) == 0) return item;
    }
    return memo->forms ? keep_form(memo->arena, memo->forms, column, text, len) : NULL;
}

/* --- a text and a question ---------------------------------------------------------------------------------------- */

/* Finds the word or run of words whose form of the text is the most certain. A run with the same stems counts as the
 * same text; a single word may have a less certain form. */
static enum question_form said_by_tokens(struct arena *arena, const struct text_tokens *said,
                                         const struct question_text *text, uint32_t *first)
{
    enum question_form best = QUESTION_FORM_NONE;
    for (uint32_t i = 0; i < said->n; i++) {
        const struct text_token *token = &said->items[i];
        if (token->kind == TEXT_PUNCT) continue;
        struct question_text word = text_of_token(arena, token);
        enum question_form form =
            token->is_stop && !text->codes ? QUESTION_FORM_NONE : question_form_between(text, &word);
        struct text_tokens run = {.items = said->items + i, .n = text->words.n};
        if (run.n > 1 && i + run.n <= said->n && same_stems(&text->words, &run)) form = QUESTION_FORM_SAME;
        if (form <= best) continue;
        best = form;
        *first = i;
    }
    return best;
}

static enum question_form said_by_values(struct arena *arena, const struct question *question,
                                         const struct question_text *text, enum question_form best, uint32_t *first)
{
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        struct question_text said;
        if (value->n_tokens == 1 && value->kind != QUESTION_VALUE_QUOTED) continue; /* already compared as a word */
        if (!question_text_of(arena, value->text, strlen(value->text), &said)) continue;
        enum question_form form = question_form_between(text, &said);
        if (form <= best) continue;
        best = form;
        *first = value->first;
    }
    return best;
}

static enum question_form look_for_text(struct arena *arena, const struct question *question, const char *text,
                                        size_t len, uint32_t *first)
{
    struct question_text wanted;
    uint32_t at = UINT32_MAX, told = UINT32_MAX;
    *first = UINT32_MAX;
    if (!question_text_of(arena, text, len, &wanted)) return QUESTION_FORM_NONE;
    enum question_form best = said_by_tokens(arena, &question->tokens, &wanted, &at);
    best = said_by_values(arena, question, &wanted, best, &at);
    enum question_form evidence = said_by_tokens(arena, &question->evidence, &wanted, &told);
    if (best >= evidence) *first = at;
    return best > evidence ? best : evidence;
}

enum question_form question_says_text(struct arena *arena, const struct question *question, const char *text,
                                      size_t len, uint32_t *first)
{
    struct kept_form *kept = kept_form_of(question, NO_COLUMN, text, len), own = {.known = false};
    if (!kept) kept = &own;
    if (!kept->known) {
        kept->form = look_for_text(arena, question, text, len, &kept->first);
        kept->known = !arena->failed;
    }
    if (first) *first = kept->first;
    return kept->form;
}

/* --- a text and a column ------------------------------------------------------------------------------------------ */

struct form_search {
    struct arena *arena;
    const struct schema_index *schema;
    const struct schema_column *column;
    struct question_text text;
    const char *best;
    enum question_form form;
};

static void offer_ready(struct form_search *search, const struct question_text *stored, const char *value, size_t len)
{
    enum question_form form = question_form_between(&search->text, stored);
    if (form <= search->form) return;
    search->form = form;
    search->best = arena_strndup(search->arena, value, len);
}

static void offer(struct form_search *search, const char *value, size_t len)
{
    struct question_text stored;
    if (question_text_of(search->arena, value, len, &stored)) offer_ready(search, &stored, value, len);
}

/* Offers `text`, a form from one of the tables. It becomes the best value if the column holds it and its form is more
 * certain than the best so far. */
static void ask(struct form_search *search, const char *text, size_t len, enum question_form form)
{
    struct schema_hit hits[MAX_HITS];
    if (form <= search->form || schema_column_has(search->schema, search->column, text, len, false) != 1) return;
    search->form = form;
    search->best = NULL;
    uint32_t n = schema_values_with(search->schema, text, len, hits, MAX_HITS);
    for (uint32_t i = 0; i < n; i++)
        if (hits[i].column == search->column->id) search->best = arena_strdup(search->arena, hits[i].form);
    if (!search->best) search->best = arena_strndup(search->arena, text, len);
}

static void ask_codes(struct form_search *search)
{
    for (size_t i = 0; i < G_N_ELEMENTS(CODES); i++) {
        if (!(search->text.codes >> i & 1U)) continue;
        for (const char *at = CODES[i] + 1; *at; at += strcspn(at, " ") + 1)
            ask(search, at, strcspn(at, " "), QUESTION_FORM_CODE);
    }
}

static void ask_peoples(struct form_search *search)
{
    for (size_t i = 0; search->text.people && i < G_N_ELEMENTS(PEOPLES); i++)
        for (unsigned side = 0; side < 2; side++)
            if (strcmp(PEOPLES[i][side], search->text.folded) == 0)
                ask(search, PEOPLES[i][!side], strlen(PEOPLES[i][!side]), QUESTION_FORM_PEOPLE);
}

static void ask_dates(struct form_search *search)
{
    static const char *const NAMES[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct question_date date;
    for (unsigned way = 0; way < 2; way++) {
        if (!question_read_date(search->text.folded, strlen(search->text.folded), way, &date)) return;
        if (date.year < 0 || date.month < 1 || date.day < 0) return;
        const char *const tries[] = {
            arena_printf(search->arena, "%04d-%02d-%02d", date.year, date.month, date.day),
            arena_printf(search->arena, "%02d/%02d/%04d", date.month, date.day, date.year),
            arena_printf(search->arena, "%02d/%02d/%04d", date.day, date.month, date.year),
            arena_printf(search->arena, "%d/%d/%04d", date.month, date.day, date.year),
            arena_printf(search->arena, "%d/%d/%04d", date.day, date.month, date.year),
            arena_printf(search->arena, "%s %d, %04d", NAMES[date.month - 1], date.day, date.year),
            arena_printf(search->arena, "%d %s %04d", date.day, NAMES[date.month - 1], date.year),
            arena_printf(search->arena, "%04d/%02d/%02d", date.year, date.month, date.day)};
        for (size_t i = 0; i < G_N_ELEMENTS(tries); i++)
            if (tries[i]) ask(search, tries[i], strlen(tries[i]), QUESTION_FORM_DATE);
    }
}

static const char *look_for_stored(struct arena *arena, const struct schema_index *schema,
                                   const struct schema_column *column, const char *text, size_t len,
                                   enum question_form *form)
{
    struct form_search search = {.arena = arena, .schema = schema, .column = column, .form = QUESTION_FORM_NONE};
    const char *near[MAX_NEAR];
    *form = QUESTION_FORM_NONE;
    if (!question_text_of(arena, text, len, &search.text)) return NULL;
    ask_codes(&search);
    ask_peoples(&search);
    ask_dates(&search);
    for (uint32_t i = 0; i < column->stats.n_top && i < MAX_TOP; i++) {
        const struct db_value *top = &column->stats.top[i].value;
        if (top->type == DB_TEXT) offer(&search, top->text, top->len);
    }
    if (search.form < QUESTION_FORM_INITIALS) {
        uint32_t n = schema_nearest_values(arena, schema, column, text, len, near, MAX_NEAR);
        for (uint32_t i = 0; i < n; i++) offer(&search, near[i], strlen(near[i]));
    }
    *form = search.form;
    return search.best;
}

const char *question_stored_form(struct arena *arena, const struct question *question,
                                 const struct schema_index *schema, const struct schema_column *column,
                                 const char *text, size_t len, enum question_form *form)
{
    struct kept_form *kept = kept_form_of(question, column->id, text, len);
    if (kept && kept->known) return *form = kept->form, kept->stored;
    const char *stored = look_for_stored(arena, schema, column, text, len, form);
    if (!kept || arena->failed) return stored;
    kept->form = *form;
    kept->stored = stored ? arena_strdup(question->memo->arena, stored) : NULL;
    kept->known = !stored || kept->stored;
    return stored;
}

/* --- a question and a column -------------------------------------------------------------------------------------- */

struct said_list {
    struct arena *arena;
    const struct question *question;
    const struct schema_index *schema;
    const struct schema_column *column;
    struct question_said *items;
    uint32_t n;
    struct question_text top[MAX_TOP]; /* frequent values, prepared; `letters` is NULL if a value is no text */
    bool top_ready;
};

static void make_top_ready(struct said_list *list)
{
    const struct schema_stats *stats = &list->column->stats;
    for (uint32_t i = 0; i < stats->n_top && i < MAX_TOP && !list->top_ready; i++) {
        const struct db_value *top = &stats->top[i].value;
        if (top->type != DB_TEXT || !question_text_of(list->arena, top->text, top->len, &list->top[i]))
            list->top[i].letters = NULL;
    }
    list->top_ready = true;
}

static bool is_covered(const struct said_list *list, uint32_t token)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (token >= list->items[i].first && token < list->items[i].first + list->items[i].n_tokens) return true;
    return false;
}

static void add_said(struct said_list *list, uint32_t first, uint32_t n_tokens, const char *stored,
                     enum question_form form, bool sure)
{
    if (list->n < QUESTION_MAX_SAID && stored)
        list->items[list->n++] = (struct question_said){first, n_tokens, stored, form, sure};
}

static void add_known(struct said_list *list)
{
    for (uint32_t i = 0; i < list->question->n_values; i++) {
        const struct question_value *value = &list->question->values[i];
        bool sure = value->kind == QUESTION_VALUE_QUOTED || (value->capital && !value->is_name);
        for (uint32_t h = 0; h < value->n_hits; h++)
            if (value->hits[h].column == list->column->id)
                add_said(list, value->first, value->n_tokens, value->hits[h].form, QUESTION_FORM_SAME, sure);
    }
}

/* True if the word is part of a longer or quoted value, which may belong to another column. */
static bool is_in_other_value(const struct question *question, uint32_t token)
{
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        bool longer = value->n_tokens > 1 || value->kind == QUESTION_VALUE_QUOTED;
        if (longer && token >= value->first && token < value->first + value->n_tokens) return true;
    }
    return false;
}

/* Adds the word if it is another form of a frequent value, or if the tables relate it to a value of the column. */
static void add_form(struct said_list *list, uint32_t i)
{
    const struct text_token *token = &list->question->tokens.items[i];
    struct form_search search = {.arena = list->arena,
                                 .schema = list->schema,
                                 .column = list->column,
                                 .text = text_of_token(list->arena, token)};
    const unsigned plain = 1U << CODES_MALE | 1U << CODES_FEMALE | 1U << CODES_YES | 1U << CODES_NO;
    search.text.codes = code_rows(token->norm) & ~plain;
    search.text.people = is_of_people(token->norm);
    if (search.text.codes) ask_codes(&search);
    if (search.text.people) ask_peoples(&search);
    const struct schema_stats *stats = &list->column->stats;
    bool long_enough = strlen(token->norm) >= MIN_PART;
    if (long_enough) make_top_ready(list);
    for (uint32_t t = 0; long_enough && t < stats->n_top && t < MAX_TOP && search.form == QUESTION_FORM_NONE; t++) {
        const struct db_value *top = &stats->top[t].value;
        if (list->top[t].letters) offer_ready(&search, &list->top[t], top->text, top->len);
        if (search.form < QUESTION_FORM_WORD) search.form = QUESTION_FORM_NONE;
    }
    if (search.form != QUESTION_FORM_NONE)
        add_said(list, i, 1, search.best, search.form, search.form < QUESTION_FORM_WORD);
}

/* Returns the number of words that together have these letters: 2 for "walk in" and 'walk_in'. A plural matches, too.
 * Returns 0 if no run of at most MAX_RUN words matches. */
static uint32_t run_with_letters(const struct text_tokens *tokens, uint32_t first, const char *letters)
{
    enum { MAX_RUN = 3 };
    for (uint32_t i = first; i < tokens->n && i < first + MAX_RUN && tokens->items[i].kind == TEXT_WORD; i++) {
        const char *norm = tokens->items[i].norm;
        size_t len = strlen(norm), left = strlen(letters);
        bool plural = len == left + 1 && norm[left] == 's';
        if ((len == left || plural) && strncmp(norm, letters, left) == 0) return i - first + 1;
        if (len >= left || strncmp(norm, letters, len) != 0) return 0;
        letters += len;
    }
    return 0;
}

/* Adds a run of words that a frequent value of the column spells differently: "no show" and 'no-show'. */
static void add_run(struct said_list *list, uint32_t first)
{
    const struct text_tokens *tokens = &list->question->tokens;
    const struct schema_stats *stats = &list->column->stats;
    make_top_ready(list);
    for (uint32_t t = 0; t < stats->n_top && t < MAX_TOP; t++) {
        const struct db_value *top = &stats->top[t].value;
        const char *letters = list->top[t].letters;
        uint32_t n = letters && strlen(letters) >= MIN_SPELLED ? run_with_letters(tokens, first, letters) : 0;
        if (n < 2) continue;
        const char *stored = arena_strndup(list->arena, top->text, top->len);
        add_said(list, first, n, stored, QUESTION_FORM_SAME, false);
        return;
    }
}

static void find_said(struct said_list *list)
{
    const struct question *question = list->question;
    add_known(list);
    for (uint32_t i = 0; i < question->tokens.n && i < MAX_WORDS; i++) {
        const struct text_token *token = &question->tokens.items[i];
        if (token->kind != TEXT_WORD || is_covered(list, i) || is_in_other_value(question, i)) continue;
        add_run(list, i);
        if (!token->is_stop && !token->is_number && !is_covered(list, i)) add_form(list, i);
    }
}

/* The cached values of one column. Candidates compare the same columns repeatedly. */
struct column_said {
    struct question_said *items; /* NULL if not searched yet */
    uint32_t n;
};

const struct question_said *question_values_of(const struct question *question, const struct schema_index *schema,
                                               const struct schema_column *column, uint32_t *n)
{
    struct question_memo *memo = question->memo;
    *n = 0;
    if (!memo->columns) memo->columns = arena_new_array(memo->arena, schema->n_columns, struct column_said);
    if (!memo->columns) return NULL;
    struct column_said *said = &memo->columns[column->id];
    if (!said->items) {
        struct question_said *items = arena_new_array(memo->arena, QUESTION_MAX_SAID, struct question_said);
        if (!items) return NULL;
        struct said_list list = {
            .arena = memo->arena, .question = question, .schema = schema, .column = column, .items = items};
        find_said(&list);
        *said = (struct column_said){items, list.n};
    }
    *n = said->n;
    return said->items;
}

/* True if the word is part of an exact mention of several words. */
static bool is_in_long_name(const struct question *question, uint32_t token)
{
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->exact && m->n_tokens > 1 && token >= m->first && token < m->first + m->n_tokens) return true;
    }
    return false;
}

unsigned question_genders(const struct question *question, uint32_t *first)
{
    unsigned said = 0;
    for (uint32_t i = 0; i < question->tokens.n && i < MAX_WORDS; i++) {
        const struct text_token *token = &question->tokens.items[i];
        bool letter = token->kind == TEXT_QUOTED || (token->is_capital && i > 0);
        enum question_gender gender = question_gender_of(token->norm, strlen(token->norm), letter);
        bool apart = token->kind == TEXT_QUOTED || (!is_in_other_value(question, i) && !is_in_long_name(question, i));
        if (gender == QUESTION_NO_GENDER || !apart) continue;
        said |= 1U << gender;
        *first = i;
    }
    return said;
}
