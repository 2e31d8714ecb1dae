PRAGMA foreign_keys = ON;
CREATE TABLE plans (
  plan_id INTEGER PRIMARY KEY,
  plan_name TEXT NOT NULL, -- not unique: a retired name was given to a new plan
  tier TEXT NOT NULL CHECK (tier IN ('starter', 'growth', 'scale')),
  price_cents INTEGER NOT NULL, -- list price per seat and month
  launched_on TEXT NOT NULL,
  retired_on TEXT -- NULL: still sold
);
CREATE TABLE accounts (
  account_id INTEGER PRIMARY KEY,
  company TEXT NOT NULL,
  country TEXT NOT NULL, -- ISO code
  account_rep TEXT, -- NULL: nobody assigned yet
  signed_up_on TEXT NOT NULL,
  is_test INTEGER NOT NULL DEFAULT 0,
  referred_by INTEGER REFERENCES accounts (account_id)
);
CREATE TABLE subscriptions (
  sub_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  plan_id INTEGER NOT NULL REFERENCES plans (plan_id),
  seats INTEGER NOT NULL CHECK (seats > 0),
  started_on TEXT NOT NULL,
  ended_on TEXT, -- NULL: still running
  end_reason TEXT -- price, product, merger, closed; NULL: running, or no reason given
);
CREATE TABLE invoices (
  invoice_id INTEGER PRIMARY KEY,
  sub_id INTEGER NOT NULL REFERENCES subscriptions (sub_id),
  issued_at TEXT NOT NULL, -- timestamp
  due_on TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  status TEXT NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void')),
  UNIQUE (sub_id, issued_at)
);
CREATE TABLE payments (
  payment_id INTEGER PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  paid_at TEXT NOT NULL, -- timestamp
  amount_cents INTEGER NOT NULL,
  method TEXT NOT NULL -- card, wire, debit, cheque
);
CREATE TABLE credits (
  credit_id INTEGER PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  credited_on TEXT NOT NULL,
  amount_usd REAL NOT NULL, -- dollars
  note TEXT
);
CREATE TABLE tickets (
  ticket_id INTEGER PRIMARY KEY, -- 9000 and up: imported later from the old helpdesk
  account_id INTEGER NOT NULL REFERENCES accounts (account_id),
  opened_at TEXT NOT NULL, -- timestamp
  solved_at TEXT, -- NULL: not yet
  priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'urgent')),
  minutes INTEGER, -- working time logged; NULL: nothing logged
  UNIQUE (account_id, opened_at)
);
INSERT INTO plans VALUES
 (1, 'Solo', 'starter', 900, '2020-01-01', '2023-06-30'),
 (2, 'Team', 'growth', 1500, '2020-01-01', NULL),
 (3, 'Team Plus', 'growth', 2200, '2021-05-01', NULL),
 (4, 'Business', 'scale', 3500, '2020-09-15', NULL),
 (5, 'Enterprise', 'scale', 5200, '2021-11-01', NULL),
 (6, 'Nonprofit', 'starter', 500, '2024-02-01', NULL),
 (7, 'Solo', 'starter', 1100, '2023-07-01', NULL);
INSERT INTO accounts VALUES
 (101, 'Brightwell Dental', 'US', 'Okafor', '2021-11-20', 0, NULL),
 (102, 'Lumen Labs', 'GB', 'Okafor', '2022-01-09', 0, NULL),
 (103, 'Kettle & Finch', 'GB', 'Marin', '2022-02-14', 0, 102),
 (104, 'Pinetop Outfitters', 'US', 'Marin', '2022-03-01', 0, 101),
 (105, 'Hafen Logistik', 'DE', 'Sato', '2022-03-31', 0, NULL),
 (106, 'QA Sandbox', 'US', NULL, '2022-04-01', 1, NULL),
 (107, 'Lumen Labs', 'US', 'Sato', '2022-06-18', 0, NULL),
 (108, 'Sable Ridge Wines', 'US', NULL, '2022-08-02', 0, 104),
 (109, 'Nordby Energi', 'NO', 'Sato', '2022-10-11', 0, 105),
 (110, 'Tessera Games', 'CA', 'Marin', '2022-12-31', 0, NULL),
 (111, 'Molina Tiles', 'ES', 'Okafor', '2023-01-01', 0, NULL),
 (112, 'Oxbow Credit Union', 'US', 'Okafor', '2023-02-28', 0, 101),
 (113, 'Greyfriars School', 'GB', NULL, '2023-05-05', 0, NULL),
 (114, 'Alster Pflege', 'DE', 'Sato', '2023-07-17', 0, 105),
 (115, 'Two Rivers Clinic', 'CA', 'Marin', '2023-09-30', 0, 110),
 (116, 'Demo Holdings', 'GB', 'Okafor', '2023-10-01', 1, NULL),
 (117, 'Verdant Foods', 'US', 'Marin', '2023-12-31', 0, NULL),
 (118, 'Isar Robotik', 'DE', NULL, '2024-03-12', 0, 114),
 (119, 'Calle Nueve', 'ES', 'Sato', '2024-07-01', 0, 111),
 (120, 'Fjellheim Hotell', 'NO', NULL, '2024-09-30', 0, 109),
 (121, 'Palisade Insurance', 'US', 'Okafor', '2024-10-01', 0, NULL),
 (122, 'Weaver Street Co-op', 'CA', NULL, '2024-11-19', 0, NULL);
INSERT INTO subscriptions VALUES
 (1, 101, 1, 4, '2021-12-01', '2022-11-30', NULL),
 (2, 101, 2, 18, '2022-12-01', NULL, NULL),
 (3, 102, 4, 60, '2022-01-15', NULL, NULL),
 (4, 102, 2, 12, '2022-01-15', '2023-04-30', 'product'),
 (5, 103, 1, 3, '2022-02-20', '2023-06-30', 'closed'),
 (6, 103, 7, 3, '2023-07-01', '2024-05-31', 'price'),
 (7, 104, 2, 18, '2022-03-05', '2024-01-31', 'price'),
 (8, 104, 3, 26, '2024-02-01', NULL, NULL),
 (9, 105, 5, 90, '2022-04-01', NULL, NULL),
 (10, 106, 5, 250, '2022-04-01', NULL, NULL),
 (11, 107, 3, 12, '2022-07-01', '2023-12-31', 'merger'),
 (12, 107, 4, 35, '2024-01-01', NULL, NULL),
 (13, 108, 1, 6, '2022-08-10', '2023-02-09', 'price'),
 (14, 109, 5, 75, '2022-11-01', NULL, NULL),
 (15, 109, 2, 15, '2023-06-01', NULL, NULL),
 (16, 110, 3, 20, '2023-01-02', '2023-11-15', 'product'),
 (17, 110, 4, 60, '2023-11-16', NULL, NULL),
 (18, 111, 2, 9, '2023-01-10', NULL, NULL),
 (19, 112, 4, 44, '2023-03-01', NULL, NULL),
 (20, 112, 2, 20, '2023-03-01', '2024-08-31', NULL),
 (21, 112, 3, 46, '2024-09-01', NULL, NULL),
 (22, 113, 7, 2, '2023-08-15', '2024-02-14', 'price'),
 (23, 114, 2, 18, '2023-08-01', NULL, NULL),
 (24, 114, 7, 5, '2024-04-20', NULL, NULL),
 (25, 115, 3, 26, '2023-10-05', NULL, NULL),
 (26, 116, 4, 100, '2023-10-01', '2024-03-31', NULL),
 (27, 117, 2, 30, '2024-01-08', NULL, NULL),
 (28, 117, 7, 1, '2024-01-08', '2024-06-30', 'product'),
 (29, 118, 3, 16, '2024-03-20', NULL, NULL),
 (30, 119, 7, 4, '2024-07-10', NULL, NULL),
 (31, 120, 2, 12, '2024-10-02', NULL, NULL),
 (32, 121, 5, 60, '2024-10-15', NULL, NULL),
 (33, 105, 3, 16, '2023-05-01', '2024-04-30', 'merger');
-- one invoice per running subscription and month; September 2023: none (the billing system was being moved)
WITH RECURSIVE m(k, first) AS (
  SELECT 0, '2022-01-01' UNION ALL SELECT k + 1, date(first, '+1 month') FROM m WHERE k < 35
), b AS (
  SELECT s.sub_id, m.k, s.seats, p.price_cents,
    CASE WHEN s.sub_id % 7 = 3 THEN date(m.first, '+1 month', '-1 day') || ' 23:59:00'
         WHEN s.sub_id % 9 = 5 THEN m.first || ' 00:00:00'
         ELSE date(m.first, '+' || (3 + s.sub_id % 20) || ' days') || ' ' || printf('%02d:%02d:00', 8 + s.sub_id % 9, s.sub_id * 7 % 60) END AS issued
  FROM m JOIN subscriptions s JOIN plans p ON p.plan_id = s.plan_id
  WHERE m.first <> '2023-09-01' AND s.started_on < date(m.first, '+1 month') AND (s.ended_on IS NULL OR s.ended_on >= m.first)
)
INSERT INTO invoices
SELECT 5000 + ROW_NUMBER() OVER (ORDER BY k, sub_id), sub_id, issued, date(issued, '+30 days'),
  seats * price_cents + CASE WHEN (sub_id + k) % 3 = 0 THEN 0 ELSE 500 * ((sub_id * 37 + k * 53) % 17) END + 1000 * (k / 12),
  'paid'
FROM b;
UPDATE invoices SET status = 'void' WHERE invoice_id % 29 = 4;
UPDATE invoices SET status = 'open' WHERE status = 'paid' AND (invoice_id % 13 = 6 OR (issued_at >= '2024-12-01' AND invoice_id % 2 = 1));
UPDATE invoices SET status = 'draft' WHERE issued_at >= '2024-12-28';
INSERT INTO payments (invoice_id, paid_at, amount_cents, method)
SELECT invoice_id, CASE WHEN invoice_id % 19 = 2 THEN date(issued_at, 'start of month', '+1 month', '-1 day') || ' 23:59:59' ELSE datetime(issued_at, '+' || (invoice_id % 41) || ' days') END,
  CASE WHEN invoice_id % 6 = 0 THEN amount_cents / 2 ELSE amount_cents END,
  CASE WHEN issued_at < '2022-06-01' AND invoice_id % 4 = 0 THEN 'cheque' WHEN sub_id % 3 = 0 THEN 'wire' WHEN sub_id % 5 = 1 THEN 'debit' ELSE 'card' END
FROM invoices WHERE status = 'paid';
INSERT INTO payments (invoice_id, paid_at, amount_cents, method)
SELECT invoice_id, datetime(issued_at, '+' || (20 + invoice_id % 50) || ' days'), amount_cents - amount_cents / 2, 'card'
FROM invoices WHERE status = 'paid' AND invoice_id % 6 = 0;
INSERT INTO payments (invoice_id, paid_at, amount_cents, method)
SELECT invoice_id, datetime(issued_at, '+25 days'), amount_cents / 3, 'wire'
FROM invoices WHERE status = 'open' AND invoice_id % 2 = 0;
INSERT INTO credits (invoice_id, credited_on, amount_usd, note)
SELECT invoice_id, date(issued_at, '+' || (5 + invoice_id % 40) || ' days'),
  CASE WHEN invoice_id % 3 = 0 THEN round(amount_cents * 0.0065, 2) WHEN invoice_id % 3 = 1 THEN 50 ELSE round(amount_cents / 1000.0, 2) END,
  CASE WHEN invoice_id % 2 = 0 THEN 'outage' END
FROM invoices WHERE invoice_id % 31 = 7 AND status <> 'draft';
INSERT INTO credits (invoice_id, credited_on, amount_usd, note)
SELECT invoice_id, date(issued_at, '+46 days'), 25, 'goodwill' FROM invoices WHERE invoice_id % 62 = 7 AND status <> 'draft';
INSERT INTO tickets VALUES
 (1, 101, '2023-01-11 09:12:00', '2023-01-11 10:02:00', 'normal', 35),
 (2, 103, '2023-02-20 14:40:00', '2023-02-24 09:00:00', 'low', NULL),
 (3, 105, '2023-02-28 23:59:00', '2023-03-01 03:10:00', 'urgent', 140),
 (4, 105, '2023-03-15 08:05:00', '2023-03-15 12:30:00', 'urgent', 95),
 (5, 107, '2023-04-03 11:20:00', '2023-04-05 16:45:00', 'normal', 20),
 (6, 109, '2023-05-31 23:59:30', '2023-06-02 10:00:00', 'normal', 55),
 (7, 110, '2023-06-07 17:31:00', NULL, 'low', NULL),
 (8, 112, '2023-07-19 10:00:00', '2023-07-19 10:25:00', 'low', 15),
 (9, 112, '2023-07-19 10:40:00', '2023-07-20 09:15:00', 'normal', NULL),
 (10, 106, '2023-10-02 12:00:00', '2023-10-02 12:01:00', 'urgent', NULL),
 (11, 102, '2023-10-16 09:50:00', '2023-10-18 15:00:00', 'normal', 45),
 (12, 114, '2023-11-01 00:00:00', '2023-11-03 08:30:00', 'normal', 30),
 (13, 105, '2023-11-22 13:13:00', '2023-11-22 19:40:00', 'urgent', 180),
 (14, 113, '2024-01-08 08:30:00', '2024-02-01 11:00:00', 'low', 10),
 (15, 117, '2024-01-22 15:45:00', '2024-01-23 09:30:00', 'normal', 40),
 (16, 102, '2024-02-05 10:10:00', '2024-02-05 18:20:00', 'urgent', 75),
 (17, 115, '2024-02-29 23:59:00', '2024-03-04 10:30:00', 'normal', NULL),
 (18, 109, '2024-03-18 07:55:00', '2024-03-19 17:05:00', 'normal', 60),
 (19, 112, '2024-05-06 16:20:00', NULL, 'low', NULL),
 (20, 118, '2024-05-21 11:11:00', '2024-05-21 14:00:00', 'urgent', 50),
 (21, 105, '2024-06-10 09:00:00', '2024-06-14 09:00:00', 'normal', 90),
 (22, 117, '2024-07-04 20:15:00', '2024-07-08 08:45:00', 'low', 5),
 (23, 103, '2024-07-30 13:00:00', '2024-07-31 10:00:00', 'normal', 25),
 (24, 101, '2024-09-12 09:05:00', '2024-09-13 12:00:00', 'normal', NULL),
 (25, 112, '2024-10-01 00:00:00', '2024-10-02 09:00:00', 'urgent', 110),
 (26, 121, '2024-10-28 10:45:00', '2024-10-29 10:45:00', 'normal', 30),
 (27, 109, '2024-11-15 12:30:00', NULL, 'urgent', NULL),
 (28, 105, '2024-11-18 18:00:00', '2024-11-21 09:20:00', 'normal', 65),
 (29, 110, '2024-12-03 08:00:00', '2024-12-03 09:00:00', 'low', 20),
 (30, 114, '2024-12-16 16:16:00', NULL, 'normal', 15),
 (9001, 101, '2022-02-03 10:00:00', '2022-02-04 10:00:00', 'normal', 50),
 (9002, 102, '2022-03-09 14:30:00', '2022-03-10 11:00:00', 'normal', NULL),
 (9003, 103, '2022-05-25 09:20:00', '2022-05-25 13:00:00', 'urgent', 85),
 (9004, 105, '2022-06-13 08:40:00', '2022-06-20 08:40:00', 'low', NULL),
 (9005, 101, '2022-10-30 22:10:00', '2022-10-31 09:30:00', 'urgent', 70),
 (9006, 109, '2022-11-28 11:05:00', '2022-11-29 15:30:00', 'normal', 25);
