# Hostile statements for MariaDB, each run as an account that may do all, as one that may read and write, and as one that may
# only read: "### name: class", then one statement to the next blank line. Classes as in postgres.sql. Tables: t(id, name,
# body), big(n) with 20,000 rows; a function evil() that writes, one called sum, a sequence s, a view of evil() (writes).

### write a row: refused
INSERT INTO t VALUES (99, 'x', 'y')

### write with an answer: refused
INSERT INTO t VALUES (99, 'x', 'y') RETURNING id

### replace a row: refused
REPLACE INTO t VALUES (1, 'x', 'y')

### update: refused
UPDATE t SET name = 'x'

### delete: refused
DELETE FROM t

### write inside a CTE: said no
WITH w AS (DELETE FROM t RETURNING id) SELECT * FROM w

### truncate: said no
TRUNCATE t

### drop: refused
DROP TABLE t

### create: refused
CREATE TABLE evil(a int)

### create from a query: refused
CREATE TABLE evil AS SELECT * FROM t

### temporary table: refused
CREATE TEMPORARY TABLE evil(a int)

### write a file: said no
SELECT 'x' INTO OUTFILE '/tmp/assay-hostile-outfile'

### write a file behind a table: said no
SELECT name FROM t INTO OUTFILE '/tmp/assay-hostile-outfile' FIELDS TERMINATED BY ','

### dump a file: said no
SELECT name FROM t LIMIT 1 INTO DUMPFILE '/tmp/assay-hostile-dumpfile'

### into a variable: refused
SELECT name INTO @x FROM t LIMIT 1

### read a file: refused
SELECT LOAD_FILE('/etc/passwd')

### read a file, in quotes: refused
SELECT `load_file`('/etc/passwd')

### load data: said no
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t

### wait: refused
SELECT SLEEP(10)

### wait in a condition: refused
SELECT 1 FROM t WHERE SLEEP(10)

### wait in a limit: refused
SELECT 1 FROM t ORDER BY SLEEP(10)

### burn: refused
SELECT BENCHMARK(1000000000, MD5('x'))

### a lock with a name: refused
SELECT GET_LOCK('x', 10)

### release a lock: refused
SELECT RELEASE_ALL_LOCKS()

### wait for a replica: refused
SELECT MASTER_POS_WAIT('x', 4, 10)

### a user variable: refused
SELECT @x

### set a user variable: refused
SELECT @x := 1

### set one in a condition: refused
SELECT id FROM t WHERE (@x := id) > 0

### a variable of the server: refused
SELECT @@datadir

### a variable of the session: refused
SELECT @@session.sql_mode

### SET: said no
SET SESSION sql_mode = ''

### SET for a statement: said no
SET STATEMENT max_statement_time = 0 FOR SELECT 1

### leave the transaction: said no
COMMIT

### begin another one: said no
START TRANSACTION READ WRITE

### a second statement: said no
SELECT 1; SELECT 2

### a second statement that writes: said no
SELECT 1; INSERT INTO t VALUES (99, 'x', 'y')

### a comment that runs: refused
SELECT 1 /*! , SLEEP(10) */

### a comment that runs by version: refused
SELECT 1 /*!50000 INTO OUTFILE '/tmp/assay-hostile-outfile' */

### a comment that runs on MariaDB: refused
SELECT 1 /*M! , SLEEP(10) */

### a comment that runs, in the middle of a word: refused
SELECT/*!99999 x*/1

### a hint: refused
SELECT /*+ SET_VAR(sql_mode = '') */ 1

### a comment after a hash: refused
SELECT 1 # ' , SLEEP(10)

### a hash that we would take for an operator: refused
SELECT 1 #/* , SLEEP(10)

### dashes that are no comment: refused
SELECT 1 --1 , SLEEP(10)

### dashes that are no comment, over lines: refused
SELECT 5--'
+ SLEEP(10) -- '

### a string that we would end later: said no
SELECT E'\' , SLEEP(10) , '\''

### a string in dollars: said no
SELECT $$ ' $$ , SLEEP(10) , $$ ' $$

### a name in brackets: said no
SELECT 1 [ ' ] , SLEEP(10) , [ ' ]

### a string with a character set: said no
SELECT _latin1'x' , SLEEP(10)

### a backslash before a quote: said no
SELECT 'x\' , SLEEP(10) , '

### a backslash before a double quote: said no
SELECT "x\" , SLEEP(10) , "

### own function: refused
SELECT evil()

### own function by its database: refused
SELECT test.evil()

### own function in quotes: refused
SELECT `evil`()

### own function in a condition: refused
SELECT id FROM t WHERE evil() > 0

### own function in FROM: refused
SELECT * FROM evil() AS x

### own function in a window: refused
SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN evil() PRECEDING AND CURRENT ROW) FROM big

### own function with the name of an allowed one, and a blank: refused
SELECT sum (id) FROM t

### the same with a comment: refused
SELECT sum/**/(id) FROM t

### the same in quotes: refused
SELECT `sum`(id) FROM t

### the same by a database: refused
SELECT test.sum(id) FROM t

### a view that calls what writes: said no
SELECT * FROM writes

### the next of a sequence: said no
SELECT NEXT VALUE FOR s

### the next of a sequence by its function: refused
SELECT NEXTVAL(s)

### set a sequence: refused
SELECT SETVAL(s, 100)

### a key that was made last: refused
SELECT LAST_INSERT_ID(5)

### lock rows: said no
SELECT * FROM t FOR UPDATE

### lock rows for reading: said no
SELECT * FROM t LOCK IN SHARE MODE

### analyse: said no
SELECT * FROM t PROCEDURE ANALYSE(10)

### call: said no
CALL evil()

### do: said no
DO SLEEP(10)

### handler: said no
HANDLER t OPEN

### prepare: said no
PREPARE x FROM 'DROP TABLE t'

### execute at once: said no
EXECUTE IMMEDIATE 'DROP TABLE t'

### lock a table: said no
LOCK TABLES t WRITE

### flush: said no
FLUSH TABLES

### kill: said no
KILL 1

### install: said no
INSTALL SONAME 'ha_connect'

### explain what runs: said no
ANALYZE SELECT SLEEP(1)

### accounts: refused
SELECT * FROM mysql.global_priv

### accounts by a name in quotes: refused
SELECT * FROM `mysql`.`user`

### accounts in a subquery: refused
SELECT (SELECT authentication_string FROM MySQL.user LIMIT 1)

### what others run: refused
SELECT * FROM information_schema.processlist

### the server's own state: refused
SELECT * FROM performance_schema.threads

### change what XML says: refused
SELECT UPDATEXML('<a/>', '/a', '<b/>')

### an error that quotes what it read: refused
SELECT EXTRACTVALUE(1, CONCAT('~', (SELECT name FROM t LIMIT 1)))

### a subquery of several rows: engine
SELECT (SELECT id FROM t)

### a join without an end: limit
SELECT count(*) FROM big a, big b, big c

### a join with a sort: limit
SELECT a.n + b.n AS x FROM big a, big b ORDER BY x

### recursion without an end: bounded
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r, big a, big b

### a made table without an end: limit
SELECT count(*) FROM seq_1_to_100000000000 WHERE seq % 7 = 8

### a long text: refused
SELECT repeat('x', 1000000000)

### long texts in rows: limit
SELECT repeat('x', 10000000) FROM big

### one long list: bounded
SELECT length(group_concat(repeat('x', 10000))) FROM big

### a replacement in a long text: refused
SELECT REPLACE(REPEAT('a', 1000000), 'a', 'bb')

### a search for a long text in another: refused
SELECT LOCATE(CONCAT(REPEAT('a', 10000), 'b'), REPEAT('a', 1000000))

### the same the other way around: refused
SELECT INSTR(REPEAT('a', 1000000), CONCAT(REPEAT('a', 10000), 'b'))

### an index by a long text: refused
SELECT SUBSTRING_INDEX(REPEAT('a', 1000000), CONCAT(REPEAT('a', 10000), 'b'), -40)

### a long LIKE: refused
SELECT REPEAT('a', 1000000) LIKE CONCAT('%', REPEAT('a', 1000), 'b')

### a trim of a long text: refused
SELECT TRIM('a' FROM REPEAT('a', 16000000))

### a long text backwards: refused
SELECT REVERSE(REPEAT('a', 16000000))

### a long text in hex: refused
SELECT HEX(REPEAT('a', 8000000))

### a pattern that replaces in a long text: refused
SELECT REGEXP_REPLACE(REPEAT('a', 100000), 'a', 'b')

### a pattern on a long text: refused
SELECT CONCAT(REPEAT('a', 16000000), 'b') REGEXP 'a*a*b'

### patterns that go back: refused
SELECT CONCAT(REPEAT('a', 30), 'b') REGEXP '^(a+)+$', CONCAT(REPEAT('a', 30), 'b') REGEXP '^(a|aa)+$'

### a long document: refused
SELECT JSON_EXTRACT(CONCAT('[', REPEAT('1,', 7000000), '1]'), '$[*]')

### a long path into a document: refused
SELECT JSON_EXTRACT('[1]', CONCAT('$', REPEAT('[0]', 100000)))

### documents that meet: refused
SELECT JSON_CONTAINS(CONCAT('[', REPEAT('2,', 100000), '1]'), CONCAT('[', REPEAT('2,', 100000), '1]'))

### a date in a long format: refused
SELECT DATE_FORMAT(NOW(), REPEAT('%Y', 1000000))

### a date by a long format: refused
SELECT STR_TO_DATE(REPEAT('1', 1000000), REPEAT('%Y', 1000000))

### a set of many: refused
SELECT FIND_IN_SET('b', REPEAT('a,', 8000000))

### a long text from a subquery: refused
SELECT REPLACE(x, x, '') FROM (SELECT REPEAT('a', 1000000) AS x) q

### a long text by an alias: refused
SELECT REPEAT('a', 1000000) AS x FROM t HAVING REPLACE(x, x, 'y') = 1

### a count of which nothing is known: bounded
SELECT LENGTH(REPEAT('x', n * 1000000)) FROM big

### a pattern that goes back: bounded
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '^(a+)+$'

### a delay in the value of JSON_TABLE: refused
SELECT * FROM JSON_TABLE(sleep(5), '$' COLUMNS (a int PATH '$')) AS t

### a delay in a full-text search: refused
SELECT 1 FROM t WHERE MATCH(a) AGAINST (sleep(5) IN BOOLEAN MODE)

### a delay behind BINARY: refused
SELECT BINARY sleep(5), !sleep(5)

### a delay in CONVERT to a type: refused
SELECT CONVERT(sleep(5), SIGNED)

### a delay after a word of SELECT: refused
SELECT SQL_NO_CACHE sleep(5) FROM dual

### a delay in a row and in INTERVAL: refused
SELECT ROW(1, sleep(5)) = ROW(1, 2), INTERVAL(1, sleep(5))

### a NUL: encoding
SELECT 'a'\0
