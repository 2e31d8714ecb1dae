"""Personnel records with history rows: assignments and salaries over time, absences, reviews and bonuses.

Foreign keys are declared. All data end on 2024-12-31.
"""

import datetime

SCHEMA = """
CREATE TABLE department (
  dept_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- not unique: two sites may have the same department
  site TEXT NOT NULL,
  parent_id INTEGER REFERENCES department (dept_id), -- NULL: top level
  closed_on DATE -- NULL: exists
);
CREATE TABLE employee (
  emp_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  born_on DATE, -- NULL: unknown
  hired_on DATE NOT NULL,
  left_on DATE, -- last day of work; NULL: still with us
  manager_id INTEGER REFERENCES employee (emp_id), -- NULL: reports to nobody
  is_test BOOLEAN NOT NULL -- records for training on the HR system; reports include them unless told otherwise
);
CREATE TABLE assignment ( -- where somebody works; one row for each change
  asg_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id),
  dept_id INTEGER NOT NULL REFERENCES department (dept_id),
  job TEXT NOT NULL,
  fte REAL NOT NULL, -- 1.0: full time
  valid_from DATE NOT NULL,
  valid_to DATE -- last day; NULL: current
);
CREATE TABLE salary ( -- one row for each change
  sal_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id),
  valid_from DATE NOT NULL,
  valid_to DATE, -- last day; NULL: current
  monthly_cents INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('hire', 'raise', 'promotion', 'correction'))
);
CREATE TABLE absence (
  abs_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id),
  kind TEXT NOT NULL CHECK (kind IN ('holiday', 'sick', 'parental', 'training')),
  first_day DATE NOT NULL,
  last_day DATE, -- NULL: not back yet
  status TEXT NOT NULL CHECK (status IN ('requested', 'approved', 'rejected', 'cancelled')),
  requested_at TIMESTAMP NOT NULL,
  decided_by INTEGER REFERENCES employee (emp_id) -- NULL: nobody has decided
);
CREATE TABLE review (
  rev_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id), -- who is reviewed
  reviewer_id INTEGER NOT NULL REFERENCES employee (emp_id),
  held_on DATE NOT NULL,
  score INTEGER -- 1 poor to 5 excellent; NULL: talk without a score
);
CREATE TABLE bonus (
  bonus_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id),
  paid_on DATE NOT NULL,
  amount_eur INTEGER NOT NULL,
  reason TEXT -- NULL: not noted
);
"""

END = datetime.date(2024, 12, 31)
DEPARTMENTS = [
    ("Board", "Linz", None, None),
    ("Engineering", "Linz", 1, None),
    ("Sales", "Linz", 1, None),
    ("Support", "Linz", 2, None),
    ("Support", "Porto", 2, None),
    ("Finance", "Linz", 1, None),
    ("Research", "Graz", 2, None),
    ("Marketing", "Porto", 3, None),
    ("Print", "Graz", 3, datetime.date(2021, 6, 30)),
    ("Innovation", "Graz", 1, None),
]  # no employee is in Innovation
JOBS = {
    2: ["Developer", "Tester", "Architect"],
    3: ["Account Manager", "Sales Assistant"],
    4: ["Agent", "Team Lead"],
    5: ["Agent", "Team Lead"],
    6: ["Accountant", "Controller"],
    7: ["Scientist", "Developer"],
    8: ["Designer", "Copywriter"],
    9: ["Printer"],
}
FIRST = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Eva",
    "Felix",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Lea",
    "Maria",
    "Paul",
    "Rui",
]
LAST = ["Bauer", "Costa", "Egger", "Fuchs", "Gruber", "Huber", "Lopes", "Mayr", "Pichler", "Silva", "Wagner", "Winkler"]


def day(random, first, last):
    return first + datetime.timedelta(days=random.randrange((last - first).days + 1))


def pieces(random, first, last, share):
    """(from, to) of history rows without gaps from `first` on; the last ends with `last`, or never."""
    while True:
        end = first + datetime.timedelta(days=random.randrange(200, 900))
        if end >= (last or END) or random.random() > share:
            yield first, last
            return
        if random.random() < 0.3:
            end = end.replace(month=12, day=31)
        if end >= (last or END):
            end = first + datetime.timedelta(days=90)
        yield first, end
        first = end + datetime.timedelta(days=1)
        if first >= (last or END):
            return


def works(random, hired, left):
    """(department, job, fte, from, to) of one employee."""
    dept = random.choices([2, 3, 4, 5, 6, 7, 8], [8, 5, 5, 4, 2, 3, 3])[0]
    for n, (first, last) in enumerate(pieces(random, hired, left, 0.65)):
        if n and random.random() < 0.4:
            dept = random.choice([2, 3, 4, 5, 7, 8])
        now = 9 if first.year < 2020 and last and last.year < 2021 and random.random() < 0.3 else dept
        yield now, random.choice(JOBS[now]), random.choice([1.0, 1.0, 1.0, 0.8, 0.5]), first, last


def pays(random, hired, left):
    """(from, to, cents, reason) of one employee."""
    cents = random.randrange(20, 60) * 10000
    for n, (first, last) in enumerate(pieces(random, hired, left, 0.85)):
        reason = random.choice(["raise", "raise", "raise", "promotion", "correction"]) if n else "hire"
        if reason == "correction":
            cents -= random.choice([5000, 10000])
        elif n:
            cents += random.choice([5000, 10000, 15000, 20000]) * (2 if reason == "promotion" else 1)
        yield first, last, min(cents, 580000), reason  # the pay scale ends there


def absences(random, hired, end, manager, gone):
    """(kind, first, last, status, requested, decided by) of one employee."""
    for _ in range(random.choice([0, 1, 2, 3, 4, 6, 9])):
        kind = random.choices(["holiday", "sick", "parental", "training"], [10, 8, 1, 3])[0]
        first = day(random, max(hired, datetime.date(2022, 1, 1)), end) if end.year > 2021 else None
        if first is None:
            return
        length = {
            "holiday": random.choice([1, 2, 5, 5, 10]),
            "sick": random.choice([1, 1, 2, 3, 15]),
            "parental": random.choice([60, 180]),
            "training": random.choice([1, 2, 3]),
        }[kind]
        last = first + datetime.timedelta(days=length - 1)
        status = random.choices(["requested", "approved", "rejected", "cancelled"], [2, 14, 2, 2])[0]
        if last > end:
            last = end if gone else None
        before = datetime.timedelta(days=0 if kind == "sick" else random.randrange(5, 90))
        at = datetime.datetime.combine(first - before, datetime.time(random.choice([8, 11, 16]), random.randrange(60)))
        if random.random() < 0.1:
            at = (at.replace(day=1) - datetime.timedelta(days=1)).replace(hour=23, minute=59)
        yield kind, first, last, status, at, None if status == "requested" else manager or 1


def talks(random, hired, end):
    """(date, score) of the reviews of one employee; there is none in August 2024."""
    for year in range(max(2021, hired.year), end.year + 1):
        if random.random() < 0.25:
            continue
        at = day(random, datetime.date(year, 1, 1), datetime.date(year, 12, 31))
        if (at.year, at.month) == (2024, 8):
            at = at.replace(month=9, day=30)
        if hired < at <= end:
            yield at, random.choice([None, 2, 3, 3, 3, 4, 4, 5, 1])


def bonuses(random, hired, end):
    """(date, euros, reason) of one employee; there is none in May 2024."""
    for _ in range(random.choice([0, 0, 1, 2, 3]) if end.year > 2021 else 0):
        at = day(random, max(hired, datetime.date(2022, 1, 1)), end)
        if (at.year, at.month) == (2024, 5):
            at = at.replace(month=6, day=30)
        yield at, random.choice([250, 500, 500, 1000, 1500, 3000]), random.choice(
            [None, "project", "project", "referral", "anniversary"]
        )


def rows(random):
    for i, values in enumerate(DEPARTMENTS, 1):
        yield "department", (i, *values)
    count = dict.fromkeys(["assignment", "salary", "absence", "review", "bonus"], 0)

    def numbered(table, *values):
        count[table] += 1
        return table, (count[table], *values)

    for emp in range(1, 361):
        hired = (
            datetime.date(2014, 1, 7)
            if emp == 1
            else day(random, datetime.date(2014, 2, 1), datetime.date(2024, 11, 30))
        )
        if (hired.year, hired.month) == (2023, 2):
            hired = hired.replace(month=3, day=1)  # no employee starts in February 2023
        left = day(random, hired + datetime.timedelta(days=20), END) if emp > 20 and random.random() < 0.35 else None
        if left and left.day > 25 and random.random() < 0.7:
            left = (left.replace(day=1) + datetime.timedelta(days=31)).replace(day=1) - datetime.timedelta(days=1)
        manager = (
            None if emp == 1 else 1 if emp <= 6 else random.randrange(2, 7) if emp <= 25 else random.randrange(7, 26)
        )
        born = None if random.random() < 0.06 else day(random, datetime.date(1962, 1, 1), datetime.date(2000, 12, 31))
        yield "employee", (emp, random.choice(FIRST), random.choice(LAST), born, hired, left, manager, emp % 45 == 0)
        end = left or END
        for values in [(1, "Director", 1.0, hired, None)] if emp == 1 else works(random, hired, left):
            dept, job, fte, first, last = values
            yield numbered("assignment", emp, dept, job, fte, first, last)
        for values in pays(random, hired, left):
            yield numbered("salary", emp, *values)
        for values in absences(random, hired, end, manager, left):
            yield numbered("absence", emp, *values)
        for at, score in talks(random, hired, end):
            yield numbered("review", emp, manager or 2, at, score)
        for values in bonuses(random, hired, end):
            yield numbered("bonus", emp, *values)
