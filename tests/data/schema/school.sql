-- Everything a catalogue can hold that lib/schema must get right.
CREATE TABLE teacher(
    teacher_id INTEGER PRIMARY KEY,
    full_name TEXT NOT NULL,
    email VARCHAR(80) UNIQUE,
    salary REAL,
    hired DATE,
    note
);
INSERT INTO teacher VALUES
    (1, 'José Álvarez', 'jose@x.org', 1000.5, '2001-02-03', NULL),
    (2, 'Ann  Lee', 'ann@x.org', 0, '2002-03-04', x'00ff'),
    (3, 'bob stone', NULL, NULL, 'unknown', 'free text'),
    (4, 'Ann Lee', NULL, 3, NULL, 7);

CREATE TABLE room(building TEXT, number INTEGER, seats INTEGER CHECK (seats > 0), PRIMARY KEY (building, number));
INSERT INTO room VALUES ('North', 1, 30), ('North', 2, 20), ('South', 1, 25);

CREATE TABLE course(
    id INTEGER PRIMARY KEY,
    title TEXT,
    Teacher INTEGER REFERENCES TEACHER,               -- the key is meant, and the case differs
    room_building TEXT,
    room_number INTEGER,
    lost INTEGER REFERENCES nowhere(id),              -- a table that is not there
    strayed INTEGER REFERENCES teacher(absent),      -- a column that is not there
    code TEXT,
    twice INTEGER GENERATED ALWAYS AS (id * 2) VIRTUAL,
    FOREIGN KEY (room_building, room_number) REFERENCES room(building, number)
);
INSERT INTO course(id, title, Teacher, room_building, room_number, lost, strayed, code) VALUES
    (10, 'Art', 1, 'North', 1, NULL, NULL, '007'),
    (11, 'Biology', 1, 'North', 2, NULL, NULL, '7'),
    (12, 'Chemistry', 2, 'South', 1, NULL, NULL, '3.0'),
    (13, 'art', NULL, NULL, NULL, NULL, NULL, NULL);
CREATE UNIQUE INDEX course_code ON course(code);
CREATE UNIQUE INDEX course_partial ON course(title) WHERE id > 11;
CREATE INDEX course_lower ON course(lower(title));

-- Nothing declared here: what joins must be inferred.
CREATE TABLE visit(visit_no INTEGER, head_teacher_id INTEGER, course INTEGER, amount INTEGER, room TEXT);
INSERT INTO visit VALUES (1, 1, 10, 1, 'x'), (2, 2, 11, 2, 'y'), (3, 3, 12, 3, 'z'), (4, 1, 10, 4, 'x');

CREATE TABLE islet(thing TEXT);
CREATE TABLE "odd ""name"" table"("select" TEXT, "a b" INTEGER);
INSERT INTO "odd ""name"" table" VALUES ('x', 1);

CREATE VIEW busy AS SELECT full_name, count(*) AS courses FROM teacher JOIN course ON course.Teacher = teacher_id GROUP BY 1;
CREATE VIEW broken AS SELECT * FROM gone;
CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;
CREATE VIRTUAL TABLE pages USING fts5(body);
INSERT INTO pages VALUES ('some words');
