/* Turns the explanations of several readings into one question.
 *
 * DESIGN. Each reading is explained without its data (explain.h). Its phrases are sorted into *aspects*: the columns
 * shown, the rows, the groups, the order and others. Two readings agree in an aspect if the premises of its phrases are
 * equal. The prose does not serve for this, because it omits obvious parts, which may differ between queries. The joins
 * usually follow from the other aspects, so they count only if nothing else differs.
 *
 * If one aspect differs, the question is the one that ASPECTS has for it. Two cases have a question of their own,
 * because users often overlook them. One is a tie: one row by order, or all rows with the largest value. The other is
 * rows without a match. If several aspects or an inner query differ, each choice states the differing phrases of its
 * reading, or the whole reading. */
#include "lib/explain/readings.h"

#include "lib/explain/provenance.h"
#include "lib/explain/say.h"
#include "lib/sql/sql.h"

#include <string.h>

enum { CHOICE_BYTES = 600, QUESTION_BYTES = 300, MAX_NESTING = 4 };

enum aspect { SHOWN, KEPT, EACH, GROUPS_KEPT, ORDER, HOW_MANY, COMBINED, JOINED, ASPECT_COUNT };

/* The wording of an aspect: the start and the end of a phrase in prose, and the text that replaces both in a choice. */
struct wording {
    const char *head, *tail, *before;
};

static const struct {
    const char *question;
    const char *absent; /* the choice for a reading that lacks this aspect */
    struct wording wordings[4];
} ASPECTS[ASPECT_COUNT] = {
    [SHOWN] = {"What do you want to see?",
               "none of that",
               {{"The query returns one row: ", "", ""}, {"The query returns ", "", ""}, {"Query ", "", ""}}},
    [KEPT] = {"Which of them do you mean?", "all of them", {{"Only rows where ", " are kept", "only those where "}}},
    [EACH] = {"What should the result have one row for?",
              "all of them together",
              {{"Rows are put into groups by ", "", "one for each "}}},
    [GROUPS_KEPT] = {"Which of them do you mean?",
                     "all of them",
                     {{"Only groups where ", " are kept", "only those where "}}},
    [ORDER] = {"How should they be sorted?", "in any order", {{"Rows are sorted by ", "", "by "}}},
    [HOW_MANY] = {"How many of them do you want?",
                  "all of them",
                  {{"Only the first row is kept", "", "only the first one"},
                   {"Only the first ", " rows are kept", "only the first "}}},
    [COMBINED] = {"Which of these do you mean?",
                  "none of these conditions",
                  {{"The query takes the rows of ", "", ""}}},
    [JOINED] = {"How are they related?", "each separately", {{"It looks at ", "", ""}}},
};

/* Exact wordings of explanations, and the shorter forms that users see. They are replaced only outside of quotes. */
static const struct {
    const char *exact, *plain;
} PLAIN[] = {
    {" is equal to ", " is "},
    {" are equal to ", " are "},
    {" is not equal to ", " is not "},
    {" is greater than or equal to ", " is at least "},
    {" is less than or equal to ", " is at most "},
    {" is greater than ", " is more than "},
    {" is missing (NULL)", " is missing"},
    {" is not missing (not NULL)", " is known"},
    {" (both included)", ""},
    {" (each different row once)", ""},
    {" (repeats are kept)", ", repeats too"},
    {", each different row once", ", each once"},
    {" and keeps only those that are also in ", ", but only what is also in "},
    {" and removes the rows of ", ", but without "},
    {" and adds the rows of ", ", and also "},
    {", then keeps only those that are also in ", ", then only what is also in "},
    {", then removes the rows of ", ", then without "},
    {", then adds the rows of ", ", then also "},
    {" is among the values of the ", " is one of the "},
    {" is not among the values of the ", " is none of the "},
    {" is among the values of ", " is one of "},
    {" is not among the values of ", " is none of "},
    {"the number of filled values of ", "the number of values of "},
    {"the number of rows", "how many there are"},
    {"the value of (", "("},
    {"for each the ", "for each "},
};

static enum aspect aspect_of(enum explain_kind kind)
{
    static const enum aspect aspects[EXPLAIN_KIND_COUNT] = {
        [EXPLAIN_SUMMARY] = SHOWN,      [EXPLAIN_SELECT] = SHOWN,      [EXPLAIN_FROM] = JOINED,
        [EXPLAIN_JOIN] = JOINED,        [EXPLAIN_FILTER] = KEPT,       [EXPLAIN_GROUP] = EACH,
        [EXPLAIN_HAVING] = GROUPS_KEPT, [EXPLAIN_ORDER] = ORDER,       [EXPLAIN_LIMIT] = HOW_MANY,
        [EXPLAIN_SET] = COMBINED,       [EXPLAIN_SUBQUERY] = COMBINED, [EXPLAIN_WHY_NOT] = ASPECT_COUNT,
        [EXPLAIN_STORY] = ASPECT_COUNT};
    return aspects[kind];
}

struct asking {
    struct arena *arena;
    const struct explanation *readings[EXPLAIN_MAX_READINGS];
    uint32_t n;
    bool differs[ASPECT_COUNT]; /* aspects of the outermost query that differ */
    bool inner_differs;         /* true if an inner query differs */
};

/* --- what differs --- */

static bool says(const struct explanation *reading, const struct explain_phrase *like)
{
    for (uint32_t i = 0; i < reading->n_phrases; i++) {
        const struct explain_phrase *phrase = &reading->phrases[i];
        if (!phrase->from_data && phrase->kind == like->kind && phrase->query == like->query &&
            strcmp(phrase->premise, like->premise) == 0)
            return true;
    }
    return false;
}

/* Returns the position of an inner query's number in the text ("the values of query 1"), or NULL if there is none. */
static const char *inner_number(const char *text)
{
    static const char MARK[] = "query ";
    const char *at = text;
    while ((at = strstr(at, MARK))) {
        at += sizeof MARK - 1;
        if (*at >= '0' && *at <= '9') return at;
    }
    return NULL;
}

static bool all_say(const struct asking *a, const struct explain_phrase *phrase)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (!says(a->readings[i], phrase)) return false;
    return !(a->inner_differs && inner_number(phrase->premise));
}

/* Marks the aspects that differ. Call it for inner queries first, because a phrase that refers to a differing query
 * differs, too. */
static void compare_queries(struct asking *a, bool inner)
{
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < a->readings[i]->n_phrases; k++) {
            const struct explain_phrase *phrase = &a->readings[i]->phrases[k];
            enum aspect aspect = aspect_of(phrase->kind);
            if (phrase->from_data || aspect == ASPECT_COUNT || inner != (phrase->query > 0)) continue;
            if (all_say(a, phrase)) continue;
            if (inner)
                a->inner_differs = true;
            else
                a->differs[aspect] = true;
        }
}

static void compare(struct asking *a)
{
    compare_queries(a, true);
    compare_queries(a, false);
}

static uint32_t count_differing(const struct asking *a)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < JOINED; i++) n += a->differs[i];
    return n;
}

/* --- text of phrases --- */

static bool starts_with(const char *text, size_t len, const char *head)
{
    return len >= strlen(head) && strncmp(text, head, strlen(head)) == 0;
}

static bool ends_with(const char *text, size_t len, const char *tail)
{
    return len >= strlen(tail) && strncmp(text + len - strlen(tail), tail, strlen(tail)) == 0;
}

/* A text or a part of a text, not NUL-terminated. */
struct part {
    const char *text;
    size_t len;
};

/* Returns the core of a phrase: "In query 1, only rows ... are kept." becomes "only rows ... are kept". Removes remarks
 * that a choice does not need, such as "though nothing orders the rows, so ...". */
static struct part core_of(const struct explain_phrase *phrase)
{
    static const char *const REMARKS[] = {", though nothing orders", " (no such reference in the schema)"};
    const char *text = phrase->prose;
    const char *comma = phrase->query && starts_with(text, strlen(text), "In query ") ? strstr(text, ", ") : NULL;
    if (comma) text = comma + 2;
    size_t len = strlen(text);
    if (len && text[len - 1] == '.') len--;
    for (size_t i = 0; i < sizeof REMARKS / sizeof *REMARKS; i++) {
        const char *at = strstr(text, REMARKS[i]);
        if (at && (size_t)(at - text) < len) len = (size_t)(at - text);
    }
    return (struct part){text, len};
}

/* Returns the wording of the aspect that matches the phrase; NULL if none does. In an inner query, the phrase begins
 * with a small letter and may name the query by its number. */
static const struct wording *wording_of(enum aspect aspect, const struct part *core)
{
    const size_t n = sizeof ASPECTS[aspect].wordings / sizeof *ASPECTS[aspect].wordings;
    for (size_t i = 0; i < n && ASPECTS[aspect].wordings[i].head; i++) {
        const struct wording *wording = &ASPECTS[aspect].wordings[i];
        size_t head = strlen(wording->head), tail = strlen(wording->tail);
        bool begins = core->len >= head + tail && (core->text[0] | 0x20) == (wording->head[0] | 0x20) &&
                      strncmp(core->text + 1, wording->head + 1, head - 1) == 0;
        if (begins && ends_with(core->text, core->len, wording->tail)) return wording;
    }
    return NULL;
}

static void say_inner(struct say *out, const struct explanation *reading, uint32_t query, unsigned depth);

/* Writes a text. Replaces the number of an inner query ("among the values of query 1") by that query's outputs. */
static void say_with_queries(struct say *out, const struct explanation *reading, struct part part, unsigned depth)
{
    const char *from = part.text, *end = part.text + part.len, *digits;
    while ((digits = inner_number(from)) && digits < end) {
        uint32_t number = 0;
        const char *at = digits - strlen("query "), *after = digits;
        while (after < end && *after >= '0' && *after <= '9' && number < 1000)
            number = number * 10 + (uint32_t)(*after++ - '0');
        if (at > from) say_bytes(out, from, (size_t)(at - from), CHOICE_BYTES);
        say(out, "(");
        say_inner(out, reading, number, depth + 1);
        say(out, ")");
        from = after;
    }
    if (from < end) say_bytes(out, from, (size_t)(end - from), CHOICE_BYTES);
}

/* Removes the title of a query: "Query 1 (a set of values for the query) returns the name" becomes "the name". */
static struct part without_title(struct part core)
{
    static const char *const VERBS[] = {" returns one row: ", " returns ", " takes the rows of "};
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++) {
        const char *at = strstr(core.text, VERBS[i]);
        if (!at || at >= core.text + core.len) continue;
        size_t skipped = (size_t)(at - core.text) + strlen(VERBS[i]);
        return (struct part){core.text + skipped, core.len - skipped};
    }
    return core;
}

/* Writes one phrase. `follows` is true if a phrase of the same aspect precedes it; it then begins with "only those
 * where". */
static void say_phrase(struct say *out, const struct explanation *reading, const struct explain_phrase *phrase,
                       bool follows, unsigned depth)
{
    enum aspect aspect = aspect_of(phrase->kind);
    struct part core = core_of(phrase);
    const struct wording *wording = wording_of(aspect, &core);
    if (phrase->kind == EXPLAIN_SUBQUERY || (phrase->query && phrase->kind == EXPLAIN_SET)) {
        core = without_title(core);
        wording = NULL;
    }
    if (wording) {
        size_t head = strlen(wording->head);
        core = (struct part){core.text + head, core.len - head - strlen(wording->tail)};
        if (!follows) say(out, wording->before);
    }
    if (!wording && core.len > 1 && core.text[0] >= 'A' && core.text[0] <= 'Z' && core.text[1] >= 'a') {
        const char lowered[] = {(char)(core.text[0] - 'A' + 'a'), '\0'};
        say(out, lowered);
        core = (struct part){core.text + 1, core.len - 1};
    }
    say_with_queries(out, reading, core, depth);
}

/* Writes the phrases of one aspect of the outermost query. Except for the outputs, omits phrases that all readings
 * have. Returns true if it wrote any. */
static bool say_aspect(const struct asking *a, struct say *out, const struct explanation *reading, enum aspect aspect,
                       const char *before)
{
    bool any = false;
    for (uint32_t i = 0; i < reading->n_phrases; i++) {
        const struct explain_phrase *phrase = &reading->phrases[i];
        if (phrase->from_data || phrase->query || aspect_of(phrase->kind) != aspect || !*phrase->prose) continue;
        if (aspect != SHOWN && all_say(a, phrase)) continue;
        say(out, any ? " and " : before);
        say_phrase(out, reading, phrase, any, 0);
        any = true;
    }
    return any;
}

static bool is_told(const struct explain_phrase *phrase)
{
    enum aspect aspect = aspect_of(phrase->kind);
    return !phrase->from_data && *phrase->prose && aspect != ASPECT_COUNT && aspect != JOINED;
}

/* Turns "it looks at ports" into " of ports". A query of one table names its columns without the table. */
static void say_owner(struct say *out, const struct explain_phrase *phrase)
{
    struct part core = core_of(phrase);
    const struct wording *wording = wording_of(JOINED, &core);
    size_t head = wording ? strlen(wording->head) : 0;
    if (!head) return;
    say(out, " of ");
    say_bytes(out, core.text + head, core.len - head, CHOICE_BYTES);
}

/* Writes a whole query: its outputs, then its conditions. */
static void say_inner(struct say *out, const struct explanation *reading, uint32_t query, unsigned depth)
{
    enum aspect last = ASPECT_COUNT;
    for (uint32_t i = 0; i < reading->n_phrases && depth <= MAX_NESTING; i++) {
        const struct explain_phrase *phrase = &reading->phrases[i];
        enum aspect aspect = aspect_of(phrase->kind);
        if (phrase->query != query) continue;
        if (phrase->kind == EXPLAIN_FROM && last != ASPECT_COUNT) say_owner(out, phrase);
        if (!is_told(phrase)) continue;
        if (last != ASPECT_COUNT) say(out, aspect == last ? " and " : ", ");
        say_phrase(out, reading, phrase, aspect == last, depth);
        last = aspect;
    }
    if (last == ASPECT_COUNT) say(out, "...");
}

/* The replacement for a part of a text. `end` is the end of that part, or NULL if the text stays unchanged. */
struct replacement {
    const char *plain;
    struct part literal; /* written after `plain` */
    const char *end;
};

/* Turns " is like '%swift%' (containing 'swift')" into " contains 'swift'". */
static struct replacement pattern_at(const char *text)
{
    static const struct {
        const char *exact, *is, *is_not;
    } forms[] = {{" (containing ", " contains ", " does not contain "},
                 {" (beginning with ", " begins with ", " does not begin with "},
                 {" (ending with ", " ends with ", " does not end with "}};
    static const char LIKE[] = " is like '", NOT_LIKE[] = " is not like '";
    bool not = starts_with(text, strlen(text), NOT_LIKE);
    if (!not &&!starts_with(text, strlen(text), LIKE)) return (struct replacement){0};
    const char *close = strchr(text + (not ? sizeof NOT_LIKE : sizeof LIKE) - 1, '\'');
    for (size_t i = 0; close && i < sizeof forms / sizeof *forms; i++) {
        if (!starts_with(close + 1, strlen(close + 1), forms[i].exact)) continue;
        const char *from = close + 1 + strlen(forms[i].exact), *end = *from == '\'' ? strstr(from + 1, "')") : NULL;
        if (!end) break;
        return (struct replacement){not ? forms[i].is_not : forms[i].is, {from, (size_t)(end + 1 - from)}, end + 2};
    }
    return (struct replacement){0};
}

static struct replacement replacement_at(const char *text)
{
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++)
        if (starts_with(text, strlen(text), PLAIN[i].exact))
            return (struct replacement){.plain = PLAIN[i].plain, .end = text + strlen(PLAIN[i].exact)};
    return pattern_at(text);
}

static void say_between(struct say *out, const char *from, const char *to)
{
    if (to > from) say_bytes(out, from, (size_t)(to - from), CHOICE_BYTES);
}

/* Replaces exact wordings by plain ones. Quoted text is a literal and stays unchanged. */
static bool make_plain(struct arena *arena, struct say *text)
{
    struct say out;
    bool quoted = false;
    const char *from = text->text, *at = from;
    if (!say_init(&out, arena, CHOICE_BYTES, true)) return false;
    while (*at) {
        struct replacement found = quoted ? (struct replacement){0} : replacement_at(at);
        if (!found.end) {
            quoted ^= *at++ == '\'';
            continue;
        }
        say_between(&out, from, at);
        say(&out, found.plain);
        if (found.literal.len) say_bytes(&out, found.literal.text, found.literal.len, CHOICE_BYTES);
        from = at = found.end;
    }
    say_between(&out, from, at);
    *text = out;
    return true;
}

/* --- the question --- */

static bool is_tie(const struct asking *a, uint32_t *single)
{
    static const char *const EXTREMES[] = {"is equal to the largest value of ", "is equal to the smallest value of "};
    bool seen_all = false, seen_one = false;
    if (a->n != 2 || !a->differs[KEPT] || !a->differs[ORDER] || !a->differs[HOW_MANY] || a->differs[SHOWN] ||
        a->differs[EACH] || a->differs[COMBINED])
        return false;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < a->readings[i]->n_phrases; k++) {
            const struct explain_phrase *phrase = &a->readings[i]->phrases[k];
            if (phrase->query) continue;
            if (phrase->kind == EXPLAIN_LIMIT && strstr(phrase->prose, "Only the first row"))
                seen_one = true, *single = i;
            if (phrase->kind == EXPLAIN_FILTER && !all_say(a, phrase))
                seen_all |= strstr(phrase->prose, EXTREMES[0]) || strstr(phrase->prose, EXTREMES[1]);
        }
    return seen_all && seen_one;
}

/* Returns the phrase about rows without a match; NULL if there is none. */
static const struct explain_phrase *unmatched(const struct explanation *reading)
{
    for (uint32_t i = 0; i < reading->n_phrases; i++)
        if (reading->phrases[i].kind == EXPLAIN_JOIN && !reading->phrases[i].query &&
            strstr(reading->phrases[i].prose, " without a match are kept, "))
            return &reading->phrases[i];
    return NULL;
}

static void say_lowered(struct say *out, const char *text, size_t len)
{
    char first[2] = {text[0], '\0'};
    if (first[0] >= 'A' && first[0] <= 'Z') first[0] = (char)(first[0] - 'A' + 'a');
    say(out, first);
    say_bytes(out, text + 1, len - 1, QUESTION_BYTES);
}

/* Turns "Boxes without a match are kept, with NULL in the columns of has_track" into "boxes that have no has_track". */
static void say_unmatched(struct say *out, const struct explain_phrase *phrase)
{
    static const char MATCH[] = " without a match are kept, with NULL in the columns of ";
    const char *at = strstr(phrase->prose, MATCH);
    if (!at) return;
    say_lowered(out, phrase->prose, (size_t)(at - phrase->prose));
    say(out, " that have no ");
    const char *rest = at + sizeof MATCH - 1;
    size_t len = strcspn(rest, ".,");
    say_bytes(out, rest, len, QUESTION_BYTES);
}

static void ask_unmatched(const struct asking *a, struct say *question, struct say *choices)
{
    for (uint32_t i = 0; i < a->n && !question->len; i++)
        if (unmatched(a->readings[i])) {
            say(question, "Do you also want ");
            say_unmatched(question, unmatched(a->readings[i]));
            say(question, "?");
        }
    for (uint32_t i = 0; i < a->n; i++)
        say(&choices[i], unmatched(a->readings[i]) ? "yes, those too" : "no, only the others");
}

/* Returns the last "the number of " that begins at or before `upto`, if no comma follows it before `upto`. Otherwise
 * returns NULL. */
static const char *number_before(const char *text, size_t upto)
{
    static const char NUMBER[] = "the number of ";
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, NUMBER)) && at <= text + upto; at++) last = at;
    return last && !memchr(last, ',', (size_t)(text + upto - last)) ? last : NULL;
}

static const char *shown_by(const struct explanation *reading)
{
    for (uint32_t i = 0; i < reading->n_phrases; i++)
        if (reading->phrases[i].kind == EXPLAIN_SUMMARY && !reading->phrases[i].query) return reading->phrases[i].prose;
    return "";
}

/* True if the outputs of both readings differ only in the argument of a count. Unmatched rows may be the cause, because
 * a count of rows counts such a row as one. */
static bool counts_differ(const struct asking *a)
{
    const char *first = shown_by(a->readings[0]), *second = shown_by(a->readings[1]);
    size_t same = 0;
    while (first[same] && first[same] == second[same]) same++;
    return number_before(first, same) && number_before(second, same);
}

/* True if the readings differ only in whether they include rows without a match. */
static bool is_about_unmatched(const struct asking *a)
{
    if (a->n != 2 || a->inner_differs || !unmatched(a->readings[0]) == !unmatched(a->readings[1])) return false;
    uint32_t others = count_differing(a) - a->differs[SHOWN];
    return others == 0 && (!a->differs[SHOWN] || counts_differ(a));
}

static void ask_tie(const struct asking *a, uint32_t single, struct say *question, struct say *choices)
{
    say(question, "If several share the first place, do you want one of them or all?");
    for (uint32_t i = 0; i < a->n; i++) say(&choices[i], i == single ? "one of them" : "all of them");
}

static bool is_combined(const struct explanation *reading)
{
    for (uint32_t i = 0; i < reading->n_phrases; i++)
        if (reading->phrases[i].kind == EXPLAIN_SET && !reading->phrases[i].query) return true;
    return false;
}

/* Returns the only aspect that differs. Returns COMBINED if several differ, and JOINED if only the joins differ. */
static enum aspect only_aspect(const struct asking *a)
{
    enum aspect only = ASPECT_COUNT;
    for (unsigned i = 0; i < JOINED; i++)
        if (a->differs[i]) only = only == ASPECT_COUNT ? (enum aspect)i : COMBINED;
    return only == ASPECT_COUNT ? JOINED : only;
}

/* Writes the question, and for each reading a choice with its differing phrases. If the reading combines several
 * queries, the choice has no other phrases. */
static void ask_about(const struct asking *a, struct say *question, struct say *choices)
{
    enum aspect only = only_aspect(a);
    say(question, ASPECTS[only].question);
    for (uint32_t i = 0; i < a->n; i++) {
        struct say *choice = &choices[i];
        for (unsigned aspect = 0; aspect < ASPECT_COUNT; aspect++) {
            bool matters = a->differs[aspect] && (aspect != JOINED || only == JOINED);
            if (matters && (aspect == COMBINED || !is_combined(a->readings[i])))
                say_aspect(a, choice, a->readings[i], (enum aspect)aspect, choice->len ? ", " : "");
        }
        if (!choice->len) say(choice, ASPECTS[only].absent);
    }
}

static void ask(const struct asking *a, struct say *question, struct say *choices)
{
    uint32_t single = 0;
    if (is_about_unmatched(a))
        ask_unmatched(a, question, choices);
    else if (is_tie(a, &single))
        ask_tie(a, single, question, choices);
    else
        ask_about(a, question, choices);
}

/* Writes each reading as a whole. Needed if the differing phrases do not distinguish the choices. */
static void ask_about_all(const struct asking *a, struct say *question, struct say *choices)
{
    say_clear(question);
    say(question, ASPECTS[COMBINED].question);
    for (uint32_t i = 0; i < a->n; i++) {
        say_clear(&choices[i]);
        say_inner(&choices[i], a->readings[i], 0, 0);
    }
}

static bool are_told_apart(const struct say *choices, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!choices[i].len) return false;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(choices[i].text, choices[k].text) == 0) return false;
    }
    return true;
}

/* --- from statements --- */

static enum err_code full(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the readings exceed their memory limit");
}

static enum err_code read_one(struct arena *arena, const struct schema_index *index,
                              const struct explain_statement *statement, const struct explanation **out,
                              struct err *err)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    struct explanation *explanation = NULL;
    struct explain_options options = explain_defaults;
    options.expose = EXPLAIN_NONE;
    options.may_probe = false;
    enum err_code code = sql_parse(arena, statement->sql, statement->len, NULL, &stmt);
    if (!code) code = sql_bind(arena, stmt, &index->catalog, &bound);
    if (code == ERR_LIMIT_MEMORY) return full(err);
    if (code || bound->diags)
        return err_set(err, ERR_ENGINE, "a reading does not parse, or names an unknown table or column");
    struct explain_source *source = arena_new(arena, struct explain_source);
    if (!source) return full(err);
    *source = (struct explain_source){
        .sql = statement->sql, .sql_len = statement->len, .stmt = stmt, .bound = bound, .index = index};
    code = explain_query(arena, source, &options, &explanation, err);
    *out = explanation;
    return code;
}

enum err_code explain_readings(struct arena *arena, const struct schema_index *index,
                               const struct explain_statement *statements, uint32_t n, struct explain_readings *out,
                               struct err *err)
{
    struct asking a = {.arena = arena, .n = n};
    struct say question, choices[EXPLAIN_MAX_READINGS];
    if (n < 2 || n > EXPLAIN_MAX_READINGS)
        return err_set(err, ERR_LIMIT_COUNT, "%u readings; expected 2 to %d", n, EXPLAIN_MAX_READINGS);
    for (uint32_t i = 0; i < n; i++) {
        const struct explanation *reading = NULL;
        enum err_code code = read_one(arena, index, &statements[i], &reading, err);
        if (code || !reading) return code ? code : full(err);
        a.readings[i] = reading;
        if (!say_init(&choices[i], arena, CHOICE_BYTES, true)) return full(err);
    }
    const char **texts = arena_new_array(arena, n, const char *);
    if (!texts || !say_init(&question, arena, QUESTION_BYTES, true)) return full(err);
    compare(&a);
    ask(&a, &question, choices);
    if (!are_told_apart(choices, n)) ask_about_all(&a, &question, choices);
    for (uint32_t i = 0; i < n; i++)
        if (!make_plain(arena, &choices[i])) return full(err);
    if (!are_told_apart(choices, n)) return err_set(err, ERR_REFUSED, "two of the readings have the same description");
    for (uint32_t i = 0; i < n; i++) texts[i] = choices[i].text;
    *out = (struct explain_readings){question.text, texts, n};
    return ERR_OK;
}
