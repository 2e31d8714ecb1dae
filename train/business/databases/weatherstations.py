"""Weather stations: hourly and daily measurements, instruments with calibrations, and alerts. No key is declared;
dates are text.
"""

import datetime

SCHEMA = """
CREATE TABLE operator (
  op_id INTEGER,
  op_name TEXT,
  op_kind TEXT, -- public, private, university
  country TEXT -- ISO code
);
CREATE TABLE station (
  station_id INTEGER,
  code TEXT, -- official short code, unique
  name TEXT, -- not unique
  region TEXT,
  elevation_m INTEGER,
  op_id INTEGER, -- operator; NULL: not yet assigned
  opened TEXT, -- YYYY-MM-DD
  closed TEXT -- YYYY-MM-DD; NULL: still running
);
CREATE TABLE observer (
  obs_id INTEGER,
  full_name TEXT,
  op_id INTEGER,
  hired TEXT,
  left_on TEXT -- NULL: still employed
);
CREATE TABLE instrument (
  instr_id INTEGER,
  station_id INTEGER,
  kind TEXT, -- thermometer, barometer, hygrometer, rain gauge, anemometer
  model TEXT,
  installed TEXT,
  removed TEXT -- NULL: still in place
);
CREATE TABLE calibration (
  cal_id INTEGER,
  instr_id INTEGER,
  done_on TEXT,
  next_due TEXT,
  outcome TEXT, -- pass, adjusted, fail
  drift REAL, -- in the unit of the instrument; NULL: not recorded
  cost_cents INTEGER
);
CREATE TABLE hourly (
  station_id INTEGER,
  obs_time TEXT, -- YYYY-MM-DD HH:MM, UTC
  temp_c REAL, -- -999: no valid reading
  humidity INTEGER, -- per cent; NULL: station has no hygrometer
  wind_ms REAL, -- metres a second; -999: no valid reading
  quality TEXT -- ok, suspect, rejected
);
CREATE TABLE daily (
  station_id INTEGER,
  obs_date TEXT,
  tmin REAL, -- degrees Celsius; -999: no valid reading
  tmax REAL, -- degrees Celsius; -999: no valid reading
  precip_mm REAL, -- -999: no valid reading
  sunshine_min INTEGER, -- NULL: not measured here
  snow_cm INTEGER -- depth at 06:00; NULL: not observed that day
);
CREATE TABLE alert (
  alert_id INTEGER,
  station_id INTEGER,
  kind TEXT, -- frost, storm, heat, flood, fog
  severity INTEGER, -- 1 low to 4 extreme
  issued_at TEXT, -- YYYY-MM-DD HH:MM
  cleared_at TEXT, -- NULL: still in force
  issued_by INTEGER, -- observer
  confirmed_by INTEGER -- observer; NULL: nobody confirmed it
);
"""

OPERATORS = [
    ("Met Office North", "public", "DE"),
    ("Alpine Weather Ltd", "private", "AT"),
    ("Uni Graz Climate Group", "university", "AT"),
    ("AgroSense", "private", "DE"),
    ("Hydro Service", "public", "CH"),
    ("Coastwatch", "public", "DE"),
]  # Coastwatch has no station
REGIONS = ["Coast", "Lowland", "Hills", "Alps", "Alps"]
PLACES = [
    "Eschau",
    "Birk",
    "Tannberg",
    "Lindau",
    "Altmoor",
    "Neustadt",
    "Hochalm",
    "Seefeld",
    "Grauwand",
    "Mooring",
    "Kaltbrunn",
    "Rietz",
]
PEOPLE = [
    "Anna Brandt",
    "Jonas Weil",
    "Mira Kofler",
    "Paul Egger",
    "Sara Lind",
    "Tom Hauer",
    "Anna Brandt",
    "Lukas Moser",
    "Eva Prinz",
    "Nils Thoma",
    "Ida Roth",
    "Ben Faber",
]
KINDS = {
    "thermometer": ["T-100", "T-200", "Thermix"],
    "barometer": ["B-7", "Barox"],
    "hygrometer": ["H-1", "H-2"],
    "rain gauge": ["Pluvio", "Rain_X", "RainyX"],
    "anemometer": ["Cup-3", "Sonic"],
}
ALERTS = ["frost", "storm", "heat", "flood"]  # fog never occurs


def day(text, n=0):
    return (datetime.date.fromisoformat(text) + datetime.timedelta(days=n)).isoformat()


def weather(random, station, elevation):
    """Daily rows of a station from 2023-01-01 to 2024-06-30, with gaps."""
    base = 10 - elevation / 180
    for n in range(547):
        date = datetime.date(2023, 1, 1) + datetime.timedelta(days=n)
        if random.random() < 0.04 or (station % 6 == 0 and date.isoformat()[:7] == "2023-11"):
            continue  # a month without rows
        season = -9 if date.month in (12, 1, 2) else 9 if date.month in (6, 7, 8) else 0
        low = round(base + season + random.randrange(-6, 4) - 3)
        high = low + random.randrange(3, 13)
        wet = random.choice([0, 0, 0, 0.4, 1.2, 3.6, 8.0, 15.5, 31.0])
        snow = (
            None if random.random() < 0.2 else max(0, random.randrange(-5, 30)) if season < 0 and elevation > 300 else 0
        )
        yield (
            station,
            date.isoformat(),
            -999 if random.random() < 0.03 else low,
            -999 if random.random() < 0.03 else high,
            -999 if random.random() < 0.05 else wet,
            None if station % 4 == 1 else random.randrange(0, 720, 20),
            snow,
        )


def hours(random, station, start, days):
    for n in range(days * 24):
        if random.random() < 0.05:
            continue
        at = datetime.datetime.fromisoformat(start) + datetime.timedelta(hours=n)
        temp = round(random.gauss(12, 5) + (4 if 10 <= at.hour <= 17 else -2), 1)
        yield (
            station,
            at.strftime("%Y-%m-%d %H:%M"),
            -999 if random.random() < 0.04 else temp,
            None if station == 3 else random.randrange(30, 100),
            -999 if random.random() < 0.05 else random.randrange(0, 240) / 10,
            random.choices(["ok", "suspect", "rejected"], [17, 2, 1])[0],
        )


def rows(random):
    for i, operator in enumerate(OPERATORS, 1):
        yield "operator", (i, *operator)
    stations = []
    for i in range(1, 27):
        place = random.choice(PLACES)  # some stations share a name
        elevation = random.choice([5, 40, 120, 310, 560, 890, 1400, 1400, 2100])
        opened = day("1995-03-01", random.randrange(9000))
        closed = day("2023-03-01", random.randrange(420)) if i in (7, 15, 22) else None
        stations.append((i, elevation, closed))
        yield "station", (
            i,
            f"ST{i:03d}",
            place,
            REGIONS[i % 5],
            elevation,
            None if i in (9, 20) else random.randrange(1, 6),
            opened,
            closed,
        )
    for i, name in enumerate(PEOPLE, 1):
        yield "observer", (
            i,
            name,
            i % 6 + 1,
            day("2015-01-01", random.randrange(3000)),
            "2023-12-31" if i in (4, 10) else None,
        )
    n_cal = n_instr = 0
    for station, _, closed in stations:
        if station == 24:
            continue  # station 24 has no instruments
        for kind, models in KINDS.items():
            if random.random() < 0.25:
                continue
            for part in range(random.choice([1, 1, 2])):
                n_instr += 1
                installed = day("2018-01-01", random.randrange(1900))
                removed = closed or (day(installed, random.randrange(200, 900)) if random.random() < 0.25 else None)
                if removed and removed > "2024-06-30":
                    removed = None
                yield "instrument", (n_instr, station, kind, random.choice(models), installed, removed)
                done = installed
                for _ in range(random.choice([0, 1, 2, 3, 4, 5])):
                    done = day(done, random.choice([180, 365, 365, 400]))
                    if done > "2024-06-30" or done[:7] == "2023-08":
                        break  # no calibration in August 2023
                    n_cal += 1
                    outcome = random.choices(["pass", "adjusted", "fail"], [6, 3, 1])[0]
                    yield "calibration", (
                        n_cal,
                        n_instr,
                        done,
                        day(done, 365),
                        outcome,
                        None if random.random() < 0.2 else random.randrange(-15, 16) / 10,
                        random.choice([4500, 8000, 8000, 12550]),
                    )
    for station, elevation, closed in stations:
        if station % 13 == 11:
            continue  # stations that never reported
        for row in weather(random, station, elevation):
            if closed is None or row[1] <= closed:
                yield "daily", row
    for station in (1, 2, 3, 5, 8):
        for row in hours(random, station, "2024-03-20", 45):
            yield "hourly", row
    for i in range(1, 321):
        station = random.choice([s for s, _, _ in stations if s not in (4, 18)])  # two stations without alerts
        at = datetime.datetime(2023, 1, 1) + datetime.timedelta(hours=random.randrange(13100))
        if at.month == 9:
            at = at.replace(month=10)  # no alert in September
        if i % 40 == 0:
            at = at.replace(day=28 if at.month == 2 else 30, hour=23, minute=59)
        cleared = None if i % 29 == 0 else at + datetime.timedelta(hours=random.choice([2, 6, 6, 12, 24, 48]))
        by = random.randrange(1, 12)  # the last observer issues no alerts
        confirmed = (
            None
            if random.random() < 0.3
            else random.choice([o for o in range(1, 13) if o != by or random.random() < 0.2])
        )
        yield "alert", (
            i,
            station,
            random.choice(ALERTS),
            random.choices([1, 2, 3, 4], [4, 4, 2, 1])[0],
            at.strftime("%Y-%m-%d %H:%M"),
            cleared and cleared.strftime("%Y-%m-%d %H:%M"),
            by,
            confirmed,
        )
