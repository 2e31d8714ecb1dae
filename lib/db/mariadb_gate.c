/* Decides which statements Assay sends to MariaDB (mariadb_gate.h). It checks each statement twice: its text and its
 * tree.
 *
 * The check of the text follows the server's own lexer, with the settings of mariadb_link.c. The server's lexer differs
 * from lib/sql/scan.re in executable comments, hints that set variables, # and --x, [x], E'...' and $$...$$. These are
 * refused, because lib/sql/scan.re could read as a string or comment what the server executes. Variables are also
 * refused.
 *
 * The check of the tree permits only queries that call functions on the allow list and read tables of the connection's
 * database. A name on the list is always the server's own function, because the server searches its own functions
 * first. There are two exceptions: a quoted name and, for some names, a blank before the parenthesis. These could call
 * a stored function and are refused.
 */
#include "lib/db/mariadb_gate.h"

#include "lib/db/allow_list.h"
#include "lib/db/size_bound.h"
#include "lib/sql/sql.h"

#include <string.h>

/* clang-format off */
/* The allowed functions, sorted. All are built in since version 10.5. In a release without a function, its name could
 * be a stored function.
 *
 * Excluded: loadable functions, and functions that delay (SLEEP, BENCHMARK), lock (GET_LOCK), read files or server
 * state (LOAD_FILE, USER, DATABASE), or have side effects (NEXTVAL, SETVAL, LAST_INSERT_ID).
 */
static const char *const functions[] = {
    "abs", "acos", "adddate", "addtime", "ascii", "asin", "atan", "atan2", "avg", "bin", "bit_and", "bit_count",
    "bit_length", "bit_or", "bit_xor", "ceil", "ceiling", "char", "char_length", "character_length", "charset",
    "chr", "coalesce", "collation", "concat", "concat_ws", "conv", "convert", "convert_tz", "cos", "cot", "count",
    "crc32", "cume_dist", "curdate", "current_date", "current_time", "current_timestamp", "curtime", "date",
    "date_add", "date_format", "date_sub", "datediff", "day", "dayname", "dayofmonth", "dayofweek", "dayofyear",
    "degrees", "dense_rank", "elt", "exp", "export_set", "field", "find_in_set", "first_value", "floor", "format",
    "from_base64", "from_days", "from_unixtime", "greatest", "group_concat", "hex", "hour", "if", "ifnull",
    "inet6_aton", "inet6_ntoa", "inet_aton", "inet_ntoa", "insert", "instr", "is_ipv4", "is_ipv4_compat",
    "is_ipv4_mapped", "is_ipv6", "isnull", "json_array", "json_array_append", "json_array_insert", "json_arrayagg",
    "json_compact", "json_contains", "json_contains_path", "json_depth", "json_detailed", "json_exists",
    "json_extract", "json_insert", "json_keys", "json_length", "json_loose", "json_object", "json_objectagg",
    "json_query", "json_quote", "json_remove", "json_replace", "json_search", "json_set", "json_type",
    "json_unquote", "json_valid", "json_value", "lag", "last_day", "last_value", "lcase", "lead", "least", "left",
    "length", "lengthb", "ln", "localtime", "localtimestamp", "locate", "log", "log10", "log2", "lower", "lpad",
    "ltrim", "make_set", "makedate", "maketime", "max", "md5", "median", "microsecond", "mid", "min", "minute",
    "mod", "month", "monthname", "now", "nth_value", "ntile", "nullif", "nvl", "nvl2", "oct", "octet_length", "ord",
    "percent_rank", "percentile_cont", "percentile_disc", "period_add", "period_diff", "pi", "position", "pow",
    "power", "quarter", "quote", "radians", "rand", "rank", "regexp_instr", "regexp_replace", "regexp_substr",
    "repeat", "replace", "reverse", "right", "round", "row_number", "rpad", "rtrim", "sec_to_time", "second", "sha",
    "sha1", "sha2", "sign", "sin", "soundex", "space", "sqrt", "std", "stddev", "stddev_pop", "stddev_samp",
    "str_to_date", "strcmp", "subdate", "substr", "substring", "substring_index", "subtime", "sum", "sysdate",
    "tan", "time", "time_format", "time_to_sec", "timediff", "timestamp", "timestampadd", "timestampdiff",
    "to_base64", "to_days", "to_seconds", "trim", "truncate", "ucase", "unhex", "unix_timestamp", "upper",
    "utc_date", "utc_time", "utc_timestamp", "var_pop", "var_samp", "variance", "week", "weekday", "weekofyear",
    "year", "yearweek",
};

/* Sorted. Functions whose name may be read as that of a stored function if a blank precedes the parenthesis. */
static const char *const glued[] = {
    "adddate", "bit_and", "bit_or", "bit_xor", "count", "cume_dist", "curdate", "curtime", "date_add", "date_sub",
    "dense_rank", "first_value", "group_concat", "json_arrayagg", "json_objectagg", "lag", "last_value", "lead",
    "max", "median", "mid", "min", "now", "nth_value", "ntile", "percent_rank", "percentile_cont",
    "percentile_disc", "position", "rank", "row_number", "session_user", "std", "stddev", "stddev_pop",
    "stddev_samp", "subdate", "substr", "substring", "sum", "sysdate", "system_user", "trim", "var_pop", "var_samp",
    "variance",
};

/* Sorted. Words, other than functions, that may precede a parenthesis. */
static const char *const words[] = {
    "all", "and", "any", "as", "between", "binary", "by", "case", "cast", "char", "character", "date", "datetime",
    "decimal", "distinct", "div", "double", "else", "except", "exists", "extract", "float", "from", "having", "in",
    "index", "int", "integer", "intersect", "interval", "is", "join", "key", "like", "limit", "match", "nchar",
    "not", "numeric", "offset", "on", "or", "over", "partition", "recursive", "regexp", "rlike", "row", "select",
    "signed", "some", "then", "time", "timestamp", "union", "unsigned", "using", "values", "varchar", "when",
    "where", "with", "xor",
};
/* clang-format on */

const char *const *mariadb_gate_functions(size_t *n)
{
    *n = G_N_ELEMENTS(functions);
    return functions;
}

#define IS_IN(list, name, len) allow_list_has(list, G_N_ELEMENTS(list), name, len)

static enum err_code refuse(struct err *err, const char *what, const char *name, size_t len)
{
    return err_set(err, ERR_REFUSED, "%s%s%.*s is not allowed", what, len ? " " : "", (int)MIN(len, 80), name);
}

/* --- the text ----------------------------------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct walk {
    const char *at, *end;
    bool askable;
};

static bool follows(const struct walk *walk, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(walk->end - walk->at) >= len && memcmp(walk->at, text, len) == 0;
}

static enum err_code pass_comment(struct walk *walk, struct err *err)
{
    if (follows(walk, "/*!") || follows(walk, "/*M!") || follows(walk, "/*+"))
        return err_set(err, ERR_REFUSED, "an executable comment (%.3s ... */) is not allowed", walk->at);
    const char *close = memmem(walk->at + 2, (size_t)(walk->end - walk->at) - 2, "*/", 2);
    if (!close) return err_set(err, ERR_SYNTAX, "unterminated comment");
    walk->at = close + 2;
    return ERR_OK;
}

static enum err_code pass_dashes(struct walk *walk, struct err *err)
{
    if (walk->at + 2 < walk->end && !is_space(walk->at[2]))
        return err_set(err, ERR_REFUSED,
                       "-- without a space after it is not a comment in MariaDB" ERR_HINT
                       "put a space after --, or write - -x for two minus signs");
    while (walk->at < walk->end && *walk->at != '\n') walk->at++;
    return ERR_OK;
}

/* Returns the start of the next token after blanks and comments. Stops at a malformed comment, which pass_comment or
 * pass_dashes reports later. */
static const char *next_token(const struct walk *walk)
{
    struct walk ahead = *walk;
    for (;;) {
        while (ahead.at < ahead.end && is_space(*ahead.at)) ahead.at++;
        bool comment = follows(&ahead, "/*") || follows(&ahead, "--");
        enum err_code code = !comment           ? ERR_SYNTAX
                             : *ahead.at == '/' ? pass_comment(&ahead, NULL)
                                                : pass_dashes(&ahead, NULL);
        if (code) return ahead.at;
    }
}

static enum err_code pass_quoted(struct walk *walk, struct err *err)
{
    char quote = *walk->at++;
    for (; walk->at < walk->end; walk->at++) {
        if (*walk->at != quote) continue;
        walk->at++;
        if (walk->at < walk->end && *walk->at == quote) continue;
        const char *next = next_token(walk);
        walk->askable &= next == walk->end || *next != '('; /* a quoted name is never a built-in function */
        return ERR_OK;
    }
    return err_set(err, ERR_SYNTAX, "unterminated quote");
}

static enum err_code pass_word(struct walk *walk, struct err *err)
{
    const char *word = walk->at;
    while (walk->at < walk->end && in_word(*walk->at)) walk->at++;
    size_t len = (size_t)(walk->at - word);
    bool bytes = len == 1 && strchr("xXbB", *word);
    if (walk->at < walk->end && *walk->at == '\'' && !bytes)
        return err_set(err, ERR_SYNTAX, "a string with the prefix %.*s is not supported" ERR_HINT "write 'text'",
                       (int)MIN(len, 20), word);
    const char *next = next_token(walk);
    if (next == walk->end || *next != '(') return ERR_OK;
    walk->askable &= IS_IN(functions, word, len) || IS_IN(words, word, len);
    if (next == walk->at || !IS_IN(glued, word, len)) return ERR_OK;
    return err_set(err, ERR_REFUSED, "a space between %.*s and its parenthesis is not allowed in MariaDB", (int)len,
                   word);
}

static enum err_code pass_token(struct walk *walk, struct err *err)
{
    char c = *walk->at;
    if (c == '\'' || c == '"' || c == '`') return pass_quoted(walk, err);
    if (follows(walk, "/*")) return pass_comment(walk, err);
    if (follows(walk, "--")) return pass_dashes(walk, err);
    if (c == '#')
        return err_set(err, ERR_REFUSED,
                       "a comment that starts with # is not supported" ERR_HINT "start it with -- and a space");
    if (c == '@' || follows(walk, ":=")) return err_set(err, ERR_REFUSED, "a variable (@ or :=) is not allowed");
    if (c == '[' || c == ']')
        return err_set(err, ERR_SYNTAX, "square brackets are not MariaDB syntax" ERR_HINT "quote a name as `name`");
    if (c == '$' || c == '\\') return err_set(err, ERR_SYNTAX, "unexpected character %c", c);
    if (in_word(c)) return pass_word(walk, err);
    walk->at++;
    return ERR_OK;
}

static enum err_code check_text(const char *sql, size_t len, bool *askable, struct err *err)
{
    struct walk walk = {sql, sql + len, true};
    enum err_code code = ERR_OK;
    while (!code && walk.at < walk.end) code = pass_token(&walk, err);
    *askable = walk.askable && code != ERR_REFUSED;
    return code;
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

/* True for forms of the grammar that look like a call but cannot be a stored function. */
static bool is_form(const struct sql_node *call)
{
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    bool table = sql_is(call->parent, SQL_FROM_CALL) && call->parent->text;
    if (table) return sql_name_is(call->text, call->text_len, "JSON_TABLE", 10);
    bool list = args && !args->text && args->n_kids > 1; /* as in ROW (a, b), INTERVAL(a, b) */
    if (list && sql_name_is(call->text, call->text_len, "ROW", 3)) return true;
    if (list && sql_name_is(call->text, call->text_len, "INTERVAL", 8)) return true;
    return args && args->text && sql_name_is(call->text, call->text_len, "MATCH", 5);
}

static enum err_code check_call(const struct sql_node *call, struct err *err)
{
    if (!call->text2 && !call->quote && is_form(call)) return ERR_OK;
    if (!call->text2 && !call->quote && IS_IN(functions, call->text, call->text_len)) return ERR_OK;
    return refuse(err, "function", call->text, call->text_len);
}

/* True if the text after a table is PARTITION (...) or an index hint, which contain only names. */
static bool is_own_suffix(const struct sql_node *table)
{
    static const char *const suffixes[] = {"USE", "FORCE", "IGNORE", "PARTITION"};
    size_t word = 0;
    while (word < table->text3_len && in_word(table->text3[word])) word++;
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
        if (sql_name_is(table->text3, word, suffixes[i], strlen(suffixes[i]))) return true;
    return false;
}

/* Checks that a table is in the connection's database. Compares case, because names of databases are case-sensitive on
 * most servers. */
static enum err_code check_table(const struct sql_node *table, const char *database, struct err *err)
{
    if (table->text3 && !is_own_suffix(table))
        return refuse(err, "what follows the table", table->text, table->text_len);
    bool own =
        table->text2 && table->text2_len == strlen(database) && memcmp(table->text2, database, table->text2_len) == 0;
    if (!table->text2 || own) return ERR_OK;
    return refuse(err, "a table of the other database", table->text2, table->text2_len);
}

/* Checks the frame of a window, which the tree contains as text. A parenthesis is refused. */
static enum err_code check_frame(const struct sql_node *frame, struct err *err)
{
    bool plain = !memchr(frame->text, '(', frame->text_len);
    return plain ? ERR_OK : refuse(err, "a window frame with a complex expression", "", 0);
}

static enum err_code note_place(const struct sql_node *param, GArray *places, struct err *err)
{
    guint64 number = param->text_len > 1 ? g_ascii_strtoull(param->text + 1, NULL, 10) : places->len + 1;
    if (*param->text != '?' || number == 0 || number > UINT32_MAX)
        return refuse(err, "a parameter other than ? or ?NUMBER", "", 0);
    struct mariadb_place place = {param->start, param->end, (uint32_t)number - 1};
    g_array_append_val(places, place);
    return ERR_OK;
}

static enum err_code check_node(const struct sql_node *n, const char *database, GArray *places, struct err *err)
{
    switch ((enum sql_kind)n->kind) {
    case SQL_CALL: return check_call(n, err);
    case SQL_TABLE: return check_table(n, database, err);
    case SQL_FRAME: return check_frame(n, err);
    case SQL_PARAM: return note_place(n, places, err);
    case SQL_ERROR: return err_set(err, ERR_SYNTAX, "part of the statement cannot be parsed");
    default: return ERR_OK;
    }
}

enum err_code mariadb_gate(const char *sql, size_t len, const struct db_limits *limits, const char *database,
                           struct mariadb_edits *edits, bool *askable, struct err *err)
{
    enum err_code code = check_text(sql, len, askable, err);
    if (code) return code;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_limits caps = {.max_bytes = limits->sql_bytes, .max_depth = limits->expr_depth};
    struct sql_stmt *stmt = NULL;
    code = sql_parse(&arena, sql, len, &caps, &stmt);
    if (code) err_set(err, code, "%s", stmt && stmt->diags ? stmt->diags->message : err_meaning(code));
    for (const struct sql_node *n = code ? NULL : stmt->root; n && !code; n = sql_walk(stmt->root, n))
        code = check_node(n, database, edits->places, err);
    if (!code) code = size_check(&size_engine_mariadb, stmt, edits->counts, err);
    arena_free(&arena);
    return code;
}

/* --- differences to other sessions -------------------------------------------------------------------------------- */

static enum err_code check_portable(const struct walk *walk, unsigned modes, const char *token, struct err *err)
{
    size_t len = (size_t)(walk->at - token);
    if (*token == '"' && !(modes & MARIADB_ANSI_QUOTES))
        return err_set(err, ERR_REFUSED,
                       "the meaning of double quotes depends on sql_mode: here they quote a string" ERR_HINT
                       "write 'text' or `name`");
    if (*token == '\'' && memchr(token, '\\', len) && !(modes & MARIADB_NO_BACKSLASH_ESCAPES))
        return err_set(err, ERR_REFUSED,
                       "the meaning of a backslash in a string depends on sql_mode" ERR_HINT
                       "write '' for a quote, and LIKE ... ESCAPE '!'");
    if (len == 1 && *token == '|' && follows(walk, "|") && !(modes & MARIADB_PIPES_AS_CONCAT))
        return err_set(err, ERR_REFUSED,
                       "the meaning of || depends on sql_mode: here it is OR" ERR_HINT "write OR or CONCAT(a, b)");
    return ERR_OK;
}

enum err_code mariadb_gate_portable(const char *sql, size_t len, unsigned modes, struct err *err)
{
    struct walk walk = {sql, sql + len, true};
    enum err_code code = ERR_OK;
    while (!code && walk.at < walk.end) {
        const char *token = walk.at;
        if (pass_token(&walk, NULL)) return ERR_OK; /* mariadb_gate reports this error */
        code = check_portable(&walk, modes, token, err);
    }
    return code;
}
