-- Singers, stadiums, concerts: a many-to-many chain, a nullable foreign key, a table without a key.
CREATE TABLE stadium (stadium_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, capacity INTEGER);
CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, age INTEGER, net_worth REAL, song TEXT);
CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, theme TEXT, stadium_id INTEGER NOT NULL REFERENCES stadium(stadium_id),
  year TEXT, tickets INTEGER);
CREATE TABLE singer_in_concert (concert_id INTEGER NOT NULL REFERENCES concert(concert_id),
  singer_id INTEGER NOT NULL REFERENCES singer(singer_id), PRIMARY KEY (concert_id, singer_id));
CREATE TABLE award (award_id INTEGER PRIMARY KEY, singer_id INTEGER REFERENCES singer(singer_id), title TEXT, given TEXT);
CREATE TABLE visitor (name TEXT, city TEXT, spent INTEGER);
INSERT INTO stadium VALUES (1, 'Raith Park', 'Kirkcaldy', 10104), (2, 'Somerset', 'Ayr', 11998), (3, 'Bayview', 'Methil', 2000),
  (4, 'Hampden', 'Glasgow', 52500);
INSERT INTO singer VALUES (1, 'Joe Sharp', 'Netherlands', 52, 3.5, 'You'), (2, 'Timbaland', 'United States', 32, 9.0, 'Dangerous'),
  (3, 'Justin Brown', 'France', 29, 1.25, 'Hey Oh'), (4, 'Rose White', 'France', 41, 2.0, 'Sun'), (5, 'John Nizinik', 'France', 43, NULL, 'Gentleman'),
  (6, 'Tribal King', NULL, NULL, 0.5, 'Love');
INSERT INTO concert VALUES (1, 'Auditions', 'Free choice', 1, '2014', 900), (2, 'Super bootcamp', 'Free choice 2', 2, '2014', 4000),
  (3, 'Home Visits', 'Bleeding Love', 2, '2015', 3100), (4, 'Week 1', 'Wide Awake', 1, '2014', 2500), (5, 'Week 2', 'Party All Night', 4, '2015', NULL);
INSERT INTO singer_in_concert VALUES (1, 2), (1, 3), (1, 5), (2, 3), (2, 6), (3, 5), (4, 4), (5, 6), (5, 3);
INSERT INTO award VALUES (1, 2, 'Best newcomer', '2013-05-01'), (2, 3, 'Voice of the year', '2014-05-01'), (3, 3, 'Best song', '2015-05-01'),
  (4, NULL, 'Unclaimed', '2016-05-01');
INSERT INTO visitor VALUES ('Ann', 'Ayr', 20), ('Ann', 'Ayr', 35), ('Bo', 'Methil', 5), ('Cy', NULL, NULL);
