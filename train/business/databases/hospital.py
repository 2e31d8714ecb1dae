"""A hospital: patients, their encounters, stays on wards, diagnoses, procedures and staff. Only some foreign keys
are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE ward (
  ward_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  beds INTEGER NOT NULL,
  floor INTEGER
);
CREATE TABLE staff (
  staff_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- not unique
  job TEXT NOT NULL, -- physician, surgeon or nurse
  ward_id INTEGER, -- home ward, NULL: works everywhere
  left_on DATE -- NULL: works here
);
CREATE TABLE patient (
  patient_id INTEGER PRIMARY KEY,
  given_name TEXT NOT NULL,
  family_name TEXT NOT NULL,
  born_on DATE, -- NULL: unknown
  sex TEXT, -- f, m or x
  insurance TEXT, -- public, private; NULL: none
  died_at TIMESTAMP
);
CREATE TABLE encounter (
  enc_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patient (patient_id),
  kind TEXT NOT NULL, -- emergency, planned or day
  admitted_at TIMESTAMP NOT NULL,
  discharged_at TIMESTAMP, -- NULL: still in
  admitted_by INTEGER NOT NULL, -- staff who admitted
  discharged_by INTEGER, -- staff who discharged
  outcome TEXT -- home, rehab, transfer, dead; NULL: still in
);
CREATE TABLE ward_stay (
  stay_id INTEGER PRIMARY KEY,
  enc_id INTEGER NOT NULL REFERENCES encounter (enc_id),
  ward_id INTEGER NOT NULL,
  from_at TIMESTAMP NOT NULL,
  until_at TIMESTAMP -- NULL: still there
);
CREATE TABLE icd (
  code TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  chapter TEXT NOT NULL
);
CREATE TABLE diagnosis (
  enc_id INTEGER NOT NULL,
  seq INTEGER NOT NULL, -- 1: main diagnosis, 2 and up: secondary
  code TEXT NOT NULL,
  noted_at TIMESTAMP NOT NULL,
  PRIMARY KEY (enc_id, seq)
);
CREATE TABLE medical_procedure (
  proc_id INTEGER PRIMARY KEY,
  enc_id INTEGER NOT NULL REFERENCES encounter (enc_id),
  name TEXT NOT NULL,
  lead_id INTEGER NOT NULL, -- staff in charge
  assist_id INTEGER, -- staff who assisted
  started_at TIMESTAMP NOT NULL,
  minutes INTEGER, -- NULL: not recorded
  cost_cents INTEGER NOT NULL,
  cancelled BOOLEAN NOT NULL
);
"""

WARDS = [
    ("Surgery", 14, 2),
    ("Cardiology", 10, 3),
    ("Internal", 18, 3),
    ("Pediatrics", 8, 1),
    ("ICU", 6, 2),
    ("Orthopedics", 12, None),
    ("Isolation", 2, 4),
]  # no patient is in Isolation
CODES = [
    ("I10", "Hypertension", "Circulatory"),
    ("I21", "Heart attack", "Circulatory"),
    ("J18", "Pneumonia", "Respiratory"),
    ("J45", "Asthma", "Respiratory"),
    ("K35", "Appendicitis", "Digestive"),
    ("K80", "Gallstones", "Digestive"),
    ("S72", "Hip fracture", "Injury"),
    ("S06", "Concussion", "Injury"),
    ("E11", "Type 2 diabetes", "Endocrine"),
    ("A00", "Cholera", "Infectious"),
]  # cholera never occurs
PROCEDURES = [
    ("appendectomy", 65, 180000),
    ("hip replacement", 110, 750000),
    ("angiography", 45, 120000),
    ("x-ray", 10, 6500),
    ("x-ray", 10, 6500),
    ("blood transfusion", 60, 22000),
    ("endoscopy", 30, 41000),
]
GIVEN = ["Maria", "Ali", "Sofia", "Jan", "Nora", "Tom", "Ivan", "Lea", "Omar"]
FAMILY = ["Novak", "Silva", "Klein", "Rossi", "Yilmaz", "Baker", "Horvat", "Dubois"]
HOUR = datetime.timedelta(hours=1)
END = datetime.datetime(2024, 12, 31, 23, 59)


def stays(random, wards, begin, end):
    """(ward, from, until) of the wards that a patient lies on in turn."""
    parts = 1 if not end or end - begin < 30 * HOUR else random.choice([1, 1, 2, 3])
    for part in range(parts):
        until = end if part == parts - 1 else begin + random.randrange(6, 24) * HOUR * (1 if parts == 2 else 0.5)
        yield random.choice(wards), begin, until
        begin = until


def rows(random):
    for i, ward in enumerate(WARDS, 1):
        yield "ward", (i, *ward)
    for i in range(1, 61):
        job = ["physician", "surgeon", "nurse"][i % 3]
        left = datetime.date(2024, 1, 31) + datetime.timedelta(days=random.randrange(300)) if i % 13 == 0 else None
        yield "staff", (
            i,
            f"Dr. {random.choice(FAMILY)}" if job != "nurse" else f"{random.choice(GIVEN)} {random.choice(FAMILY)}",
            job,
            random.randrange(1, 7) if random.random() < 0.8 else None,
            left,
        )
    for code in CODES:
        yield "icd", code
    n_encounter = n_stay = n_procedure = 0
    for patient in range(1, 701):
        born = (
            datetime.date(1932, 1, 1) + datetime.timedelta(days=random.randrange(33000))
            if random.random() < 0.95
            else None
        )
        visits, at = [], datetime.datetime(2022, 12, 20) + random.randrange(725 * 24) * HOUR
        for _ in range(random.choices([0, 1, 2, 3, 5, 9], [2, 8, 5, 3, 2, 1])[0]):
            if (at.year, at.month) == (2023, 8):
                at += 31 * 24 * HOUR  # closed for works in August 2023
            if at > END:
                break
            kind = random.choices(["emergency", "planned", "day"], [4, 3, 2])[0]
            begin = at.replace(hour=23, minute=59) if random.random() < 0.1 else at
            end = (
                begin + random.randrange(2, 9) * HOUR
                if kind == "day"
                else begin + random.choice([20, 26, 50, 75, 75, 130, 300, 520]) * HOUR
            )
            visits.append((kind, begin, None if end > END or random.random() < 0.002 else end))
            if not visits[-1][2]:
                break
            at = end + random.choice([5, 15, 29, 30, 45, 90, 160]) * 24 * HOUR + random.randrange(20) * HOUR
        dead = bool(visits and visits[-1][2] and random.random() < 0.05)
        yield "patient", (
            patient,
            random.choice(GIVEN),
            random.choice(FAMILY),
            born,
            random.choices(["f", "m", "x", None], [20, 19, 1, 1])[0],
            random.choice(["public", "public", "public", "private", None]),
            visits[-1][2] if dead else None,
        )
        for k, (kind, begin, end) in enumerate(visits):
            n_encounter += 1
            outcome = (
                None
                if not end
                else (
                    "dead"
                    if dead and k == len(visits) - 1
                    else random.choice(["home", "home", "home", "home", "rehab", "transfer"])
                )
            )
            yield "encounter", (
                n_encounter,
                patient,
                kind,
                begin,
                end,
                random.randrange(1, 51),
                random.randrange(1, 51) if end else None,
                outcome,
            )
            if kind != "day":  # day patients get no bed
                for ward, start, until in stays(random, [1, 2, 2, 3, 3, 4, 5, 6], begin, end):
                    n_stay += 1
                    yield "ward_stay", (n_stay, n_encounter, ward, start, until)
            for seq, code in enumerate(random.sample(CODES[:9], random.choice([0, 1, 1, 2, 2, 3, 4])), 1):
                yield "diagnosis", (n_encounter, seq, code[0], begin + random.choice([0, 1, 5, 20]) * HOUR)
            for name, minutes, cost in random.choices(PROCEDURES, k=random.choice([0, 0, 1, 1, 2, 3])):
                n_procedure += 1
                lead = random.randrange(1, 51)
                yield "medical_procedure", (
                    n_procedure,
                    n_encounter,
                    name,
                    lead,
                    random.choice([None, None, lead % 50 + 1, (lead + 6) % 50 + 1]),
                    begin + random.randrange(1, 30) * HOUR,
                    max(5, minutes + random.choice([-10, 0, 0, 5, 20])) if random.random() < 0.9 else None,
                    cost + random.choice([0, 0, 1500]),
                    random.random() < 0.06,
                )
