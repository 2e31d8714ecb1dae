CREATE TABLE teams (
  team_code CHAR(3) NOT NULL PRIMARY KEY,
  team_name VARCHAR(60) NOT NULL,
  city VARCHAR(40),
  founded_year SMALLINT,
  first_team CHAR(3) -- reserve teams: the team they belong to
);
CREATE TABLE referees (
  referee_id INT NOT NULL PRIMARY KEY,
  referee_name VARCHAR(60) NOT NULL,
  licence ENUM('regional', 'national', 'international') NOT NULL,
  stopped_on DATE -- NULL: still active
);
CREATE TABLE players (
  player_id INT NOT NULL PRIMARY KEY,
  player_name VARCHAR(60) NOT NULL,
  born_on DATE,
  position ENUM('GK', 'DF', 'MF', 'FW') NOT NULL,
  team_code CHAR(3), -- NULL: without a club
  shirt_no INT,
  captain TINYINT(1) NOT NULL DEFAULT 0,
  retired_on DATE
);
CREATE TABLE matches (
  match_id INT NOT NULL PRIMARY KEY,
  round_no INT NOT NULL,
  kickoff DATETIME NOT NULL,
  home_team CHAR(3) NOT NULL,
  away_team CHAR(3) NOT NULL,
  home_goals INT, -- NULL: not played
  away_goals INT,
  status ENUM('scheduled', 'played', 'postponed', 'abandoned') NOT NULL,
  referee_id INT, -- NULL: not named yet
  fourth_official INT, -- a referee
  attendance INT -- NULL: not counted
);
CREATE TABLE goals (
  match_id INT NOT NULL,
  minute INT NOT NULL,
  scorer_id INT, -- NULL: not yet attributed
  assist_id INT, -- NULL: no assist
  team_code CHAR(3) NOT NULL, -- the team that profits
  kind ENUM('open', 'penalty', 'free_kick', 'own') NOT NULL
);
CREATE TABLE cards (
  card_id INT NOT NULL,
  match_id INT NOT NULL,
  player_id INT NOT NULL,
  minute INT,
  color ENUM('yellow', 'red') NOT NULL,
  rescinded TINYINT(1) NOT NULL DEFAULT 0
);
CREATE TABLE transfers (
  transfer_id INT NOT NULL,
  player_id INT NOT NULL,
  from_team CHAR(3), -- NULL: from outside the league
  to_team CHAR(3),
  moved_on DATE NOT NULL,
  fee_keur DECIMAL(9, 1), -- thousands of euros, NULL: not disclosed, 0: free
  is_loan TINYINT(1) NOT NULL DEFAULT 0,
  loan_until DATE
);

INSERT INTO teams VALUES ('ARK', 'Arkham Rovers', 'Arkham', 1899, NULL), ('BRI', 'Brindle City', 'Brindle', 1921, NULL), ('COR', 'Corva United', 'Corva', 1946, NULL),
 ('DUN', 'Dunmore Athletic', 'Dunmore', 1903, NULL), ('ELM', 'Elmwood', 'Brindle', 1921, NULL), ('FEN', 'Fenwick Town', 'Fenwick', 1978, NULL),
 ('GAL', 'Galston', 'Galston', NULL, NULL), ('HAR', 'Harrow Hill', 'Harrow Hill', 1988, NULL), ('AR2', 'Arkham Rovers II', 'Arkham', 1972, 'ARK'), ('CO2', 'Corva United II', 'Corva', 1999, 'COR');
INSERT INTO referees VALUES (1, 'Nils Berg', 'international', NULL), (2, 'Ana Duval', 'national', NULL), (3, 'Marek Soll', 'national', NULL),
 (4, 'Joe Pike', 'regional', NULL), (5, 'Rita Lund', 'international', '2023-06-30'), (6, 'Sven Aho', 'regional', NULL), (7, 'Eva Moor', 'regional', NULL);
INSERT INTO players
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 120)
SELECT i, CONCAT(ELT(1 + i % 13, 'Al', 'Ben', 'Caz', 'Dom', 'Eli', 'Fred', 'Gio', 'Hal', 'Ike', 'Jay', 'Ken', 'Leo', 'Mo'), ' ', ELT(1 + i % 11, 'Nash', 'Orr', 'Park', 'Quill', 'Rhys', 'Shaw', 'Todd', 'Usher', 'Vale', 'Wood', 'York')),
  IF(i % 37 = 5, NULL, DATE_ADD('1986-05-01', INTERVAL i * 61 DAY)), CASE WHEN i % 12 = 1 THEN 'GK' WHEN i % 3 = 0 THEN 'DF' WHEN i % 3 = 1 THEN 'MF' ELSE 'FW' END,
  IF(i > 112, IF(i % 2 = 0, 'AR2', NULL), ELT(1 + i % 8, 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR')), IF(i > 112, NULL, IF(i = 97, 20, 1 + i DIV 8 * 2 + i % 2)), i BETWEEN 24 AND 31,
  IF(i IN (1, 3, 6), '2024-06-30', NULL)
FROM n;
-- seven rounds out and seven back, the tables of pairs by the circle method
INSERT INTO matches
WITH RECURSIVE r AS (SELECT 0 AS k UNION ALL SELECT k + 1 FROM r WHERE k < 13), p AS (SELECT 0 AS j UNION ALL SELECT j + 1 FROM p WHERE j < 3),
pairs AS (SELECT k, j, IF(j = 0, 7, (k + j) % 7) AS a, IF(j = 0, k % 7, (k + 7 - j) % 7) AS b FROM r, p),
sided AS (SELECT k, j, IF(((j = 0) * (k % 7) + j + (k >= 7)) % 2 = 0, a, b) AS h, IF(((j = 0) * (k % 7) + j + (k >= 7)) % 2 = 0, b, a) AS v FROM pairs)
SELECT 100 + k * 4 + j, k + 1, DATE_ADD('2024-08-10 15:00:00', INTERVAL (k * 7 + j % 2) * 24 + IF(j > 1, 3, 0) HOUR),
  ELT(1 + h, 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR'), ELT(1 + v, 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR'),
  IF(k > 11 OR (k = 4 AND j = 2), NULL, IF(k = 8 AND j = 1, 1, (k * 3 + j * 5 + h * 2) % 4)), IF(k > 11 OR (k = 4 AND j = 2), NULL, IF(k = 8 AND j = 1, 0, (k + j * 2 + v) % 3)),
  CASE WHEN k > 11 THEN 'scheduled' WHEN k = 4 AND j = 2 THEN 'postponed' WHEN k = 8 AND j = 1 THEN 'abandoned' ELSE 'played' END,
  IF(k = 13, NULL, ELT(1 + (k + j) % 5, 1, 2, 3, 4, 6)), IF(k = 13 OR j = 3, NULL, ELT(1 + (k + j + 2) % 5, 1, 2, 3, 4, 6)),
  IF(k > 11 OR (k = 4 AND j = 2) OR (k * 4 + j) % 15 = 6, NULL, 1200 + h * 950 + (k * 317 + j * 53) % 1100)
FROM sided;
INSERT INTO goals
WITH RECURSIVE g AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM g WHERE x < 4),
t AS (SELECT match_id, home_team AS team, away_team AS other, home_goals AS n, 0 AS side FROM matches WHERE status IN ('played', 'abandoned') UNION ALL SELECT match_id, away_team, home_team, away_goals, 1 FROM matches WHERE status IN ('played', 'abandoned'))
SELECT match_id, 3 + (match_id * 17 + x * 23 + side * 11) % 88, IF((match_id + x * 7) % 41 = 3, NULL, FIELD(IF((match_id + x) % 19 = 4, other, team), 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR') - 1 + 8 * (1 + (match_id * x + x * 5) % 9)),
  IF((match_id + x) % 19 = 4 OR (match_id + x * 3) % 4 = 1, NULL, FIELD(team, 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR') - 1 + 8 * (10 + (match_id + x) % 4)),
  team, CASE WHEN (match_id + x) % 19 = 4 THEN 'own' WHEN (match_id + x * 3) % 4 = 1 AND x % 2 = 1 THEN 'penalty' WHEN (match_id * x) % 13 = 2 THEN 'free_kick' ELSE 'open' END
FROM t, g WHERE x <= n AND NOT (match_id = 121 AND x = 1); -- match 121: goals are missing
INSERT INTO cards
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 140)
SELECT i, m.match_id, FIELD(IF(i % 2 = 0, m.home_team, m.away_team), 'ARK', 'BRI', 'COR', 'DUN', 'ELM', 'FEN', 'GAL', 'HAR') - 1 + 8 * (1 + (i * 5) % 12), IF(i % 20 = 9, NULL, 5 + (i * 19) % 86), IF(i % 11 = 6, 'red', 'yellow'), i % 33 = 6 OR i % 40 = 13
FROM n JOIN matches m ON m.match_id = 100 + (i * 5) % 48 WHERE m.status <> 'postponed';
INSERT INTO transfers VALUES (1, 12, 'ARK', 'ELM', '2024-07-02', 450.0, 0, NULL), (2, 25, 'GAL', 'BRI', '2024-07-11', 1200.0, 0, NULL), (3, 33, NULL, 'BRI', '2024-07-15', 800.0, 0, NULL),
 (4, 41, 'HAR', 'BRI', '2024-08-01', 0.0, 1, '2025-06-30'), (5, 50, 'FEN', 'COR', '2024-08-20', NULL, 0, NULL), (6, 58, 'BRI', 'COR', '2023-07-05', 300.0, 0, NULL),
 (7, 67, 'ELM', 'DUN', '2023-08-30', 0.0, 0, NULL), (8, 72, 'COR', 'ARK', '2024-01-12', 675.5, 0, NULL), (9, 72, 'DUN', 'COR', '2022-07-01', 210.0, 0, NULL), (10, 80, 'ARK', 'GAL', '2023-01-20', 0.0, 1, '2023-06-30'),
 (11, 80, 'GAL', 'ARK', '2024-08-28', 90.0, 0, NULL), (12, 91, 'BRI', NULL, '2024-08-30', NULL, 0, NULL), (13, 96, 'AR2', 'ARK', '2024-07-01', 0.0, 0, NULL), (14, 12, 'HAR', 'ARK', '2022-08-15', 275.0, 0, NULL),
 (15, 104, NULL, 'ARK', '2024-08-05', 1200.0, 0, NULL), (16, 27, 'ARK', 'DUN', '2024-02-01', NULL, 1, '2024-06-30'), (17, 110, 'CO2', 'GAL', '2024-07-20', 60.0, 0, NULL), (18, 5, 'GAL', 'FEN', '2023-07-28', 510.0, 0, NULL),
 (19, 62, 'COR', 'GAL', '2024-07-30', 150.0, 0, NULL), (20, 33, 'BRI', 'DUN', '2024-12-15', 0.0, 1, '2025-06-30');
