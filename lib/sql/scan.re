/* The scanner: converts a NUL-terminated copy of the text to tokens in one pass. The NUL ends the scan.
 *
 * Tokens follow SQLite's tokenizer, so that "unrecognized token" is reported at the same byte. Tokens that SQLite lacks
 * follow PostgreSQL: E'', U&'' and $$ strings, ::, its operators, [ as a subscript. MariaDB adds only <=>. Other text
 * becomes ILLEGAL. The parser reports it when it reaches the token, so an earlier syntax error is reported first.
 */
#include "lib/sql/parser.h"

#include <string.h>

#include "lib/sql/grammar.h"

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;
    re2c:eof = -1;

    space      = [ \t\n\v\f\r];
    digit      = [0-9];
    first      = [A-Za-z_\x80-\xff];
    inside     = [A-Za-z0-9_$\x80-\xff];
    exponent   = [eE] [+-]? digit+;
    number     = digit+ "." digit* exponent? | "." digit+ exponent? | digit+ exponent;
    quoted     = "'" ([^'\x00] | "''")* "'";
    any        = [^\x00];
*/

/* True if the bracket at `at` opens a subscript or an array. Other brackets quote a name: [x], as in SQLite and Access.
 * An opening bracket follows directly after an operand (a[1], f(x)[1]) or after ARRAY, or is inside such brackets
 * (ARRAY[[1, 2], [3]]). */
static bool is_subscript(const struct sql_parser *p, uint32_t at, unsigned open)
{
    const struct sql_token *prev = p->n_tokens ? &p->tokens[p->n_tokens - 1] : NULL;
    if (!prev) return false;
    if (prev->code == T_ARRAY) return true;
    if (open && (prev->code == T_LBRACKET || prev->code == T_COMMA)) return true;
    if (prev->start + prev->len != at) return false;
    return prev->code == T_ID || prev->code == T_RP || prev->code == T_RBRACKET || prev->code == T_TYPEWORD;
}

/* Returns the end of a $tag$...$tag$ string whose opening tag is text[0, tag). Returns NULL if it is never closed. */
static const char *dollar_end(const char *text, size_t tag)
{
    for (const char *at = text + tag; (at = strchr(at, '$')); at++)
        if (strncmp(at, text, tag) == 0) return at + tag;
    return NULL;
}

/* Returns the code of x'...': BLOB with an even number of hex digits, BITS (PostgreSQL) with an odd number. */
static unsigned hex_token(const char *text, size_t len)
{
    size_t digits = len - 3;
    if (strspn(text + 2, "0123456789abcdefABCDEF") != digits) return T_ILLEGAL;
    return digits % 2 == 0 ? T_BLOB : T_BITS;
}

/* Ensures capacity for one more token and the final one. The first array has capacity for a token every three bytes. If
 * that is too small, a second one has capacity for a token every byte. */
static bool reserve(struct sql_parser *p, uint32_t *cap)
{
    if (p->n_tokens + 1 < *cap) return true;
    *cap = *cap ? p->len + 2 : p->len / 3 + 16;
    struct sql_token *wider = arena_alloc(p->arena, *cap * sizeof *wider);
    if (!wider) return false;
    if (p->n_tokens) memcpy(wider, p->tokens, p->n_tokens * sizeof *wider);
    p->tokens = wider;
    return true;
}

static enum err_code too_many(struct sql_parser *p, uint32_t start, uint32_t end)
{
    p->tokens[p->n_tokens] = (struct sql_token){.start = start, .code = SQL_END_OF_TEXT};
    sql_diag_add(p, ERR_LIMIT_TOKENS, start, end,
                 arena_printf(p->arena, "the SQL has more than %u tokens", p->limits.max_tokens));
    return ERR_LIMIT_TOKENS;
}

enum err_code sql_scan(struct sql_parser *p)
{
    const char *base = p->text;
    const unsigned char *at = (const unsigned char *)base, *marker = at, *start;
    uint32_t cap = 0;
    unsigned code, open = 0; /* subscript brackets that are open */

#define TOKEN(c)                                                                                                       \
    do {                                                                                                               \
        code = (c);                                                                                                    \
        goto push;                                                                                                     \
    } while (0)

    if (strncmp(base, "\xef\xbb\xbf", 3) == 0) at += 3; /* a byte order mark */
next:
    start = at;
    /*!re2c
    "\x00"                          { goto done; }
    space+                          { goto next; }
    "--" [^\n\x00]*                 { goto next; }
    "/*" ([^*\x00] | "*"+ [^*/\x00])* ("*"+ "/" | "*"*)
                                    { goto next; }

    // Keywords of the grammar.
    'ALL'          { TOKEN(T_ALL); }
    'AND'          { TOKEN(T_AND); }
    'ANY'          { TOKEN(T_ANY); }
    'ARRAY'        { TOKEN(T_ARRAY); }
    'AS'           { TOKEN(T_AS); }
    'ASC'          { TOKEN(T_ASC); }
    'BETWEEN'      { TOKEN(T_BETWEEN); }
    'BY'           { TOKEN(T_BY); }
    'CASE'         { TOKEN(T_CASE); }
    'CAST'         { TOKEN(T_CAST); }
    'COLLATE'      { TOKEN(T_COLLATE); }
    'CROSS' | 'FULL' | 'INNER' | 'LEFT' | 'NATURAL' | 'OUTER' | 'RIGHT'
                   { TOKEN(T_JOIN_KW); }
    'CURRENT'      { TOKEN(T_CURRENT); }
    'CURRENT_DATE' | 'CURRENT_TIME' | 'CURRENT_TIMESTAMP'
                   { TOKEN(T_NOW); }
    'DESC'         { TOKEN(T_DESC); }
    'DISTINCT' | 'DISTINCTROW'
                   { TOKEN(T_DISTINCT); }
    'ELSE'         { TOKEN(T_ELSE); }
    'END'          { TOKEN(T_END); }
    'ESCAPE'       { TOKEN(T_ESCAPE); }
    'EXCEPT'       { TOKEN(T_EXCEPT); }
    'EXCLUDE'      { TOKEN(T_EXCLUDE); }
    'EXISTS'       { TOKEN(T_EXISTS); }
    'EXTRACT'      { TOKEN(T_EXTRACT); }
    'FALSE'        { TOKEN(T_FALSE); }
    'FETCH'        { TOKEN(T_FETCH); }
    'FILTER'       { TOKEN(T_FILTER); }
    'FIRST' | 'NEXT'
                   { TOKEN(T_FIRST); }
    'FOLLOWING'    { TOKEN(T_FOLLOWING); }
    'FOR'          { TOKEN(T_FOR); }
    'FROM'         { TOKEN(T_FROM); }
    'GLOB' | 'LIKE' | 'REGEXP' | 'RLIKE' | 'MATCH'
                   { TOKEN(T_LIKE_KW); }
    'GROUP'        { TOKEN(T_GROUP); }
    'GROUPING'     { TOKEN(T_GROUPING_SETS); }
    'GROUPS' | 'RANGE'
                   { TOKEN(T_RANGE); }
    'HAVING'       { TOKEN(T_HAVING); }
    'IN'           { TOKEN(T_IN); }
    'INDEXED'      { TOKEN(T_INDEXED); }
    'INTERSECT'    { TOKEN(T_INTERSECT); }
    'IS'           { TOKEN(T_IS); }
    'ISNULL'       { TOKEN(T_ISNULL); }
    'JOIN' | 'STRAIGHT_JOIN'
                   { TOKEN(T_JOIN); }
    'LAST'         { TOKEN(T_LAST); }
    'LATERAL'      { TOKEN(T_LATERAL); }
    'LIMIT'        { TOKEN(T_LIMIT); }
    'MATERIALIZED' { TOKEN(T_MATERIALIZED); }
    'NO'           { TOKEN(T_NO); }
    'NOT'          { TOKEN(T_NOT); }
    'NOTNULL'      { TOKEN(T_NOTNULL); }
    'NULL'         { TOKEN(T_NULL); }
    'NULLS'        { TOKEN(T_NULLS); }
    'OFFSET'       { TOKEN(T_OFFSET); }
    'ON'           { TOKEN(T_ON); }
    'ONLY'         { TOKEN(T_ONLY); }
    'OR'           { TOKEN(T_OR); }
    'ORDER'        { TOKEN(T_ORDER); }
    'ORDINALITY'   { TOKEN(T_ORDINALITY); }
    'OTHERS'       { TOKEN(T_OTHERS); }
    'OVER'         { TOKEN(T_OVER); }
    'PARTITION'    { TOKEN(T_PARTITION); }
    'PRECEDING'    { TOKEN(T_PRECEDING); }
    'REPEATABLE'   { TOKEN(T_REPEATABLE); }
    'RECURSIVE'    { TOKEN(T_RECURSIVE); }
    'ROW'          { TOKEN(T_ROW); }
    'ROWS'         { TOKEN(T_ROWS); }
    'SELECT'       { TOKEN(T_SELECT); }
    'SYMMETRIC' | 'ASYMMETRIC'
                   { TOKEN(T_SYMMETRIC); }
    'TABLE'        { TOKEN(T_TABLE); }
    'TABLESAMPLE'  { TOKEN(T_TABLESAMPLE); }
    'THEN'         { TOKEN(T_THEN); }
    'TIES'         { TOKEN(T_TIES); }
    'TRUE'         { TOKEN(T_TRUE); }
    'UNBOUNDED'    { TOKEN(T_UNBOUNDED); }
    'UNION'        { TOKEN(T_UNION); }
    'USING'        { TOKEN(T_USING); }
    'VALUES'       { TOKEN(T_VALUES); }
    'WHEN'         { TOKEN(T_WHEN); }
    'WHERE'        { TOKEN(T_WHERE); }
    'WINDOW'       { TOKEN(T_WINDOW); }
    'WITH'         { TOKEN(T_WITH); }
    'WITHIN'       { TOKEN(T_WITHIN); }

    // Words that keywords.c classifies.
    'AT'           { TOKEN(SQL_WORD_AT); }
    'BINARY'       { TOKEN(SQL_WORD_BINARY); }
    'DIV' | 'MOD' | 'XOR'
                   { TOKEN(SQL_WORD_INFIX); }
    'ILIKE'        { TOKEN(SQL_WORD_ILIKE); }
    'JSON_TABLE'   { TOKEN(SQL_WORD_JSON_TABLE); }
    'OPERATOR'     { TOKEN(SQL_WORD_OPERATOR); }
    'OVERLAPS'     { TOKEN(SQL_WORD_OVERLAPS); }
    'SIMILAR'      { TOKEN(SQL_WORD_SIMILAR); }
    'SOME'         { TOKEN(SQL_WORD_SOME); }
    'UNKNOWN'      { TOKEN(SQL_WORD_UNKNOWN); }
    'USE' | 'FORCE' | 'IGNORE'
                   { TOKEN(SQL_WORD_HINT); }
    'SEARCH' | 'CYCLE'
                   { TOKEN(SQL_WORD_CTE_SET); }
    'TO'           { TOKEN(SQL_WORD_TO); }
    'VARIADIC'     { TOKEN(SQL_WORD_VARIADIC); }
    'CONVERT' | 'GROUP_CONCAT' | 'OVERLAY' | 'POSITION' | 'SUBSTRING' | 'TIMESTAMPADD' | 'TIMESTAMPDIFF' | 'TRIM'
                   { TOKEN(SQL_WORD_CALL); }
    'DATE' | 'TIME' | 'TIMETZ' | 'TIMESTAMP' | 'TIMESTAMPTZ' | 'INTERVAL' | 'JSON' | 'JSONB' | 'UUID' | 'BYTEA' |
    'POINT' | 'INET' | 'CIDR' | 'MONEY'
                   { TOKEN(T_TYPEWORD); }

    // Words that SQLite reserves and no rule uses. They are not names.
    'ADD' | 'ALTER' | 'AUTOINCREMENT' | 'CHECK' | 'COMMIT' | 'CONSTRAINT' | 'CREATE' | 'DEFAULT' | 'DEFERRABLE' |
    'DELETE' | 'DROP' | 'FOREIGN' | 'INDEX' | 'INSERT' | 'INTO' | 'NOTHING' | 'PRIMARY' | 'REFERENCES' | 'RETURNING' |
    'SET' | 'TRANSACTION' | 'UNIQUE' | 'UPDATE'
                   { TOKEN(T_RESERVED); }

    // Names and values.
    first inside*                       { TOKEN(T_ID); }
    ["] ([^"\x00] | ["]["])* ["]        { TOKEN(T_ID); }
    "`" ([^`\x00] | "``")* "`"          { TOKEN(T_ID); }
    "["                                 { goto bracket; }
    quoted                              { TOKEN(T_STRING); }
    [uU] "&" quoted                     { TOKEN(T_STRING); }
    [eE] "'" ([^'\\\x00] | "\\" any | "''")* "'"
                                        { TOKEN(T_STRING); }
    "$" (first [A-Za-z0-9_\x80-\xff]*)? "$"
                                        { goto dollar; }
    [xX] "'" [^'\x00]* "'"              { TOKEN(hex_token((const char *)start, (size_t)(at - start))); }
    [bB] "'" [01]* "'"                  { TOKEN(T_BITS); }
    digit+                              { TOKEN(T_INTEGER); }
    '0x' [0-9A-Fa-f]+                   { TOKEN(T_INTEGER); }
    number                              { TOKEN(T_FLOAT); }
    (digit+ | '0x' [0-9A-Fa-f]+ | number) inside+
                                        { TOKEN(T_ILLEGAL); }
    "?"                                 { TOKEN(SQL_WORD_QUESTION); }
    "?" digit+                          { TOKEN(T_PARAM); }
    [@#] inside+ | "$" [A-Za-z0-9_\x80-\xff]+
                                        { TOKEN(T_PARAM); }
    ":" inside+                         { goto colon_name; }

    // Punctuation and operators. The list is fixed, unlike PostgreSQL's, because ||-1 must not become one operator.
    "("                 { TOKEN(T_LP); }
    ")"                 { TOKEN(T_RP); }
    "]"                 { goto close_bracket; }
    ","                 { TOKEN(T_COMMA); }
    "."                 { TOKEN(T_DOT); }
    ";"                 { if (p->n_tokens == 0) goto next; TOKEN(T_SEMI); } // leading ones are skipped, as in SQLite
    ":"                 { TOKEN(open ? T_COLON : T_ILLEGAL); }
    "::"                { TOKEN(T_TYPECAST); }
    "=" | "==" | "<=>"  { TOKEN(T_EQ); }
    "<>" | "!="         { TOKEN(T_NE); }
    "<"                 { TOKEN(T_LT); }
    "<="                { TOKEN(T_LE); }
    ">"                 { TOKEN(T_GT); }
    ">="                { TOKEN(T_GE); }
    "+"                 { TOKEN(T_PLUS); }
    "-"                 { TOKEN(T_MINUS); }
    "*"                 { TOKEN(T_STAR); }
    "/"                 { TOKEN(T_SLASH); }
    "%"                 { TOKEN(T_REM); }
    "^"                 { TOKEN(T_CARET); }
    "||"                { TOKEN(T_CONCAT); }
    "->" | "->>"        { TOKEN(T_ARROW); }
    "&"                 { TOKEN(T_BITAND); }
    "|"                 { TOKEN(T_BITOR); }
    "<<"                { TOKEN(T_LSHIFT); }
    ">>"                { TOKEN(T_RSHIFT); }
    "~"                 { TOKEN(T_TILDE); }
    "!"                 { TOKEN(T_BANG); }
    "~*" | "!~" | "!~*" | "~~" | "~~*" | "!~~" | "!~~*" | "~=" | "~<~" | "~>~" | "~<=~" | "~>=~" |
    "#" | "#>" | "#>>" | "#-" | "##" | "@>" | "<@" | "&&" | "@@" | "@@@" | "@?" | "?|" | "?&" | "?#" | "?-" | "?||" |
    "?-|" | "|/" | "||/" | "<->" | "<#>" | "&<" | "&>" | "<<|" | "|>>" | "&<|" | "|&>" | "-|-" | "<^" | ">^" | "^@" |
    "<<=" | ">>=" | "@-@" | "@" | "=>" | ":=" | "!!" | "*<" | "*<=" | "*=" | "*<>" | "*>" | "*>=" | "<<<" | ">>>" |
    "<%" | "%>" | "<<%" | "%>>" | "|@|" | "@#@"
                        { TOKEN(T_OPER); }

    // A quote that is never closed makes the rest of the text ILLEGAL.
    ["'`]               { at = (const unsigned char *)base + p->len; TOKEN(T_ILLEGAL); }
    *                   { TOKEN(T_ILLEGAL); }
    */

bracket:
    if (is_subscript(p, (uint32_t)((const char *)start - base), open)) {
        open++;
        TOKEN(T_LBRACKET);
    }
    at = (const unsigned char *)strchr((const char *)start, ']');
    if (!at) {
        at = (const unsigned char *)base + p->len;
        TOKEN(T_ILLEGAL);
    }
    at++;
    TOKEN(T_ID);

close_bracket:
    if (!open) TOKEN(T_ILLEGAL);
    open--;
    TOKEN(T_RBRACKET);

dollar: {
    const char *end = dollar_end((const char *)start, (size_t)(at - start));
    if (end) {
        at = (const unsigned char *)end;
        TOKEN(T_STRING);
    }
    if (at - start == 2) at = start + 1; /* as in SQLite: $ alone is illegal, $name is a parameter */
    if (at - start > 1) TOKEN(T_PARAM);
    TOKEN(T_ILLEGAL);
}

colon_name:
    if (!open) TOKEN(T_PARAM);
    at = start + 1; /* a[lower:upper] */
    TOKEN(T_COLON);

push: {
    uint32_t offset = (uint32_t)((const char *)start - base), length = (uint32_t)(at - start);
    if (!reserve(p, &cap)) return ERR_LIMIT_MEMORY;
    if (p->n_tokens == p->limits.max_tokens) return too_many(p, offset, offset + length);
    p->tokens[p->n_tokens++] =
        (struct sql_token){.start = offset, .len = length & SQL_TOKEN_LEN_MAX, .code = code & 0xff};
    goto next;
}

done:
    if (!reserve(p, &cap)) return ERR_LIMIT_MEMORY;
    p->tokens[p->n_tokens] = (struct sql_token){.start = p->len, .code = SQL_END_OF_TEXT};
    return ERR_OK;
#undef TOKEN
}
