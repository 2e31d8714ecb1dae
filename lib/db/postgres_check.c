#include "lib/db/postgres_check.h"

#include "lib/db/postgres_calls.h"

#include <glib.h>
#include <string.h>

/* A statement fails, and takes its section with it, by making a number of this and what is found. */
#define MARK "own: "

/* Operators are named with their schema, for those of the search path may be the database's own. */
#define IS     " OPERATOR(pg_catalog.=) "
#define IS_ANY " OPERATOR(pg_catalog.=) ANY "
#define IS_OWN " OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid "

#define FAILS_BEGIN "SELECT CAST(("
#define FAILS_END   " LIMIT 1) AS pg_catalog.int4)"

static const char short_question[] =
    FAILS_BEGIN "SELECT '" MARK "'::pg_catalog.text FROM pg_catalog.pg_proc WHERE oid" IS_OWN FAILS_END;

/* What could run, as (function, what it is called, is EXECUTE on it never asked for?). $1 names, $2 operators, $3
 * types, $4 attributes and $5 their tables, $6: is anything cast by name? The numbers: pg_proc 1255, pg_constraint
 * 2606, pg_operator 2617, pg_extension 3079; the types json 114, jsonb 3802; access methods btree 403, hash 405; the
 * languages internal 12, c 13. */
static const char *const sources[] = {
    /* f(x) */
    "SELECT p.oid, pg_catalog.concat('function ', p.oid::pg_catalog.regprocedure), false"
    " FROM pg_catalog.pg_proc p WHERE p.proname" IS_ANY "($1::pg_catalog.name[])",
    /* x + y, and what IN, BETWEEN, LIKE ... stand for */
    "SELECT o.oprcode::pg_catalog.oid, pg_catalog.concat('operator ', o.oid::pg_catalog.regoperator), false"
    " FROM pg_catalog.pg_operator o WHERE o.oprname" IS_ANY "($2::pg_catalog.name[])",
    /* implicit casts anywhere, those that are named, and to_json looks for a cast by itself */
    "SELECT c.castfunc, pg_catalog.concat('cast from ', c.castsource::pg_catalog.regtype, ' to ',"
    " c.casttarget::pg_catalog.regtype), c.casttarget" IS_ANY "('{114,3802}'::pg_catalog.oid[])"
    " FROM pg_catalog.pg_cast c WHERE c.castfunc" IS_OWN "AND ($6::pg_catalog.bool OR c.castcontext" IS
    "'i'::pg_catalog.\"char\" OR c.casttarget" IS_ANY "('{114,3802}'::pg_catalog.oid[]) OR c.casttarget" IS_ANY
    "(SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typname" IS_ANY "($1::pg_catalog.name[])"
    " OR t.typname" IS_ANY "($4::pg_catalog.name[])))",
    /* the checks of domains, which run when a text is read as a row or an array that holds one */
    "SELECT coalesce(o.oprcode::pg_catalog.oid, d.refobjid), pg_catalog.concat('check ', k.conname,"
    " ' of the domain ', k.contypid::pg_catalog.regtype), false FROM pg_catalog.pg_constraint k"
    " JOIN pg_catalog.pg_depend d ON d.classid" IS "2606::pg_catalog.oid AND d.objid" IS "k.oid AND d.refclassid" IS_ANY
    "('{1255,2617}'::pg_catalog.oid[]) LEFT JOIN pg_catalog.pg_operator o ON d.refclassid" IS
    "2617::pg_catalog.oid AND o.oid" IS "d.refobjid WHERE k.contypid" IS_OWN,
    /* types whose texts are read by a function of their own */
    "SELECT coalesce(r.rngcanonical, t.typinput)::pg_catalog.oid, pg_catalog.concat('type ',"
    " t.oid::pg_catalog.regtype), true FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_range r ON r.rngtypid" IS
    "t.oid WHERE t.typname" IS_ANY "($3::pg_catalog.name[]) OR t.typname" IS_ANY "($1::pg_catalog.name[])",
    /* ORDER BY, GROUP BY, DISTINCT: operator classes; those in C are a superuser's */
    "SELECT a.amproc::pg_catalog.oid, pg_catalog.concat('operator class of ',"
    " a.amproclefttype::pg_catalog.regtype), true FROM pg_catalog.pg_amproc a"
    " JOIN pg_catalog.pg_opfamily y ON y.oid" IS "a.amprocfamily AND y.opfmethod" IS_ANY
    "('{403,405}'::pg_catalog.oid[]) JOIN pg_catalog.pg_proc p ON p.oid" IS "a.amproc::pg_catalog.oid"
    " AND NOT p.prolang" IS_ANY "('{12,13}'::pg_catalog.oid[]) WHERE a.amproc::pg_catalog.oid" IS_OWN,
    /* a.f */
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

#define FOUND "SELECT pg_catalog.concat('" MARK "', f.what) FROM ("
#define OF_OWN                                                                                                         \
    ") AS f(function, what, unasked) WHERE f.function" IS_OWN                                                          \
    "AND (f.unasked OR pg_catalog.has_function_privilege(f.function, 'EXECUTE'))"                                      \
    " AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid" IS "d.refobjid"      \
    " WHERE d.refclassid" IS "3079::pg_catalog.oid AND d.classid" IS "1255::pg_catalog.oid AND d.objid" IS             \
    "f.function AND d.deptype" IS "'e'::pg_catalog.\"char\" AND e.extname" IS_ANY "(" POSTGRES_TRUSTED_EXTENSIONS "))"

/* g_free */
static char *long_question(void)
{
    char *all = g_strjoinv(" UNION ALL ", (char **)sources);
    char *question = g_strconcat(FAILS_BEGIN FOUND, all, OF_OWN FAILS_END, NULL);
    g_free(all);
    return question;
}

enum err_code check_queue(struct postgres_db *self, struct err *err)
{
    if (!self->calls) return ERR_OK;
    if (!self->has_own) return link_queue(self, short_question, NULL, err);
    struct db_value params[CALLS_LISTS + 1];
    for (unsigned i = 0; i < CALLS_LISTS; i++)
        params[i] =
            (struct db_value){.type = DB_TEXT, .text = self->calls->lists[i]->str, .len = self->calls->lists[i]->len};
    params[CALLS_LISTS] = (struct db_value){.type = DB_TEXT, .text = self->calls->casts ? "t" : "f", .len = 1};
    struct db_statement statement = {.params = params, .n_params = CALLS_LISTS + 1};
    char *question = long_question();
    enum err_code code = link_queue(self, question, &statement, err);
    g_free(question);
    return code;
}

/* What the question found, in the server's message: invalid input syntax for type integer: "own: function f(text)". The
 * words around it are of the server's language. */
static char *found(const PGresult *result)
{
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *mark = message ? strstr(message, MARK) : NULL, *last = mark ? strrchr(mark, '"') : NULL;
    if (!mark) return NULL;
    return last ? g_strndup(mark + strlen(MARK), (size_t)(last - mark) - strlen(MARK)) : g_strdup(mark + strlen(MARK));
}

static enum err_code refuse(struct postgres_db *self, char *what, struct err *err)
{
    self->has_own = true;
    enum err_code code = err_set(err, ERR_REFUSED, "the database's own %s could run here, which is not allowed",
                                 *what ? what : "functions");
    g_free(what);
    return code;
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
    PQclear(result);
    enum err_code ended = link_finish(self, code ? NULL : err);
    return code ? code : ended;
}
