-- Statements that showed a denied value once, one a line.
SELECT c.name FROM customer c, generate_series(1, (c::text)::int) g
SELECT c::text FROM customer c, generate_series(1, 1) g
SELECT k.value FROM customer c, json_each_text(row_to_json(c)) k WHERE k.key = 'email'
SELECT email_lc FROM customer
SELECT a FROM above
SELECT '$.a' AS x0 FROM customer NATURAL JOIN docs AS t1, arms
SELECT '%a%' AS x0 FROM olds JOIN customer AS t1 ON (olds.email)::text = (olds.email)::text, tested
SELECT '' AS x0, above.b AS x1 FROM above WHERE (above.a)::text <> above.b LIMIT 2
SELECT 'Perth' AS x0, name AS x1, t0.email AS x2 FROM olds AS t0
SELECT (SELECT above.a AS x0 FROM olds GROUP BY CASE WHEN (olds.name)::text IS DISTINCT FROM (2.5)::text THEN name END LIMIT 2) AS x0 FROM above
SELECT -1 AS x0, reach AS x1, t0.reach AS x2 FROM renamed AS t0 LIMIT 2
SELECT 1 AS x0 FROM above WHERE above.a <> 'a'
SELECT 10 AS x0, t0.a AS x1, b AS x2 FROM above AS t0
SELECT 2.5 AS x0, 2.5 AS x1 FROM arms AS t0 LEFT JOIN orders AS t1 ON CASE WHEN (t1.customer_id)::text IS DISTINCT FROM t0.x THEN '$.a' END IS NULL
SELECT CASE WHEN (t0.x0)::text IS DISTINCT FROM (t0.email)::text THEN arms.id END AS x0 FROM docs AS t0(x0), arms
SELECT CAST(t1.email AS text) AS x0 FROM docs AS t0, docs AS t1
SELECT DISTINCT 2.5 AS x0, t0.b AS x1 FROM above AS t0 WHERE (t0.a)::text >= a
SELECT DISTINCT above.a AS x0 FROM above ORDER BY above.a
SELECT DISTINCT olds.email AS x0, olds.email AS x1, '' AS x2 FROM arms AS t0 NATURAL JOIN olds LIMIT 2
SELECT DISTINCT t0.b AS x0 FROM above AS t0 WHERE (0)::text <> (a)::text ORDER BY t0.b
SELECT DISTINCT t0.reach AS x0 FROM renamed AS t0
SELECT DISTINCT t1.pay AS x0 FROM orders, customer AS t1, customer AS t2
SELECT NULL AS x0 FROM customer NATURAL JOIN docs AS t1, arms AS t2 LIMIT 2
SELECT a AS x0 FROM above AS t0 JOIN docs ON ('')::text NOT LIKE (docs.email)::text LIMIT 2
SELECT a AS x0, '$.a' AS x1, 'Perth' AS x2 FROM above AS t0 LIMIT 2
SELECT a AS x0, t0.b AS x1, t0.a AS x2 FROM above AS t0
SELECT above.a AS x0, above.b AS x1, above.a AS x2 FROM above WHERE ('%a%')::text < (b)::text ORDER BY CAST(a AS text)
SELECT above.b AS x0, above.a AS x1 FROM above
SELECT arms.x AS x0 FROM arms NATURAL JOIN renamed, customer AS t2(x0) LIMIT 2
SELECT b AS x0 FROM above AS t0 WHERE (t0.a)::text NOT LIKE t0.b
SELECT concat_ws((b)::text, (above.b)::text, (city)::text) AS x0, city AS x1 FROM docs LEFT JOIN above ON CAST(docs.email AS date) IS NULL, people AS t2
SELECT docs.email AS x0, 10 AS x1, 10 AS x2 FROM docs WHERE docs.email NOT LIKE docs.name LIMIT 2
SELECT email AS x0 FROM docs AS t0 GROUP BY t0.email
SELECT email AS x0 FROM olds, people AS t1 LIMIT 2
