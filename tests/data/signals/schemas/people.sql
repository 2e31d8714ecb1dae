-- People, cities and machines as data keeps them: codes, names in other tables, dates, numbers kept as text, keys that are NULL.
CREATE TABLE city (city_code TEXT PRIMARY KEY, city_name TEXT, state TEXT, country TEXT, founded TEXT);
CREATE TABLE person (person_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, nationality TEXT, city_code TEXT REFERENCES city(city_code),
  born TEXT, height REAL, retired TEXT, pet TEXT, origin TEXT);
CREATE TABLE machine (machine_id INTEGER PRIMARY KEY, model TEXT, horsepower TEXT, weight TEXT, year TEXT, serial TEXT, price INTEGER, maker TEXT);
CREATE TABLE club (club_id INTEGER PRIMARY KEY, club_name TEXT, continent TEXT, meets TEXT, month INTEGER, university TEXT);
INSERT INTO city VALUES ('BAL', 'Baltimore', 'MD', 'USA', '1729-07-30'), ('BOS', 'Boston', 'MA', 'USA', '1630-09-17'),
  ('PAR', 'Paris', 'Ile-de-France', 'France', '0987-07-03'), ('LON', 'London', 'England', 'United Kingdom', '1000-01-01');
INSERT INTO person VALUES (1, 'Ann', 'F', 'France', 'PAR', '1980-03-05', 1.7, 'T', 'cat', 'Asia'), (2, 'Bob', 'M', 'Germany', 'BAL', '1975-12-24', NULL, 'F', 'dog', 'Europe'),
  (3, 'Cem', 'M', 'Turkey', 'BOS', '1990-06-01', 1.8, 'F', 'dog', 'Europe'), (4, 'Dia', 'F', 'Spain', 'LON', '1969-01-31', 1.6, 'T', 'hamster', 'Asia'),
  (5, 'Eve', 'F', 'Netherlands', 'BAL', '2001-10-10', 1.75, 'F', 'cat', 'Africa');
INSERT INTO machine VALUES (1, 'Ox', '95', '1200', '1970', '0012', NULL, 'Acme'), (2, 'Bee', '150', '900', '1971', '0100', 10, 'Acme'),
  (3, 'Elk', '1000', '2100', '1972', '0999', 20, 'Zeta'), (4, 'Ant', '46', '800', '1973', '0001', 30, NULL), (5, 'Fox', '210', '10000', '1974', '0002', 40, 'Zeta');
INSERT INTO club VALUES (1, 'Chess', 'Europe', 'Monday', 3, 'University of Nairn'), (2, 'Go', 'Asia', 'Friday', 4, 'Nairn College'),
  (3, 'Bridge', 'Africa', 'Monday', 11, 'University of Wick');
