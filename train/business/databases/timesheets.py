"""Timesheets of a consultancy: who worked when on what, who entered and who approved it, and what an hour costs.
Half of the keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE department (
  dept_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  parent_id INTEGER -- NULL: top
);
CREATE TABLE employee (
  emp_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  dept_id INTEGER NOT NULL REFERENCES department (dept_id),
  manager_id INTEGER, -- an employee; NULL: the head
  hired_on DATE NOT NULL,
  left_on DATE, -- last day of work; NULL: still here
  weekly_hours NUMERIC(4,1) NOT NULL
);
CREATE TABLE client (
  client_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  is_internal BOOLEAN NOT NULL -- our own projects
);
CREATE TABLE project (
  project_id INTEGER PRIMARY KEY,
  client_id INTEGER NOT NULL REFERENCES client (client_id),
  title TEXT NOT NULL,
  lead_id INTEGER NOT NULL, -- an employee
  starts_on DATE NOT NULL,
  ends_on DATE, -- as planned; NULL: open end
  budget_hours INTEGER -- NULL: no budget agreed
);
CREATE TABLE task (
  task_id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES project (project_id),
  title TEXT NOT NULL,
  billable BOOLEAN NOT NULL,
  planned_hours NUMERIC(6,1)
);
CREATE TABLE time_entry (
  entry_id INTEGER PRIMARY KEY,
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id), -- who worked
  task_id INTEGER NOT NULL,
  worked_on DATE NOT NULL,
  minutes INTEGER NOT NULL,
  entered_by INTEGER NOT NULL, -- who typed it: the employee or somebody for them
  entered_on DATE NOT NULL,
  deleted BOOLEAN NOT NULL -- 1: withdrawn, does not count
);
CREATE TABLE approval (
  entry_id INTEGER NOT NULL,
  approved_by INTEGER NOT NULL,
  decided_on DATE NOT NULL,
  decision TEXT NOT NULL -- approved, rejected; an entry can be decided again later
);
CREATE TABLE hourly_rate (
  emp_id INTEGER NOT NULL REFERENCES employee (emp_id),
  valid_from DATE NOT NULL,
  valid_to DATE, -- last day; NULL: current
  rate NUMERIC(6,2) NOT NULL -- euros an hour billed to clients
);
"""

DEPARTMENTS = [
    ("Board", None),
    ("Delivery", 1),
    ("Data", 2),
    ("Web", 2),
    ("Design", 2),
    ("Support", 1),
    ("Legal", 1),
]  # no employee is in Legal
FIRST = ["Ada", "Bela", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "June"]
LAST = ["Adler", "Brandt", "Cruz", "Dahl", "Ek"]
CLIENTS = [
    "Nova Bank",
    "City of Linz",
    "Medix",
    "Greenline",
    "Orbit",
    "Tessa Foods",
    "House",
    "Lumen",
]  # Lumen has no project
TITLES = ["Portal", "Migration", "Dashboard", "Audit", "App", "Training", "Website"]
TASKS = [("Analysis", True), ("Build", True), ("Test", True), ("Meetings", False), ("Travel", False)]
DAY = datetime.timedelta(days=1)
LAST_DAY = datetime.date(2024, 12, 31)


def employees(random):
    for i in range(1, 49):
        hired = datetime.date(2021, 1, 4) + DAY * 7 * random.randrange(175)
        left = hired + DAY * random.randrange(200, 900) if i > 6 and random.random() < 0.25 else None
        yield (
            i,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            1 if i == 1 else random.choice([2, 3, 3, 4, 4, 5, 6, 6]),
            None if i == 1 else 1 if i <= 6 else random.randrange(2, 7),
            datetime.date(2020, 1, 7) if i <= 6 else hired,
            left if left and left < LAST_DAY else None,
            random.choice([38.5, 38.5, 38.5, 20, 30]),
        )


def projects(random):
    """The last two have no entries."""
    for i in range(1, 31):
        start = datetime.date(2023, 1, 2) + DAY * random.randrange(560)
        yield (
            i,
            7 if i % 8 == 4 else random.randrange(1, 7),
            random.choice(TITLES),
            random.randrange(1, 13),
            start,
            start + DAY * random.randrange(60, 400) if random.random() < 0.8 else None,
            random.choice([None, 80, 160, 160, 320, 600]),
        )


def rates(random, emp):
    """(from, to, rate): a raise every year or so; some have a gap, and employee 48 has none."""
    begin, rate = emp[4], random.choice([70, 80, 80, 95, 110])
    while True:
        end = begin + DAY * random.randrange(250, 500)
        if end >= LAST_DAY:
            break
        yield begin, end, rate
        begin, rate = end + DAY * (31 if random.random() < 0.1 else 1), rate + random.choice([2.5, 5, 5, 10])
    yield begin, None, rate


def rows(random):
    for i, (name, parent) in enumerate(DEPARTMENTS, 1):
        yield "department", (i, name, parent)
    people, work = list(employees(random)), list(projects(random))
    for person in people:
        yield "employee", person
    for i, name in enumerate(CLIENTS, 1):
        yield "client", (i, name, name == "House")
    tasks = []
    for project in work:
        yield "project", project
    for project in work:
        for title, billable in random.sample(TASKS, random.choice([2, 3, 4, 5])):
            tasks.append(
                (
                    len(tasks) + 1,
                    project[0],
                    title,
                    billable and project[1] != 7,
                    random.choice([None, 20, 40, 80, 120]),
                )
            )
            yield "task", tasks[-1]
    open_tasks = {p[0]: [t for t in tasks if t[1] == p[0]] for p in work[:-2]}
    for person in people[:-1]:
        for values in rates(random, person):
            yield "hourly_rate", (person[0], *values)
    entry = 0
    for person in people:
        if person[0] in (5, 40):
            continue  # these employees never record time
        mine = random.sample(work[:-2], 5)
        day = max(person[4], datetime.date(2023, 1, 2))
        while day <= (person[5] or LAST_DAY):
            running = [
                p for p in mine if p[4] <= day and (p[5] is None or day <= p[5] + 20 * DAY)
            ]  # some work continues after the planned end
            away = (
                day.weekday() > 4 or random.random() < 0.35 or (day.year, day.month) == (2024, 8)
            )  # all employees are away in August 2024
            for _ in range(0 if away or not running else random.choice([1, 1, 2])):
                entry += 1
                task = random.choice(open_tasks[random.choice(running)[0]])
                entered = day + DAY * random.choice([0, 0, 0, 1, 3, 10])
                minutes = random.choice([30, 60, 90, 120, 240, 240, 480])
                yield "time_entry", (
                    entry,
                    person[0],
                    task[0],
                    day,
                    minutes,
                    person[0] if random.random() < 0.9 else person[3] or 2,
                    entered,
                    random.random() < 0.03,
                )
                if random.random() < 0.88:
                    decided, first = (
                        entered + DAY * random.choice([0, 1, 2, 5, 5, 9, 30]),
                        random.choices(["approved", "rejected"], [12, 1])[0],
                    )
                    yield "approval", (entry, person[3] or 2, decided, first)
                    if first == "rejected" and random.random() < 0.7:
                        yield "approval", (entry, 1, decided + DAY * random.randrange(1, 9), "approved")
            day += DAY
