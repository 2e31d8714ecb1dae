"""A multi-site clinical trial: arms, subjects, planned and done visits, doses, adverse events and withdrawals.
Keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE investigator (
  inv_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  specialty TEXT NOT NULL
);
CREATE TABLE site (
  site_no INTEGER PRIMARY KEY,
  city TEXT NOT NULL, -- a city may have two sites
  country TEXT NOT NULL,
  lead_inv INTEGER NOT NULL REFERENCES investigator (inv_id),
  activated_on DATE, -- NULL: not yet
  target_subjects INTEGER NOT NULL
);
CREATE TABLE arm (
  arm_code TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  planned_dose_mg INTEGER NOT NULL -- a visit; 0 for placebo
);
CREATE TABLE subject (
  subj_id INTEGER PRIMARY KEY,
  site_no INTEGER NOT NULL REFERENCES site (site_no),
  arm_code TEXT REFERENCES arm (arm_code), -- NULL: screened, not randomised
  sex TEXT NOT NULL, -- F, M
  birth_year INTEGER NOT NULL,
  weight_g INTEGER, -- at screening; NULL: not measured
  screened_on DATE NOT NULL,
  randomised_on DATE, -- NULL: not (yet) randomised
  completed_on DATE -- NULL: not yet, or withdrawn
);
CREATE TABLE visit (
  visit_id INTEGER PRIMARY KEY,
  subj_id INTEGER NOT NULL REFERENCES subject (subj_id),
  visit_no INTEGER NOT NULL, -- 1 to 6
  planned_on DATE NOT NULL,
  done_on DATE, -- NULL: not yet, or missed
  seen_by INTEGER REFERENCES investigator (inv_id), -- NULL while not done
  sys_bp INTEGER -- mmHg; NULL: not taken
);
CREATE TABLE dose (
  dose_id INTEGER PRIMARY KEY,
  visit_id INTEGER NOT NULL REFERENCES visit (visit_id),
  amount_mg INTEGER NOT NULL,
  given_on DATE NOT NULL,
  returned_mg INTEGER -- unused, brought back; NULL: not counted
);
CREATE TABLE adverse_event (
  ae_id INTEGER PRIMARY KEY,
  subj_id INTEGER NOT NULL REFERENCES subject (subj_id),
  term TEXT NOT NULL,
  severity INTEGER NOT NULL, -- 1 mild, 2 moderate, 3 severe, 4 life-threatening, 5 death
  is_serious BOOLEAN NOT NULL,
  began_on DATE NOT NULL,
  ended_on DATE, -- NULL: goes on
  related TEXT NOT NULL, -- yes, no, unknown
  reported_by INTEGER NOT NULL REFERENCES investigator (inv_id)
);
CREATE TABLE withdrawal (
  subj_id INTEGER PRIMARY KEY REFERENCES subject (subj_id),
  withdrawn_on DATE NOT NULL,
  reason TEXT -- consent, adverse event, lost, protocol; NULL: not recorded
);
"""

INVESTIGATORS = [
    ("Dr. Ana Reis", "cardiology"),
    ("Dr. Paul Voss", "neurology"),
    ("Dr. Li Chen", "cardiology"),
    ("Dr. Omar Said", "internal"),
    ("Dr. Eva Holm", "neurology"),
    ("Dr. Jan Novak", "internal"),
    ("Dr. Li Chen", "internal"),
    ("Dr. Ruth Katz", "cardiology"),
    ("Dr. Ivo Lang", "neurology"),
]  # two people are called Li Chen; Ivo Lang leads no site
SITES = [
    ("Porto", "PT"),
    ("Hamburg", "DE"),
    ("Berlin", "DE"),
    ("Prague", "CZ"),
    ("Oslo", "NO"),
    ("Berlin", "DE"),
    ("Lisbon", "PT"),
    ("Brno", "CZ"),
    ("Bergen", "NO"),
    ("Munich", "DE"),
]  # Munich is not activated, Bergen has no subject
ARMS = [
    ("PLC", "Placebo", 0),
    ("LOW", "Low dose", 50),
    ("MID", "Medium dose", 100),
    ("HIGH", "High dose", 200),
    ("EXT", "Extension", 100),
]  # no subject is in EXT
TERMS = ["headache", "nausea", "dizziness", "rash", "fatigue", "insomnia", "chest pain"]
LAST = datetime.date(2024, 6, 30)


def days(n):
    return datetime.timedelta(days=n)


def rows(random):
    for i, who in enumerate(INVESTIGATORS, 1):
        yield "investigator", (i, *who)
    for i, (city, country) in enumerate(SITES, 1):
        activated = None if city == "Munich" else datetime.date(2022, 10, 1) + days(random.randrange(120))
        yield "site", (i, city, country, random.randrange(1, 9), activated, random.choice([40, 50, 50, 60]))
    for arm in ARMS:
        yield "arm", arm
    n_visit = n_dose = n_ae = 0
    for subject in range(1, 361):
        screened = datetime.date(2023, 1, 9) + days(random.randrange(500))
        if (screened.year, screened.month) == (2023, 8):
            screened = screened.replace(month=9, day=min(screened.day, 30))  # no screening in August 2023
        arm = None if random.random() < 0.15 else random.choice(["PLC", "LOW", "LOW", "MID", "HIGH"])
        randomised = screened + days(random.choice([3, 7, 7, 14, 21])) if arm else None
        planned = {"PLC": 0, "LOW": 50, "MID": 100, "HIGH": 200}.get(arm, 0)
        out = randomised + days(random.randrange(5, 170)) if arm and random.random() < 0.18 else None
        if out and out > LAST:
            out = None
        visits, missed = [], 0
        if arm:
            for number in range(1, 7):
                due = randomised + days(28 * (number - 1))
                done = due + days(random.choice([-2, 0, 0, 0, 1, 3, 6]))
                if random.random() < 0.06 or done > LAST or (out and done >= out):
                    done = None
                visits.append((number, due, done))
        completed = visits[5][2] if visits and visits[5][2] and not out else None
        weight = None if random.random() < 0.07 else random.randrange(480, 1150) * 100
        site = random.choices(range(1, 9), [8, 8, 6, 5, 4, 4, 3, 2])[0]
        yield "subject", (
            subject,
            site,
            arm,
            random.choice("FM"),
            random.randrange(1940, 2003),
            weight,
            screened,
            randomised,
            completed,
        )
        for number, due, done in visits:
            n_visit += 1
            yield "visit", (
                n_visit,
                subject,
                number,
                due,
                done,
                random.randrange(1, 10) if done else None,
                random.randrange(105, 175) if done and random.random() < 0.93 else None,
            )
            if done is None:
                continue
            for part in range(random.choice([1, 1, 1, 2])):  # with 2 the dose is given in halves
                n_dose += 1
                amount = planned if random.random() < 0.85 else planned // 2
                yield "dose", (
                    n_dose,
                    n_visit,
                    amount,
                    done + days(part),
                    None if random.random() < 0.3 else random.choice([0, 0, 0, amount // 10, amount // 5]),
                )
        for _ in range(random.choice([0, 0, 1, 1, 2, 3, 5]) if arm else 0):
            began = randomised + days(random.randrange(-2, 160))
            if began > LAST:
                continue
            n_ae += 1
            severity = random.choices([1, 2, 3, 4, 5], [9, 6, 3, 1, 0.1])[0]
            ended = (
                None
                if severity == 5 or random.random() < 0.15
                else began + days(random.choice([0, 1, 2, 5, 5, 10, 30]))
            )
            yield "adverse_event", (
                n_ae,
                subject,
                random.choice(TERMS),
                severity,
                severity > 3 or random.random() < 0.08,
                began,
                ended if ended and ended <= LAST else None,
                random.choice(["yes", "no", "no", "unknown"]),
                random.randrange(1, 9),
            )
        if out:
            yield "withdrawal", (
                subject,
                out,
                random.choice(["consent", "consent", "adverse event", "lost", "protocol", None]),
            )
