-- What provenance trips over: a collation, names that need quotes, a table without a key, one without rowid, values of
-- every type in one column, blobs, a column that is only NULL, an empty table.
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, "home town" TEXT, score REAL, blank TEXT);
INSERT INTO person VALUES (1, 'Ann', 'Ul''m', 0.1, NULL), (2, 'ann', 'Bonn', 0.3, NULL), (3, 'Bob', 'Bonn', 0.2, NULL),
  (4, 'Cleo', NULL, 1e15, NULL);
CREATE TABLE reading (sensor TEXT, level);
INSERT INTO reading VALUES ('a', 1), ('a', '1'), ('a', 1.5), ('b', NULL), ('b', x'00ff'), ('b', 'long');
CREATE TABLE code (part TEXT, no INTEGER, label TEXT, PRIMARY KEY (part, no)) WITHOUT ROWID;
INSERT INTO code VALUES ('x', 1, '1'), ('x', 2, '2'), ('y', 1, 'three');
CREATE TABLE number (n INTEGER);
INSERT INTO number VALUES (1), (1), (2);
CREATE TABLE void (id INTEGER PRIMARY KEY, person_id INTEGER REFERENCES person(id));
CREATE VIEW towns AS SELECT "home town" AS town, count(*) AS people FROM person GROUP BY 1;
