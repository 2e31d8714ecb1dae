CREATE TABLE channels (
  channel_id INTEGER PRIMARY KEY,
  channel_name TEXT NOT NULL,
  kind TEXT -- search, social, mail, partner
);
CREATE TABLE campaigns (
  campaign_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  channel_id INTEGER,
  parent_id INTEGER, -- umbrella campaign, NULL: stands alone or is itself an umbrella
  owner_login TEXT, -- no table of people
  starts_on DATE NOT NULL,
  ends_on DATE, -- last day, NULL: open end
  budget_usd REAL, -- dollars, NULL: no cap
  status TEXT NOT NULL, -- draft, live, paused, ended
  is_test INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE ad_days (
  campaign_id INTEGER NOT NULL,
  day DATE NOT NULL,
  impressions INTEGER NOT NULL,
  clicks INTEGER NOT NULL,
  spend_cents INTEGER -- NULL: the network has not reported yet
);
CREATE TABLE visitors (
  visitor_id TEXT,
  first_seen_at TIMESTAMP,
  country TEXT, -- ISO code, NULL: unknown
  device TEXT, -- phone, tablet, desktop
  opted_out INTEGER DEFAULT 0
);
CREATE TABLE sessions (
  session_id INTEGER PRIMARY KEY,
  visitor_id TEXT NOT NULL,
  campaign_id INTEGER, -- NULL: came directly
  started_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP, -- NULL: no end was seen
  landing_page TEXT,
  pages INTEGER NOT NULL
);
CREATE TABLE variants (
  visitor_id TEXT,
  exp_key TEXT, -- no table of experiments
  variant TEXT, -- control, A, B
  assigned_at TIMESTAMP
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  session_id INTEGER,
  ordered_at TIMESTAMP NOT NULL,
  amount_cents INTEGER NOT NULL,
  refund_cents INTEGER, -- NULL: nothing given back
  coupon TEXT,
  state TEXT NOT NULL -- placed, shipped, returned, cancelled
);

INSERT INTO channels VALUES (1, 'Finder', 'search'), (2, 'Chirp', 'social'), (3, 'Pictogram', 'social'), (4, 'Newsletter', 'mail'),
 (5, 'Deal blogs', 'partner'), (6, 'Maps', 'search'), (7, 'Podcast', NULL);
INSERT INTO campaigns VALUES
 (1, 'Spring launch', NULL, NULL, 'rkim', '2024-03-01', '2024-05-31', 20000, 'ended', 0),
 (2, 'Spring launch - search', 1, 1, 'rkim', '2024-03-01', '2024-05-31', 8000, 'ended', 0),
 (3, 'Spring launch - chirp', 2, 1, 'jdoe', '2024-03-10', '2024-05-15', 4000, 'ended', 0),
 (4, 'Spring launch - mail', 4, 1, 'jdoe', '2024-03-15', '2024-05-31', 500, 'ended', 0),
 (5, 'Brand words', 1, NULL, 'rkim', '2023-11-01', NULL, NULL, 'live', 0),
 (6, 'Summer sale', NULL, NULL, 'akova', '2024-06-10', '2024-08-31', 15000, 'ended', 0),
 (7, 'Summer sale - pictures', 3, 6, 'akova', '2024-06-10', '2024-08-31', 7000, 'ended', 0),
 (8, 'Summer sale - blogs', 5, 6, 'akova', '2024-06-15', '2024-08-31', 3000, 'paused', 0),
 (9, 'Pixel check', 2, NULL, 'jdoe', '2024-02-01', '2024-12-31', 50, 'live', 1),
 (10, 'Store finder', 6, NULL, 'rkim', '2024-04-01', NULL, 2500, 'live', 0),
 (11, 'Autumn teaser', 3, NULL, NULL, '2024-10-01', '2024-11-30', 6000, 'draft', 0),
 (12, 'Refer a friend', 4, NULL, 'akova', '2024-01-15', NULL, 1200, 'paused', 0),
 (13, 'Talk show spots', 7, NULL, NULL, '2024-09-01', '2024-10-31', 2500, 'draft', 0);
-- every second day, nothing in July for campaign 10, no spend reported in the last days
WITH RECURSIVE d(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM d WHERE k < 110)
INSERT INTO ad_days
SELECT c.campaign_id, date('2024-02-01', '+' || (k * 2) || ' days'),
  400 + (k * 37 + c.campaign_id * 91) % 900, CASE WHEN k % 19 = 7 THEN 0 ELSE 4 + (k * 11 + c.campaign_id * 5) % 37 END,
  CASE WHEN k > 107 THEN NULL ELSE 900 + (k * 53 + c.campaign_id * 211) % 4200 END
FROM campaigns c, d
WHERE c.campaign_id IN (2, 3, 4, 5, 7, 8, 9, 10, 12) AND k % 2 = c.campaign_id % 2
  AND date('2024-02-01', '+' || (k * 2) || ' days') BETWEEN c.starts_on AND COALESCE(c.ends_on, '2024-12-31')
  AND NOT (c.campaign_id = 10 AND strftime('%m', date('2024-02-01', '+' || (k * 2) || ' days')) = '07');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)
INSERT INTO visitors
SELECT 'v' || printf('%03d', i), datetime('2024-02-01', '+' || (i * 36) || ' hours', '+' || (i * 7) || ' minutes'),
  CASE WHEN i % 14 = 9 THEN NULL WHEN i % 3 = 0 THEN 'US' WHEN i % 5 = 1 THEN 'DE' WHEN i % 7 = 2 THEN 'BR' ELSE 'GB' END,
  CASE WHEN i % 4 = 0 THEN 'desktop' WHEN i % 9 = 1 THEN 'tablet' ELSE 'phone' END, (i % 16 = 5)
FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 320)
INSERT INTO sessions
SELECT i, 'v' || printf('%03d', CASE WHEN i <= 112 THEN i ELSE 1 + (i * 29) % 83 END),
  CASE WHEN i % 3 = 0 THEN NULL ELSE CASE i % 8 WHEN 0 THEN 5 WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 7 WHEN 4 THEN 10 WHEN 5 THEN 12 WHEN 6 THEN 8 ELSE 4 END END,
  CASE WHEN i <= 112 THEN datetime('2024-02-01', '+' || (i * 36) || ' hours', '+' || (i * 7) || ' minutes')
    ELSE datetime('2024-05-20', '+' || ((i - 112) * 13) || ' hours', '+' || (i * 11 % 60) || ' minutes') END,
  CASE WHEN i % 10 = 4 THEN NULL WHEN i <= 112 THEN datetime('2024-02-01', '+' || (i * 36) || ' hours', '+' || (i * 7 + 1 + i * 3 % 41) || ' minutes')
    ELSE datetime('2024-05-20', '+' || ((i - 112) * 13) || ' hours', '+' || (i * 11 % 60 + 1 + i * 3 % 41) || ' minutes') END,
  CASE i % 5 WHEN 0 THEN '/' WHEN 1 THEN '/sale' WHEN 2 THEN '/blog/fit' WHEN 3 THEN '/p/lamp' ELSE '/stores' END, 1 + (i * i) % 9
FROM n;
INSERT INTO variants
SELECT visitor_id, 'checkout_v2', CASE CAST(substr(visitor_id, 2) AS INTEGER) % 2 WHEN 0 THEN 'control' ELSE 'A' END, datetime(first_seen_at, '+1 minutes')
FROM visitors WHERE CAST(substr(visitor_id, 2) AS INTEGER) % 5 <> 3;
INSERT INTO variants
SELECT visitor_id, 'hero_image', CASE CAST(substr(visitor_id, 2) AS INTEGER) % 3 WHEN 0 THEN 'control' WHEN 1 THEN 'A' ELSE 'B' END, datetime(first_seen_at, '+2 minutes')
FROM visitors WHERE CAST(substr(visitor_id, 2) AS INTEGER) > 40;
INSERT INTO orders
SELECT 9000 + session_id, session_id, datetime(started_at, '+9 minutes'), 1500 + (session_id * 413) % 9000,
  CASE WHEN session_id % 21 = 7 THEN 1500 + (session_id * 413) % 9000 WHEN session_id % 35 = 10 THEN 500 END,
  CASE WHEN session_id % 6 = 1 THEN 'WELCOME10' WHEN session_id % 10 = 5 THEN 'SUMMER' END,
  CASE WHEN session_id % 21 = 7 THEN 'returned' WHEN session_id % 13 = 5 THEN 'cancelled' WHEN session_id > 295 THEN 'placed' ELSE 'shipped' END
FROM sessions WHERE session_id % 7 IN (0, 3) OR session_id % 25 = 10;
INSERT INTO orders VALUES (9900, NULL, '2024-06-03 10:12:00', 4200, NULL, NULL, 'shipped'), (9901, NULL, '2024-07-21 16:40:00', 8800, NULL, 'SUMMER', 'shipped'),
 (9902, NULL, '2024-09-02 08:05:00', 2600, 2600, NULL, 'returned');
