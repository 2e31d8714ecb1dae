"""Public transport of a town: lines, stops, trips with delays, ticket validations and disruptions. Column names are
German; about half of the foreign keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE Linie (
  LinieNr INTEGER PRIMARY KEY,
  Kuerzel TEXT NOT NULL, -- what passengers call the line
  Art TEXT NOT NULL, -- U metro, T tram, B bus
  Betreiber TEXT, -- operator; NULL: not awarded yet
  EingestelltAm DATE -- last day of service; NULL: still served
);
CREATE TABLE Haltestelle (
  HaltID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Zone TEXT, -- fare zone A (centre) to C; NULL: unknown
  Barrierefrei BOOLEAN -- step-free access; NULL: not surveyed
);
CREATE TABLE Fahrer (
  FahrerNr INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Depot TEXT NOT NULL,
  Eintritt DATE NOT NULL,
  Austritt DATE -- NULL: still employed
);
CREATE TABLE Fahrt ( -- a trip
  FahrtNr INTEGER PRIMARY KEY,
  LinieNr INTEGER NOT NULL REFERENCES Linie (LinieNr),
  FahrerNr INTEGER NOT NULL, -- rostered driver
  VertretungNr INTEGER, -- driver who stepped in; NULL: nobody
  Betriebstag DATE NOT NULL, -- day of service; trips after midnight belong to the day before
  Abfahrt TIMESTAMP NOT NULL, -- planned departure
  VonHalt INTEGER NOT NULL REFERENCES Haltestelle (HaltID),
  NachHalt INTEGER NOT NULL REFERENCES Haltestelle (HaltID),
  Status TEXT NOT NULL, -- G made, A cancelled, P test run without passengers
  Fahrgaeste INTEGER -- passengers; NULL: not counted
);
CREATE TABLE Halt ( -- calls of a trip at stops; a cancelled trip has none
  FahrtNr INTEGER NOT NULL REFERENCES Fahrt (FahrtNr),
  Folge INTEGER NOT NULL, -- 1: first stop of the trip
  HaltID INTEGER NOT NULL,
  Soll TIMESTAMP NOT NULL, -- planned
  Ist TIMESTAMP, -- actual; NULL: not recorded
  PRIMARY KEY (FahrtNr, Folge)
);
CREATE TABLE Ticketart (
  Code TEXT PRIMARY KEY,
  Bezeichnung TEXT NOT NULL,
  Tage INTEGER -- validity in days; NULL: one trip
);
CREATE TABLE Ticketpreis ( -- price history
  Code TEXT NOT NULL,
  GueltigVon DATE NOT NULL,
  GueltigBis DATE, -- last day; NULL: current price
  PreisCent INTEGER NOT NULL
);
CREATE TABLE Entwertung ( -- a ticket is stamped on a trip
  EntwNr INTEGER PRIMARY KEY,
  FahrtNr INTEGER NOT NULL,
  HaltID INTEGER NOT NULL, -- where the passenger got on
  Code TEXT NOT NULL REFERENCES Ticketart (Code),
  Zeit TIMESTAMP NOT NULL,
  Storniert BOOLEAN NOT NULL -- taken back, was never valid
);
CREATE TABLE Stoerung ( -- a disruption
  StoerNr INTEGER PRIMARY KEY,
  LinieNr INTEGER, -- NULL: whole network
  Beginn TIMESTAMP NOT NULL,
  Ende TIMESTAMP, -- NULL: goes on
  Ursache TEXT, -- cause; NULL: unknown
  GemeldetVon INTEGER NOT NULL REFERENCES Fahrer (FahrerNr),
  BehobenVon INTEGER -- driver or mechanic number; NULL: not solved
);
"""

LINES = [
    # code, kind, operator, last day, stops, weight
    ("U1", "U", "Stadtwerke", None, [1, 2, 3, 4, 5, 6, 7], 9),
    ("U2", "U", "Stadtwerke", None, [8, 2, 9, 4, 10, 11], 8),
    ("T5", "T", "Stadtwerke", None, [12, 3, 13, 9, 14], 6),
    ("T8", "T", "Regiobahn", None, [15, 5, 13, 16, 17, 18], 5),
    ("31", "B", "Busverkehr Nord", None, [19, 20, 1, 21, 22], 5),
    ("32", "B", "Busverkehr Nord", None, [22, 23, 24, 7], 4),
    ("N4", "B", "Stadtwerke", None, [4, 13, 25, 26], 3),
    ("T9", "T", None, None, [], 0),  # this line is not open yet
    ("77", "B", "Regiobahn", datetime.date(2024, 5, 31), [26, 24, 27, 11], 5),
]
STOPS = """Nordbad,Hauptbahnhof,Rathaus,Am Markt,Klinikum,Messe,Flughafen,Westpark,Museum,Stadion,Hafen,Zoo,Universität,
Südfriedhof,Lindenallee,Bergstraße,Tierheim,Waldsee,Alte Mühle,Gewerbepark,Rathaus,Depot Nord,Schillerplatz,Kirchweg,
Am Markt,Siedlung Ost,Industriestraße,Ostkreuz,Seebrücke,Bahnhof Süd""".replace("\n", "").split(",")
DRIVERS = """Jonas Weber,Mia Krause,Emre Aydin,Petra Vogel,Lukas Hahn,Olga Petrova,Tim Brandt,Jonas Weber,Sara Lindner,
Ali Demir,Heike Busch,Karl Otto,Nina Sommer,Paul Richter,Eva Maurer,Ben Schulte,Rosa Klein,Uwe Thiel""".replace(
    "\n", ""
).split(",")
TICKETS = [
    # code, name, days, price until June 2024, since July
    ("EF", "Einzelfahrt", None, 290, 310),
    ("KS", "Kurzstrecke", None, 190, 200),
    ("TK", "Tageskarte", 1, 750, 790),
    ("KI", "Kind", None, 160, 160),
    ("WK", "Wochenkarte", 7, 2450, 2600),
    ("GK", "Gruppenkarte", 1, 1450, 1500),  # this ticket is never validated
]
CAUSES = ["Technik", "Technik", "Technik", "Unfall", "Wetter", "Bauarbeiten", None]


def departure(random, line, day):
    """Planned departure of a trip whose day of service is `day`."""
    hours, minutes = [5, 6, 7, 7, 8, 8, 9, 11, 12, 14, 16, 17, 17, 18, 20, 22], [0, 10, 15, 20, 30, 40, 45, 55]
    if line == 7:
        hours = [22, 23, 24, 24, 25]
    hour, minute = random.choice(hours), random.choice(minutes)
    if (day + datetime.timedelta(days=1)).day == 1 and random.random() < 0.2:
        hour, minute = 23, 59
    return datetime.datetime.combine(day, datetime.time()) + datetime.timedelta(hours=hour, minutes=minute)


def calls(random, stops, at):
    """(place, stop, planned, actual) of a trip."""
    delay = random.choice([0, 0, 0, 0, 1, 1, 2, 4, 9])
    for place, stop in enumerate(stops, 1):
        delay = max(-1, delay + random.choice([-1, 0, 0, 0, 1, 1, 2]))
        actual = (
            None
            if random.random() < 0.04
            else at + datetime.timedelta(minutes=delay, seconds=random.choice([0, 0, 20, 45]))
        )
        yield place, stop, at, actual
        at += datetime.timedelta(minutes=random.choice([2, 3, 3, 4, 5]))


def day_of(random, line):
    """A day of service of 2024; line 77 ends in May, N4 rests in July."""
    days = 151 if line == 9 else 366
    day = datetime.date(2024, 1, 1) + datetime.timedelta(days=random.randrange(days))
    return day_of(random, line) if line == 7 and day.month == 7 else day


def disruptions(random):
    for i in range(1, 171):
        begin = datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=random.randrange(366 * 1440))
        if begin.month == 8:
            begin = begin.replace(month=9, day=min(begin.day, 30))  # no disruption begins in August
        end = (
            None
            if random.random() < 0.06
            else begin + datetime.timedelta(minutes=random.choice([10, 15, 25, 40, 40, 90, 240, 1500]))
        )
        line = None if random.random() < 0.06 else random.choices([1, 2, 3, 4, 5, 6], [8, 6, 4, 5, 2, 2])[0]
        reporter = random.choice([1, 2, 3, 5, 7, 8, 9, 12])
        yield i, line, begin, end, random.choice(CAUSES), reporter, end and random.choice([reporter, 2, 4, 5, 9, 16])


def rows(random):
    for i, (code, kind, operator, last, _, _) in enumerate(LINES, 1):
        yield "Linie", (i, code, kind, operator, last)
    for i, name in enumerate(STOPS, 1):
        yield "Haltestelle", (
            i,
            name,
            None if i in (17, 28) else "A" if i < 11 else "BBC"[i % 3],
            None if i % 9 == 0 else i % 4 != 0,
        )
    for i, name in enumerate(DRIVERS, 1):
        left = datetime.date(2024, 3 * i - 20, 15) if i in (8, 10) else None
        joined = datetime.date(2010 + i % 7 * 2, i % 12 + 1, 1) if i != 17 else datetime.date(2024, 11, 1)
        yield "Fahrer", (i, name, ["Nord", "Süd", "West"][i % 3], joined, left)
    ends = {8: datetime.date(2024, 4, 15), 10: datetime.date(2024, 10, 15)}
    weights = [line[5] for line in LINES]
    trips = []
    for number in range(50001, 51301):
        line = random.choices(range(1, 10), weights)[0]
        day = day_of(random, line)
        driver = random.choice([d for d in range(1, 17) if day <= ends.get(d, day)])  # drivers 17 and 18 never drive
        relief = random.choice([1, 4, 9, 13]) if random.random() < 0.12 else None
        status = random.choices("GAP", [90, 8, 2])[0]
        stops = LINES[line - 1][4][:: random.choice([1, -1])]
        counted = status == "G" and random.random() < 0.88
        trips.append(
            (
                number,
                line,
                driver,
                None if relief == driver else relief,
                day,
                departure(random, line, day),
                stops[0],
                stops[-1],
                status,
                min(120, 5 * int(random.expovariate(1 / 8))) if counted else None,
            )
        )
        yield "Fahrt", trips[-1]
    stamped = []
    for number, line, _, _, _, at, first, _, status, _ in trips:
        if status == "A":
            continue
        stops = LINES[line - 1][4][:: 1 if first == LINES[line - 1][4][0] else -1]
        for place, stop, planned, actual in calls(random, stops, at):
            yield "Halt", (number, place, stop, planned, actual)
            count = 0 if status == "P" or place == len(stops) else random.choice([0, 0, 0, 1, 1, 2])
            stamped += [
                (number, stop, (actual or planned) + datetime.timedelta(seconds=random.randrange(5, 90)))
                for _ in range(count)
            ]
    for code, name, days, _, _ in TICKETS:
        yield "Ticketart", (code, name, days)
    for code, _, _, old, new in TICKETS:
        same = old == new
        yield "Ticketpreis", (code, datetime.date(2023, 1, 1), None if same else datetime.date(2024, 6, 30), old)
        if not same:
            yield "Ticketpreis", (code, datetime.date(2024, 7, 1), None, new)
    for number, (trip, stop, at) in enumerate(stamped, 1):
        code = random.choices([t[0] for t in TICKETS[:5]], [10, 4, 4, 3, 1])[0]
        yield "Entwertung", (number, trip, stop, code, at, random.random() < 0.04)
    for disruption in disruptions(random):
        yield "Stoerung", disruption
