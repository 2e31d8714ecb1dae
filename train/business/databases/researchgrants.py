"""A funding agency: calls, applications, panels, reviews, grants with payments and publications.

Only some foreign keys are declared. The data end on 2024-12-31.
"""

import datetime

SCHEMA = """
CREATE TABLE institution (
  institution_id INTEGER PRIMARY KEY,
  institution_name TEXT NOT NULL,
  country TEXT NOT NULL, -- ISO code
  is_university BOOLEAN NOT NULL
);
CREATE TABLE person ( -- applicants, reviewers and chairs; the same person may be all three
  person_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  institution_id INTEGER, -- NULL: independent
  orcid TEXT -- NULL: not given
);
CREATE TABLE funding_call (
  call_code TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  budget_keur INTEGER NOT NULL, -- thousands of euros
  opens_on DATE NOT NULL,
  closes_at TIMESTAMP NOT NULL
);
CREATE TABLE panel (
  panel_id INTEGER PRIMARY KEY,
  call_code TEXT NOT NULL REFERENCES funding_call (call_code),
  chair_id INTEGER NOT NULL, -- a person
  met_on DATE -- NULL: has not met yet
);
CREATE TABLE application (
  application_id INTEGER PRIMARY KEY,
  call_code TEXT NOT NULL REFERENCES funding_call (call_code),
  applicant_id INTEGER NOT NULL REFERENCES person (person_id),
  panel_id INTEGER, -- NULL: no panel yet
  submitted_at TIMESTAMP, -- NULL: draft
  requested_eur INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'submitted', 'withdrawn', 'rejected', 'granted')),
  decided_on DATE
);
CREATE TABLE review (
  review_id INTEGER PRIMARY KEY,
  application_id INTEGER NOT NULL REFERENCES application (application_id),
  reviewer_id INTEGER NOT NULL REFERENCES person (person_id),
  assigned_on DATE NOT NULL,
  due_on DATE NOT NULL,
  returned_at TIMESTAMP, -- NULL: not returned
  score INTEGER -- 1 to 10, 10 is best; NULL: not returned, or returned without a score
);
CREATE TABLE award (
  grant_no TEXT PRIMARY KEY,
  application_id INTEGER NOT NULL REFERENCES application (application_id),
  amount_eur INTEGER NOT NULL,
  starts_on DATE NOT NULL,
  ends_on DATE NOT NULL, -- as planned
  terminated_on DATE -- stopped before the planned end; NULL: was not stopped
);
CREATE TABLE payment (
  payment_id INTEGER PRIMARY KEY,
  grant_no TEXT NOT NULL,
  paid_on DATE NOT NULL,
  amount_eur INTEGER NOT NULL -- below 0: paid back to the agency
);
CREATE TABLE publication (
  publication_id INTEGER PRIMARY KEY,
  grant_no TEXT, -- NULL: not linked to a grant
  kind TEXT NOT NULL, -- article, preprint, dataset
  published_on DATE NOT NULL,
  is_open BOOLEAN NOT NULL, -- open access
  citations INTEGER -- NULL: unknown
);
"""

INSTITUTIONS = [
    ("University of Gent", "BE", 1),
    ("University of Porto", "PT", 1),
    ("Marine Institute", "PT", 0),
    ("Technical University", "AT", 1),
    ("Technical University", "DE", 1),
    ("Institute of Soil", "DE", 0),
    ("Royal Observatory", "BE", 0),
    ("University of Lund", "SE", 1),
    ("Polar Centre", "SE", 0),
    ("City Museum", "AT", 0),
]  # no applicant is at the City Museum
CALLS = [
    ("START-21", "Starting careers", 3000, 2021),
    ("CLIM-21", "Climate", 6000, 2021),
    ("START-22", "Starting careers", 3200, 2022),
    ("HEALTH-22", "Health", 5000, 2022),
    ("START-23", "Starting careers", 3500, 2023),
    ("CLIM-23", "Climate", 7000, 2023),
    ("QUANT-23", "Quantum", 4000, 2023),
    ("START-24", "Starting careers", 3500, 2024),
    ("ARTS-24", "Arts", 500, 2024),
]  # the call Arts has no applications
FIRST = [
    "Ada",
    "Bruno",
    "Carla",
    "Dirk",
    "Elin",
    "Filip",
    "Gro",
    "Hana",
    "Ivo",
    "Jana",
    "Karl",
    "Lucia",
    "Marta",
    "Nils",
]
LAST = ["Almeida", "Berg", "Claes", "Dahl", "Ek", "Ferreira", "Gruber", "Holm", "Janssens", "Keller", "Lind", "Maes"]


def days(n):
    return datetime.timedelta(days=n)


def reviews(random, application, applicant, submitted):
    """(application, reviewer, assigned, due, returned, score) of one application."""
    for reviewer in random.sample(range(1, 140), random.choice([1, 2, 3, 3, 3, 4])):
        if reviewer == applicant:
            continue
        assigned = submitted.date() + days(random.randrange(10, 40))
        due = assigned + days(30)
        returned = datetime.datetime.combine(
            due + days(random.randrange(-20, 25)), datetime.time(random.choice([9, 14, 23]), random.choice([0, 15, 59]))
        )
        if random.random() < 0.12 or returned.year > 2024:
            returned = None
        yield application, reviewer, assigned, due, returned, (
            None if not returned or random.random() < 0.08 else random.choice([3, 4, 5, 6, 7, 7, 8, 8, 9, 10])
        )


def payments(random, amount, start, stop):
    """(date, euros) of one grant; nothing is paid in August 2023."""
    rest, at = amount, start + days(random.randrange(5, 40))
    while rest > 0 and at < min(stop, datetime.date(2024, 12, 31)):
        part = min(rest, random.choice([amount // 4, amount // 3, amount // 2]) or rest)
        if (at.year, at.month) == (2023, 8):
            at = at.replace(month=9, day=1)
        yield at, part
        rest -= part
        at += days(random.randrange(90, 260))
    if random.random() < 0.1 and rest < amount:
        yield min(at.replace(month=12), datetime.date(2024, 12, 30)), -(amount // 20)


def rows(random):
    for i, values in enumerate(INSTITUTIONS, 1):
        yield "institution", (i, *values)
    for i in range(1, 241):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        yield "person", (
            i,
            name,
            None if random.random() < 0.08 else random.randrange(1, 10),
            None if random.random() < 0.3 else f"0000-0002-{i:04}-{random.randrange(10000):04}",
        )
    n_panel = n_app = n_review = n_pay = n_pub = 0
    for code, title, budget, year in CALLS:
        closes = datetime.datetime(year, 3 if code.startswith("START") else 5, 31, 23, 59, 59)
        yield "funding_call", (code, title, budget, datetime.date(year, 1, 15), closes)
        panels = []
        for _ in range(0 if code.startswith("ARTS") else 3 if year == 2024 else random.choice([2, 3])):
            n_panel += 1
            panels.append((n_panel, datetime.date(year, 10, random.randrange(1, 31))))
            yield "panel", (
                n_panel,
                code,
                random.randrange(1, 25),
                panels[-1][1] if len(panels) < 3 or year < 2024 else None,
            )
        unmet = panels[2][0] if panels and year == 2024 else None
        for _ in range(random.randrange(55, 95) if panels else 0):
            n_app += 1
            applicant = random.randrange(40, 60 if random.random() < 0.3 else 230)  # some applicants apply repeatedly
            draft = random.random() < 0.1
            at = closes - datetime.timedelta(minutes=random.choice([0, 1, 30, 600, random.randrange(100000)]))
            panel, met = random.choice(panels)
            status = (
                "draft"
                if draft
                else random.choices(
                    ["withdrawn", "rejected", "granted", "submitted"], [1, 6, 4, 3 if year == 2024 else 0]
                )[0]
            )
            if panel == unmet and status in ("granted", "rejected"):
                status = "submitted"
            asked = random.choice([80, 100, 100, 150, 200, 250, 300]) * (1000 if code.startswith("START") else 1500)
            decided = met + days(random.randrange(3, 45)) if status in ("rejected", "granted") else None
            yield "application", (
                n_app,
                code,
                applicant,
                None if draft or random.random() < 0.05 and status != "granted" else panel,
                None if draft else at,
                asked,
                status,
                decided,
            )
            if draft:
                continue
            for values in reviews(random, n_app, applicant, at):
                n_review += 1
                yield "review", (n_review, *values)
            if status != "granted":
                continue
            grant, start = f"G{year}-{n_app:04}", decided + days(random.randrange(20, 150))
            amount = asked if random.random() < 0.5 else asked * random.choice([7, 8, 9]) // 10
            end = start + days(random.choice([365, 730, 730, 1095]))
            stopped = start + days(random.randrange(60, 300)) if random.random() < 0.12 else None
            if stopped and stopped.year > 2024:
                stopped = None
            yield "award", (grant, n_app, amount, start, end, stopped)
            for values in payments(random, amount, start, stopped or end):
                n_pay += 1
                yield "payment", (n_pay, grant, *values)
            for _ in range(random.choice([0, 0, 1, 2, 4]) if start.year < 2024 else 0):
                n_pub += 1
                at = start + days(random.randrange(60, 900))
                if at.year < 2025:
                    yield "publication", (
                        n_pub,
                        grant,
                        random.choice(["article", "article", "preprint", "dataset"]),
                        at,
                        random.random() < 0.6,
                        random.choice([None, 0, 0, 1, 3, 8, 20, 41]),
                    )
    for _ in range(40):
        n_pub += 1
        yield "publication", (
            n_pub,
            None,
            random.choice(["article", "preprint"]),
            datetime.date(2021, 1, 1) + days(random.randrange(1400)),
            random.random() < 0.5,
            random.choice([None, 0, 2, 8]),
        )
