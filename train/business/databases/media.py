"""A streaming catalogue: titles with genres and credits, licences by country, viewers with plays and ratings.
Keys are declared; tables in capitals.
"""

import datetime

SCHEMA = """
CREATE TABLE TITLE (
  title_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- not unique
  kind TEXT NOT NULL CHECK (kind IN ('film', 'series', 'short')),
  made_in INTEGER NOT NULL, -- year
  runtime_min INTEGER, -- of a film or an episode; NULL: unknown
  original_id INTEGER REFERENCES TITLE (title_id), -- of which it is a remake; NULL: none
  added_on DATE NOT NULL,
  removed_on DATE -- NULL: still in the catalogue
);
CREATE TABLE PERSON (
  person_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  country TEXT, -- NULL: unknown
  born_on DATE,
  died_on DATE -- NULL: alive
);
CREATE TABLE CREDIT (
  title_id INTEGER NOT NULL REFERENCES TITLE (title_id),
  person_id INTEGER NOT NULL REFERENCES PERSON (person_id),
  job TEXT NOT NULL, -- actor, director, writer, composer
  billing INTEGER, -- 1: the lead; NULL for all but actors
  PRIMARY KEY (title_id, person_id, job)
);
CREATE TABLE GENRE (
  genre_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  parent_id INTEGER REFERENCES GENRE (genre_id) -- NULL: at the top
);
CREATE TABLE TITLE_GENRE (
  title_id INTEGER NOT NULL REFERENCES TITLE (title_id),
  genre_id INTEGER NOT NULL REFERENCES GENRE (genre_id),
  is_main BOOLEAN NOT NULL, -- one of a title's genres
  PRIMARY KEY (title_id, genre_id)
);
CREATE TABLE VIEWER (
  viewer_id INTEGER PRIMARY KEY,
  handle TEXT NOT NULL,
  country TEXT NOT NULL,
  joined_at TIMESTAMP NOT NULL,
  closed_on DATE, -- NULL: account open
  invited_by INTEGER REFERENCES VIEWER (viewer_id),
  is_staff BOOLEAN NOT NULL
);
CREATE TABLE PLAY (
  play_id INTEGER PRIMARY KEY,
  viewer_id INTEGER NOT NULL REFERENCES VIEWER (viewer_id),
  title_id INTEGER NOT NULL REFERENCES TITLE (title_id),
  started_at TIMESTAMP NOT NULL,
  seconds INTEGER NOT NULL, -- watched
  device TEXT, -- tv, phone, tablet, web; NULL: unknown
  finished BOOLEAN NOT NULL
);
CREATE TABLE RATING (
  viewer_id INTEGER NOT NULL REFERENCES VIEWER (viewer_id),
  title_id INTEGER NOT NULL REFERENCES TITLE (title_id),
  stars INTEGER NOT NULL, -- 1 to 5
  rated_at TIMESTAMP NOT NULL,
  PRIMARY KEY (viewer_id, title_id)
);
CREATE TABLE LICENCE (
  licence_id INTEGER PRIMARY KEY,
  title_id INTEGER NOT NULL REFERENCES TITLE (title_id),
  country TEXT NOT NULL,
  valid_from DATE NOT NULL,
  valid_to DATE, -- last day; NULL: without end
  fee_cents INTEGER NOT NULL -- in all
);
"""

GENRES = [
    ("Drama", None),
    ("Comedy", None),
    ("Crime", None),
    ("Documentary", None),
    ("Family", None),
    ("Western", None),
    ("Dark comedy", 2),
    ("Romantic comedy", 2),
    ("Heist", 3),
    ("Nature", 4),
    ("Courtroom", 1),
]  # no title is a Western
FIRST = ["The Last", "A Quiet", "Broken", "Golden", "Return of the", "Midnight", "Paper", "Seven"]
SECOND = ["River", "Garden", "Witness", "Harbour", "Letters", "Tigers", "Winter", "Road", "Promise", "Clockmaker"]
GIVEN = ["Ada", "Bela", "Chidi", "Dora", "Emre", "Freya", "Goran", "Hana", "Iris", "Jonas"]
FAMILY = ["Arslan", "Bauer", "Conti", "Dubois", "Eriksen", "Farkas", "Grant", "Horvat"]
COUNTRIES = ["AT", "DE", "FR", "IT"]


def days(n):
    return datetime.timedelta(days=n)


def titles(random):
    """150 titles; each fifteenth is a remake with the name of an older one."""
    known = []
    for i in range(1, 151):
        kind = random.choices(["film", "series", "short"], [6, 3, 1])[0]
        made = random.randrange(1985, 2024)
        runtime = {"film": 85, "series": 24, "short": 9}[kind] + random.choice([0, 5, 5, 10, 17, 30])
        original = random.choice(known) if i % 15 == 0 else (None, None, 0)
        name = original[1] or f"{random.choice(FIRST)} {random.choice(SECOND)}"
        made = min(2023, max(made, original[2] + 3))
        added = datetime.date(2021, 1, 1) + days(random.randrange(1200))
        removed = added + days(random.randrange(90, 700)) if random.random() < 0.25 else None
        if removed and removed > datetime.date(2024, 12, 31):
            removed = None
        known.append((i, name, made))
        yield i, name, kind, made, runtime if random.random() > 0.06 else None, original[0], added, removed


def people(random):
    for i in range(1, 121):
        born = datetime.date(1935, 1, 1) + days(random.randrange(25000)) if random.random() > 0.08 else None
        died = datetime.date(2010, 1, 1) + days(random.randrange(5400)) if born and born.year < 1960 and i % 3 else None
        name = f"{random.choice(GIVEN)} {random.choice(FAMILY)}"  # some share a name
        yield i, name, random.choice(COUNTRIES + ["DE", "US", None]), born, died


def viewers(random):
    """(joined, closed, invited by, staff) of 260 viewers; nobody joined in February 2024."""
    for i in range(1, 261):
        joined = datetime.datetime(2022, 6, 1, 7) + days(random.randrange(900))
        joined += datetime.timedelta(minutes=random.choice([0, 75, 480, 899]))
        if i % 37 == 0:
            joined = datetime.datetime(2023, 12, 31, 23, 59)
        if (joined.year, joined.month) == (2024, 2):
            joined = joined.replace(month=3)
        closed = joined.date() + days(random.randrange(20, 500)) if random.random() < 0.2 else None
        if closed and closed > datetime.date(2024, 12, 31):
            closed = None
        yield joined, closed, random.randrange(1, i) if i > 5 and random.random() < 0.3 else None, i % 29 == 0


def rows(random):
    shelf = list(titles(random))
    for row in shelf:
        yield "TITLE", row
    for row in people(random):
        yield "PERSON", row
    for i, row in enumerate(GENRES, 1):
        yield "GENRE", (i, *row)
    for title, *_ in shelf:
        chosen = random.sample([1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 10, 11], random.choice([0, 1, 1, 2, 2, 3]))
        for place, genre in enumerate(dict.fromkeys(chosen)):
            yield "TITLE_GENRE", (title, genre, place == 0)
        director, writer = random.randrange(1, 41), random.choice([0, random.randrange(1, 61)])
        yield "CREDIT", (title, director, "director", None)
        yield "CREDIT", (title, writer or director, "writer", None)  # writer and director are often the same person
        if random.random() < 0.6:
            yield "CREDIT", (title, random.randrange(100, 111), "composer", None)
        for place, actor in enumerate(random.sample(range(30, 100), random.choice([0, 2, 3, 3, 4, 6])), 1):
            yield "CREDIT", (title, actor, "actor", place)
    n = 0
    for title, _, _, _, _, _, added, removed in shelf:
        for country in random.sample(COUNTRIES, random.choice([1, 2, 3, 4])):
            start = added
            for _ in range(random.choice([1, 1, 2])):
                n += 1
                end = start + days(random.choice([180, 365, 365, 730])) if random.random() < 0.7 else removed
                yield "LICENCE", (n, title, country, start, end, random.choice([50000, 120000, 120000, 400000, 990000]))
                if end is None:
                    break
                start = end + days(random.choice([1, 1, 30, 95]))  # some licences have a gap
    joined = []
    for i, (at, closed, by, staff) in enumerate(viewers(random), 1):
        joined.append((i, at, closed))
        handle = f"{random.choice(GIVEN).lower()}{random.choice('_.')}{random.randrange(10, 99)}"
        yield "VIEWER", (i, handle, random.choice(COUNTRIES + ["DE"]), at, closed, by, staff)
    end, n, popular = datetime.datetime(2024, 12, 31, 22), 0, [1 + (i % 7) ** 2 for i in range(150)]
    for viewer, at, closed in joined:
        last = datetime.datetime.combine(closed, datetime.time(6)) if closed else end
        rated, at = set(), at + datetime.timedelta(minutes=random.choice([1, 5, 50000]))
        pace = random.choice([0, 4, 9, 9, 20, 45])
        while pace and at < last:
            title, _, kind, _, runtime, _, added, removed = random.choices(shelf, popular)[0]
            whole = random.random() < {"film": 0.55, "series": 0.7, "short": 0.9}[kind]
            full = 60 * (runtime or 50)
            there = added <= at.date() and (removed is None or at.date() < removed)
            n += there
            device = random.choice(["tv", "tv", "phone", "tablet", "web", None])
            seconds = full if whole else random.randrange(20, full)
            if there and (at.year, at.month) != (2023, 6):  # an outage: no plays in June 2023
                yield "PLAY", (n, viewer, title, at, seconds, device, whole)
                if random.random() < 0.2 and title not in rated:
                    rated.add(title)
                    yield "RATING", (viewer, title, random.choice([1, 2, 3, 4, 4, 5]), at + datetime.timedelta(hours=3))
            at += datetime.timedelta(minutes=random.randrange(600, 2900 * pace))
