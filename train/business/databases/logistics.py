"""A forwarding company: shipments with legs, scan events, pallets and damage claims. No key is declared."""

import datetime

SCHEMA = """
CREATE TABLE depot (
  depot_id INTEGER,
  code TEXT, -- unique
  city TEXT, -- a city can have several depots
  country TEXT, -- ISO code
  opened DATE,
  closed DATE -- NULL: in use
);
CREATE TABLE carrier (
  carrier_id INTEGER,
  name TEXT, -- not unique: a firm has one row for each mode
  mode TEXT, -- road, rail, air, sea
  limit_kg INTEGER, -- heaviest shipment that the contract allows; NULL: no limit
  active BOOLEAN
);
CREATE TABLE customer (
  customer_id INTEGER,
  name TEXT,
  country TEXT,
  segment TEXT -- retail, industry, pharma
);
CREATE TABLE shipment (
  shipment_id INTEGER,
  customer_id INTEGER,
  origin_depot INTEGER,
  destination_depot INTEGER,
  booked_at TIMESTAMP,
  promised_at TIMESTAMP,
  delivered_at TIMESTAMP, -- NULL: not delivered (yet)
  status TEXT, -- booked, in_transit, delivered, returned, cancelled
  weight_g INTEGER, -- net weight in grams
  price_cents INTEGER -- what the customer pays, euro cents
);
CREATE TABLE leg (
  leg_id INTEGER,
  shipment_id INTEGER,
  leg_no INTEGER, -- 1, 2, ... along the way
  carrier_id INTEGER,
  from_depot INTEGER,
  to_depot INTEGER,
  departed_at TIMESTAMP,
  arrived_at TIMESTAMP, -- NULL: on the way
  distance_km INTEGER,
  cost_cents INTEGER -- what we pay the carrier
);
CREATE TABLE event (
  event_id INTEGER,
  shipment_id INTEGER,
  depot_id INTEGER,
  kind TEXT, -- pickup, scan, customs_hold, customs_release, attempt (nobody at home), damage, delivery
  happened_at TIMESTAMP
);
CREATE TABLE pallet (
  pallet_id INTEGER,
  shipment_id INTEGER,
  gross_kg NUMERIC(8,1), -- with the pallet itself
  tare_kg NUMERIC(8,1) -- the empty pallet
);
CREATE TABLE claim (
  claim_id INTEGER,
  shipment_id INTEGER,
  opened_at TIMESTAMP,
  closed_at TIMESTAMP, -- NULL: open
  reason TEXT, -- wet, broken, lost, late
  claimed_eur NUMERIC(10,2),
  paid_eur NUMERIC(10,2) -- NULL: not decided; 0: rejected
);
"""

DEPOTS = [
    ("HAM", "Hamburg", "DE"),
    ("MUC", "Munich", "DE"),
    ("LYN", "Lyon", "FR"),
    ("LYS", "Lyon", "FR"),
    ("RTM", "Rotterdam", "NL"),
    ("VIE", "Vienna", "AT"),
    ("MIL", "Milan", "IT"),
    ("PRG", "Prague", "CZ"),
    ("ANR", "Antwerp", "BE"),
    ("BCN", "Barcelona", "ES"),
    ("WAW", "Warsaw", "PL"),
    ("GOT", "Gothenburg", "SE"),
]
CARRIERS = [
    ("Transalp", "road", 24000),
    ("Transalp", "rail", None),
    ("Nordfracht", "road", 18000),
    ("Kestrel Air", "air", 900),
    ("Baltic Line", "sea", None),
    ("Rhône Express", "road", 3500),
    ("Nordfracht", "sea", None),
    ("Czech Cargo", "rail", 9000),
    ("Old Wheels", "road", 5000),
]  # Old Wheels has no legs
NAMES = ["Adler", "Bertin", "Corvo", "Dahl", "Egger", "Falk", "Gaudi", "Holm"]
TRADES = ["Pharma", "Foods", "Tools", "Textiles", "Optics"]
SEGMENT = {"Pharma": "pharma", "Foods": "retail", "Textiles": "retail", "Tools": "industry", "Optics": "industry"}
END = datetime.datetime(2024, 12, 31, 23, 59)


def hours(random, low, high):
    return datetime.timedelta(minutes=30 * random.randrange(2 * low, 2 * high))


def booked(random):
    """A time of booking: none in February 2024, some in the last minute of a month."""
    while True:
        at = datetime.datetime(2023, 1, 1, 6) + datetime.timedelta(
            days=random.randrange(730), minutes=15 * random.randrange(60)
        )
        if random.random() < 0.06:
            at = (at.replace(day=1) + datetime.timedelta(days=32)).replace(
                day=1, hour=0, minute=0
            ) - datetime.timedelta(minutes=1)
        if (at.year, at.month) != (2024, 2) and at < END:
            return at


def rows(random):
    for i, (code, city, country) in enumerate(DEPOTS, 1):
        yield "depot", (
            i,
            code,
            city,
            country,
            datetime.date(2010 + i % 7, 1 + i % 12, 1),
            datetime.date(2024, 5, 31) if code == "LYS" else None,
        )
    for i, (name, mode, limit) in enumerate(CARRIERS, 1):
        yield "carrier", (i, name, mode, limit, name != "Old Wheels")
    for i in range(1, 71):
        trade = random.choice(TRADES)
        yield "customer", (
            i,
            f"{random.choice(NAMES)} {trade}",
            random.choice(["DE", "DE", "FR", "AT", "NL", "IT"]),
            SEGMENT[trade],
        )
    n = dict.fromkeys(["leg", "event", "pallet", "claim"], 0)

    def row(table, *values):
        n[table] += 1
        return table, (n[table], *values)

    for ship, at in enumerate(sorted(booked(random) for _ in range(900)), 1):
        way = random.sample(range(1, 12), random.choice([2, 2, 3, 3, 4]))  # Gothenburg has no shipments
        late = random.random() < 0.3
        promised = (at + datetime.timedelta(days=random.choice([3, 5, 7]))).replace(hour=18, minute=0)
        status = random.choices(["delivered", "returned", "cancelled"], [88, 5, 7])[0]
        weight = random.choice([1, 2, 5, 5, 12, 30, 80, 400, 1500]) * random.randrange(400, 1200)
        price = 900 + weight // 40 + 500 * random.randrange(1, 40)
        clock, legs, events = at + hours(random, 1, 20), [], []
        if status != "cancelled":
            events.append((way[0], "pickup", clock))
            for no, (a, b) in enumerate(zip(way, way[1:]), 1):
                arrived = clock + hours(random, 4, 70 if late else 24)
                km = 120 + 35 * abs(a - b) + random.randrange(100)
                if clock < END:
                    legs.append(
                        (
                            no,
                            random.choices(range(1, 9), [6, 4, 5, 2, 2, 4, 2, 3])[0],
                            a,
                            b,
                            clock,
                            arrived if arrived < END else None,
                            km,
                            300 + km * 4 + weight // 200,
                        )
                    )
                events.append((b, "scan", arrived))
                if random.random() < 0.1:
                    events.append((b, "customs_hold", arrived + hours(random, 1, 3)))
                if events[-1][1] == "customs_hold" and random.random() < 0.8:
                    events.append((b, "customs_release", events[-1][2] + hours(random, 2, 40)))
                if random.random() < 0.05:
                    events.append((b, "damage", arrived + hours(random, 1, 2)))
                clock = max(arrived, events[-1][2]) + hours(random, 1, 12)
            for _ in range(random.choice([0, 0, 0, 1, 2])):
                events.append((way[-1], "attempt", clock))
                clock += datetime.timedelta(days=1)
            if status == "delivered":
                events.append((way[-1], "delivery", clock))
        done = clock if status == "delivered" and clock < END else None
        if status == "delivered" and not done:
            status = "in_transit" if legs else "booked"
        yield "shipment", (
            ship,
            random.randrange(1, 65),
            way[0],
            way[-1],
            at,
            promised,
            done,
            status,
            weight,
            price,
        )  # customers from 65 on have no shipments
        for leg in legs:
            yield row("leg", ship, *leg)
        for depot, kind, when in events:
            if when < END:
                yield row("event", ship, depot, kind, when)
        for _ in range(random.choice([0, 1, 1, 2, 3]) if weight > 20000 else 0):
            yield row(
                "pallet", ship, round(weight / 2500 + random.choice([20, 22.5, 25]), 1), random.choice([20, 22.5, 25])
            )
        damaged = any(kind == "damage" for _, kind, _ in events)
        for _ in range(random.choice([0, 1, 1, 2]) if damaged else random.choice([0] * 12 + [1])):
            opened = clock + hours(random, 5, 300)
            if opened > END:
                continue
            closed = opened + hours(random, 48, 1500) if random.random() < 0.8 else None
            if closed and closed > END:
                closed = None
            claimed = random.choice([80, 120, 250, 250, 600, 1500])
            paid = random.choice([0, claimed, claimed / 2]) if closed else random.choice([None, None, None, claimed])
            yield row(
                "claim",
                ship,
                opened,
                closed,
                random.choice(["wet", "broken", "broken", "lost"] if damaged else ["late", "lost", "late"]),
                claimed,
                paid,
            )
