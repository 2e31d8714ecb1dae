# Ways to call a function of the database's own: "### name: class", what its owner has made in the schema own, `--`, the
# statement. ran() leaves a trace outside of any transaction. Without Assay a statement that is refused leaves one, so that
# the case has teeth ("refused, idle": it does not, or not in every version); with Assay none does. Classes: refused, ok.
# Tables: customer(id, name, email), orders(id, customer_id, total, code); the search path is own, public.

### attribute of a table: refused
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT customer.fullname FROM customer

### attribute of an alias: refused
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.fullname FROM customer c

### attribute with its schema: refused
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT public.customer.fullname FROM public.customer

### attribute in quotes: refused
CREATE FUNCTION own."Full Name"(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c."Full Name" FROM customer c

### attribute in capitals: refused
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT C.FULLNAME FROM customer AS c

### attribute that only another table has: refused
CREATE FUNCTION own.total(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.total FROM customer c JOIN orders o ON o.customer_id = c.id

### attribute whose alias means two things: refused
CREATE FUNCTION own.total(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT x.total FROM customer x WHERE EXISTS (SELECT 1 FROM orders x WHERE x.total > 0)

### attribute of a table that a CTE elsewhere hides: refused
CREATE FUNCTION own.total(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT customer.total FROM customer, (WITH customer AS (SELECT 1 AS total) SELECT total FROM customer) x

### attribute of a subquery: refused
CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT s.fullname FROM (SELECT id, name FROM customer) s

### attribute of a CTE: refused
CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
WITH c AS (SELECT 1 AS id) SELECT c.fullname FROM c

### attribute of a subquery that passes a star on: refused
CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT s.fullname FROM (SELECT * FROM customer) s

### attribute of VALUES: refused
CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT v.fullname FROM (VALUES (1, 2)) v

### attribute whose name begins like a column of VALUES: refused
CREATE FUNCTION own.columnstore_purge(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.columnstore_purge FROM (VALUES (1)) x

### attribute past the width of VALUES: refused
CREATE FUNCTION own.column2(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.column2 FROM (VALUES (1)) x

### attribute numbered with a leading zero: refused
CREATE FUNCTION own.column01(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.column01 FROM (VALUES (1)) x

### attribute of VALUES in a CTE: refused
CREATE FUNCTION own.columns(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
WITH x AS (VALUES (1)) SELECT x.columns FROM x

### attribute of VALUES in a union: refused
CREATE FUNCTION own.columns(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.columns FROM (VALUES (1) UNION SELECT 2) x

### attribute of VALUES that a star passes on: refused
CREATE FUNCTION own.columns(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.columns FROM (SELECT * FROM (VALUES (1)) y) x

### attribute that VALUES lost to a name: refused
CREATE FUNCTION own.column1(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.column1 FROM (VALUES (1)) x(a)

### attribute that is a column of VALUES: ok
CREATE FUNCTION own.column1(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT x.column1, y.column2 FROM (VALUES (1)) x, (VALUES (1, 2)) y

### attribute of columns renamed: refused
CREATE FUNCTION own.name(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.name FROM customer AS c(a, b)

### attribute of a join: refused
CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ran(); END';
--
SELECT j.fullname FROM (customer c CROSS JOIN orders o) AS j

### attribute named as in another case: refused
CREATE FUNCTION own.evil(integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT a.evil FROM abs(1) AS a("Evil")

### attribute named as its function's alias: refused
CREATE FUNCTION own.evil(json) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT evil.evil FROM json_array_elements('[1]') AS evil

### attribute named as a column that other functions give: refused
CREATE FUNCTION own.key(integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT a.key FROM abs(1) AS a

### attribute in ORDER BY: refused
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.name FROM customer c ORDER BY c.fullname

### attribute with an argument that has a default: refused
CREATE FUNCTION own.fullname(customer, sep text DEFAULT ' ') RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.fullname FROM customer c

### attribute that is a cast: refused, idle
CREATE TYPE own.badge AS ENUM ('1');
CREATE FUNCTION own.to_badge(customer) RETURNS own.badge LANGUAGE sql AS 'SELECT ran()::own.badge';
CREATE CAST (customer AS own.badge) WITH FUNCTION own.to_badge(customer);
--
SELECT c.badge FROM customer c

### overload of an allowed name: refused
CREATE FUNCTION own.length(integer) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
--
SELECT length(id) FROM customer

### overload that hides a built-in: refused
CREATE FUNCTION own.round(bigint) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
--
SELECT round(id::bigint) FROM customer

### overload in capitals and quotes: refused
CREATE FUNCTION own."Lower"(text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT "Lower"(name) FROM customer

### overload in a schema that looks like the server's: refused
CREATE SCHEMA "PG_CATALOG";
CREATE FUNCTION "PG_CATALOG".lower(text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT "PG_CATALOG".lower(name) FROM customer

### overload of an aggregate: refused
CREATE FUNCTION own.add(text, text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE AGGREGATE own.sum(text) (SFUNC = own.add, STYPE = text, INITCOND = '');
--
SELECT sum(name) FROM customer

### overload of an ordered-set aggregate: refused
CREATE FUNCTION own.add(text, text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE AGGREGATE own.mode(ORDER BY text) (SFUNC = own.add, STYPE = text, INITCOND = '');
--
SELECT mode() WITHIN GROUP (ORDER BY name) FROM customer

### overload of a window function: refused
CREATE FUNCTION own.add(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE AGGREGATE own.rank(integer) (SFUNC = own.add, STYPE = text, INITCOND = '');
--
SELECT rank(id) OVER () FROM customer

### overload in FROM: refused
CREATE FUNCTION own.unnest(text) RETURNS SETOF text LANGUAGE sql AS 'SELECT ran()';
--
SELECT * FROM unnest('a'::text) AS u

### overload by more arguments: refused
CREATE FUNCTION own.upper(text, text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT upper(name, name) FROM customer

### overload by VARIADIC: refused
CREATE FUNCTION own.lower(VARIADIC integer[]) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT lower(1, 2, 3)

### name of an extension that is not there: refused
CREATE FUNCTION own.similarity(text, text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT similarity(name, name) FROM customer

### overload that runs while planning: refused
CREATE FUNCTION own.length(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN ran()::integer; END';
--
SELECT length(1)

### operator: refused
CREATE FUNCTION own.add(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer);
--
SELECT name + 1 FROM customer

### operator before its operand: refused
CREATE FUNCTION own.add(text) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE OPERATOR own.@@@ (FUNCTION = own.add, RIGHTARG = text);
--
SELECT @@@ name FROM customer

### operator by its schema: refused
CREATE FUNCTION own.add(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer);
--
SELECT name OPERATOR(own.+) 1 FROM customer

### operator behind another: refused
CREATE FUNCTION own.minus(text) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
CREATE OPERATOR own.- (FUNCTION = own.minus, RIGHTARG = text);
--
SELECT 1*-name FROM customer

### operator that is written in two ways: refused
CREATE FUNCTION own.ne(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.<> (FUNCTION = own.ne, LEFTARG = text, RIGHTARG = integer);
--
SELECT name != 1 FROM customer

### operator in a join: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT 1 FROM customer c JOIN orders o ON c.name = o.total

### operator of IN: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE name IN (1, 2)

### operator of CASE: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT CASE name WHEN 1 THEN 2 END FROM customer

### operator of NULLIF: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT NULLIF(name, 1) FROM customer

### operator of IS DISTINCT: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT name IS DISTINCT FROM 1 FROM customer

### operator of USING: refused
CREATE FUNCTION own.eq(json, json) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = json, RIGHTARG = json);
--
SELECT 1 FROM (SELECT '1'::json AS j) a JOIN (SELECT '1'::json AS j) b USING (j)

### operator of NATURAL: refused
CREATE FUNCTION own.eq(json, json) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = json, RIGHTARG = json);
--
SELECT 1 FROM (SELECT '1'::json AS j) a NATURAL JOIN (SELECT '1'::json AS j) b

### operator of BETWEEN: refused
CREATE FUNCTION own.ge(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.>= (FUNCTION = own.ge, LEFTARG = text, RIGHTARG = integer);
CREATE OPERATOR own.<= (FUNCTION = own.ge, LEFTARG = text, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE name BETWEEN 1 AND 2

### operator of LIKE: refused
CREATE FUNCTION own.alike(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.~~ (FUNCTION = own.alike, LEFTARG = integer, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE id LIKE 1

### operator of ILIKE: refused
CREATE FUNCTION own.alike(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.~~* (FUNCTION = own.alike, LEFTARG = integer, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE id ILIKE 1

### operator of SIMILAR TO: refused
CREATE FUNCTION own.alike(integer, text) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.~ (FUNCTION = own.alike, LEFTARG = integer, RIGHTARG = text);
--
SELECT 1 FROM customer WHERE id SIMILAR TO '1'

### operator with ANY: refused
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE name = ANY (ARRAY[1])

### operator in a frame: refused
CREATE FUNCTION own.add(text, integer) RETURNS bigint LANGUAGE sql AS 'SELECT ran()::bigint';
CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer);
--
SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN text '1' + 1 PRECEDING AND CURRENT ROW) FROM customer

### operator on rows: refused, idle
CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer);
--
SELECT 1 FROM customer WHERE (id, name) = (1, 2)

### implicit cast: refused
CREATE FUNCTION own.holds(customer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE CAST (customer AS boolean) WITH FUNCTION own.holds(customer) AS IMPLICIT;
--
SELECT 1 FROM customer c WHERE c

### explicit cast: refused
CREATE FUNCTION own.as_int(customer) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
CREATE CAST (customer AS integer) WITH FUNCTION own.as_int(customer);
--
SELECT c::integer FROM customer c

### explicit cast by CAST: refused
CREATE FUNCTION own.as_int(customer) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
CREATE CAST (customer AS integer) WITH FUNCTION own.as_int(customer);
--
SELECT CAST(c AS int) FROM customer c

### cast by the name of the type: refused, idle
CREATE FUNCTION own.as_date(customer) RETURNS date LANGUAGE sql AS 'SELECT ran()::integer + date ''2020-01-01''';
CREATE CAST (customer AS date) WITH FUNCTION own.as_date(customer);
--
SELECT date(c) FROM customer c

### cast that to_json looks for: refused
CREATE TYPE own.badge AS ENUM ('1');
CREATE TABLE own.badges AS SELECT '1'::own.badge AS b;
CREATE FUNCTION own.as_json(own.badge) RETURNS json LANGUAGE sql AS 'SELECT to_json(ran())';
CREATE CAST (own.badge AS json) WITH FUNCTION own.as_json(own.badge);
--
SELECT to_json(b) FROM own.badges

### cast that to_json looks for, its function taken from the role: refused
CREATE TYPE own.badge AS ENUM ('1');
CREATE TABLE own.badges AS SELECT '1'::own.badge AS b;
CREATE FUNCTION own.as_json(own.badge) RETURNS json LANGUAGE sql AS 'SELECT to_json(ran())';
CREATE CAST (own.badge AS json) WITH FUNCTION own.as_json(own.badge);
REVOKE EXECUTE ON FUNCTION own.as_json(own.badge) FROM PUBLIC;
--
SELECT json_agg(b) FROM own.badges

### check of a domain: refused
CREATE FUNCTION own.fine(text) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE DOMAIN own.mail AS text CHECK (own.fine(VALUE));
--
SELECT 'x'::own.mail

### check of a domain in an array: refused
CREATE FUNCTION own.fine(text) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE DOMAIN own.mail AS text CHECK (own.fine(VALUE));
--
SELECT '{x}'::own.mail[]

### check of a domain in a row: refused
CREATE FUNCTION own.fine(text) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE DOMAIN own.mail AS text CHECK (own.fine(VALUE));
CREATE TABLE own.letters(id integer, m own.mail);
INSERT INTO own.letters VALUES (1, NULL);
--
SELECT 1 FROM own.letters l WHERE l = '(1,x)'

### check of a domain by an operator: refused
CREATE FUNCTION own.fine(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE OPERATOR own.~~> (FUNCTION = own.fine, LEFTARG = text, RIGHTARG = integer);
CREATE DOMAIN own.mail AS text CHECK (VALUE ~~> 1);
--
SELECT 'x'::own.mail

### check of a domain while a broken statement is explained: refused
CREATE FUNCTION own.fine(text) RETURNS boolean LANGUAGE sql AS 'SELECT ran() = ''1''';
CREATE DOMAIN own.mail AS text CHECK (own.fine(VALUE));
--
SELECT '{x}'::own.mail[] /* /* */ */

### order of a type by an operator class of its own: refused
CREATE FUNCTION own.cmp(json, json) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM ran(); RETURN 0; END';
CREATE FUNCTION own.lt(json, json) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE OPERATOR own.<<< (FUNCTION = own.lt, LEFTARG = json, RIGHTARG = json);
CREATE OPERATOR own.=== (FUNCTION = own.lt, LEFTARG = json, RIGHTARG = json);
CREATE OPERATOR CLASS own.json_ops DEFAULT FOR TYPE json USING btree AS OPERATOR 1 own.<<<, OPERATOR 3 own.===, FUNCTION 1 own.cmp(json, json);
--
SELECT 1 FROM (VALUES ('1'::json), ('2'::json)) v(j) ORDER BY j

### sort by an operator: refused
CREATE FUNCTION own.cmp(json, json) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM ran(); RETURN 0; END';
CREATE FUNCTION own.lt(json, json) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
CREATE OPERATOR own.<<< (FUNCTION = own.lt, LEFTARG = json, RIGHTARG = json);
CREATE OPERATOR own.=== (FUNCTION = own.lt, LEFTARG = json, RIGHTARG = json);
CREATE OPERATOR CLASS own.json_ops DEFAULT FOR TYPE json USING btree AS OPERATOR 1 own.<<<, OPERATOR 3 own.===, FUNCTION 1 own.cmp(json, json);
--
SELECT 1 FROM (VALUES ('1'::json), ('2'::json)) v(j) ORDER BY j USING <<<

### overload among the server's own functions: refused
CREATE FUNCTION pg_catalog.length(integer) RETURNS integer LANGUAGE sql AS 'SELECT public.ran()::integer';
--
SELECT pg_catalog.length(id) FROM customer

### equality of a type by an operator class of its own: refused
CREATE FUNCTION own.eq(json, json) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM ran(); RETURN true; END';
CREATE OPERATOR own.=== (FUNCTION = own.eq, LEFTARG = json, RIGHTARG = json, HASHES);
CREATE FUNCTION own.hashed(json) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR CLASS own.json_ops DEFAULT FOR TYPE json USING hash AS OPERATOR 1 own.===, FUNCTION 1 own.hashed(json);
--
SELECT count(*) FROM (VALUES ('1'::json), ('2'::json)) v(j) GROUP BY j

### a row as a text by a built-in: refused, idle
SELECT 1;
--
SELECT c.record_out FROM customer c

### a row as json by a built-in: refused, idle
SELECT 1;
--
SELECT c.row_to_json FROM customer c

### an own function stands by, a column has its name: ok
CREATE FUNCTION own.name(orders) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT c.name, o.total FROM customer c JOIN orders o ON o.customer_id = c.id ORDER BY c.name

### an own function stands by, a subquery's column has its name: ok
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT s.fullname FROM (SELECT name AS fullname FROM customer) s

### an own function stands by, a CTE's column has its name: ok
CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
WITH c(fullname) AS (SELECT name FROM customer) SELECT c.fullname FROM c

### an own function stands by, a star passes a column of its name on: ok
CREATE FUNCTION own.name(orders) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT s.name FROM (SELECT * FROM customer) s

### an own function stands by, the column is named alone: ok
CREATE FUNCTION own.name(customer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
--
SELECT name FROM customer WHERE id = 1

### an own overload stands by, the built-in is named with its schema: ok
CREATE FUNCTION own.length(integer) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer';
--
SELECT pg_catalog.length(name) FROM customer

### an own operator stands by: ok
CREATE FUNCTION own.add(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';
CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer);
--
SELECT name FROM customer WHERE id = 1 AND name LIKE 'A%'

### an own operator of a built-in function: ok
CREATE OPERATOR own.+ (FUNCTION = pg_catalog.int4pl, LEFTARG = integer, RIGHTARG = integer);
--
SELECT id + 1 FROM customer

### an own enum: ok
CREATE TYPE own.mood AS ENUM ('good', 'bad');
--
SELECT 'good'::own.mood

### a domain without a function: ok
CREATE DOMAIN own.positive AS integer CHECK (VALUE > 0);
--
SELECT 1::own.positive

### a view over an own function is its owner's: ok
CREATE FUNCTION own.twice(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1 * 2';
CREATE VIEW own.doubled AS SELECT twice(id) AS n FROM customer;
--
SELECT d.n FROM doubled d
