"""A mixed farm: fields with plantings, treatments and harvests, and animals with milkings and vet visits.

Names are abbreviated. Most foreign keys are declared. The data end on 2024-12-31.
"""

import datetime

SCHEMA = """
CREATE TABLE fld ( -- fields
  fld_id INTEGER PRIMARY KEY,
  nm TEXT NOT NULL, -- not unique
  ha REAL NOT NULL, -- hectares
  soil TEXT NOT NULL, -- L loam, S sand, C clay
  lessor TEXT -- NULL: our own land
);
CREATE TABLE crop (
  crop_cd TEXT PRIMARY KEY,
  crop_nm TEXT NOT NULL,
  is_wntr BOOLEAN NOT NULL -- sown in autumn
);
CREATE TABLE wrk ( -- workers
  wrk_id INTEGER PRIMARY KEY,
  nm TEXT NOT NULL,
  left_dt DATE -- NULL: still here
);
CREATE TABLE plt ( -- plantings: a crop on a field
  plt_id INTEGER PRIMARY KEY,
  fld_id INTEGER NOT NULL REFERENCES fld (fld_id),
  crop_cd TEXT NOT NULL REFERENCES crop (crop_cd),
  sown_dt DATE NOT NULL,
  plan_dt DATE NOT NULL, -- planned start of harvest
  aband_dt DATE -- given up, no harvest; NULL: not given up
);
CREATE TABLE harv ( -- harvest loads; a planting may have several
  harv_id INTEGER PRIMARY KEY,
  plt_id INTEGER NOT NULL REFERENCES plt (plt_id),
  harv_dt DATE NOT NULL,
  qty_kg INTEGER NOT NULL,
  moist_pct REAL -- NULL: not measured
);
CREATE TABLE trt ( -- treatments
  trt_id INTEGER PRIMARY KEY,
  plt_id INTEGER NOT NULL REFERENCES plt (plt_id),
  trt_dt DATE NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('H', 'F', 'I', 'N')), -- herbicide, fungicide, insecticide, nitrogen
  cost_ct INTEGER NOT NULL,
  ordered_by INTEGER NOT NULL REFERENCES wrk (wrk_id),
  done_by INTEGER REFERENCES wrk (wrk_id) -- NULL: a contractor
);
CREATE TABLE anm ( -- animals
  anm_id INTEGER PRIMARY KEY,
  tag TEXT NOT NULL,
  spec TEXT NOT NULL CHECK (spec IN ('COW', 'GOAT')),
  born_dt DATE, -- NULL: unknown, bought
  dam_id INTEGER REFERENCES anm (anm_id), -- mother; NULL: not ours
  sold_dt DATE,
  died_dt DATE
);
CREATE TABLE milk ( -- one milking of an animal
  milk_id INTEGER PRIMARY KEY,
  anm_id INTEGER NOT NULL REFERENCES anm (anm_id),
  milk_ts TIMESTAMP NOT NULL,
  ml INTEGER, -- NULL: the meter failed
  fat_pct REAL, -- NULL: no sample
  wrk_id INTEGER -- who milked; NULL: the robot
);
CREATE TABLE vet ( -- visits of the vet
  vet_id INTEGER PRIMARY KEY,
  anm_id INTEGER NOT NULL REFERENCES anm (anm_id),
  vis_dt DATE NOT NULL,
  dx TEXT NOT NULL, -- diagnosis
  cost_eur REAL NOT NULL,
  hold_dt DATE -- milk must not be sold up to this day; NULL: no restriction
);
"""

FIELDS = [
    "Mill",
    "Mill",
    "Long Acre",
    "Brook",
    "Church",
    "Hill Top",
    "Hill Side",
    "Fen",
    "Orchard",
    "Old Wood",
    "Station",
    "Marsh",
]
CROPS = [
    ("WW", "Winter wheat", 1),
    ("WB", "Winter barley", 1),
    ("OSR", "Rapeseed", 1),
    ("MZ", "Maize", 0),
    ("SB", "Sugar beet", 0),
    ("POT", "Potatoes", 0),
    ("HMP", "Hemp", 0),
]  # hemp is never grown
PER_HA = {"WW": 7500, "WB": 6500, "OSR": 3500, "MZ": 9000, "SB": 60000, "POT": 35000}
WORKERS = ["Joan Hill", "Peter Marsh", "Joan Hill", "Sam Rook", "Nell Barr", "Tom Ash", "Una Field", "Vic Stone"]


def days(n):
    return datetime.timedelta(days=n)


def season(random, crop, year):
    """(sown, planned harvest) of a crop that is harvested in `year`."""
    if crop in ("WW", "WB", "OSR"):
        return datetime.date(year - 1, 9, 1) + days(random.randrange(50)), datetime.date(year, 7, 5) + days(
            random.randrange(40)
        )
    return datetime.date(year, 4, 1) + days(random.randrange(40)), datetime.date(year, 9, 1) + days(
        random.randrange(50)
    )


def loads(random, crop, planned, hectares):
    """(date, kg, moisture) of the loads of one planting."""
    at, parts = planned + days(random.randrange(-8, 20)), random.choice([1, 2, 3, 4])
    if random.random() < 0.1:
        at = at.replace(month=8, day=31)
    for _ in range(parts):
        kg = round(PER_HA[crop] * hectares * random.uniform(0.7, 1.15) / parts / 500) * 500
        yield at, kg, None if random.random() < 0.2 else round(random.uniform(11, 21), 1)
        at += days(random.choice([0, 1, 1, 3]))


def fields(random):
    """Rows of the fields and of what happens on them."""
    sizes = [random.choice([4.0, 6.5, 8.0, 8.0, 12.0, 15.5]) for _ in FIELDS]
    for i, name in enumerate(FIELDS, 1):
        yield "fld", (
            i,
            name,
            sizes[i - 1],
            random.choice("LLSC"),
            random.choice([None, None, "Abbey Estate", "Mr Grove"]),
        )
    n_plt = n_harv = n_trt = 0
    for year in range(2018, 2025):
        for field in range(1, len(FIELDS)):  # the Marsh is never sown
            for _ in range(random.choice([0, 1, 1, 1, 2])):
                crop = random.choices(["WW", "WB", "OSR", "MZ", "SB", "POT"], [6, 3, 3, 4, 2, 2])[0]
                sown, planned = season(random, crop, year)
                n_plt += 1
                gone = sown + days(random.randrange(40, 120)) if random.random() < 0.08 else None
                yield "plt", (n_plt, field, crop, sown, planned, gone)
                for _ in range(random.choice([0, 1, 2, 3, 4, 5])):
                    at = sown + days(random.randrange(10, 40 if gone else 150))
                    n_trt += 1
                    yield "trt", (
                        n_trt,
                        n_plt,
                        at,
                        random.choice("HHFINN"),
                        round(sizes[field - 1] * random.choice([1800, 2500, 4000, 6000])),
                        random.choice([1, 2, 2, 5]),
                        random.choice([None, 1, 2, 3, 4, 4, 6]),
                    )
                for values in [] if gone else loads(random, crop, planned, sizes[field - 1]):
                    n_harv += 1
                    yield "harv", (n_harv, n_plt, *values)


def herd(random):
    """Rows of the animals, their milkings and vet visits; no milkings are noted in February 2024."""
    n_milk = n_vet = 0
    for animal in range(1, 81):
        goat = animal % 4 == 0
        dam = random.choice([a for a in range(1, animal) if (a % 4 == 0) == goat]) if animal > 30 else None
        born = (
            None
            if not dam and random.random() < 0.4
            else datetime.date(2016 + animal // 14, 1, 1) + days(random.randrange(365))
        )
        leaves = datetime.date(2022, 6, 1) + days(random.randrange(900)) if random.random() < 0.3 else None
        sold, died = (leaves, None) if random.random() < 0.7 else (None, leaves)
        yield "anm", (
            animal,
            f"{'G' if goat else 'C'}{random.randrange(1, 70):03}",
            "GOAT" if goat else "COW",
            born,
            dam,
            sold,
            died,
        )
        if animal % 9 == 0:
            continue  # the animal gives no milk
        base, day = (2600 if goat else 13000) * random.uniform(0.7, 1.3), datetime.date(2022, 1, 3) + days(
            random.randrange(7)
        )
        while day <= min(leaves or day, datetime.date(2024, 12, 31)):
            for hour in (random.choice([5, 6]), random.choice([17, 18, 23])):
                if (day.year, day.month) == (2024, 2):
                    continue
                n_milk += 1
                at = datetime.datetime.combine(day, datetime.time(hour, random.choice([0, 20, 45, 59])))
                yield "milk", (
                    n_milk,
                    animal,
                    at,
                    None if random.random() < 0.03 else round(base * random.uniform(0.7, 1.2) / 100) * 100,
                    round(random.uniform(3.2, 5.2), 1) if random.random() < 0.3 else None,
                    random.choice([None, None, 3, 5, 7]),
                )
            day += (
                days(random.choice([7, 14, 21]))
                if day.day < 25 or random.random() < 0.7
                else days(((day.replace(day=1) + days(32)).replace(day=1) - days(1) - day).days or 3)
            )
        for _ in range(random.choice([0, 0, 1, 2, 3, 5])):
            at = datetime.date(2022, 1, 1) + days(
                random.randrange(((leaves or datetime.date(2024, 12, 31)) - datetime.date(2022, 1, 1)).days)
            )
            n_vet += 1
            yield "vet", (
                n_vet,
                animal,
                at,
                random.choice(["mastitis", "mastitis", "lameness", "check", "calving"]),
                random.choice([45.0, 60.0, 60.0, 85.5, 120.0, 240.0]),
                at + days(random.choice([3, 5, 7])) if random.random() < 0.5 else None,
            )


def rows(random):
    for values in CROPS:
        yield "crop", values
    for i, name in enumerate(WORKERS, 1):
        yield "wrk", (i, name, datetime.date(2023, 6, 30) if i == 4 else None)
    yield from fields(random)
    yield from herd(random)
