/* Compares the facts of a rewritten text with the facts of the original (paraphrase.h).
 *
 * Values come first: each quoted text of the original must occur, and is then blanked out in both texts. The remaining
 * text is tokenized into names, numbers, signs and senses. Plain words of a sentence are ignored, unless the caller
 * lists them as names. Number words and groups of digits are converted to their value. The check reports the first
 * difference, which is the same in every run. */
#include "lib/text/paraphrase.h"

#include "lib/text/text.h"

#include <glib.h>
#include <string.h>

/* Plain words of sentences about queries and results, which are no names. They are compared as written and not by stem:
 * "named" is plain, "name" is not. Sorted. */
static const char *const plain_words[] = {
    "according",    "across",     "additionally",  "again",       "altogether",  "always",       "answer",
    "answers",      "appear",     "appears",       "applied",     "apply",       "asked",        "asks",
    "based",        "basis",      "behind",        "belong",      "belonging",   "belongs",      "calculated",
    "calculates",   "called",     "came",          "case",        "checked",     "checks",       "chosen",
    "combined",     "come",       "comes",         "comprises",   "computed",    "computes",     "condition",
    "conditions",   "connected",  "connects",      "considered",  "considers",   "consists",     "contain",
    "containing",   "contains",   "corresponding", "corresponds", "count",       "counted",      "counting",
    "counts",       "covered",    "covering",      "covers",      "database",    "derived",      "described",
    "describes",    "describing", "drawn",         "draws",       "entries",     "entry",        "equal",
    "equals",       "example",    "examples",      "exist",       "exists",      "filter",       "filtered",
    "filters",      "find",       "finds",         "first",       "following",   "forms",        "found",
    "gathered",     "gave",       "gets",          "give",        "given",       "gives",        "group",
    "grouped",      "grouping",   "groups",        "happens",     "has",         "held",         "holds",
    "identified",   "identifies", "illustrate",    "illustrated", "illustrates", "include",      "included",
    "includes",     "including",  "instance",      "instances",   "join",        "joined",       "joining",
    "joins",        "keep",       "keeping",       "keeps",       "kept",        "leaves",       "leaving",
    "left",         "like",       "limited",       "limits",      "linked",      "linking",      "list",
    "listed",       "listing",    "lists",         "look",        "looked",      "looking",      "looks",
    "made",         "match",      "matched",       "matches",     "matching",    "meaning",      "means",
    "meet",         "meets",      "namely",        "narrowed",    "narrows",     "number",       "obtained",
    "once",         "ordered",    "ordering",      "outcome",     "output",      "overall",      "part",
    "picked",       "picking",    "picks",         "produces",    "provides",    "put",          "queries",
    "query",        "ranked",     "ranking",       "ranks",       "record",      "records",      "referring",
    "refers",       "remain",     "remaining",     "remains",     "repeated",    "reported",     "represents",
    "respectively", "restricted", "result",        "resulting",   "results",     "retrieved",    "retrieves",
    "return",       "returned",   "returning",     "returns",     "row",         "rows",         "say",
    "saying",       "says",       "searched",      "searches",    "seen",        "selected",     "selects",
    "set",          "show",       "showing",       "shown",       "shows",       "single",       "sort",
    "sorted",       "sorting",    "sorts",         "source",      "specific",    "specifically", "stand",
    "standing",     "stands",     "starts",        "stated",      "statement",   "stating",      "stored",
    "summarised",   "summarises", "summarising",   "summarized",  "summarizes",  "summarizing",  "summary",
    "supported",    "supports",   "table",         "tables",      "take",        "taken",        "takes",
    "taking",       "tell",       "tells",         "therefore",   "thus",        "together",     "total",
    "turned",       "turns",      "underlying",    "uses",        "using",       "value",        "values",
    "whole",        "worked",     "works",         "written",     "yielding",    "yields",
};

/* Words of the same sense. If one of the two texts has a word of a row, the other must also have a word of that row. */
static const struct {
    const char *name, *words;
} senses[] = {
    {"greater", " greater more above over exceed exceeds exceeding larger bigger higher longer older later after "},
    {"less", " less fewer below under smaller lower shorter younger earlier before "},
    {"most", " most highest largest maximum max greatest biggest longest oldest latest "},
    {"least", " least lowest smallest minimum min fewest shortest youngest earliest "},
    {"not", " not no never without none neither nor except excluding excluded cannot nothing nobody unlike "},
    {"average", " average averages averaged mean "},
    {"distinct", " distinct different unique "},
    {"between", " between "},
};

static const struct {
    const char *word;
    double number;
} ordinals[] = {{"first", 1}, {"second", 2},  {"third", 3},  {"fourth", 4}, {"fifth", 5},
                {"sixth", 6}, {"seventh", 7}, {"eighth", 8}, {"ninth", 9},  {"tenth", 10}};

/* The facts of a text. */
struct facts {
    struct arena *arena;
    GHashTable *names; /* stem → the word */
    GArray *numbers;   /* of double */
    GString *signs;    /* unit signs: %, $ ... */
    unsigned senses;   /* bit i for row i of `senses` */
    bool has_article;  /* true if it has "a", "only" or the like, which may mean 1 */
};

/* --- words --- */

static int by_text(const void *word, const void *row)
{
    return strcmp(word, *(const char *const *)row);
}

static bool is_plain(const char *norm)
{
    return text_is_stop(norm) ||
           bsearch(norm, plain_words, G_N_ELEMENTS(plain_words), sizeof *plain_words, by_text) != NULL;
}

/* Returns the row of senses that contains the word, or -1. "doesn't" counts as "not". */
static int sense_of(const char *norm)
{
    char padded[24];
    size_t len = strlen(norm);
    if (len > 3 && (strcmp(norm + len - 3, "n't") == 0 || g_str_has_suffix(norm, "n\xE2\x80\x99t"))) norm = "not";
    if (g_snprintf(padded, sizeof padded, " %s ", norm) >= (int)sizeof padded) return -1;
    for (unsigned i = 0; i < G_N_ELEMENTS(senses); i++)
        if (strstr(senses[i].words, padded)) return (int)i;
    return -1;
}

/* Adds a name under its stem. The first spelling of a stem remains. */
static bool add_name(struct facts *facts, const char *stem, const char *norm)
{
    if (stem && !g_hash_table_contains(facts->names, stem))
        g_hash_table_insert(facts->names, (gpointer)stem, (gpointer)norm);
    return stem != NULL;
}

static bool add_plain_or_stem(struct facts *facts, const struct text_token *token)
{
    return add_name(facts, is_plain(token->norm) ? token->norm : token->stem, token->norm);
}

/* Adds a quoted word. Even a plain word counts as a name if it is quoted. */
static bool add_quoted(struct facts *facts, const char *norm)
{
    const char *stem = is_plain(norm) ? arena_printf(facts->arena, "'%s'", norm) : text_stem(facts->arena, norm);
    return add_name(facts, stem, norm);
}

/* Adds a word as its sense or as a name. Names such as customer_id and HTTPServer are added as several words. */
static bool add_word(struct facts *facts, const char *source, const struct text_token *token)
{
    const char *text = source + token->start;
    size_t len = token->end - token->start;
    int sense = sense_of(token->norm);
    if (sense >= 0) {
        facts->senses |= 1U << sense;
        return true;
    }
    static const char *const ones[] = {"a", "an", "only", "single", "one", "sole", "once"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ones); i++) facts->has_article |= strcmp(token->norm, ones[i]) == 0;
    bool joined = memchr(text, '_', len) || memchr(text, '-', len);
    for (size_t i = 1; i < len; i++) joined |= g_ascii_islower(text[i - 1]) && g_ascii_isupper(text[i]);
    if (!joined) return add_plain_or_stem(facts, token);
    struct text_tokens parts = text_split_identifier(facts->arena, text, len);
    for (uint32_t i = 0; parts.items && i < parts.n; i++) add_plain_or_stem(facts, &parts.items[i]);
    return parts.items != NULL;
}

/* --- numbers --- */

static bool multiplies(double number)
{
    return number == 12 || number == 100 || number >= 1000;
}

/* Returns the number of an ordinal: 1 for "first", 2 for "2nd". Returns 0 for any other word. */
static double ordinal(const char *norm)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ordinals); i++)
        if (strcmp(norm, ordinals[i].word) == 0) return ordinals[i].number;
    char *end = NULL;
    guint64 number = g_ascii_isdigit(*norm) ? g_ascii_strtoull(norm, &end, 10) : 0;
    bool suffix = end && (!strcmp(end, "st") || !strcmp(end, "nd") || !strcmp(end, "rd") || !strcmp(end, "th"));
    return suffix ? (double)number : 0;
}

/* Reads "1 234 567", with one space of any kind before each group of three digits. Returns the number of tokens from
 * `at` on that form one number, at least 1. */
static uint32_t digit_groups(const struct text_tokens *tokens, uint32_t at, double *number)
{
    const struct text_token *t = tokens->items;
    uint32_t n = 1;
    *number = t[at].number;
    if (t[at].kind != TEXT_NUMBER || t[at].end - t[at].start > 3 || t[at].number < 1) return n;
    for (; at + n < tokens->n && t[at + n].kind == TEXT_NUMBER && t[at + n].end - t[at + n].start == 3; n++) {
        const char *gap = tokens->source + t[at + n - 1].end;
        if (t[at + n].start - t[at + n - 1].end != (uint32_t)(g_utf8_next_char(gap) - gap)) break;
        *number = *number * 1000 + t[at + n].number;
    }
    return n;
}

/* Reads the number that begins at `at`: "two hundred and five", "2.5 million". *number gets its value. Returns the
 * number of tokens. */
static uint32_t read_number(const struct text_tokens *tokens, uint32_t at, double *number)
{
    const struct text_token *t = tokens->items;
    double whole = 0, part = t[at].number;
    uint32_t n = digit_groups(tokens, at, &part);
    if (t[at].kind == TEXT_WORD && multiplies(part)) {
        whole = part >= 1000 ? part : 0;
        part = part >= 1000 ? 0 : part;
    }
    for (uint32_t next = at + n; next < tokens->n; next = at + n) {
        bool linked = strcmp(t[next].norm, "and") == 0 && (whole > 0 || part >= 100) && next + 1 < tokens->n;
        const struct text_token *token = &t[next + linked];
        if (token->kind != TEXT_WORD || !token->is_number) break;
        if (token->number >= 1000) {
            whole += (part > 0 ? part : 1) * token->number;
            part = 0;
        } else if (multiplies(token->number)) {
            part = (part > 0 ? part : 1) * token->number;
        } else {
            part += token->number;
        }
        n += 1 + linked;
    }
    *number = whole + part;
    return n;
}

/* --- reading a text --- */

/* True for punctuation that does not change the meaning. */
static bool is_silent(const char *norm)
{
    static const char *const silent =
        ".,;:!?()[]'\"`-\xE2\x80\x93\xE2\x80\x94\xE2\x80\xA6\xE2\x80\x98\xE2\x80\x99\xE2\x80\x9C\xE2\x80\x9D*#";
    return strstr(silent, norm) != NULL;
}

static bool read_facts(struct facts *facts, const char *text)
{
    struct text_tokens tokens = text_tokenize(facts->arena, text, strlen(text));
    uint32_t taken = 1;
    for (uint32_t i = 0; tokens.items && i < tokens.n; i += taken) {
        const struct text_token *token = &tokens.items[i];
        double number = token->kind == TEXT_WORD ? ordinal(token->norm) : 0;
        taken = 1;
        if (token->kind == TEXT_PUNCT) {
            if (!is_silent(token->norm)) g_string_append(facts->signs, token->norm);
        } else if (number > 0) {
            g_array_append_val(facts->numbers, number);
        } else if (token->is_number) {
            taken = read_number(&tokens, i, &number);
            g_array_append_val(facts->numbers, number);
        } else if (!(token->kind == TEXT_QUOTED ? add_quoted(facts, token->norm) : add_word(facts, text, token))) {
            return false;
        }
    }
    return tokens.items != NULL;
}

static struct facts facts_new(struct arena *arena)
{
    return (struct facts){.arena = arena,
                          .names = g_hash_table_new(g_str_hash, g_str_equal),
                          .numbers = g_array_new(FALSE, FALSE, sizeof(double)),
                          .signs = g_string_new(NULL)};
}

static void facts_free(struct facts *facts)
{
    g_hash_table_destroy(facts->names);
    g_array_free(facts->numbers, TRUE);
    g_string_free(facts->signs, TRUE);
}

/* --- comparing --- */

static bool differs(struct paraphrase_difference *out, bool added, const char *kind, const char *what)
{
    *out = (struct paraphrase_difference){added, kind, ""};
    size_t n = 0;
    for (const char *c = what; *c && n + 1 < sizeof out->what; c++) out->what[n++] = g_ascii_iscntrl(*c) ? ' ' : *c;
    while (n && !g_utf8_validate(out->what, (gssize)n, NULL)) n--;
    out->what[n] = 0;
    return true;
}

static bool has_number(const struct facts *facts, double number)
{
    for (guint i = 0; i < facts->numbers->len; i++)
        if (g_array_index(facts->numbers, double, i) == number) return true;
    return number == 1 && facts->has_article;
}

/* Finds a number of `in` that is missing from `other`. Ignores an added 1, because it may be a pronoun: "the one". */
static bool numbers_differ(const struct facts *in, const struct facts *other, bool added,
                           struct paraphrase_difference *out)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (guint i = 0; i < in->numbers->len; i++) {
        double number = g_array_index(in->numbers, double, i);
        if (has_number(other, number) || (added && number == 1)) continue;
        return differs(out, added, "number", g_ascii_dtostr(text, sizeof text, number));
    }
    return false;
}

/* Finds a name of `in` that is missing from `other`. A plain word counts as a name only if it is in `always`. */
static bool names_differ(const struct facts *in, const struct facts *other, GHashTable *always, bool added,
                         struct paraphrase_difference *out)
{
    GHashTableIter iter;
    gpointer name, norm;
    const char *found = NULL;
    g_hash_table_iter_init(&iter, in->names);
    while (g_hash_table_iter_next(&iter, &name, &norm)) {
        if (g_hash_table_contains(other->names, name)) continue;
        if (is_plain(name) && !(always && g_hash_table_contains(always, name))) continue;
        if (!found || strcmp(norm, found) < 0) found = norm; /* independent of the hash table's order */
    }
    return found && differs(out, added, "name", found);
}

static bool senses_differ(const struct facts *text, const struct facts *original, struct paraphrase_difference *out)
{
    unsigned odd = text->senses ^ original->senses;
    for (unsigned i = 0; i < G_N_ELEMENTS(senses); i++)
        if (odd >> i & 1) return differs(out, text->senses >> i & 1, "sense of", senses[i].name);
    return false;
}

static bool signs_differ(const struct facts *text, const struct facts *original, struct paraphrase_difference *out)
{
    for (const char *c = text->signs->str; *c; c = g_utf8_next_char(c)) {
        char sign[8] = "";
        g_utf8_strncpy(sign, c, 1);
        if (!strstr(original->signs->str, sign)) return differs(out, true, "sign", sign);
    }
    return false;
}

/* --- values --- */

static const char *const quotes[][2] = {
    {"'", "'"}, {"\"", "\""}, {"`", "`"}, {"\xE2\x80\x98", "\xE2\x80\x99"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"}};

static bool is_letter_before(const char *text, const char *at)
{
    const char *before = g_utf8_find_prev_char(text, at);
    return before && g_unichar_isalnum(g_utf8_get_char(before));
}

/* Returns the next value of the original from *at on, and blanks it out. A value is the text between single quotes; in
 * it, two quotes denote one. Returns NULL if there are no more values. Free with g_free. */
static char *take_value(char *original, size_t *at)
{
    char *open = original + *at;
    while ((open = strchr(open, '\'')) && is_letter_before(original, open)) open++;
    if (!open) return NULL;
    GString *value = g_string_new(NULL);
    char *c = open + 1;
    for (; *c && (*c != '\'' || c[1] == '\''); c++) {
        g_string_append_c(value, *c);
        if (*c == '\'') c++;
    }
    if (*c) c++;
    *at = (size_t)(c - original);
    memset(open, ' ', (size_t)(c - open));
    return g_string_free(value, FALSE);
}

/* Blanks out each occurrence of `value` in the text that is in quotes. If `bare`, also those without quotes. Returns
 * false if there was none. */
static bool blank_value(char *text, const char *value, bool bare)
{
    size_t len = strlen(value);
    bool found = false;
    for (char *at = text; len && (at = strstr(at, value)); at += len) {
        char *from = at, *to = at + len;
        bool quoted = false;
        for (unsigned i = 0; i < G_N_ELEMENTS(quotes) && !quoted; i++) {
            size_t open = strlen(quotes[i][0]), close = strlen(quotes[i][1]);
            quoted = (size_t)(at - text) >= open && memcmp(at - open, quotes[i][0], open) == 0 &&
                     g_str_has_prefix(to, quotes[i][1]);
            if (!quoted) continue;
            from -= open;
            to += close;
        }
        bool whole = !is_letter_before(text, at) && !g_unichar_isalnum(g_utf8_get_char(to));
        if (!quoted && !(bare && whole)) continue;
        memset(from, ' ', (size_t)(to - from));
        found = true;
    }
    return found;
}

static gint longest_first(gconstpointer a, gconstpointer b)
{
    size_t left = strlen(*(char *const *)a), right = strlen(*(char *const *)b);
    return left < right ? 1 : left > right ? -1 : strcmp(*(char *const *)a, *(char *const *)b);
}

static char *with_quotes_doubled(const char *value)
{
    char **parts = g_strsplit(value, "'", -1), *out = g_strjoinv("''", parts);
    g_strfreev(parts);
    return out;
}

/* Blanks out the values in both texts. Returns true if the rewritten text lacks a value. */
static bool values_differ(char *text, char *original, struct paraphrase_difference *out)
{
    GPtrArray *values = g_ptr_array_new_with_free_func(g_free);
    size_t at = 0;
    for (char *value; (value = take_value(original, &at));) g_ptr_array_add(values, value);
    g_ptr_array_sort(values, longest_first);
    bool lost = false;
    for (guint i = 0; i < values->len && !lost; i++) {
        const char *value = values->pdata[i];
        if (i && strcmp(value, values->pdata[i - 1]) == 0) continue;
        char *doubled = with_quotes_doubled(value), *low = g_utf8_strdown(value, -1);
        bool found = blank_value(text, doubled, false);
        found |= blank_value(text, value, !is_plain(low));
        if (*value && !found) lost = differs(out, false, "value", value);
        g_free(doubled);
        g_free(low);
    }
    g_ptr_array_free(values, TRUE);
    return lost;
}

/* --- the whole check --- */

static GHashTable *words_of(struct arena *arena, const char *const *names, size_t n)
{
    GHashTable *words = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < n; i++) {
        struct text_tokens parts = text_split_identifier(arena, names[i], strlen(names[i]));
        for (uint32_t k = 0; parts.items && k < parts.n; k++) g_hash_table_add(words, (gpointer)parts.items[k].norm);
    }
    return words;
}

static bool any_differs(struct facts *text, struct facts *original, GHashTable *names,
                        struct paraphrase_difference *out)
{
    return numbers_differ(text, original, true, out) || numbers_differ(original, text, false, out) ||
           signs_differ(text, original, out) || senses_differ(text, original, out) ||
           names_differ(text, original, NULL, true, out) || names_differ(original, text, names, false, out);
}

bool paraphrase_check(struct arena *arena, const char *text, const char *original, const char *const *names,
                      size_t n_names, struct paraphrase_difference *out)
{
    char *own = arena_strdup(arena, text), *of = arena_strdup(arena, original);
    struct facts ours = facts_new(arena), theirs = facts_new(arena);
    GHashTable *always = words_of(arena, names, n_names);
    bool different = !own || !of;
    if (different)
        differs(out, false, "memory", "");
    else if (!(different = values_differ(own, of, out)) && (!read_facts(&ours, own) || !read_facts(&theirs, of)))
        different = differs(out, false, "memory", "");
    if (!different) different = any_differs(&ours, &theirs, always, out);
    g_hash_table_destroy(always);
    facts_free(&ours);
    facts_free(&theirs);
    return !different;
}
