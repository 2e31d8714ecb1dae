CREATE TABLE crop (
  crop_no INTEGER PRIMARY KEY,
  common_name TEXT NOT NULL,
  variety TEXT NOT NULL,
  family TEXT NOT NULL,
  days_to_harvest INTEGER NOT NULL,
  list_cents INTEGER NOT NULL, -- list price of a kilo
  dropped_on TEXT
);
CREATE TABLE bed (
  bed_no INTEGER PRIMARY KEY,
  house TEXT NOT NULL,
  label TEXT NOT NULL,
  area_m2 INTEGER NOT NULL,
  out_of_use_on TEXT -- NULL: in use
);
CREATE TABLE sowing (
  sowing_no INTEGER PRIMARY KEY,
  crop_no INTEGER NOT NULL,
  bed_no INTEGER NOT NULL,
  sown_on TEXT NOT NULL,
  due_on TEXT NOT NULL, -- planned first picking
  seeds INTEGER NOT NULL,
  sprouted INTEGER, -- NULL: nobody counted
  status TEXT NOT NULL CHECK (status IN ('growing', 'finished', 'failed'))
);
CREATE TABLE harvest (
  pick_no INTEGER PRIMARY KEY,
  sowing_no INTEGER NOT NULL,
  picked_on TEXT NOT NULL,
  grams INTEGER NOT NULL CHECK (grams > 0),
  grade TEXT NOT NULL CHECK (grade IN ('A', 'B', 'waste'))
);
CREATE TABLE labour (
  labour_no INTEGER PRIMARY KEY,
  sowing_no INTEGER NOT NULL,
  worked_on TEXT NOT NULL,
  task TEXT NOT NULL CHECK (task IN ('watering', 'weeding', 'pruning', 'picking')),
  minutes INTEGER NOT NULL,
  cost_eur REAL NOT NULL
);
CREATE TABLE reading (
  reading_no INTEGER PRIMARY KEY,
  bed_no INTEGER NOT NULL,
  taken_at TEXT NOT NULL,
  sensor TEXT NOT NULL CHECK (sensor IN ('temperature', 'humidity')), -- degrees Celsius, percent
  value REAL NOT NULL,
  is_calibration INTEGER NOT NULL CHECK (is_calibration IN (0, 1))
);
CREATE TABLE buyer_order (
  order_no INTEGER PRIMARY KEY,
  buyer TEXT NOT NULL,
  crop_no INTEGER NOT NULL,
  ordered_on TEXT NOT NULL,
  promised_on TEXT NOT NULL,
  shipped_on TEXT, -- NULL: not shipped
  kilos INTEGER NOT NULL CHECK (kilos > 0),
  goods_cents INTEGER NOT NULL, -- without freight
  freight_eur REAL NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'cancelled')),
  is_sample INTEGER NOT NULL CHECK (is_sample IN (0, 1)),
  CHECK ((status = 'shipped') = (shipped_on IS NOT NULL))
);
INSERT INTO crop VALUES
 (1, 'Tomato', 'Sungold', 'nightshade', 65, 480, NULL),
 (2, 'Tomato', 'Roma', 'nightshade', 75, 320, NULL),
 (3, 'Pepper', 'Ancho', 'nightshade', 80, 540, NULL),
 (4, 'Basil', 'Genovese', 'mint', 45, 1450, NULL),
 (5, 'Mint', 'Spearmint', 'mint', 50, 1300, NULL),
 (6, 'Cucumber', 'Marketmore', 'gourd', 55, 260, NULL),
 (7, 'Courgette', 'Black Beauty', 'gourd', 50, 240, NULL),
 (8, 'Lettuce', 'Little Gem', 'daisy', 40, 390, NULL),
 (9, 'Radish', 'French Breakfast', 'cabbage', 28, 350, NULL),
 (10, 'Pak Choi', 'Joi', 'cabbage', 38, 420, NULL),
 (11, 'Aubergine', 'Black Beauty', 'nightshade', 85, 460, NULL),
 (12, 'Endive', 'Frisee', 'daisy', 50, 510, '2023-02-28');
INSERT INTO bed VALUES
 (1, 'North', 'A1', 24, NULL), (2, 'North', 'A2', 24, NULL), (3, 'North', 'B1', 18, NULL), (4, 'North', 'B2', 12, NULL),
 (5, 'South', 'A1', 18, NULL), (6, 'South', 'A2', 15, NULL), (7, 'South', 'B1', 12, NULL), (8, 'South', 'B2', 12, '2023-12-31'),
 (9, 'Old Mill', 'A1', 12, NULL), (10, 'Old Mill', 'A2', 10, NULL), (11, 'Old Mill', 'C1', 8, NULL), (12, 'Old Mill', 'C2', 8, '2023-08-15');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 66),
 d AS (SELECT i, date('2023-01-20', '+' || (i * 10 + i * i % 6) || ' days') AS sown,
  CASE WHEN i = 20 OR i = 41 THEN 11 WHEN i % 31 = 9 THEN 3 ELSE (1 + i * 3 % 10 + (i % 4) / 3) % 10 + 1 END AS crop FROM n)
INSERT INTO sowing
SELECT i, crop, CASE WHEN sown > '2023-08-01' THEN 1 + i * i % 11 % 7 + i % 4 ELSE 1 + i * 5 % 12 END, sown,
 date(sown, '+' || days_to_harvest || ' days'), 60 + i * 20 % 140,
 CASE WHEN i % 5 = 3 THEN NULL ELSE 60 + i * 20 % 140 - 4 - i * 3 % 29 END,
 CASE WHEN i % 9 = 4 THEN 'failed' WHEN i > 58 THEN 'growing' ELSE 'finished' END
FROM d JOIN crop ON crop_no = crop;
WITH RECURSIVE k(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM k WHERE j < 5)
INSERT INTO harvest (sowing_no, picked_on, grams, grade)
SELECT s.sowing_no, date(s.due_on, '+' || (s.sowing_no % 5 - 1 + j * 4) || ' days'), 1500 + (s.sowing_no * 370 + j * 910) % 5200,
 CASE (s.sowing_no + j * 2) % 7 WHEN 0 THEN 'waste' WHEN 1 THEN 'B' WHEN 4 THEN 'B' ELSE 'A' END
FROM sowing s JOIN k ON j <= 1 + s.sowing_no % 5
WHERE s.status = 'finished' AND date(s.due_on, '+' || (s.sowing_no % 5 - 1 + j * 4) || ' days') NOT LIKE '2024-08-%'
ORDER BY s.sowing_no, j;
INSERT INTO harvest VALUES
 (501, 30, '2024-05-10', 2400, 'A'), (502, 30, '2024-05-20', 1900, 'A'), (503, 31, '2024-05-20', 2100, 'B'),
 (504, 30, '2024-05-20', 800, 'waste'), (505, 57, '2024-12-31', 1750, 'A');
WITH RECURSIVE k(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM k WHERE j < 3)
INSERT INTO labour (sowing_no, worked_on, task, minutes, cost_eur)
SELECT s.sowing_no, date(s.sown_on, '+' || (6 + j * 9 + s.sowing_no % 4) || ' days'),
 CASE (s.sowing_no * 2 + j * j) % 5 WHEN 0 THEN 'watering' WHEN 1 THEN 'weeding' WHEN 2 THEN 'pruning' WHEN 3 THEN 'weeding' ELSE 'picking' END,
 20 + (s.sowing_no + j) % 4 * 15, 6.0 + (s.sowing_no + j) % 4 * 4.5
FROM sowing s JOIN k ON j <= s.sowing_no % 4 WHERE s.sowing_no % 11 <> 6
ORDER BY s.sowing_no, j;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 260),
 d AS (SELECT i, datetime('2024-01-05 06:00:00', '+' || (i * 33) || ' hours') AS at FROM n)
INSERT INTO reading
SELECT i, 1 + i * 7 % 10, at, CASE WHEN i % 3 = 0 THEN 'humidity' ELSE 'temperature' END,
 CASE WHEN i % 29 = 7 OR i % 29 = 9 THEN 99.0 WHEN i % 3 = 0 THEN 48.0 + i * 11 % 37
  ELSE 14.0 + i * 13 % 11 + CASE WHEN substr(at, 6, 2) IN ('06', '07', '08') THEN 8.5 ELSE 0 END END,
 CASE WHEN i % 29 = 7 OR i % 29 = 9 THEN 1 ELSE 0 END
FROM d;
INSERT INTO reading VALUES
 (401, 3, '2024-04-30 23:59:00', 'temperature', 19.5, 0), (402, 3, '2024-05-01 00:00:00', 'temperature', 18.0, 0),
 (403, 2, '2024-07-31 23:59:30', 'temperature', 33.5, 0), (404, 6, '2024-07-09 14:00:00', 'temperature', 31.0, 0),
 (405, 6, '2024-07-10 14:30:00', 'temperature', 32.0, 0), (406, 6, '2024-07-10 15:00:00', 'temperature', 32.0, 0);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 110),
 d AS (SELECT i, date('2023-03-03', '+' || (i * 6 + i * i % 5) || ' days') AS o, 1 + i * 7 % 10 AS c, 4 + i * 9 % 38 AS kg,
  CASE WHEN i % 13 = 6 THEN 'cancelled' WHEN i > 104 OR i % 25 = 11 THEN 'placed' ELSE 'shipped' END AS st,
  CASE WHEN i % 12 = 5 THEN 1 ELSE 0 END AS smp FROM n)
INSERT INTO buyer_order
SELECT i, CASE i * 5 % 7 WHEN 0 THEN 'Brookmarket' WHEN 1 THEN 'Osteria Lena' WHEN 2 THEN 'Brookmarket' WHEN 3 THEN 'Hill & Sons' WHEN 4 THEN 'Green Crate' WHEN 5 THEN 'Osteria Lena' ELSE 'Quay Canteen' END,
 c, o, date(o, '+' || (4 + i % 6) || ' days'),
 CASE WHEN st = 'shipped' THEN date(o, '+' || (3 + i * 5 % 17) || ' days') END,
 CASE WHEN smp = 1 THEN 1 ELSE kg END, CASE WHEN smp = 1 THEN 0 ELSE kg * (list_cents - i % 3 * 10) END,
 CASE WHEN smp = 1 THEN 4.9 WHEN kg > 25 THEN 18.0 ELSE 9.5 END, st, smp
FROM d JOIN crop ON crop_no = c;
