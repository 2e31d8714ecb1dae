/* sql_parse: limits, the loop that feeds the grammar, expected tokens, and recovery.
 *
 * DESIGN. lemon's own recovery discards the tree at the end of the text and cannot skip balanced parentheses. It is
 * therefore switched off, and recovery is done here, on lemon's stack. After an error, states are popped until one
 * accepts BAD. Tokens are skipped until one at the same nesting can follow BAD, and parsing continues there.
 *
 * lemon's tables have default reductions. When an error is detected, rules may have been reduced that a valid token
 * would not have reduced. The tokens before the error are therefore fed again, and recovery starts from the stack
 * before the invalid token. To find the expected tokens, each terminal is fed to a simulation, which is a copy of the
 * state numbers on the stack. These steps cost time only if there is an error. */
#include "lib/sql/parser.h"

#include "lib/base/utf8.h"

#include <string.h>

/* The generated parser is included because its tables and its stack are needed here. Its arithmetic mixes narrow
 * types. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "lib/sql/grammar.c"
#include "lib/sql/grammar.h"
#pragma GCC diagnostic pop

enum { DEFAULT_BYTES = 65536, DEFAULT_TOKENS = 20000, DEFAULT_DEPTH = 1000, DEFAULT_DIAGS = 16 };
enum { MAX_RECOVERIES = 8, MAX_PLACES = 16, MAX_EXPECTED = 10, MAX_TRIES = 10000 };

_Static_assert(YYNTOKEN < SQL_WORD_FIRST, "terminals and words share one byte");

/* One recovery. At token `at` the stack was cut to `depth` entries and BAD was fed; then parsing resumed at token
 * `resume`. */
struct recovery {
    uint32_t at, resume;
    int depth;
};

struct feeder {
    yyParser lemon;
    struct sql_parser *p;
    uint32_t stop; /* index of the token that ends the statement: a semicolon, or the end of the text */
    struct recovery recoveries[MAX_RECOVERIES];
    unsigned n_recoveries;
    unsigned tries; /* tokens tried as the resume point; at most MAX_TRIES, which bounds the time of hostile text */
};

/* ---- simulation ------------------------------------------------------------------------------------------------ */

struct sim {
    int top;
    YYACTIONTYPE states[YYSTACKDEPTH];
};

static void sim_copy(struct sim *to, const struct sim *from)
{
    to->top = from->top;
    memcpy(to->states, from->states, ((size_t)from->top + 1) * sizeof *from->states);
}

static bool sim_push(struct sim *sim, YYACTIONTYPE state)
{
    if (sim->top + 1 >= YYSTACKDEPTH) return false;
    sim->states[++sim->top] = state;
    return true;
}

/* Feeds a terminal. Returns false if the parser would not accept it. */
static bool sim_feed(struct sim *sim, unsigned code)
{
    for (;;) {
        unsigned act = yy_find_shift_action((YYCODETYPE)code, sim->states[sim->top]);
        if (act == YY_ACCEPT_ACTION) return true;
        if (act == YY_ERROR_ACTION || act == YY_NO_ACTION) return false;
        if (act < YY_MIN_REDUCE) {
            if (act > YY_MAX_SHIFT) act += YY_MIN_REDUCE - YY_MIN_SHIFTREDUCE;
            return sim_push(sim, (YYACTIONTYPE)act);
        }
        unsigned rule = act - YY_MIN_REDUCE;
        sim->top += yyRuleInfoNRhs[rule];
        YYACTIONTYPE next = yy_find_reduce_action(sim->states[sim->top], yyRuleInfoLhs[rule]);
        if (!sim_push(sim, next)) return false;
    }
}

static bool sim_takes(const struct sim *sim, unsigned code)
{
    struct sim copy;
    sim_copy(&copy, sim);
    return sim_feed(&copy, code);
}

/* Copies the state numbers of the parser's stack at the error. */
static void sim_now(struct sim *sim, const struct feeder *f)
{
    sim->top = (int)(f->lemon.yytos - f->lemon.yystack);
    for (int i = 0; i <= sim->top; i++) sim->states[i] = f->lemon.yystack[i].stateno;
}

/* Computes the state numbers of the stack before token `at` was fed. */
static void sim_replay(struct sim *sim, const struct feeder *f, uint32_t at)
{
    const struct recovery *next = f->recoveries, *end = next + f->n_recoveries;
    sim->top = 0;
    sim->states[0] = 0;
    for (uint32_t i = 0; i < at; i++) {
        while (next != end && next->at == i) {
            sim->top = next->depth;
            sim_feed(sim, T_BAD);
            i = next++->resume;
        }
        if (i < at && f->p->tokens[i].code != SQL_WORD_TAKEN) sim_feed(sim, f->p->tokens[i].code);
    }
}

/* ---- expected tokens ------------------------------------------------------------------------------------------- */

/* Terminals as people write them, in the order in which they are suggested. "an expression" and "an operator" each
 * represent many terminals. */
static const struct {
    unsigned char code;
    const char *text;
} OFFERS[] = {{T_SELECT, "SELECT"},
              {T_INTEGER, "an expression"},
              {T_ID, "a name"},
              {T_BY, "BY"},
              {T_THEN, "THEN"},
              {T_WHEN, "WHEN"},
              {T_ELSE, "ELSE"},
              {T_END, "END"},
              {T_FROM, "FROM"},
              {T_RP, "\")\""},
              {T_RBRACKET, "\"]\""},
              {T_COMMA, "\",\""},
              {T_JOIN, "JOIN"},
              {T_ON, "ON"},
              {T_AS, "AS"},
              {T_AND, "AND"},
              {T_WHERE, "WHERE"},
              {T_GROUP, "GROUP BY"},
              {T_HAVING, "HAVING"},
              {T_ORDER, "ORDER BY"},
              {T_LIMIT, "LIMIT"},
              {T_UNION, "UNION"},
              {T_INTERSECT, "INTERSECT"},
              {T_EXCEPT, "EXCEPT"},
              {T_SLASH, "an operator"},
              {SQL_END_OF_TEXT, "the end of the SQL"},
              {T_LP, "\"(\""},
              {T_IN, "IN"},
              {T_LIKE_KW, "LIKE"},
              {T_BETWEEN, "BETWEEN"},
              {T_NULL, "NULL"},
              {T_OR, "OR"},
              {T_USING, "USING"},
              {T_DISTINCT, "DISTINCT"},
              {T_DOT, "\".\""},
              {T_VALUES, "VALUES"},
              {T_WITH, "WITH"},
              {T_ROW, "ROW"},
              {T_ROWS, "ROWS"},
              {T_PRECEDING, "PRECEDING"},
              {T_FOLLOWING, "FOLLOWING"},
              {T_FIRST, "FIRST"},
              {T_LAST, "LAST"},
              {T_ONLY, "ONLY"},
              {T_TIES, "TIES"},
              {T_OTHERS, "OTHERS"}};

enum { N_OFFERS = sizeof OFFERS / sizeof *OFFERS };

/* True for a terminal that begins an operand. It is redundant if "an expression" is suggested. */
static bool is_covered(unsigned code, bool operand)
{
    return operand && (code == T_ID || code == T_LP || code == T_NULL || code == T_ROW || code == T_ROWS);
}

/* True for a keyword that the parser would read as a name here. Such a keyword is not suggested. */
static bool is_fallback(const struct sim *sim, unsigned code)
{
    struct sim as_word, as_name;
    if (code == SQL_END_OF_TEXT || yyFallback[code] == 0) return false;
    sim_copy(&as_word, sim);
    sim_copy(&as_name, sim);
    bool both = sim_feed(&as_word, code) && sim_feed(&as_name, T_ID);
    return both && as_word.top == as_name.top && as_word.states[as_word.top] == as_name.states[as_name.top];
}

/* True if `a` misspells the first word of `b` by one letter that is swapped, missing, added or wrong: SELCT, FORM,
 * GRUOP. */
static bool is_misspelled(const char *a, size_t n, const char *b)
{
    if (n < 3 || ((a[0] ^ b[0]) & ~32 && (a[1] ^ b[1]) & ~32 && (a[1] ^ b[0]) & ~32))
        return false; /* most pairs of words differ here */
    size_t m = strcspn(b, " "), i = 0;
    if (m < 3 || n > m + 1 || m > n + 1 || *b < 'A' || *b > 'Z') return false;
    while (i < n && i < m && sql_name_is(a + i, 1, b + i, 1)) i++;
    if (n == m + 1) return sql_name_is(a + i + 1, n - i - 1, b + i, m - i);
    if (m == n + 1) return sql_name_is(a + i, n - i, b + i + 1, m - i - 1);
    if (i + 1 < n && sql_name_is(a + i, 1, b + i + 1, 1) && sql_name_is(a + i + 1, 1, b + i, 1)) i++;
    return i < n && sql_name_is(a + i + 1, n - i - 1, b + i + 1, m - i - 1);
}

static bool is_offered(const struct sim *sim, unsigned code, bool operand)
{
    return !is_covered(code, operand) && sim_takes(sim, code) && !is_fallback(sim, code);
}

/* Lists the tokens that would fit instead of token `at`. The keywords that it may misspell come first. Returns the
 * number. */
static uint32_t expected_at(const struct feeder *f, uint32_t at, const char **list)
{
    struct sim sim;
    uint32_t n = 0, n_misspelled = 0;
    struct sql_token bad = f->p->tokens[at];
    const char *word = f->p->text + bad.start;
    sim_now(&sim, f);
    bool operand = sim_takes(&sim, T_INTEGER);
    for (unsigned k = 0; k < N_OFFERS && bad.code == T_ID && n < MAX_EXPECTED; k++)
        if (is_misspelled(word, bad.len, OFFERS[k].text) && is_offered(&sim, OFFERS[k].code, operand))
            list[n++] = OFFERS[k].text;
    n_misspelled = n;
    for (unsigned k = 0; k < N_OFFERS && n < MAX_EXPECTED; k++) {
        if (n_misspelled > 0 && is_misspelled(word, bad.len, OFFERS[k].text)) continue;
        if (is_offered(&sim, OFFERS[k].code, operand)) list[n++] = OFFERS[k].text;
    }
    return n;
}

/* ---- recovery -------------------------------------------------------------------------------------------------- */

/* Tokens at which parsing can resume: clause keywords, separators, joins, ends. */
static const bool SYNC[256] = {
    [T_SELECT] = true, [T_VALUES] = true,  [T_WITH] = true,  [T_FROM] = true,  [T_WHERE] = true,     [T_GROUP] = true,
    [T_HAVING] = true, [T_ORDER] = true,   [T_LIMIT] = true, [T_UNION] = true, [T_INTERSECT] = true, [T_EXCEPT] = true,
    [T_JOIN] = true,   [T_JOIN_KW] = true, [T_ON] = true,    [T_COMMA] = true, [T_RP] = true};

/* Returns the index of the first token from `at` on at which parsing can resume in `sim`, or f->stop. Text in
 * parentheses is skipped. `open` is the number of parentheses that are open at `at`. */
static uint32_t find_sync(struct feeder *f, const struct sim *sim, uint32_t at, uint32_t open)
{
    for (; at < f->stop; at++) {
        unsigned code = f->p->tokens[at].code;
        if (open == 0 && SYNC[code] && f->tries++ < MAX_TRIES && sim_takes(sim, code)) return at;
        if (code == T_LP)
            open++;
        else if (code == T_RP && open > 0)
            open--;
    }
    return at;
}

/* A position on the stack that accepts BAD, and the token at which parsing resumes. */
struct place {
    int depth;
    uint32_t resume;
};

/* Cuts the stack to `depth` and pushes BAD. Returns false if BAD is not accepted there. */
static bool sim_bad(const struct feeder *f, int depth, struct sim *sim)
{
    sim->top = depth;
    for (int i = 0; i <= depth; i++) sim->states[i] = f->lemon.yystack[i].stateno;
    return sim_feed(sim, T_BAD);
}

/* True if the stack accepts BAD at `depth`. At the top of the stack, rules may be reduced first, so sim_bad decides.
 * Below the top, the state itself must shift BAD. */
static bool takes_bad(const struct feeder *f, int depth)
{
    YYACTIONTYPE state = f->lemon.yystack[depth].stateno;
    if (depth == f->lemon.yytos - f->lemon.yystack) return true; /* sim_bad decides */
    return state <= YY_MAX_SHIFT && yy_find_shift_action(T_BAD, state) <= YY_MAX_SHIFTREDUCE;
}

/* True for tokens of a query. Text before the first SELECT may be discarded ("Sure: SELECT ..."); a SELECT that was
 * read may not. */
static bool begins_query(unsigned code)
{
    return code == T_SELECT || code == T_VALUES || code == T_WITH || code == T_TABLE;
}

/* Finds the place to recover, by preference:
 * - the innermost one from which parsing resumes after the discarded text's open parentheses have closed;
 * - the innermost one from which parsing resumes at all;
 * - one at which the text may end. */
static bool find_place(struct feeder *f, uint32_t at, struct place *place)
{
    struct place here, loose = {.depth = -1}, end = {.depth = -1};
    uint32_t open = 0;
    int top = (int)(f->lemon.yytos - f->lemon.yystack), tried = 0;
    for (int depth = top; depth >= 0 && tried < MAX_PLACES; depth--) {
        struct sim sim;
        bool start = depth == 0 && begins_query(f->p->tokens[0].code); /* the first SELECT would be discarded */
        if (takes_bad(f, depth) && sim_bad(f, depth, &sim)) {
            tried++;
            here = (struct place){depth, start ? f->stop : find_sync(f, &sim, at, open)};
            if (here.resume < f->stop) return *place = here, true;
            if (open > 0 && loose.depth < 0 && !start) loose = (struct place){depth, find_sync(f, &sim, at, 0)};
            if (loose.resume == f->stop) loose.depth = -1;
            if (end.depth < 0 && sim_takes(&sim, SQL_END_OF_TEXT)) end = here;
        }
        if (f->lemon.yystack[depth].major == T_LP) open++;
    }
    *place = loose.depth >= 0 ? loose : end;
    return place->depth >= 0;
}

static void feed(struct feeder *f, struct sql_token token)
{
    f->p->failed_here = false;
    sql_lemon(&f->lemon, token.code, token);
    f->p->end = token.start + token.len;
}

static void cut(struct feeder *f, int depth)
{
    while (f->lemon.yytos - f->lemon.yystack > depth) yy_pop_parser_stack(&f->lemon);
}

/* Returns the text that a recovery discarded. */
static struct sql_token bad_token(const struct sql_parser *p, uint32_t at, uint32_t resume)
{
    if (resume == at) return (struct sql_token){.start = p->end, .code = T_BAD};
    uint32_t start = p->tokens[at].start, end = p->tokens[resume - 1].start + p->tokens[resume - 1].len;
    return (struct sql_token){.start = start, .len = (end - start) & SQL_TOKEN_LEN_MAX, .code = T_BAD};
}

/* Restarts the parser and feeds everything before token `at`. */
static void rewind_to(struct feeder *f, uint32_t at)
{
    struct sql_parser *p = f->p;
    const struct recovery *next = f->recoveries, *end = next + f->n_recoveries;
    sql_lemonInit(&f->lemon, p);
    p->end = 0;
    p->n_params = 0;
    for (uint32_t i = 0; i < at; i++) {
        while (next != end && next->at == i) {
            cut(f, next->depth);
            feed(f, bad_token(p, i, next->resume));
            i = next++->resume;
        }
        if (i < at && p->tokens[i].code != SQL_WORD_TAKEN) feed(f, p->tokens[i]);
    }
}

/* Recovers from an error at token `at`. Returns the index to resume with, or UINT32_MAX if recovery is impossible.
 * Tokens before skip_to are always discarded. */
static uint32_t recover(struct feeder *f, uint32_t at, uint32_t skip_to)
{
    struct place place;
    struct sql_parser *p = f->p;
    if (f->n_recoveries == MAX_RECOVERIES) return UINT32_MAX;
    if (f->n_recoveries == MAX_RECOVERIES - 1) skip_to = f->stop; /* last recovery: discard the rest, keep the tree */
    if (!find_place(f, skip_to, &place)) return UINT32_MAX;
    cut(f, place.depth);
    f->recoveries[f->n_recoveries++] = (struct recovery){at, place.resume, place.depth};
    feed(f, bad_token(p, at, place.resume));
    return place.resume;
}

/* ---- statements refused by name ---------------------------------------------------------------------------------- */

static void refuse(struct sql_parser *p, struct sql_token token, const char *message)
{
    sql_diag_add(p, ERR_REFUSED, token.start, token.start + token.len, message);
}

static bool refuse_verb(struct sql_parser *p, struct sql_token token)
{
    const char *verb = begins_query(token.code) || token.code == T_LP ? NULL : sql_refused_verb(p, token);
    if (!verb) return false;
    p->stmt->statement_kind = verb;
    refuse(p, token,
           arena_printf(p->arena, "%s is not a query; only SELECT, VALUES and WITH ... SELECT are allowed", verb));
    return true;
}

/* Refuses a token that makes the statement more than a query: WITH x AS (...) DELETE ..., SELECT ... INTO, FOR UPDATE.
 * Returns false if the token is an ordinary error. */
static bool refuse_here(const struct feeder *f, uint32_t at)
{
    struct sql_parser *p = f->p;
    struct sql_token token = p->tokens[at];
    struct sim sim;
    if (token.code == T_FOR_LOCK)
        return refuse(p, token, "FOR UPDATE and FOR SHARE are not allowed: they lock rows"), true;
    if (token.code == T_RESERVED && sql_token_is(p, token, "INTO"))
        return refuse(p, token, "SELECT INTO is not allowed: it creates a table"), true;
    if (at == 0 || !sql_refused_verb(p, token)) return false;
    sim_now(&sim, f);
    return sim_takes(&sim, T_SELECT) && !sim_takes(&sim, T_INTEGER) && refuse_verb(p, token);
}

/* ---- types before strings -------------------------------------------------------------------------------------- */

/* True if a string and the token `after` it would be accepted. A contextual word as `after` is always accepted. */
static bool takes_string(const struct sim *sim, unsigned after)
{
    struct sim copy;
    sim_copy(&copy, sim);
    if (!sim_feed(&copy, T_STRING)) return false;
    return after >= SQL_WORD_FIRST || sim_feed(&copy, after == T_TILDE ? T_OPER : after);
}

/* Reads a name before a string as a type: int4 '2', box '((1, 2), (3, 4))'. PostgreSQL allows any type there; SQLite
 * reads a name with an alias, and that reading is tried first. The string is token `i`. If the grammar rejects it or
 * the token after it, the name is popped from the stack and fed again as a type. */
static void reread_as_type(struct feeder *f, uint32_t i)
{
    struct sim sim;
    struct sql_token *type = &f->p->tokens[i - 1];
    unsigned after = i + 1 < f->stop ? f->p->tokens[i + 1].code : SQL_END_OF_TEXT;
    sim_now(&sim, f);
    if (takes_string(&sim, after)) return;
    sim.top--;
    if (!sim_feed(&sim, T_TYPEWORD) || !takes_string(&sim, after)) return;
    type->code = T_TYPEWORD;
    f->lemon.yytos--; /* a token needs no destructor */
    feed(f, *type);
}

/* ---- the loop that feeds tokens -------------------------------------------------------------------------------- */

/* Returns the misspelt keyword before the error: in "FROM t GRUOP BY x" the parser stops at BY, but GRUOP is the
 * mistake. */
static const char *misspelling_before(const struct feeder *f, uint32_t at)
{
    struct sim sim;
    struct sql_parser *p = f->p;
    if (at == 0 || p->tokens[at - 1].code != T_ID) return NULL;
    struct sql_token word = p->tokens[at - 1];
    for (unsigned k = 0; k < N_OFFERS; k++) {
        const char *text = OFFERS[k].text;
        if (!is_misspelled(p->text + word.start, word.len, text)) continue;
        sim_replay(&sim, f, at - 1);
        if (sim_takes(&sim, OFFERS[k].code))
            return arena_printf(p->arena, "did you mean %s instead of \"%.*s\"?", text, (int)word.len,
                                p->text + word.start);
    }
    return NULL;
}

/* Returns a hint on the cause of the error, or NULL. */
static const char *hint_at(const struct feeder *f, uint32_t at)
{
    struct sim sim;
    unsigned code = f->p->tokens[at].code;
    if (code != T_UNION && code != T_INTERSECT && code != T_EXCEPT) return misspelling_before(f, at);
    sim_now(&sim, f);
    return sim_takes(&sim, SQL_END_OF_TEXT) || sim_takes(&sim, T_RP)
               ? "ORDER BY and LIMIT must follow the last SELECT of a set operation"
               : NULL;
}

static void report(struct feeder *f, uint32_t at)
{
    const char *list[MAX_EXPECTED];
    bool illegal = f->p->tokens[at].code == T_ILLEGAL;
    uint32_t n = illegal ? 0 : expected_at(f, at, list);
    sql_diag_unexpected(f->p, f->p->tokens[at], list, n, illegal ? NULL : hint_at(f, at));
}

static void too_deep(struct sql_parser *p, uint32_t start, uint32_t end)
{
    sql_diag_add(p, ERR_LIMIT_DEPTH, start, end,
                 arena_printf(p->arena, "the SQL is nested more than %u levels deep", p->limits.max_depth));
    p->stmt->root = NULL;
}

/* Feeds all tokens up to f->stop, and the end. Stops early if recovery is impossible. */
static void feed_all(struct feeder *f)
{
    struct sql_parser *p = f->p;
    struct sql_token end = {.start = p->tokens[f->stop].start, .code = SQL_END_OF_TEXT};
    unsigned prev = SQL_END_OF_TEXT;
    uint32_t fresh = UINT32_MAX; /* resume point of the last recovery: an error there is not reported again */
    for (uint32_t i = 0; !p->full;) {
        uint32_t next = i + 1;
        if (i < f->stop && sql_in_context(p->tokens[i].code, prev)) next = sql_classify_keyword(p, i, prev);
        while (next < f->stop && p->tokens[next].code == SQL_WORD_TAKEN) next++;
        struct sql_token token = i < f->stop ? p->tokens[i] : end;
        if (token.code == T_STRING && prev == T_ID) reread_as_type(f, i);
        feed(f, token);
        if (p->too_deep) {
            too_deep(p, token.start, token.start + token.len);
            return;
        }
        if (!p->failed_here) {
            if (i >= f->stop) return;
            prev = token.code;
            i = next;
            continue;
        }
        rewind_to(f, i);
        if (i != fresh && refuse_here(f, i)) return;
        if (i != fresh) report(f, i);
        if (i >= f->stop && fresh == f->stop) return;
        fresh = recover(f, i, i == fresh && i < f->stop ? i + 1 : i);
        if (fresh == UINT32_MAX) return;
        i = fresh;
        prev = SQL_END_OF_TEXT;
    }
}

/* Checks that only semicolons follow the first semicolon. */
static void check_tail(struct sql_parser *p, uint32_t stop)
{
    while (stop < p->n_tokens && p->tokens[stop].code == T_SEMI) stop++;
    if (stop < p->n_tokens) refuse(p, p->tokens[stop], "a second statement begins here; only one is allowed");
}

/* Makes the first parenthesis the reported error of a text such as "(a + b) FROM t", which has no SELECT. */
static void check_start(struct sql_parser *p)
{
    uint32_t i = 0;
    while (p->tokens[i].code == T_LP) i++;
    unsigned code = p->tokens[i].code;
    bool query = begins_query(code) || code == SQL_END_OF_TEXT;
    if (i > 0 && !query && !sql_refused_verb(p, p->tokens[i])) p->tokens[0].code = T_ILLEGAL;
}

static void parse_tokens(struct sql_parser *p)
{
    struct feeder f;
    f.p = p;
    f.n_recoveries = f.tries = 0;
    f.stop = 0;
    while (f.stop < p->n_tokens && p->tokens[f.stop].code != T_SEMI) f.stop++;
    if (f.stop == 0) {
        sql_diag_add(p, ERR_SYNTAX, 0, 0, "the text contains no statement");
        check_tail(p, f.stop);
        return;
    }
    if (refuse_verb(p, p->tokens[0])) return;
    check_start(p);
    sql_lemonInit(&f.lemon, p);
    feed_all(&f);
    check_tail(p, f.stop);
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

/* Sets ids and clauses of all nodes in one walk. Returns false, with a diagnostic, if the tree exceeds the depth
 * limit. */
static bool number(struct sql_parser *p, struct sql_node *root)
{
    uint32_t depth = 1, n = 0;
    struct sql_node *node = root;
    root->parent = NULL;
    while (node) {
        sql_number(node, n++);
        if (depth > p->limits.max_depth) return too_deep(p, node->start, node->start), false;
        struct sql_node *kid = NULL;
        for (uint32_t i = 0; i < node->n_kids && !kid; i++) kid = node->kids[i];
        for (depth++; !kid && node != root; depth--) {
            struct sql_node *parent = node->parent;
            for (uint32_t i = node->slot + 1; i < parent->n_kids && !kid; i++) kid = parent->kids[i];
            if (kid) break;
            node = parent;
        }
        if (!kid) break;
        if (kid->parent != node) depth--;
        node = kid;
    }
    p->stmt->n_nodes = n;
    return true;
}

static uint32_t or_default(uint32_t value, uint32_t by_default, uint32_t most)
{
    if (value == 0) return by_default;
    return value < most ? value : most;
}

static struct sql_limits limits_or_defaults(const struct sql_limits *limits)
{
    static const struct sql_limits NONE = {0};
    if (!limits) limits = &NONE;
    return (struct sql_limits){
        .max_bytes = or_default(limits->max_bytes, DEFAULT_BYTES, SQL_TOKEN_LEN_MAX),
        .max_tokens = or_default(limits->max_tokens, DEFAULT_TOKENS, SQL_TOKEN_LEN_MAX),
        .max_depth = or_default(limits->max_depth, DEFAULT_DEPTH, SQL_MAX_DEPTH),
        .max_diags = or_default(limits->max_diags, DEFAULT_DIAGS, 1000),
    };
}

/* Rejects text that must not reach the scanner. */
static enum err_code check_text(struct sql_parser *p, size_t len)
{
    if (len > p->limits.max_bytes) {
        bool even = p->limits.max_bytes % 1024 == 0;
        sql_diag_add(p, ERR_LIMIT_BYTES, 0, 0,
                     arena_printf(p->arena, "the SQL is longer than %u %s", p->limits.max_bytes / (even ? 1024 : 1),
                                  even ? "KiB" : "bytes"));
        return ERR_LIMIT_BYTES;
    }
    size_t bad = utf8_valid_bytes(p->text, len);
    if (bad == len) return ERR_OK;
    bool nul = p->text[bad] == '\0';
    sql_diag_add(p, ERR_ENCODING, (uint32_t)bad, (uint32_t)bad + 1,
                 nul ? "the SQL contains a NUL byte" : "the SQL is not valid UTF-8 here");
    return ERR_ENCODING;
}

enum err_code sql_parse(struct arena *arena, const char *text, size_t len, const struct sql_limits *limits,
                        struct sql_stmt **out)
{
    struct sql_parser p = {.arena = arena, .limits = limits_or_defaults(limits)};
    bool too_long = len > p.limits.max_bytes;
    *out = NULL;
    p.stmt = arena_new(arena, struct sql_stmt);
    p.text = too_long ? text : arena_strndup(arena, text, len);
    if (!p.stmt || !p.text) return ERR_LIMIT_MEMORY;
    *p.stmt = (struct sql_stmt){.text = p.text, .len = len, .statement_kind = "SELECT"};
    p.len = (uint32_t)(too_long ? 0 : len);
    enum err_code rc = check_text(&p, len);
    if (rc == ERR_OK) rc = sql_scan(&p);
    if (rc == ERR_OK) parse_tokens(&p);
    if (p.full || rc == ERR_LIMIT_MEMORY) return ERR_LIMIT_MEMORY;
    if (p.stmt->root && number(&p, p.stmt->root)) sql_lint(&p);
    if (p.full) return ERR_LIMIT_MEMORY;
    p.stmt->n_params = p.n_params;
    *out = p.stmt;
    return p.stmt->diags ? p.stmt->diags->code : ERR_OK;
}

/* ---- fragments ------------------------------------------------------------------------------------------------- */

static struct sql_node *only_item(const struct sql_stmt *stmt)
{
    const struct sql_node *select = sql_kid(stmt->root, QUERY_BODY), *items = sql_kid(select, SELECT_ITEMS);
    if (!sql_is(select, SQL_SELECT) || items->n_kids != 1 || sql_kid(stmt->root, QUERY_ORDER)) return NULL;
    for (unsigned slot = SELECT_FROM; slot <= SELECT_WINDOWS; slot++)
        if (sql_kid(select, slot)) return NULL;
    const struct sql_node *item = items->kids[0];
    if (!sql_is(item, SQL_ITEM) || item->text || sql_kid(stmt->root, QUERY_LIMIT)) return NULL;
    return sql_kid(item, 0);
}

struct sql_node *sql_parse_expression(struct arena *arena, const char *text)
{
    struct sql_stmt *stmt;
    char *whole = arena_printf(arena, "SELECT %s", text);
    if (!whole || sql_parse(arena, whole, strlen(whole), NULL, &stmt) != ERR_OK) return NULL;
    struct sql_node *expr = only_item(stmt);
    if (!expr) return NULL;
    expr->parent = NULL;
    for (struct sql_node *n = expr; n; n = sql_walk(expr, n)) n->start = n->end = 0;
    sql_renumber(expr);
    return expr;
}
