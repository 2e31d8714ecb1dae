"""A plant for pumps: parts, bills of material on three levels, work orders, bookings, scrap, machines and
downtime. Keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE part (
  part_id INTEGER PRIMARY KEY,
  part_no TEXT NOT NULL,
  name TEXT NOT NULL, -- not unique
  kind TEXT NOT NULL CHECK (kind IN ('finished', 'assembly', 'raw')),
  unit TEXT NOT NULL, -- pc or kg: what quantities of the part count
  unit_cost NUMERIC(10,2) NOT NULL, -- euros a unit
  weight_kg REAL, -- of one piece; NULL: never weighed
  obsolete BOOLEAN NOT NULL
);
CREATE TABLE bom (
  parent_id INTEGER NOT NULL REFERENCES part (part_id),
  component_id INTEGER NOT NULL REFERENCES part (part_id),
  qty REAL NOT NULL, -- units of the component in one parent
  PRIMARY KEY (parent_id, component_id)
);
CREATE TABLE machine (
  machine_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  hall TEXT NOT NULL,
  bought_on DATE NOT NULL,
  retired_on DATE -- NULL: in use
);
CREATE TABLE operator (
  op_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  shift TEXT NOT NULL CHECK (shift IN ('early', 'late', 'night'))
);
CREATE TABLE work_order (
  wo_id INTEGER PRIMARY KEY,
  part_id INTEGER NOT NULL REFERENCES part (part_id),
  machine_id INTEGER NOT NULL REFERENCES machine (machine_id),
  rework_of INTEGER REFERENCES work_order (wo_id), -- NULL: not a rework order
  qty_planned INTEGER NOT NULL,
  planned_start DATE NOT NULL,
  planned_end DATE NOT NULL,
  started_at TIMESTAMP, -- NULL: not yet
  finished_at TIMESTAMP, -- NULL: not yet
  status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'done', 'cancelled')),
  created_by INTEGER NOT NULL REFERENCES operator (op_id),
  released_by INTEGER REFERENCES operator (op_id)
);
CREATE TABLE output (
  output_id INTEGER PRIMARY KEY,
  wo_id INTEGER NOT NULL REFERENCES work_order (wo_id),
  op_id INTEGER NOT NULL REFERENCES operator (op_id),
  booked_at TIMESTAMP NOT NULL,
  qty_good INTEGER NOT NULL -- pieces; negative: correction
);
CREATE TABLE scrap_reason (
  reason_code TEXT PRIMARY KEY,
  label TEXT NOT NULL
);
CREATE TABLE scrap (
  scrap_id INTEGER PRIMARY KEY,
  wo_id INTEGER NOT NULL REFERENCES work_order (wo_id),
  reason_code TEXT REFERENCES scrap_reason (reason_code), -- NULL: cause unknown
  scrapped_at TIMESTAMP NOT NULL,
  qty INTEGER NOT NULL, -- pieces
  weight_g INTEGER NOT NULL -- of all of them
);
CREATE TABLE downtime (
  downtime_id INTEGER PRIMARY KEY,
  machine_id INTEGER NOT NULL REFERENCES machine (machine_id),
  began_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP, -- NULL: still down
  is_planned BOOLEAN NOT NULL,
  cause TEXT NOT NULL
);
"""

FINISHED = ["Hydraulic Pump", "Gear Pump", "Booster Set", "Dosing Unit", "Sump Pump", "Drum Pump"]
ASSEMBLY = ["Rotor", "Housing", "Shaft Seal", "Motor Block", "Valve Plate", "Bearing Set"]
RAW = ["Steel Bar", "Cast Iron", "O-Ring", "Screw M8", "Copper Wire", "Bronze Sheet", "Paint"]
REASONS = [
    ("CRK", "crack"),
    ("DIM", "out of dimension"),
    ("SUR", "surface defect"),
    ("MIX", "mixed material"),
    ("OLD", "expired stock"),
]
CAUSES = ["tool change", "breakdown", "no material", "cleaning", "power"]
NAMES = [
    "Jan Novak",
    "Eva Lind",
    "Tom Berg",
    "Ines Rossi",
    "Omar Haddad",
    "Jan Novak",
    "Lea Braun",
    "Paul Weber",
    "Mia Kos",
    "Ruth Adler",
    "Sam Ortiz",
    "Nina Falk",
    "Karl Voss",
    "Ana Silva",
]


def parts(random):
    """(row of part) of 14 finished, 30 assembly and 40 raw parts."""
    for i in range(1, 85):
        kind, names, price = (
            ("finished", FINISHED, 400) if i <= 14 else ("assembly", ASSEMBLY, 60) if i <= 44 else ("raw", RAW, 4)
        )
        name = names[i % len(names)]
        unit = "kg" if name in ("Steel Bar", "Cast Iron", "Copper Wire", "Paint") else "pc"
        weight = (
            None
            if unit == "kg" or random.random() < 0.25
            else round(random.uniform(0.05, 30 if kind == "finished" else 6), 2)
        )
        yield i, f"{kind[0].upper()}-{1000 + i}", name, kind, unit, round(
            price * random.uniform(0.5, 2), 2
        ), weight, i % 17 == 0


def bom(random):
    for parent in range(1, 14):  # part 14 has no bill of material
        for child in random.sample(range(15, 43), random.choice([3, 4, 4, 5])):
            yield parent, child, random.choice([1, 1, 2, 4])
        for child in random.sample(range(45, 80), 2):
            yield parent, child, random.choice([0.5, 2, 8, 12])
    for parent in range(15, 42):
        for child in random.sample(range(45, 80), random.choice([2, 3, 3, 4])):
            yield parent, child, random.choice([0.25, 0.5, 1, 1, 2, 6])


def bookings(random, wo, planned, start, end, n_parts):
    """(table, row without id) of the output and scrap of an order."""
    times = sorted(start + (end - start) * random.random() for _ in range(n_parts))
    for at in times:
        at = at.replace(microsecond=0)
        yield "output", (
            wo,
            random.randrange(1, 13),
            at,
            -random.randrange(1, 5) if random.random() < 0.04 else planned // n_parts,
        )
    for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
        at = (start + (end - start) * random.random()).replace(microsecond=0)
        n = random.randrange(1, max(3, planned // 12))
        yield "scrap", (
            wo,
            random.choice(["CRK", "DIM", "DIM", "SUR", "MIX", None]),
            at,
            n,
            n * random.randrange(80, 4000),
        )


def rows(random):
    for part in parts(random):
        yield "part", part
    for line in bom(random):
        yield "bom", line
    for i in range(1, 17):
        bought = datetime.date(2012 + i % 10, 1 + i % 12, 3 + i)
        yield "machine", (i, f"M{i:02d}", "ABC"[i % 3], bought, datetime.date(2024, 3, 31) if i == 5 else None)
    for i, name in enumerate(NAMES, 1):
        yield "operator", (i, name, ["early", "late", "night"][i % 3])
    for code, label in REASONS:
        yield "scrap_reason", (code, label)
    n_out = n_scrap = n_down = 0
    day, done = datetime.date(2023, 7, 3), []
    for wo in range(1, 901):
        day += datetime.timedelta(days=random.choice([0, 0, 1, 1, 1]))
        if datetime.date(2024, 7, 29) <= day < datetime.date(2024, 9, 2):
            day = datetime.date(2024, 9, 2)  # the plant is closed in summer
        part = random.choice([1, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, *range(15, 38)])  # parts 7 and 12 to 14 are never made
        machine = (
            random.randrange(1, 15)
            if day <= datetime.date(2024, 3, 20)
            else random.choice([1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13])
        )
        planned, end = random.choice([20, 40, 50, 50, 100, 120, 200, 250]), day + datetime.timedelta(
            days=random.choice([1, 2, 3, 5, 8])
        )
        status = (
            "planned"
            if day > datetime.date(2024, 12, 12)
            else random.choices(
                ["done", "cancelled", "running"], [88, 7, 5 if day > datetime.date(2024, 11, 1) else 0]
            )[0]
        )
        start = finish = None
        if status in ("done", "running") or status == "cancelled" and random.random() < 0.3:
            start = datetime.datetime.combine(
                day, datetime.time(random.choice([6, 6, 14, 22]), random.choice([0, 10, 45]))
            ) + datetime.timedelta(days=random.choice([-1, 0, 0, 0, 1, 3]))
        if status == "done":
            finish = start + datetime.timedelta(hours=random.randrange(10, 190), minutes=random.randrange(60))
            if (finish.year, finish.month) == (2024, 8):
                finish = finish.replace(month=7, day=31, hour=23, minute=59, second=0)
            if wo % 60 == 0:
                finish = (finish.replace(day=28) + datetime.timedelta(days=4)).replace(
                    day=1, hour=23, minute=59
                ) - datetime.timedelta(days=1)
        rework = random.choice(done) if done and random.random() < 0.06 else None
        creator = random.randrange(1, 7)
        yield "work_order", (
            wo,
            part,
            machine,
            rework,
            planned,
            day,
            end,
            start,
            finish,
            status,
            creator,
            None if status == "planned" else random.choice([creator, 3, 7, 8, 9]),
        )
        if status == "done":
            done.append(wo)
        if status == "cancelled" or start is None:
            continue
        for table, row in bookings(
            random, wo, planned, start, finish or start + datetime.timedelta(days=2), random.choice([1, 2, 2, 3, 4])
        ):
            if table == "output":
                n_out += 1
            else:
                n_scrap += 1
            yield table, (n_out if table == "output" else n_scrap, *row)
    for machine in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13):  # machines 8 and 14 to 16 never had downtime
        at = datetime.datetime(2023, 7, 4, 7)
        while True:
            at += datetime.timedelta(hours=random.randrange(60, 700), minutes=random.randrange(60))
            if at > datetime.datetime(2024, 12, 31) or machine == 5 and at > datetime.datetime(2024, 3, 31):
                break
            if (at.year, at.month) == (2024, 2):
                continue  # no downtime began in February 2024
            end = at + datetime.timedelta(minutes=random.choice([15, 30, 30, 45, 90, 240, 1500]))
            cause = random.choice(CAUSES)
            n_down += 1
            yield "downtime", (
                n_down,
                machine,
                at,
                None if at > datetime.datetime(2024, 12, 20) and machine in (3, 9) else end,
                cause in ("tool change", "cleaning") and random.random() < 0.9,
                cause,
            )
