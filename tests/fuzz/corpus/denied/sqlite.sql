-- Statements that showed a denied value once, one a line.
SELECT email_lc FROM customer
SELECT pay FROM customer
SELECT a FROM above
SELECT rowid FROM badge
SELECT email FROM docs('Ann')
SELECT "email" AS x0 FROM docs AS t0
SELECT '$.a' AS x0, olds.name AS x1, t0.b AS x2 FROM above AS t0 JOIN olds ON name LIKE olds.name WHERE t0.a IS NOT NULL LIMIT 2
SELECT '' AS x0, email AS x1, format(CASE WHEN 2.5 < t0.email THEN t0.email ELSE 'Perth' END, 1) AS x2 FROM docs AS t0
SELECT 'Perth' AS x0, x AS x1 FROM arms AS t0 WHERE t0.id <> '%a%' LIMIT 2
SELECT (1 NOT LIKE email) AS x0 FROM docs AS t0
SELECT (olds.name LIKE olds.name) AS x0 FROM olds WHERE CAST(olds.email AS INTEGER) <> olds.email
SELECT -1 AS x0 FROM olds AS t0 RIGHT JOIN above AS t1 ON '$.a' < 1 JOIN tested AS t2 ON 'Perth' <> t1.a
SELECT -1 NOT IN (label) AS x0, ('' = customer.email_lc) AS x1, customer.pay AS x2 FROM customer
SELECT 1 AS x0, t0.x AS x1 FROM arms AS t0 NATURAL JOIN tested AS t1 FULL JOIN renamed AS t2 ON (t0.id BETWEEN '' AND 2.5) >= t1.id
SELECT 2.5 AS x0 FROM customer AS t0 WHERE 1 = pay
SELECT 2.5 AS x0, t0.reach NOT IN (t0.id, t0.who, t0.id) AS x1, id AS x2 FROM renamed AS t0 WHERE t0.who NOT LIKE '$.a'
SELECT CAST("email" AS INTEGER) AS x0, (id <> "email") AS x1 FROM people AS t0, olds AS t1 JOIN orders AS t2 USING (id)
SELECT CAST(reach AS REAL) AS x0, t0.reach AS x1 FROM renamed AS t0
SELECT DISTINCT 'Perth' AS x0, (a * a) AS x1, 'a' AS x2 FROM above AS t0 WHERE t0.a <> t0.b
SELECT DISTINCT 2.5 AS x0 FROM olds AS t0 NATURAL JOIN olds AS t1 WHERE 'a' NOT LIKE email ORDER BY CAST('$.a' AS TEXT)
SELECT DISTINCT arms.x AS x0, arms.x AS x1, arms.id AS x2 FROM arms WHERE -1 NOT LIKE id
SELECT DISTINCT name AS x0, t0.pay AS x1, t0.email_lc AS x2 FROM customer AS t0 WHERE doc >= 10 ORDER BY t0.pay LIMIT 2
SELECT DISTINCT t0.a AS x0, t0.a AS x1, t0.b AS x2 FROM above AS t0
SELECT DISTINCT t0.pay AS x0 FROM customer AS t0 NATURAL JOIN above AS t1
SELECT DISTINCT t1.email AS x0 FROM olds AS t0, docs AS t1 LIMIT 2
SELECT NULL AS x0 FROM arms AS t0 WHERE t0.id < x
SELECT a AS x0 FROM above AS t0 LIMIT 2
SELECT a AS x0, b AS x1, 1 AS x2 FROM above
SELECT above.a AS x0 FROM people AS t0, above WHERE 0 = above.a
SELECT above.b AS x0, above.a AS x1 FROM above
SELECT arms.x AS x0, 0 AS x1, arms.x AS x2 FROM arms LIMIT 2
SELECT b AS x0, b AS x1, t0.b NOT IN (-1, t0.a, t0.a) AS x2 FROM above AS t0
SELECT customer.pay AS x0, '' AS x1 FROM customer, tested AS t1 GROUP BY (customer.doc || 'Perth')
SELECT docs.email AS x0, '' AS x1 FROM docs NATURAL JOIN badge AS t1 WHERE docs.name < 'Perth'
SELECT docs.name AS x0, t1.email_lc AS x1, '%a%' AS x2 FROM docs, customer AS t1
