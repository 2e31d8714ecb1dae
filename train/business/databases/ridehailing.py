"""A ride-hailing service: riders, drivers, trips with their cancelled states, fares with surge, ratings, refunds,
payouts, promo codes and zones. About half of the foreign keys are declared. There were no trips in June 2024.
"""

import datetime

SCHEMA = """
CREATE TABLE Zone (
  ZoneID INTEGER PRIMARY KEY,
  ZoneName TEXT NOT NULL, -- not unique
  Kind TEXT NOT NULL, -- city, district or spot
  PartOf INTEGER -- the next larger zone; NULL: a city
);
CREATE TABLE Driver (
  DriverID INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  HomeZone INTEGER NOT NULL, -- a district
  VehicleClass TEXT NOT NULL, -- economy, comfort, van
  JoinedOn DATE NOT NULL,
  LeftOn DATE, -- NULL: still drives for us
  Blocked BOOLEAN NOT NULL -- may not take trips at present
);
CREATE TABLE Rider (
  RiderID INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  SignedUpAt TIMESTAMP NOT NULL,
  ReferredBy INTEGER, -- a rider; NULL: came alone
  Email TEXT -- NULL: not given
);
CREATE TABLE Promo (
  Code TEXT PRIMARY KEY,
  PercentOff INTEGER, -- NULL: a fixed amount
  CentsOff INTEGER, -- NULL: a percentage
  ValidFrom DATE NOT NULL,
  ValidTo DATE -- last day; NULL: without end
);
CREATE TABLE Trip (
  TripID INTEGER PRIMARY KEY,
  RiderID INTEGER NOT NULL REFERENCES Rider (RiderID),
  DriverID INTEGER REFERENCES Driver (DriverID), -- NULL: none found, or not yet when the rider cancelled
  PickupZone INTEGER NOT NULL REFERENCES Zone (ZoneID), -- a spot
  DropoffZone INTEGER NOT NULL, -- where the rider wants to go; a spot
  RequestedAt TIMESTAMP NOT NULL, -- times are UTC; days and months are UTC too unless city time (UTC+1) is asked
  AcceptedAt TIMESTAMP, -- NULL: no driver accepted
  PickedUpAt TIMESTAMP, -- NULL: never got in
  DroppedOffAt TIMESTAMP, -- NULL: never got in, or still on the way
  Status TEXT NOT NULL CHECK (Status IN ('completed', 'rider_cancelled', 'driver_cancelled', 'no_driver', 'running')),
  DistanceM INTEGER, -- metres driven; only for completed trips
  PromoCode TEXT REFERENCES Promo (Code) -- NULL: none used
);
CREATE TABLE Fare ( -- of completed trips, and fees of some cancelled by the rider
  TripID INTEGER PRIMARY KEY REFERENCES Trip (TripID),
  BaseCents INTEGER NOT NULL, -- before surge and discount
  SurgePct INTEGER NOT NULL, -- 100: no surge, 150: one and a half times
  DiscountCents INTEGER NOT NULL,
  TotalCents INTEGER NOT NULL, -- what the rider pays
  CommissionBp INTEGER NOT NULL -- our part of the total in hundredths of a percent; the rest is the driver's
);
CREATE TABLE Refund ( -- a trip may have several
  RefundID INTEGER PRIMARY KEY,
  TripID INTEGER NOT NULL,
  Cents INTEGER NOT NULL,
  GrantedAt TIMESTAMP NOT NULL,
  Reason TEXT -- NULL: not noted
);
CREATE TABLE Rating (
  TripID INTEGER NOT NULL REFERENCES Trip (TripID),
  ByWhom TEXT NOT NULL, -- rider: rates the driver, driver: rates the rider
  Stars INTEGER NOT NULL, -- 1 to 5
  GivenAt TIMESTAMP NOT NULL,
  Remark TEXT, -- NULL: none
  PRIMARY KEY (TripID, ByWhom)
);
CREATE TABLE OnlineSpell ( -- a driver is logged in
  SpellID INTEGER PRIMARY KEY,
  DriverID INTEGER NOT NULL REFERENCES Driver (DriverID),
  FromAt TIMESTAMP NOT NULL,
  ToAt TIMESTAMP -- NULL: still online
);
CREATE TABLE Payout (
  PayoutID INTEGER PRIMARY KEY,
  DriverID INTEGER NOT NULL,
  PeriodStart DATE NOT NULL, -- a Monday
  PeriodEnd DATE NOT NULL, -- the Sunday after
  AmountEur NUMERIC(9,2) NOT NULL, -- negative: the driver owes us
  Status TEXT NOT NULL, -- paid, pending, failed
  PaidOn DATE -- NULL: not paid
);
"""

D, T = datetime.date, datetime.timedelta
FIRST = ["Ada", "Bilal", "Cem", "Dora", "Elif", "Finn", "Gita", "Hugo", "Ines", "Jan", "Kira", "Leo"]
LAST = ["Aydin", "Brandt", "Costa", "Demir", "Eder", "Fischer", "Golan", "Haas", "Ivanov"]
CITIES = {"Hamburg": ["Altona", "Mitte", "Wandsbek"], "Leipzig": ["Mitte", "Plagwitz"], "Bremen": ["Neustadt"]}
SPOTS = ["Station", "Old Market", "Hospital", "Stadium"]
PROMOS = [
    ("HELLO10", 10, None, D(2023, 1, 1), None),
    ("SPRING5", None, 500, D(2024, 3, 1), D(2024, 5, 31)),
    ("FAIR15", 15, None, D(2024, 9, 1), D(2024, 9, 30)),
    ("ADVENT3", None, 300, D(2024, 12, 1), D(2024, 12, 24)),
    ("NIGHT20", 20, None, D(2024, 7, 1), None),
    ("OLDFRIEND", None, 1000, D(2022, 1, 1), D(2023, 12, 31)),
    ("VIP50", 50, None, D(2024, 1, 1), None),
]  # OLDFRIEND and VIP50 were never used
REMARKS = ["clean car", "late", "friendly", "rude", "wrong way", None, None, None, None]
REASONS = ["detour", "overcharged", "lost item", None]
START, END = D(2024, 1, 1), D(2025, 2, 28)


def zones():
    n = 0
    for city, districts in CITIES.items():
        n += 1
        top = n
        yield n, city, "city", None
        for district in districts:
            n += 1
            middle = n
            yield n, district, "district", top
            for k, spot in enumerate(SPOTS):
                if (n + k) % 5:  # not every district has every spot
                    n += 1
                    yield n, spot, "spot", middle


def promo_on(random, day):
    if D(2024, 9, 30) <= day <= D(2024, 10, 2) and random.random() < 0.4:
        return PROMOS[2]  # FAIR15 is sometimes accepted after its last day
    if random.random() > 0.16:
        return None
    fits = [p for p in PROMOS[:5] if p[3] <= day and (p[4] is None or day <= p[4])]
    return random.choice(fits)


def trip_rows(random, n, rider, driver, zone, when, promo):
    """(trip, fare or None) of one request."""
    pickup, dropoff = zone
    status = random.choices(["completed", "rider_cancelled", "driver_cancelled", "no_driver"], [76, 12, 6, 6])[0]
    accepted = picked = dropped = meters = fare = None
    if status == "no_driver":
        driver = None
    else:
        accepted = when + T(seconds=random.randrange(10, 240))
        if status == "rider_cancelled" and random.random() < 0.3:
            accepted, driver = None, None
    if status == "completed":
        picked = accepted + T(seconds=random.randrange(60, 1200))
        meters = random.choice([900, 1500, 2400, 3800, 5200, 8000, 12500, 21000]) + random.randrange(0, 400)
        dropped = picked + T(seconds=meters // 7 + random.randrange(0, 600))
        base = 250 + meters * 14 // 100
        late = when.hour in (16, 17, 22, 23, 0) or when.weekday() >= 5
        surge = random.choice([100, 120, 150, 150, 200]) if late else random.choice([100, 100, 100, 100, 120])
        gross = base * surge // 100
        off = 0
        if promo:
            off = min(gross, promo[2] if promo[2] else gross * promo[1] // 100)
        fare = (n, base, surge, off, gross - off, random.choice([1800, 2000, 2000, 2250]))
    elif status == "rider_cancelled" and driver and random.random() < 0.6:
        fare = (n, 400, 100, 0, 400, 2000)
    trip = (
        n,
        rider,
        driver,
        pickup,
        dropoff,
        when,
        accepted,
        picked,
        dropped,
        status,
        meters,
        promo[0] if promo else None,
    )
    return trip, fare


def rows(random):
    places = list(zones())
    for z in places:
        yield "Zone", z
    spots = [z[0] for z in places if z[2] == "spot"]
    districts = [z[0] for z in places if z[2] == "district"]
    city_of = {z[0]: z[3] for z in places if z[2] == "district"}
    spot_city = {z[0]: city_of[z[3]] for z in places if z[2] == "spot"}
    drivers = []
    for i in range(1, 71):
        joined = D(2022, 1, 1) + T(random.randrange(1080))
        left = joined + T(random.randrange(200, 700)) if random.random() < 0.25 else None
        if left and left > END:
            left = None
        d = (
            i,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            districts[i % len(districts)],
            random.choice(["economy", "economy", "economy", "comfort", "van"]),
            joined,
            left,
            i % 13 == 0,
        )
        drivers.append(d)
        yield "Driver", d
    riders = 320
    signed = {}
    for i in range(1, riders + 1):
        at = datetime.datetime(2023, 6, 1) + T(minutes=random.randrange(60 * 24 * 620))
        if i % 40 == 0:
            at = datetime.datetime(2024, 1 + i // 40, 1) - T(seconds=20)  # the last minute of a month
        signed[i] = at
        earlier = [k for k in range(1, i) if signed[k] < at]
        ref = random.choice(earlier) if earlier and random.random() < 0.3 else None
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        mail = None if random.random() < 0.15 else f"{name.lower().replace(' ', '.')}{i}@mail.example"
        yield "Rider", (i, name, at, ref, mail)
    for p in PROMOS:
        yield "Promo", p
    n = n_refund = 0
    day = START
    while day <= END:
        if (day.year, day.month) != (2024, 6):
            for _ in range(random.choice([4, 5, 6, 7, 8, 9]) + 4 * (day.weekday() >= 5)):
                when = datetime.datetime.combine(
                    day,
                    datetime.time(
                        random.choice([0, 5, 7, 7, 8, 8, 9, 11, 13, 16, 16, 17, 17, 19, 21, 22, 22, 23]),
                        random.randrange(60),
                        random.randrange(60),
                    ),
                )
                if (day + T(1)).day == 1 and random.random() < 0.5:
                    when = when.replace(hour=23, minute=59)
                rider = min(int(random.expovariate(1 / 90)) + 1, riders - 25)
                if signed[rider] > when:
                    continue
                pickup = random.choice(spots)
                same = [s for s in spots if spot_city[s] == spot_city[pickup]]
                dropoff = random.choice(same)
                team = [
                    d
                    for d in drivers
                    if city_of[d[2]] == spot_city[pickup] and d[4] <= day and (d[5] is None or day <= d[5]) and not d[6]
                ]
                driver = random.choice(team)[0] if team else None
                if driver in (14, 29):
                    driver = None
                n += 1
                trip, fare = trip_rows(random, n, rider, driver, (pickup, dropoff), when, promo_on(random, day))
                if driver is None and trip[9] != "no_driver":
                    trip = (*trip[:6], None, None, None, "no_driver", None, trip[11])
                    fare = None
                if day == END and trip[9] == "completed":
                    trip = (*trip[:8], None, "running", None, trip[11])
                    fare = None
                yield "Trip", trip
                if fare:
                    yield "Fare", fare
                if trip[9] == "completed":
                    end = trip[8]
                    for who, chance in (("rider", 0.6), ("driver", 0.4)):
                        if random.random() < chance:
                            stars = random.choices([1, 2, 3, 4, 5], [1, 1, 2, 5, 12])[0]
                            yield "Rating", (
                                n,
                                who,
                                stars,
                                end + T(minutes=random.choice([1, 2, 5, 30, 600, 2000])),
                                random.choice(REMARKS),
                            )
                    for _ in range(random.choices([0, 1, 2], [93, 5, 2])[0]):
                        n_refund += 1
                        yield "Refund", (
                            n_refund,
                            n,
                            min(fare[4], random.choice([200, 300, 500, 1000])) or 100,
                            end + T(hours=random.randrange(2, 400)),
                            random.choice(REASONS),
                        )
        day += T(1)
    n = 0
    for d in drivers:
        if d[0] in (14, 29) or d[6]:
            continue
        day = max(START, d[4])
        while day <= min(END, d[5] or END):
            n += 1
            start = datetime.datetime.combine(
                day, datetime.time(random.choice([5, 7, 15, 16, 20]), random.choice([0, 15, 40]))
            )
            end = start + T(minutes=random.choice([120, 240, 300, 420, 510]))
            yield "OnlineSpell", (n, d[0], start, None if day > END - T(2) and random.random() < 0.5 else end)
            day += T(random.choice([4, 7, 9, 14]))
    n = 0
    for d in drivers:
        monday = D(2024, 1, 1)
        while monday <= D(2025, 2, 17):
            last = monday + T(6)
            if d[4] <= monday and (d[5] is None or last <= d[5]) and random.random() < 0.35:
                n += 1
                status = random.choices(["paid", "pending", "failed"], [90, 4, 6])[0]
                if monday >= D(2025, 2, 10):
                    status = "pending"
                amount = round(random.choice([35, 60, 90, 140, 210]) * random.uniform(0.8, 1.2), 2)
                if random.random() < 0.03:
                    amount = -round(amount / 4, 2)
                yield "Payout", (
                    n,
                    d[0],
                    monday,
                    last,
                    amount,
                    status,
                    last + T(random.choice([1, 2, 2, 3, 8, 16])) if status == "paid" else None,
                )
            monday += T(7)
