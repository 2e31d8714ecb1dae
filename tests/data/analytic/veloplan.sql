-- veloplan: a bike-sharing operator. Keys declared. Deterministic.
CREATE TABLE dock_station (
  station_code TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  district TEXT NOT NULL,
  dock_count INTEGER NOT NULL,
  opened_on TEXT NOT NULL,
  closed_on TEXT
);
CREATE TABLE bicycle (
  bike_no INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  is_electric INTEGER NOT NULL CHECK (is_electric IN (0, 1)),
  bought_on TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  home_station TEXT REFERENCES dock_station(station_code),
  fleet_status TEXT NOT NULL CHECK (fleet_status IN ('in service', 'workshop', 'scrapped', 'stolen'))
);
CREATE TABLE member (
  member_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  plan TEXT NOT NULL CHECK (plan IN ('annual', 'monthly', 'payg')),
  joined_on TEXT NOT NULL,
  left_on TEXT,
  referred_by INTEGER REFERENCES member(member_id),
  is_staff INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE trip (
  trip_id INTEGER PRIMARY KEY,
  bike_no INTEGER NOT NULL REFERENCES bicycle(bike_no),
  member_id INTEGER NOT NULL REFERENCES member(member_id),
  from_station TEXT NOT NULL REFERENCES dock_station(station_code),
  to_station TEXT REFERENCES dock_station(station_code),
  started_at TEXT NOT NULL,
  ended_at TEXT,
  metres INTEGER,
  fee_cents INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('completed', 'aborted', 'running'))
);
CREATE TABLE repair (
  repair_id INTEGER PRIMARY KEY,
  bike_no INTEGER NOT NULL REFERENCES bicycle(bike_no),
  reported_on TEXT NOT NULL,
  planned_on TEXT NOT NULL,
  finished_on TEXT,
  fault TEXT NOT NULL,
  labour_minutes INTEGER,
  parts_eur REAL
);
CREATE TABLE charge (
  charge_id INTEGER PRIMARY KEY,
  member_id INTEGER NOT NULL REFERENCES member(member_id),
  due_on TEXT NOT NULL,
  paid_on TEXT,
  amount_cents INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('membership', 'damage', 'late return'))
);
INSERT INTO dock_station VALUES
('N01', 'Nordbad', 'Nord', 18, '2022-05-01', NULL),
('N02', 'Marktplatz', 'Nord', 24, '2022-05-01', NULL),
('N03', 'Kastanienallee', 'Nord', 24, '2022-09-15', NULL),
('M01', 'Marktplatz', 'Mitte', 30, '2022-04-01', NULL),
('M02', 'Rathaus', 'Mitte', 28, '2022-04-01', NULL),
('M03', 'Oper', 'Mitte', 12, '2022-04-01', '2023-11-30'),
('H01', 'Faehre', 'Hafen', 16, '2022-06-10', NULL),
('H02', 'Speicher', 'Hafen', 30, '2022-06-10', NULL),
('S01', 'Suedpark', 'Sued', 12, '2023-01-20', NULL),
('S02', 'Klinikum', 'Sued', 20, '2023-02-01', NULL),
('S03', 'Messe', 'Sued', 20, '2024-08-01', NULL),
('H03', 'Alte Werft', 'Hafen', 10, '2022-06-10', '2023-01-31');
INSERT INTO bicycle VALUES
(101, 'Stadtrad 3', 0, '2022-03-10', 64900, 'N01', 'in service'),
(102, 'Stadtrad 3', 0, '2022-03-10', 64900, 'M01', 'in service'),
(103, 'Stadtrad 3', 0, '2022-03-10', 64900, 'M02', 'scrapped'),
(104, 'Stadtrad 3', 0, '2022-03-12', 64900, 'H01', 'scrapped'),
(105, 'Stadtrad 4', 0, '2023-02-01', 71900, 'H02', 'in service'),
(106, 'Stadtrad 4', 0, '2023-02-01', 71900, 'N02', 'workshop'),
(107, 'Stadtrad 4', 0, '2023-02-01', 71900, 'N03', 'stolen'),
(108, 'Stromer', 1, '2022-04-20', 219900, 'M01', 'in service'),
(109, 'Stromer', 1, '2022-04-20', 219900, 'M01', 'stolen'),
(110, 'Stromer', 1, '2022-04-20', 219900, 'S02', 'scrapped'),
(111, 'Stromer', 1, '2023-03-05', 234900, 'S01', 'in service'),
(112, 'Lastenrad E', 1, '2023-03-05', 489000, 'H02', 'in service'),
(113, 'Lastenrad E', 1, '2023-03-05', 489000, NULL, 'workshop'),
(114, 'Lastenrad', 0, '2022-03-10', 245000, 'S02', 'scrapped'),
(115, 'Stadtrad 4', 0, '2024-09-02', 74900, 'S03', 'in service'),
(116, 'Stromer', 1, '2024-09-02', 239900, NULL, 'stolen');
INSERT INTO member VALUES
(1, 'Jonas Weber', 'annual', '2022-04-02', NULL, NULL, 0),
(2, 'Aylin Demir', 'annual', '2022-04-02', NULL, 1, 0),
(3, 'Petra Lindqvist', 'monthly', '2022-07-19', '2024-03-31', 1, 0),
(4, 'Marek Nowak', 'payg', '2022-08-30', NULL, NULL, 0),
(5, 'Ines Carvalho', 'annual', '2023-01-01', NULL, 2, 0),
(6, 'Jonas Weber', 'monthly', '2023-02-11', NULL, NULL, 0),
(7, 'Dieter Pohl', 'annual', '2022-03-01', NULL, NULL, 1),
(8, 'Sanna Virtanen', 'payg', '2023-03-31', NULL, 5, 0),
(9, 'Omar Haddad', 'monthly', '2023-04-01', '2023-12-31', NULL, 0),
(10, 'Lena Brandt', 'annual', '2023-05-15', NULL, 2, 0),
(11, 'Felix Krug', 'payg', '2023-06-06', NULL, NULL, 0),
(12, 'Chiara Russo', 'monthly', '2023-09-09', NULL, 10, 0),
(13, 'Nina Opitz', 'annual', '2023-10-01', NULL, NULL, 1),
(14, 'Tom Ahrens', 'payg', '2024-01-31', NULL, NULL, 0),
(15, 'Yuki Tanaka', 'annual', '2024-02-29', NULL, 12, 0),
(16, 'Grete Holm', 'monthly', '2024-06-30', NULL, NULL, 0),
(17, 'Ruben Salas', 'payg', '2024-07-01', NULL, NULL, 0),
(18, 'Vera Zimmer', 'annual', '2024-08-12', NULL, 1, 0);
-- bulk trips; nothing in February 2024 (winter break)
WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 250),
s(i, c) AS (VALUES (0,'N01'),(1,'N02'),(2,'N03'),(3,'M01'),(4,'M02'),(5,'H01'),(6,'H02'),(7,'S01'),(8,'S02')),
r AS (SELECT n, n * 3250 + (n * 613) % 700 AS off, (n * 613) % 9 AS a, (n * 7 + n / 9) % 9 AS b, 6 + (n * 29) % 47 AS mins FROM k)
INSERT INTO trip
SELECT 1000 + n, 101 + (n * 6 + n / 13 + n / 40) % 13, 1 + (n * 5 + n / 7) % 13, f.c, CASE WHEN n % 19 = 0 THEN f.c ELSE g.c END,
  strftime('%Y-%m-%d %H:%M', '2023-03-06 06:00', '+' || off || ' minutes'),
  strftime('%Y-%m-%d %H:%M', '2023-03-06 06:00', '+' || (off + CASE WHEN n % 19 = 0 THEN n % 2 ELSE mins END) || ' minutes'),
  CASE WHEN n % 19 = 0 THEN 20 + n % 60 ELSE mins * 170 + (n * 577) % 900 END,
  CASE WHEN n % 19 = 0 THEN 0 WHEN (n * 5 + n / 7) % 13 IN (6, 12) THEN 0 ELSE 100 + mins * 9 + (n / 120) * 25 END,
  CASE WHEN n % 19 = 0 THEN 'aborted' ELSE 'completed' END
FROM r JOIN s f ON f.i = a JOIN s g ON g.i = b
WHERE strftime('%Y-%m', '2023-03-06 06:00', '+' || off || ' minutes') <> '2024-02';
UPDATE trip SET member_id = 1 + member_id % 5 WHERE started_at < (SELECT m.joined_on FROM member m WHERE m.member_id = trip.member_id);
UPDATE trip SET member_id = 10 + trip_id % 2 WHERE started_at > (SELECT m.left_on FROM member m WHERE m.member_id = trip.member_id);
UPDATE trip SET from_station = 'M03' WHERE from_station = 'M02' AND started_at < '2023-11-30' AND trip_id % 3 = 0 AND state = 'completed';
INSERT INTO trip VALUES
(1901, 102, 1, 'M01', 'H02', '2024-01-31 23:59', '2024-02-01 00:21', 4100, 310, 'completed'),
(1902, 105, 2, 'M01', 'H02', '2024-01-31 08:15', '2024-01-31 08:40', 4050, 330, 'completed'),
(1903, 108, 5, 'M01', 'N02', '2024-01-01 00:00', '2024-01-01 00:30', 5200, 370, 'completed'),
(1904, 105, 14, 'H02', 'H02', '2024-05-31 23:59', '2024-05-31 23:59', 0, 0, 'aborted'),
(1905, 101, 10, 'M02', 'S02', '2024-06-14 17:30', '2024-06-14 17:52', 3900, 295, 'completed'),
(1906, 102, 15, 'M02', 'S02', '2024-06-14 17:30', '2024-06-14 17:52', 3900, 295, 'completed'),
(1907, 111, 14, 'S01', 'M01', '2024-04-01 00:00', '2024-04-01 00:25', 4700, 325, 'completed'),
(1908, 112, 16, 'H02', 'M01', '2024-07-20 10:10', '2024-07-20 11:40', 9800, 910, 'completed'),
(1909, 112, 16, 'M01', 'H02', '2024-08-03 09:00', '2024-08-03 10:00', 7600, 640, 'completed'),
(1910, 101, 16, 'N01', 'N02', '2024-09-30 23:59', '2024-10-01 00:11', 1900, 208, 'completed'),
(1913, 105, 18, 'S02', 'M01', '2024-08-31 23:59', '2024-09-01 00:20', 3300, 289, 'completed'),
(1914, 106, 18, 'M01', 'N03', '2024-09-05 18:02', '2024-09-05 18:19', 2900, 253, 'completed'),
(1915, 101, 18, 'N03', 'S02', '2024-09-06 07:45', '2024-09-06 08:11', 4400, 334, 'completed'),
(1911, 108, 17, 'M01', NULL, '2024-10-02 08:00', NULL, NULL, 0, 'running'),
(1912, 111, 4, 'S02', NULL, '2024-10-02 08:05', NULL, NULL, 0, 'running');
INSERT INTO repair VALUES
(1, 101, '2023-03-14', '2023-03-20', '2023-03-21', 'brake', 40, 18.5),
(2, 101, '2023-12-20', '2024-01-08', '2024-01-09', 'puncture', 25, 6.9),
(3, 102, '2023-04-02', '2023-04-03', '2023-04-03', 'puncture', 20, 6.9),
(4, 103, '2023-05-11', '2023-05-30', '2023-06-02', 'frame', 180, 240),
(5, 103, '2023-10-09', '2023-10-20', '2023-10-20', 'frame', 200, 310.4),
(6, 104, '2023-06-30', '2023-07-03', '2023-07-04', 'wheel', 60, 74.9),
(7, 104, '2024-03-28', '2024-04-05', '2024-04-12', 'frame', 150, NULL),
(8, 105, '2023-08-15', '2023-08-15', '2023-08-15', 'brake', 15, NULL),
(9, 106, '2023-09-01', '2023-09-04', '2023-09-06', 'gears', 70, 42),
(10, 106, '2024-09-12', '2024-09-25', NULL, 'gears', NULL, NULL),
(11, 107, '2024-01-05', '2024-01-15', '2024-01-18', 'puncture', 25, 6.9),
(12, 108, '2023-04-18', '2023-05-02', '2023-05-09', 'motor', 160, 389),
(13, 108, '2023-12-28', '2024-01-03', '2024-01-03', 'battery', 30, 529),
(14, 108, '2024-03-31', '2024-04-02', '2024-04-02', 'brake', 35, 22.8),
(15, 109, '2023-07-07', '2023-07-17', '2023-07-20', 'battery', 30, 529),
(16, 110, '2023-11-11', '2023-11-20', '2023-12-01', 'motor', 210, 402.5),
(17, 110, '2024-02-10', '2024-02-26', '2024-04-03', 'motor', 90, NULL),
(18, 111, '2024-03-20', '2024-03-22', '2024-03-29', 'gears', 55, 38.2),
(19, 111, '2024-05-20', '2024-05-22', '2024-05-22', 'puncture', 20, NULL),
(20, 111, '2024-06-19', '2024-06-21', '2024-06-28', 'brake', 30, 18.5),
(21, 112, '2023-12-15', '2024-01-22', '2024-02-02', 'motor', 140, 455),
(22, 113, '2024-07-30', '2024-09-10', NULL, 'battery', NULL, 640),
(23, 113, '2023-10-31', '2023-11-06', '2023-11-06', 'puncture', 25, 9.9),
(24, 114, '2023-09-30', '2023-10-02', '2023-10-09', 'frame', 120, NULL),
(25, 102, '2024-03-27', '2024-04-08', '2024-04-08', 'brake', 20, NULL),
(26, 102, '2024-06-01', '2024-06-03', '2024-06-03', 'wheel', 60, 74.9),
(27, 105, '2024-06-01', '2024-06-04', '2024-06-10', 'wheel', 45, NULL),
(28, 105, '2024-06-01', '2024-06-11', '2024-06-12', 'brake', 20, 18.5);
INSERT INTO charge VALUES
(1, 1, '2023-04-02', '2023-04-02', 9900, 'membership'),
(2, 1, '2024-04-02', '2024-04-05', 10900, 'membership'),
(3, 2, '2023-04-02', '2023-04-10', 9900, 'membership'),
(4, 2, '2024-04-02', NULL, 10900, 'membership'),
(5, 2, '2023-08-31', '2023-10-01', 2500, 'damage'),
(6, 3, '2023-05-01', '2023-05-01', 1500, 'membership'),
(7, 3, '2023-06-01', '2023-06-01', 1500, 'membership'),
(8, 3, '2023-07-01', '2023-07-01', 1500, 'membership'),
(9, 3, '2024-03-01', NULL, 1500, 'membership'),
(10, 4, '2023-09-17', '2023-09-30', 18000, 'damage'),
(11, 4, '2024-05-31', '2024-06-02', 800, 'late return'),
(12, 5, '2024-01-01', '2024-01-01', 10900, 'membership'),
(13, 6, '2023-03-11', '2023-03-12', 1500, 'membership'),
(14, 6, '2024-03-11', '2024-03-11', 1700, 'membership'),
(15, 8, '2023-11-02', NULL, 18000, 'damage'),
(16, 9, '2023-05-01', '2023-05-03', 1500, 'membership'),
(17, 9, '2023-12-01', '2024-01-02', 800, 'late return'),
(18, 10, '2023-05-15', '2023-05-15', 9900, 'membership'),
(19, 10, '2024-05-15', '2024-05-15', 10900, 'membership'),
(20, 10, '2024-01-31', '2024-03-01', 4000, 'damage'),
(21, 11, '2023-12-31', '2024-01-01', 800, 'late return'),
(22, 12, '2023-10-09', '2023-10-09', 1500, 'membership'),
(23, 12, '2024-01-09', '2024-01-12', 1700, 'membership'),
(24, 12, '2024-07-09', NULL, 1700, 'membership'),
(25, 15, '2024-02-29', '2024-02-29', 10900, 'membership'),
(26, 16, '2024-06-30', '2024-06-30', 1700, 'membership'),
(27, 16, '2024-07-30', '2024-07-30', 1700, 'membership'),
(28, 18, '2024-08-12', '2024-08-13', 10900, 'membership');
