/* Reads the definitions of the evidence: "female refers to sex = 'F'", "hit rate = hits / shots", "large means capacity
 * over 5000".
 *
 * The evidence is divided into clauses. A clause is a term, a connector (refers to, means, =) and a formula; the
 * formula may also come first. A formula is a column with an operator and a literal, or two columns with a division or
 * a minus between them.
 *
 * The column is the longest run of words before the operator whose letters are those of a column's name. If several
 * tables have that name, it means each of them. An operand of a division or a minus may also be given by the columns
 * that share the most words with it. Text that cannot be read is ignored, because a definition is only a hint. */
#include "lib/question/read.h"

#include "lib/sql/ast.h"

#include <glib.h>
#include <string.h>

enum { MAX_NAME_TOKENS = 5, MAX_LETTERS = 128, MAX_PATTERN = 5 };

struct evidence_scan {
    struct reader *reader;
    struct question *out;
    const struct text_token *tokens;
    uint32_t n;
};

/* Operators in words and signs. A longer operator comes before any operator with which it begins. */
static const struct {
    const char *words[MAX_PATTERN];
    enum sql_op op;
} OPERATORS[] = {
    {{"over", "the", "total"}, SQL_OP_DIV},
    {{"over", "the", "number"}, SQL_OP_DIV},
    {{"is", "greater", "than", "or", "equal"}, SQL_OP_GE},
    {{"is", "less", "than", "or", "equal"}, SQL_OP_LE},
    {{"greater", "than", "or", "equal"}, SQL_OP_GE},
    {{"less", "than", "or", "equal"}, SQL_OP_LE},
    {{"no", "more", "than"}, SQL_OP_LE},
    {{"no", "less", "than"}, SQL_OP_GE},
    {{"is", "more", "than"}, SQL_OP_GT},
    {{"is", "less", "than"}, SQL_OP_LT},
    {{"is", "greater", "than"}, SQL_OP_GT},
    {{"more", "than"}, SQL_OP_GT},
    {{"greater", "than"}, SQL_OP_GT},
    {{"higher", "than"}, SQL_OP_GT},
    {{"less", "than"}, SQL_OP_LT},
    {{"lower", "than"}, SQL_OP_LT},
    {{"at", "least"}, SQL_OP_GE},
    {{"at", "most"}, SQL_OP_LE},
    {{"is", "over"}, SQL_OP_GT},
    {{"is", "above"}, SQL_OP_GT},
    {{"is", "under"}, SQL_OP_LT},
    {{"is", "below"}, SQL_OP_LT},
    {{"is", "not"}, SQL_OP_NE},
    {{"<", "="}, SQL_OP_LE},
    {{">", "="}, SQL_OP_GE},
    {{"<", ">"}, SQL_OP_NE},
    {{"!", "="}, SQL_OP_NE},
    {{"=", "="}, SQL_OP_EQ},
    {{"<="}, SQL_OP_LE},
    {{">="}, SQL_OP_GE},
    {{"<>"}, SQL_OP_NE},
    {{"!="}, SQL_OP_NE},
    {{"over"}, SQL_OP_GT},
    {{"above"}, SQL_OP_GT},
    {{"under"}, SQL_OP_LT},
    {{"below"}, SQL_OP_LT},
    {{"="}, SQL_OP_EQ},
    {{">"}, SQL_OP_GT},
    {{"<"}, SQL_OP_LT},
    {{"equals"}, SQL_OP_EQ},
    {{"is"}, SQL_OP_EQ},
    {{"divided", "by"}, SQL_OP_DIV},
    {{"/"}, SQL_OP_DIV},
    {{"minus"}, SQL_OP_SUB},
    {{"-"}, SQL_OP_SUB},
};

static const char *const CONNECTORS[][3] = {{"refers", "to"}, {"refer", "to"}, {"stands", "for"}, {"defined", "as"},
                                            {"means"},        {"mean"},        {"denotes"},       {"indicates"},
                                            {"signifies"},    {"represents"},  {"called", "if"},  {":"}};

static bool token_is(const struct evidence_scan *scan, uint32_t i, const char *word)
{
    return i < scan->n && scan->tokens[i].kind != TEXT_QUOTED && strcmp(scan->tokens[i].norm, word) == 0;
}

static uint32_t words_at(const struct evidence_scan *scan, uint32_t i, const char *const *words, uint32_t max)
{
    uint32_t n = 0;
    while (n < max && words[n]) {
        if (!token_is(scan, i + n, words[n])) return 0;
        n++;
    }
    return n;
}

static uint32_t operator_at(const struct evidence_scan *scan, uint32_t i, enum sql_op *op)
{
    for (size_t k = 0; k < G_N_ELEMENTS(OPERATORS); k++) {
        uint32_t n = words_at(scan, i, OPERATORS[k].words, MAX_PATTERN);
        if (!n) continue;
        *op = OPERATORS[k].op;
        return n;
    }
    return 0;
}

static uint32_t connector_at(const struct evidence_scan *scan, uint32_t i)
{
    for (size_t k = 0; k < G_N_ELEMENTS(CONNECTORS); k++) {
        uint32_t n = words_at(scan, i, CONNECTORS[k], 3);
        if (n) return n;
    }
    return 0;
}

/* Joins the letters and digits of tokens [first, end). Returns false if there are none or too many. */
static bool letters_of(const struct evidence_scan *scan, uint32_t first, uint32_t end, char *out)
{
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        for (const char *p = scan->tokens[i].norm; *p; p++) {
            if (!g_ascii_isalnum(*p) && (unsigned char)*p < 0x80) continue;
            if (n + 1 >= MAX_LETTERS) return false;
            out[n++] = *p;
        }
    out[n] = '\0';
    return n > 0;
}

static bool same_letters(const char *name, const char *letters)
{
    for (; *name; name++) {
        if (!g_ascii_isalnum(*name) && (unsigned char)*name < 0x80) continue;
        if (g_ascii_tolower(*name) != *letters) return false;
        letters++;
    }
    return !*letters;
}

static uint32_t columns_named(const struct evidence_scan *scan, const char *letters, struct question_side *side)
{
    side->n = 0;
    for (uint32_t c = 0; c < scan->reader->schema->n_columns && side->n < QUESTION_SIDE_COLUMNS; c++)
        if (same_letters(scan->reader->schema->columns[c]->name, letters)) side->columns[side->n++] = c;
    return side->n;
}

/* Finds the columns whose name is in tokens [first, end) and ends before `end`. Longer names win. */
static bool column_before(const struct evidence_scan *scan, uint32_t first, uint32_t end, struct question_side *side)
{
    char letters[MAX_LETTERS];
    while (end > first && scan->tokens[end - 1].kind == TEXT_PUNCT) end--; /* the bracket in SUM(hits) / ... */
    for (uint32_t k = MAX_NAME_TOKENS; k > 0; k--)
        if (end >= first + k && letters_of(scan, end - k, end, letters) && columns_named(scan, letters, side))
            return true;
    return false;
}

/* Finds the columns of the first name in [first, end). */
static bool column_within(const struct evidence_scan *scan, uint32_t first, uint32_t end, struct question_side *side)
{
    char letters[MAX_LETTERS];
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = MAX_NAME_TOKENS; k > 0; k--)
            if (i + k <= end && letters_of(scan, i, i + k, letters) && columns_named(scan, letters, side)) return true;
    return false;
}

static uint32_t words_shared(const struct evidence_scan *scan, uint32_t first, uint32_t end,
                             const struct schema_column *column)
{
    uint32_t shared = 0;
    for (uint32_t w = 0; w < column->words.n; w++)
        for (uint32_t i = first; i < end; i++) {
            const struct text_token *t = &scan->tokens[i];
            if (t->kind != TEXT_WORD || strcmp(t->stem, column->words.items[w].stem) != 0) continue;
            shared++;
            break;
        }
    return shared;
}

/* Finds the columns whose names share the most words with [first, end): "profits" means a column of profits in
 * billions. Returns false if there are none or too many. */
static bool columns_meant(const struct evidence_scan *scan, uint32_t first, uint32_t end, struct question_side *side)
{
    uint32_t most = 1;
    side->n = 0;
    for (uint32_t c = 0; c < scan->reader->schema->n_columns; c++) {
        uint32_t shared = words_shared(scan, first, end, scan->reader->schema->columns[c]);
        if (shared > most) side->n = 0;
        if (shared < most) continue;
        most = shared;
        if (side->n == QUESTION_SIDE_COLUMNS) return false; /* too many columns */
        side->columns[side->n++] = c;
    }
    return side->n > 0;
}

/* True if the question has a content word of [first, end), or if [first, end) has no content word. */
static bool is_asked(const struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    bool any = false;
    for (uint32_t i = first; i < end; i++) {
        const struct text_token *t = &scan->tokens[i];
        if (t->kind != TEXT_WORD || t->is_stop) continue;
        any = true;
        for (uint32_t k = 0; k < scan->out->tokens.n; k++)
            if (strcmp(scan->out->tokens.items[k].stem, t->stem) == 0) return true;
    }
    return !any;
}

static struct question_definition *push(struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    if (scan->out->n_definitions == READ_MAX_DEFINITIONS) return NULL;
    struct question_definition *definition = &scan->out->definitions[scan->out->n_definitions++];
    *definition = (struct question_definition){.start = scan->tokens[first].start, .end = scan->tokens[end - 1].end};
    return definition;
}

/* Reads the literal at the token: NULL, a number, a quoted text, or a plain word that names no column. Returns false if
 * there is no literal. */
static bool literal_at(const struct evidence_scan *scan, uint32_t i, uint32_t end, struct question_definition *out)
{
    struct question_side side;
    char letters[MAX_LETTERS];
    while (i < end && scan->tokens[i].kind == TEXT_PUNCT && !token_is(scan, i, "'")) i++;
    if (i >= end) return false;
    const struct text_token *t = &scan->tokens[i];
    out->is_null = (out->op == SQL_OP_EQ || out->op == SQL_OP_NE) && token_is(scan, i, "null");
    if (!out->is_null && t->kind == TEXT_WORD && !t->is_number &&
        (t->is_stop || (letters_of(scan, i, i + 1, letters) && columns_named(scan, letters, &side))))
        return false;
    out->text = t->norm;
    out->is_number = t->is_number;
    out->number = t->number;
    return true;
}

/* Words before a column that say whether it is NULL: "a valid ticket has no withdrawn_at", "those without an end
 * date". */
static const struct {
    const char *words[MAX_PATTERN];
    enum sql_op op;
} ABSENCES[] = {
    {{"has", "no"}, SQL_OP_EQ},    {{"have", "no"}, SQL_OP_EQ},    {{"with", "no"}, SQL_OP_EQ},
    {{"without", "a"}, SQL_OP_EQ}, {{"without", "an"}, SQL_OP_EQ}, {{"without"}, SQL_OP_EQ},
    {{"has", "a"}, SQL_OP_NE},     {{"has", "an"}, SQL_OP_NE},     {{"have", "a"}, SQL_OP_NE},
    {{"have", "an"}, SQL_OP_NE},
};

/* Reads words of ABSENCES at a token and the column after them, and adds the definition. Returns the number of tokens
 * read; 0 if there is no definition. */
static uint32_t read_absence(struct evidence_scan *scan, uint32_t first, uint32_t at, uint32_t end)
{
    for (size_t k = 0; k < G_N_ELEMENTS(ABSENCES); k++) {
        uint32_t n = words_at(scan, at, ABSENCES[k].words, MAX_PATTERN);
        struct question_side side;
        char letters[MAX_LETTERS];
        for (uint32_t long_name = MAX_NAME_TOKENS; n && long_name > 0; long_name--) {
            uint32_t stop = at + n + long_name;
            if (stop > end || !letters_of(scan, at + n, stop, letters) || !columns_named(scan, letters, &side))
                continue;
            struct question_definition *definition = push(scan, first, stop);
            if (!definition) return 0;
            definition->op = (uint8_t)ABSENCES[k].op;
            definition->left = side;
            definition->text = "null";
            definition->is_null = true;
            return n + long_name;
        }
    }
    return 0;
}

/* Reads the formula in [first, end) around the operator, which has `n` tokens from `at` on. Adds its definition. */
static void read_operator(struct evidence_scan *scan, uint32_t first, uint32_t at, uint32_t n, uint32_t end,
                          enum sql_op op)
{
    struct question_definition found = {.op = op};
    bool formula = op == SQL_OP_DIV || op == SQL_OP_SUB;
    if (!column_before(scan, first, at, &found.left) && !(formula && columns_meant(scan, first, at, &found.left)))
        return;
    if (formula) {
        if (!column_within(scan, at + n, end, &found.right) && !columns_meant(scan, at + n, end, &found.right)) return;
    } else if (!literal_at(scan, at + n, end, &found)) {
        return;
    }
    struct question_definition *definition = push(scan, first, end);
    if (!definition) return;
    found.start = definition->start;
    found.end = definition->end;
    *definition = found;
}

static void read_formulas(struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        enum sql_op op = SQL_OP_NONE;
        uint32_t n = operator_at(scan, i, &op);
        if (!n) continue;
        read_operator(scan, first, i, n, end, op);
        i += n - 1;
    }
    static const struct {
        const char *name;
        enum sql_op op;
    } CALLS[] = {{"divide", SQL_OP_DIV}, {"subtract", SQL_OP_SUB}};
    for (uint32_t i = first; i < end; i++)
        for (size_t c = 0; c < G_N_ELEMENTS(CALLS); c++) {
            uint32_t comma = i;
            if (!token_is(scan, i, CALLS[c].name)) continue;
            while (comma < end && !token_is(scan, comma, ",")) comma++;
            if (comma < end) read_operator(scan, i + 1, comma, 1, end, CALLS[c].op);
        }
}

/* Reads definitions by absence. They define the words before them. */
static void read_absences(struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    for (uint32_t i = first + 1; i < end; i++) {
        uint32_t before = scan->out->n_definitions, n = read_absence(scan, first, i, end);
        if (!n) continue;
        for (uint32_t d = before; d < scan->out->n_definitions; d++) {
            scan->out->definitions[d].named = true;
            scan->out->definitions[d].asked = is_asked(scan, first, i);
        }
        i += n - 1;
    }
}

/* Returns the end of the term in "rate = hits / shots". That is the first "=" or "is", unless a column's name precedes
 * it. Returns `first` if there is no term. */
static uint32_t equality_term(const struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    struct question_side side;
    for (uint32_t i = first; i < end; i++) {
        if (!token_is(scan, i, "=") && !token_is(scan, i, "is")) continue;
        return i > first && !column_before(scan, first, i, &side) ? i : first;
    }
    return first;
}

static void read_clause(struct evidence_scan *scan, uint32_t first, uint32_t end)
{
    uint32_t before = scan->out->n_definitions, term = first, term_end = first;
    for (uint32_t i = first; i < end; i++) {
        uint32_t n = connector_at(scan, i);
        if (!n || i == first) continue;
        term_end = i;
        read_formulas(scan, i + n, end);
        if (scan->out->n_definitions == before) { /* reversed order: sex = 'F' means female */
            read_formulas(scan, first, i);
            term = i + n;
            term_end = end;
        }
        break;
    }
    if (term_end == first) {
        term_end = equality_term(scan, first, end);
        read_formulas(scan, term_end > first ? term_end + 1 : first, end);
    }
    for (uint32_t d = before; d < scan->out->n_definitions; d++) {
        scan->out->definitions[d].named = term_end > term;
        scan->out->definitions[d].asked = is_asked(scan, term, term_end);
    }
    if (scan->out->n_definitions == before) read_absences(scan, first, end);
}

/* True if the comma ends the clause: a connector follows it before the next comma or semicolon. */
static bool comma_ends(const struct evidence_scan *scan, uint32_t comma)
{
    for (uint32_t i = comma + 1; i < scan->n && !token_is(scan, i, ",") && !token_is(scan, i, ";"); i++)
        if (connector_at(scan, i)) return true;
    return false;
}

bool read_definitions(struct reader *reader)
{
    struct question *out = reader->out;
    struct evidence_scan scan = {reader, out, out->evidence.items, out->evidence.n};
    out->n_definitions = 0;
    if (!scan.n) return true;
    out->definitions = arena_new_array(reader->arena, READ_MAX_DEFINITIONS, struct question_definition);
    if (!out->definitions) return false;
    uint32_t first = 0;
    for (uint32_t i = 0; i <= scan.n; i++) {
        bool ends = i == scan.n || token_is(&scan, i, ";") || token_is(&scan, i, "\n") ||
                    (token_is(&scan, i, ".") && i + 1 < scan.n && scan.tokens[i + 1].is_capital) ||
                    (token_is(&scan, i, ",") && comma_ends(&scan, i));
        if (!ends) continue;
        if (i > first) read_clause(&scan, first, i);
        first = i + 1;
    }
    return true;
}
