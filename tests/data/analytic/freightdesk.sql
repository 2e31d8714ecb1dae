CREATE TABLE parties (
  party_id INTEGER PRIMARY KEY,
  party_name TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL, -- ISO code
  account_manager TEXT -- NULL: none
);
CREATE TABLE carriers (
  carrier_id INTEGER PRIMARY KEY,
  carrier_name TEXT NOT NULL,
  mode TEXT NOT NULL, -- road, sea, air, rail
  onboarded_on TEXT NOT NULL,
  suspended_on TEXT -- NULL: active
);
CREATE TABLE lanes (
  lane_code TEXT PRIMARY KEY,
  origin TEXT NOT NULL,
  destination TEXT NOT NULL,
  distance_km INTEGER NOT NULL,
  target_days INTEGER NOT NULL
);
CREATE TABLE shipments (
  shipment_no INTEGER PRIMARY KEY,
  lane_code TEXT NOT NULL,
  shipper_id INTEGER NOT NULL, -- the party that sends
  consignee_id INTEGER NOT NULL, -- the party that receives
  booked_at TEXT NOT NULL, -- timestamp
  promised_on TEXT NOT NULL,
  delivered_on TEXT, -- NULL: not delivered yet, or cancelled
  weight_kg INTEGER NOT NULL,
  pieces INTEGER NOT NULL CHECK (pieces > 0),
  price_usd REAL NOT NULL, -- freight price, surcharges come on top
  status TEXT NOT NULL -- booked, in_transit, delivered, cancelled
);
CREATE TABLE legs (
  leg_id INTEGER PRIMARY KEY,
  shipment_no INTEGER NOT NULL,
  leg_no INTEGER NOT NULL, -- 1 is the first of its shipment
  carrier_id INTEGER NOT NULL,
  planned_depart TEXT NOT NULL,
  actual_depart TEXT, -- NULL: not yet
  planned_arrive TEXT NOT NULL,
  actual_arrive TEXT, -- NULL: not yet
  cost_cents INTEGER NOT NULL,
  UNIQUE (shipment_no, leg_no)
);
CREATE TABLE surcharges (
  surcharge_id INTEGER PRIMARY KEY,
  shipment_no INTEGER NOT NULL,
  kind TEXT NOT NULL, -- fuel, customs, storage, peak
  amount_cents INTEGER NOT NULL,
  billed_on TEXT NOT NULL,
  waived INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE claims (
  claim_id INTEGER PRIMARY KEY,
  shipment_ref INTEGER NOT NULL, -- a shipment_no
  reason TEXT NOT NULL, -- damage, loss, delay, shortage, paperwork
  filed_on TEXT NOT NULL,
  settled_on TEXT, -- NULL: not yet
  claimed_usd REAL NOT NULL,
  paid_usd REAL CHECK (paid_usd > 0) -- NULL: nothing was paid out
);
INSERT INTO parties VALUES
 (1, 'Holm & Vik', 'Bergen', 'NO', 'Ines'),
 (2, 'Baltic Timber', 'Riga', 'LV', 'Ines'),
 (3, 'Castell Foods', 'Valencia', 'ES', 'Tomas'),
 (4, 'Rheinwerk', 'Duisburg', 'DE', 'Tomas'),
 (5, 'Polar Seafood', 'Tromso', 'NO', NULL),
 (6, 'Anvers Chemie', 'Antwerp', 'BE', 'Greta'),
 (7, 'Kestrel Parts', 'Leeds', 'GB', 'Greta'),
 (8, 'Castell Foods', 'Porto', 'PT', 'Tomas'),
 (9, 'Mazur Meble', 'Gdansk', 'PL', 'Ines'),
 (10, 'Fjord Aqua', 'Alesund', 'NO', 'Greta'),
 (11, 'Lindqvist Papir', 'Malmo', 'SE', NULL),
 (12, 'Dubois Verre', 'Lille', 'FR', 'Ines'),
 (13, 'Nordlys Bygg', 'Oslo', 'NO', 'Tomas'),
 (14, 'Ostra Glas', 'Malmo', 'SE', 'Greta'),
 (15, 'Vestland Kraft', 'Stavanger', 'NO', NULL),
 (16, 'Trent Ceramics', 'Stoke', 'GB', 'Tomas');
INSERT INTO carriers VALUES
 (1, 'Skagerrak Line', 'sea', '2019-03-01', NULL),
 (2, 'Hansa Trucking', 'road', '2018-06-15', NULL),
 (3, 'Nordvik Rail', 'rail', '2020-01-10', NULL),
 (4, 'Alpenroad', 'road', '2021-09-01', '2024-05-31'),
 (5, 'Iberia Haul', 'road', '2020-11-20', NULL),
 (6, 'Humber Feeder', 'sea', '2019-08-08', NULL),
 (7, 'Polstar Air', 'air', '2022-02-14', NULL),
 (8, 'Vistula Cargo', 'rail', '2022-10-01', NULL),
 (9, 'Meridian Air', 'air', '2023-01-01', NULL),
 (10, 'Gotland Ferries', 'sea', '2024-06-01', NULL),
 (11, 'Delta Spedition', 'road', '2023-12-31', '2024-01-31');
INSERT INTO lanes VALUES
 ('HAM-OSL', 'Hamburg', 'Oslo', 940, 6),
 ('ANR-BGO', 'Antwerp', 'Bergen', 1480, 9),
 ('VLC-LIL', 'Valencia', 'Lille', 1510, 7),
 ('GDN-MMA', 'Gdansk', 'Malmo', 620, 4),
 ('RIX-DUI', 'Riga', 'Duisburg', 1620, 8),
 ('LBA-ANR', 'Leeds', 'Antwerp', 690, 5),
 ('OSL-HAM', 'Oslo', 'Hamburg', 940, 6),
 ('OPO-LBA', 'Porto', 'Leeds', 1890, 12),
 ('TOS-RIX', 'Tromso', 'Riga', 2240, 11),
 ('BGO-OPO', 'Bergen', 'Porto', 3050, 14),
 ('LIL-TOS', 'Lille', 'Tromso', 3100, 15);
-- 140 bookings, one each five days; none in August 2023 (the desk was closed)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 140),
t AS (
  SELECT i, datetime('2023-01-05 08:15:00', '+' || (i * 5) || ' days', '+' || (i * 37 % 600) || ' minutes') AS bk,
    1 + (i * 7 + i / 4) % 9 AS ln,
    1 + (i * 5 + i / 6) % 12 AS sh,
    CASE 1 + (i * 3 + i / 4) % 11 WHEN 1 THEN 13 WHEN 2 THEN 14 WHEN 5 THEN 6 ELSE 1 + (i * 3 + i / 4) % 11 END AS co
  FROM n
), q AS (
  SELECT t.*, l.lane_code, l.distance_km, date(bk, '+' || l.target_days || ' days') AS pr
  FROM t JOIN lanes l ON l.rowid = t.ln
), d AS (
  SELECT q.*, CASE WHEN i < 138 AND i % 17 <> 0 AND i % 23 <> 11 AND date(pr, (i * 13 % 11 - 6) || ' days') <= '2024-12-20' THEN date(pr, (i * 13 % 11 - 6) || ' days') END AS de FROM q
)
INSERT INTO shipments
SELECT 7000 + i, lane_code, sh, CASE WHEN co = sh THEN 14 ELSE co END, bk, pr, CASE WHEN de < date(bk) THEN date(bk) ELSE de END,
  100 * (1 + i * i * 37 % 43), 1 + i * 11 % 24, 250 + 50 * (i * 17 % 4) + distance_km / 10,
  CASE WHEN i % 17 = 0 THEN 'cancelled' WHEN de IS NOT NULL THEN 'delivered' WHEN i >= 138 THEN 'booked' ELSE 'in_transit' END
FROM d WHERE strftime('%Y-%m', bk) <> '2023-08';
INSERT INTO shipments VALUES
 (7201, 'HAM-OSL', 4, 13, '2024-06-30 23:59:00', '2024-07-06', '2024-07-06', 500, 4, 444, 'delivered'),
 (7202, 'GDN-MMA', 9, 14, '2023-12-31 23:59:00', '2024-01-04', '2024-01-03', 2000, 10, 362, 'delivered'),
 (7203, 'LBA-ANR', 7, 6, '2024-01-01 00:00:00', '2024-01-06', '2024-01-08', 499, 2, 369, 'delivered'),
 (7204, 'GDN-MMA', 9, 14, '2024-06-30 18:20:00', '2024-07-04', NULL, 1999, 8, 362, 'cancelled'),
 (7205, 'RIX-DUI', 2, 4, '2024-12-02 10:05:00', '2024-12-10', '2025-01-03', 900, 6, 462, 'delivered');
WITH RECURSIVE g(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM g WHERE k < 3)
INSERT INTO legs (shipment_no, leg_no, carrier_id, planned_depart, actual_depart, planned_arrive, actual_arrive, cost_cents)
SELECT s.shipment_no, g.k,
  CASE WHEN s.shipment_no * g.k % 5 = 0 THEN 2 WHEN s.shipment_no % 4 = 1 AND g.k = 1 THEN 1 WHEN s.shipment_no % 6 = 2 AND g.k = 2 THEN 3 ELSE 1 + (s.shipment_no * 3 + g.k * 5 + s.shipment_no / 6) % 9 END,
  date(s.booked_at, '+' || (2 + 3 * (g.k - 1)) || ' days'),
  CASE WHEN date(s.booked_at, '+' || (2 + 3 * (g.k - 1) + (s.shipment_no + g.k) % 3) || ' days') <= '2024-12-20' THEN date(s.booked_at, '+' || (2 + 3 * (g.k - 1) + (s.shipment_no + g.k) % 3) || ' days') END,
  date(s.booked_at, '+' || (4 + 3 * (g.k - 1)) || ' days'),
  CASE WHEN date(s.booked_at, '+' || (4 + 3 * (g.k - 1) + (s.shipment_no * g.k + g.k) % 4) || ' days') <= '2024-12-20' THEN date(s.booked_at, '+' || (4 + 3 * (g.k - 1) + (s.shipment_no * g.k + g.k) % 4) || ' days') END,
  4000 + 700 * (s.shipment_no * g.k % 23)
FROM shipments s JOIN g ON g.k <= 1 + s.shipment_no % 3
WHERE s.status <> 'cancelled'
ORDER BY s.shipment_no, g.k;
UPDATE legs SET actual_depart = NULL WHERE shipment_no IN (SELECT shipment_no FROM shipments WHERE status = 'booked');
UPDATE legs SET actual_arrive = NULL WHERE actual_depart IS NULL;
INSERT INTO surcharges (shipment_no, kind, amount_cents, billed_on, waived)
SELECT shipment_no, 'fuel', 1500 + 250 * (shipment_no % 5), date(booked_at, '+9 days'), shipment_no % 11 = 0 FROM shipments WHERE shipment_no % 3 <> 1;
INSERT INTO surcharges (shipment_no, kind, amount_cents, billed_on, waived)
SELECT shipment_no, 'customs', 4200, date(booked_at, '+12 days'), 0 FROM shipments WHERE shipment_no % 4 = 2 AND status <> 'cancelled';
INSERT INTO surcharges (shipment_no, kind, amount_cents, billed_on, waived)
SELECT shipment_no, 'storage', 900 + 300 * (shipment_no % 7), date(booked_at, '+20 days'), shipment_no % 3 = 0 FROM shipments WHERE shipment_no % 5 = 3 AND status <> 'cancelled';
INSERT INTO surcharges (shipment_no, kind, amount_cents, billed_on, waived)
SELECT shipment_no, 'storage', 900, date(booked_at, '+34 days'), 0 FROM shipments WHERE shipment_no % 10 = 3 AND status = 'delivered';
INSERT INTO claims VALUES
 (1, 7003, 'damage', '2023-02-14', '2023-04-01', 820, 600),
 (2, 7008, 'delay', '2023-03-20', '2023-05-11', 150, NULL),
 (3, 7012, 'loss', '2023-03-20', '2023-07-30', 2400, 2400),
 (4, 7012, 'damage', '2023-04-02', '2023-07-30', 310, 310),
 (5, 7019, 'delay', '2023-05-22', '2023-06-02', 90, 45),
 (6, 7025, 'paperwork', '2023-07-05', NULL, 60, NULL),
 (7, 7031, 'shortage', '2023-07-05', '2023-09-18', 480, 400),
 (8, 7038, 'damage', '2023-07-31', '2024-01-15', 1250, 900),
 (9, 7055, 'delay', '2023-10-24', '2024-01-31', 200, NULL),
 (10, 7061, 'loss', '2023-12-01', '2024-03-08', 3900, 3000),
 (11, 7067, 'damage', '2023-12-31', '2024-02-20', 275, NULL),
 (12, 7072, 'shortage', '2024-01-19', '2024-04-04', 640, 640),
 (13, 7072, 'delay', '2024-01-19', '2024-02-02', 80, 80),
 (14, 7080, 'paperwork', '2024-03-01', '2024-03-20', 35, NULL),
 (15, 7088, 'damage', '2024-04-15', '2024-08-09', 990, 500),
 (16, 7094, 'delay', '2024-05-27', NULL, 310, NULL),
 (17, 7101, 'loss', '2024-06-30', '2024-12-31', 5100, 4200),
 (18, 7110, 'damage', '2024-08-12', '2024-09-30', 150, 150),
 (19, 7120, 'shortage', '2024-09-23', NULL, 720, NULL),
 (20, 7120, 'delay', '2024-09-23', '2024-10-14', 100, 60),
 (21, 7126, 'damage', '2024-11-04', NULL, 1800, NULL),
 (22, 7131, 'delay', '2024-12-09', NULL, 220, NULL);
