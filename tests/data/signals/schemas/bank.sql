-- A bank: client and account are linked by disp only, their small ids overlap; branch and agency have the same columns.
CREATE TABLE district (district_id INTEGER PRIMARY KEY, region TEXT, city TEXT, inhabitants INTEGER);
CREATE TABLE client (client_id INTEGER PRIMARY KEY, name TEXT, district_id INTEGER NOT NULL REFERENCES district(district_id), born TEXT);
CREATE TABLE account (account_id INTEGER PRIMARY KEY, district_id INTEGER NOT NULL REFERENCES district(district_id), opened TEXT, balance REAL);
CREATE TABLE disp (disp_id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES client(client_id),
  account_id INTEGER NOT NULL REFERENCES account(account_id), kind TEXT);
CREATE TABLE transfer (account_id INTEGER NOT NULL REFERENCES account(account_id), number INTEGER NOT NULL, amount REAL, bank_code TEXT,
  PRIMARY KEY (account_id, number));
CREATE TABLE receipt (receipt_id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, number INTEGER NOT NULL, printed TEXT,
  FOREIGN KEY (account_id, number) REFERENCES transfer(account_id, number));
CREATE TABLE branch (branch_id INTEGER PRIMARY KEY, city TEXT, phone TEXT, manager TEXT, staff INTEGER);
CREATE TABLE agency (agency_id INTEGER PRIMARY KEY, city TEXT, phone TEXT, manager TEXT, fee REAL);
CREATE TABLE bank (code TEXT PRIMARY KEY, title TEXT);
CREATE TABLE cheque (cheque_no INTEGER, bank_code TEXT, amount REAL);
CREATE TABLE employee (employee_id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES employee(employee_id), city TEXT);
INSERT INTO district VALUES (1, 'north', 'Ayr', 46000), (2, 'south', 'Perth', 47000), (3, 'south', 'Crail', 1600);
INSERT INTO client VALUES (1, 'Ada', 1, '1970-01-01'), (2, 'Bela', 2, '1980-02-02'), (3, 'Cleo', 3, '1990-03-03'), (4, 'Dora', 3, '1991-03-03');
INSERT INTO account VALUES (1, 1, '2001-01-01', 10.5), (2, 2, '2002-01-01', 20.0), (3, 2, '2003-01-01', 0.0), (4, 3, '2004-01-01', 7.0), (5, 3, '2004-02-01', 9.0);
INSERT INTO disp VALUES (1, 1, 2, 'owner'), (2, 2, 1, 'owner'), (3, 3, 3, 'owner'), (4, 4, 4, 'user'), (5, 4, 5, 'owner');
INSERT INTO transfer VALUES (1, 1, 5.0, 'AB'), (1, 2, 6.0, 'CD'), (2, 1, 7.0, 'AB'), (3, 1, 1.0, 'EF');
INSERT INTO receipt VALUES (1, 1, 1, '2020-01-01'), (2, 1, 2, '2020-01-02'), (3, 2, 1, '2020-01-03');
INSERT INTO branch VALUES (1, 'Ayr', '111', 'Moe', 5), (2, 'Perth', '222', 'Nia', 9), (3, 'Crail', '333', 'Olu', 2);
INSERT INTO agency VALUES (1, 'Ayr', '900', 'Pia', 1.5), (2, 'Oban', '901', 'Quin', 2.5);
INSERT INTO bank VALUES ('AB', 'Alpha Bank'), ('CD', 'Cedar'), ('EF', 'Elm');
INSERT INTO cheque VALUES (1, 'AB', 10.0), (2, 'AB', 11.0), (3, 'CD', 12.0);
INSERT INTO employee VALUES (1, 'Ida', NULL, 'Ayr'), (2, 'Jon', 1, 'Perth'), (3, 'Kim', 1, 'Ayr'), (4, 'Leo', 2, 'Perth');
