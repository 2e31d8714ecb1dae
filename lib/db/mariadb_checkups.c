/* Checks for `assay doctor` that find rights of a MariaDB account beyond reading. */
#include "lib/db/db_engine.h"

/* The account in the format of information_schema and GRANT: 'user'@'host'. */
#define ME                                                                                                             \
    "CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')"

/* Privileges that permit only reading. EXECUTE is in the list because a separate check covers it. */
#define HARMLESS "('USAGE', 'SELECT', 'SHOW VIEW', 'SHOW DATABASES', 'EXECUTE')"

const struct db_checkup mariadb_checkups[] = {
    {"global", DB_TOO_WIDE, "the privilege applies to every database; some privileges reach files and other sessions",
     "SELECT CONCAT('the account has ', privilege_type, ' on *.*'), CONCAT('REVOKE ', privilege_type, ' ON *.* FROM ', "
     "grantee) FROM information_schema.user_privileges WHERE grantee = " ME " AND privilege_type NOT IN " HARMLESS
     " ORDER BY 1 LIMIT 40"},
    {"write", DB_TOO_WIDE, "only SELECT is needed",
     "SELECT CONCAT(privilege_type, ' on the database ', table_schema), CONCAT('REVOKE ', privilege_type, ' ON `',"
     " table_schema, '`.* FROM ', grantee) FROM information_schema.schema_privileges WHERE grantee = " ME
     " AND privilege_type NOT IN " HARMLESS " UNION ALL SELECT CONCAT(privilege_type, ' on ', table_schema, '.', "
     "table_name), CONCAT('REVOKE ', privilege_type,"
     " ' ON `', table_schema, '`.`', table_name, '` FROM ', grantee) FROM information_schema.table_privileges"
     " WHERE grantee = " ME " AND privilege_type NOT IN " HARMLESS " ORDER BY 1 LIMIT 40"},
    {"grant", DB_TOO_WIDE, "the account can pass its privileges on",
     "SELECT DISTINCT CONCAT('GRANT OPTION on ', scope), CONCAT('REVOKE GRANT OPTION ON ', scope, ' FROM ', " ME
     ") FROM"
     " (SELECT '*.*' AS scope FROM information_schema.user_privileges WHERE grantee = " ME " AND is_grantable = 'YES'"
     " UNION ALL SELECT CONCAT('`', table_schema, '`.*') FROM information_schema.schema_privileges WHERE grantee = " ME
     " AND is_grantable = 'YES') AS scopes"},
    {"everywhere", DB_ADVICE, "one of the databases contains the password hashes of all accounts",
     "SELECT 'SELECT on *.*', CONCAT('REVOKE SELECT ON *.* FROM ', grantee, '; GRANT SELECT ON `', DATABASE(), '`.* TO "
     "',"
     " grantee) FROM information_schema.user_privileges WHERE grantee = " ME " AND privilege_type = 'SELECT'"},
    {"function", DB_ADVICE, "Assay refuses user-defined functions; views need the functions that they call",
     "SELECT CONCAT('EXECUTE on ', scope), CONCAT('REVOKE EXECUTE ON ', scope, ' FROM ', " ME ") FROM"
     " (SELECT '*.*' AS scope FROM information_schema.user_privileges WHERE grantee = " ME
     " AND privilege_type = 'EXECUTE' UNION ALL SELECT CONCAT('`', table_schema, '`.*') FROM"
     " information_schema.schema_privileges WHERE grantee = " ME " AND privilege_type = 'EXECUTE') AS scopes"},
    {"connections", DB_ADVICE, "too many workers could use up the connections of others",
     "SELECT 'no MAX_USER_CONNECTIONS', CONCAT('ALTER USER ', " ME ", ' WITH MAX_USER_CONNECTIONS 20') FROM DUAL WHERE"
     " @@max_user_connections = 0"},
    {"encryption", DB_ADVICE, "the password and the data are sent unencrypted",
     "SELECT 'the connection is not encrypted', NULL FROM information_schema.session_status WHERE variable_name ="
     " 'SSL_CIPHER' AND variable_value = '' AND SUBSTRING_INDEX(USER(), '@', -1) NOT IN ('localhost', '127.0.0.1', "
     "'::1')"},
    {NULL},
};
