"""A fleet with telematics: vehicles, boxes that send readings, trips, drivers, fuel, workshop jobs, geofences, alerts.
Keys are declared only for vehicles and trips; metres, millilitres and cents beside euros and kilometres.
"""

import datetime

SCHEMA = """
CREATE TABLE depots (
  depot_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  region TEXT NOT NULL -- north, south, east
);
CREATE TABLE vehicles (
  vehicle_id INTEGER PRIMARY KEY,
  plate TEXT NOT NULL, -- a plate goes on to another vehicle after a sale
  depot_id INTEGER NOT NULL REFERENCES depots (depot_id), -- where it belongs
  class TEXT NOT NULL, -- van, truck, car, bus
  energy TEXT NOT NULL, -- diesel, petrol, electric
  tank_l INTEGER, -- litres; NULL: electric
  bought_on DATE NOT NULL,
  price_eur INTEGER, -- euros; NULL: leased
  sold_on DATE -- NULL: in the fleet
);
CREATE TABLE drivers (
  driver_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  depot_id INTEGER NOT NULL,
  mentor_id INTEGER, -- another driver; NULL: has none
  hired_on DATE NOT NULL,
  left_on DATE -- NULL: still with us
);
CREATE TABLE devices (
  device_id INTEGER NOT NULL,
  serial TEXT NOT NULL,
  model TEXT NOT NULL, -- TX-1, TX-2, Puck
  vehicle_id INTEGER, -- NULL: on the shelf, never fitted
  fitted_on DATE,
  removed_on DATE, -- NULL: still fitted (or never was)
  firmware TEXT -- NULL: unknown
);
CREATE TABLE trips (
  trip_id INTEGER PRIMARY KEY,
  vehicle_id INTEGER NOT NULL REFERENCES vehicles (vehicle_id),
  driver_id INTEGER, -- NULL: no card in the reader, driver unknown
  purpose TEXT NOT NULL, -- delivery, service, private, transfer
  started_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP, -- NULL: under way
  from_depot INTEGER NOT NULL, -- depots.depot_id
  to_depot INTEGER NOT NULL,
  distance_m INTEGER -- metres; NULL: no signal, or under way
);
CREATE TABLE readings (
  reading_id INTEGER NOT NULL,
  device_id INTEGER NOT NULL,
  metric TEXT NOT NULL, -- speed, coolant, battery
  read_at TIMESTAMP NOT NULL,
  value REAL, -- NULL: the sensor failed
  unit TEXT NOT NULL -- speed km/h, battery V, coolant C or F
);
CREATE TABLE refuels (
  refuel_id INTEGER NOT NULL,
  vehicle_id INTEGER NOT NULL REFERENCES vehicles (vehicle_id),
  driver_id INTEGER, -- who paid; NULL: not known
  fuelled_at TIMESTAMP NOT NULL,
  volume_ml INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL,
  brand TEXT NOT NULL,
  filled_up BOOLEAN NOT NULL
);
CREATE TABLE jobs (
  job_id INTEGER NOT NULL,
  vehicle_id INTEGER NOT NULL REFERENCES vehicles (vehicle_id),
  kind TEXT NOT NULL, -- inspection, repair, tyres, recall
  state TEXT NOT NULL, -- planned, in_work, done, cancelled
  planned_on DATE NOT NULL,
  begun_on DATE,
  done_on DATE,
  estimate_cents INTEGER, -- NULL: none was given
  bill_cents INTEGER -- NULL: no bill (yet), or on warranty
);
CREATE TABLE fences (
  fence_id INTEGER NOT NULL,
  name TEXT NOT NULL, -- not unique
  kind TEXT NOT NULL, -- depot, customer, forbidden
  is_active BOOLEAN NOT NULL
);
CREATE TABLE fence_visits (
  visit_id INTEGER NOT NULL,
  fence_id INTEGER NOT NULL,
  vehicle_id INTEGER NOT NULL,
  entered_at TIMESTAMP NOT NULL,
  left_at TIMESTAMP -- NULL: still inside
);
CREATE TABLE alerts (
  alert_id INTEGER NOT NULL,
  vehicle_id INTEGER NOT NULL,
  trip_id INTEGER REFERENCES trips (trip_id), -- NULL: while parked
  kind TEXT NOT NULL, -- speeding, braking, low_fuel, fence, silent
  severity INTEGER NOT NULL, -- 1 notice, 2 warning, 3 critical
  raised_at TIMESTAMP NOT NULL,
  acked_at TIMESTAMP, -- NULL: nobody looked yet
  cleared_at TIMESTAMP, -- NULL: not cleared
  false_alarm BOOLEAN -- NULL: not judged yet
);
"""

DEPOTS = [
    ("Hafen", "north"),
    ("Westend", "north"),
    ("Talstrasse", "south"),
    ("Airport", "south"),
    ("Ostkreuz", "east"),
    ("Reserve", "east"),
]  # no vehicle belongs to Reserve
FIRST = ["Ali", "Berta", "Carl", "Dina", "Emre", "Frida", "Georg"]
LAST = ["Adler", "Busch", "Cakir", "Decker", "Ernst", "Falk"]
BRANDS = ["Aral", "Shell", "Jet", "Total"]
FENCES = ["Hafen gate", "Yard", "Yard", "Brauer KG", "Old town", "Bridge 7", "Nordmarkt", "Quarry"]
START, END = datetime.datetime(2023, 7, 1), datetime.datetime(2025, 1, 1)


def minutes(n):
    return datetime.timedelta(minutes=n)


def moment(random, first=START, last=END):
    """A moment; some lie in the last minute of a month, some on the first at midnight."""
    at = first + minutes(random.randrange(int((last - first).total_seconds() // 60)))
    edge = random.random()
    if edge < 0.04:
        month = (at.replace(day=1) + datetime.timedelta(days=32)).replace(day=1, hour=0, minute=0)
        at = month - minutes(1) if edge < 0.025 else month
    return at if first <= at < last else first


def vehicle_rows(random):
    for i in range(1, 71):
        energy = random.choices(["diesel", "petrol", "electric"], [6, 2, 2])[0]
        sold = datetime.date(2024, 3, 1) + datetime.timedelta(days=random.randrange(280)) if i % 9 == 0 else None
        yield (
            i,
            f"F-{100 + (i - 9 if i % 9 == 1 and i > 9 else i)}",
            random.choices([1, 2, 3, 4, 5], [5, 3, 3, 2, 2])[0],
            random.choices(["van", "truck", "car", "bus"], [6, 3, 3, 1])[0],
            energy,
            None if energy == "electric" else random.choice([50, 60, 80, 80, 120]),
            datetime.date(2018, 1, 1) + datetime.timedelta(days=random.randrange(2000)),
            None if random.random() < 0.25 else random.choice([18000, 24000, 24000, 31500, 46000, 78000]),
            sold,
        )


def trip_rows(random, fleet):
    for i in range(1, 2601):
        v = random.choice(fleet[:64])  # vehicles from 65 on are never used
        at = moment(random, last=datetime.datetime.combine(v[8], datetime.time()) if v[8] else END)
        running = at > datetime.datetime(2024, 12, 30) and random.random() < 0.6
        took = minutes(random.choice([12, 25, 40, 60, 60, 95, 180, 300]))
        yield (
            i,
            v[0],
            None if random.random() < 0.08 else random.choices(range(1, 41), [3] * 10 + [1] * 30)[0],
            random.choices(["delivery", "service", "private", "transfer"], [7, 3, 2, 1])[0],
            at,
            None if running else at + took,
            v[2] if random.random() < 0.85 else random.randrange(1, 6),
            v[2] if random.random() < 0.7 else random.randrange(1, 6),
            (
                None
                if running or random.random() < 0.05
                else int(took.total_seconds() * random.choice([5, 9, 12, 17, 22]))
            ),
        )


def device_rows(random, fleet):
    n = 0
    for v in fleet:
        for old in [True] * (random.random() < 0.3) + [False] * (random.random() < 0.93):
            n += 1
            change = datetime.date(2024, 1, 10) + datetime.timedelta(days=random.randrange(200))
            fitted = datetime.date(2023, 6, 1) if old or v[8] or random.random() < 0.6 else change
            yield (
                n,
                f"SN{4000 + 7 * n}",
                random.choices(["TX-1", "TX-2", "Puck"], [5, 4, 1])[0],
                v[0],
                fitted,
                min(change, v[8] or change) if old else v[8],
                random.choice([None, "1.9", "2.0", "2.0", "2.1"]),
            )
    for _ in range(6):
        n += 1
        yield n, f"SN{4000 + 7 * n}", "TX-2", None, None, None, "2.1"


def rows(random):
    for i, (name, region) in enumerate(DEPOTS, 1):
        yield "depots", (i, name, region)
    fleet = list(vehicle_rows(random))
    for v in fleet:
        yield "vehicles", v
    for i in range(1, 46):  # drivers from 41 on never drive
        yield "drivers", (
            i,
            random.choice(FIRST),
            random.choice(LAST),
            random.randrange(1, 6),
            random.randrange(1, 11) if i > 10 and random.random() < 0.6 else None,
            datetime.date(2016, 1, 1) + datetime.timedelta(days=random.randrange(2700)),
            datetime.date(2024, 9, 30) if i % 11 == 0 else None,
        )
    devices = list(device_rows(random, fleet))
    for d in devices:
        yield "devices", d
    trips = sorted(trip_rows(random, fleet), key=lambda t: t[4])
    trips = [(i, *t[1:]) for i, t in enumerate(trips, 1)]
    for t in trips:
        yield "trips", t
    for i in range(1, 6001):
        d = random.choice(devices[:-6])
        metric = random.choice(["speed", "coolant", "battery"])
        value = {
            "speed": random.choice([0, 0, 18, 34, 50, 50, 72, 88, 110, 131]),
            "coolant": random.choice([64, 78, 85, 88, 90, 90, 96, 104, 111]),
            "battery": random.choice([11.4, 11.9, 12.2, 12.4, 12.6, 12.6, 13.8]),
        }[metric]
        unit = {"speed": "km/h", "coolant": "F" if d[2] == "TX-2" else "C", "battery": "V"}[metric]
        if unit == "F":
            value = value * 9 / 5 + 32
        last = datetime.datetime.combine(d[5], datetime.time()) if d[5] else END
        yield "readings", (
            i,
            d[0],
            metric,
            moment(random, datetime.datetime.combine(max(d[4], START.date()), datetime.time()), last),
            None if random.random() < 0.03 else value,
            unit,
        )
    for i in range(1, 1301):
        v = random.choice([x for x in fleet[:64] if x[5]])
        ml = random.choice([12000, 20000, 31500, 40000, 40000, 48250, 54500, 62000, min(v[5] * 1000, 60000)])
        yield "refuels", (
            i,
            v[0],
            random.choice([None, *range(1, 41), *range(1, 11)]),
            moment(random, last=datetime.datetime.combine(v[8], datetime.time()) if v[8] else END),
            ml,
            ml * random.choice([164, 172, 179, 185]) // 1000,
            random.choices(BRANDS, [4, 3, 3, 1])[0],
            random.random() < 0.6,
        )
    for i in range(1, 421):
        v = random.choice(fleet[:68])
        planned = datetime.date(2023, 7, 1) + datetime.timedelta(days=random.randrange(560))
        state = random.choices(["done", "cancelled"], [8, 1])[0] if planned < datetime.date(2024, 12, 1) else "planned"
        begun = planned + datetime.timedelta(days=random.choice([-2, 0, 0, 0, 1, 3, 9])) if state == "done" else None
        if begun and begun > datetime.date(2024, 11, 25):
            state = "in_work"
        done = begun + datetime.timedelta(days=random.choice([0, 0, 1, 2, 5, 14])) if state == "done" else None
        estimate = None if random.random() < 0.3 else random.choice([9000, 15000, 24000, 24000, 60000, 180000])
        yield "jobs", (
            i,
            v[0],
            random.choices(["inspection", "repair", "tyres", "recall"], [5, 5, 3, 1])[0],
            state,
            planned,
            begun,
            done,
            estimate,
            (
                int((estimate or 20000) * random.choice([0.8, 1, 1, 1.15, 1.6]))
                if state == "done" and random.random() < 0.88
                else None
            ),
        )
    for i, name in enumerate(FENCES, 1):  # no vehicle was ever in the quarry
        kind = ["depot", "depot", "depot", "customer", "forbidden", "forbidden", "customer", "forbidden"][i - 1]
        yield "fences", (i, name, kind, i != 6)
    for i in range(1, 901):
        at, vehicle = moment(random), random.randrange(1, 61)
        if random.random() < 0.5:  # most vehicles leave a fence soon after a trip begins
            trip = random.choice(trips)
            at, vehicle = trip[4] - minutes(random.choice([2, 10])), trip[1]
        inside = at > datetime.datetime(2024, 12, 28) and random.random() < 0.5
        yield "fence_visits", (
            i,
            random.choices(range(1, 8), [5, 4, 3, 4, 1, 1, 3])[0],
            vehicle,
            at,
            None if inside else at + minutes(random.choice([5, 15, 30, 45, 120, 600])),
        )
    n = 0
    for t in trips:
        for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
            at = t[4] + minutes(random.choice([1, 4, 9, 11]))
            if (at.year, at.month) == (2024, 2):  # the alert server was down in February 2024
                continue
            n += 1
            acked = at + minutes(random.choice([3, 10, 45, 600, 3000])) if random.random() < 0.8 else None
            cleared = acked + minutes(random.choice([0, 20, 200])) if acked and random.random() < 0.85 else None
            kind = random.choices(["speeding", "braking", "low_fuel", "fence", "silent"], [5, 4, 2, 1, 1])[0]
            yield "alerts", (
                n,
                t[1],
                None if kind == "silent" else t[0],
                kind,
                random.choices([1, 2, 3], [5, 3, 1])[0],
                at,
                acked,
                cleared,
                (random.random() < 0.15) if acked else None,
            )
