CREATE TABLE customers (
  customer_no INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  segment TEXT NOT NULL, -- home, shop, plant
  region TEXT, -- two-letter code of the grid region, NULL: not assigned yet
  joined_on DATE NOT NULL,
  left_on DATE, -- NULL: still a customer
  is_test INTEGER NOT NULL DEFAULT 0,
  email TEXT,
  referred_by INTEGER -- customer who brought this one
);
CREATE TABLE tariffs (
  tariff_code TEXT NOT NULL,
  tariff_name TEXT,
  valid_from DATE NOT NULL,
  valid_to DATE, -- first day on which it no longer holds, NULL: current
  cents_per_kwh REAL NOT NULL,
  standing_cents INTEGER -- per month
);
CREATE TABLE meters (
  serial TEXT PRIMARY KEY,
  customer_no INTEGER, -- NULL: in stock
  kind TEXT NOT NULL, -- E electricity, G gas, H heat
  tariff_code TEXT,
  installed_on DATE,
  removed_on DATE,
  replaces TEXT -- serial of the meter it took over from
);
CREATE TABLE readings (
  reading_id INTEGER PRIMARY KEY,
  serial TEXT NOT NULL,
  read_at TIMESTAMP NOT NULL,
  kwh INTEGER NOT NULL, -- the counter, which only grows
  source TEXT, -- remote, visit, customer, estimate
  deleted_at TIMESTAMP -- soft delete
);
CREATE TABLE bills (
  bill_no INTEGER,
  customer_no INTEGER,
  period_start DATE,
  period_end DATE,
  amount_cents INTEGER NOT NULL,
  paid_cents INTEGER,
  status TEXT, -- open, part, paid, void
  issued_on DATE,
  due_on DATE,
  paid_on DATE
);
CREATE TABLE technicians (
  tech_id INTEGER PRIMARY KEY,
  tech_name TEXT NOT NULL,
  depot TEXT,
  hired_on DATE
);
CREATE TABLE visits (
  visit_id INTEGER,
  serial TEXT,
  planned_for DATE NOT NULL,
  done_on DATE, -- NULL: not done
  tech_id INTEGER, -- who went, NULL: nobody assigned
  checked_by INTEGER, -- the technician who checked the report
  outcome TEXT, -- ok, fault, no_access, NULL: not done
  minutes INTEGER
);

INSERT INTO tariffs VALUES
 ('EB', 'Basic power', '2022-01-01', '2024-01-01', 28.5, 900), ('EB', 'Basic power', '2024-01-01', NULL, 31.2, 990),
 ('EG', 'Green power', '2022-06-01', '2024-07-01', 30.1, 1100), ('EG', 'Green power', '2024-07-01', NULL, 29.9, 1150),
 ('GA', 'Gas all year', '2022-01-01', NULL, 11.4, 700), ('HD', 'District heat', '2023-01-01', NULL, 13.8, 1500),
 ('NX', 'Night saver', '2024-10-01', NULL, 22.0, NULL), ('OL', 'Old flat rate', '2020-01-01', '2022-01-01', 25.0, 500);
INSERT INTO technicians VALUES
 (1, 'Ines Falk', 'North', '2015-03-01'), (2, 'Omar Reyes', 'North', '2019-09-16'), (3, 'Lena Brandt', 'South', '2021-02-01'),
 (4, 'Piotr Zych', 'South', '2021-02-01'), (5, 'Yuki Mori', 'West', '2023-11-06'), (6, 'Tom Harrow', NULL, '2025-01-13');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO customers
SELECT 1000 + i,
  CASE i % 12 WHEN 0 THEN 'Ada' WHEN 1 THEN 'Bruno' WHEN 2 THEN 'Carla' WHEN 3 THEN 'Dev' WHEN 4 THEN 'Elif' WHEN 5 THEN 'Finn'
    WHEN 6 THEN 'Greta' WHEN 7 THEN 'Hugo' WHEN 8 THEN 'Iris' WHEN 9 THEN 'Jonas' WHEN 10 THEN 'Kaya' ELSE 'Liam' END || ' ' ||
  CASE i % 7 WHEN 0 THEN 'Adler' WHEN 1 THEN 'Benn' WHEN 2 THEN 'Cole' WHEN 3 THEN 'Duarte' WHEN 4 THEN 'Ekberg' WHEN 5 THEN 'Fox' ELSE 'Gruber' END,
  CASE WHEN i % 10 = 0 THEN 'plant' WHEN i % 4 = 1 THEN 'shop' ELSE 'home' END,
  CASE WHEN i % 17 = 0 THEN NULL WHEN i % 5 < 2 THEN 'NO' WHEN i % 5 = 2 THEN 'SO' WHEN i % 5 = 3 THEN 'WE' ELSE 'EA' END,
  date('2022-01-10', '+' || (i * 17) || ' days'),
  CASE WHEN i % 9 = 4 THEN date('2024-02-01', '+' || (i * 6) || ' days') END,
  CASE WHEN i IN (13, 40, 59) THEN 1 ELSE 0 END,
  CASE WHEN i % 6 = 5 THEN NULL ELSE 'c' || (1000 + i) || '@example.org' END,
  CASE WHEN i > 10 AND i % 4 = 0 THEN 1000 + i / 4 END
FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
INSERT INTO meters
SELECT 'M' || (5000 + i),
  CASE WHEN i > 76 THEN NULL WHEN i > 54 THEN 1000 + (i - 54) * 2 ELSE 1000 + i END,
  CASE WHEN i <= 54 THEN 'E' WHEN i % 3 = 0 THEN 'H' WHEN i > 70 THEN 'E' ELSE 'G' END,
  CASE WHEN i > 76 THEN NULL WHEN i <= 54 OR i > 70 AND i % 3 <> 0 THEN CASE i % 3 WHEN 0 THEN 'EG' ELSE 'EB' END
    WHEN i % 3 = 0 THEN 'HD' ELSE 'GA' END,
  CASE WHEN i > 76 THEN NULL WHEN i > 70 THEN date('2024-03-01', '+' || ((i - 70) * 40) || ' days')
    ELSE date('2022-02-01', '+' || (i * 13) || ' days') END,
  CASE WHEN i IN (2, 4, 6) THEN date('2024-03-01', '+' || ((i - 1) * 40) || ' days') END,
  CASE i WHEN 71 THEN 'M5002' WHEN 73 THEN 'M5004' WHEN 74 THEN 'M5006' END
FROM n;
-- one reading a month or so of the first 40 meters, June 2024 has none
WITH RECURSIVE m(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM m WHERE k < 14),
  s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 27)
INSERT INTO readings (serial, read_at, kwh, source, deleted_at)
SELECT 'M' || (5000 + i * 2 - 1 + (i > 20) * 14),
  datetime('2024-01-01', '+' || k || ' months', '+' || (i % 9) || ' days', '+' || (6 + i % 11) || ' hours', '+' || (k * 3) || ' minutes'),
  1000 + i * 137 + k * (180 + i * 9) + (k % 3) * 25,
  CASE WHEN (i + k) % 8 = 0 THEN 'estimate' WHEN (i + k) % 13 = 0 THEN 'customer' WHEN (i * k) % 17 = 5 THEN 'visit' ELSE 'remote' END,
  CASE WHEN (i * 3 + k) % 29 = 0 THEN '2025-03-15 09:00:00' END
FROM s, m WHERE k <> 5;
WITH RECURSIVE q(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM q WHERE k < 4),
  c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 52)
INSERT INTO bills
SELECT 70000 + k * 100 + i, 1000 + i, date('2024-01-01', '+' || (k * 3) || ' months'), date('2024-01-01', '+' || (k * 3 + 3) || ' months'),
  6000 + (i % 11) * 1350 + k * 210 + CASE WHEN i % 10 = 0 THEN 240000 ELSE 0 END,
  CASE WHEN (i + k) % 14 = 3 THEN NULL WHEN (i + k) % 9 = 2 THEN NULL WHEN (i + k) % 11 = 5 THEN 3000
    ELSE 6000 + (i % 11) * 1350 + k * 210 + CASE WHEN i % 10 = 0 THEN 240000 ELSE 0 END END,
  CASE WHEN (i + k) % 14 = 3 THEN 'void' WHEN (i + k) % 9 = 2 THEN 'open' WHEN (i + k) % 11 = 5 THEN 'part' ELSE 'paid' END,
  date('2024-01-01', '+' || (k * 3 + 3) || ' months', '+' || (i % 6) || ' days'),
  date('2024-01-01', '+' || (k * 3 + 3) || ' months', '+' || (i % 6 + 21) || ' days'),
  CASE WHEN (i + k) % 14 = 3 OR (i + k) % 9 = 2 OR (i + k) % 11 = 5 THEN NULL
    ELSE date('2024-01-01', '+' || (k * 3 + 3) || ' months', '+' || (i % 6 + (i * 5 + k * 7) % 33) || ' days') END
FROM c, q WHERE i % 13 <> 6;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
INSERT INTO visits
SELECT i, 'M' || (5000 + (i * 7) % 70 + 1), date('2024-01-08', '+' || (i * 5) || ' days'),
  CASE WHEN i % 11 = 0 OR i > 86 THEN NULL ELSE date('2024-01-08', '+' || (i * 5 + i % 4) || ' days') END,
  CASE WHEN i % 22 = 0 THEN NULL ELSE 1 + (i * i + i / 3) % 5 END,
  CASE WHEN i % 11 = 0 OR i > 86 OR i % 3 = 1 THEN NULL ELSE 1 + (i * 3) % 4 END,
  CASE WHEN i % 11 = 0 OR i > 86 THEN NULL WHEN i % 8 = 3 THEN 'fault' WHEN i % 7 = 2 THEN 'no_access' ELSE 'ok' END,
  CASE WHEN i % 11 = 0 OR i > 86 THEN NULL ELSE 20 + (i * 13) % 50 END
FROM n;
