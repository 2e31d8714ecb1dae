-- wardflow: a hospital's patient flow. No keys declared. Deterministic.
CREATE TABLE ward (
  ward_id TEXT PRIMARY KEY,
  ward_name TEXT,
  clinic TEXT NOT NULL,
  bed_count INTEGER NOT NULL,
  closed_on TEXT
);
CREATE TABLE physician (
  phys_id INTEGER PRIMARY KEY,
  phys_name TEXT,
  clinic TEXT NOT NULL,
  mentor_id INTEGER
);
CREATE TABLE patient (
  pat_no INTEGER PRIMARY KEY,
  surname TEXT,
  given_name TEXT,
  born_on TEXT,
  insurer TEXT,
  is_demo INTEGER NOT NULL
);
CREATE TABLE admission (
  adm_no INTEGER PRIMARY KEY,
  pat_no INTEGER NOT NULL,
  ward_id TEXT NOT NULL,
  planned_on TEXT,
  admitted_at TEXT NOT NULL,
  discharged_at TEXT,
  route TEXT NOT NULL
);
CREATE TABLE ward_transfer (
  move_no INTEGER PRIMARY KEY,
  adm_no INTEGER NOT NULL,
  from_ward TEXT NOT NULL,
  to_ward TEXT NOT NULL,
  moved_at TEXT
);
CREATE TABLE surgery (
  op_no INTEGER PRIMARY KEY,
  adm_no INTEGER NOT NULL,
  op_code TEXT,
  surgeon_id INTEGER NOT NULL,
  ordered_on TEXT,
  done_at TEXT,
  minutes INTEGER
);
CREATE TABLE bill (
  bill_no INTEGER PRIMARY KEY,
  adm_no INTEGER NOT NULL,
  issued_on TEXT NOT NULL,
  due_on TEXT,
  paid_on TEXT,
  amount_cents INTEGER NOT NULL,
  discount_eur REAL,
  status TEXT NOT NULL
);
INSERT INTO ward VALUES
('C1', 'Surgery East', 'Surgery', 28, NULL),
('C2', 'Surgery West', 'Surgery', 28, NULL),
('C3', 'Intensive Care', 'Surgery', 10, NULL),
('I1', 'Internal 1', 'Internal', 32, NULL),
('I2', 'Internal 2', 'Internal', 24, '2024-02-29'),
('I3', 'Intensive Care', 'Internal', 8, NULL),
('P1', 'Children', 'Paediatrics', 20, NULL),
('G1', 'Maternity', 'Gynaecology', 18, NULL),
('G2', 'Day Clinic', 'Gynaecology', 6, NULL);
INSERT INTO physician VALUES
(71, 'Dr. Adler', 'Surgery', NULL),
(72, 'Dr. Bose', 'Surgery', 71),
(73, 'Dr. Ciobanu', 'Surgery', 71),
(74, 'Dr. Diaz', 'Gynaecology', NULL),
(75, 'Dr. Eklund', 'Gynaecology', 74),
(76, 'Dr. Falk', 'Paediatrics', NULL),
(77, 'Dr. Adler', 'Internal', NULL),
(78, 'Dr. Gruber', 'Internal', 77),
(79, 'Dr. Horvat', 'Surgery', 72);
INSERT INTO patient VALUES
(301, 'Maier', 'Anna', '1951-02-03', 'Nordkasse', 0),
(302, 'Maier', 'Anna', '1984-11-30', 'Vitalis', 0),
(303, 'Okafor', 'Chidi', '1979-07-21', 'Nordkasse', 0),
(304, 'Schulze', 'Bernd', '1940-01-01', NULL, 0),
(305, 'Petrov', 'Ivan', '1966-12-31', 'Hansa Care', 0),
(306, 'Lang', 'Mia', '2016-05-09', 'Vitalis', 0),
(307, 'Lang', 'Ole', '2018-08-17', 'Vitalis', 0),
(308, 'Fischer', 'Ute', '1958-03-14', 'Nordkasse', 0),
(309, 'Silva', 'Rosa', '1990-10-10', NULL, 0),
(310, 'Jansen', 'Piet', '1947-06-06', 'Hansa Care', 0),
(311, 'Yilmaz', 'Elif', '1993-04-23', 'Nordkasse', 0),
(312, 'Bauer', 'Kurt', '1972-09-02', 'Vitalis', 0),
(313, 'Test', 'Patient', '2000-01-01', NULL, 1),
(314, 'Quist', 'Maja', '1988-02-29', 'Hansa Care', 0),
(315, 'Roth', 'Emil', '2021-12-12', 'Nordkasse', 0),
(316, 'Demo', 'Paula', '1999-09-09', 'Vitalis', 1),
(317, 'Winter', 'Hans', '1935-05-05', 'Nordkasse', 0);
-- bulk stays; nobody is admitted in August 2023
WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 118),
w(i, c) AS (VALUES (0,'C1'),(1,'C2'),(2,'I1'),(3,'I2'),(4,'P1'),(5,'G1'),(6,'C1')),
r AS (SELECT n, n * 7900 + (n * 1237) % 2900 AS off, 1500 + (n * 1789) % 12000 AS len, (n * 3 + n / 7) % 7 AS a FROM k)
INSERT INTO admission
SELECT 5000 + n, 301 + (n * 7 + n / 5) % 14, c,
  CASE WHEN n % 3 = 0 THEN NULL ELSE date('2023-01-02', '+' || (off - 700) || ' minutes') END,
  strftime('%Y-%m-%d %H:%M', '2023-01-02 05:00', '+' || off || ' minutes'),
  CASE WHEN n > 115 THEN NULL ELSE strftime('%Y-%m-%d %H:%M', '2023-01-02 05:00', '+' || (off + len) || ' minutes') END,
  CASE WHEN n % 3 = 0 THEN 'emergency' WHEN n % 7 = 1 THEN 'referral' ELSE 'elective' END
FROM r JOIN w ON i = a
WHERE strftime('%Y-%m', '2023-01-02 05:00', '+' || off || ' minutes') <> '2023-08';
INSERT INTO admission VALUES
(5201, 301, 'I1', NULL, '2024-02-29 22:10', '2024-03-31 23:59', 'emergency'),
(5202, 305, 'C1', '2024-03-30', '2024-03-31 23:59', '2024-04-06 10:00', 'elective'),
(5203, 308, 'G2', '2024-03-12', '2024-03-12 07:00', '2024-03-12 16:30', 'elective'),
(5204, 310, 'C3', NULL, '2024-05-17 03:15', '2024-05-30 11:00', 'emergency'),
(5205, 310, 'C3', NULL, '2024-06-02 19:40', '2024-06-09 09:30', 'emergency'),
(5206, 301, 'I1', NULL, '2024-06-30 23:59', '2024-07-11 10:00', 'emergency');
INSERT INTO ward_transfer
SELECT adm_no - 4900, adm_no, ward_id, CASE WHEN ward_id IN ('C1', 'C2') THEN 'C3' WHEN ward_id = 'P1' THEN 'C2' ELSE 'I3' END,
  strftime('%Y-%m-%d %H:%M', admitted_at, '+9 hours')
FROM admission WHERE adm_no % 4 = 1 AND ward_id <> 'C3';
INSERT INTO ward_transfer
SELECT adm_no - 4600, adm_no, CASE WHEN ward_id IN ('C1', 'C2') THEN 'C3' WHEN ward_id = 'P1' THEN 'C2' ELSE 'I3' END, CASE WHEN adm_no % 16 = 9 THEN 'I1' ELSE ward_id END,
  strftime('%Y-%m-%d %H:%M', admitted_at, '+20 hours')
FROM admission WHERE adm_no % 8 = 1 AND ward_id <> 'C3';
INSERT INTO ward_transfer VALUES (701, 5204, 'C3', 'C2', '2024-05-21 14:00'), (702, 5204, 'C2', 'C3', '2024-05-23 02:00'), (703, 5204, 'C3', 'C1', '2024-05-26 09:00');
WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 86)
INSERT INTO surgery
SELECT 9000 + n, a.adm_no, '5-' || (300 + (n * 17) % 12 * 10), CASE WHEN a.admitted_at < '2024' AND n % 11 = 0 THEN 78 WHEN a.admitted_at >= '2024' AND n % 6 = 0 THEN 75 ELSE 71 + (n * 3 + n / 4) % 4 END,
  date(a.admitted_at, CASE WHEN n % 4 = 0 THEN '-20 days' ELSE '-3 days' END),
  CASE WHEN n % 21 = 0 THEN NULL ELSE strftime('%Y-%m-%d %H:%M', a.admitted_at, '+14 hours') END,
  CASE WHEN n % 21 = 0 THEN NULL ELSE 25 + (n * 47) % 170 END
FROM k JOIN admission a ON a.adm_no = 5001 + (n * 5) % 116;
INSERT INTO surgery VALUES
(9201, 5204, '5-410', 72, '2024-05-17', '2024-05-17 04:30', 245),
(9202, 5204, '5-410', 72, '2024-05-20', '2024-05-21 08:00', 130),
(9203, 5204, '5-320', 74, '2024-05-25', '2024-05-26 08:00', 120),
(9204, 5205, '5-410', 79, '2024-06-02', '2024-06-03 08:00', 185),
(9205, 5201, '5-330', 75, '2024-03-04', '2024-03-05 09:00', 95);
WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 122)
INSERT INTO bill
SELECT 20000 + n, a.adm_no, date(a.discharged_at, '+' || (2 + n % 9) || ' days'), date(a.discharged_at, '+' || (32 + n % 9) || ' days'),
  CASE WHEN n % 5 IN (0, 3) OR n % 17 = 4 THEN NULL ELSE date(a.discharged_at, '+' || (10 + (n * 7) % 40) || ' days') END,
  45000 + (n * 7919) % 300000, CASE WHEN n % 6 = 2 THEN 25.0 + n % 4 * 10 ELSE NULL END,
  CASE WHEN n % 17 = 4 THEN 'void' WHEN n % 5 IN (0, 3) THEN 'open' ELSE 'paid' END
FROM k JOIN admission a ON a.adm_no = 5001 + (n * 3) % 97 WHERE a.discharged_at IS NOT NULL;
INSERT INTO bill VALUES
(20301, 5201, '2024-04-01', '2024-05-01', '2024-04-28', 812000, NULL, 'paid'),
(20302, 5202, '2024-04-09', '2024-05-09', NULL, 640000, NULL, 'open'),
(20303, 5204, '2024-05-31', '2024-06-30', NULL, 1250000, 100.0, 'open'),
(20304, 5204, '2024-06-12', '2024-07-12', '2024-07-12', 812000, NULL, 'paid'),
(20305, 5205, '2024-06-12', '2024-07-12', NULL, 1250000, NULL, 'open'),
(20306, 5206, '2024-07-15', '2024-08-14', NULL, 640000, NULL, 'open'),
(20307, 5203, '2024-03-31', '2024-04-30', '2024-04-02', 38000, NULL, 'paid'),
(20308, 5203, '2024-04-01', '2024-05-01', NULL, 38000, NULL, 'void');
