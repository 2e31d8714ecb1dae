-- PostgreSQL SELECTs, one a line. libpg_query must accept each; so must lib/sql, and what it prints must have the same
-- fingerprint (tests/unit/sql/test_postgres.c).

-- the plain shape
SELECT 1
SELECT 1, 2.5, 'text', NULL, TRUE, FALSE
SELECT * FROM orders
SELECT o.* FROM orders AS o
SELECT public.orders.* FROM public.orders
SELECT DISTINCT status FROM orders
SELECT DISTINCT ON (customer_id) customer_id, placed FROM orders ORDER BY customer_id, placed DESC
SELECT DISTINCT ON (lower(name), city) name FROM customers ORDER BY lower(name), city, id
SELECT ALL status FROM orders
SELECT id AS "Order Number", total amount FROM orders
SELECT "order"."select" FROM "order"
SELECT id FROM orders WHERE status = 'open' AND (total > 10 OR total < 1) AND NOT paid
SELECT id FROM orders;
SELECT status, count(*) FROM orders GROUP BY status HAVING count(*) > 3 ORDER BY 2 DESC, 1
SELECT status FROM orders ORDER BY placed NULLS FIRST, total DESC NULLS LAST
SELECT id FROM orders LIMIT 10 OFFSET 20
SELECT id FROM orders OFFSET 20 LIMIT 10
SELECT id FROM orders OFFSET 5 ROWS FETCH FIRST 3 ROWS ONLY
SELECT id FROM orders FETCH FIRST ROW ONLY
SELECT id FROM orders FETCH NEXT 5 ROWS ONLY
SELECT id FROM orders ORDER BY total FETCH FIRST 5 ROWS WITH TIES
SELECT id FROM orders LIMIT ALL
SELECT id FROM orders LIMIT ALL OFFSET 3
SELECT id FROM orders LIMIT (SELECT count(*) / 2 FROM orders)
SELECT year, date, time, name, key, value, type, first, last, row, range FROM t
SELECT t.date FROM t WHERE t.date = current_date
SELECT count(*), count(id), count(DISTINCT status), sum(total), avg(total), min(total), max(total) FROM orders
VALUES (1, 'a'), (2, 'b')
VALUES (1), (2) ORDER BY 1 LIMIT 1

-- literals
SELECT E'tab\tand \'quote\'', E'back\\slash'
SELECT $$dollar 'quoted'$$, $tag$with $$ inside$tag$
SELECT 'it''s'
SELECT 1e10, 1.5e-3, .5, 42
SELECT DATE '2024-02-29', TIME '10:30', TIMESTAMP '2024-02-29 10:30:00'
SELECT TIMESTAMP WITH TIME ZONE '2024-02-29 10:30+01', TIMESTAMP WITHOUT TIME ZONE '2024-02-29 10:30'
SELECT TIMESTAMPTZ '2024-02-29 10:30+01'
SELECT TIMESTAMP(3) '2024-02-29 10:30:00.123456'
SELECT INTERVAL '1 day', INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH
SELECT INTERVAL '3' HOUR + TIME '10:00'
SELECT placed + INTERVAL '7 days' FROM orders WHERE placed > DATE '2024-01-01' - 30
SELECT JSON '{"a": 1}', JSONB '[1, 2]'
SELECT current_date, current_timestamp, current_time
SELECT current_timestamp(3)
SELECT ARRAY[1, 2, 3], ARRAY[[1, 2], [3, 4]], ARRAY['a', 'b']::text[]
SELECT ARRAY(SELECT id FROM orders ORDER BY id)
SELECT '{1,2,3}'::int[], '{}'::text[]
SELECT -1, +1, - -1, 1 - -1

-- operators
SELECT 1 + 2 * 3 - 4 / 5 % 6
SELECT 2 ^ 3 ^ 2, -2 ^ 2
SELECT 'a' || 'b' || 'c'
SELECT 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 2
SELECT |/ 25, ||/ 27, @ -5
SELECT a = b, a <> b, a != b, a < b, a <= b, a > b, a >= b FROM t
SELECT a IS NULL, a IS NOT NULL, a ISNULL, a NOTNULL FROM t
SELECT a IS TRUE, a IS NOT TRUE, a IS FALSE, a IS NOT FALSE, a IS UNKNOWN, a IS NOT UNKNOWN FROM t
SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b FROM t
SELECT a BETWEEN 1 AND 10, a NOT BETWEEN 1 AND 10 FROM t
SELECT a BETWEEN SYMMETRIC 10 AND 1 FROM t
SELECT a IN (1, 2, 3), a NOT IN (1, 2) FROM t
SELECT a IN (SELECT b FROM u) FROM t
SELECT (a, b) IN ((1, 2), (3, 4)) FROM t
SELECT (a, b) = (1, 2), (a, b) < (3, 4) FROM t
SELECT ROW(1, 2, 'x'), ROW(a, b) = ROW(1, 2) FROM t
SELECT (a, b) = (SELECT c, d FROM u LIMIT 1) FROM t
SELECT name LIKE 'A%', name NOT LIKE '%z', name LIKE 'a!_b' ESCAPE '!' FROM t
SELECT name ILIKE 'a%', name NOT ILIKE '%Z' FROM t
SELECT name SIMILAR TO '(a|b)%', name NOT SIMILAR TO 'c%' FROM t
SELECT name ~ '^A', name ~* '^a', name !~ 'z$', name !~* 'Z$' FROM t
SELECT total > ANY (SELECT total FROM orders), total >= ALL (SELECT total FROM orders) FROM t
SELECT id = ANY (ARRAY[1, 2, 3]), id <> ALL ('{1,2}'::int[]), id = SOME (ARRAY[1]) FROM t
SELECT name LIKE ANY (ARRAY['a%', 'b%']), name NOT LIKE ALL (ARRAY['c%']) FROM t
SELECT EXISTS (SELECT 1 FROM orders), NOT EXISTS (SELECT 1 FROM orders WHERE total < 0)
SELECT data -> 'a', data ->> 'b', data #> '{a,b}', data #>> '{a,b}' FROM docs
SELECT data -> 'a' ->> 'b' FROM docs WHERE data @> '{"x": 1}' AND '{"y": 2}' <@ data
SELECT data ? 'key', data ?| ARRAY['a', 'b'], data ?& ARRAY['a', 'b'] FROM docs
SELECT tags && ARRAY['a'], tags @> ARRAY['b'], tags || 'c' FROM posts
SELECT placed AT TIME ZONE 'UTC', placed AT TIME ZONE 'Europe/Paris' AT TIME ZONE 'UTC' FROM orders
SELECT (start_a, end_a) OVERLAPS (start_b, end_b) FROM t
SELECT to_tsvector('english', body) @@ to_tsquery('cat & dog') FROM docs
SELECT point '(1,2)' <-> location FROM places
SELECT name COLLATE "C" FROM t ORDER BY name COLLATE "de_DE" DESC
SELECT name COLLATE pg_catalog."C" FROM t
SELECT NOT a AND b OR c FROM t
SELECT a = b IS TRUE FROM t
SELECT a + b IS NOT NULL AND c LIKE d || '%' FROM t

-- casts and subscripts
SELECT '1'::int, 1::text, '2024-01-01'::date, now()::timestamp(0)
SELECT CAST('1' AS integer), CAST(total AS numeric(10, 2)), CAST(x AS double precision), CAST(y AS character varying(20)) FROM t
SELECT total::numeric(10, 2), x::double precision, y::varchar(20), z::timestamp with time zone, w::pg_catalog.int4 FROM t
SELECT CAST(a AS timestamp(3) with time zone), CAST(b AS time without time zone), CAST(c AS int[]), CAST(d AS bit varying(5)) FROM t
SELECT a::int::text::varchar FROM t
SELECT -1::int, (-1)::int, a.b::int FROM a
SELECT tags[1], tags[1:2], matrix[1][2] FROM posts
SELECT (ARRAY[1, 2, 3])[2], (string_to_array('a,b', ','))[1]
SELECT $1::int + $2, $3
SELECT a::json -> 'b' FROM t

-- special calls
SELECT EXTRACT(YEAR FROM placed), EXTRACT('month' FROM placed), extract(epoch FROM now()) FROM orders
SELECT SUBSTRING(name FROM 1 FOR 3), SUBSTRING(name FROM 2), SUBSTRING(name FOR 2), substring(name, 1, 2) FROM t
SELECT SUBSTRING(name FROM '[a-z]+') FROM t
SELECT substring(name SIMILAR 'a#"%#"b' ESCAPE '#') FROM t
SELECT TRIM(name), TRIM(BOTH 'x' FROM name), TRIM(LEADING FROM name), TRIM(TRAILING ' ' FROM name), TRIM('x' FROM name) FROM t
SELECT POSITION('a' IN name), POSITION('b' IN lower(name) || 'c') FROM t
SELECT OVERLAY(name PLACING 'xx' FROM 2 FOR 3), OVERLAY(name PLACING 'y' FROM 1) FROM t
SELECT COALESCE(a, b, 0), NULLIF(a, 0), GREATEST(a, b), LEAST(a, b) FROM t
SELECT pg_catalog.lower(name), pg_catalog.count(*) FROM t
SELECT left(name, 2), right(name, 2), replace(name, 'a', 'b') FROM t
SELECT make_interval(days => 10), f(a := 1)
SELECT string_agg(name, ', ' ORDER BY name), array_agg(DISTINCT name ORDER BY name DESC) FROM t
SELECT count(*) FILTER (WHERE status = 'open'), sum(total) FILTER (WHERE paid) FROM orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total DESC), mode() WITHIN GROUP (ORDER BY status) FROM orders
SELECT rank(5) WITHIN GROUP (ORDER BY total) FILTER (WHERE paid) FROM orders
SELECT date_trunc('month', placed), to_char(placed, 'YYYY-MM'), age(placed), now() FROM orders
SELECT generate_series(1, 3)
SELECT count(ALL status) FROM orders
SELECT date(placed), year(placed) FROM t

-- CASE
SELECT CASE WHEN a > 1 THEN 'x' WHEN a > 0 THEN 'y' ELSE 'z' END FROM t
SELECT CASE status WHEN 'a' THEN 1 WHEN 'b' THEN 2 END FROM t
SELECT CASE WHEN a THEN CASE WHEN b THEN 1 ELSE 2 END END + 1 FROM t
SELECT sum(CASE WHEN paid THEN total ELSE 0 END) AS paid_total FROM orders

-- windows
SELECT row_number() OVER (), rank() OVER (ORDER BY total) FROM orders
SELECT sum(total) OVER (PARTITION BY customer_id ORDER BY placed ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM orders
SELECT avg(total) OVER (ORDER BY placed RANGE BETWEEN INTERVAL '7 days' PRECEDING AND CURRENT ROW) FROM orders
SELECT avg(total) OVER (ORDER BY placed GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM orders
SELECT sum(total) OVER (ORDER BY placed ROWS 3 PRECEDING), lag(total, 1, 0) OVER w FROM orders WINDOW w AS (PARTITION BY customer_id ORDER BY placed)
SELECT sum(a) OVER w1, avg(a) OVER (w1 ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING) FROM t WINDOW w1 AS (ORDER BY b), w2 AS (w1)
SELECT count(*) FILTER (WHERE paid) OVER (PARTITION BY status) FROM orders
SELECT first_value(total) OVER (ORDER BY placed ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM orders

-- FROM
SELECT * FROM a, b, c WHERE a.x = b.x AND b.y = c.y
SELECT * FROM a JOIN b ON a.x = b.x
SELECT * FROM a INNER JOIN b ON a.x = b.x LEFT JOIN c ON b.y = c.y
SELECT * FROM a LEFT OUTER JOIN b USING (x, y)
SELECT * FROM a RIGHT JOIN b ON a.x = b.x FULL OUTER JOIN c ON c.z = a.z
SELECT * FROM a CROSS JOIN b
SELECT * FROM a NATURAL JOIN b NATURAL LEFT JOIN c
SELECT * FROM a JOIN b JOIN c ON b.y = c.y ON a.x = b.x
SELECT * FROM a LEFT JOIN (b JOIN c ON b.y = c.y) ON a.x = b.x
SELECT * FROM (a CROSS JOIN b) AS ab JOIN c ON true
SELECT * FROM a AS x (p, q), b y (r)
SELECT * FROM (SELECT id, total FROM orders) AS o WHERE o.total > 3
SELECT * FROM (SELECT 1, 2) AS t (a, b)
SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS t (num, word)
SELECT * FROM customers c, LATERAL (SELECT * FROM orders o WHERE o.customer_id = c.id LIMIT 3) AS recent
SELECT * FROM customers c LEFT JOIN LATERAL (SELECT max(total) m FROM orders o WHERE o.customer_id = c.id) x ON true
SELECT * FROM generate_series(1, 10) AS n
SELECT * FROM generate_series(1, 10, 2) AS g (n) WHERE n > 3
SELECT * FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS t (elem, nr)
SELECT * FROM posts, unnest(tags) AS tag
SELECT * FROM posts, LATERAL unnest(tags) AS u (tag)
SELECT * FROM json_to_recordset('[{"a":1}]') AS x (a int, b text)
SELECT * FROM public.orders o JOIN sales.customers c ON o.customer_id = c.id
SELECT * FROM orders TABLESAMPLE BERNOULLI (10)
SELECT * FROM orders TABLESAMPLE SYSTEM (1) REPEATABLE (42)
SELECT * FROM ((SELECT 1 AS a) UNION (SELECT 2)) AS u
SELECT * FROM ((a JOIN b ON a.x = b.x))

-- grouping
SELECT a, b, sum(c) FROM t GROUP BY ROLLUP (a, b)
SELECT a, b, sum(c) FROM t GROUP BY CUBE (a, b)
SELECT a, b, sum(c), grouping(a, b) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
SELECT a, b FROM t GROUP BY a, GROUPING SETS ((b), ROLLUP (a, b))
SELECT a FROM t GROUP BY (a, b), c
SELECT count(*) FROM t HAVING count(*) > 1

-- set operations
SELECT a FROM t UNION SELECT b FROM u
SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1 LIMIT 5
SELECT a FROM t UNION DISTINCT SELECT b FROM u
SELECT a FROM t INTERSECT SELECT b FROM u
SELECT a FROM t EXCEPT ALL SELECT b FROM u
SELECT a FROM t INTERSECT ALL SELECT b FROM u
(SELECT a FROM t ORDER BY a LIMIT 1) UNION (SELECT b FROM u ORDER BY b LIMIT 1)
(SELECT a FROM t UNION SELECT b FROM u) EXCEPT SELECT c FROM v
SELECT a FROM t UNION (SELECT b FROM u INTERSECT SELECT c FROM v)
((SELECT 1)) ORDER BY 1
(SELECT 1)
((SELECT 1) UNION (SELECT 2)) LIMIT 1
SELECT 1 UNION VALUES (2), (3)
SELECT (SELECT 1) + (SELECT 2)
SELECT ((SELECT max(a) FROM t))
SELECT a FROM t WHERE a IN ((SELECT b FROM u) UNION (SELECT c FROM v))
SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) > 2

-- WITH
WITH x AS (SELECT 1 AS a) SELECT a FROM x
WITH x (a, b) AS (SELECT 1, 2), y AS (SELECT a FROM x) SELECT * FROM x, y
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT sum(n) FROM r
WITH x AS MATERIALIZED (SELECT 1), y AS NOT MATERIALIZED (SELECT 2) SELECT * FROM x, y
WITH x AS ((SELECT 1) UNION (SELECT 2)) SELECT * FROM x
SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) AS y
WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT * FROM x ORDER BY 1 LIMIT 1
SELECT a FROM t WHERE a IN (WITH x AS (SELECT 1) SELECT * FROM x)
WITH x AS (VALUES (1, 2)) (SELECT * FROM x) UNION ALL SELECT 3, 4
WITH RECURSIVE tree AS (SELECT id, parent, 1 AS depth FROM nodes WHERE parent IS NULL UNION ALL SELECT n.id, n.parent, t.depth + 1 FROM nodes n JOIN tree t ON n.parent = t.id) SELECT * FROM tree

-- whole questions
SELECT c.name, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id AND o.placed >= now() - INTERVAL '1 year' GROUP BY c.id, c.name HAVING count(o.id) > 5 ORDER BY n DESC, c.name LIMIT 10
SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)
SELECT date_trunc('day', placed)::date AS day, sum(total) FROM orders WHERE EXTRACT(YEAR FROM placed) = 2024 GROUP BY 1 ORDER BY 1
SELECT t.name FROM (SELECT name, row_number() OVER (PARTITION BY city ORDER BY score DESC) AS rn FROM people) t WHERE t.rn = 1
SELECT a.id, (SELECT string_agg(b.name, ', ' ORDER BY b.name) FROM b WHERE b.a_id = a.id) AS names FROM a
SELECT round(100.0 * count(*) FILTER (WHERE paid) / NULLIF(count(*), 0), 2) AS pct FROM orders /* a comment */ -- and another
SELECT x.a FROM x WHERE NOT (x.a IS NULL OR x.b BETWEEN 1 AND 2) AND x.c NOT LIKE '%\_%'
SELECT upper(name) || ' (' || coalesce(city, '?') || ')' FROM customers WHERE name = U&'d\0061t' OR true
SELECT "T1"."Name", T2.Code FROM "Country" AS "T1" JOIN codes AS T2 ON "T1".id = T2.id

-- typed literals of any type
SELECT int4 '2' + 1, bool 't' AS yes, box '((0,0),(1,1))' @> point '(0.5,0.5)'
SELECT id FROM orders WHERE total > numeric '10.50' AND paid = bool 'yes'
SELECT numeric 'NaN' = numeric 'NaN' AS same
SELECT id FROM orders WHERE tsvector 'cat dog' @@ tsquery 'cat' ORDER BY text 'x' || status
SELECT f(int8 '9', float8 '1e3', "char" 'c'), CASE WHEN bool 'f' THEN macaddr '08:00:2b:01:02:03' END FROM t
SELECT box '(1,1)', int4 '3' FROM t
SELECT B'0101' & B'0011', b'1' || B'', x'1FF'::int, X'ff'
SELECT U&'caf\00e9', id FROM t

-- rows and their fields
SELECT count(o.*), row_to_json(public.orders.*) FROM orders AS o
SELECT o.total FROM orders AS o WHERE o.* IS NOT NULL
SELECT ROW(o.*, 1), ARRAY[o.*, NULL], o.*::text FROM orders o
SELECT (o).total, (o).customer.name FROM orders o
SELECT (split(name)).*, (split(name)).first FROM people
SELECT (ROW(1, 2)).f1, (SELECT o FROM orders o LIMIT 1).total
SELECT parts[2].size, (grid[1][2]).x, parts[1].box.low FROM items
SELECT (array_agg(p.*))[1].name FROM people p

-- slices
SELECT tags[:2], tags[1:], tags[:], grid[1:2][:3], (string_to_array('a,b', ','))[2:] FROM posts
SELECT tags[low:high], tags[:high], tags[low:] FROM posts

-- VARIADIC
SELECT concat_ws(',', VARIADIC ARRAY['a', 'b']), num_nulls(VARIADIC '{1,NULL}'::int[])
SELECT * FROM unpack(1, VARIADIC tags) AS u, unpack(VARIADIC NULL::text[]) AS v
SELECT concat(name, VARIADIC tags) FROM t

-- windows without ORDER BY
SELECT sum(total) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM orders
SELECT sum(total) OVER (ROWS UNBOUNDED PRECEDING), avg(total) OVER (RANGE CURRENT ROW) FROM orders
SELECT sum(total) OVER (GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING EXCLUDE NO OTHERS) FROM orders
SELECT sum(total) OVER (w ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE GROUP) FROM orders WINDOW w AS (PARTITION BY status)
SELECT sum(total) OVER (PARTITION BY status ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM orders
SELECT max(total) OVER (PARTITION BY status RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) FROM orders
SELECT sum(total) OVER w FROM orders WINDOW w AS (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), v AS ()

-- ORDER BY ... USING
SELECT id FROM orders ORDER BY total USING >, status USING < NULLS LAST
SELECT array_agg(name ORDER BY name USING ~<~, id), string_agg(DISTINCT name, ',' ORDER BY name USING <) FROM people

-- WITH and its SEARCH and CYCLE
WITH RECURSIVE walk (id, up) AS (SELECT id, parent FROM nodes UNION ALL SELECT n.id, n.parent FROM nodes n JOIN walk w ON n.parent = w.id) SEARCH DEPTH FIRST BY id SET place SELECT id FROM walk ORDER BY place
WITH RECURSIVE walk AS (SELECT id, parent FROM nodes UNION ALL SELECT n.id, n.parent FROM nodes n, walk w WHERE n.parent = w.id) CYCLE id, parent SET looped USING path SELECT * FROM walk WHERE NOT looped
WITH RECURSIVE walk AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM walk) CYCLE id SET looped TO 'Y' DEFAULT 'N' USING path SELECT looped, path FROM walk
WITH RECURSIVE walk AS (SELECT 1 AS id UNION ALL SELECT id + 1 FROM walk) SEARCH BREADTH FIRST BY id SET place CYCLE id SET looped USING path SELECT * FROM walk
SELECT search, cycle FROM t

-- FROM
SELECT x.id FROM orders JOIN customers USING (id) AS x
SELECT * FROM (a JOIN b USING (p, q) AS ab CROSS JOIN c) AS abc
SELECT * FROM json_to_record('{"x": 1}') AS (x int, y text)
SELECT * FROM dblink('orders') AS (id int, placed timestamp with time zone), c
SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS r (n, word, nr)
SELECT * FROM posts AS p, ROWS FROM (unnest(p.tags), json_to_record(p.doc) AS (a int, b text))
SELECT * FROM LATERAL ROWS FROM (f(1)) AS r
SELECT * FROM ONLY orders AS o, ONLY (public.customers) WHERE o.id = 1
SELECT id FROM orders * WHERE id > 1
TABLE orders
TABLE ONLY public.orders ORDER BY id LIMIT 3
(TABLE orders) UNION ALL TABLE old_orders
WITH x AS (TABLE orders) SELECT id FROM x WHERE id IN (TABLE picked)
SELECT ARRAY(TABLE t), ARRAY(VALUES (1), (2)), EXISTS (TABLE t)

-- operators
SELECT a <<< b, a *< b, a *<> b, a *>= b, name <% 'word', name %>> 'word' FROM t
SELECT !! tsquery 'cat & dog', @@ box '(1,1)', # path '((0,0),(1,1))', ?- line, ?| line FROM t
SELECT ROW(a, b) ~<=~ ROW(c, d), a @@ ANY ('{x,y}'::tsquery[]), a !~ ALL (ARRAY['b']) FROM t

-- operators with a schema
SELECT a OPERATOR(+) b, a OPERATOR(pg_catalog.*) b + c, c + a OPERATOR(pg_catalog.*) b, a OPERATOR(public.+) b FROM t
SELECT a FROM t WHERE a OPERATOR(pg_catalog.~~) 'x%' AND b OPERATOR(pg_catalog.=) ANY (ARRAY[1, 2]) AND c OPERATOR(pg_catalog.<>) d
SELECT OPERATOR(pg_catalog.-) a, a OPERATOR(pg_catalog.||) b, a OPERATOR(pg_catalog.->>) 'x' FROM t ORDER BY a USING OPERATOR(pg_catalog.<)

-- what analysts write
SELECT sum(l.qty OPERATOR(pg_catalog.*) l.price) AS value FROM order_lines l
SELECT DISTINCT ON (customer_id) customer_id, placed, total FROM orders ORDER BY customer_id, placed DESC
SELECT date_trunc('month', placed)::date AS month, sum(total) FROM orders GROUP BY 1 ORDER BY 1
SELECT to_char(placed, 'YYYY-MM') AS month, count(*) FILTER (WHERE status = 'open') FROM orders GROUP BY 1
SELECT id FROM orders WHERE placed >= current_date - INTERVAL '1 year'
SELECT id FROM orders WHERE placed >= current_date - INTERVAL '30' DAY
SELECT id, age(shipped, placed), shipped - placed AS days FROM orders
SELECT EXTRACT(EPOCH FROM created) / 3600, EXTRACT(isodow FROM placed), date_part('quarter', placed) FROM orders
SELECT created AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Rome' FROM orders
SELECT generate_series('2024-01-01'::date, '2024-03-01', '1 month')::date AS d
SELECT g.d::date, count(o.id) FROM generate_series('2024-01-01'::timestamp, '2024-03-01', '1 month') AS g(d) LEFT JOIN orders o ON date_trunc('month', o.placed) = g.d GROUP BY g.d
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders
SELECT dept, mode() WITHIN GROUP (ORDER BY hired), percentile_disc(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY salary) FROM employees GROUP BY dept
SELECT string_agg(name, ', ' ORDER BY name DESC), array_agg(DISTINCT city) FROM customers
SELECT name FROM customers WHERE name ILIKE 'a%' OR email ~* '@y\.com$'
SELECT name FROM customers WHERE name SIMILAR TO '(A|B)%'
SELECT name FROM customers WHERE city = ANY ('{Rome,Oslo}')
SELECT name FROM customers WHERE city IS DISTINCT FROM 'Rome'
SELECT name, attrs ->> 'color', attrs #>> '{dims,w}', (attrs -> 'dims' ->> 'h')::int FROM products
SELECT name FROM products WHERE attrs @> '{"color": "red"}' AND attrs ? 'sizes'
SELECT p.name, s.size FROM products p CROSS JOIN LATERAL jsonb_array_elements_text(p.attrs -> 'sizes') AS s(size)
SELECT p.name, kv.key, kv.value FROM products p, jsonb_each(p.attrs) AS kv
SELECT p.name, d.* FROM products p, jsonb_to_record(p.attrs -> 'dims') AS d(w int, h int)
SELECT x.a, x.b FROM json_to_recordset('[{"a":1,"b":"foo"},{"a":2}]') AS x(a int, b text)
SELECT jsonb_path_query_first(attrs, '$.sizes[*]'), jsonb_set(attrs, '{color}', '"blue"'), attrs - 'color', attrs || '{"x":1}' FROM products
SELECT jsonb_path_exists(attrs, '$.dims ? (@.w > 10)') FROM products
SELECT attrs['color'] AS color FROM products
SELECT unnest(ARRAY[1, 2, 3]) AS n, (ARRAY['a', 'b'])[1], array_length(ARRAY[1, 2], 1)
SELECT u.x, u.n FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS u(x, n)
SELECT dept, status, count(*) FROM employees, orders GROUP BY GROUPING SETS ((dept, status), (dept), ())
SELECT dept, grouping(dept), sum(salary) FROM employees GROUP BY ROLLUP (dept)
SELECT dept, extract(year FROM hired), count(*) FROM employees GROUP BY CUBE (1, 2)
SELECT name, rank() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST), first_value(name) OVER w FROM employees WINDOW w AS (PARTITION BY dept ORDER BY hired)
SELECT name, avg(salary) OVER (ORDER BY hired RANGE BETWEEN '1 year' PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM employees
SELECT name, sum(salary) OVER (ORDER BY hired GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM employees
SELECT name, ntile(4) OVER (ORDER BY salary), lag(salary, 1, 0) OVER (ORDER BY hired), cume_dist() OVER (ORDER BY salary) FROM employees
WITH RECURSIVE chain(id, depth) AS (SELECT id, 0 FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, c.depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id) SEARCH DEPTH FIRST BY id SET ord SELECT * FROM chain ORDER BY ord
WITH recent AS MATERIALIZED (SELECT * FROM orders WHERE placed > '2024-01-01') SELECT c.name FROM customers c JOIN recent r ON r.customer_id = c.id
SELECT c.name, o.total FROM customers c LEFT JOIN LATERAL (SELECT total FROM orders WHERE customer_id = c.id ORDER BY placed DESC LIMIT 1) o ON true
SELECT name FROM customers ORDER BY birth DESC NULLS LAST FETCH FIRST 1 ROW WITH TIES
SELECT name FROM customers ORDER BY name OFFSET 1 LIMIT 1
TABLE customers ORDER BY id LIMIT 2
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, s) WHERE v.n > 1
SELECT name FROM customers INTERSECT ALL SELECT name FROM employees
(SELECT name FROM customers ORDER BY 1 LIMIT 1) UNION ALL (SELECT name FROM employees ORDER BY 1 LIMIT 1)
SELECT split_part(email, '@', 2) AS domain, position('@' IN email), substring(email FROM '@(.*)$'), overlay(name PLACING 'X' FROM 1 FOR 1) FROM customers
SELECT regexp_replace(name, '[aeiou]', '', 'g'), regexp_matches(name, '(.)', 'g'), regexp_count(name, 'a') FROM customers
SELECT format('%s (%s)', name, city), concat_ws(', ', name, city), initcap(name), lpad(name, 6, '*'), left(name, -1) FROM customers
SELECT CASE WHEN total > 50 THEN 'big' ELSE 'small' END AS size, count(*) FROM orders GROUP BY size HAVING count(*) > 0
SELECT width_bucket(total, 0, 100, 5), count(*) FROM orders GROUP BY 1
SELECT bool_and(total > 5), every(total > 5), corr(total, id), regr_slope(total, id), stddev(total) FROM orders
SELECT (placed, shipped) OVERLAPS (DATE '2024-01-01', DATE '2024-02-01') FROM orders
SELECT daterange(placed, shipped, '[]') @> DATE '2024-01-06', lower(daterange(placed, shipped)) FROM orders
SELECT name FROM customers WHERE to_tsvector('english', notes) @@ plainto_tsquery('glass')
SELECT name, ts_rank_cd(to_tsvector('english', notes), to_tsquery('english', 'glass & steel')) FROM customers
SELECT make_date(2024, 1, 5), date_bin('15 minutes', created, '2020-01-01'), justify_days(INTERVAL '35 days'), now()::date FROM orders
SELECT count(*) FROM orders TABLESAMPLE BERNOULLI (100)
SELECT row_to_json(c), json_build_object('id', c.id) FROM customers c
SELECT c FROM customers c
SELECT json_agg(t) FROM (SELECT id, name FROM customers) t
SELECT ARRAY(SELECT name FROM customers ORDER BY id) AS names
SELECT name FROM customers WHERE (city, country) IN (SELECT 'Rome', 'IT')
SELECT name FROM customers WHERE ROW(city, country) = ROW('Rome', 'IT') AND birth IS NOT NULL
SELECT name FROM employees e WHERE salary > (SELECT avg(salary) FROM employees WHERE dept = e.dept)
SELECT count(*) FROM customers c FULL JOIN employees e USING (name)
SELECT 5 / 2, 5 % 2, 2 ^ 3, |/ 16, @ -5, 5 & 3, 1 << 2, ~1, 'a' || 'b'
SELECT name COLLATE "C" FROM customers ORDER BY name COLLATE "C"
SELECT array_to_string(ARRAY[1, NULL, 3], ',', '*'), string_to_array('a,b', ','), cardinality(ARRAY[1]), 2 = ANY (ARRAY[1, 2])
SELECT encode(sha256('x'), 'hex'), md5('x'), sha512('x'), gen_random_uuid() IS NOT NULL
SELECT num_nulls(city, birth), num_nonnulls(city, birth) FROM customers
SELECT isfinite(placed), clock_timestamp() > now(), timezone('UTC', created) FROM orders
SELECT normalize('x'), unistr('\0061'), bit_count('\x1234'::bytea), lcm(4, 6), gcd(4, 6), trim_scale(1.50), scale(1.5)
SELECT greatest(1, 2), least(1, 2), nullif(1, 1), trunc(1.5), sign(-1), div(7, 2), mod(7, 2), log(2, 8), cbrt(27)
SELECT ts_headline('english', notes, to_tsquery('glass')) FROM customers
SELECT count(*) AS "Orders", max(total) "Max total" FROM "orders" AS "o"
SELECT name FROM customers WHERE birth BETWEEN SYMMETRIC '1990-01-01' AND '1970-01-01'
SELECT name FROM customers WHERE city NOT ILIKE ALL (ARRAY['r%', 'x%'])
SELECT sum(total) FILTER (WHERE status = 'open') OVER (PARTITION BY customer_id) FROM orders
SELECT rank(700) WITHIN GROUP (ORDER BY salary) FROM employees
SELECT * FROM customers JOIN orders o ON o.customer_id = customers.id JOIN LATERAL (SELECT count(*) n FROM order_lines l WHERE l.order_id = o.id) x ON x.n > 1
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS r(a, b)
SELECT array_fill(0, ARRAY[3]), array_position(ARRAY[1, 2], 2), ARRAY[1, 2] || 3, (ARRAY[1, 2, 3])[2:3]
