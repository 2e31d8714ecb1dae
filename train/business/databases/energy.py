"""An energy supplier: meters with counter readings, contracts, tariffs with dated prices, bills. No keys are declared.

A contract has a holder, and a payer that can be another customer, such as a landlord.
"""

import datetime

SCHEMA = """
CREATE TABLE customer (
  customer_id INTEGER,
  name TEXT,
  segment TEXT, -- home, trade, industry
  city TEXT, -- NULL: unknown
  is_test INTEGER, -- 1: made by the developers
  joined_on DATE,
  closed_on DATE -- NULL: still a customer
);
CREATE TABLE meter (
  meter_id INTEGER,
  serial_no TEXT,
  medium TEXT, -- electricity, gas, heat
  city TEXT,
  installed_on DATE,
  removed_on DATE -- NULL: still in the wall
);
CREATE TABLE tariff (
  tariff_id INTEGER,
  code TEXT,
  name TEXT, -- not unique: an old and a new tariff can have one name
  medium TEXT,
  is_green INTEGER
);
CREATE TABLE tariff_price (
  tariff_id INTEGER,
  valid_from DATE, -- first day
  valid_to DATE, -- last day; NULL: in force
  cent_per_kwh NUMERIC(6,2),
  base_cents INTEGER -- a month
);
CREATE TABLE contract (
  contract_id INTEGER,
  holder_id INTEGER, -- the customer who uses the energy
  payer_id INTEGER, -- the customer who pays the bills
  meter_id INTEGER,
  tariff_id INTEGER,
  start_on DATE,
  end_on DATE, -- last day of supply; NULL: runs
  est_kwh_year INTEGER -- what the customer expected at signing; NULL: not asked
);
CREATE TABLE reading (
  reading_id INTEGER,
  meter_id INTEGER,
  read_at TIMESTAMP,
  counter_kwh INTEGER, -- stand of the counter, not the consumption
  source TEXT, -- remote, customer, technician, estimate
  is_void INTEGER -- 1: withdrawn, does not count
);
CREATE TABLE bill (
  bill_id INTEGER,
  contract_id INTEGER,
  period_from DATE,
  period_to DATE, -- last day billed
  kwh INTEGER,
  amount_cents INTEGER,
  issued_at TIMESTAMP,
  due_on DATE,
  status TEXT -- open, paid, reminded, cancelled
);
CREATE TABLE payment (
  payment_id INTEGER,
  bill_id INTEGER,
  received_at TIMESTAMP,
  amount_cents INTEGER, -- below 0: money sent back
  method TEXT -- debit, transfer, card
);
CREATE TABLE complaint (
  complaint_id INTEGER,
  customer_id INTEGER,
  bill_id INTEGER, -- NULL: not about a bill
  opened_at TIMESTAMP,
  closed_at TIMESTAMP, -- NULL: not solved yet
  topic TEXT -- reading, price, move, outage
);
"""

NAMES = [
    "Baker",
    "Lindt",
    "Moreau",
    "Haas",
    "Okafor",
    "Svensson",
    "Keller",
    "Rossi",
    "Novak",
    "Dubois",
    "Weiss",
    "Brandt",
]
TRADES = ["Bakery", "Garage", "Print", "Dental", "Metal", "Farm", "Hotel"]
CITIES = ["Linden", "Marburg", "Seeham", "Linden", "Altdorf"]
TARIFFS = [
    ("EL1", "Basic Power", "electricity", 0),
    ("EL2", "Green Power", "electricity", 1),
    ("EL0", "Basic Power", "electricity", 0),
    ("GA1", "Basic Gas", "gas", 0),
    ("GA2", "Bio Gas", "gas", 1),
    ("HE1", "District Heat", "heat", 0),
    ("EL9", "Night Power", "electricity", 0),
]
PRICES = {1: 31.9, 2: 34.5, 3: 29.0, 4: 9.8, 5: 12.4, 6: 11.2, 7: 26.0}  # no contract has tariff 7
LAST = datetime.date(2024, 12, 31)


def next_month(day):
    return (day.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)


def prices():
    """Rows of tariff_price; tariff 3 ended, tariff 6 has a gap."""
    for tariff, price in PRICES.items():
        steps = [(2022, 1, 1.0), (2023, 1, 1.25), (2023, 7, 1.1), (2024, 4, 1.05)][: 2 if tariff == 3 else 4]
        for i, (year, month, factor) in enumerate(steps):
            end = datetime.date(*steps[i + 1][:2], 1) - datetime.timedelta(days=1) if i + 1 < len(steps) else None
            if tariff == 3 and end is None:
                end = datetime.date(2023, 12, 31)
            if tariff == 6 and (year, month) == (2023, 1):
                end = datetime.date(2023, 5, 31)
            yield tariff, datetime.date(year, month, 1), end, round(price * factor, 2), 690 if tariff < 4 else 890


def price_at(table, tariff, day):
    return [row for row in table if row[0] == tariff and row[1] <= day][-1]


def readings(random, first, last, use):
    """(time, counter, source, void) once a month; a removed meter stops, one may start anew at 0."""
    day, counter = first, random.randrange(0, 20_000)
    while day <= last:
        moment = (23, 59) if random.random() < 0.1 else (random.randrange(6, 20), random.choice([0, 15, 30]))
        at = datetime.datetime.combine(
            next_month(day) - datetime.timedelta(days=1) if moment[0] == 23 else day, datetime.time(*moment)
        )
        if random.random() > 0.07:
            source = random.choices(["remote", "customer", "technician", "estimate"], [10, 4, 1, 2])[0]
            if random.random() < 0.03:
                yield at, counter * 10, source, 1
            yield at, counter, source, 0
        winter = 1.5 if day.month in (11, 12, 1, 2) else 0.8
        counter += round(use / 12 * winter * random.uniform(0.8, 1.2))
        day = next_month(day)


def bills(random, table, contract, tariff, start, last, use):
    """Rows of bill without id, one for each quarter."""
    begin = start
    while begin <= last:
        end = begin
        for _ in range(3):
            end = next_month(end)
        end = min(end - datetime.timedelta(days=1), last)
        days = (end - begin).days + 1
        kwh = round(use * days / 365 * random.uniform(0.8, 1.25))
        row = price_at(table, tariff, begin)
        issued = datetime.datetime.combine(
            end + datetime.timedelta(days=random.choice([0, 0, 3, 8])), datetime.time(random.choice([7, 12, 23]), 59)
        )
        if (issued.year, issued.month) == (2024, 2):
            issued = issued.replace(month=3)  # the printer was broken
        state = random.choices(["paid", "open", "reminded", "cancelled"], [14, 2, 2, 1])[0]
        yield (
            contract,
            begin,
            end,
            kwh,
            round(kwh * row[3]) + row[4] * round(days / 30.4),
            issued,
            issued.date() + datetime.timedelta(days=14),
            state,
        )
        begin = end + datetime.timedelta(days=1)


def payments(random, bill, amount, issued, state):
    parts = {
        "paid": random.choice([1, 1, 1, 2]),
        "reminded": random.choice([0, 0, 1]),
        "open": 0,
        "cancelled": random.choice([0, 0, 1]),
    }[state]
    method = random.choice(["debit", "debit", "transfer", "card"])
    for part in range(parts):
        paid = amount // 2 if part < parts - 1 or state == "reminded" else amount - amount // 2 * (parts - 1)
        at = issued + datetime.timedelta(days=random.choice([1, 9, 13, 16, 30]) + 10 * part)
        yield bill, at, paid, method
        if random.random() < (0.8 if state == "cancelled" else 0.02):
            yield bill, at + datetime.timedelta(days=20), -paid, "transfer"


def rows(random):
    for i, row in enumerate(TARIFFS, 1):
        yield "tariff", (i, *row)
    table = list(prices())
    for row in table:
        yield "tariff_price", row
    segments = random.choices(["home", "trade", "industry"], [7, 3, 1], k=160)
    for i, segment in enumerate(segments, 1):
        name = random.choice(NAMES) if segment == "home" else f"{random.choice(NAMES)} {random.choice(TRADES)}"
        joined = datetime.date(2021, 1, 1) + datetime.timedelta(days=random.randrange(1200))
        gone = joined + datetime.timedelta(days=random.randrange(200, 900)) if i % 13 == 0 else None
        yield "customer", (
            i,
            name,
            segment,
            random.choice(CITIES + [None]),
            int(i in (33, 77, 120)),
            joined,
            gone if gone and gone <= LAST else None,
        )
    n = dict.fromkeys(["contract", "reading", "bill", "payment", "complaint"], 0)

    def numbered(name, values):
        n[name] += 1
        return name, (n[name], *values)

    for m in range(1, 191):
        tariffs = random.choice([[1, 2, 3, 1], [1, 2, 2, 3], [4, 5], [6]])
        medium = TARIFFS[tariffs[0] - 1][2]
        first = datetime.date(2022, random.randrange(1, 13), 1)
        removed = datetime.date(2024, random.randrange(1, 9), 15) if m % 17 == 0 else None
        yield "meter", (m, f"{medium[:1].upper()}-{40000 + m * 7}", medium, random.choice(CITIES), first, removed)
        use = random.choice([1800, 2500, 3500, 12000, 15000, 40000])
        if m % 19 == 4:
            continue  # no readings and no contract
        last = removed or LAST
        for row in readings(random, first, last, use):
            yield numbered("reading", (m, *row))
        start = first
        while start <= last:
            holder = random.randrange(1, 140)  # the other customers have no contract
            payer = random.randrange(1, 140) if random.random() < 0.15 else holder
            tariff = random.choice(tariffs)
            long = random.choice([200, 400, 600, 2000])
            end = min(start + datetime.timedelta(days=long), last)
            if tariff == 3:
                end = min(end, max(datetime.date(2023, 12, 31), start + datetime.timedelta(days=30)))
            open_end = end == LAST
            expected = None if random.random() < 0.2 else round(use * random.uniform(0.7, 1.3), -2)
            yield numbered(
                "contract", (holder, payer, m, tariff, start, None if open_end else end, expected and int(expected))
            )
            billed = (
                bills(random, table, n["contract"], tariff, start, end, use) if n["contract"] % 27 else []
            )  # a few contracts have no bill
            for row in billed:
                yield numbered("bill", row)
                for paid in payments(random, n["bill"], row[4], row[5], row[7]):
                    yield numbered("payment", paid)
                if random.random() < 0.06:
                    opened = row[5] + datetime.timedelta(days=random.randrange(0, 20))
                    closed = (
                        opened + datetime.timedelta(hours=random.randrange(2, 700)) if random.random() < 0.75 else None
                    )
                    yield numbered(
                        "complaint",
                        (
                            holder if random.random() < 0.8 else payer,
                            n["bill"],
                            opened,
                            closed,
                            random.choice(["reading", "price", "price"]),
                        ),
                    )
            if random.random() < 0.04:
                opened = datetime.datetime.combine(start, datetime.time(10, 30))
                yield numbered("complaint", (holder, None, opened, None, random.choice(["move", "outage"])))
            start = end + datetime.timedelta(days=random.choice([1, 1, 1, 40]))
