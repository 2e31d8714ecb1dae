-- What SQLite reads and PostgreSQL mostly does not, one statement a line: each must parse, print, and parse to the same.
SELECT [order id], `group`, "Name", 'x' FROM [my table]
SELECT `a``b`, "c""d", 'it''s' FROM t
SELECT a 'alias one', b AS 'alias two', c "alias three", d [alias four] FROM t AS 'tt'
SELECT 't'.a, t.'a' FROM t
SELECT a == b, a != b, a <> b, a = b FROM t
SELECT a FROM t LIMIT 3, 10
SELECT a FROM t LIMIT 10 OFFSET 3
SELECT offset, limit_ FROM t WHERE offset > 1 AND t.offset - 1 < 3 ORDER BY offset
SELECT x'1F', X'', 0x1F, 1e5, .5, 5.
SELECT ?, ?1, :name, @name, $name
SELECT a IS 3, a IS NOT 'x', a IS b, a IS NOT b FROM t
SELECT a NOT NULL, a NOTNULL, a ISNULL FROM t
SELECT a GLOB 'x*', a NOT GLOB 'y', a REGEXP 'z', a MATCH 'w' FROM t
SELECT a LIKE 'x' ESCAPE '\' FROM t
SELECT a IN t2, a NOT IN main.t2, a IN (), a IN f(1, 2) FROM t
SELECT * FROM t INDEXED BY i WHERE a = 1
SELECT * FROM t AS x NOT INDEXED
SELECT * FROM a JOIN b
SELECT * FROM a, b ON a.x = b.x
SELECT * FROM a, b USING (x), c
SELECT * FROM (a, b)
SELECT * FROM (a, b JOIN c USING (x)) AS u
SELECT * FROM a CROSS JOIN b ON a.x = b.x
SELECT * FROM a NATURAL CROSS JOIN b
SELECT * FROM a LEFT NATURAL OUTER JOIN b
SELECT * FROM json_each('[1, 2]') AS j, generate_series(1, 3)
SELECT * FROM main.pragma_table_info('t')
SELECT * FROM (SELECT 1) WHERE 1
SELECT * FROM ((SELECT 1) AS a JOIN (SELECT 2) AS b)
SELECT a FROM t UNION SELECT b FROM u INTERSECT SELECT c FROM v EXCEPT SELECT d FROM w
SELECT max(a), b FROM t GROUP BY b HAVING a
SELECT a FROM t GROUP BY 1 ORDER BY 1 COLLATE NOCASE DESC NULLS LAST
SELECT group_concat(a, ', '), total(a), count(DISTINCT a) FROM t
SELECT CAST(a AS INTEGER), CAST(a AS VARCHAR(10, 2)), CAST(a AS UNSIGNED BIG INT) FROM t
SELECT CASE a WHEN 1 THEN 'x' ELSE NULL END FROM t
SELECT a COLLATE NOCASE = 'x' FROM t
SELECT ~a, -a, +a, - -a, -(-a), NOT a, NOT NOT a FROM t
SELECT a || b || c, a -> '$.x', a ->> '$.x' FROM t
SELECT 1 + 2 * 3 % 4 - 5 / 6, 1 << 2 | 3 & 4 >> 5
SELECT a < b = c > d FROM t
SELECT (SELECT 1), (SELECT a FROM t WHERE t.b = u.b), EXISTS (SELECT 1), NOT EXISTS (SELECT 2) FROM u
SELECT a IN ((SELECT 1)), a IN (SELECT 1), a IN (1) FROM t
SELECT (1, 2) = (SELECT 1, 2), (a, b) IN (SELECT 1, 2) FROM t
SELECT a BETWEEN 1 AND 2 AND b BETWEEN 3 AND 4 OR c NOT BETWEEN 5 AND 6 FROM t
SELECT a BETWEEN b = c AND d FROM t
SELECT date, year, month, key, first, last, rank, row, rows, end, desc, by, true, current_date FROM t
SELECT t.date, t.key, t.first FROM t AS t
SELECT any, some, array, interval, extract, position, trim, overlay, lateral, fetch, within, over, filter, window FROM t
SELECT ilike, similar, at, unknown, symmetric, grouping, ordinality, indexed_, tablesample, overlaps FROM t
SELECT left, right, full, inner, outer, cross, natural FROM t
SELECT left(a, 1), replace(a, 'x', 'y'), like(a, b), glob(a, b), if(a, b, c), date('now'), trim(a), position(a), extract(a) FROM t
SELECT strftime('%Y', date) FROM t WHERE date LIKE '2020%'
SELECT count(*), count(a) FILTER (WHERE b), count(*) OVER (), sum(a) OVER w, rank() OVER (w ORDER BY a) FROM t WINDOW w AS (PARTITION BY b)
SELECT sum(a) FILTER (WHERE b > 1) OVER (PARTITION BY c ORDER BY d DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE GROUP) FROM t
WITH a AS (SELECT 1), b(x, y) AS NOT MATERIALIZED (SELECT 1, 2) SELECT * FROM a, b
WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 3) SELECT n FROM c
SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a)
VALUES (1, 2), (3, 4) ORDER BY 1 LIMIT 1
SELECT 1 UNION ALL VALUES (2)
SELECT DISTINCT a, b FROM t
SELECT ALL a FROM t
SELECT "a" FROM t WHERE b = "a string"
SELECT a -- comment
SELECT a /* in the middle */ FROM /* here */ t
SELECT T1.a , T2.b FROM t AS T1 JOIN u AS T2 ON T1.id  =  T2.id WHERE T1.c  =  'x'   GROUP BY T1.a HAVING count(*)  >=  2 ORDER BY count(*) DESC LIMIT 1
SELECT a FROM t WHERE a NOT IN (SELECT a FROM u) AND NOT (b = 1 OR c = 2)
SELECT a FROM t WHERE a > (SELECT avg(a) FROM t) EXCEPT SELECT a FROM u
SELECT é, "ñandú", 名前 FROM tëst
SELECT 'naïve', '日本語', '🙂'
SELECT iif(a, b, c), coalesce(a, b), nullif(a, b), a IS NULL FROM t
SELECT e.name FROM employees e WHERE e.salary = (SELECT max(salary) FROM employees x WHERE x.dept = e.dept)
SELECT a FROM t ORDER BY CASE WHEN a IS NULL THEN 1 ELSE 0 END, a
SELECT 1 ;
SELECT a FROM main.t, temp.u AS u2
SELECT current_timestamp, current_time, CURRENT_DATE
SELECT a FROM t WHERE a = -1 AND b = - 1 AND c = +1
SELECT NOT a = b, NOT (a = b), (NOT a) = b, a = (NOT b), -(a + b), (-a) + b, -a + b FROM t
SELECT (a + b) * c, a + b * c, (a * b) + c, a - (b - c), (a - b) - c FROM t
SELECT (a OR b) AND c, a OR b AND c, (a AND b) OR c, NOT (a AND b) FROM t
SELECT (a = b) IS NULL, a = (b IS NULL), (a IS NULL) IS NOT NULL FROM t
SELECT (((a))), ((a) + ((b))) FROM t
SELECT * FROM t1 LEFT JOIN t2 ON t1.a = t2.a RIGHT JOIN t3 USING (b, c) FULL JOIN t4 ON 1
SELECT sum(a) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), sum(a) OVER (RANGE UNBOUNDED PRECEDING) FROM t
SELECT sum(a) OVER (GROUPS CURRENT ROW EXCLUDE TIES), sum(a) OVER (PARTITION BY b ROWS 2 PRECEDING) FROM t
SELECT sum(a) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE NO OTHERS), sum(a) OVER (w) FROM t WINDOW w AS (PARTITION BY b)
SELECT a 'alias', variadic, search, cycle FROM t 'u' WHERE only = 1
SELECT ~ ~a, ~ - ~1, - - -b FROM t
SELECT * FROM (a, lateral, b)
-- what analysts write
SELECT strftime('%Y-%m', placed) AS month, SUM(total) FROM orders GROUP BY month ORDER BY month
SELECT id FROM orders WHERE placed >= date('now', '-1 year', 'start of month')
SELECT julianday(shipped) - julianday(placed) AS days FROM orders
SELECT name, json_extract(attrs, '$.color'), attrs ->> '$.dims.w', attrs -> 'sizes' FROM products
SELECT p.name, j.value FROM products p, json_each(p.attrs, '$.sizes') j
SELECT p.name, t.fullkey, t.atom FROM products p JOIN json_tree(p.attrs) AS t WHERE t.type = 'text'
SELECT json_group_array(name), json_group_object(name, salary) FROM employees
SELECT group_concat(name, '; '), group_concat(DISTINCT city) FROM customers
SELECT total(total), avg(total), count(*) FILTER (WHERE status = 'open') FROM orders
SELECT name, rank() OVER (PARTITION BY dept ORDER BY salary DESC) FROM employees
SELECT name, sum(salary) OVER (ORDER BY hired ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM employees
SELECT name, sum(salary) OVER (ORDER BY salary RANGE BETWEEN 100 PRECEDING AND 100 FOLLOWING EXCLUDE CURRENT ROW) FROM employees
SELECT name, first_value(name) OVER win, nth_value(name, 2) OVER (win ROWS UNBOUNDED PRECEDING) FROM employees WINDOW win AS (PARTITION BY dept ORDER BY salary)
WITH RECURSIVE chain(id, depth) AS (SELECT id, 0 FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id ORDER BY 2 DESC LIMIT 10) SELECT * FROM chain
WITH t AS NOT MATERIALIZED (SELECT * FROM orders) SELECT count(*) FROM t
WITH RECURSIVE cnt(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM cnt WHERE x < 5) SELECT x FROM cnt
SELECT name FROM customers WHERE name LIKE 'A\_%' ESCAPE '\' OR name GLOB '[A-C]*'
SELECT name FROM customers WHERE (city, country) IN (VALUES ('Rome', 'IT'), ('Oslo', 'NO'))
SELECT name FROM customers WHERE (city, country) = ('Rome', 'IT')
SELECT name FROM customers WHERE city IS NOT 'Rome'
SELECT name FROM customers WHERE city IS NOT DISTINCT FROM 'Rome'
SELECT name FROM customers WHERE birth ISNULL OR birth NOTNULL OR birth NOT NULL
SELECT * FROM customers NATURAL JOIN employees
SELECT * FROM customers LEFT JOIN employees USING (name) WHERE salary > 1
SELECT c.name FROM customers c RIGHT JOIN employees e ON e.name = c.name FULL OUTER JOIN orders o ON o.id = e.id
SELECT name FROM customers UNION SELECT name FROM employees ORDER BY name COLLATE NOCASE LIMIT 2
SELECT name FROM customers EXCEPT SELECT name FROM employees INTERSECT SELECT name FROM customers
SELECT CASE WHEN total > 50 THEN 'big' ELSE 'small' END AS size, count(*) FROM orders GROUP BY 1 HAVING count(*) > 0
SELECT iif(total > 50, 'big', 'small'), ifnull(total, 0), coalesce(shipped, placed), nullif(status, 'open') FROM orders
SELECT CAST(total AS INTEGER), CAST(total AS REAL), typeof(total), round(total, 1) FROM orders
SELECT substr(name, 1, 2) || '.' AS short, instr(email, '@'), replace(name, 'a', ''), upper(name), trim(name, 'A'), printf('%.2f', 1.5) FROM customers
SELECT 7 / 2, 7 % 2, 7.0 / 2, 5 & 3, 5 | 3, ~1, 1 << 2, -5, +5, NOT 0, 1 == 1, 1 != 2, 1 <> 2
SELECT 'it''s', x'41', 1e3, .5, 0x1F, NULL, TRUE, CURRENT_DATE
SELECT max(id, 5), min(id, 5), abs(-1), random() IS NOT NULL, hex('a'), length(name) FROM customers
SELECT city, max(birth), name FROM customers GROUP BY city
SELECT count(DISTINCT city) FROM customers
SELECT * FROM orders INDEXED BY sqlite_autoindex_orders_1 WHERE id = 10
SELECT * FROM orders NOT INDEXED WHERE id = 10
SELECT name FROM customers ORDER BY birth DESC NULLS LAST LIMIT 1 OFFSET 1
SELECT name FROM customers ORDER BY random() LIMIT 5, 2
VALUES (1, 2), (3, 4)
SELECT * FROM (VALUES (1, 'a'), (2, 'b'))
SELECT column1 FROM (VALUES (1), (2)) AS v
SELECT "name", [city], `country` FROM "customers"
SELECT rowid, * FROM customers WHERE rowid = 1
SELECT o.id, (SELECT SUM(qty * price) FROM order_lines l WHERE l.order_id = o.id) AS value FROM orders o
SELECT EXISTS (SELECT 1 FROM orders WHERE status = 'open') AS any_open
SELECT name FROM employees e WHERE salary > (SELECT avg(salary) FROM employees WHERE dept = e.dept)
SELECT a.name, b.name FROM employees a, employees b WHERE a.manager_id = b.id
SELECT time('12:00', '+30 minutes'), datetime('2024-01-01', 'weekday 0'), unixepoch('2024-01-01'), strftime('%w', '2024-01-01')
SELECT sum(CASE WHEN status = 'open' THEN 1 ELSE 0 END) * 1.0 / count(*) AS share FROM orders
SELECT name FROM customers WHERE name BETWEEN 'A' AND 'C' AND name NOT IN (SELECT name FROM employees)
SELECT concat(name, city), concat_ws('-', name, city), format('%s', name) FROM customers
SELECT json_array_length(attrs, '$.sizes'), json_type(attrs, '$.dims'), json_valid(attrs), json_quote('x'), json_object('a', 1) FROM products
SELECT likely(1), unlikely(0), sign(-2), ceil(1.2), floor(1.7), pow(2, 3), sqrt(4), ln(2), log(10), pi(), mod(7, 2), exp(1)
SELECT name FROM customers c WHERE NOT EXISTS (SELECT NULL FROM orders o WHERE o.customer_id = c.id)
SELECT DISTINCT dept, count(*) OVER (PARTITION BY dept) FROM employees
SELECT max(total) OVER (), lag(total, 1, 0) OVER (ORDER BY placed), ntile(2) OVER (ORDER BY total), percent_rank() OVER (ORDER BY total) FROM orders
SELECT main.customers.name FROM main.customers
SELECT soundex('a'), quote('x'), unicode('a'), char(65), zeroblob(2), unhex('41'), octet_length('a'), json_pretty('[1]'), json('[1]'), json_insert('{}', '$.a', 1), json_set('{}', '$.a', 1), json_patch('{}', '{"a":1}'), jsonb('[1]') IS NULL
