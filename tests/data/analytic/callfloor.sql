CREATE TABLE team (
  team_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  site TEXT NOT NULL,
  closed_on TEXT -- NULL: still running
);
CREATE TABLE agent (
  agent_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  team_id INTEGER NOT NULL REFERENCES team (team_id),
  coach_id INTEGER REFERENCES agent (agent_id),
  hired_on TEXT NOT NULL,
  left_on TEXT, -- NULL: still employed
  wage_cents INTEGER NOT NULL -- per hour
);
CREATE TABLE ticket (
  ticket_id INTEGER PRIMARY KEY,
  topic TEXT NOT NULL CHECK (topic IN ('billing', 'delivery', 'login', 'returns')),
  priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
  status TEXT NOT NULL CHECK (status IN ('open', 'pending', 'solved', 'cancelled')),
  created_by INTEGER NOT NULL REFERENCES agent (agent_id),
  solved_by INTEGER REFERENCES agent (agent_id),
  created_at TEXT NOT NULL,
  due_at TEXT NOT NULL,
  solved_at TEXT, -- NULL: not solved (yet)
  refund_cents INTEGER NOT NULL,
  goodwill_eur REAL NOT NULL,
  CHECK ((status = 'solved') = (solved_at IS NOT NULL)),
  CHECK ((solved_by IS NULL) = (solved_at IS NULL))
);
CREATE TABLE call_log (
  call_id INTEGER PRIMARY KEY,
  agent_id INTEGER REFERENCES agent (agent_id), -- NULL: caller hung up in the queue
  ticket_id INTEGER REFERENCES ticket (ticket_id),
  direction TEXT NOT NULL CHECK (direction IN ('in', 'out')),
  queued_at TEXT NOT NULL,
  answered_at TEXT,
  wait_seconds INTEGER NOT NULL,
  talk_seconds INTEGER NOT NULL,
  is_test INTEGER NOT NULL CHECK (is_test IN (0, 1)),
  CHECK ((agent_id IS NULL) = (answered_at IS NULL))
);
CREATE TABLE rating (
  rating_id INTEGER PRIMARY KEY,
  ticket_id INTEGER NOT NULL REFERENCES ticket (ticket_id),
  sent_at TEXT NOT NULL,
  score INTEGER CHECK (score BETWEEN 1 AND 5) -- NULL: the customer has not answered
);
CREATE TABLE shift (
  shift_id INTEGER PRIMARY KEY,
  agent_id INTEGER NOT NULL REFERENCES agent (agent_id),
  shift_date TEXT NOT NULL,
  planned_minutes INTEGER NOT NULL CHECK (planned_minutes > 0),
  worked_minutes INTEGER, -- NULL: no-show
  bonus_cents INTEGER NOT NULL,
  UNIQUE (agent_id, shift_date)
);
INSERT INTO team VALUES
 (1, 'Front Desk', 'Leeds', NULL), (2, 'Night Desk', 'Leeds', NULL), (3, 'Night Desk', 'Porto', NULL),
 (4, 'Returns', 'Porto', NULL), (5, 'Escalations', 'Leeds', NULL), (6, 'Chat Pilot', 'Leeds', '2023-11-30');
INSERT INTO agent VALUES
 (1, 'Moira Kell', 1, NULL, '2019-03-04', NULL, 2350),
 (2, 'Dev Anand', 1, 1, '2021-05-10', NULL, 1650),
 (3, 'Ana Reis', 3, NULL, '2020-09-01', NULL, 2350),
 (4, 'Piet Vroom', 1, 1, '2022-01-17', NULL, 1580),
 (5, 'Ana Reis', 4, 3, '2023-02-06', NULL, 1490),
 (6, 'Sam Oduya', 2, 1, '2023-02-06', '2024-04-30', 1720),
 (7, 'Greta Holm', 5, NULL, '2018-11-12', NULL, 2480),
 (8, 'Luis Matos', 3, 3, '2022-08-22', NULL, 1540),
 (9, 'Ines Faro', 3, 3, '2023-10-02', NULL, 1540),
 (10, 'Callum Bray', 2, 7, '2020-06-15', NULL, 1810),
 (11, 'Tess Warrick', 5, 7, '2021-11-29', NULL, 2120),
 (12, 'Rui Pardal', 4, 3, '2023-10-02', NULL, 1490),
 (13, 'Hana Sato', 5, 7, '2023-07-03', '2024-09-13', 2120),
 (14, 'Joel Finch', 1, 1, '2024-03-18', NULL, 1490),
 (15, 'Nadia Rahal', 2, 7, '2024-03-18', NULL, 1620),
 (16, 'Bea Lindqvist', 4, 3, '2024-10-07', NULL, 1470),
 (17, 'Owen Tully', 2, 7, '2024-03-18', NULL, 1620),
 (18, 'Marta Couto', 4, 3, '2024-10-07', NULL, 1470);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130),
 d AS (SELECT i, datetime('2023-09-02 08:10:00', '+' || (i * 89) || ' hours', '+' || (i * 13 % 50) || ' minutes') AS at,
  1 + (i * 5 + i / 9) % 15 % (5 + i % 9) AS s FROM n)
INSERT INTO ticket
SELECT i,
 CASE WHEN i * 7 % 10 < 3 THEN 'delivery' WHEN i * 7 % 10 < 6 THEN 'billing' WHEN i * 7 % 10 < 8 THEN 'returns' ELSE 'login' END,
 CASE i * 5 % 7 WHEN 0 THEN 'high' WHEN 1 THEN 'high' WHEN 2 THEN 'low' WHEN 3 THEN 'low' ELSE 'normal' END,
 CASE WHEN i % 17 = 4 THEN 'cancelled' WHEN i % 11 = 5 THEN 'pending' WHEN i % 13 = 7 OR i > 122 THEN 'open' ELSE 'solved' END,
 CASE WHEN 1 + i * i % 13 = 6 AND at > '2024-04-28' THEN 17 WHEN 1 + i * i % 13 = 13 AND at > '2024-09-10' THEN 12
  WHEN 1 + i * i % 13 IN (9, 12) AND at < '2023-10-03' THEN 8 ELSE 1 + i * i % 13 END,
 CASE WHEN i % 17 = 4 OR i % 11 = 5 OR i % 13 = 7 OR i > 122 THEN NULL
  WHEN s = 6 AND at > '2024-04-20' THEN 10 WHEN s = 13 AND at > '2024-09-01' THEN 11 WHEN s IN (9, 12) AND at < '2023-10-03' THEN 3 ELSE s END,
 at,
 datetime(at, '+' || (2 + i % 4) || ' days'),
 CASE WHEN i % 17 = 4 OR i % 11 = 5 OR i % 13 = 7 OR i > 122 THEN NULL ELSE datetime(at, '+' || (5 + i * 19 % 140) || ' hours') END,
 CASE WHEN i % 3 = 0 THEN 450 + i * 37 % 60 * 50 ELSE 0 END,
 CASE WHEN i % 8 = 2 THEN 5.0 ELSE 0.0 END
FROM d WHERE at NOT LIKE '2024-08-%';
INSERT INTO ticket VALUES
 (201, 'billing', 'high', 'solved', 2, 7, '2024-06-30 09:40:00', '2024-07-02 09:40:00', '2024-07-01 00:00:00', 1200, 0),
 (202, 'delivery', 'normal', 'pending', 4, NULL, '2024-06-30 23:59:10', '2024-07-03 12:00:00', NULL, 0, 0),
 (203, 'login', 'low', 'solved', 5, 11, '2024-07-01 00:00:00', '2024-07-03 00:00:00', '2024-07-01 10:15:00', 0, 5),
 (204, 'returns', 'high', 'solved', 9, 3, '2024-03-31 18:20:00', '2024-03-31 23:59:30', '2024-03-31 23:59:30', 3300, 0),
 (205, 'returns', 'normal', 'solved', 8, 3, '2023-12-29 11:00:00', '2024-01-02 11:00:00', '2023-12-31 23:59:00', 2100, 10),
 (206, 'delivery', 'high', 'open', 10, NULL, '2024-12-31 23:59:45', '2025-01-03 12:00:00', NULL, 0, 0),
 (207, 'login', 'normal', 'solved', 17, 15, '2024-05-07 21:30:00', '2024-05-09 21:30:00', '2024-05-08 02:10:00', 0, 0),
 (208, 'billing', 'low', 'solved', 17, 17, '2024-05-31 23:59:20', '2024-06-03 12:00:00', '2024-06-02 01:25:00', 650, 0),
 (209, 'delivery', 'normal', 'cancelled', 14, NULL, '2024-07-31 23:59:00', '2024-08-02 12:00:00', NULL, 0, 0);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 240),
 d AS (SELECT i, datetime('2024-01-02 07:30:00', '+' || (i * 37) || ' hours', '+' || (i * 17 % 59) || ' minutes') AS at,
  CASE WHEN i % 3 = 1 THEN 'out' ELSE 'in' END AS dir FROM n)
INSERT INTO call_log
SELECT i,
 CASE WHEN dir = 'in' AND i % 10 = 5 THEN NULL WHEN (i * 3 + i / 7) % 12 = 5 AND at > '2024-04-29' THEN 15 ELSE 1 + (i * 3 + i / 7) % 12 END,
 CASE WHEN i % 4 = 0 THEN 1 + i * 5 % 60 END,
 dir, at,
 CASE WHEN dir = 'in' AND i % 10 = 5 THEN NULL ELSE datetime(at, '+' || CASE WHEN dir = 'in' THEN 4 + i * 23 % 117 ELSE 0 END || ' seconds') END,
 CASE WHEN dir = 'in' THEN 4 + i * 23 % 117 ELSE 0 END,
 CASE WHEN dir = 'in' AND i % 10 = 5 THEN 0 ELSE 60 + i * 71 % 600 END,
 CASE WHEN i % 23 = 3 THEN 1 ELSE 0 END
FROM d;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 84)
INSERT INTO rating
SELECT i, t.ticket_id, datetime(t.solved_at, '+1 day', '+' || (i % 5) || ' hours'),
 CASE WHEN i % 6 = 4 OR i % 7 = 2 THEN NULL ELSE 1 + (i / 2 + t.ticket_id * 3) % 5 END
FROM n JOIN ticket t ON t.ticket_id = 1 + i * 11 % 70 AND t.solved_at IS NOT NULL
WHERE i % 9 <> 8 ORDER BY i;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 223),
 d AS (SELECT i, 1 + i % 16 AS who, date('2024-01-04', '+' || (i / 16 * 26 + i * i % 11 + i % 16 % 5) || ' days') AS day,
  CASE WHEN i % 16 % 4 = 3 THEN 240 WHEN i % 5 = 1 THEN 360 ELSE 480 END AS plan FROM n)
INSERT INTO shift
SELECT i + 1, who, day, plan, CASE WHEN i % 19 = 6 THEN NULL ELSE plan - 45 + i * 7 % 70 END, CASE WHEN i % 6 = 0 THEN 1500 ELSE 0 END
FROM d JOIN agent ON agent_id = who AND hired_on <= day AND (left_on IS NULL OR day <= left_on)
WHERE i % 13 <> 9 ORDER BY i;
