# Hostile statements and what becomes of each: "### name: class", then one statement to the next blank line.
#   refused   not allowed; nothing ran
#   limit     stopped by one of the bounds (any limit_* class)
#   engine    SQLite itself says no
#   encoding  not a text that SQL can be
#   ok        answers, inside the bounds
#   bounded   ok or limit: depends on the machine, never on its mercy
# \0 stands for a NUL byte. The test adds generated ones that are too long to write down. Tables: t(id, name, body), big(n) with 20,000 rows.

### write a row: refused
INSERT INTO t VALUES (99, 'x', 'y')

### write with an answer: refused
INSERT INTO t VALUES (99, 'x', 'y') RETURNING id

### update: refused
UPDATE t SET name = 'x'

### update with an answer: refused
UPDATE t SET name = 'x' RETURNING name

### delete: refused
DELETE FROM t WHERE id = 1

### replace: refused
REPLACE INTO t VALUES (1, 'x', 'y')

### write behind a CTE: refused
WITH c AS (SELECT 1) INSERT INTO t SELECT 5, 'a', 'b' FROM c

### drop: refused
DROP TABLE t

### create: refused
CREATE TABLE evil(a)

### create from a query: refused
CREATE TABLE evil AS SELECT * FROM t

### temp table: refused
CREATE TEMP TABLE evil(a)

### temp view: refused
CREATE TEMP VIEW evil AS SELECT 1

### trigger: refused
CREATE TRIGGER evil AFTER INSERT ON t BEGIN DELETE FROM t; END

### index: refused
CREATE INDEX evil ON t(name)

### alter: refused
ALTER TABLE t RENAME TO gone

### virtual table: refused
CREATE VIRTUAL TABLE evil USING fts5(a)

### virtual table over the dbpage: refused
CREATE VIRTUAL TABLE evil USING rtree(a, b, c)

### begin: refused
BEGIN EXCLUSIVE

### commit: refused
COMMIT

### savepoint: refused
SAVEPOINT a

### analyze: refused
ANALYZE

### reindex: refused
REINDEX

### vacuum: refused
VACUUM

### vacuum into a file: refused
VACUUM INTO '/tmp/assay-hostile-copy.sqlite'

### attach a file: refused
ATTACH '/etc/passwd' AS p

### attach a new file: refused
ATTACH DATABASE 'evil.sqlite' AS evil

### attach by expression: refused
ATTACH (SELECT 'evil' || '.sqlite') AS evil

### detach: refused
DETACH main

### pragma that sets: refused
PRAGMA journal_mode = WAL

### pragma that opens the schema: refused
PRAGMA writable_schema = 1

### pragma that undoes a bound: refused
PRAGMA hard_heap_limit = 0

### pragma that undoes read-only: refused
PRAGMA query_only = 0

### pragma that names a folder: refused
PRAGMA temp_store_directory = '/tmp'

### pragma that reads: refused
PRAGMA database_list

### pragma that is let through to FTS: refused
PRAGMA data_version

### integrity check: refused
PRAGMA integrity_check

### pragma function: refused
SELECT * FROM pragma_database_list

### pragma function with an argument: refused
SELECT name FROM pragma_table_info('t')

### pragma function that only counts: refused
SELECT count(*) FROM pragma_database_list

### pragma function in a subquery: refused
SELECT id FROM t WHERE name IN (SELECT file FROM Pragma_Database_List)

### pragma function in quotes: refused
SELECT * FROM "pragma_compile_options"

### the schema table: refused
SELECT sql FROM sqlite_master

### the schema table by its other name: refused
SELECT name FROM sqlite_schema

### the schema table, counted: refused
SELECT count(*) FROM sqlite_master

### the temp schema: refused
SELECT * FROM sqlite_temp_master

### the schema table through a CTE: refused
WITH s AS (SELECT * FROM main.sqlite_master) SELECT * FROM s

### write the schema table: refused
UPDATE sqlite_master SET sql = 'CREATE TABLE t(evil)'

### write the schema table with an answer: refused
UPDATE sqlite_master SET sql = '' RETURNING *

### delete from the schema table: refused
DELETE FROM sqlite_master

### statistics table of the engine: engine
SELECT * FROM dbstat

### pages as rows: engine
SELECT data FROM sqlite_dbpage WHERE pgno = 1

### statements of the connection: engine
SELECT * FROM sqlite_stmt

### tokenizer as a table: engine
SELECT * FROM fts3tokenize

### tokenizer pointer: refused
SELECT hex(fts3_tokenizer('simple'))

### tokenizer overwritten: refused
SELECT fts3_tokenizer('simple', x'4141414141414141')

### load an extension: refused
SELECT load_extension('/tmp/evil.so')

### load an extension with an entry: refused
SELECT load_extension('evil', 'init')

### read a file: engine
SELECT readfile('/etc/passwd')

### write a file: engine
SELECT writefile('/tmp/assay-hostile-file', 'x')

### start an editor: engine
SELECT edit('x', 'touch /tmp/assay-hostile-file')

### read a file through a csv table: engine
SELECT * FROM csv('/etc/passwd')

### walk the file system: engine
SELECT name FROM fsdir('/etc')

### run a program: engine
SELECT system('touch /tmp/assay-hostile-file')

### log through the engine: refused
SELECT sqlite_log(1, 'x')

### check an rtree: refused
SELECT rtreecheck('t')

### optimise a full-text table: refused
SELECT optimize(t) FROM t

### explain: refused
EXPLAIN SELECT * FROM t

### explain a plan: refused
EXPLAIN QUERY PLAN SELECT * FROM t

### explain a write: refused
EXPLAIN DELETE FROM t

### two statements: refused
SELECT 1; SELECT 2

### a write behind a query: refused
SELECT 1; DROP TABLE t

### a write behind a query and a comment: refused
SELECT 1; /* nothing here */ -- nor here
DROP TABLE t

### a write after many semicolons: refused
SELECT 1;;;; DELETE FROM t;

### a write that a comment seems to hide: refused
/* SELECT 1 */ DELETE FROM t /* WHERE 1 = 0 */

### a write that a line comment seems to hide: refused
-- SELECT 1
DELETE FROM t

### a comment that never ends: ok
SELECT 1 /* and so on

### a comment that never ends behind a statement: ok
SELECT 1; /* DROP TABLE t;

### nested comments: engine
SELECT 1 /* /* */ */

### only a comment: engine
/* SELECT 1 */

### only an open comment: engine
/* SELECT 1

### only semicolons: engine
;;;

### a string that never ends: engine
SELECT 'abc

### a name that never ends: engine
SELECT "abc

### a NUL inside: encoding
SELECT 1\0; DROP TABLE t

### a NUL in a string: encoding
SELECT 'a\0b'

### a NUL at the end: encoding
SELECT 1\0

### endless recursion: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c

### endless recursion that hands out rows: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c

### endless recursion that grows a set: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT max(x) FROM c

### endless recursion that doubles a string: limit
WITH RECURSIVE c(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM c) SELECT max(length(s)) FROM c

### endless recursion with fat rows: limit
WITH RECURSIVE c(x, b) AS (SELECT 1, zeroblob(100000) UNION ALL SELECT x + 1, randomblob(100000) FROM c) SELECT count(DISTINCT b) FROM c

### two recursions multiplied: limit
WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a), b(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM b) SELECT count(*) FROM a, b

### recursion with a queue that grows: limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + n FROM c, big) SELECT count(*) FROM c

### a bomb of CTEs: bounded
WITH a AS (SELECT 1 AS x UNION ALL SELECT 2), b AS (SELECT p.x FROM a p, a q, a r), c AS (SELECT p.x FROM b p, b q, b r), d AS (SELECT p.x FROM c p, c q, c r), e AS (SELECT p.x FROM d p, d q, d r) SELECT count(*) FROM e

### a bomb of nested CTEs: bounded
WITH a AS (SELECT 1 AS x LIMIT 5), b AS (SELECT p.x FROM a p, a q LIMIT 5), c AS (SELECT p.x FROM b p, b q LIMIT 5), d AS (SELECT p.x FROM c p, c q LIMIT 5), e AS (SELECT p.x FROM d p, d q LIMIT 5), f AS (SELECT p.x FROM e p, e q LIMIT 5), g AS (SELECT p.x FROM f p, f q LIMIT 5), h AS (SELECT p.x FROM g p, g q LIMIT 5), i AS (SELECT p.x FROM h p, h q LIMIT 5), j AS (SELECT p.x FROM i p, i q LIMIT 5), k AS (SELECT p.x FROM j p, j q LIMIT 5), l AS (SELECT p.x FROM k p, k q LIMIT 5), m AS (SELECT p.x FROM l p, l q LIMIT 5), n AS (SELECT p.x FROM m p, m q LIMIT 5), o AS (SELECT p.x FROM n p, n q LIMIT 5), p AS (SELECT p.x FROM o p, o q LIMIT 5), q AS (SELECT p.x FROM p p, p q LIMIT 5), r AS (SELECT p.x FROM q p, q q LIMIT 5), s AS (SELECT p.x FROM r p, r q LIMIT 5), u AS (SELECT p.x FROM s p, s q LIMIT 5) SELECT count(*) FROM u

### a bomb of joins: limit
SELECT count(*) FROM big a, big b, big c, big d

### a bomb of joins with rows: limit
SELECT a.n, b.n, c.n FROM big a, big b, big c

### a bomb of joins, sorted: limit
SELECT a.n FROM big a, big b ORDER BY a.n * b.n

### a bomb of joins, distinct: limit
SELECT count(DISTINCT a.n * 100000 + b.n) FROM big a, big b

### a bomb of joins, grouped: limit
SELECT a.n, b.n, count(*) FROM big a, big b GROUP BY a.n, b.n

### a natural join of everything: limit
SELECT count(*) FROM big a CROSS JOIN big b CROSS JOIN big c

### correlated without an index: bounded
SELECT count(*) FROM big a WHERE (SELECT count(*) FROM big b WHERE b.n % 7 = a.n % 7) > (SELECT count(*) FROM big c WHERE c.n % 5 = a.n % 5)

### a window over a bomb: limit
SELECT sum(a.n) OVER (ORDER BY b.n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM big a, big b

### a quadratic window: bounded
SELECT max(m) FROM (SELECT count(*) OVER (ORDER BY n RANGE BETWEEN 10000 PRECEDING AND 10000 FOLLOWING EXCLUDE CURRENT ROW) AS m FROM big)

### a long string aggregate in a window: limit
SELECT max(length(s)) FROM (SELECT group_concat(hex(zeroblob(1000))) OVER (ORDER BY n) AS s FROM big)

### a blob of a gigabyte: limit
SELECT length(zeroblob(1000000000))

### a blob past all bounds: limit
SELECT zeroblob(9223372036854775807)

### a random blob: limit
SELECT length(randomblob(2000000000))

### random blobs in every row: limit
SELECT randomblob(1000000) FROM big

### hex of a blob: limit
SELECT hex(zeroblob(3000000))

### hex of hex: limit
SELECT length(hex(hex(hex(zeroblob(1000000)))))

### growth by replace: limit
SELECT length(replace(hex(zeroblob(50000)), '0', 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee'))

### growth by replace of nothing: ok
SELECT length(replace('abc', '', 'x'))

### growth by concatenation: limit
SELECT length(a || a || a || a || a || a) FROM (SELECT hex(zeroblob(1000000)) AS a)

### growth by group_concat: limit
SELECT length(group_concat(hex(zeroblob(1000)))) FROM big

### growth by a json array: limit
SELECT length(json_group_array(hex(zeroblob(1000)))) FROM big

### growth by a json object: limit
SELECT length(json_group_object(n, hex(zeroblob(1000)))) FROM big

### a printf width: limit
SELECT length(printf('%2000000000d', 1))

### a printf width from an argument: limit
SELECT length(printf('%.*c', 2000000000, 'x'))

### a printf star: limit
SELECT printf('%*s', 2000000000, 'x')

### a printf precision: bounded
SELECT length(printf('%.100000000f', 1.0))

### format under its other name: limit
SELECT length(format('%.*c', 1000000000, 'x'))

### a printf of stars and texts: limit
SELECT printf('%*.*s|%s', '2000000000', 1, 'x', 'y')

### an honest printf: ok
SELECT printf('%08.3f|%-10s|%*d|%q|%%', 3.14159, 'ab', 6, 42, 'it''s')

### a quote of a blob: limit
SELECT length(quote(zeroblob(3000000)))

### characters without a meaning: ok
SELECT char(0, 55296, 1114111, -1, 9999999999)

### instr that compares for hours: bounded
SELECT instr(zeroblob(4000000), CAST(zeroblob(2000000) || 'a' AS BLOB))

### instr on text: bounded
SELECT instr(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1')

### replace that compares for hours: bounded
SELECT length(replace(hex(zeroblob(2000000)), hex(zeroblob(1000000)) || '1', ''))

### trim with a giant set: limit
SELECT length(trim(hex(zeroblob(2000000)), hex(zeroblob(2000000)) || '0'))

### like with many wildcards: bounded
SELECT hex(zeroblob(1900000)) LIKE '%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%1'

### like with one long tail: bounded
SELECT hex(zeroblob(1900000)) LIKE '%00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001'

### like with underscores: bounded
SELECT count(*) FROM big WHERE hex(zeroblob(1000)) LIKE '%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%1'

### like with a giant pattern: limit
SELECT 'x' LIKE hex(zeroblob(500000))

### glob with many stars: bounded
SELECT count(*) FROM big WHERE hex(zeroblob(1000)) GLOB '*0*0*0*0*0*0*0*0*0*0*0*0*0*0*0*1'

### glob with sets: bounded
SELECT hex(zeroblob(1900000)) GLOB '*[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][A-Z]'

### regexp that is not there: engine
SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '(a+)+$'

### json that merges for hours: refused
SELECT json_patch('{"a":1}', '{"b":2}')

### json deeper than the parser: engine
SELECT json_valid(hex(1)) + json('[')

### json tree of a bomb: limit
SELECT count(*) FROM big, json_tree('[[1,2,3],[4,5,6],[7,8,9],[1,2,3],[4,5,6],[7,8,9]]'), big AS b

### json each of a giant array: limit
SELECT count(*) FROM json_each('[' || hex(zeroblob(3000000)) || ']')

### a sort of fat rows: limit
SELECT hex(zeroblob(4000)) || a.n AS s FROM big a, big b ORDER BY s DESC

### a sort that spills: bounded
SELECT max(s) FROM (SELECT hex(zeroblob(2000)) || n AS s FROM big ORDER BY s)

### numbers at the edge: ok
SELECT 9223372036854775807, -9223372036854775808, 1e308 * 10, -1e308 * 10, 0.0 / 0

### overflow: engine
SELECT abs(-9223372036854775808)

### sum overflow: engine
SELECT sum(n) FROM (SELECT 9223372036854775807 AS n UNION ALL SELECT 1)

### parameters that nobody bound: ok
SELECT ?, :name, @x, $y, ?200

### a parameter number past the bound: limit
SELECT ?32000

### too many columns by star: bounded
SELECT a.*, b.*, c.*, d.*, e.*, f.* FROM t a, t b, t c, t d, t e, t f

### more tables than a join takes: limit
SELECT 1 FROM t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t

### a view that reads the schema: refused
SELECT * FROM peek

### a view that never ends: limit
SELECT * FROM endless

### a view that calls a function it may not: refused
SELECT * FROM caller

### rowids of nothing: bounded
SELECT rowid FROM (SELECT 1)

### not SQL at all: engine
rm -rf /

### a shell's dot command: engine
.shell touch /tmp/assay-hostile-file

### a question: engine
What is the average age?
