CREATE TABLE departments (
  dept_code text PRIMARY KEY,
  dept_name text NOT NULL,
  parent_code text, -- NULL: top of the tree
  head_id integer, -- employee, NULL: vacant
  cost_center integer
);
CREATE TABLE employees (
  emp_id integer PRIMARY KEY,
  full_name text NOT NULL,
  email text,
  hired_on date NOT NULL,
  left_on date, -- NULL: still employed
  manager_id integer,
  mentor_id integer,
  is_contractor boolean NOT NULL DEFAULT false,
  works_remote boolean, -- NULL: not asked yet
  country char(2)
);
CREATE TABLE postings (
  emp_id integer NOT NULL,
  dept_code text NOT NULL,
  job_code text NOT NULL, -- no table of jobs
  valid_from date NOT NULL,
  valid_to date -- first day on which it no longer holds, NULL: current
);
CREATE TABLE salaries (
  emp_id integer NOT NULL,
  valid_from date NOT NULL,
  valid_to date, -- first day on which it no longer holds, NULL: current
  monthly_cents bigint NOT NULL
);
CREATE TABLE payslips (
  slip_id integer PRIMARY KEY,
  emp_id integer,
  month date NOT NULL, -- first day of the month
  gross_cents bigint NOT NULL,
  tax_cents bigint NOT NULL,
  net_cents bigint NOT NULL,
  paid_at timestamp, -- NULL: not paid
  status text NOT NULL, -- draft, paid, reversed
  corrects_slip_id integer -- the slip that this one replaces
);
CREATE TABLE absences (
  absence_id integer,
  emp_id integer NOT NULL,
  kind text NOT NULL, -- V vacation, S sick, P parental, U unpaid
  first_day date NOT NULL,
  last_day date, -- inclusive, NULL: open end
  approved boolean, -- NULL: not decided
  approved_by integer,
  deleted_at timestamp
);
CREATE TABLE bonuses (
  emp_id integer NOT NULL,
  granted_on date NOT NULL,
  amount_eur numeric(10, 2) NOT NULL,
  reason text,
  granted_by integer
);

INSERT INTO departments VALUES ('HQ', 'Head office', NULL, 1, 100), ('FIN', 'Finance', 'HQ', 2, 110), ('PAY', 'Payroll', 'FIN', 5, 111),
 ('ENG', 'Engineering', 'HQ', 3, 200), ('WEB', 'Web team', 'ENG', 6, 210), ('OPS', 'Operations', 'ENG', NULL, 220),
 ('SAL', 'Sales', 'HQ', 4, 300), ('LAB', 'Research lab', 'ENG', 11, 290);
INSERT INTO employees
SELECT i, (ARRAY['Amal','Bea','Chen','Dario','Ewa','Femi','Gus','Hana','Ivo','Jun','Kofi'])[1 + i % 11] || ' ' ||
  (ARRAY['Quint','Rossi','Stahl','Tran','Urban','Vega','Weiss'])[1 + i % 7],
  CASE WHEN i % 9 = 7 THEN NULL ELSE 'e' || i || '@example.com' END,
  date '2018-02-01' + i * 33, CASE WHEN i % 8 = 3 AND i > 10 THEN date '2024-01-31' + i * 7 END,
  CASE WHEN i = 1 THEN NULL WHEN i <= 4 THEN 1 WHEN i <= 7 THEN 1 + i % 3 + 1 ELSE 2 + i % 6 END,
  CASE WHEN i > 20 AND i % 3 = 0 THEN i - 8 - i % 5 END,
  i % 12 = 5, CASE WHEN i % 5 = 4 THEN NULL ELSE i % 3 = 1 END,
  CASE WHEN i % 6 = 0 THEN 'FR' WHEN i % 4 = 1 THEN 'AT' ELSE 'DE' END
FROM generate_series(1, 70) i;
INSERT INTO postings
SELECT emp_id, (ARRAY['HQ','FIN','ENG','SAL','PAY','WEB','OPS','SAL'])[1 + emp_id % 8], (ARRAY['A1','A2','B1','B2','C1'])[1 + emp_id % 5],
  hired_on, CASE WHEN emp_id % 4 = 2 AND hired_on < '2024-04-01' THEN date '2024-04-01' ELSE left_on END
FROM employees WHERE emp_id <> 66;
INSERT INTO postings
SELECT emp_id, CASE WHEN emp_id % 8 = 2 THEN 'WEB' ELSE 'OPS' END, (ARRAY['A2','B1','B2','C1','C1'])[1 + emp_id % 5], date '2024-04-01', left_on
FROM employees WHERE emp_id % 4 = 2 AND hired_on < '2024-04-01' AND emp_id <> 66;
INSERT INTO salaries
SELECT emp_id, hired_on, CASE WHEN hired_on < '2024-01-01' THEN date '2024-01-01' END, 260000 + (emp_id % 9) * 31000 + CASE WHEN emp_id <= 7 THEN 250000 ELSE 0 END
FROM employees;
INSERT INTO salaries
SELECT emp_id, date '2024-01-01', CASE WHEN emp_id % 3 = 0 AND (left_on IS NULL OR left_on > '2024-07-01') THEN date '2024-07-01' ELSE left_on END,
  270000 + (emp_id % 9) * 32000 + CASE WHEN emp_id <= 7 THEN 260000 ELSE 0 END
FROM employees WHERE hired_on < '2024-01-01';
INSERT INTO salaries
SELECT emp_id, date '2024-07-01', NULL, 285000 + (emp_id % 9) * 32000 + CASE WHEN emp_id % 6 = 3 THEN -22000 ELSE 9000 END + CASE WHEN emp_id <= 7 THEN 260000 ELSE 0 END
FROM employees WHERE emp_id % 3 = 0 AND hired_on < '2024-01-01' AND (left_on IS NULL OR left_on > '2024-07-01');
INSERT INTO payslips
SELECT row_number() OVER (ORDER BY m, e.emp_id), e.emp_id, m::date, s.monthly_cents, s.monthly_cents * (20 + e.emp_id % 15) / 100,
  s.monthly_cents - s.monthly_cents * (20 + e.emp_id % 15) / 100,
  CASE WHEN m < timestamp '2024-08-01' THEN m + interval '27 days' + interval '9 hours' + e.emp_id % 3 * interval '1 day' END,
  CASE WHEN m >= timestamp '2024-08-01' THEN 'draft' WHEN (e.emp_id + extract(month FROM m)::integer) % 23 = 4 THEN 'reversed' ELSE 'paid' END, NULL
FROM employees e CROSS JOIN generate_series(timestamp '2024-02-01', timestamp '2024-08-01', interval '1 month') m
JOIN salaries s ON s.emp_id = e.emp_id AND s.valid_from <= m AND (s.valid_to > m OR s.valid_to IS NULL)
WHERE m <> timestamp '2024-05-01' AND (e.left_on IS NULL OR e.left_on > m) AND NOT e.is_contractor;
INSERT INTO payslips
SELECT 9000 + slip_id, emp_id, month, gross_cents + 5000, tax_cents + 1000, net_cents + 4000, paid_at + interval '12 days', 'paid', slip_id
FROM payslips WHERE status = 'reversed' AND slip_id % 2 = 0;
INSERT INTO absences
SELECT i, 1 + (i * 11) % 62, (ARRAY['V','V','S','V','S','U','P'])[1 + i % 7], date '2024-01-03' + i * 2,
  CASE WHEN i % 30 = 13 THEN NULL ELSE date '2024-01-03' + i * 2 + (i * 3) % 14 END,
  CASE WHEN i % 6 = 5 THEN NULL ELSE i % 10 <> 3 END, CASE WHEN i % 6 <> 5 THEN 1 + i % 7 END,
  CASE WHEN i % 19 = 6 THEN timestamp '2024-09-01 08:30' END
FROM generate_series(1, 130) i;
INSERT INTO bonuses
SELECT 1 + (i * i * 17) % 50, date '2023-03-01' + i * 14, 200 + (i % 5) * 150, CASE WHEN i % 7 = 2 THEN NULL WHEN i % 3 = 0 THEN 'referral' ELSE 'target' END, CASE WHEN i % 9 = 1 THEN NULL ELSE 1 + i % 4 END
FROM generate_series(1, 45) i;
INSERT INTO bonuses VALUES (27, '2024-09-30', 350, 'target', 2);
