/* Decides which statements Assay sends to PostgreSQL (postgres_gate.h). It checks each statement twice: its text and
 * its tree.
 *
 * The text is checked before parsing. lib/sql's lexer also accepts the SQL of SQLite. It differs from the server's
 * lexer in nested comments, a lone carriage return after --, [x] and U&"...". These are refused, because lib/sql could
 * read as a string or comment what the server executes. Names of functions with access outside the database are refused
 * anywhere in the text.
 *
 * The check of the tree permits only queries that call functions on the allow list and read no system tables. It
 * includes implicit calls: in PostgreSQL ('x'::text).f means f('x'), and a.f may mean f(a) if a is the alias of a
 * function. Parts that the tree contains as text (TABLESAMPLE, frames) must not contain calls. A name on the list may
 * still be that of a user-defined function, and any a.b or operator may call one. postgres_check.h asks the server
 * about these.
 *
 * A third protection is in postgres.c: the statement runs as the query of a DECLARE CURSOR, where the server's own
 * grammar accepts only a query.
 */
#include "lib/db/postgres_gate.h"

#include "lib/db/allow_list.h"
#include "lib/db/size_bound.h"
#include "lib/sql/sql.h"

#include <glib.h>
#include <string.h>

/* The allowed functions, sorted. Excluded: functions with side effects (nextval, set_config, lo_*, pg_*), and functions
 * that read server state or files (current_setting, pg_read_file). Also excluded: functions that run text as SQL
 * (query_to_xml), and names that legitimate schemas define for their own functions. */
static const char *const functions[] = {
    "abs",
    "acos",
    "acosd",
    "acosh",
    "age",
    "any_value",
    "array_agg",
    "array_append",
    "array_cat",
    "array_dims",
    "array_length",
    "array_lower",
    "array_ndims",
    "array_position",
    "array_positions",
    "array_prepend",
    "array_remove",
    "array_replace",
    "array_to_json",
    "array_to_string",
    "array_upper",
    "ascii",
    "asin",
    "asind",
    "asinh",
    "atan",
    "atan2",
    "atan2d",
    "atand",
    "atanh",
    "avg",
    "bit_and",
    "bit_count",
    "bit_length",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "btrim",
    "cardinality",
    "cbrt",
    "ceil",
    "ceiling",
    "char_length",
    "character_length",
    "chr",
    "clock_timestamp",
    "coalesce",
    "concat",
    "concat_ws",
    "corr",
    "cos",
    "cosd",
    "cosh",
    "cot",
    "cotd",
    "count",
    "covar_pop",
    "covar_samp",
    "cube",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "date_bin",
    "date_part",
    "date_trunc",
    "datemultirange",
    "daterange",
    "decode",
    "degrees",
    "dense_rank",
    "div",
    "encode",
    "enum_first",
    "enum_last",
    "enum_range",
    "erf",
    "every",
    "exp",
    "extract",
    "factorial",
    "first_value",
    "floor",
    "format",
    "gcd",
    "generate_series",
    "generate_subscripts",
    "get_bit",
    "get_byte",
    "greatest",
    "grouping",
    "grouping sets",
    "host",
    "hostmask",
    "initcap",
    "int4multirange",
    "int4range",
    "int8multirange",
    "int8range",
    "isempty",
    "isfinite",
    "json_agg",
    "json_array_elements",
    "json_array_elements_text",
    "json_array_length",
    "json_build_array",
    "json_build_object",
    "json_each",
    "json_each_text",
    "json_extract_path",
    "json_extract_path_text",
    "json_object",
    "json_object_agg",
    "json_object_keys",
    "json_strip_nulls",
    "json_to_record",
    "json_to_recordset",
    "json_typeof",
    "jsonb_agg",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_array_length",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_extract_path",
    "jsonb_extract_path_text",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_object_agg",
    "jsonb_object_keys",
    "jsonb_path_exists",
    "jsonb_path_exists_tz",
    "jsonb_path_match",
    "jsonb_path_match_tz",
    "jsonb_path_query",
    "jsonb_path_query_array",
    "jsonb_path_query_array_tz",
    "jsonb_path_query_first",
    "jsonb_path_query_first_tz",
    "jsonb_path_query_tz",
    "jsonb_pretty",
    "jsonb_set",
    "jsonb_set_lax",
    "jsonb_strip_nulls",
    "jsonb_to_record",
    "jsonb_to_recordset",
    "jsonb_typeof",
    "justify_days",
    "justify_hours",
    "justify_interval",
    "lag",
    "last_value",
    "lcm",
    "lead",
    "least",
    "left",
    "length",
    "ln",
    "localtime",
    "localtimestamp",
    "log",
    "log10",
    "lower",
    "lower_inc",
    "lower_inf",
    "lpad",
    "ltrim",
    "make_date",
    "make_interval",
    "make_time",
    "make_timestamp",
    "make_timestamptz",
    "masklen",
    "max",
    "md5",
    "min",
    "min_scale",
    "mod",
    "mode",
    "multirange",
    "netmask",
    "network",
    "now",
    "nth_value",
    "ntile",
    "nullif",
    "num_nonnulls",
    "num_nulls",
    "nummultirange",
    "numrange",
    "octet_length",
    "overlay",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "phraseto_tsquery",
    "pi",
    "plainto_tsquery",
    "position",
    "pow",
    "power",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "radians",
    "random",
    "range_agg",
    "range_intersect_agg",
    "range_merge",
    "rank",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "regexp_match",
    "regexp_matches",
    "regexp_replace",
    "regexp_split_to_array",
    "regexp_split_to_table",
    "regexp_substr",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rollup",
    "round",
    "row",
    "row_number",
    "row_to_json",
    "rows from",
    "rpad",
    "rtrim",
    "scale",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sign",
    "similarity",
    "sin",
    "sind",
    "sinh",
    "split_part",
    "sqrt",
    "starts_with",
    "statement_timestamp",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "string_to_array",
    "string_to_table",
    "strpos",
    "substr",
    "substring",
    "sum",
    "tan",
    "tand",
    "tanh",
    "text",
    "timezone",
    "to_ascii",
    "to_char",
    "to_date",
    "to_hex",
    "to_json",
    "to_jsonb",
    "to_number",
    "to_timestamp",
    "to_tsquery",
    "to_tsvector",
    "transaction_timestamp",
    "translate",
    "trim",
    "trim_array",
    "trim_scale",
    "trunc",
    "ts_rank",
    "ts_rank_cd",
    "tsmultirange",
    "tsrange",
    "tstzmultirange",
    "tstzrange",
    "unaccent",
    "unnest",
    "upper",
    "upper_inc",
    "upper_inf",
    "var_pop",
    "var_samp",
    "varchar",
    "variance",
    "version",
    "websearch_to_tsquery",
    "width_bucket",
    "word_similarity",
};

/* Prefixes of words that are refused everywhere, even inside a literal. */
static const char *const outside[] = {
    "pg_",     "lo_import", "lo_export", "lo_creat",   "lo_open",    "lo_unlink",    "lo_put",   "lo_get",
    "lo_from", "lo_trunc",  "lo_lseek",  "lo_tell",    "lo_close",   "lowrite",      "loread",   "dblink",
    "txid_",   "query_to_", "table_to_", "schema_to_", "cursor_to_", "database_to_", "nextval",  "setval",
    "currval", "lastval",   "postgres_", "set_config", "current_se", "inet_server",  "inet_cli", "binary_up",
};

/* Names of columns that functions in FROM return if there is no column list. */
static const char *const call_columns[] = {"key", "value", "ordinality"};

const char *const *postgres_gate_functions(size_t *n)
{
    *n = G_N_ELEMENTS(functions);
    return functions;
}

static enum err_code refuse(struct err *err, const char *what, const char *name, size_t len)
{
    return err_set(err, ERR_REFUSED, "%s%s%.*s is not allowed", what, len ? " " : "", (int)MIN(len, 80), name);
}

/* --- the text ----------------------------------------------------------------------------------------------------- */

static bool in_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80);
}

static size_t word_length(const char *word, const char *end)
{
    size_t len = 0;
    while (word + len < end && in_word(word[len])) len++;
    return len;
}

static bool is_outside(const char *word, size_t len)
{
    static const char ours[] = "pg_catalog"; /* the check of the tree covers the qualified name */
    if (len == strlen(ours) && g_ascii_strncasecmp(word, ours, len) == 0) return false;
    for (size_t i = 0; i < G_N_ELEMENTS(outside); i++)
        if (len >= strlen(outside[i]) && g_ascii_strncasecmp(word, outside[i], strlen(outside[i])) == 0) return true;
    return false;
}

static const char *find(const char *at, const char *end, const char *what)
{
    return memmem(at, (size_t)(end - at), what, strlen(what));
}

/* True if a comment contains the start of a comment. PostgreSQL nests comments, so it would end the outer one later
 * than lib/sql. */
static bool has_nested_comment(const char *sql, const char *end)
{
    for (const char *open = find(sql, end, "/*"); open;) {
        const char *inner = find(open + 2, end, "/*"), *close = find(open + 2, end, "*/");
        if (inner && (!close || inner < close)) return true;
        open = inner;
    }
    return false;
}

/* Returns a description of the first text that lib/sql's lexer and the server's may read differently, or NULL. */
static const char *unlike_lexing(const char *sql, const char *end)
{
    if (has_nested_comment(sql, end)) return "a comment inside a comment";
    for (const char *p = sql; p < end; p++) {
        if (*p == '\r' && p + 1 < end && p[1] != '\n') return "a lone carriage return";
        if (*p == '[' && p > sql && (g_ascii_isspace(p[-1]) || p[-1] == '/')) return "a name in square brackets";
        if ((*p == 'u' || *p == 'U') && end - p > 2 && p[1] == '&' && p[2] == '"') return "a name with escapes";
    }
    return NULL;
}

static enum err_code check_text(const char *sql, size_t len, struct err *err)
{
    const char *end = sql + len, *odd = unlike_lexing(sql, end);
    if (odd) return err_set(err, ERR_SYNTAX, "%s is not supported", odd);
    for (const char *p = sql; p < end;) {
        size_t word = word_length(p, end);
        if (word && is_outside(p, word)) return refuse(err, "name", p, word);
        p += word ? word : 1;
    }
    return ERR_OK;
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

static bool text_is(const char *text, size_t len, const char *name)
{
    return sql_name_is(text, len, name, strlen(name));
}

static enum err_code check_call(const struct sql_node *call, struct err *err)
{
    /* The quoted name "PG_CATALOG" passes here, but is looked up like a user's schema. */
    bool ours = !call->text2 || text_is(call->text2, call->text2_len, "pg_catalog");
    if (ours && allow_list_has(functions, G_N_ELEMENTS(functions), call->text, call->text_len)) return ERR_OK;
    return refuse(err, "function", call->text, call->text_len);
}

/* True for TABLESAMPLE BERNOULLI (10) or SYSTEM (10), possibly with REPEATABLE (1). The arguments are not in the tree,
 * so they must be numbers. */
static bool is_plain_sample(const struct sql_node *table)
{
    static const char *const words[] = {"tablesample", "bernoulli", "system", "repeatable"};
    const char *at = table->text3, *end = at + table->text3_len;
    while (at < end) {
        size_t word = g_ascii_isalpha(*at) ? word_length(at, end) : 0;
        bool known = !word && (g_ascii_isspace(*at) || g_ascii_isdigit(*at) || strchr("().", *at));
        for (size_t i = 0; word && i < G_N_ELEMENTS(words); i++) known |= text_is(at, word, words[i]);
        if (!known) return false;
        at += word ? word : 1;
    }
    return true;
}

static enum err_code check_table(const struct sql_node *table, struct err *err)
{
    static const char *const schemas[] = {"pg_catalog", "pg_toast", "information_schema"};
    if (table->text3 && !is_plain_sample(table)) return refuse(err, table->text3, "", 0);
    for (size_t i = 0; table->text2 && i < G_N_ELEMENTS(schemas); i++)
        if (text_is(table->text2, table->text2_len, schemas[i]))
            return refuse(err, "schema", table->text2, table->text2_len);
    return ERR_OK;
}

static bool names_hold(const struct sql_node *names, const struct sql_node *column)
{
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        if (postgres_same_name(names->kids[i]->text, names->kids[i]->text_len, names->kids[i]->quote, column->text,
                               column->text_len, column->quote))
            return true;
    return false;
}

/* True if a.x is a column of the function in FROM whose alias is a. Otherwise it might mean x(a). */
static bool gives_column(const struct sql_node *source, const struct sql_node *column)
{
    const struct sql_node *call = sql_kid(source, FROM_CALL_CALL);
    bool own = source->alias ? postgres_same_name(source->alias, source->alias_len, source->alias_quote, column->text,
                                                  column->text_len, column->quote)
                             : postgres_same_name(call->text, call->text_len, call->quote, column->text,
                                                  column->text_len, column->quote);
    if (own) return true;
    for (size_t i = 0; i < G_N_ELEMENTS(call_columns); i++)
        if (text_is(column->text, column->text_len, call_columns[i])) return true;
    return names_hold(sql_kid(source, FROM_CALL_NAMES), column);
}

/* True for functions that accept a whole row, so c.f may mean f(c), which would show all columns of the row. */
static bool takes_a_row(const struct sql_node *column)
{
    static const char *const names[] = {
        "any_out",           "anycompatible_out", "anycompatiblenonarray_out",
        "anyelement_out",    "anynonarray_out",   "concat",
        "hash_record",       "json_build_array",  "quote_literal",
        "jsonb_build_array", "quote_nullable",    "record_out",
        "record_send",       "row_to_json",       "to_json",
        "to_jsonb",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (text_is(column->text, column->text_len, names[i])) return true;
    return false;
}

/* Checks that a.b is not an implicit call b(a). Refuses it if b is a function that accepts a row. Refuses it if a is
 * the alias of a function in FROM and b is not one of its columns. */
static enum err_code check_column(const struct sql_node *root, const struct sql_node *column, bool calls_in_from,
                                  struct err *err)
{
    if (!column->text2) return ERR_OK;
    if (takes_a_row(column)) return refuse(err, "the implicit call of function", column->text, column->text_len);
    if (!calls_in_from) return ERR_OK;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct sql_node *call = sql_is(n, SQL_FROM_CALL) ? sql_kid(n, FROM_CALL_CALL) : NULL;
        if (!call) continue;
        const char *alias = n->alias ? n->alias : call->text;
        size_t alias_len = n->alias ? n->alias_len : call->text_len;
        if (!sql_name_is(alias, alias_len, column->text2, column->text2_len)) continue;
        if (!gives_column(n, column))
            return refuse(err, "the implicit call of function", column->text, column->text_len);
    }
    return ERR_OK;
}

/* Checks the frame of a window, which the tree contains as text. Calls and a.b are refused. Operators and words are
 * looked up in the server (postgres_calls.h). */
static enum err_code check_frame(const struct sql_node *frame, struct err *err)
{
    for (uint32_t i = 0; i < frame->text_len; i++) {
        bool point = frame->text[i] == '.' && i + 1 < frame->text_len && !g_ascii_isdigit(frame->text[i + 1]);
        if (point || strchr("(\":[", frame->text[i]))
            return refuse(err, "a window frame with a complex expression", "", 0);
    }
    return ERR_OK;
}

static enum err_code check_node(const struct sql_node *root, const struct sql_node *n, bool calls_in_from,
                                struct err *err)
{
    switch ((enum sql_kind)n->kind) {
    case SQL_CALL: return check_call(n, err);
    case SQL_TABLE: return check_table(n, err);
    case SQL_COLUMN: return check_column(root, n, calls_in_from, err);
    case SQL_FIELD: return n->flags & SQL_F_STAR ? ERR_OK : refuse(err, "the field access", n->text, n->text_len);
    case SQL_FRAME: return check_frame(n, err);
    case SQL_ERROR: return err_set(err, ERR_SYNTAX, "part of the statement cannot be parsed");
    default: return ERR_OK;
    }
}

static enum err_code check_tree(const struct sql_stmt *stmt, struct err *err)
{
    bool calls_in_from = false;
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        calls_in_from |= n->kind == SQL_FROM_CALL;
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) {
        enum err_code code = check_node(stmt->root, n, calls_in_from, err);
        if (code) return code;
    }
    return ERR_OK;
}

enum err_code postgres_gate(const char *sql, size_t len, const struct db_limits *limits, struct postgres_calls *calls,
                            GArray *counts, struct err *err)
{
    *calls = (struct postgres_calls){0};
    enum err_code code = check_text(sql, len, err);
    if (code) return code;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_limits caps = {.max_bytes = limits->sql_bytes, .max_depth = limits->expr_depth};
    struct sql_stmt *stmt = NULL;
    code = sql_parse(&arena, sql, len, &caps, &stmt);
    if (code)
        err_set(err, code, "%s", stmt && stmt->diags ? stmt->diags->message : err_meaning(code));
    else
        code = check_tree(stmt, err);
    if (!code) code = size_check(&size_engine_postgres, stmt, counts, err);
    if (!code) code = postgres_calls_of(stmt, calls, err);
    if (code) postgres_calls_clear(calls);
    arena_free(&arena);
    return code;
}
