CREATE TABLE brokers (
  broker_id INT NOT NULL PRIMARY KEY,
  broker_name VARCHAR(60) NOT NULL,
  recruited_by INT, -- another broker
  commission_pct DECIMAL(4, 1) NOT NULL,
  ended_on DATE -- NULL: still works with us
);
CREATE TABLE holders (
  holder_id INT NOT NULL PRIMARY KEY,
  holder_name VARCHAR(60) NOT NULL,
  born_on DATE,
  town VARCHAR(40),
  broker_id INT, -- NULL: came without a broker
  erased_at DATETIME -- personal data erased on request
);
CREATE TABLE policies (
  policy_no INT NOT NULL PRIMARY KEY,
  holder_id INT NOT NULL, -- who pays
  insured_id INT, -- the insured person, a holder too
  line ENUM('motor', 'home', 'travel') NOT NULL,
  starts_on DATE NOT NULL,
  ends_on DATE, -- first day without cover, NULL: open
  cancelled_on DATE,
  premium_cents INT NOT NULL, -- a year
  state ENUM('quote', 'active', 'lapsed', 'cancelled') NOT NULL,
  renews_no INT, -- the policy that this one renews
  is_test TINYINT(1) NOT NULL DEFAULT 0
);
CREATE TABLE motor_policies (
  policy_no INT NOT NULL,
  plate VARCHAR(12),
  built_year SMALLINT,
  km_per_year INT,
  garage TINYINT(1)
);
CREATE TABLE home_policies (
  policy_no INT NOT NULL,
  postcode CHAR(5),
  square_m INT,
  sum_insured_eur DECIMAL(12, 2) NOT NULL,
  has_alarm TINYINT(1) NOT NULL DEFAULT 0
);
CREATE TABLE claims (
  claim_id INT NOT NULL PRIMARY KEY,
  policy_no INT NOT NULL,
  occurred_on DATE,
  reported_at DATETIME NOT NULL,
  cause VARCHAR(20), -- no table of causes
  reserve_eur DECIMAL(10, 2), -- NULL: not estimated yet
  state ENUM('open', 'accepted', 'rejected', 'withdrawn') NOT NULL,
  handler VARCHAR(8), -- login of the person, NULL: unassigned
  closed_on DATE,
  reopens_id INT -- the claim that this one takes up again
);
CREATE TABLE payouts (
  claim_id INT NOT NULL,
  paid_on DATE NOT NULL,
  amount_eur DECIMAL(10, 2) NOT NULL,
  payee VARCHAR(10) NOT NULL, -- holder, garage, third
  reversed TINYINT(1) NOT NULL DEFAULT 0
);

INSERT INTO brokers VALUES (1, 'Nordic Cover', NULL, 9.0, NULL), (2, 'Shield & Sons', 1, 8.5, NULL), (3, 'Quick Quote', 1, 7.0, '2024-03-31'), (4, 'Harbor Risk', NULL, 10.0, NULL),
 (5, 'Valley Agents', 4, 8.5, NULL), (6, 'Umbra Partners', 2, 6.0, NULL), (7, 'First Aegis', NULL, 9.5, '2023-12-31');
INSERT INTO holders
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 110)
SELECT i, IF(i % 40 = 11, 'erased', CONCAT(ELT(1 + i % 9, 'Abe', 'Bella', 'Cyril', 'Dora', 'Emil', 'Fay', 'Gil', 'Hedy', 'Ian'), ' ', ELT(1 + i % 8, 'Jansen', 'Kern', 'Lopez', 'Marsh', 'Novak', 'Olsen', 'Perez', 'Quist'))),
  IF(i % 40 = 11, NULL, DATE_ADD('1948-02-11', INTERVAL i * 197 DAY)), IF(i % 40 = 11 OR i % 23 = 2, NULL, ELT(1 + i * 3 % 5, 'Linden', 'Marlow', 'Nyborg', 'Ostend', 'Linden')),
  IF(i % 4 = 3, NULL, 1 + i * 5 % 6), IF(i % 40 = 11, DATE_ADD('2024-02-01 10:00:00', INTERVAL i DAY), NULL)
FROM n;
INSERT INTO policies
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 170)
SELECT 20000 + i, 1 + i * 7 % 97, CASE WHEN i % 6 = 1 THEN 1 + (i * 7 + 30) % 110 WHEN i % 25 = 8 THEN NULL ELSE 1 + i * 7 % 97 END, CASE WHEN i % 5 < 2 THEN 'motor' WHEN i % 5 = 4 THEN 'travel' ELSE 'home' END,
  DATE_ADD('2023-01-10', INTERVAL i * 4 DAY), CASE WHEN i % 5 = 4 THEN DATE_ADD('2023-01-24', INTERVAL i * 4 DAY) WHEN i % 7 = 3 THEN NULL ELSE DATE_ADD('2024-01-10', INTERVAL i * 4 DAY) END,
  IF(i % 12 = 7, DATE_ADD('2023-04-01', INTERVAL i * 4 DAY), NULL), IF(i % 5 = 4, 3500 + i % 4 * 1200, 24000 + i * 37 % 31 * 1500),
  CASE WHEN i % 12 = 7 THEN 'cancelled' WHEN i > 150 AND i % 3 = 0 THEN 'quote' WHEN i % 5 = 4 AND i < 150 THEN 'lapsed' WHEN i % 7 <> 3 AND i < 70 THEN 'lapsed' ELSE 'active' END,
  NULL, i IN (24, 77, 141)
FROM n;
INSERT INTO policies
SELECT policy_no + 1000, holder_id, insured_id, line, DATE_ADD(ends_on, INTERVAL IF(policy_no % 10 = 0, 12, 0) DAY), DATE_ADD(ends_on, INTERVAL 1 YEAR), NULL, premium_cents + policy_no % 7 * 900 - 1200, 'active', policy_no, 0
FROM policies WHERE state = 'lapsed' AND line <> 'travel' AND policy_no % 2 = 0 AND is_test = 0;
INSERT INTO motor_policies SELECT policy_no, IF(policy_no % 50 = 6, NULL, CONCAT('LN-', 1000 + policy_no % 777 * 3)), 2004 + policy_no * 7 % 20, IF(policy_no % 9 = 4, NULL, 4000 + policy_no * 13 % 17 * 1500), IF(policy_no % 8 = 5, NULL, policy_no % 3 = 0) FROM policies WHERE line = 'motor' AND renews_no IS NULL;
INSERT INTO motor_policies SELECT p.policy_no, m.plate, m.built_year, m.km_per_year, m.garage FROM policies p JOIN motor_policies m ON m.policy_no = p.renews_no;
INSERT INTO home_policies SELECT policy_no, LPAD(10000 + policy_no * 17 % 60 * 11, 5, '0'), IF(policy_no % 15 = 12, NULL, 45 + policy_no * 11 % 120), 80000 + policy_no * 7 % 23 * 12500, policy_no % 4 = 1 FROM policies WHERE line = 'home' AND renews_no IS NULL AND policy_no <> 20152;
INSERT INTO home_policies SELECT p.policy_no, h.postcode, h.square_m, h.sum_insured_eur + 5000, h.has_alarm FROM policies p JOIN home_policies h ON h.policy_no = p.renews_no;
INSERT INTO claims
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 130)
SELECT 500 + i, p.policy_no, IF(i % 21 = 8, NULL, DATE_ADD(p.starts_on, INTERVAL IF(p.line = 'travel', i * 3 % 13, i * 13 % 180) DAY)), DATE_ADD(DATE_ADD(p.starts_on, INTERVAL IF(p.line = 'travel', 13, i * 13 % 180) + i * 5 % 24 DAY), INTERVAL 8 + i % 10 HOUR),
  CASE WHEN i % 17 = 4 THEN NULL WHEN p.line = 'motor' THEN ELT(1 + i % 3, 'collision', 'theft', 'glass') WHEN p.line = 'home' THEN ELT(1 + i % 3, 'water', 'theft', 'fire') ELSE ELT(1 + i % 2, 'luggage', 'illness') END,
  IF(i % 12 = 5, NULL, 150 + i * 83 % 47 * 95), CASE WHEN i > 112 THEN 'open' WHEN i % 6 = 2 THEN 'rejected' WHEN i % 15 = 4 THEN 'withdrawn' WHEN i % 19 = 10 THEN 'open' ELSE 'accepted' END,
  IF(i % 16 = 9, NULL, ELT(1 + i * 3 % 5, 'mlee', 'tkurz', 'svoss', 'mlee', 'pnagy')), IF(i > 112 OR (i % 19 = 10 AND i % 6 <> 2 AND i % 15 <> 4), NULL, DATE_ADD(p.starts_on, INTERVAL 40 + IF(p.line = 'travel', 0, i * 13 % 180) + i * 7 % 55 DAY)), IF(i IN (90, 104, 119), 500 + 149 - i, NULL)
FROM n JOIN policies p ON p.policy_no = 20000 + 1 + i * i * 11 % 149 WHERE p.state <> 'quote' AND p.is_test = 0;
INSERT INTO payouts SELECT claim_id, DATE_ADD(closed_on, INTERVAL claim_id % 9 DAY), ROUND(COALESCE(reserve_eur, 400) * (60 + claim_id % 7 * 10) / 100, 2), CASE WHEN cause IN ('collision', 'glass') THEN 'garage' WHEN claim_id % 10 = 7 THEN 'third' ELSE 'holder' END, claim_id % 31 = 2 FROM claims WHERE state = 'accepted' AND claim_id % 13 <> 6;
INSERT INTO payouts SELECT claim_id, DATE_ADD(closed_on, INTERVAL 30 DAY), 120.00, 'holder', 0 FROM claims WHERE state = 'accepted' AND claim_id % 5 = 1;
