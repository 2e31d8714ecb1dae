/* Checks for `assay doctor` that find rights of a PostgreSQL role beyond reading. */
#include "lib/db/db_engine.h"
#include "lib/db/postgres_trusted.h"

/* The role, as an identifier. A right that PUBLIC has counts too, so the suggested statements revoke it from both. */
#define ME "pg_catalog.quote_ident(current_user)"

/* Condition on a function, given its object number. Initdb did not create it, the role may execute it, and it belongs
 * to no trusted extension. */
#define IS_OWN(function)                                                                                               \
    function " >= 16384 AND pg_catalog.has_function_privilege(" function ", 'EXECUTE') AND NOT EXISTS (SELECT FROM"    \
             " pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid WHERE d.classid ="          \
             " 'pg_catalog.pg_proc'::regclass AND d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.objid "     \
             "= " function " AND d.deptype = 'e' AND e.extname = ANY (" POSTGRES_TRUSTED_EXTENSIONS "))"

#define REVOKE(function) "'REVOKE EXECUTE ON FUNCTION ' || " function "::regprocedure || ' FROM PUBLIC, ' || " ME

const struct db_checkup postgres_checkups[] = {
    {"superuser", DB_TOO_WIDE, "no setting and no READ ONLY transaction restricts a superuser",
     "SELECT 'the role has ' || a.attribute, 'ALTER ROLE ' || " ME
     " || ' NO' || a.attribute FROM pg_catalog.pg_roles r,"
     " LATERAL (VALUES ('SUPERUSER', rolsuper), ('CREATEDB', rolcreatedb), ('CREATEROLE', rolcreaterole),"
     " ('REPLICATION', rolreplication), ('BYPASSRLS', rolbypassrls)) AS a(attribute, has)"
     " WHERE r.rolname = current_user AND a.has"},
    {"membership", DB_TOO_WIDE, "members can read and write files, run programs, or end the sessions of others",
     "SELECT 'the role is a member of ' || r.rolname, 'REVOKE ' || r.rolname || ' FROM ' || " ME
     " FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER') AND r.rolname IN"
     " ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend',"
     " 'pg_write_all_data', 'pg_read_all_settings', 'pg_monitor', 'pg_checkpoint')"},
    {"owner", DB_TOO_WIDE, "an owner has all rights on its objects",
     "SELECT 'the role owns ' || c.oid::regclass, 'ALTER TABLE ' || c.oid::regclass || ' OWNER TO another_role'"
     " FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relowner ="
     " (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = current_user) ORDER BY 1 LIMIT 20"},
    {"write", DB_TOO_WIDE, "only SELECT is needed",
     "SELECT p.privilege || ' on ' || c.oid::regclass, 'REVOKE ' || p.privilege || ' ON ' || c.oid::regclass ||"
     " ' FROM PUBLIC, ' || " ME " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace,"
     " unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS p(privilege)"
     " WHERE c.relkind IN ('r', 'p', 'v', 'f') AND s.nspname !~ '^pg_' AND s.nspname <> 'information_schema'"
     " AND pg_catalog.has_table_privilege(c.oid, p.privilege) ORDER BY 1 LIMIT 20"},
    {"create", DB_TOO_WIDE, "a created object can shadow a table or function that a query uses",
     "SELECT 'CREATE on the schema ' || pg_catalog.quote_ident(s.nspname), 'REVOKE CREATE ON SCHEMA ' ||"
     " pg_catalog.quote_ident(s.nspname) || ' FROM PUBLIC, ' || " ME " FROM pg_catalog.pg_namespace s"
     " WHERE s.nspname !~ '^pg_' AND pg_catalog.has_schema_privilege(s.oid, 'CREATE')"
     " UNION ALL SELECT p.privilege || ' on the database', 'REVOKE ' || p.privilege || ' ON DATABASE ' ||"
     " pg_catalog.quote_ident(current_database()) || ' FROM PUBLIC, ' || " ME " FROM unnest(ARRAY['CREATE', 'TEMP'])"
     " AS p(privilege) WHERE pg_catalog.has_database_privilege(current_database(), p.privilege)"},
    {"function", DB_TOO_WIDE, "its effects can survive a rollback or reach outside the database",
     "SELECT 'EXECUTE on ' || k.name || ': ' || pg_catalog.string_agg(DISTINCT p.proname, ', '),"
     " 'REVOKE EXECUTE ON FUNCTION ' || pg_catalog.string_agg(p.oid::regprocedure::text, ', ') || ' FROM PUBLIC, ' "
     "|| " ME " FROM pg_catalog.pg_proc p JOIN (VALUES ('settings', '^set_config$'), ('sleeping', '^pg_sleep'),"
     " ('advisory locks', '^pg_(try_)?advisory_'), ('large objects', '^(lo_.*|lowrite|loread)$'),"
     " ('text run as a query', '_to_xml(schema|_and_xmlschema)?$'), ('other sessions', "
     "'^pg_(terminate|cancel)_backend$'),"
     " ('files of the server', '^pg_(read_.*file|ls_.*|stat_file)$'), ('the server', '^pg_(reload_conf|rotate_logfile|"
     "promote|switch_wal|stat_reset.*|logical_emit_message|notify|export_snapshot)$')) AS k(name, pattern)"
     " ON p.proname ~ k.pattern WHERE p.pronamespace = 'pg_catalog'::regnamespace"
     " AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE') GROUP BY k.name ORDER BY k.name"},
    {"definer", DB_TOO_WIDE, "the function runs with its owner's rights",
     "SELECT 'EXECUTE on ' || p.oid::regprocedure || ', which runs as ' || pg_catalog.pg_get_userbyid(p.proowner),"
     " 'REVOKE EXECUTE ON FUNCTION ' || p.oid::regprocedure || ' FROM PUBLIC, ' || " ME
     " FROM pg_catalog.pg_proc p WHERE p.prosecdef AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')"
     " ORDER BY 1 LIMIT 20"},
    {"hidden call", DB_TOO_WIDE,
     "it can run under a built-in name or without a name; Assay refuses statements that could call it",
     "SELECT 'the ' || f.what || ' calls ' || f.function::regprocedure, " REVOKE(
         "f.function") " FROM ("
                       "SELECT p.oid, 'name of a built-in function' FROM pg_catalog.pg_proc p WHERE p.proname IN"
                       " (SELECT proname FROM pg_catalog.pg_proc WHERE oid < 16384)"
                       " UNION ALL SELECT o.oprcode::oid, 'operator ' || o.oid::regoperator FROM "
                       "pg_catalog.pg_operator o"
                       " UNION ALL SELECT c.castfunc, 'cast from ' || c.castsource::regtype || ' to ' || "
                       "c.casttarget::regtype"
                       " FROM pg_catalog.pg_cast c"
                       " UNION ALL SELECT coalesce(o.oprcode::oid, d.refobjid), 'check ' || k.conname || ' of the "
                       "domain ' ||"
                       " k.contypid::regtype FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_depend d ON d.objid = "
                       "k.oid AND d.classid"
                       " = 'pg_catalog.pg_constraint'::regclass AND d.refclassid IN ('pg_catalog.pg_proc'::regclass,"
                       " 'pg_catalog.pg_operator'::regclass) LEFT JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid "
                       "AND"
                       " d.refclassid = 'pg_catalog.pg_operator'::regclass WHERE k.contypid >= 16384"
                       ") AS f(function, what) WHERE " IS_OWN("f.function") " ORDER BY 1 LIMIT 50"},
    {"unasked call", DB_TOO_WIDE,
     "the server does not check the EXECUTE right; Assay refuses statements that could call it",
     "SELECT 'the cast from ' || c.castsource::regtype || ' to ' || c.casttarget::regtype || ' calls ' ||"
     " c.castfunc::regprocedure || ' in to_json', 'DROP CAST (' || c.castsource::regtype || ' AS ' ||"
     " c.casttarget::regtype || ')' FROM pg_catalog.pg_cast c WHERE c.castfunc >= 16384 AND c.casttarget IN"
     " ('json'::regtype, 'jsonb'::regtype) AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d JOIN"
     " pg_catalog.pg_extension e ON e.oid = d.refobjid WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND"
     " d.objid = c.castfunc AND d.deptype = 'e' AND e.extname = ANY (" POSTGRES_TRUSTED_EXTENSIONS "))"
     " UNION ALL SELECT DISTINCT 'the operator class of ' || a.type::regtype || ' calls ' ||"
     " p.oid::regprocedure, 'DROP OPERATOR FAMILY IF EXISTS ' || pg_catalog.quote_ident(s.nspname) || '.' ||"
     " pg_catalog.quote_ident(y.opfname) || ' USING ' || m.amname || ' CASCADE' FROM (SELECT amprocfamily,"
     " amproclefttype, amproc::oid FROM pg_catalog.pg_amproc UNION SELECT b.amopfamily, b.amoplefttype, o.oprcode::oid"
     " FROM pg_catalog.pg_amop b JOIN pg_catalog.pg_operator o ON o.oid = b.amopopr) AS a(family, type, function)"
     " JOIN pg_catalog.pg_opfamily y ON y.oid = a.family JOIN pg_catalog.pg_am m ON m.oid = y.opfmethod"
     " JOIN pg_catalog.pg_namespace s ON s.oid = y.opfnamespace JOIN pg_catalog.pg_proc p ON p.oid = a.function"
     " JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.oid >= 16384 AND m.amname IN ('btree', 'hash')"
     " AND l.lanname NOT IN ('internal', 'c') ORDER BY 1 LIMIT 20"},
    {"own function", DB_ADVICE,
     "x.f calls f(x); Assay refuses it unless f is a column. Views need the functions that they call",
     "SELECT 'EXECUTE on ' || p.oid::regprocedure || ', which ' || CASE WHEN p.pronargs - p.pronargdefaults <= 1 AND"
     " p.pronargs > 0 THEN 'x.' || pg_catalog.quote_ident(p.proname) || ' calls too' ELSE 'no statement needs' END,"
     " " REVOKE("p.oid") " FROM pg_catalog.pg_proc p WHERE p.prokind <> 'p' AND NOT p.prosecdef AND"
                         " p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype) AND p.proname NOT IN"
                         " (SELECT proname FROM pg_catalog.pg_proc WHERE oid < 16384) AND " IS_OWN(
                             "p.oid") " ORDER BY 1 LIMIT 20"},
    {"language", DB_TOO_WIDE, "untrusted languages bypass the rules of the database",
     "SELECT 'functions of the language ' || l.lanname || ' (' || p.oid::regprocedure || ')',"
     " 'REVOKE EXECUTE ON FUNCTION ' || p.oid::regprocedure || ' FROM PUBLIC, ' || " ME
     " FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE NOT l.lanpltrusted"
     " AND l.lanname NOT IN ('internal', 'c') AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE') LIMIT 20"},
    {"servers", DB_TOO_WIDE, "foreign servers give access outside this database",
     "SELECT 'USAGE of the foreign server ' || pg_catalog.quote_ident(s.srvname), 'REVOKE USAGE ON FOREIGN SERVER ' ||"
     " pg_catalog.quote_ident(s.srvname) || ' FROM PUBLIC, ' || " ME " FROM pg_catalog.pg_foreign_server s"
     " WHERE pg_catalog.has_server_privilege(s.oid, 'USAGE')"
     " UNION ALL SELECT 'the extension ' || extname || ' is installed', 'DROP EXTENSION ' || extname"
     " FROM pg_catalog.pg_extension WHERE extname IN ('dblink', 'file_fdw', 'adminpack')"},
    {"connections", DB_ADVICE, "too many workers could use up the connections of others",
     "SELECT 'no CONNECTION LIMIT', 'ALTER ROLE ' || " ME " || ' CONNECTION LIMIT 20' FROM pg_catalog.pg_roles"
     " WHERE rolname = current_user AND rolconnlimit < 0"},
    {"temporary files", DB_ADVICE,
     "a sort or join can fill the disk; only a superuser can set a limit, so Assay does not",
     "SELECT 'temp_file_limit is not set', 'ALTER ROLE ' || " ME " || ' SET temp_file_limit = ''1GB'''"
     " WHERE pg_catalog.current_setting('temp_file_limit') = '-1'"},
    {"timeout", DB_ADVICE, "Assay sets a timeout for each statement; a default also covers other uses of the role",
     "SELECT 'statement_timeout has no default', 'ALTER ROLE ' || " ME " || ' SET statement_timeout = ''10s'''"
     " WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_db_role_setting d, unnest(d.setconfig) AS s WHERE d.setrole IN"
     " (0, (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = current_user)) AND s LIKE 'statement_timeout=%')"},
    {"encryption", DB_ADVICE, "the password and the data are sent unencrypted",
     "SELECT 'the connection is not encrypted', NULL FROM pg_catalog.pg_stat_ssl WHERE pid ="
     " pg_catalog.pg_backend_pid() AND NOT ssl AND pg_catalog.inet_server_addr() IS NOT NULL"
     " AND NOT pg_catalog.inet_server_addr() <<= '127.0.0.0/8'::inet"},
    {"nothing to read", DB_ADVICE, "Assay sees only what the role may read",
     "SELECT 'SELECT is missing on ' || c.oid::regclass, 'GRANT SELECT ON ' || c.oid::regclass || ' TO ' || " ME
     " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace WHERE c.relkind IN"
     " ('r', 'p', 'v', 'm') AND s.nspname = ANY (current_schemas(false)) AND NOT c.relispartition"
     " AND NOT pg_catalog.has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1 LIMIT 20"},
    {NULL},
};
