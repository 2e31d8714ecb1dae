-- MariaDB SELECTs, one a line. A server of version 10.11 accepts each on the tables that they name. lib/sql must parse
-- each, what it prints must parse to the same tree (tests/unit/sql/test_print.c), and the gate in front of the server
-- must let each pass (tests/unit/db/test_mariadb.c).

SELECT c.name, COUNT(DISTINCT o.status, o.placed) AS kinds FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name
SELECT GROUP_CONCAT(DISTINCT city ORDER BY city DESC) FROM customers
SELECT DATE_FORMAT(placed, '%Y-%m') AS month, SUM(total) FROM orders GROUP BY month WITH ROLLUP
SELECT id FROM orders WHERE placed BETWEEN '2024-01-01' AND LAST_DAY('2024-02-01')
SELECT id FROM orders WHERE placed >= DATE_SUB(CURDATE(), INTERVAL 1 YEAR)
SELECT id, placed + INTERVAL '1-2' YEAR_MONTH AS due FROM orders
SELECT id, DATE_ADD(created, INTERVAL '1 02:30' DAY_MINUTE) FROM orders
SELECT EXTRACT(YEAR_MONTH FROM placed) AS ym, COUNT(*) FROM orders GROUP BY ym
SELECT TIMESTAMPDIFF(DAY, placed, shipped) AS days FROM orders WHERE shipped IS NOT NULL
SELECT 1 + 1 FROM DUAL
SELECT SQL_NO_CACHE id FROM orders
SELECT SQL_CALC_FOUND_ROWS id FROM orders LIMIT 2
SELECT STRAIGHT_JOIN c.name FROM customers c JOIN orders o ON o.customer_id = c.id
SELECT c.name FROM customers c STRAIGHT_JOIN orders o ON o.customer_id = c.id
SELECT DISTINCTROW city FROM customers
SELECT name FROM customers WHERE BINARY city = 'rome'
SELECT name FROM customers WHERE name NOT RLIKE '^A'
SELECT name FROM customers WHERE city = 'Rome' && country = 'IT'
SELECT name FROM customers WHERE !(city = 'Rome')
SELECT name FROM customers WHERE city <=> NULL
SELECT name FROM customers WHERE (city, country) IN (('Rome', 'IT'), ('Oslo', 'NO'))
SELECT name FROM customers WHERE ROW(city, country) = ROW('Rome', 'IT')
SELECT IF(total > 50, 'big', 'small') AS size, COUNT(*) FROM orders GROUP BY size
SELECT IFNULL(total, 0), NULLIF(status, 'open'), COALESCE(shipped, placed) FROM orders
SELECT CAST(total AS UNSIGNED), CAST(placed AS CHAR(10)), CONVERT(total, SIGNED), CONVERT(name USING latin1) FROM orders JOIN customers ON customers.id = customer_id
SELECT CAST(name AS CHAR CHARACTER SET utf8mb4) FROM customers
SELECT name COLLATE utf8mb4_bin AS n FROM customers ORDER BY name COLLATE utf8mb4_bin
SELECT JSON_VALUE(attrs, '$.color') AS color FROM products WHERE JSON_CONTAINS(attrs, '"S"', '$.sizes')
SELECT name, JSON_QUERY(attrs, '$.dims') AS dims, JSON_UNQUOTE(JSON_EXTRACT(attrs, '$.color')) FROM products
SELECT p.name, s.size FROM products p JOIN JSON_TABLE(p.attrs, '$.sizes[*]' COLUMNS (pos FOR ORDINALITY, size VARCHAR(5) PATH '$')) AS s
SELECT p.name, j.w FROM products AS p LEFT JOIN JSON_TABLE(p.attrs, '$' COLUMNS (w INT PATH '$.dims.w' DEFAULT '0' ON EMPTY NULL ON ERROR)) j ON TRUE
SELECT name, salary, RANK() OVER (PARTITION BY dept ORDER BY salary DESC) AS r FROM employees
SELECT dept, MEDIAN(salary) OVER (PARTITION BY dept) AS med FROM employees
SELECT DISTINCT dept, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) OVER (PARTITION BY dept) AS med FROM employees
SELECT name, SUM(salary) OVER w AS run FROM employees WINDOW w AS (ORDER BY hired ROWS UNBOUNDED PRECEDING)
SELECT name, LAG(salary, 1) OVER (ORDER BY hired) FROM employees
WITH RECURSIVE chain AS (SELECT id, name, manager_id, 0 AS depth FROM employees WHERE manager_id IS NULL UNION ALL SELECT e.id, e.name, e.manager_id, depth + 1 FROM employees e JOIN chain c ON e.manager_id = c.id) SELECT * FROM chain
SELECT name FROM customers ORDER BY FIELD(country, 'NO', 'IT'), name
SELECT name FROM customers ORDER BY birth IS NULL, birth LIMIT 1, 2
SELECT name FROM customers ORDER BY name LIMIT 2 OFFSET 1
SELECT name FROM customers ORDER BY name OFFSET 1 ROW FETCH NEXT 1 ROWS ONLY
SELECT name FROM customers EXCEPT SELECT name FROM employees
(SELECT name FROM customers ORDER BY name LIMIT 1) UNION ALL (SELECT name FROM employees ORDER BY name LIMIT 1) ORDER BY name
SELECT name FROM customers WHERE MATCH(notes) AGAINST ('glass' IN BOOLEAN MODE)
SELECT name, MATCH(notes) AGAINST ('glass steel') AS score FROM customers ORDER BY score DESC
SELECT id FROM orders USE INDEX (PRIMARY) WHERE id > 10
SELECT o.id FROM orders AS o FORCE INDEX FOR ORDER BY (PRIMARY) ORDER BY o.id
SELECT id FROM orders WHERE total > ALL (SELECT total FROM orders WHERE status = 'open')
SELECT status, COUNT(*) AS n FROM orders GROUP BY status HAVING n > 1 ORDER BY n DESC
SELECT YEAR(placed) AS y, QUARTER(placed) AS q, WEEK(placed, 3), SUM(total) FROM orders GROUP BY y, q
SELECT 7 DIV 2, 7 MOD 2, 7 % 2, 2 ^ 3, ~1 & 3, TRUE XOR FALSE
SELECT DATE '2024-01-01', TIME '10:00:00', TIMESTAMP '2024-01-01 10:00:00'
SELECT TRIM(BOTH ' ' FROM name), SUBSTRING(name FROM 1 FOR 2), POSITION('a' IN name), INSERT(name, 1, 1, 'X') FROM customers
SELECT CONCAT_WS(' - ', name, city), FORMAT(salary, 2), LPAD(name, 6, '*') FROM customers JOIN employees USING (name)
SELECT c.* FROM customers AS c NATURAL LEFT JOIN employees
SELECT name FROM customers WHERE EXISTS (SELECT * FROM orders WHERE customer_id = customers.id AND status IN ('open', 'shipped'))
SELECT o.id, (SELECT SUM(qty * price) FROM order_lines l WHERE l.order_id = o.id) AS value FROM orders o
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v
VALUES (1, 2), (3, 4)
SELECT BIT_COUNT(5), GREATEST(1, 2), LEAST(1, 2), TRUNCATE(1.234, 2), ROUND(1.5), RAND(3), CONV('ff', 16, 10), INET_ATON('10.0.0.1')
SELECT INTERVAL(23, 1, 15, 17, 30)
SELECT STR_TO_DATE('01,5,2013', '%d,%m,%Y'), UNIX_TIMESTAMP(created), FROM_UNIXTIME(0), MAKEDATE(2024, 5) FROM orders
SELECT DAYNAME(placed), MONTHNAME(placed), ELT(2, 'a', 'b'), FIND_IN_SET('b', 'a,b') FROM orders
SELECT CASE status WHEN 'open' THEN 1 ELSE 0 END AS is_open FROM orders
SELECT name FROM customers WHERE name LIKE 'A|_%' ESCAPE '|'
SELECT COUNT(*) FROM customers WHERE birth IS NOT NULL AND NOT city = 'Oslo' OR country IS UNKNOWN
SELECT VAR_POP(salary), STDDEV_SAMP(salary), BIT_OR(id), STD(salary) FROM employees
SELECT dept, AVG(DISTINCT salary) FROM employees GROUP BY dept ORDER BY AVG(salary) DESC LIMIT 1
SELECT GROUP_CONCAT(name ORDER BY name DESC SEPARATOR '; ') FROM customers
SELECT 'it''s' AS a, 0x41 AS d, b'01' AS e
SELECT p.name, j.n, j.s FROM products p, JSON_TABLE(p.attrs, '$[*]' COLUMNS (n FOR ORDINALITY, has INT EXISTS PATH '$.x', NESTED PATH '$.y[*]' COLUMNS (s VARCHAR(5) PATH '$', NESTED PATH '$.z' COLUMNS (t DECIMAL(10,2) PATH '$' DEFAULT '0' ON EMPTY ERROR ON ERROR)))) AS j
SELECT name FROM customers WHERE MATCH(notes, name) AGAINST ('glass' IN NATURAL LANGUAGE MODE WITH QUERY EXPANSION) > 0.5
SELECT name FROM customers WHERE MATCH(notes) AGAINST ('glass' WITH QUERY EXPANSION) AND NOT MATCH (name) AGAINST ('x' IN NATURAL LANGUAGE MODE)
SELECT c.id FROM customers AS c USE KEY (PRIMARY, notes) IGNORE INDEX FOR GROUP BY (`notes`) JOIN orders o USE INDEX () ON o.customer_id = c.id
SELECT id FROM orders PARTITION (p0, p1) AS o WHERE o.total > 5
SELECT name FROM customers WHERE name = BINARY 'Ada' AND BINARY(city) <> 'x' AND !(id > 1 OR id < 0)
SELECT CONVERT(total, DECIMAL(10, 2)), CONVERT(placed, CHAR), CONVERT(total, UNSIGNED INTEGER), CONVERT(name USING utf8mb4) FROM orders
SELECT placed - INTERVAL '1 12' DAY_HOUR, placed + INTERVAL 90 MINUTE_SECOND FROM orders
SELECT SQL_NO_CACHE SQL_BIG_RESULT DISTINCT status FROM orders
SELECT SQL_CALC_FOUND_ROWS * FROM orders LIMIT 1
SELECT NOW() FROM dual WHERE TRUE
SELECT DISTINCT dept, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY salary DESC) OVER (PARTITION BY dept) FROM employees
SELECT id FROM orders USE INDEX (`PRIMARY`, customer_id), customers PARTITION (`p0`, p1) c
