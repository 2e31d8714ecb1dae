CREATE TABLE dept (deptno INTEGER PRIMARY KEY, dname TEXT NOT NULL, loc TEXT);
CREATE TABLE emp (empno INTEGER PRIMARY KEY, ename TEXT NOT NULL, job TEXT, mgr INTEGER REFERENCES emp(empno),
  hiredate TEXT, sal REAL, comm REAL, deptno INTEGER REFERENCES dept(deptno));
CREATE TABLE project (pid INTEGER PRIMARY KEY, title TEXT NOT NULL, budget INTEGER,
  deptno INTEGER REFERENCES dept(deptno));
CREATE TABLE works (empno INTEGER REFERENCES emp(empno), pid INTEGER REFERENCES project(pid), hours INTEGER,
  PRIMARY KEY(empno,pid));
CREATE TABLE stage (pid INTEGER, sno INTEGER, stitle TEXT, PRIMARY KEY(pid,sno),
  FOREIGN KEY(pid) REFERENCES project(pid));
CREATE TABLE task (tid INTEGER PRIMARY KEY, pid INTEGER, sno INTEGER, what TEXT, cost INTEGER, created TEXT,
  FOREIGN KEY(pid,sno) REFERENCES stage(pid,sno));
INSERT INTO dept VALUES (10,'Accounting','New York'),(20,'Research','Dallas'),(30,'Sales','Chicago'),
  (40,'Operations','Boston'),(50,'Legal',NULL),(60,'Sales','Boston');
INSERT INTO emp VALUES
(1,'King','President',NULL,'1981-11-17',5000,NULL,10),(2,'Blake','Manager',1,'1981-05-01',2850,NULL,30),
  (3,'Clark','Manager',1,'1981-06-09',2450,NULL,10),
(4,'Jones','Manager',1,'1981-04-02',2975,NULL,20),(5,'Scott','Analyst',4,'1987-04-19',3000,NULL,20),
  (6,'Ford','Analyst',4,'1981-12-03',3000,NULL,20),
(7,'Smith','Clerk',6,'1980-12-17',800,NULL,20),(8,'Allen','Salesman',2,'1981-02-20',1600,300,30),
  (9,'Ward','Salesman',2,'1981-02-22',1250,500,30),
(10,'Martin','Salesman',2,'1981-09-28',1250,1400,30),(11,'Turner','Salesman',2,'1981-09-08',1500,0,30),
  (12,'Adams','Clerk',5,'1987-05-23',1100,NULL,20),
(13,'James','Clerk',2,'1981-12-03',950,NULL,30),(14,'Miller','Clerk',3,'1982-01-23',1300,NULL,10),
  (15,'Smith','Clerk',3,'1983-01-23',1300,NULL,NULL),(16,'Lee','Analyst',4,'1984-01-23',3100,NULL,NULL);
INSERT INTO project VALUES (1,'Apollo',1000,20),(2,'Gemini',2000,20),(3,'Mercury',0,30),(4,'Voyager',500,10),
  (5,'Zephyr',NULL,NULL);
INSERT INTO works VALUES (5,1,40),(6,1,20),(6,2,20),(7,2,10),(8,3,30),(9,3,35),(10,3,5),(14,4,12),(12,1,8),(7,1,4);
INSERT INTO stage VALUES (1,1,'Plan'),(1,2,'Build'),(2,1,'Design'),(2,2,'Test'),(3,1,'Pitch');
INSERT INTO task VALUES (1,1,1,'write',10,'2023-01-05 10:00:00'),(2,1,2,'code',20,'2023-01-31 15:30:00'),
  (3,2,1,'draw',15,'2023-01-31 09:12:00'),(4,2,2,'check',25,'2023-02-10 08:00:00'),
  (5,3,1,'call',5,'2023-02-28 18:00:00'),(6,1,1,'edit',8,'2023-03-01 12:00:00');
