/* Implements the check for user-defined functions (postgres_check.h): its SQL, and the reading of its results.
 *
 * The check is a SELECT that fails if it finds something: it casts the finding, a text, to a number. Because of this
 * error the server skips the rest of the section, which contains the statement. The error message contains the finding.
 * All names in the SQL are qualified, because the search path may contain user-defined objects.
 */
#include "lib/db/postgres_check.h"

#include "lib/db/postgres_calls.h"

#include <glib.h>
#include <string.h>

/* Precedes the finding in the text that is cast, so that it can be found in the error message. */
#define MARK "own: "

/* Operators are qualified, because the search path may contain user-defined ones. */
#define IS     " OPERATOR(pg_catalog.=) "
#define IS_ANY " OPERATOR(pg_catalog.=) ANY "
#define IS_OWN " OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid "

#define FAILS_BEGIN "SELECT CAST(("
#define FAILS_END   " LIMIT 1) AS pg_catalog.int4)"

/* Restricts a subquery AS f(function, ..., unasked) to user-defined functions that could run. `unasked` is true if the
 * server does not check EXECUTE. */
#define OF_OWN                                                                                                         \
    " WHERE f.function" IS_OWN "AND (f.unasked OR pg_catalog.has_function_privilege(f.function, 'EXECUTE'))"           \
    " AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid" IS "d.refobjid"      \
    " WHERE d.refclassid" IS "3079::pg_catalog.oid AND d.classid" IS "1255::pg_catalog.oid AND d.objid" IS             \
    "f.function AND d.deptype" IS "'e'::pg_catalog.\"char\" AND e.extname" IS_ANY "(" POSTGRES_TRUSTED_EXTENSIONS "))"

/* Object numbers in this file. Schema: pg_catalog 11. Catalogues: pg_proc 1255, pg_constraint 2606, pg_operator 2617,
 * pg_extension 3079. Types: json 114, jsonb 3802. Access methods: btree 403, hash 405. Languages: internal 12, c 13. */
#define TO_JSON "c.casttarget" IS_ANY "('{114,3802}'::pg_catalog.oid[])"

/* Functions in the checks of domains. They run when a text is read as a row or array that contains the domain. */
#define DOMAIN_CHECK "coalesce(o.oprcode::pg_catalog.oid, d.refobjid)"
#define FROM_DOMAIN_CHECKS                                                                                             \
    " FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_depend d ON d.classid" IS                                     \
    "2606::pg_catalog.oid AND d.objid" IS "k.oid AND d.refclassid" IS_ANY                                              \
    "('{1255,2617}'::pg_catalog.oid[]) LEFT JOIN pg_catalog.pg_operator o ON d.refclassid" IS                          \
    "2617::pg_catalog.oid AND o.oid" IS "d.refobjid WHERE k.contypid" IS_OWN

/* Functions of operator classes, which ORDER BY, GROUP BY and DISTINCT call. Functions in C are left out, because only
 * a superuser can create them. */
#define FROM_OPERATOR_CLASSES                                                                                          \
    " FROM (SELECT amprocfamily, amproclefttype, amproc::pg_catalog.oid FROM pg_catalog.pg_amproc UNION ALL"           \
    " SELECT m.amopfamily, m.amoplefttype, o.oprcode::pg_catalog.oid FROM pg_catalog.pg_amop m"                        \
    " JOIN pg_catalog.pg_operator o ON o.oid" IS "m.amopopr) AS a(family, type, function)"                             \
    " JOIN pg_catalog.pg_opfamily y ON y.oid" IS "a.family AND y.opfmethod" IS_ANY                                     \
    "('{403,405}'::pg_catalog.oid[]) JOIN pg_catalog.pg_proc p ON p.oid" IS "a.function AND NOT p.prolang" IS_ANY      \
    "('{12,13}'::pg_catalog.oid[]) WHERE a.function" IS_OWN

/* --- the queries -------------------------------------------------------------------------------------------------- */

static const char any_question[] =
    FAILS_BEGIN "SELECT '" MARK "'::pg_catalog.text FROM pg_catalog.pg_proc WHERE oid" IS_OWN FAILS_END;

/* A checksum that changes if user-defined objects, or the role's right to execute them, change. */
#define SUM(of, from)                                                                                                  \
    "(SELECT pg_catalog.sum(pg_catalog.hashtext(pg_catalog.concat(oid, '.', xmin" of                                   \
    "))) FROM pg_catalog." from IS_OWN ")"
#define FUNCTIONS SUM(", pg_catalog.has_function_privilege(oid, 'EXECUTE')", "pg_proc WHERE oid")
#define OPERATORS SUM("", "pg_operator WHERE oid")
#define CASTS     SUM("", "pg_cast WHERE oid")
#define DOMAINS   SUM("", "pg_constraint WHERE contypid")
#define CLASSES   SUM("", "pg_amproc WHERE oid") ", ' ', " SUM("", "pg_amop WHERE oid")
/* clang-format off */
#define STATE                                                                                                          \
    "pg_catalog.concat(" FUNCTIONS ", ' ', " OPERATORS ", ' ', " CASTS ", ' ', " DOMAINS ", ' ', " CLASSES ")"
/* clang-format on */

static const char state_question[] =
    FAILS_BEGIN "SELECT '" MARK "'::pg_catalog.text WHERE NOT " STATE IS "$1::pg_catalog.text" FAILS_END;

/* Lists rows (kind, name): the names that may_meet looks up and, with kind '=', the checksum of the state. */
static const char listing[] =
    "SELECT '=', " STATE " UNION ALL SELECT f.kind, f.name::pg_catalog.text FROM ("
    "SELECT p.oid, 'f', p.proname, false FROM pg_catalog.pg_proc p"
    " UNION ALL SELECT o.oprcode::pg_catalog.oid, 'o', o.oprname, false FROM pg_catalog.pg_operator o"
    " UNION ALL SELECT c.castfunc, '*', '', " TO_JSON " FROM pg_catalog.pg_cast c"
    " UNION ALL SELECT " DOMAIN_CHECK ", '*', '', false" FROM_DOMAIN_CHECKS
    " UNION ALL SELECT a.function, '*', '', true" FROM_OPERATOR_CLASSES ") AS f(function, kind, name, unasked)" OF_OWN;

/* Subqueries that list functions that could run, as rows (function, description, whether the server does not check
 * EXECUTE). Parameters: $1 names, $2 operators, $3 types, $4 attributes and $5 their tables, $6 names in pg_catalog, $7
 * whether the statement contains a cast. */
static const char *const sources[] = {
    /* functions in f(x) */
    "SELECT p.oid, pg_catalog.concat('function ', p.oid::pg_catalog.regprocedure), false"
    " FROM pg_catalog.pg_proc p WHERE p.proname" IS_ANY "($1::pg_catalog.name[]) OR p.proname" IS_ANY
    "($6::pg_catalog.name[]) AND p.pronamespace" IS "11::pg_catalog.oid",
    /* x + y, and the operators that IN, BETWEEN, LIKE and other keywords call */
    "SELECT o.oprcode::pg_catalog.oid, pg_catalog.concat('operator ', o.oid::pg_catalog.regoperator), false"
    " FROM pg_catalog.pg_operator o WHERE o.oprname" IS_ANY "($2::pg_catalog.name[])",
    /* implicit casts, casts in the statement, and the casts that to_json looks up */
    "SELECT c.castfunc, pg_catalog.concat('cast from ', c.castsource::pg_catalog.regtype, ' to ',"
    " c.casttarget::pg_catalog.regtype), " TO_JSON " FROM pg_catalog.pg_cast c WHERE c.castfunc" IS_OWN
    "AND ($7::pg_catalog.bool OR c.castcontext" IS "'i'::pg_catalog.\"char\" OR " TO_JSON " OR c.casttarget" IS_ANY
    "(SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typname" IS_ANY "($1::pg_catalog.name[])"
    " OR t.typname" IS_ANY "($4::pg_catalog.name[])))",
    "SELECT " DOMAIN_CHECK ", pg_catalog.concat('check ', k.conname, ' of the domain ',"
    " k.contypid::pg_catalog.regtype), false" FROM_DOMAIN_CHECKS,
    /* types with a user-defined input function */
    "SELECT coalesce(r.rngcanonical, t.typinput)::pg_catalog.oid, pg_catalog.concat('type ',"
    " t.oid::pg_catalog.regtype), true FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_range r ON r.rngtypid" IS
    "t.oid WHERE t.typname" IS_ANY "($3::pg_catalog.name[]) OR t.typname" IS_ANY "($1::pg_catalog.name[])",
    "SELECT a.function, pg_catalog.concat('operator class of ', a.type::pg_catalog.regtype), "
    "true" FROM_OPERATOR_CLASSES,
    /* functions that a.f may mean */
    "SELECT p.oid, pg_catalog.concat('function ', p.oid::pg_catalog.regprocedure), false"
    " FROM ROWS FROM (pg_catalog.unnest($4::pg_catalog.name[]), pg_catalog.unnest($5::pg_catalog.text[])) AS a(name,"
    " place) JOIN pg_catalog.pg_proc p ON p.proname" IS "a.name AND p.pronargs OPERATOR(pg_catalog.>)"
    " 0::pg_catalog.int2 AND p.pronargs OPERATOR(pg_catalog.-) p.pronargdefaults OPERATOR(pg_catalog.<=)"
    " 1::pg_catalog.int2 WHERE p.oid" IS_OWN "AND (a.place" IS "''::pg_catalog.text OR"
    " pg_catalog.to_regclass(a.place) IS NOT NULL AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute c"
    " WHERE c.attrelid" IS "pg_catalog.to_regclass(a.place)::pg_catalog.oid AND c.attname" IS
    "a.name AND NOT c.attisdropped))",
    NULL,
};

/* Returns the query by names. Free with g_free. */
static char *names_question(void)
{
    char *all = g_strjoinv(" UNION ALL ", (char **)sources);
    char *question = g_strconcat(FAILS_BEGIN "SELECT pg_catalog.concat('" MARK "', f.what) FROM (", all,
                                 ") AS f(function, what, unasked)" OF_OWN FAILS_END, NULL);
    g_free(all);
    return question;
}

/* --- the list of user-defined functions --------------------------------------------------------------------------- */

struct postgres_own {
    char *state;
    GHashTable *names; /* kind and name of each row */
    bool anywhere;     /* a user-defined function may run in any statement */
};

void check_forget(struct postgres_db *self)
{
    if (!self->own) return;
    g_free(self->own->state);
    g_hash_table_destroy(self->own->names);
    g_clear_pointer(&self->own, g_free);
}

static bool take_own(void *ctx, const struct db_value *row, uint32_t n)
{
    enum { MAX_OWN = 20000 };
    struct postgres_own *own = ctx;
    if (n != 2 || row[0].type != DB_TEXT || row[1].type != DB_TEXT) return true;
    if (row[0].text[0] == '=')
        own->state = g_strdup(row[1].text);
    else
        g_hash_table_add(own->names, g_strconcat(row[0].text, row[1].text, NULL));
    own->anywhere |= row[0].text[0] == '*' || g_hash_table_size(own->names) > MAX_OWN;
    return g_hash_table_size(own->names) <= MAX_OWN || !own->state;
}

enum err_code check_load(struct postgres_db *self, struct err *err)
{
    const struct postgres_calls *calls = self->calls;
    check_forget(self);
    self->own = g_new0(struct postgres_own, 1);
    self->own->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    self->calls = NULL;
    enum err_code code = self->base.engine->scan(&self->base, listing, take_own, self->own, err);
    self->calls = calls;
    if (!code && !self->own->state)
        code = err_set(err, ERR_INTERNAL, "the server did not list its user-defined functions");
    if (code) check_forget(self);
    return code;
}

static bool is_known(const struct postgres_own *own, const char *kind, const GPtrArray *names)
{
    bool known = false;
    for (guint i = 0; i < names->len && !known; i++) {
        char *key = g_strconcat(kind, names->pdata[i], NULL);
        known = g_hash_table_contains(own->names, key);
        g_free(key);
    }
    return known;
}

/* True for words that need no check: names of built-in types, words of a frame, and numbers. */
static bool is_usual_type(const char *word)
{
    static const char *const usual[] = {
        "and",         "between",   "bigint", "bool",    "boolean",  "bytea",    "char",      "character", "current",
        "date",        "decimal",   "double", "float",   "float4",   "float8",   "following", "groups",    "int",
        "int2",        "int4",      "int8",   "integer", "interval", "json",     "jsonb",     "numeric",   "precision",
        "preceding",   "range",     "real",   "row",     "rows",     "smallint", "text",      "time",      "timestamp",
        "timestamptz", "unbounded", "uuid",   "varchar", "varying",  "with",     "without",   "zone",
    };
    if (g_ascii_isdigit(*word)) return true;
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
        if (g_ascii_strcasecmp(word, usual[i]) == 0) return true;
    return false;
}

/* Returns false only if the statement cannot call a function of the list. */
static bool may_meet(const struct postgres_own *own, const struct postgres_calls *calls)
{
    const GPtrArray *types = calls->lists[CALLS_TYPES];
    for (guint i = 0; i < types->len; i++)
        if (!is_usual_type(types->pdata[i])) return true;
    return own->anywhere || is_known(own, "f", calls->lists[CALLS_NAMES]) ||
           is_known(own, "f", calls->lists[CALLS_IN_CATALOG]) || is_known(own, "f", calls->lists[CALLS_ATTRIBUTES]) ||
           is_known(own, "o", calls->lists[CALLS_OPERATORS]);
}

/* --- the check -------------------------------------------------------------------------------------------------------
 */

static struct db_value text_value(const char *text)
{
    return (struct db_value){.type = DB_TEXT, .text = text, .len = strlen(text)};
}

/* Returns an array literal such as {"a","b"}. Free with g_free. */
static char *array_text(const GPtrArray *list)
{
    GString *text = g_string_new("{");
    for (guint i = 0; i < list->len; i++) {
        g_string_append(text, i ? ",\"" : "\"");
        for (const char *c = list->pdata[i]; *c; c++) {
            if (*c == '"' || *c == '\\') g_string_append_c(text, '\\');
            g_string_append_c(text, *c);
        }
        g_string_append_c(text, '"');
    }
    g_string_append_c(text, '}');
    return g_string_free(text, FALSE);
}

static enum err_code queue_names(struct postgres_db *self, struct err *err)
{
    struct db_value params[CALLS_LISTS + 1];
    char *texts[CALLS_LISTS], *question = names_question();
    for (unsigned i = 0; i < CALLS_LISTS; i++) params[i] = text_value(texts[i] = array_text(self->calls->lists[i]));
    params[CALLS_LISTS] = text_value(self->calls->casts ? "t" : "f");
    struct db_statement statement = {.params = params, .n_params = CALLS_LISTS + 1};
    enum err_code code = link_queue(self, question, &statement, err);
    for (unsigned i = 0; i < CALLS_LISTS; i++) g_free(texts[i]);
    g_free(question);
    return code;
}

enum err_code check_queue(struct postgres_db *self, struct err *err)
{
    self->stale = false;
    self->asks_names = self->calls && self->own && may_meet(self->own, self->calls);
    if (!self->calls) return ERR_OK;
    if (self->asks_names) return queue_names(self, err);
    if (!self->own) return link_queue(self, any_question, NULL, err);
    struct db_value state = text_value(self->own->state);
    return link_queue(self, state_question, &(struct db_statement){.params = &state, .n_params = 1}, err);
}

/* Returns the finding, or NULL if there is none. It comes from a message of the server such as: invalid input syntax
 * for type integer: "own: function f(text)". Only the part in quotes is independent of the server's language. */
static char *found(const PGresult *result)
{
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *mark = message ? strstr(message, MARK) : NULL, *last = mark ? strrchr(mark, '"') : NULL;
    if (!mark) return NULL;
    return last ? g_strndup(mark + strlen(MARK), (size_t)(last - mark) - strlen(MARK)) : g_strdup(mark + strlen(MARK));
}

/* Reports a finding. Only the query by names yields the function; after the other queries the list must be loaded
 * again. */
static enum err_code refuse(struct postgres_db *self, const char *what, struct err *err)
{
    self->stale = !self->asks_names;
    return err_set(err, ERR_REFUSED, "the statement could run the user-defined %s, which is not allowed",
                   self->stale ? "functions" : what);
}

enum err_code check_read(struct postgres_db *self, struct err *err)
{
    if (!self->calls) return ERR_OK;
    PGresult *result = NULL;
    enum err_code code = link_next(self, &result, err);
    if (code) return code;
    char *what = PQresultStatus(result) == PGRES_TUPLES_OK ? NULL : found(result);
    if (what)
        code = refuse(self, what, err);
    else if (PQresultStatus(result) != PGRES_TUPLES_OK)
        code = link_failure(self, result, err);
    g_free(what);
    PQclear(result);
    enum err_code ended = link_finish(self, code ? NULL : err);
    return code ? code : ended;
}
