/* Generates random statements for the programs that search for leaks of denied columns.
 *
 * DESIGN. Each function appends one part of the grammar and makes random choices until its depth is used up. A scope
 * holds the FROM items that a name may refer to, so most statements are valid. Some names come from outside the scope,
 * and types are mixed at random, so that errors that quote a value occur too.
 *
 * The texts of denied columns consist of Yi syllables, and their numbers occur nowhere else. Any part of a denied value
 * is therefore recognisable, and no timestamp or probability is mistaken for one. */
#include "tests/fuzz/denied.h"

#include <string.h>

#define YI     "\xEA\x80\x80\xEA\x81\x81" /* U+A000 U+A041 */
#define YI_HEX "EA8080EA81"

const char *const DENIED_COLUMNS[] = {"customer.email", "salary", "badge.code"};

/* Rows of the data sets. The sets differ only in denied values: in their texts, order, lengths, types and NULLs. */
static const char *const ROWS[DENIED_DATA] = {
    [DENIED_CANARIES] = "INSERT INTO customer(id, name, email, salary, city, doc) VALUES"
                        " (1, 'Ann', '" YI "\xEA\x82\x82', 771300411, 'Perth', '{\"a\": [1, 2]}'),"
                        " (2, 'Bo', '" YI "@\xEA\x83\x83', 771300522, 'Broome', '[]'),"
                        " (3, 'Cy', '" YI "\xEA\x84\x84', 771300633, 'Perth', '{}'), (4, 'Di', NULL, NULL, NULL, NULL);"
                        "INSERT INTO badge(code, owner) VALUES (771400111, 1), (771400222, 2), (771400333, 3);",
    [DENIED_LEFT] = "INSERT INTO customer(id, name, email, salary, city, doc) VALUES"
                    " (1, 'Ann', 'Zebulonix', 3, 'Perth', '{\"a\": [1, 2]}'), (2, 'Bo', 'a', 1, 'Broome', '[]'),"
                    " (3, 'Cy', '12', 2, 'Perth', '{}'), (4, 'Di', NULL, NULL, NULL, NULL);"
                    "INSERT INTO badge(code, owner) VALUES (1, 1), (2, 2), (3, 3);",
    [DENIED_RIGHT] =
        "INSERT INTO customer(id, name, email, salary, city, doc) VALUES"
        " (1, 'Ann', NULL, 0, 'Perth', '{\"a\": [1, 2]}'), (2, 'Bo', 'Perth', 900000000000, 'Broome', '[]'),"
        " (3, 'Cy', 'quite a long address, longer than all others', 900000000000, 'Perth', '{}'),"
        " (4, 'Di', 'b', -1, NULL, NULL);"
        "INSERT INTO badge(code, owner) VALUES (30, 1), (20, 2), (10, 3);",
};

#define ORDERS                                                                                                         \
    "INSERT INTO orders(id, customer_id, total, note) VALUES (1, 1, 10, 'x'), (2, 1, 20.5, 'Perth'), (3, 2, 0, NULL);"

#define VIEWS                                                                                                          \
    "CREATE VIEW people AS SELECT id, name, city FROM customer;"                                                       \
    "CREATE VIEW renamed AS SELECT id, upper(email) AS reach, name AS who FROM customer;"                              \
    "CREATE VIEW above(a, b) AS SELECT reach, who FROM renamed WHERE reach IS NOT NULL;"                               \
    "CREATE VIEW arms AS SELECT id, email AS x FROM customer UNION ALL SELECT id, note FROM orders;"                   \
    "CREATE VIEW tested AS SELECT id, name FROM customer WHERE email LIKE '%a%' OR salary > 1;"

/* The statements that create the tables, and those that follow the insertion of their rows. Servers analyze the tables
 * at once rather than later in the background. Otherwise the plan, and the order of rows without ORDER BY, could change
 * during a run. */
static const struct {
    const char *tables, *rest;
} SCHEMAS[] = {
    [DENIED_SQLITE] = {"CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, email TEXT, salary INTEGER, city TEXT,"
                       " doc TEXT, email_lc TEXT AS (lower(email)), pay TEXT GENERATED ALWAYS AS (salary || name)"
                       " STORED, label AS (name || city));"
                       "CREATE TABLE badge(code INTEGER PRIMARY KEY, owner INTEGER REFERENCES customer(id));"
                       "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id),"
                       " total REAL, note TEXT);" VIEWS
                       "CREATE VIRTUAL TABLE docs USING fts5(name, email); CREATE VIRTUAL TABLE olds USING fts4(name,"
                       " email);",
                       ORDERS "INSERT INTO docs SELECT name, email FROM customer;"
                              "INSERT INTO olds SELECT name, email FROM customer;"},
    [DENIED_POSTGRES] =
        {"CREATE TABLE customer(id int PRIMARY KEY, name text, email text, salary bigint, city text, doc json,"
         " email_lc text GENERATED ALWAYS AS (lower(email)) STORED, pay text GENERATED ALWAYS AS (salary::text || name)"
         " STORED, label text GENERATED ALWAYS AS (name || city) STORED);"
         "CREATE TABLE badge(code bigint PRIMARY KEY, owner int REFERENCES customer(id));"
         "CREATE TABLE orders(id int PRIMARY KEY, customer_id int REFERENCES customer(id), total numeric, note"
         " text);" VIEWS,
         ORDERS "CREATE MATERIALIZED VIEW docs AS SELECT c.name, c.email, c AS whole FROM customer c;"
                "CREATE TABLE olds() INHERITS (customer);"
                "INSERT INTO olds(id, name, email, salary) SELECT 9, 'Ed', email, salary FROM customer WHERE id = 3;"
                "ANALYZE;"},
    [DENIED_MARIADB] =
        {"CREATE TABLE customer(id int PRIMARY KEY, name varchar(80), email varchar(80), salary bigint, city"
         " varchar(80), doc text, email_lc varchar(80) AS (lower(email)) VIRTUAL, pay varchar(120) AS (concat(salary,"
         " name)) STORED, label varchar(200) AS (concat(name, city)) VIRTUAL) CHARACTER SET utf8mb4;"
         "CREATE TABLE badge(code bigint PRIMARY KEY, owner int, FOREIGN KEY (owner) REFERENCES customer(id));"
         "CREATE TABLE orders(id int PRIMARY KEY, customer_id int, total decimal(10, 2), note varchar(80),"
         " FOREIGN KEY (customer_id) REFERENCES customer(id)) CHARACTER SET utf8mb4;" VIEWS,
         ORDERS "CREATE VIEW docs AS SELECT name, email FROM customer; CREATE VIEW olds AS SELECT c.name, c.email FROM"
                " customer c WHERE c.id < 4; ANALYZE TABLE customer, badge, orders;"},
};

char *denied_script(enum denied_engine engine, enum denied_data data)
{
    return g_strconcat(SCHEMAS[engine].tables, ROWS[data], SCHEMAS[engine].rest, NULL);
}

const char *denied_canary(const char *bytes, size_t len)
{
    static const char *const others[] = {YI_HEX,      "ea8080ea81", "\\ua0",     "771300411", "771300522",
                                         "771300633", "771300744",  "771400111", "771400222", "771400333"};
    for (const char *p = bytes; (p = memchr(p, 0xEA, len - (size_t)(p - bytes))) != NULL; p++)
        if ((size_t)(p - bytes) + 1 < len && (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] <= 0x92) return p;
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        const char *at = memmem(bytes, len, others[i], strlen(others[i]));
        if (at) return at;
    }
    return NULL;
}

/* --- the generator ------------------------------------------------------------------------------------------------ */

enum { MAX_ITEMS = 4, MAX_COLUMNS = 12, DEEP = 4 };

struct item {
    char alias[16];
    const char *columns[MAX_COLUMNS];
    unsigned n;
};

struct scope {
    struct item items[MAX_ITEMS];
    unsigned n;
    const struct scope *outer;
};

struct list {
    const char *const *items;
    unsigned n;
};

/* The functions and forms that only one engine has. */
struct vocabulary {
    struct list calls, operators, types, forms, sets, odd;
};

struct maker {
    GRand *rand;
    GString *out;
    bool postgres;
    const struct vocabulary *words;
    unsigned aliases, ctes;
};

static const struct item TABLES[] = {
    {"customer", {"id", "name", "email", "salary", "city", "doc", "email_lc", "pay", "label"}, 9},
    {"badge", {"code", "owner"}, 2},
    {"orders", {"id", "customer_id", "total", "note"}, 4},
    {"people", {"id", "name", "city"}, 3},
    {"renamed", {"id", "reach", "who"}, 3},
    {"above", {"a", "b"}, 2},
    {"arms", {"id", "x"}, 2},
    {"tested", {"id", "name"}, 2},
    {"docs", {"name", "email"}, 2},
    {"olds", {"name", "email"}, 2},
};

static const char *const NAMES[] = {"x0", "x1", "x2"};
static const char *const LITERALS[] = {"1", "0", "-1", "2.5", "'Perth'", "'a'", "''", "NULL", "'$.a'", "'%a%'", "10"};
static const char *const SQLITE_TYPES[] = {"TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC"};
static const char *const POSTGRES_TYPES[] = {"text",   "int",     "numeric", "date", "json",
                                             "text[]", "boolean", "int[]",   "jsonb"};
static const char *const OPERATORS[] = {"=", "<>", "<",   ">=", "+",    "-",        "*",  "/",
                                        "%", "||", "AND", "OR", "LIKE", "NOT LIKE", "IS", "IS NOT"};
static const char *const POSTGRES_OPERATORS[] = {"=",          "<",   "||",  "+",   "ILIKE", "~",
                                                 "SIMILAR TO", "->",  "->>", "#>>", "@>",    "IS DISTINCT FROM",
                                                 "^",          "AND", "OR",  "!~*"};
static const char *const SQLITE_OPERATORS[] = {"=",  "GLOB",  "->", "->>", "==",      "&",
                                               "<<", "MATCH", "IS", "||",  "NOT GLOB"};
static const char *const SQLITE_CALLS[] = {"lower",
                                           "upper",
                                           "hex",
                                           "length",
                                           "quote",
                                           "json",
                                           "json_array",
                                           "trim",
                                           "abs",
                                           "typeof",
                                           "max",
                                           "min",
                                           "count",
                                           "sum",
                                           "group_concat",
                                           "json_group_array",
                                           "total",
                                           "avg",
                                           "coalesce",
                                           "json_object",
                                           "printf",
                                           "substr",
                                           "replace",
                                           "instr",
                                           "unicode",
                                           "round",
                                           "json_extract",
                                           "nullif",
                                           "iif",
                                           "json_type",
                                           "json_quote",
                                           "char",
                                           "date",
                                           "string_agg",
                                           "json_group_object",
                                           "ifnull",
                                           "soundex",
                                           "unhex",
                                           "format",
                                           "likely"};
static const char *const POSTGRES_CALLS[] = {"lower",
                                             "upper",
                                             "length",
                                             "md5",
                                             "row_to_json",
                                             "to_json",
                                             "to_jsonb",
                                             "array_agg",
                                             "string_agg",
                                             "json_agg",
                                             "max",
                                             "min",
                                             "count",
                                             "sum",
                                             "avg",
                                             "coalesce",
                                             "concat",
                                             "concat_ws",
                                             "json_build_object",
                                             "json_build_array",
                                             "quote_literal",
                                             "format",
                                             "to_char",
                                             "substr",
                                             "replace",
                                             "strpos",
                                             "ascii",
                                             "chr",
                                             "encode",
                                             "to_number",
                                             "to_date",
                                             "jsonb_pretty",
                                             "json_object_agg",
                                             "array_to_string",
                                             "translate",
                                             "regexp_replace",
                                             "split_part",
                                             "every",
                                             "greatest",
                                             "nullif",
                                             "num_nulls",
                                             "date_part",
                                             "repeat",
                                             "left",
                                             "reverse",
                                             "mode",
                                             "json_typeof",
                                             "array_to_json",
                                             "decode",
                                             "to_timestamp"};
static const char *const POSTGRES_SETS[] = {
    "generate_series",       "unnest",           "json_each_text",  "jsonb_each",      "json_array_elements",
    "regexp_split_to_table", "json_object_keys", "string_to_table", "jsonb_path_query"};
static const char *const MARIADB_CALLS[] = {
    "lower",    "upper",   "hex",        "length",      "char_length", "quote",    "trim",         "abs",
    "max",      "min",     "count",      "sum",         "avg",         "coalesce", "ifnull",       "nullif",
    "concat",   "substr",  "replace",    "instr",       "round",       "ascii",    "group_concat", "json_extract",
    "greatest", "date",    "md5",        "crc32",       "left",        "reverse",  "find_in_set",  "if",
    "std",      "bit_and", "json_array", "json_object", "soundex",     "locate",   "format",       "elt"};
static const char *const MARIADB_TYPES[] = {"char", "signed", "decimal(10, 2)", "date", "binary", "double"};
static const char *const MARIADB_OPERATORS[] = {"=",  "<=>", "REGEXP", "XOR", "&",
                                                "<<", "DIV", "MOD",    "<",   "NOT REGEXP"};
static const char *const MARIADB_FORMS[] = {"`email`",
                                            "@ COLLATE utf8mb4_bin",
                                            "(@, @) = (@, @)",
                                            "@ LIKE @ ESCAPE '!'",
                                            "max(@) OVER (ORDER BY @)",
                                            "CAST(@ AS char)",
                                            "group_concat(@ ORDER BY @)",
                                            "@ IS TRUE",
                                            "INTERVAL 1 DAY + @",
                                            "EXTRACT(YEAR FROM @)",
                                            "1 = ANY (?)",
                                            "@ <> ALL (?)",
                                            "POSITION('a' IN @)",
                                            "json_extract(@, '$.a')",
                                            "-(@)",
                                            "CONVERT(@, char)"};
static const char *const WINDOWS[] = {"row_number", "lag", "first_value", "rank", "ntile", "last_value", "sum", "max"};

/* Forms of one database engine. @ is an expression, ? a subquery of one column, & the name of a FROM item, # a type. */
static const char *const POSTGRES_FORMS[] = {
    "&",
    "&::text",
    "(&.*)::text",
    "ROW(&.*)",
    "(&).email",
    "(&)::text LIKE ANY (ARRAY['a', @::text])",
    "& IS NOT NULL",
    "& = &",
    "count(&)",
    "array_agg(& ORDER BY @)",
    "json_build_object('k', &)",
    "to_jsonb(&) ->> 'email'",
    "max(&::text) OVER (PARTITION BY & ORDER BY @ RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "ARRAY[@, @]",
    "ARRAY(?)",
    "1 = ANY (?)",
    "@ <> ALL (?)",
    "(@)::#",
    "# '1'",
    "(@)[1]",
    "(ARRAY[@::text])[1:2]",
    "(@, @) = (@, @)",
    "(@::text, 1) IN (SELECT x.*, 1 FROM (?) AS x)",
    "EXTRACT(epoch FROM @)",
    "(@)::timestamp AT TIME ZONE 'UTC'",
    "INTERVAL '1 day' * (@)",
    "(@)::text COLLATE \"C\"",
    "POSITION('a' IN @::text)",
    "SUBSTRING(@::text FROM 1 FOR 2)",
    "SUBSTRING(@::text FROM '.*')",
    "OVERLAY(@::text PLACING 'x' FROM 1)",
    "TRIM(BOTH 'x' FROM @::text)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY @)",
    "mode() WITHIN GROUP (ORDER BY &::text)",
    "string_agg(@::text, ',' ORDER BY @)",
    "GREATEST(@::text, @::text)",
    "(@)::text SIMILAR TO '%a'",
    "(@)::text BETWEEN SYMMETRIC @::text AND 'z'",
    "(@) IS TRUE",
    "CASE & WHEN & THEN @ END",
};
static const char *const SQLITE_FORMS[] = {
    "snippet(&, 1, '', '', '', 9)",
    "snippet(docs, 1, '', '', '', 9)",
    "highlight(&, 1, '<', '>')",
    "offsets(olds)",
    "& MATCH 'Ann'",
    "docs MATCH @",
    "bm25(docs)",
    "\"email\"",
    "[salary]",
    "`pay`",
    "@ COLLATE NOCASE",
    "@ IS NOT DISTINCT FROM @",
    "(@, @) = (@, @)",
    "(@, 1) IN (SELECT x.*, 1 FROM (?) AS x)",
    "@ LIKE @ ESCAPE '!'",
    "max(@) OVER (ORDER BY @ RANGE UNBOUNDED PRECEDING EXCLUDE TIES)",
    "CAST(@ AS TEXT) || x'00ff'",
    "@ ISNULL",
    "group_concat(@, @)",
    "json(@) -> @",
    "~(@)",
    "@ REGEXP 'a'",
};

/* FROM items whose columns the scope does not contain. Names for them come from outside the scope. */
static const char *const POSTGRES_ODD[] = {"(customer AS q JOIN orders ON q.id = orders.customer_id) AS %s",
                                           "customer AS %s TABLESAMPLE SYSTEM (100)",
                                           "ROWS FROM (unnest(ARRAY['a']), generate_series(1, 2)) AS %s(x0, x1)",
                                           "(TABLE customer) AS %s",
                                           "(VALUES (1, 'a'), (2, 'b')) AS %s(x0, x1)",
                                           "ONLY customer AS %s",
                                           "LATERAL (SELECT customer.* FROM customer) AS %s"};
static const char *const SQLITE_ODD[] = {"(customer AS q JOIN orders ON q.id = orders.customer_id) AS %s",
                                         "customer AS %s NOT INDEXED",
                                         "main.customer AS %s",
                                         "(VALUES (1, 'a'), (2, 'b')) AS %s",
                                         "(SELECT * FROM customer) AS %s",
                                         "docs_content AS %s",
                                         "pragma_table_info('customer') AS %s",
                                         "sqlite_master AS %s"};
static const char *const MARIADB_ODD[] = {"(SELECT * FROM customer) AS %s", "customer AS %s FORCE INDEX (PRIMARY)",
                                          "(SELECT email AS email, 1 AS name, 2 AS x0 FROM customer) AS %s",
                                          "(SELECT 1 AS email, name, pay AS x0 FROM customer) AS %s"};

#define LIST(items)                                                                                                    \
    {                                                                                                                  \
        items, G_N_ELEMENTS(items)                                                                                     \
    }

static const char *const SQLITE_SETS[] = {"json_each", "json_tree", "docs", "olds"};
static const char *const MARIADB_SETS[] = {"json_table", "docs"};
static const struct vocabulary VOCABULARIES[] = {
    [DENIED_SQLITE] = {LIST(SQLITE_CALLS), LIST(SQLITE_OPERATORS), LIST(SQLITE_TYPES), LIST(SQLITE_FORMS),
                       LIST(SQLITE_SETS), LIST(SQLITE_ODD)},
    [DENIED_POSTGRES] = {LIST(POSTGRES_CALLS), LIST(POSTGRES_OPERATORS), LIST(POSTGRES_TYPES), LIST(POSTGRES_FORMS),
                         LIST(POSTGRES_SETS), LIST(POSTGRES_ODD)},
    [DENIED_MARIADB] = {LIST(MARIADB_CALLS), LIST(MARIADB_OPERATORS), LIST(MARIADB_TYPES), LIST(MARIADB_FORMS),
                        LIST(MARIADB_SETS), LIST(MARIADB_ODD)},
};

static unsigned below(struct maker *m, unsigned n)
{
    return (unsigned)g_rand_int_range(m->rand, 0, (gint32)n);
}

static bool one_in(struct maker *m, unsigned n)
{
    return below(m, n) == 0;
}

static const char *pick(struct maker *m, const struct list *list)
{
    return list->items[below(m, list->n)];
}

#define PICK(m, list) ((list)[below(m, G_N_ELEMENTS(list))])

static void put(struct maker *m, const char *text)
{
    g_string_append(m->out, text);
}

static void put_query(struct maker *m, const struct scope *outer, unsigned depth, unsigned n_columns);
static void put_expression(struct maker *m, const struct scope *scope, unsigned depth);

static const struct item *any_item(struct maker *m, const struct scope *scope)
{
    while (scope && scope->outer && one_in(m, 4)) scope = scope->outer;
    return scope && scope->n ? &scope->items[below(m, scope->n)] : &TABLES[below(m, G_N_ELEMENTS(TABLES))];
}

static void put_column(struct maker *m, const struct scope *scope)
{
    static const char *const hidden[] = {"rowid", "oid",  "_rowid_", "ctid", "xmin", "tableoid",
                                         "docs",  "olds", "rank",    "key",  "value"};
    const struct item *item = any_item(m, scope);
    if (one_in(m, 15)) item = &TABLES[below(m, G_N_ELEMENTS(TABLES))];
    bool qualified = !one_in(m, 4);
    if (qualified) g_string_append_printf(m->out, "%s.", item->alias);
    if (one_in(m, 15) || !item->n)
        put(m, PICK(m, hidden));
    else
        put(m, item->columns[below(m, item->n)]);
}

/* Appends a text expression. Adds casts for a server, because it converts fewer types implicitly. */
static void put_text(struct maker *m, const struct scope *scope, unsigned depth)
{
    bool cast = m->postgres && !one_in(m, 4);
    if (cast) put(m, "(");
    put_expression(m, scope, depth);
    if (cast) put(m, ")::text");
}

/* Appends a condition. */
static void put_condition(struct maker *m, const struct scope *scope, unsigned depth)
{
    static const char *const comparisons[] = {
        " = ", " <> ", " < ", " >= ", " LIKE ", " NOT LIKE ", " IS DISTINCT FROM "};
    if (one_in(m, 8)) {
        put_expression(m, scope, depth);
        return;
    }
    put_text(m, scope, depth);
    if (one_in(m, 4)) {
        put(m, one_in(m, 2) ? " IS NULL" : " IS NOT NULL");
        return;
    }
    put(m, comparisons[below(m, G_N_ELEMENTS(comparisons) - (m->postgres ? 0 : 1))]);
    put_text(m, scope, depth ? depth - 1 : 0);
}

static void put_list(struct maker *m, const struct scope *scope, unsigned depth, unsigned most)
{
    for (unsigned i = 0, n = 1 + below(m, most); i < n; i++) {
        if (i) put(m, ", ");
        put_text(m, scope, depth);
    }
}

static void put_call(struct maker *m, const struct scope *scope, unsigned depth)
{
    put(m, pick(m, &m->words->calls));
    put(m, one_in(m, 10) ? "(DISTINCT " : "(");
    if (one_in(m, 12))
        put(m, "*");
    else
        put_list(m, scope, depth, 3);
    if (one_in(m, 12)) {
        put(m, " ORDER BY ");
        put_expression(m, scope, depth);
    }
    put(m, ")");
    if (one_in(m, 10)) {
        put(m, " FILTER (WHERE ");
        put_condition(m, scope, depth);
        put(m, ")");
    }
}

static void put_window(struct maker *m, const struct scope *scope, unsigned depth)
{
    put(m, PICK(m, WINDOWS));
    put(m, "(");
    if (!one_in(m, 3)) put_expression(m, scope, depth);
    put(m, ") OVER (");
    if (one_in(m, 2)) {
        put(m, "PARTITION BY ");
        put_expression(m, scope, depth);
    }
    put(m, " ORDER BY ");
    put_expression(m, scope, depth);
    if (one_in(m, 4)) put(m, " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW");
    put(m, ")");
}

static void put_subquery(struct maker *m, const char *before, const struct scope *scope, unsigned depth)
{
    put(m, before);
    put(m, "(");
    put_query(m, scope, depth, 1);
    put(m, ")");
}

static void put_in(struct maker *m, const struct scope *scope, unsigned depth)
{
    put_expression(m, scope, 0);
    put(m, one_in(m, 3) ? " NOT IN " : " IN ");
    if (!m->postgres && one_in(m, 4)) {
        put(m, TABLES[below(m, G_N_ELEMENTS(TABLES))].alias);
    } else if (one_in(m, 2)) {
        put_subquery(m, "", scope, depth);
    } else {
        put(m, "(");
        put_list(m, scope, 0, 3);
        put(m, ")");
    }
}

static void put_case(struct maker *m, const struct scope *scope, unsigned depth)
{
    put(m, "CASE");
    put(m, " WHEN ");
    put_condition(m, scope, depth);
    put(m, " THEN ");
    put_expression(m, scope, depth);
    if (one_in(m, 2)) {
        put(m, " ELSE ");
        put_expression(m, scope, depth);
    }
    put(m, " END");
}

static void put_form(struct maker *m, const char *form, const struct scope *scope, unsigned depth)
{
    for (const char *c = form; *c; c++) switch (*c) {
        case '@': put_expression(m, scope, depth); break;
        case '?': put_query(m, scope, depth, 1); break;
        case '&': put(m, any_item(m, scope)->alias); break;
        case '#': put(m, pick(m, &m->words->types)); break;
        default: g_string_append_c(m->out, *c);
        }
}

static void put_compound(struct maker *m, const struct scope *scope, unsigned depth)
{
    put(m, "(");
    put_text(m, scope, depth);
    if (one_in(m, 12)) {
        put(m, " BETWEEN ");
        put_expression(m, scope, 0);
        put(m, " AND ");
    } else {
        bool common = one_in(m, 2);
        const char *own = pick(m, &m->words->operators);
        g_string_append_printf(m->out, " %s ", common ? PICK(m, OPERATORS) : own);
    }
    put_text(m, scope, depth);
    put(m, ")");
}

static void put_cast(struct maker *m, const struct scope *scope, unsigned depth)
{
    put(m, "CAST(");
    put_expression(m, scope, depth);
    g_string_append_printf(m->out, " AS %s)", pick(m, &m->words->types));
}

static void put_expression(struct maker *m, const struct scope *scope, unsigned depth)
{
    if (depth == 0 || one_in(m, 3)) {
        if (one_in(m, 4))
            put(m, PICK(m, LITERALS));
        else
            put_column(m, scope);
        return;
    }
    depth--;
    switch (below(m, 12)) {
    case 0:
    case 1: put_call(m, scope, depth); return;
    case 2:
    case 3: put_compound(m, scope, depth); return;
    case 4: put_cast(m, scope, depth); return;
    case 5: put_case(m, scope, depth); return;
    case 6: put_subquery(m, "", scope, depth); return;
    case 7: put_subquery(m, "EXISTS ", scope, depth); return;
    case 8: put_in(m, scope, depth); return;
    case 9: put_window(m, scope, depth); return;
    default: put_form(m, pick(m, &m->words->forms), scope, depth);
    }
}

/* --- FROM --------------------------------------------------------------------------------------------------------- */

static struct item *new_item(struct maker *m, struct scope *scope)
{
    struct item *item = &scope->items[scope->n++];
    *item = (struct item){.n = 0};
    g_snprintf(item->alias, sizeof item->alias, "t%u", m->aliases++);
    return item;
}

static void take_names(struct item *item, unsigned n)
{
    for (unsigned i = 0; i < n; i++) item->columns[i] = NAMES[i];
    item->n = n;
}

static void put_table(struct maker *m, struct scope *scope)
{
    const struct item *table = &TABLES[below(m, G_N_ELEMENTS(TABLES))];
    struct item *item = new_item(m, scope);
    char alias[sizeof item->alias];
    memcpy(alias, item->alias, sizeof alias);
    *item = *table;
    put(m, table->alias);
    if (one_in(m, 3)) return; /* keeps its own name */
    memcpy(item->alias, alias, sizeof alias);
    g_string_append_printf(m->out, " AS %s", alias);
    if (!m->postgres || !one_in(m, 6)) return;
    put(m, "(x0)"); /* renames the first column to x0 */
    item->columns[0] = NAMES[0];
}

static void put_derived(struct maker *m, struct scope *scope, unsigned depth)
{
    unsigned n = 1 + below(m, 3);
    bool lateral = m->postgres && one_in(m, 3);
    put(m, lateral ? "LATERAL (" : "(");
    put_query(m, lateral ? scope : scope->outer, depth, n);
    struct item *item = new_item(m, scope);
    take_names(item, n);
    g_string_append_printf(m->out, ") AS %s", item->alias);
}

static void put_function(struct maker *m, struct scope *scope)
{
    put(m, pick(m, &m->words->sets));
    put(m, "(");
    put_list(m, scope, 1, 2);
    put(m, ")");
    if (m->postgres && one_in(m, 5)) put(m, " WITH ORDINALITY");
    struct item *item = new_item(m, scope);
    g_string_append_printf(m->out, " AS %s", item->alias);
    item->columns[0] = "key";
    item->columns[1] = one_in(m, 3) ? "email" : "value";
    item->n = 2;
}

static void put_odd_item(struct maker *m, struct scope *scope)
{
    const char *form = pick(m, &m->words->odd), *mark = strchr(form, '%');
    struct item *item = new_item(m, scope);
    g_string_append_printf(m->out, "%.*s%s%s", (int)(mark - form), form, item->alias, mark + 2);
    item->columns[0] = one_in(m, 2) ? "email" : "name";
    item->columns[1] = NAMES[0];
    item->n = 2;
}

static void put_item(struct maker *m, struct scope *scope, unsigned depth)
{
    unsigned turn = below(m, 9);
    if (turn == 0 && depth > 0) {
        put_derived(m, scope, depth - 1);
    } else if (turn == 1) {
        put_function(m, scope);
    } else if (turn == 3 && one_in(m, 2)) {
        put_odd_item(m, scope);
    } else if (turn == 2 && m->ctes) {
        struct item *item = new_item(m, scope);
        take_names(item, 2);
        g_string_append_printf(m->out, "c%u AS %s", below(m, m->ctes), item->alias);
    } else {
        put_table(m, scope);
    }
}

static void put_from(struct maker *m, struct scope *scope, unsigned depth)
{
    static const char *const joins[] = {" JOIN ", " LEFT JOIN ", " FULL JOIN ", " RIGHT JOIN "};
    put(m, " FROM ");
    put_item(m, scope, depth);
    for (unsigned more = below(m, 3); more && scope->n < MAX_ITEMS - 1; more--) {
        switch (below(m, 6)) {
        case 0:
            put(m, " NATURAL JOIN ");
            put_item(m, scope, depth);
            break;
        case 1:
            put(m, " JOIN ");
            put_item(m, scope, depth);
            put(m, one_in(m, 2) ? " USING (id)" : " USING (email)");
            break;
        case 2:
        case 3:
            put(m, ", ");
            put_item(m, scope, depth);
            break;
        default:
            put(m, PICK(m, joins));
            put_item(m, scope, depth);
            put(m, " ON ");
            put_condition(m, scope, 1);
        }
    }
}

/* --- queries ------------------------------------------------------------------------------------------------------ */

static void put_clause(struct maker *m, const char *word, const struct scope *scope, unsigned depth, unsigned rarely)
{
    if (!one_in(m, rarely)) return;
    put(m, word);
    put_expression(m, scope, depth);
}

/* Appends a query. It has n_columns columns, or any number, stars included, if n_columns is 0. */
static void put_select(struct maker *m, const struct scope *outer, unsigned depth, unsigned n_columns, bool ordered)
{
    struct scope scope = {.outer = outer};
    GString *whole = m->out, *from = g_string_new(NULL);
    m->out = from;
    put_from(m, &scope, depth); /* FROM is built first, because the select list refers to its columns */
    m->out = whole;
    put(m, "SELECT ");
    if (one_in(m, 8)) put(m, m->postgres && one_in(m, 3) ? "DISTINCT ON (1) " : "DISTINCT ");
    unsigned n = n_columns ? n_columns : 1 + below(m, 3);
    for (unsigned i = 0; i < n; i++) {
        if (i) put(m, ", ");
        if (!n_columns && one_in(m, 12)) {
            if (one_in(m, 2)) g_string_append_printf(m->out, "%s.", scope.items[below(m, scope.n)].alias);
            put(m, "*");
            continue;
        }
        put_expression(m, &scope, depth);
        g_string_append_printf(m->out, " AS %s", NAMES[i % G_N_ELEMENTS(NAMES)]);
    }
    g_string_append(m->out, from->str);
    g_string_free(from, TRUE);
    if (one_in(m, 2)) {
        put(m, " WHERE ");
        put_condition(m, &scope, depth);
    }
    put_clause(m, m->postgres && one_in(m, 4) ? " GROUP BY ROLLUP (1), " : " GROUP BY ", &scope, 1, 6);
    put_clause(m, " HAVING count(*) > 0 OR true = ", &scope, 1, 12);
    if (!ordered) return;
    put_clause(m, " ORDER BY ", &scope, 1, 4);
    if (one_in(m, 4)) put(m, m->postgres && one_in(m, 3) ? " FETCH FIRST 2 ROWS ONLY" : " LIMIT 2");
}

static void put_query(struct maker *m, const struct scope *outer, unsigned depth, unsigned n_columns)
{
    static const char *const operators[] = {" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT "};
    unsigned inner = depth ? depth - 1 : 0;
    if (!one_in(m, 8) || !depth) {
        put_select(m, outer, inner, n_columns, true);
        return;
    }
    unsigned n = n_columns ? n_columns : 2;
    put_select(m, outer, inner, n, false);
    put(m, PICK(m, operators));
    put_select(m, outer, inner, n, false);
}

char *denied_statement(GRand *rand, enum denied_engine engine)
{
    struct maker m = {
        .rand = rand, .out = g_string_new(NULL), .postgres = engine == DENIED_POSTGRES, .words = &VOCABULARIES[engine]};
    const char *with = one_in(&m, 4) ? "WITH RECURSIVE " : "WITH ";
    for (unsigned n = one_in(&m, 4) ? 1 + below(&m, 2) : 0; m.ctes < n; m.ctes++) {
        g_string_append_printf(m.out, "%sc%u(x0, x1) AS (", m.ctes ? ", " : with, m.ctes);
        put_query(&m, NULL, 2, 2);
        put(&m, ")");
    }
    if (m.out->len) put(&m, " ");
    put_query(&m, NULL, 1 + MIN(below(&m, DEEP), below(&m, DEEP)), 0);
    return g_string_free(m.out, FALSE);
}
