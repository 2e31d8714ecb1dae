"""Airline operations: flights with planned and actual times, airports in two roles, aircraft, delays, bookings and
tickets. No key is declared.
"""

import datetime

SCHEMA = """
CREATE TABLE apt (
  apt_cd TEXT NOT NULL, -- IATA code
  nm TEXT NOT NULL,
  cty TEXT NOT NULL, -- city
  ctry TEXT NOT NULL,
  tz_off INTEGER NOT NULL -- hours from UTC
);
CREATE TABLE acft (
  acft_id INTEGER NOT NULL,
  reg TEXT NOT NULL,
  typ TEXT NOT NULL,
  seats INTEGER NOT NULL,
  in_svc DATE NOT NULL,
  out_svc DATE -- NULL: still in service
);
CREATE TABLE flt (
  flt_id INTEGER NOT NULL,
  flt_no TEXT NOT NULL, -- the same every day
  dep_apt TEXT NOT NULL,
  arr_apt TEXT NOT NULL,
  acft_id INTEGER, -- NULL: not assigned
  std TIMESTAMP NOT NULL, -- scheduled departure, all times UTC
  sta TIMESTAMP NOT NULL, -- scheduled arrival
  atd TIMESTAMP, -- actual departure
  ata TIMESTAMP, -- actual arrival; NULL with atd set: diverted
  st TEXT NOT NULL -- ARR arrived, DIV diverted, CNX cancelled
);
CREATE TABLE dly_cd (
  cd TEXT NOT NULL,
  descr TEXT NOT NULL,
  resp TEXT NOT NULL -- AL airline, AP airport, WX weather, AT air traffic
);
CREATE TABLE dly (
  flt_id INTEGER NOT NULL,
  seq INTEGER NOT NULL, -- 1 is the main reason
  cd TEXT NOT NULL,
  mins INTEGER NOT NULL
);
CREATE TABLE bkg (
  bkg_id INTEGER NOT NULL,
  pnr TEXT NOT NULL,
  bkd_at TIMESTAMP NOT NULL,
  chnl TEXT NOT NULL, -- WEB, APP, AGT (travel agent), CALL
  cust_nm TEXT NOT NULL, -- who booked
  cnx_at TIMESTAMP -- NULL: not cancelled
);
CREATE TABLE tkt (
  tkt_id INTEGER NOT NULL,
  bkg_id INTEGER NOT NULL,
  pax_nm TEXT NOT NULL,
  cls TEXT NOT NULL, -- Y economy, J business
  fare_ct INTEGER NOT NULL -- cents, whole journey
);
CREATE TABLE leg (
  tkt_id INTEGER NOT NULL,
  leg_no INTEGER NOT NULL,
  flt_id INTEGER NOT NULL,
  st TEXT NOT NULL, -- F flown, N no show, O open (not flown yet or cancelled)
  bags INTEGER NOT NULL
);
"""

APTS = [
    ("VIE", "Schwechat", "Vienna", "AT", 1),
    ("LHR", "Heathrow", "London", "GB", 0),
    ("LGW", "Gatwick", "London", "GB", 0),
    ("CDG", "Charles de Gaulle", "Paris", "FR", 1),
    ("MAD", "Barajas", "Madrid", "ES", 1),
    ("ATH", "Venizelos", "Athens", "GR", 2),
    ("GRZ", "Thalerhof", "Graz", "AT", 1),
    ("OSL", "Gardermoen", "Oslo", "NO", 1),
    ("BCN", "El Prat", "Barcelona", "ES", 1),
]  # no flight goes to BCN
ACFT = [
    ("OE-LAA", "A320", 174, "2016-04-01", None),
    ("OE-LAB", "A320", 174, "2017-02-15", None),
    ("OE-LAC", "A320", 180, "2019-05-01", None),
    ("OE-LBA", "A321", 200, "2018-03-10", None),
    ("OE-LBB", "A321", 200, "2020-10-01", None),
    ("OE-LGA", "DH4", 76, "2010-06-01", "2024-03-31"),
    ("OE-LGB", "DH4", 76, "2011-06-01", None),
    ("OE-LXX", "E195", 120, "2024-11-01", None),
]
ROUTES = [
    ("XA101", "VIE", "LHR", 6, 140),
    ("XA102", "LHR", "VIE", 10, 135),
    ("XA201", "VIE", "CDG", 7, 120),
    ("XA202", "CDG", "VIE", 11, 115),
    ("XA301", "VIE", "GRZ", 21, 35),
    ("XA302", "GRZ", "VIE", 5, 35),
    ("XA401", "VIE", "ATH", 23, 130),
    ("XA402", "ATH", "VIE", 4, 135),
    ("XA501", "VIE", "MAD", 12, 175),
    ("XA502", "MAD", "VIE", 17, 170),
    ("XA601", "VIE", "OSL", 15, 145),
    ("XA110", "LGW", "VIE", 13, 130),
]
CODES = [
    ("11", "late check-in", "AL"),
    ("32", "loading", "AL"),
    ("41", "aircraft defect", "AL"),
    ("71", "weather at departure", "WX"),
    ("72", "weather at destination", "WX"),
    ("81", "air traffic control", "AT"),
    ("87", "airport facilities", "AP"),
    ("93", "late inbound aircraft", "AL"),
    ("96", "crew shortage", "AL"),
]  # code 96 is never used
NAMES = [
    f"{a}. {b}"
    for a in "ABCDEGHJKLMNPRST"
    for b in ("Gruber", "Lee", "Novak", "Rossi", "Dubois", "Hansen", "Moser", "Brown", "Papas", "Vega", "Ito", "Okoro")
] + ["J. Smith"] * 9
GUESTS = ["C. Stone", "F. Kern", "U. Wolf", "W. Yates"]  # guests, who never book themselves


def flights(random):
    """(route, aircraft, times, state) of a winter and a spring; Oslo is not served in February."""
    for day in range(0, 152):
        date = datetime.datetime(2023, 12, 1) + datetime.timedelta(days=day)
        for number, dep, arr, hour, minutes in ROUTES:
            if random.random() < 0.5 or number == "XA601" and date.month == 2:
                continue
            std = date + datetime.timedelta(hours=hour, minutes=random.choice([0, 0, 30, 55]))
            sta = std + datetime.timedelta(minutes=minutes)
            plane = random.choice([6, 7, 7]) if "GRZ" in (dep, arr) else random.randrange(1, 6)
            if plane == 6 and date > datetime.datetime(2024, 3, 31):
                plane = 7
            state = random.choices(["ARR", "DIV", "CNX"], [60, 1, 3])[0]
            late = random.choices([-3, 0, 4, 12, 15, 16, 35, 80], [2, 5, 4, 2, 2, 2, 2, 1])[0]
            atd = None if state == "CNX" else std + datetime.timedelta(minutes=late)
            ata = (
                None
                if state != "ARR"
                else sta + datetime.timedelta(minutes=late + random.choice([-12, -5, 0, 0, 3, 9]))
            )
            yield number, dep, arr, (
                None if state == "CNX" and random.random() < 0.6 else plane
            ), std, sta, atd, ata, state


def rows(random):
    for a in APTS:
        yield "apt", a
    for i, a in enumerate(ACFT, 1):
        yield "acft", (i, *a)
    for c in CODES:
        yield "dly_cd", c
    by_dep, states = {}, {}
    for i, f in enumerate(flights(random), 1):
        yield "flt", (i, *f)
        by_dep.setdefault(f[1], []).append((i, f))
        states[i] = f[8]
        late = (f[6] - f[4]).seconds // 60 if f[6] and f[6] > f[4] else 0
        parts = [] if late < 12 else [late] if random.random() < 0.65 else [late - late // 3, late // 3]
        for seq, mins in enumerate(parts, 1):
            yield "dly", (i, seq, random.choice(CODES[:-1])[0], mins)
    ticket = 0
    for booking in range(1, 1601):
        first = random.choice(
            by_dep[random.choice(["VIE", "VIE", "VIE", "LHR", "GRZ", "GRZ", "MAD", "CDG", "ATH", "LGW"])]
        )
        journey = [first]
        if first[1][2] == "VIE" and random.random() < 0.5:  # changes in Vienna
            later = [
                x
                for x in by_dep["VIE"]
                if datetime.timedelta(hours=1) < x[1][4] - first[1][5] < datetime.timedelta(hours=20)
                and x[1][2] != first[1][1]
            ]
            if later:
                journey.append(random.choice(later))
        booked = first[1][4] - datetime.timedelta(
            days=random.choice([1, 2, 5, 14, 30, 60]), minutes=random.randrange(900)
        )
        gone = random.random() < 0.08
        owner = random.choice(NAMES)
        yield "bkg", (
            booking,
            f"{chr(65 + booking % 26)}{booking * 7919 % 99991:05d}",
            booked,
            random.choices(["WEB", "APP", "AGT", "CALL"], [8, 5, 4, 1])[0],
            owner,
            booked + datetime.timedelta(hours=random.randrange(1, 23)) if gone else None,
        )
        group, cls = random.choice([1, 1, 1, 2, 2, 3, 5]), "J" if random.random() < 0.15 else "Y"
        if booking % 53 == 0:
            continue  # a booking without tickets
        for person in range(group):
            ticket += 1
            yield "tkt", (
                ticket,
                booking,
                owner if person == 0 else random.choice(NAMES + GUESTS),
                cls,
                len(journey) * random.choice([4900, 7900, 9900, 12950]) * (4 if cls == "J" else 1),
            )
            shown = random.random() < 0.94
            for number, (flight, f) in enumerate(journey, 1):
                state = "O" if gone or f[8] == "CNX" else "F" if shown else "N"
                yield "leg", (ticket, number, flight, state, random.choice([0, 0, 1, 1, 2]))
