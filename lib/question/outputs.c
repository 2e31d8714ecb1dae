/* Reads the requested outputs: the columns of the answer, as far as the grammar of the question tells.
 *
 * "Show the name, age and number of pets of each student who ..." → {name} {age} {number of pets}. The list of a
 * sentence begins after its lead ("show", "list", "which"). Commas and "and" separate its phrases. A word such as "of",
 * "for", "who" or "have" ends it. This reading is uncertain, so `outputs_closed` says whether the list is certainly
 * complete. An "and" that may continue the list, or a prefix ("for each city, ..."), clears it. */
#include "lib/question/read.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

enum word_class {
    CLASS_PLAIN,
    CLASS_LEAD,       /* show, find ...: the list follows it */
    CLASS_LEAD_FIRST, /* like CLASS_LEAD at the start of a sentence; elsewhere a plain word (state, order, name) */
    CLASS_WHAT,       /* what, which: the list follows it, perhaps after a verb */
    CLASS_WHO,        /* who: requests one entity; a clause follows it */
    CLASS_SKIP,       /* the, all, their: belongs to no phrase */
    CLASS_AUXILIARY,  /* do, can: if it follows a phrase, a clause follows it */
    CLASS_SPLIT,      /* and, as well as */
    CLASS_OF,         /* of: the list may continue after the object of this word */
    CLASS_END,        /* for, in, with: ends the list, which a later "and" may continue */
    CLASS_CLAUSE,     /* who, whose, that, have: begins a condition; a later "and" belongs to the condition */
    CLASS_BE,         /* is, are */
    CLASS_VAGUE       /* information, details: requests any number of columns */
};

static const struct {
    enum word_class class;
    const char *words;
} CLASSES[] = {
    {CLASS_LEAD,
     "show list find give return display get tell provide compute calculate select identify retrieve print"},
    {CLASS_LEAD_FIRST, "report state output present sort order determine count fetch name describe"},
    {CLASS_WHAT, "what which what's"},
    {CLASS_WHO, "who whom where when"},
    {CLASS_SKIP,
     "the a an all me us out back please their its his her every each any some different distinct unique "
     "possible also only these those this both various corresponding available existing there we you i need want "
     "know see to just full complete"},
    {CLASS_AUXILIARY, "do does did can could would will"},
    {CLASS_SPLIT, "and & plus alongside"},
    {CLASS_OF, "of"},
    {CLASS_END, "for from in on at by to during under over after before than among across within without about sorted "
                "ordered into against per through between along ordering sorting"},
    {CLASS_CLAUSE, "who whose whom that which where when with have has had having if used made held given ever not "
                   "whether but such belong belongs located exist exists named called"},
    {CLASS_BE, "is are was were be been"},
    {CLASS_VAGUE,
     "information info details detail everything records record data contents content profile attributes "
     "properties rows fields address addresses location locations coordinates pair pairs period range duration "
     "scoreline contact contacts"},
};

static GHashTable *classes; /* word → bits 1U << enum word_class; a word may have several */

static void build_classes(void)
{
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = G_N_ELEMENTS(CLASSES); i-- > 0;) {
        char **words = g_strsplit(CLASSES[i].words, " ", -1);
        for (char **w = words; *w; w++) {
            guint bits = GPOINTER_TO_UINT(g_hash_table_lookup(table, *w));
            g_hash_table_insert(table, g_strdup(*w), GUINT_TO_POINTER(bits | 1U << CLASSES[i].class));
        }
        g_strfreev(words);
    }
    classes = table;
}

static GHashTable *class_table(void)
{
    static pthread_once_t built = PTHREAD_ONCE_INIT; /* not g_once: ThreadSanitizer does not see into GLib */
    pthread_once(&built, build_classes);
    return classes;
}

struct output_scan {
    struct reader *reader;
    struct question *out;
    const struct text_token *tokens;
    uint32_t *classes; /* bits 1U << enum word_class of each token */
    uint32_t end;      /* end of the sentence */
    bool also;         /* true if the sentence requests more outputs besides those of earlier sentences */
};

static bool is_class(const struct output_scan *scan, uint32_t token, enum word_class class)
{
    return scan->classes[token] >> class & 1U;
}

static bool is_word(const struct output_scan *scan, uint32_t token, const char *word)
{
    return token < scan->end && strcmp(scan->tokens[token].norm, word) == 0;
}

static bool is_comma(const struct output_scan *scan, uint32_t token)
{
    return token < scan->end && scan->tokens[token].kind == TEXT_PUNCT && scan->tokens[token].norm[0] == ',';
}

/* Returns the cue that contains the token and has one of these kinds (bits 1U << kind). Returns NULL if there is
 * none. */
static const struct question_cue *cue_at(const struct question *out, uint32_t token, unsigned kinds)
{
    for (uint32_t i = 0; i < out->n_cues && out->cues[i].first <= token; i++)
        if (token < out->cues[i].first + out->cues[i].n_tokens && kinds >> out->cues[i].kind & 1U) return &out->cues[i];
    return NULL;
}

static const unsigned COMPUTED = 1U << QUESTION_CUE_COUNT | 1U << QUESTION_CUE_QUANTITY | 1U << QUESTION_CUE_AVERAGE |
                                 1U << QUESTION_CUE_TOTAL | 1U << QUESTION_CUE_MAXIMUM | 1U << QUESTION_CUE_MINIMUM |
                                 1U << QUESTION_CUE_RATIO;

/* True if the tokens only say how to sort: "oldest first". */
static bool only_sorts(const struct question *out, uint32_t first, uint32_t end)
{
    while (first < end && cue_at(out, first, 1U << QUESTION_CUE_DIRECTION | 1U << QUESTION_CUE_SORT)) first++;
    return first == end;
}

static void push_phrase(struct output_scan *scan, uint32_t first, uint32_t end)
{
    struct question *out = scan->out;
    if (first >= end || only_sorts(out, first, end) || out->n_outputs == READ_MAX_OUTPUTS) return;
    struct question_output *output = &out->outputs[out->n_outputs++];
    *output = (struct question_output){.first = first, .n_tokens = end - first, .entity = true};
    for (uint32_t i = first; i < end; i++) {
        const struct question_mention *column = read_mention_at(out, i, true), *table = read_mention_at(out, i, false);
        output->computed |= cue_at(out, i, COMPUTED) != NULL;
        if (column && column->score > 0.45 && !(table && table->score >= column->score)) output->entity = false;
        if (is_class(scan, i, CLASS_VAGUE)) output->vague = true;
    }
}

/* Returns the number of tokens of the separator that begins at the token; 0 if there is none. */
static uint32_t split_at(const struct output_scan *scan, uint32_t i)
{
    if (is_word(scan, i, "as") && is_word(scan, i + 1, "well") && is_word(scan, i + 2, "as")) return 3;
    if ((is_word(scan, i, "along") || is_word(scan, i, "together")) && is_word(scan, i + 1, "with")) return 2;
    if (is_word(scan, i, "next") && is_word(scan, i + 1, "to")) return 2;
    if (is_comma(scan, i)) return is_word(scan, i + 1, "and") ? 2 : 1;
    return is_class(scan, i, CLASS_SPLIT) ? 1 : 0;
}

/* True if a phrase begins here that certainly requests an output: "their ages", "how many", "the number of". */
static bool surely_asks(const struct output_scan *scan, uint32_t i)
{
    static const char *const WORDS[] = {"their", "its", "how", "what", "when", "where", "who"};
    for (size_t w = 0; w < G_N_ELEMENTS(WORDS); w++)
        if (is_word(scan, i, WORDS[w])) return true;
    while (i < scan->end && is_class(scan, i, CLASS_SKIP)) i++;
    return i < scan->end && cue_at(scan->out, i, COMPUTED);
}

/* True if the phrase continues after this "of": "date of birth", "number of pets". */
static bool of_inside(const struct output_scan *scan, uint32_t of, uint32_t first)
{
    const struct question *out = scan->out;
    if (of > first && cue_at(out, of - 1, COMPUTED)) return true;
    if (cue_at(out, of, COMPUTED)) return true;
    const struct question_mention *mention = read_mention_at(out, of, true);
    return mention && mention->score > 0.8 && mention->first >= first && mention->first < of;
}

/* True if an article and then the exact name of a column begin here: "the titles". */
static bool names_column(const struct output_scan *scan, uint32_t i)
{
    uint32_t first = i;
    while (i < scan->end && is_class(scan, i, CLASS_SKIP)) i++;
    if (i == first || i >= scan->end) return false;
    const struct question_mention *column = read_mention_at(scan->out, i, true);
    const struct question_mention *table = read_mention_at(scan->out, i, false);
    return column && column->first == i && column->exact && column->score > 0.75 &&
           !(table && table->score >= column->score);
}

/* Skips the objects after "of". Returns the token at which the list continues, or 0 if the list ends. Clears
 * `outputs_closed` if the list may continue. */
static uint32_t after_of(struct output_scan *scan, uint32_t i)
{
    for (; i < scan->end; i++) {
        uint32_t split = split_at(scan, i);
        if (split && (surely_asks(scan, i + split) || names_column(scan, i + split))) return i + split;
        if (split) {
            scan->out->outputs_closed = false;
            return 0;
        }
        if (is_class(scan, i, CLASS_CLAUSE) || is_class(scan, i, CLASS_BE)) return 0;
    }
    return 0;
}

/* True if the sentence ends with a column that it may request: "..., and the course id." */
static bool ends_in_column(const struct output_scan *scan, uint32_t i)
{
    while (i < scan->end && (is_class(scan, i, CLASS_SKIP) || is_class(scan, i, CLASS_SPLIT))) i++;
    const struct question_mention *mention = i < scan->end ? read_mention_at(scan->out, i, true) : NULL;
    return mention && mention->exact && mention->score > 0.75 && mention->first + mention->n_tokens == scan->end;
}

/* Inspects the rest of the sentence, and clears `outputs_closed` if the rest may request more outputs. `clause` is true
 * if a condition has already begun. */
static void doubt_rest(struct output_scan *scan, uint32_t i, bool clause)
{
    for (; i < scan->end; i++) {
        uint32_t split = split_at(scan, i);
        if (is_class(scan, i, CLASS_CLAUSE)) clause = true;
        if (!split || i + split >= scan->end) continue;
        uint32_t next = i + split;
        bool sorts = is_word(scan, next, "sort") || is_word(scan, next, "order") || is_word(scan, next, "sorted") ||
                     is_word(scan, next, "ordered") || is_word(scan, next, "rank");
        if (sorts) continue;
        bool asks = surely_asks(scan, next) || is_class(scan, next, CLASS_LEAD) || is_class(scan, next, CLASS_WHAT) ||
                    is_word(scan, next, "also");
        if (asks || !clause || ends_in_column(scan, next)) scan->out->outputs_closed = false;
        i = next - 1;
    }
}

/* True if an "and" in the phrase may join two operands: "the sum of A and B", "the difference between A and B". */
static bool holds_pair(const struct output_scan *scan, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (cue_at(scan->out, i, 1U << QUESTION_CUE_TOTAL | 1U << QUESTION_CUE_RATIO)) return true;
    return false;
}

static void read_list(struct output_scan *scan, uint32_t i)
{
    uint32_t first = UINT32_MAX, start = i;
    for (; i < scan->end; i++) {
        uint32_t split = split_at(scan, i);
        bool open = first != UINT32_MAX;
        if (split) {
            if (open) push_phrase(scan, first, i);
            if (open && holds_pair(scan, first, i)) scan->out->outputs_closed = false;
            first = UINT32_MAX;
            i += split - 1;
            if (i + 1 < scan->end && is_class(scan, i + 1, CLASS_LEAD) && !cue_at(scan->out, i + 1, COMPUTED)) break;
            continue;
        }
        if (open && is_class(scan, i, CLASS_OF)) {
            if (of_inside(scan, i, first)) continue;
            push_phrase(scan, first, i);
            first = UINT32_MAX;
            uint32_t on = after_of(scan, i + 1);
            if (!on) break;
            i = on - 1;
            continue;
        }
        if (scan->tokens[i].kind == TEXT_PUNCT && strchr("(:", scan->tokens[i].norm[0])) {
            scan->out->outputs_closed = false; /* the text in parentheses may be a requested output */
            break;
        }
        if (open && (is_class(scan, i, CLASS_END) || is_class(scan, i, CLASS_CLAUSE) || is_class(scan, i, CLASS_BE))) {
            if (!cue_at(scan->out, i, COMPUTED)) break;
        }
        if (is_class(scan, i, CLASS_AUXILIARY) && open) break;
        if (!open && (is_class(scan, i, CLASS_SKIP) || is_class(scan, i, CLASS_AUXILIARY))) continue;
        if (!open && i > start && (is_class(scan, i, CLASS_END) || is_class(scan, i, CLASS_CLAUSE)) &&
            !cue_at(scan->out, i, COMPUTED))
            break;
        if (!open && (is_class(scan, i, CLASS_BE) || is_class(scan, i, CLASS_WHAT)) && !cue_at(scan->out, i, COMPUTED))
            continue;
        if (!open) first = i;
    }
    if (first != UINT32_MAX) push_phrase(scan, first, i);
    if (is_word(scan, i, "with") && surely_asks(scan, i + 1)) scan->out->outputs_closed = false;
    if (i < scan->end) doubt_rest(scan, i, is_class(scan, i, CLASS_CLAUSE) || is_class(scan, i, CLASS_BE));
}

/* Returns the first token of the list of a sentence; UINT32_MAX if no list can be read. */
static uint32_t find_lead(struct output_scan *scan, uint32_t first)
{
    uint32_t i = first;
    if (is_word(scan, i, "also") || is_word(scan, i, "additionally")) scan->also = true;
    while (i < scan->end &&
           (is_word(scan, i, "please") || is_word(scan, i, "can") || is_word(scan, i, "could") ||
            is_word(scan, i, "you") || is_word(scan, i, "also") || is_word(scan, i, "i") || is_word(scan, i, "and")))
        i++;
    if (i < scan->end && is_class(scan, i, CLASS_END)) { /* a prefix: "For each city, ...", "In which year ..." */
        uint32_t comma = i;
        while (comma < scan->end && !is_comma(scan, comma)) comma++;
        scan->out->outputs_closed = false;
        if (comma < scan->end)
            i = comma + 1;
        else
            return is_class(scan, i + 1, CLASS_WHAT) ? i + 1 : UINT32_MAX;
    }
    if (i >= scan->end) return UINT32_MAX;
    if (cue_at(scan->out, i, COMPUTED)) return i;
    if (is_class(scan, i, CLASS_LEAD) || is_class(scan, i, CLASS_LEAD_FIRST) || is_class(scan, i, CLASS_WHAT))
        return i + 1;
    return UINT32_MAX;
}

static void read_sentence(struct output_scan *scan, uint32_t first)
{
    struct question *out = scan->out;
    uint32_t before = out->n_outputs;
    scan->also = false;
    if (is_class(scan, first, CLASS_WHO)) {
        push_phrase(scan, first, first + 1);
        out->outputs[out->n_outputs - 1].entity = true;
        doubt_rest(scan, first + 1, true);
    } else {
        uint32_t lead = find_lead(scan, first);
        if (lead == UINT32_MAX || lead >= scan->end) {
            out->outputs_closed = false;
            return;
        }
        read_list(scan, lead);
    }
    if (out->n_outputs == before) out->outputs_closed = false;
    if (before && out->n_outputs > before &&
        !scan->also) { /* "Which ...? List their ids." usually requests only the ids */
        memmove(out->outputs, out->outputs + before, (out->n_outputs - before) * sizeof *out->outputs);
        out->n_outputs -= before;
        out->outputs_closed = false;
    }
}

static bool ends_sentence(const struct text_token *token)
{
    return token->kind == TEXT_PUNCT && strchr(".?!;", token->norm[0]);
}

bool read_outputs(struct reader *reader)
{
    struct question *out = reader->out;
    GHashTable *table = class_table();
    struct output_scan scan = {.reader = reader, .out = out, .tokens = out->tokens.items};
    out->outputs = arena_new_array(reader->arena, READ_MAX_OUTPUTS, struct question_output);
    scan.classes = arena_array(reader->arena, out->tokens.n + 1, sizeof *scan.classes);
    if (!out->outputs || !scan.classes) return false;
    for (uint32_t i = 0; i < out->tokens.n; i++)
        if (scan.tokens[i].kind == TEXT_WORD)
            scan.classes[i] = GPOINTER_TO_UINT(g_hash_table_lookup(table, scan.tokens[i].norm));
    out->outputs_closed = true;
    for (uint32_t first = 0; first < out->tokens.n; first = scan.end + 1) {
        scan.end = first;
        while (scan.end < out->tokens.n && !ends_sentence(&scan.tokens[scan.end])) scan.end++;
        if (scan.end > first) read_sentence(&scan, first);
    }
    if (!out->n_outputs) out->outputs_closed = false;
    return true;
}
