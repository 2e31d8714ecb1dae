"""A laboratory: patients, samples, results with units and reference ranges, clinicians who order or validate,
machines and their control runs. Only some keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE patient (
  patient_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  sex TEXT NOT NULL, -- F, M, X
  born DATE, -- NULL: unknown
  deceased_on DATE -- NULL: alive
);
CREATE TABLE clinician (
  clin_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  dept TEXT NOT NULL,
  left_on DATE -- NULL: still employed
);
CREATE TABLE machine (
  machine_id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  site TEXT NOT NULL,
  installed_on DATE NOT NULL
);
CREATE TABLE test (
  code TEXT NOT NULL,
  descr TEXT NOT NULL,
  unit TEXT NOT NULL, -- unit of the reference range
  ref_low REAL, -- normal from here, inclusive; NULL: no lower bound
  ref_high REAL, -- normal up to here, inclusive; NULL: no upper bound
  target_h INTEGER NOT NULL -- hours from receipt to validation
);
CREATE TABLE sample (
  sample_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patient (patient_id),
  ordered_by INTEGER NOT NULL, -- clinician
  kind TEXT NOT NULL, -- blood, urine, swab
  taken_at TIMESTAMP NOT NULL,
  received_at TIMESTAMP, -- NULL: not yet
  rejected TEXT -- reason, NULL: usable
);
CREATE TABLE result (
  result_id INTEGER PRIMARY KEY,
  sample_id INTEGER NOT NULL REFERENCES sample (sample_id),
  code TEXT NOT NULL,
  machine_id INTEGER, -- NULL: by hand
  measured_at TIMESTAMP, -- NULL: not yet
  value REAL, -- NULL: not yet
  unit TEXT, -- of the value; GLU comes in mmol/L or mg/dL
  validated_by INTEGER, -- clinician, NULL: not yet
  validated_at TIMESTAMP,
  status TEXT NOT NULL -- F final, P preliminary, X withdrawn
);
CREATE TABLE control_run (
  run_id INTEGER PRIMARY KEY,
  machine_id INTEGER NOT NULL REFERENCES machine (machine_id),
  code TEXT NOT NULL,
  run_at TIMESTAMP NOT NULL,
  passed BOOLEAN NOT NULL
);
"""

TESTS = [
    ("GLU", "glucose", "mmol/L", 3.9, 5.5, 8),
    ("HGB", "haemoglobin", "g/L", 120, 170, 4),
    ("CRP", "C-reactive protein", "mg/L", None, 5, 6),
    ("K", "potassium", "mmol/L", 3.5, 5.1, 4),
    ("TSH", "thyrotropin", "mIU/L", 0.4, 4.0, 24),
    ("HDL", "good cholesterol", "mmol/L", 1.0, None, 24),
    ("VITD", "vitamin D", "nmol/L", 50, 125, 72),
]  # VITD is never ordered
CLINICIANS = [
    ("Dr. Abel", "Cardiology"),
    ("Dr. Brandt", "Emergency"),
    ("Dr. Cole", "Emergency"),
    ("Dr. Dietz", "Oncology"),
    ("Dr. Egger", "Lab"),
    ("Dr. Fuchs", "Lab"),
    ("Dr. Egger", "Oncology"),
    ("Dr. Hahn", "Lab"),
    ("Dr. Imhof", "Cardiology"),
]  # Hahn validates nothing, Imhof orders nothing
FIRST = ["Anna", "Ben", "Clara", "Dino", "Eva", "Felix", "Gina", "Hugo", "Ida", "Jan"]
LAST = ["Maier", "Huber", "Wolf", "Kern", "Lang", "Brand", "Stein"]
VALUES = {
    "GLU": [3.5, 3.9, 4.4, 5.0, 5.5, 5.6, 6.8, 9.1],
    "HGB": [98, 112, 120, 135, 144, 150, 170, 176],
    "CRP": [0.6, 1.2, 3, 5, 5, 8, 24, 96],
    "K": [3.2, 3.5, 3.9, 4.2, 4.6, 5.1, 5.4],
    "TSH": [0.2, 0.4, 1.1, 1.8, 2.5, 4.0, 5.9],
    "HDL": [0.8, 1.0, 1.2, 1.5, 1.9],
}
HOUR = datetime.timedelta(hours=1)


def results(random, received, kind):
    """(code, machine, measured, value, unit, validator, validated, status) of a sample that came in."""
    codes = {"blood": ["GLU", "HGB", "CRP", "K", "TSH", "HDL"], "urine": ["GLU", "K"], "swab": ["CRP"]}[kind]
    for code in random.sample(codes, min(len(codes), random.choice([1, 1, 2, 3, 4]))):
        if random.random() < 0.05:
            yield code, None, None, None, None, None, None, "P"
            continue
        machine = random.choice([1, 1, 2, 3, 4, None])
        measured = received + random.choice([1, 1, 2, 3, 5, 9, 26]) * HOUR
        value, unit = random.choice(VALUES[code]), next(t[2] for t in TESTS if t[0] == code)
        if code == "GLU" and machine == 3:
            value, unit = value * 18, "mg/dL"
        status = random.choices(["F", "P", "X"], [10, 1.5, 0.6])[0]
        done = measured + random.choice([0.5, 1, 1, 2, 4, 12]) * HOUR if status != "P" else None
        yield code, machine, measured, value, unit, None if status == "P" else random.choice([5, 5, 6, 2]), done, status


def rows(random):
    for i in range(1, 241):
        born = None if i % 29 == 0 else datetime.date(1935, 1, 1) + datetime.timedelta(days=random.randrange(31000))
        yield "patient", (
            i,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            random.choices("FMX", [10, 9, 1])[0],
            born,
            datetime.date(2024, 5, 20) if i % 40 == 7 else None,
        )
    for i, c in enumerate(CLINICIANS, 1):
        yield "clinician", (i, *c, datetime.date(2024, 2, 29) if i == 4 else None)
    for i, m in enumerate(
        [
            ("Cobas 8000", "Main"),
            ("Cobas 8000", "North"),
            ("Atellica", "Main"),
            ("Architect", "North"),
            ("Architect", "Main"),
        ],
        1,
    ):  # machine 5 is not used
        yield "machine", (i, *m, datetime.date(2018 + i, 3, 1))
    for t in TESTS:
        yield "test", t
    n = 0
    for sample in range(1, 1101):
        at = (
            datetime.datetime(2023, 10, 1)
            + random.randrange(270) * 24 * HOUR
            + random.choice([6, 7, 8, 8, 9, 11, 14, 18, 23]) * HOUR
            + datetime.timedelta(minutes=random.choice([0, 10, 30, 59]))
        )
        kind = random.choices(["blood", "urine", "swab"], [6, 2, 2])[0]
        if kind == "swab" and at.month == 2:
            kind = "blood"  # no swabs in February
        received = (
            None
            if at > datetime.datetime(2024, 6, 24) and random.random() < 0.6 or random.random() < 0.02
            else at + random.choice([0.5, 1, 2, 2, 4, 30]) * HOUR
        )
        rejected = (
            random.choice(["haemolysed", "unlabelled", "too little"]) if received and random.random() < 0.07 else None
        )
        yield "sample", (
            sample,
            random.randrange(1, 226),
            random.choices([1, 2, 3, 4, 7], [3, 4, 4, 2, 1])[0],
            kind,
            at,
            received,
            rejected,
        )
        if not received or rejected and random.random() < 0.9:
            continue
        for values in results(random, received, kind):
            n += 1
            yield "result", (n, sample, *values)
    for run in range(1, 701):
        machine = random.choice([1, 1, 2, 3, 4])
        yield "control_run", (
            run,
            machine,
            random.choice(["GLU", "HGB", "CRP", "K"]),
            datetime.datetime(2023, 10, 1) + random.randrange(270 * 24) * HOUR,
            random.random() < (0.9 if machine != 3 else 0.78),
        )
