"""A city hotel: rooms, rates with validity, bookings, the nights sold, cancellations, extras. No key is declared."""

import datetime

SCHEMA = """
CREATE TABLE room_type (
  code TEXT, -- STD, SUP, FAM, STE, ACC
  label TEXT,
  max_guests INTEGER
);
CREATE TABLE room (
  room_no INTEGER, -- the first digit is the floor
  type_code TEXT,
  sea_view BOOLEAN,
  retired_on DATE -- NULL: in use
);
CREATE TABLE rate (
  rate_id INTEGER,
  type_code TEXT,
  valid_from DATE,
  valid_to DATE, -- last day; NULL: until further notice
  price NUMERIC(8,2) -- list price, euros a night
);
CREATE TABLE guest (
  guest_id INTEGER,
  first_name TEXT,
  last_name TEXT,
  country TEXT, -- ISO code; NULL: unknown
  born_on DATE,
  newsletter BOOLEAN
);
CREATE TABLE booking (
  booking_id INTEGER,
  guest_id INTEGER, -- who stays
  payer_id INTEGER, -- the guest who pays; often the same
  booked_on DATE,
  arrival DATE,
  departure DATE, -- the morning of leaving: not a night
  guests INTEGER,
  channel TEXT, -- web, phone, agency, walk_in
  status TEXT -- stayed, cancelled, no_show
);
CREATE TABLE night (
  booking_id INTEGER,
  room_no INTEGER,
  night_of DATE,
  price NUMERIC(8,2) -- euros charged
);
CREATE TABLE cancellation (
  booking_id INTEGER,
  cancelled_on DATE,
  reason TEXT, -- NULL: not told
  charge NUMERIC(8,2) -- euros kept by the hotel
);
CREATE TABLE extra (
  extra_id INTEGER,
  booking_id INTEGER,
  served_on DATE, -- NULL: not noted
  item TEXT, -- breakfast, minibar, parking, spa, late_checkout
  quantity INTEGER,
  unit_price NUMERIC(6,2) -- euros
);
"""

TYPES = [
    ("STD", "Standard", 2, 90),
    ("SUP", "Superior", 2, 130),
    ("FAM", "Family", 5, 160),
    ("STE", "Suite", 4, 280),
    ("ACC", "Accessible", 2, 90),
]
ITEMS = {"breakfast": 18.5, "minibar": 6.0, "parking": 22.0, "spa": 45.0, "late_checkout": 30.0}
FIRST = ["Anna", "Ben", "Clara", "David", "Eva", "Filip", "Greta", "Hugo", "Ines", "Jan"]
LAST = ["Berger", "Costa", "Dubois", "Ferrari", "Jansen", "Keller", "Lindqvist", "Moreau", "Novak", "Smith"]
COUNTRIES = ["AT", "DE", "DE", "DE", "FR", "IT", "NL", "SE", "GB", None]
RATES = [
    ("2023-01-01", "2023-04-30", 1.0),
    ("2023-05-01", "2023-09-30", 1.25),
    ("2023-10-01", "2023-12-31", 1.05),
    ("2024-01-01", "2024-05-31", 1.1),
    ("2024-06-01", "2024-09-30", 1.4),
    ("2024-10-01", None, 1.15),
]
DAY = datetime.timedelta(days=1)


def rooms():
    """(number, type, sea view, retired) of 36 rooms; nobody ever gets 499."""
    for floor in range(1, 5):
        for i in range(1, 9):
            kind = {1: "ACC" if floor == 1 else "STE", 2: "FAM", 3: "SUP", 4: "SUP"}.get(i, "STD")
            yield floor * 100 + i, kind, i % 2 == 0 and floor > 1, "2024-03-31" if floor * 100 + i == 208 else None
    yield 499, "STE", True, None


def list_price(kind, day):
    base = next(t[3] for t in TYPES if t[0] == kind)
    return next(
        base * factor
        for begin, end, factor in RATES
        if begin <= day.isoformat() and (end is None or day.isoformat() <= end)
    )


def arrival_of(random):
    """None is in January 2024, when the hotel is closed."""
    day = datetime.date(2023, 1, 2) + DAY * random.randrange(720)
    if random.random() < 0.05:
        day = day.replace(day=1) - DAY
    return day + 50 * DAY if datetime.date(2023, 12, 15) <= day <= datetime.date(2024, 1, 31) else day


def rows(random):
    for code, label, most, _ in TYPES:
        yield "room_type", (code, label, most)
    yield "room_type", ("PEN", "Penthouse", 6)  # this type has no rooms yet
    all_rooms = list(rooms())
    for room in all_rooms:
        yield "room", room
    for i, (kind, (begin, end, factor)) in enumerate(((t, r) for t in TYPES for r in RATES), 1):
        if (kind[0], begin) != ("ACC", "2023-10-01"):
            yield "rate", (i, kind[0], begin, end, round(kind[3] * factor, 2))  # a gap in the validity of rates
    for i in range(1, 701):
        born = datetime.date(1940, 1, 1) + DAY * random.randrange(23000) if random.random() < 0.85 else None
        yield "guest", (
            i,
            random.choice(FIRST),
            random.choice(LAST),
            random.choice(COUNTRIES),
            born,
            random.random() < 0.3,
        )
    taken, extras = set(), 0
    for booking, arrival in enumerate(sorted(arrival_of(random) for _ in range(1500)), 1):
        guest = random.randrange(1, 641)  # the last sixty guests never came
        payer = random.randrange(1, 641) if random.random() < 0.12 else guest
        length = random.choices([1, 2, 3, 4, 7, 14], [6, 8, 6, 3, 2, 1])[0]
        channel = random.choices(["web", "phone", "agency", "walk_in"], [6, 2, 3, 1])[0]
        booked = arrival if channel == "walk_in" else arrival - DAY * random.choice([0, 1, 3, 7, 14, 30, 30, 60, 120])
        nights = [arrival + DAY * i for i in range(length)]
        free = [
            r for r in all_rooms[:-1] if not any((r[0], n) in taken or r[3] and n.isoformat() > r[3] for n in nights)
        ]
        status = random.choices(["stayed", "cancelled", "no_show"], [83, 14, 3 if channel != "walk_in" else 0])[0]
        if not free:
            status = "cancelled"
        yield "booking", (
            booking,
            guest,
            payer,
            booked,
            arrival,
            arrival + DAY * length,
            random.choice([1, 1, 2, 2, 2, 3]),
            channel,
            status,
        )
        if status == "cancelled":
            early = random.randrange((arrival - booked).days + 1)
            yield "cancellation", (
                booking,
                arrival - DAY * early,
                random.choice(["illness", "plans_changed", "plans_changed", "price", None]),
                random.choice([0, 45, 90]) if early < 7 else 0,
            )
        if status != "stayed":
            continue
        room = random.choice(free)
        for n in nights:
            taken.add((room[0], n))
            yield "night", (
                booking,
                room[0],
                n,
                round(list_price(room[1], n) * (0.9 if random.random() < 0.08 else 1), 2),
            )
        for n in nights:
            if random.random() > 0.35:
                continue
            for item in random.sample(list(ITEMS), random.choice([1, 1, 2])):
                extras += 1
                yield "extra", (
                    extras,
                    booking,
                    n,
                    item,
                    random.choice([1, 1, 2, 2, 4]),
                    ITEMS[item] + (2 if n.year == 2024 and item != "minibar" else 0),
                )
    for booking in range(1, 1500, 190):  # given away on an unrecorded day
        yield "extra", (9000 + booking, booking, None, "parking", 1, 0)
