# Hostile statements for PostgreSQL, each run as a superuser and as a role that may only read: "### name: class", then one
# statement to the next blank line. Classes as in sqlite.sql; "said no" is refused or engine: which of the two depends on
# how much of it our parser reads. Tables: t(id, name, body), big(n) with 20,000 rows; a function evil() whose effect READ ONLY
# does not prevent.

### write a row: refused
INSERT INTO t VALUES (99, 'x', 'y')

### write with an answer: refused
INSERT INTO t VALUES (99, 'x', 'y') RETURNING id

### write inside a CTE: said no
WITH w AS (INSERT INTO t VALUES (99, 'x', 'y') RETURNING id) SELECT * FROM w

### delete inside a CTE: said no
WITH w AS (DELETE FROM t RETURNING id) SELECT * FROM w

### update: refused
UPDATE t SET name = 'x'

### truncate: said no
TRUNCATE t

### drop: refused
DROP TABLE t

### create: refused
CREATE TABLE evil(a int)

### create from a query: refused
CREATE TABLE evil AS SELECT * FROM t

### select into: said no
SELECT * INTO evil FROM t

### temp table: refused
CREATE TEMP TABLE evil(a int)

### run a program: said no
COPY (SELECT 1) TO PROGRAM 'touch /tmp/assay-hostile-program'

### write a file: said no
COPY t TO '/tmp/assay-hostile-copy'

### read a file with copy: said no
COPY t FROM '/etc/passwd'

### read a file: refused
SELECT pg_read_file('/etc/passwd')

### read a file by its schema: refused
SELECT pg_catalog.pg_read_file('/etc/passwd')

### read a file in another case: refused
SELECT PG_Read_File('/etc/passwd')

### read a file by a quoted name: refused
SELECT "pg_read_file"('/etc/passwd')

### read a file by an escaped name: said no
SELECT U&"pg\005fread_file"('/etc/passwd')

### read a file as an attribute: refused
SELECT ('/etc/passwd'::text).pg_read_file

### read a file as a column: refused
SELECT a.pg_read_file FROM lower('/etc/passwd') AS a

### own function as an attribute: refused
SELECT (1).evil

### own function as a column of a function: refused
SELECT a.evil FROM abs(1) AS a

### own function: refused
SELECT evil()

### own function by its schema: refused
SELECT public.evil()

### own function in FROM: refused
SELECT * FROM evil()

### own function among rows from: refused
SELECT * FROM ROWS FROM (evil(), generate_series(1, 2)) AS x

### own function in a window: refused
SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN (SELECT evil()) PRECEDING AND CURRENT ROW) FROM big

### own function in a filter: refused
SELECT count(*) FILTER (WHERE evil() > 0) FROM t

### own function in a limit: refused
SELECT 1 FROM t LIMIT evil()

### own function in a sample: refused
SELECT 1 FROM t TABLESAMPLE BERNOULLI (evil())

### own function in the seed of a sample: refused
SELECT 1 FROM t TABLESAMPLE BERNOULLI (10) REPEATABLE (evil())

### an allowed name in a foreign schema: refused
SELECT public.lower('x')

### read bytes of a file: refused
SELECT pg_read_binary_file('/etc/passwd')

### list a folder: refused
SELECT * FROM pg_ls_dir('/')

### a file's size: refused
SELECT * FROM pg_stat_file('/etc/passwd')

### import a file: refused
SELECT lo_import('/etc/passwd')

### export a file: refused
SELECT lo_export(1, '/tmp/assay-hostile-export')

### make a large object: refused
SELECT lo_create(0)

### large object from bytes: refused
SELECT lo_from_bytea(0, 'x')

### settings that stick: refused
SELECT set_config('statement_timeout', '0', false)

### settings for the transaction: refused
SELECT set_config('transaction_read_only', 'off', true)

### SET: said no
SET statement_timeout = 0

### RESET: said no
RESET ALL

### leave the transaction: said no
COMMIT

### begin another one: said no
START TRANSACTION READ WRITE

### a second statement: said no
SELECT 1; SELECT 2

### a second statement that commits: said no
SELECT 1; COMMIT; INSERT INTO t VALUES (99, 'x', 'y')

### another role: said no
SET ROLE postgres

### do block: said no
DO $$ BEGIN PERFORM 1; END $$

### call: said no
CALL evil()

### prepare: said no
PREPARE evil AS SELECT 1

### execute: said no
EXECUTE evil

### close our cursor: said no
CLOSE ALL

### another cursor: said no
DECLARE evil CURSOR WITH HOLD FOR SELECT 1

### listen: said no
LISTEN evil

### notify: refused
SELECT pg_notify('evil', 'x')

### notify as a statement: said no
NOTIFY evil

### load a library: said no
LOAD 'evil'

### lock a table: said no
LOCK TABLE t IN ACCESS EXCLUSIVE MODE

### lock rows: said no
SELECT * FROM t FOR UPDATE

### advisory lock: refused
SELECT pg_advisory_lock(1)

### advisory lock in a condition: refused
SELECT 1 FROM t WHERE pg_try_advisory_lock(id)

### end the others: refused
SELECT pg_terminate_backend(pid) FROM pg_stat_activity

### cancel the others: refused
SELECT pg_cancel_backend(pid) FROM pg_stat_activity

### reload: refused
SELECT pg_reload_conf()

### sleep: refused
SELECT pg_sleep(100)

### sleep until: refused
SELECT pg_sleep_until(now() + interval '1 hour')

### run text: refused
SELECT query_to_xml('DELETE FROM t', true, false, '')

### run text over a database: refused
SELECT database_to_xml(true, false, '')

### another server: refused
SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS x(a int)

### a sequence: refused
SELECT nextval('s')

### set a sequence: refused
SELECT setval('s', 100)

### passwords: refused
SELECT rolname, rolpassword FROM pg_authid

### passwords by the schema: refused
SELECT * FROM pg_catalog.pg_shadow

### what others run: refused
SELECT query FROM pg_stat_activity

### the information schema: refused
SELECT * FROM information_schema.tables

### settings of the server: refused
SELECT current_setting('data_directory')

### show: said no
SHOW data_directory

### explain analyze: said no
EXPLAIN ANALYZE SELECT evil()

### code behind a nested comment: said no
SELECT 1 /* /* */ ' */, pg_read_file('/etc/passwd') /* ' */

### own function behind a nested comment: said no
SELECT 1 /* /* */ ' */, evil() /* ' */

### own function behind square brackets: said no
SELECT ARRAY[1] [evil()]

### vacuum: refused
VACUUM

### checkpoint: said no
CHECKPOINT

### alter the system: refused
ALTER SYSTEM SET work_mem = '1GB'

### alter a role: refused
ALTER ROLE CURRENT_USER SUPERUSER

### grant: said no
GRANT ALL ON t TO PUBLIC

### endless recursion: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c

### endless rows: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c

### endless series: limit
SELECT count(*) FROM generate_series(1, 1000000000000)

### product of tables: limit
SELECT count(*) FROM big a, big b, big c

### a sort of a product: limit
SELECT a.n FROM big a, big b ORDER BY a.n + b.n DESC LIMIT 1

### a text of a gigabyte: refused
SELECT repeat('x', 1000000000)

### a text past the largest: refused
SELECT repeat('x', 2000000000) || repeat('x', 2000000000)

### many large texts: limit
SELECT repeat('x', 1000000) FROM big

### all in one: limit
SELECT string_agg(repeat('x', 100000), ',') FROM big

### an array of everything: limit
SELECT array_agg(a.n) FROM big a, big b

### a slow pattern: bounded
SELECT repeat('a', 5000) ~ '(a*)*(a*)*(a*)*b\1'

### a slow LIKE: refused
SELECT repeat('a', 100000) LIKE repeat('%a', 5000) || 'b'

### a date by a long format: refused
SELECT to_date(repeat('1', 1000000), repeat('YYYY', 1000000))

### a translation of a long text: refused
SELECT translate(repeat('a', 1000000), repeat('b', 10000), '')

### a search for a long text: refused
SELECT strpos(repeat('a', 10000000), 'b' || repeat('a', 10000))

### a replacement of a long text: refused
SELECT replace(repeat('a', 10000000), 'b' || repeat('a', 10000), '')

### a trim by many characters: refused
SELECT btrim(repeat('a', 10000000), repeat('b', 1000) || 'a')

### a width of a gigabyte: refused
SELECT format('%1000000000s', 'x')

### a width from an argument: refused
SELECT format('%*s', 1000000000, 'x')

### a number by a long format: refused
SELECT to_char(1, repeat('9', 100000))

### a cast of a long text to jsonb: refused
SELECT (('[' || repeat('{"a":1},', 1000000) || '1]')::jsonb)::text

### a deep document made pretty: refused
SELECT jsonb_pretty(('[' || repeat('[', 6000) || repeat(']', 6000) || ',1]')::jsonb)

### a long path into a document: refused
SELECT jsonb_path_query('[1]', ('$' || repeat('[*]', 100000))::jsonpath)

### a long pattern: refused
SELECT 'a' ~ repeat('a?', 100000)

### arrays of all that meet: refused
SELECT array_agg(a.n) && array_agg(-a.n) FROM big a

### numbers of many digits: refused
SELECT repeat('9', 130000)::numeric * repeat('9', 130000)::numeric

### a long text from a subquery: refused
SELECT translate(x, x, '') FROM (SELECT repeat('a', 1000000) AS x) q

### a text that doubles: refused
WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT translate(x, 'abc', '') FROM c

### a count of which nothing is known: engine
SELECT repeat('x', n * 1000000) FROM big

### a padding of which nothing is known: engine
SELECT upper(lpad('x', n * 1000000)) FROM big

### a count that is null: ok
SELECT repeat('x', NULL::integer), repeat('x', n) FROM big LIMIT 3

### factorial: bounded
SELECT factorial(30000)

### power: said no
SELECT 10.0 ^ 100000000000

### divide by zero: engine
SELECT 1 / 0

### an unknown table: engine
SELECT * FROM nowhere

### an unclosed string: said no
SELECT 'x

### an unclosed comment: said no
SELECT 1 /*

### nothing: said no
;

### a comment: said no
-- nothing

### a NUL: encoding
SELECT 1\0

### a harmless query: ok
SELECT name FROM t ORDER BY id

### a harmless call by its schema: ok
SELECT pg_catalog.lower('X')

### a harmless function in FROM: ok
SELECT g.g, x.value FROM generate_series(1, 3) AS g, json_each_text('{"a":1}') AS x
