/* Contextual words: keywords only next to certain neighbours, identifiers everywhere else.
 *
 * lemon's %fallback turns a keyword into a name where the keyword cannot be shifted. This fails for words that can
 * begin an operand, such as DATE in `SELECT name, date FROM t`. Such words are classified here by the surrounding
 * tokens, with a function for each word. SQLite does the same for WINDOW, OVER and FILTER. A function may also merge
 * the following tokens into the token of its word (AT TIME ZONE, a type after ::). */
#include "lib/sql/parser.h"

#include <string.h>

#include "lib/sql/grammar.h"

/* A classifier. Its arguments are the tokens, the index of the word, and the final code of the token before it. It sets
 * tokens[i].code and returns the number of following tokens that it merged. */
typedef uint32_t classify_fn(struct sql_parser *p, uint32_t i, unsigned prev);

static unsigned code_at(const struct sql_parser *p, uint32_t i)
{
    return i < p->n_tokens ? p->tokens[i].code : SQL_END_OF_TEXT;
}

static bool word_at(const struct sql_parser *p, uint32_t i, const char *word)
{
    return i < p->n_tokens && sql_token_is(p, p->tokens[i], word);
}

/* True for a word without quotes. */
static bool is_word(const struct sql_parser *p, uint32_t i)
{
    if (i >= p->n_tokens) return false;
    unsigned char c = (unsigned char)p->text[p->tokens[i].start];
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static uint32_t classify(struct sql_parser *p, uint32_t i, bool in_context, unsigned code)
{
    p->tokens[i].code = (in_context ? code : (unsigned)T_ID) & 0xff;
    return 0;
}

/* Merges the n tokens after token i into it, and sets its code. Returns n. */
static uint32_t take(struct sql_parser *p, uint32_t i, uint32_t n, unsigned code)
{
    const struct sql_token *last = &p->tokens[i + n];
    p->tokens[i].len = (last->start + last->len - p->tokens[i].start) & SQL_TOKEN_LEN_MAX;
    p->tokens[i].code = code & 0xff;
    for (uint32_t k = 1; k <= n; k++) p->tokens[i + k].code = SQL_WORD_TAKEN;
    return n;
}

/* Flags by code: ends an operand; may begin an operand. */
#define ENDS   1
#define BEGINS 2
static const unsigned char OPERAND[256] = {
    [T_ID] = ENDS | BEGINS,
    [T_STRING] = ENDS | BEGINS,
    [T_INTEGER] = ENDS | BEGINS,
    [T_FLOAT] = ENDS | BEGINS,
    [T_BITS] = ENDS | BEGINS,
    [T_BLOB] = ENDS | BEGINS,
    [T_NULL] = ENDS | BEGINS,
    [T_TRUE] = ENDS | BEGINS,
    [T_FALSE] = ENDS | BEGINS,
    [T_NOW] = ENDS | BEGINS,
    [T_PARAM] = ENDS | BEGINS,
    [T_RP] = ENDS,
    [T_RBRACKET] = ENDS,
    [T_END] = ENDS,
    [T_TYPE] = ENDS,
    [T_FIELDS] = ENDS,
    [T_UNIT] = ENDS,
    [T_LP] = BEGINS,
    [T_LBRACKET] = BEGINS,
    [T_PLUS] = BEGINS,
    [T_MINUS] = BEGINS,
    [T_TILDE] = BEGINS,
    [T_BITNOT] = BEGINS,
    [T_NOT] = BEGINS,
    [T_ROW] = BEGINS,
    [T_CASE] = BEGINS,
    [T_CAST] = BEGINS,
    [T_EXISTS] = BEGINS,
    [T_EXTRACT] = BEGINS,
    [T_ARRAY] = BEGINS,
    [T_TYPEWORD] = BEGINS,
    [T_GROUPING_SETS] = BEGINS,
    [T_ALL] = BEGINS,
    [T_ANY] = BEGINS,
    [T_JOIN_KW] = BEGINS,
    [SQL_WORD_CALL] = BEGINS,
    [SQL_WORD_INFIX] = BEGINS,
    [T_INTERVAL] = BEGINS,
    [SQL_WORD_QUESTION] = BEGINS,
    [SQL_WORD_UNKNOWN] = BEGINS,
    [SQL_WORD_CTE_SET] = BEGINS,
    [SQL_WORD_VARIADIC] = BEGINS,
    [SQL_WORD_OPERATOR] = BEGINS,
    [SQL_WORD_JSON_TABLE] = BEGINS,
    [SQL_WORD_HINT] = BEGINS,
    [SQL_WORD_BINARY] = BEGINS,
    [T_BANG] = BEGINS,
};

bool sql_ends_operand(unsigned code)
{
    return OPERAND[code & 0xff] & ENDS;
}

static bool begins_operand(const struct sql_parser *p, uint32_t i)
{
    return OPERAND[code_at(p, i)] & BEGINS;
}

/* FILTER is a keyword between a call and a parenthesis. */
static uint32_t filter(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_RP && code_at(p, i + 1) == T_LP, T_FILTER);
}

/* OVER is a keyword after a call, before a token that may name a window. SQLite does the same. */
static uint32_t over(struct sql_parser *p, uint32_t i, unsigned prev)
{
    static const bool NAMES[256] = {
        [T_LP] = true,     [T_ID] = true,     [T_STRING] = true,    [T_JOIN_KW] = true,   [T_OVER] = true,
        [T_WINDOW] = true, [T_BY] = true,     [T_CURRENT] = true,   [T_EXCLUDE] = true,   [T_FOLLOWING] = true,
        [T_NO] = true,     [T_OTHERS] = true, [T_PARTITION] = true, [T_PRECEDING] = true, [T_RANGE] = true,
        [T_ROW] = true,    [T_ROWS] = true,   [T_TIES] = true,      [T_UNBOUNDED] = true, [T_FIRST] = true,
        [T_LAST] = true,   [T_ASC] = true,    [T_DESC] = true};
    return classify(p, i, prev == T_RP && NAMES[code_at(p, i + 1)], T_OVER);
}

static uint32_t within(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_RP && code_at(p, i + 1) == T_GROUP, T_WITHIN);
}

/* WINDOW is a keyword before `name AS`. */
static uint32_t window(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    return classify(p, i, is_word(p, i + 1) && code_at(p, i + 2) == T_AS, T_WINDOW);
}

static uint32_t indexed(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_NOT || (code_at(p, i + 1) == T_BY && sql_ends_operand(prev)), T_INDEXED);
}

static uint32_t tablesample(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    return classify(p, i, is_word(p, i + 1) && code_at(p, i + 2) == T_LP, T_TABLESAMPLE);
}

static uint32_t lateral(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool before = prev == T_FROM || prev == T_COMMA || prev == T_JOIN || prev == T_LP;
    return classify(p, i, before && (code_at(p, i + 1) == T_LP || is_word(p, i + 1)) && code_at(p, i + 1) != T_AS,
                    T_LATERAL);
}

static uint32_t ordinality(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_WITH, T_ORDINALITY);
}

/* ONLY t means a table without the tables that inherit from it. The grammar handles the other use, FETCH FIRST 3 ROWS
 * ONLY. */
static uint32_t only(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool table = prev == T_FROM || prev == T_COMMA || prev == T_JOIN || prev == T_TABLE;
    unsigned next = code_at(p, i + 1);
    return table && next != T_ID && next != T_LP ? classify(p, i, false, 0) : 0;
}

/* ROWS FROM (f(x), g(y)) in FROM: merges the two words. */
static uint32_t rows(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool before = prev == T_FROM || prev == T_COMMA || prev == T_JOIN || prev == T_LATERAL || prev == T_LP;
    return before && code_at(p, i + 1) == T_FROM && code_at(p, i + 2) == T_LP ? take(p, i, 1, T_ROWS_FROM) : 0;
}

/* VARIADIC is a keyword before an argument: f(a, VARIADIC b). */
static uint32_t variadic(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool before = prev == T_LP || prev == T_COMMA;
    return classify(p, i, before && begins_operand(p, i + 1) && code_at(p, i + 1) != T_LP, T_VARIADIC);
}

/* Returns the index after the names `a, b, c`. */
static uint32_t skip_names(const struct sql_parser *p, uint32_t i)
{
    while (is_word(p, i) && code_at(p, i + 1) == T_COMMA) i += 2;
    return i + 1;
}

/* Merges the words of SEARCH DEPTH FIRST BY a, b SET and of CYCLE a, b SET, which follow the query of a CTE. The next
 * token is a name. */
static uint32_t cte_set(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool search = word_at(p, i, "SEARCH"), how = word_at(p, i + 1, "DEPTH") || word_at(p, i + 1, "BREADTH");
    uint32_t set = skip_names(p, search ? i + 4 : i + 1);
    bool clause = !search || (how && code_at(p, i + 2) == T_FIRST && code_at(p, i + 3) == T_BY);
    if (!clause || !word_at(p, set, "SET") || (prev != T_RP && prev != T_ID)) return classify(p, i, false, 0);
    return take(p, i, set - i, T_CTE_SET);
}

/* Returns the index after a constant such as 'x', 1, TRUE, DATE 'x' or 'x'::text. */
static uint32_t skip_constant(const struct sql_parser *p, uint32_t i)
{
    if (is_word(p, i) && code_at(p, i + 1) == T_STRING) i++;
    return i + 1;
}

/* Merges TO 1 DEFAULT 0 USING, as in CYCLE a SET b TO 1 DEFAULT 0 USING c, into one USING. Elsewhere TO is a reserved
 * word. */
static uint32_t to(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    p->tokens[i].code = T_RESERVED;
    uint32_t by_default = skip_constant(p, i + 1), using = skip_constant(p, by_default + 1);
    if (!word_at(p, by_default, "DEFAULT") || code_at(p, using) != T_USING) return 0;
    return take(p, i, using - i, T_USING);
}

/* FETCH is a keyword before FIRST or NEXT. */
static uint32_t fetch(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    bool clause = code_at(p, i + 1) == T_FIRST &&
                  (code_at(p, i + 2) == T_ROW || code_at(p, i + 2) == T_ROWS || begins_operand(p, i + 2));
    return classify(p, i, clause, T_FETCH);
}

/* OFFSET is a keyword if an operand or a clause ends before it and an operand follows; elsewhere it is a name. */
static uint32_t offset(struct sql_parser *p, uint32_t i, unsigned prev)
{
    static const bool ENDS_CLAUSE[256] = {[T_ALL] = true,  [T_ASC] = true,  [T_DESC] = true, [T_FIRST] = true,
                                          [T_LAST] = true, [T_ONLY] = true, [T_TIES] = true, [T_STAR] = true};
    bool after = sql_ends_operand(prev) || ENDS_CLAUSE[prev & 0xff];
    return classify(p, i, after && begins_operand(p, i + 1), T_OFFSET);
}

/* ANY and ALL quantify an operand after a comparison: x > ANY (...), x LIKE ALL (...). Elsewhere ALL is unchanged. */
static uint32_t any(struct sql_parser *p, uint32_t i, unsigned prev)
{
    static const bool COMPARES[256] = {[T_EQ] = true, [T_NE] = true, [T_LT] = true,      [T_LE] = true,
                                       [T_GT] = true, [T_GE] = true, [T_LIKE_KW] = true, [T_OPER] = true};
    bool quantifies = COMPARES[prev & 0xff] && code_at(p, i + 1) == T_LP;
    if (!quantifies && p->tokens[i].code == T_ALL) return 0;
    return classify(p, i, quantifies, T_ANY);
}

static uint32_t ilike(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool infix = (sql_ends_operand(prev) || prev == T_NOT) && begins_operand(p, i + 1);
    return classify(p, i, infix, T_LIKE_KW);
}

/* Merges SIMILAR TO between operands. */
static uint32_t similar(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool infix = (sql_ends_operand(prev) || prev == T_NOT) && word_at(p, i + 1, "TO") && begins_operand(p, i + 2);
    return infix ? take(p, i, 1, T_LIKE_KW) : classify(p, i, false, 0);
}

/* Merges AT TIME ZONE between operands. */
static uint32_t at(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool infix =
        sql_ends_operand(prev) && word_at(p, i + 1, "TIME") && word_at(p, i + 2, "ZONE") && begins_operand(p, i + 3);
    return infix ? take(p, i, 2, T_AT_ZONE) : classify(p, i, false, 0);
}

/* DIV and MOD are products, and XOR is an OR, but only between operands. An alias, or a word before a dot, is a
 * name. */
static uint32_t infix(struct sql_parser *p, uint32_t i, unsigned prev)
{
    unsigned code = word_at(p, i, "XOR") ? T_OR : word_at(p, i, "DIV") ? T_SLASH : T_REM;
    bool between = sql_ends_operand(prev) && begins_operand(p, i + 1) && code_at(p, i + 1) != T_JOIN_KW;
    return classify(p, i, between, code);
}

static uint32_t overlaps(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_RP && code_at(p, i + 1) == T_LP, T_OPER);
}

static uint32_t symmetric(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return classify(p, i, prev == T_BETWEEN && begins_operand(p, i + 1), T_SYMMETRIC);
}

/* UNKNOWN is NULL in IS UNKNOWN and IS NOT UNKNOWN. */
static uint32_t unknown(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool is = prev == T_IS || (prev == T_NOT && code_at(p, i - 2) == T_IS);
    return classify(p, i, is && code_at(p, i + 1) != T_DOT && code_at(p, i + 1) != T_LP, T_NULL);
}

/* TRUE, FALSE and CURRENT_DATE are values, but t.true and current_timestamp(3) are names. */
static uint32_t value(struct sql_parser *p, uint32_t i, unsigned prev)
{
    unsigned next = code_at(p, i + 1);
    if (prev == T_DOT || next == T_DOT || next == T_LP) p->tokens[i].code = T_ID;
    return 0;
}

/* LEFT(s, 2) is a call; LEFT JOIN is not. */
static uint32_t join_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    if (code_at(p, i + 1) == T_LP && !sql_ends_operand(prev)) p->tokens[i].code = T_ID;
    return 0;
}

/* Merges GROUPING SETS before a parenthesis. */
static uint32_t grouping(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    bool sets = word_at(p, i + 1, "SETS") && code_at(p, i + 2) == T_LP;
    return sets ? take(p, i, 1, T_GROUPING_SETS) : classify(p, i, false, 0);
}

/* Returns the number of MariaDB's words between SELECT and the first column that do not change the rows. */
static uint32_t count_modifiers(const struct sql_parser *p, uint32_t i)
{
    static const char *const WORDS[] = {"SQL_NO_CACHE",     "SQL_CACHE",      "SQL_CALC_FOUND_ROWS",
                                        "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT",
                                        "STRAIGHT_JOIN"};
    uint32_t n = 0;
    for (unsigned k = 0; k < sizeof WORDS / sizeof *WORDS;) {
        unsigned after = code_at(p, i + n + 1);
        bool first = after == T_STAR || after == T_DISTINCT || after == T_JOIN || begins_operand(p, i + n + 1);
        bool found = first && word_at(p, i + n, WORDS[k]);
        n += found;
        k = found ? 0 : k + 1;
    }
    return n;
}

/* Merges SELECT with MariaDB's words after it. Merges SELECT FROM in EXISTS (SELECT FROM t), a query without columns,
 * whose rows alone matter. */
static uint32_t select_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    uint32_t modifiers = count_modifiers(p, i + 1);
    if (modifiers) return take(p, i, modifiers, T_SELECT);
    bool only_rows = prev == T_LP && i >= 2 && code_at(p, i - 2) == T_EXISTS && code_at(p, i + 1) == T_FROM;
    return only_rows ? take(p, i, 1, T_SELECT_FROM) : 0;
}

/* Merges WITH ROLLUP after MariaDB's GROUP BY a, b. */
static uint32_t with_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    return sql_ends_operand(prev) && word_at(p, i + 1, "ROLLUP") ? take(p, i, 1, T_WITH_ROLLUP) : 0;
}

static uint32_t array(struct sql_parser *p, uint32_t i, unsigned prev)
{
    unsigned next = code_at(p, i + 1);
    unsigned first = code_at(p, i + 2);
    bool query = next == T_LP && (first == T_SELECT || first == T_WITH || first == T_VALUES || first == T_TABLE);
    return classify(p, i, prev != T_DOT && (next == T_LBRACKET || query), T_ARRAY);
}

/* ~ matches a pattern between two operands and inverts bits before one. */
static uint32_t tilde(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool infix = sql_ends_operand(prev) && begins_operand(p, i + 1);
    p->tokens[i].code = infix ? T_OPER : T_BITNOT;
    return 0;
}

/* PostgreSQL's other operators. A few precede their operand: |/ 25, @ -5. An operator without an operand is an error at
 * the operator. */
static uint32_t oper(struct sql_parser *p, uint32_t i, unsigned prev)
{
    static const char *const PREFIX[] = {"|/", "||/", "@", "@@", "@-@", "!!", "#", "?-", "?|", "|@|", "@#@"};
    /* ORDER BY x USING <: the operator names the order */
    if (prev == T_USING) return 0;
    bool unknown_operator = word_at(p, i, "!!") && sql_ends_operand(prev); /* as in a !!= b */
    if (unknown_operator || !begins_operand(p, i + 1)) p->tokens[i].code = T_ILLEGAL;
    if (sql_ends_operand(prev) || p->tokens[i].code == T_ILLEGAL) return 0;
    for (unsigned k = 0; k < sizeof PREFIX / sizeof *PREFIX; k++)
        if (word_at(p, i, PREFIX[k])) p->tokens[i].code = T_PREFIX_OPER;
    return 0;
}

/* Hexadecimal digits in an odd number are bits in PostgreSQL, if a cast follows: x'1FF'::int. Without a cast they are
 * an invalid blob. */
static uint32_t bits(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    bool hex = (p->text[p->tokens[i].start] | 32) == 'x';
    if (hex && code_at(p, i + 1) != T_TYPECAST) p->tokens[i].code = T_ILLEGAL;
    return 0;
}

static uint32_t question(struct sql_parser *p, uint32_t i, unsigned prev)
{
    p->tokens[i].code = sql_ends_operand(prev) && begins_operand(p, i + 1) ? T_OPER : T_PARAM;
    return 0;
}

/* FOR UPDATE and similar clauses lock rows; elsewhere FOR is a name (or a word between arguments, see call_words). */
static uint32_t for_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    bool locks = word_at(p, i + 1, "UPDATE") || word_at(p, i + 1, "SHARE") || word_at(p, i + 1, "KEY") ||
                 word_at(p, i + 1, "NO");
    return classify(p, i, locks, T_FOR_LOCK);
}

/* ---- types ---- */

static uint32_t skip_parens(const struct sql_parser *p, uint32_t i)
{
    uint32_t at = i;
    if (code_at(p, at) != T_LP || code_at(p, at + 1) != T_INTEGER) return i;
    at += 2;
    if (code_at(p, at) == T_COMMA && code_at(p, at + 1) == T_INTEGER) at += 2;
    return code_at(p, at) == T_RP ? at + 1 : i;
}

/* Returns the index after the one or two words of a type. */
static uint32_t skip_type_words(const struct sql_parser *p, uint32_t i)
{
    static const char *const PAIRS[][2] = {
        {"DOUBLE", "PRECISION"}, {"CHARACTER", "VARYING"}, {"CHAR", "VARYING"}, {"BIT", "VARYING"}};
    for (unsigned k = 0; k < sizeof PAIRS / sizeof *PAIRS; k++)
        if (word_at(p, i, PAIRS[k][0]) && word_at(p, i + 1, PAIRS[k][1])) return i + 2;
    return i + 1;
}

static uint32_t skip_time_zone(const struct sql_parser *p, uint32_t i)
{
    bool zone =
        (word_at(p, i, "WITH") || word_at(p, i, "WITHOUT")) && word_at(p, i + 1, "TIME") && word_at(p, i + 2, "ZONE");
    return zone ? i + 3 : i;
}

/* Returns the index after the type that begins at i, or i if there is none. A type is a name, schema.name or two words.
 * Then (n) or (n, m) may follow, and any number of []. */
static uint32_t skip_type(const struct sql_parser *p, uint32_t i)
{
    unsigned code = code_at(p, i);
    if (code != T_ID && code != T_TYPEWORD && code < SQL_WORD_FIRST) return i;
    uint32_t at = skip_type_words(p, i);
    if (code_at(p, at) == T_DOT && code_at(p, at + 1) == T_ID) at += 2;
    at = skip_time_zone(p, skip_parens(p, at));
    while (code_at(p, at) == T_LBRACKET) {
        if (code_at(p, at + 1) == T_RBRACKET)
            at += 2;
        else if (code_at(p, at + 1) == T_INTEGER && code_at(p, at + 2) == T_RBRACKET)
            at += 3;
        else
            break;
    }
    return at;
}

/* Makes a :: without a type after it an error. */
static uint32_t typecast(struct sql_parser *p, uint32_t i, unsigned prev)
{
    (void)prev;
    if (skip_type(p, i + 1) == i + 1) p->tokens[i].code = T_ILLEGAL;
    return 0;
}

/* Merges the type after :: into one token. */
static uint32_t type_after_cast(struct sql_parser *p, uint32_t i)
{
    uint32_t end = skip_type(p, i);
    return end > i ? take(p, i, end - i - 1, T_TYPE) : 0;
}

/* Returns the index of the parenthesis that closes the one at `i`, or n_tokens. */
static uint32_t closing(const struct sql_parser *p, uint32_t i)
{
    uint32_t depth = 0;
    for (; i < p->n_tokens; i++) {
        if (p->tokens[i].code == T_LP) depth++;
        if (p->tokens[i].code == T_RP && --depth == 0) return i;
    }
    return i;
}

/* True for a MariaDB unit of several numbers, as in '1 12:30' DAY_MINUTE. */
static bool is_double_unit(const struct sql_parser *p, uint32_t i)
{
    static const char *const UNITS[] = {
        "SECOND_MICROSECOND", "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE",
        "DAY_MICROSECOND",    "DAY_SECOND",         "DAY_MINUTE",    "DAY_HOUR",         "YEAR_MONTH"};
    for (unsigned k = 0; k < sizeof UNITS / sizeof *UNITS; k++)
        if (word_at(p, i, UNITS[k])) return true;
    return false;
}

/* True for a MariaDB unit of time. */
static bool is_unit(const struct sql_parser *p, uint32_t i)
{
    static const char *const UNITS[] = {"MICROSECOND", "SECOND", "MINUTE",  "HOUR", "DAY",
                                        "WEEK",        "MONTH",  "QUARTER", "YEAR"};
    for (unsigned k = 0; k < sizeof UNITS / sizeof *UNITS; k++)
        if (word_at(p, i, UNITS[k])) return true;
    return is_double_unit(p, i);
}

/* Returns the index after the operand at i, or after its sign if there is none. An operand is a number, a parameter, a
 * name with its table, a call, or a parenthesised expression. */
static uint32_t skip_operand(const struct sql_parser *p, uint32_t i)
{
    if (code_at(p, i) == T_MINUS || code_at(p, i) == T_PLUS) i++;
    unsigned code = code_at(p, i);
    if (code == T_INTEGER || code == T_FLOAT || code == T_PARAM) return i + 1;
    while (code_at(p, i) == T_ID && code_at(p, i + 1) == T_DOT) i += 2;
    if (code_at(p, i) == T_ID) i++;
    if (code_at(p, i) != T_LP) return i;
    uint32_t end = closing(p, i);
    return end < p->n_tokens ? end + 1 : i;
}

/* True for INTERVAL 1 DAY or INTERVAL 2 * x DAY. Marks the unit. */
static bool opens_interval(struct sql_parser *p, uint32_t i)
{
    static const bool JOINS[256] = {[T_PLUS] = true, [T_MINUS] = true, [T_STAR] = true, [T_SLASH] = true};
    uint32_t unit = skip_operand(p, i + 1);
    while (unit > i + 1 && JOINS[code_at(p, unit)]) unit = skip_operand(p, unit + 1);
    bool opens = unit > i + 1 && word_at(p, i, "INTERVAL") && is_unit(p, unit);
    if (opens) p->tokens[unit].code = T_UNIT;
    return opens;
}

/* Merges the words of a type before a string: DATE '2020-01-01', TIMESTAMP(3) WITH TIME ZONE '...'. */
static uint32_t type_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    if (prev == T_DOT || prev == T_AS) return classify(p, i, false, 0);
    uint32_t string = skip_time_zone(p, skip_parens(p, i + 1));
    if (code_at(p, string) != T_STRING) return classify(p, i, opens_interval(p, i), T_INTERVAL);
    return take(p, i, string - i - 1, T_TYPEWORD);
}

/* True for a unit after the string of an interval: INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH. */
static bool is_field(const struct sql_parser *p, uint32_t i)
{
    static const char *const FIELDS[] = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"};
    for (unsigned k = 0; k < sizeof FIELDS / sizeof *FIELDS; k++)
        if (word_at(p, i, FIELDS[k])) return true;
    return is_double_unit(p, i);
}

static bool ends_interval(const struct sql_parser *p, uint32_t i, unsigned prev)
{
    return prev == T_STRING && i >= 2 && code_at(p, i - 2) == T_TYPEWORD && is_field(p, i) &&
           sql_token_is(p, (struct sql_token){.start = p->tokens[i - 2].start, .len = 8}, "INTERVAL");
}

static uint32_t fields(struct sql_parser *p, uint32_t i)
{
    uint32_t n = word_at(p, i + 1, "TO") && is_field(p, i + 2) ? 2 : 0;
    return take(p, i, skip_parens(p, i + n + 1) - i - 1, T_FIELDS);
}

/* ---- calls whose arguments are separated by words ---- */

struct call_words {
    const char *name;
    const char *words[8];
    unsigned code; /* the code of such a word; 0 means T_ARG_WORD */
};

static const struct call_words CALL_WORDS[] = {
    {"CONVERT", {"USING"}},
    {"EXTRACT", {"FROM"}},
    {"GROUP_CONCAT", {"SEPARATOR"}, T_SEPARATOR},
    {"OVERLAY", {"PLACING", "FROM", "FOR"}},
    {"POSITION", {"IN"}},
    {"SUBSTRING", {"FROM", "FOR", "SIMILAR", "ESCAPE"}},
    {"TRIM", {"LEADING", "TRAILING", "BOTH", "FROM"}},
};

static const struct call_words *words_of(const struct sql_parser *p, uint32_t i)
{
    for (unsigned k = 0; k < sizeof CALL_WORDS / sizeof *CALL_WORDS; k++)
        if (word_at(p, i, CALL_WORDS[k].name)) return &CALL_WORDS[k];
    return NULL;
}

static bool is_call_word(const struct sql_parser *p, const struct call_words *call, uint32_t i)
{
    for (const char *const *word = call->words; *word; word++)
        if (word_at(p, i, *word)) return true;
    return false;
}

/* Marks the words between the arguments of a call as ARG_WORD, and returns their number. Words in inner parentheses do
 * not count. A call without a closing parenthesis stays unmarked: in `count(trim(x FROM t` the error is then where
 * SQLite reports it. A word that is the only argument, as in trim(both), is a name. */
static uint32_t mark_words(struct sql_parser *p, uint32_t i, const struct call_words *call)
{
    uint32_t end = closing(p, i + 1), depth = 0, marked = 0;
    for (uint32_t at = i + 1; at < end && end < p->n_tokens; at++) {
        if (p->tokens[at].code == T_LP) depth++;
        if (p->tokens[at].code == T_RP) depth--;
        bool alone = at == i + 2 && (code_at(p, at + 1) == T_RP || code_at(p, at + 1) == T_COMMA);
        if (depth != 1 || alone || at == i + 1 || !is_call_word(p, call, at)) continue;
        p->tokens[at].code = (call->code ? call->code : (unsigned)T_ARG_WORD) & 0xff;
        marked++;
    }
    return marked;
}

/* Marks arguments that are words but not names: TIMESTAMPDIFF(DAY, a, b), CONVERT(a USING utf8mb4). They are printed as
 * written. */
static void mark_word_arguments(struct sql_parser *p, uint32_t i)
{
    bool stamps = word_at(p, i, "TIMESTAMPDIFF") || word_at(p, i, "TIMESTAMPADD");
    if (stamps && code_at(p, i + 3) == T_COMMA && is_unit(p, i + 2)) p->tokens[i + 2].code = T_NOW;
    uint32_t end = word_at(p, i, "CONVERT") ? closing(p, i + 1) : 0;
    if (end && end < p->n_tokens && code_at(p, end - 2) == T_ARG_WORD && code_at(p, end - 1) == T_ID)
        p->tokens[end - 1].code = T_NOW;
}

/* True for the first word of a type that CONVERT accepts in MariaDB. */
static bool is_convert_type(const struct sql_parser *p, uint32_t i)
{
    static const char *const TYPES[] = {"BINARY", "CHAR",    "DATE",  "DATETIME", "DECIMAL", "DOUBLE",
                                        "FLOAT",  "INTEGER", "NCHAR", "SIGNED",   "TIME",    "UNSIGNED"};
    for (unsigned k = 0; k < sizeof TYPES / sizeof *TYPES; k++)
        if (word_at(p, i, TYPES[k])) return true;
    return false;
}

/* Reads CONVERT(x, SIGNED) as CAST(x AS SIGNED). */
static bool convert_is_cast(struct sql_parser *p, uint32_t i)
{
    uint32_t end = closing(p, i + 1), depth = 0, comma = 0;
    if (!word_at(p, i, "CONVERT") || end >= p->n_tokens) return false;
    for (uint32_t at = i + 2; at < end; at++) {
        if (code_at(p, at) == T_LP) depth++;
        if (code_at(p, at) == T_RP) depth--;
        if (code_at(p, at) == T_COMMA && depth == 0 && comma) return false;
        if (code_at(p, at) == T_COMMA && depth == 0) comma = at;
    }
    uint32_t type = comma ? skip_parens(p, comma + 2) : 0;
    while (type && is_word(p, type)) type++;
    if (type != end || !is_convert_type(p, comma + 1)) return false;
    p->tokens[comma].code = T_AS;
    p->tokens[i].code = T_CAST;
    return true;
}

/* BINARY is a keyword before an operand that is compared by its bytes. Before a string it may be a column with an
 * alias. */
static uint32_t binary_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool item = prev == T_SELECT || prev == T_COMMA || prev == T_DISTINCT;
    bool type = prev == T_AS || prev == T_DOT || prev == T_COLLATE || sql_ends_operand(prev);
    bool name = type || !begins_operand(p, i + 1) || (item && code_at(p, i + 1) == T_STRING);
    return classify(p, i, !name, T_BINARY);
}

static uint32_t call_words(struct sql_parser *p, uint32_t i, unsigned prev)
{
    if (prev != T_DOT && code_at(p, i + 1) == T_LP && convert_is_cast(p, i)) return 0;
    const struct call_words *call = words_of(p, i);
    bool is_call = prev != T_DOT && code_at(p, i + 1) == T_LP;
    bool extract = p->tokens[i].code == T_EXTRACT;
    bool marked = is_call && call && mark_words(p, i, call) > 0;
    if (is_call) mark_word_arguments(p, i);
    return classify(p, i, marked && extract, T_EXTRACT);
}

/* ---- operators with a schema ---- */

/* Returns the index after the characters of an operator, which may be several tokens. */
static uint32_t skip_operator(const struct sql_parser *p, uint32_t i)
{
    while (i < p->n_tokens && strchr("+-*/<>=~!@#%^&|?", p->text[p->tokens[i].start])) i++;
    return i;
}

/* Merges the tokens of OPERATOR(+) or OPERATOR(pg_catalog.+), which is between operands or before one. */
static uint32_t operator_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    uint32_t at = i + 2;
    while (code_at(p, at) == T_ID && code_at(p, at + 1) == T_DOT) at += 2;
    uint32_t end = skip_operator(p, at);
    if (code_at(p, i + 1) != T_LP || end == at || code_at(p, end) != T_RP) return classify(p, i, false, 0);
    return take(p, i, end - i, sql_ends_operand(prev) || prev == T_USING ? T_OPER : T_PREFIX_OPER);
}

/* ---- MariaDB's JSON_TABLE, MATCH and hints ---- */

/* Returns the index after the type of a column, including words such as UNSIGNED or CHARACTER SET utf8mb4. */
static uint32_t skip_json_type(const struct sql_parser *p, uint32_t i)
{
    uint32_t at = skip_type(p, i);
    while (at > i && is_word(p, at) && !word_at(p, at, "PATH") && !word_at(p, at, "EXISTS")) at++;
    return at;
}

/* Marks the type and the path of the column at `i`: tag varchar(20) PATH '$' DEFAULT '' ON EMPTY, n FOR ORDINALITY.
 * Returns the index after the column. */
static uint32_t mark_json_column(struct sql_parser *p, uint32_t i)
{
    bool number = word_at(p, i + 1, "FOR") && word_at(p, i + 2, "ORDINALITY");
    uint32_t path = number ? i + 1 : skip_json_type(p, i + 1), end = path;
    while (end < p->n_tokens && code_at(p, end) != T_COMMA && code_at(p, end) != T_RP && code_at(p, end) != T_LP) end++;
    if (end == path) return end + 1;
    if (is_word(p, i)) p->tokens[i].code = T_ID;
    if (path > i + 1) take(p, i + 1, path - i - 2, T_TYPE);
    take(p, path, end - path - 1, T_JSON_PATH);
    return end;
}

/* Marks NESTED PATH '$.x' COLUMNS at `i`. Returns the index after it, or `i` if there is no such path. */
static uint32_t mark_json_nested(struct sql_parser *p, uint32_t i)
{
    uint32_t path = word_at(p, i, "NESTED") ? i + 1 + word_at(p, i + 1, "PATH") : i;
    if (path == i || code_at(p, path) != T_STRING || !word_at(p, path + 1, "COLUMNS")) return i;
    take(p, i, path - i, T_JSON_NESTED);
    p->tokens[path + 1].code = T_JSON_COLUMNS;
    return path + 2;
}

/* Marks the columns in the parentheses that open at `i`. */
static void mark_json_columns(struct sql_parser *p, uint32_t i)
{
    uint32_t open = 0;
    while (i < p->n_tokens) {
        unsigned code = code_at(p, i);
        uint32_t nested = code == T_RP ? i : mark_json_nested(p, i);
        if (code == T_LP)
            open++, i++;
        else if (code == T_RP && --open == 0)
            return;
        else if (code == T_RP || code == T_COMMA)
            i++;
        else
            i = nested > i ? nested : mark_json_column(p, i);
    }
}

/* JSON_TABLE is a keyword in FROM: JSON_TABLE(x, path COLUMNS (...)). Marks its columns. */
static uint32_t json_table(struct sql_parser *p, uint32_t i, unsigned prev)
{
    bool before = prev == T_FROM || prev == T_COMMA || prev == T_JOIN || prev == T_LP;
    uint32_t end = code_at(p, i + 1) == T_LP ? closing(p, i + 1) : i, at = i + 2;
    while (at < end && !(word_at(p, at, "COLUMNS") && code_at(p, at + 1) == T_LP && code_at(p, at - 1) == T_STRING))
        at++;
    if (!before || at >= end || end >= p->n_tokens) return classify(p, i, false, 0);
    p->tokens[at].code = T_JSON_COLUMNS;
    mark_json_columns(p, at + 1);
    return classify(p, i, true, T_JSON_TABLE);
}

/* Returns the index after a search mode such as IN BOOLEAN MODE, or `i`. */
static uint32_t skip_search_mode(const struct sql_parser *p, uint32_t i)
{
    static const char *const MODES[][4] = {
        {"IN", "BOOLEAN", "MODE"}, {"IN", "NATURAL", "LANGUAGE", "MODE"}, {"WITH", "QUERY", "EXPANSION"}};
    for (unsigned k = 0; k < sizeof MODES / sizeof *MODES; k++) {
        unsigned n = 0;
        while (n < 4 && MODES[k][n] && word_at(p, i + n, MODES[k][n])) n++;
        if (n < 4 && MODES[k][n]) continue;
        /* WITH QUERY EXPANSION may follow the natural language mode */
        return n == 4 ? skip_search_mode(p, i + n) : i + n;
    }
    return i;
}

/* Marks the words of MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE). */
static uint32_t match_word(struct sql_parser *p, uint32_t i, unsigned prev)
{
    if (!word_at(p, i, "MATCH") || sql_ends_operand(prev) || code_at(p, i + 1) != T_LP) return 0;
    uint32_t against = closing(p, i + 1) + 1, end = closing(p, against + 1);
    if (!word_at(p, against, "AGAINST") || code_at(p, against + 1) != T_LP || end >= p->n_tokens) return 0;
    p->tokens[against].code = T_AGAINST;
    for (uint32_t at = against + 2; at < end; at++) {
        uint32_t mode = skip_search_mode(p, at);
        if (mode != end || mode == at) continue;
        take(p, at, end - at - 1, T_SEARCH_MODE);
        break;
    }
    return classify(p, i, true, T_MATCH);
}

/* Returns the index after a list of names in parentheses, (a, b) or (), or `i` if there is none. */
static uint32_t skip_name_list(const struct sql_parser *p, uint32_t i)
{
    uint32_t at = i + 1;
    if (code_at(p, i) != T_LP) return i;
    bool more = code_at(p, at) != T_RP;
    while (more && (is_word(p, at) || code_at(p, at) == T_ID)) {
        more = code_at(p, at + 1) == T_COMMA;
        at += more ? 2 : 1;
    }
    return !more && code_at(p, at) == T_RP ? at + 1 : i;
}

/* Returns the index after a hint such as USE INDEX FOR ORDER BY (a, b), or `i`. */
static uint32_t skip_hint(const struct sql_parser *p, uint32_t i)
{
    uint32_t at = i + 2;
    bool hint = word_at(p, i, "USE") || word_at(p, i, "FORCE") || word_at(p, i, "IGNORE");
    if (!hint || !(word_at(p, i + 1, "INDEX") || word_at(p, i + 1, "KEY"))) return i;
    if (word_at(p, at, "FOR")) at += word_at(p, at + 1, "JOIN") ? 2 : 3;
    uint32_t end = skip_name_list(p, at);
    return end > at ? end : i;
}

/* Merges the hints after a table: USE INDEX (a) IGNORE INDEX (b). */
static uint32_t index_hint(struct sql_parser *p, uint32_t i, unsigned prev)
{
    uint32_t end = sql_ends_operand(prev) ? skip_hint(p, i) : i, next = end;
    if (end == i) return classify(p, i, false, 0);
    while ((next = skip_hint(p, end)) > end) end = next;
    return take(p, i, end - i - 1, T_INDEX_HINT);
}

/* Merges PARTITION (p0, p1) after a table. */
static uint32_t table_partition(struct sql_parser *p, uint32_t i, unsigned prev)
{
    uint32_t end = prev == T_ID && code_at(p, i + 2) != T_RP ? skip_name_list(p, i + 1) : i + 1;
    return end > i + 1 ? take(p, i, end - i - 1, T_TABLE_PARTITION) : 0;
}

/* ---- reserved words that may be names ---- */

/* True for tokens that may follow the name of an output, a table or a column. */
static bool ends_name(const struct sql_parser *p, uint32_t i)
{
    unsigned code = code_at(p, i);
    return code == T_COMMA || code == T_FROM || code == T_RP || code == T_SEMI || code == SQL_END_OF_TEXT;
}

/* True for a reserved word that can be a name after AS. PostgreSQL accepts any word there; here the alias must also end
 * the item. */
static bool names_output(const struct sql_parser *p, uint32_t i)
{
    static const bool WORDS[256] = {
        [T_ALL] = true,     [T_AND] = true,       [T_ANY] = true,      [T_ASC] = true,   [T_BETWEEN] = true,
        [T_CASE] = true,    [T_DESC] = true,      [T_DISTINCT] = true, [T_ELSE] = true,  [T_END] = true,
        [T_EXCEPT] = true,  [T_FOR] = true,       [T_FROM] = true,     [T_GROUP] = true, [T_HAVING] = true,
        [T_IN] = true,      [T_INTERSECT] = true, [T_IS] = true,       [T_JOIN] = true,  [T_LIMIT] = true,
        [T_NOT] = true,     [T_NULL] = true,      [T_OFFSET] = true,   [T_ON] = true,    [T_OR] = true,
        [T_ORDER] = true,   [T_SELECT] = true,    [T_TABLE] = true,    [T_THEN] = true,  [T_UNION] = true,
        [T_USING] = true,   [T_VALUES] = true,    [T_WHEN] = true,     [T_WHERE] = true, [T_WITH] = true,
        [T_RESERVED] = true};
    return WORDS[p->tokens[i].code] && ends_name(p, i + 1);
}

/* Words that SQLite reserves and PostgreSQL or MariaDB does not: SELECT sum(amount) FROM transaction. They are read as
 * names where a name is possible. The engine decides whether they are valid. */
static uint32_t reserved(struct sql_parser *p, uint32_t i, unsigned prev)
{
    static const char *const OPEN[] = {"ADD",    "ALTER",   "COMMIT", "DELETE",      "DROP",  "INDEX",
                                       "INSERT", "NOTHING", "SET",    "TRANSACTION", "UPDATE"};
    static const bool BEFORE[256] = {
        [T_FROM] = true,  [T_JOIN] = true, [T_COMMA] = true, [T_SELECT] = true, [T_BY] = true,
        [T_WHERE] = true, [T_ON] = true,   [T_AND] = true,   [T_OR] = true,     [T_NOT] = true,
        [T_EQ] = true,    [T_NE] = true,   [T_LT] = true,    [T_GT] = true,     [T_LE] = true,
        [T_GE] = true,    [T_PLUS] = true, [T_MINUS] = true, [T_STAR] = true,   [T_DISTINCT] = true};
    bool name = BEFORE[prev & 0xff] || (prev == T_LP && ends_name(p, i + 1)) ||
                (prev == T_ID && word_at(p, i - 1, "CHARACTER")); /* CHAR CHARACTER SET utf8mb4 */
    for (size_t k = 0; name && k < sizeof OPEN / sizeof *OPEN; k++)
        if (word_at(p, i, OPEN[k])) p->tokens[i].code = T_ID;
    return 0;
}

/* The codes of contextual tokens, each with its classifier. */
/* clang-format off */
#define CLASSIFIERS(X)                                                                                                 \
    X(T_ALL, any) X(T_ANY, any) X(T_ARRAY, array) X(T_BITS, bits) X(T_CARET, oper) X(T_EXTRACT, call_words)            \
    X(T_FALSE, value) X(T_FETCH, fetch) X(T_FILTER, filter) X(T_FOR, for_word) X(T_GROUPING_SETS, grouping)            \
    X(T_INDEXED, indexed) X(T_JOIN_KW, join_word) X(T_LATERAL, lateral) X(T_LIKE_KW, match_word) X(T_NOW, value)       \
    X(T_OFFSET, offset) X(T_ONLY, only) X(T_OPER, oper) X(T_ORDINALITY, ordinality) X(T_OVER, over)                    \
    X(T_PARTITION, table_partition) X(T_RESERVED, reserved) X(T_ROWS, rows) X(T_SELECT, select_word)                   \
    X(T_SYMMETRIC, symmetric) X(T_TABLESAMPLE, tablesample) X(T_TILDE, tilde) X(T_TRUE, value) X(T_TYPECAST, typecast) \
    X(T_TYPEWORD, type_word) X(T_WINDOW, window) X(T_WITH, with_word) X(T_WITHIN, within) X(SQL_WORD_AT, at)           \
    X(SQL_WORD_BINARY, binary_word) X(SQL_WORD_CALL, call_words) X(SQL_WORD_CTE_SET, cte_set)                          \
    X(SQL_WORD_HINT, index_hint) X(SQL_WORD_ILIKE, ilike) X(SQL_WORD_INFIX, infix) X(SQL_WORD_JSON_TABLE, json_table)  \
    X(SQL_WORD_OPERATOR, operator_word) X(SQL_WORD_OVERLAPS, overlaps) X(SQL_WORD_QUESTION, question)                  \
    X(SQL_WORD_SIMILAR, similar) X(SQL_WORD_SOME, any) X(SQL_WORD_TO, to) X(SQL_WORD_UNKNOWN, unknown)                 \
    X(SQL_WORD_VARIADIC, variadic)
/* clang-format on */

static classify_fn *const CLASSIFY[256] = {
#define X(code, fn) [code] = (fn),
    CLASSIFIERS(X)
#undef X
};

const bool SQL_CONTEXTUAL[256] = {
#define X(code, fn) [code] = true,
    CLASSIFIERS(X)
#undef X
};

/* Tokens after which the next token is contextual. A type follows ::, units may follow the string of an INTERVAL, and
 * any word after a dot or AS may be a name. */
const bool SQL_OPENS_CONTEXT[256] = {[T_TYPECAST] = true, [T_STRING] = true, [T_DOT] = true, [T_AS] = true};

uint32_t sql_classify_keyword(struct sql_parser *p, uint32_t i, unsigned prev)
{
    if (prev == T_TYPECAST) return i + 1 + type_after_cast(p, i);
    if (prev == T_STRING && ends_interval(p, i, prev)) return i + 1 + fields(p, i);
    bool joined = prev == T_DOT && p->tokens[i - 1].start + p->tokens[i - 1].len == p->tokens[i].start;
    if ((joined && is_word(p, i)) || (prev == T_AS && names_output(p, i))) {
        p->tokens[i].code = T_ID;
        return i + 1;
    }
    classify_fn *fn = CLASSIFY[p->tokens[i].code];
    return i + 1 + (fn ? fn(p, i, prev) : 0);
}
