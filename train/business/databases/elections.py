"""Elections of a province: districts, parties, candidates, votes by district, seats, coalitions and donations.
Keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE election (
  election_id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, -- parliament, council, mayor
  held_on DATE NOT NULL,
  seats INTEGER -- NULL: no seats, one office
);
CREATE TABLE district (
  district_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- not unique
  region TEXT NOT NULL,
  parent_id INTEGER REFERENCES district (district_id) -- the district that counts its ballots; NULL: counts itself
);
CREATE TABLE party (
  party_id INTEGER PRIMARY KEY,
  short TEXT NOT NULL,
  name TEXT NOT NULL,
  founded_on DATE, -- NULL: unknown
  dissolved_on DATE -- NULL: exists
);
CREATE TABLE candidate (
  candidate_id INTEGER PRIMARY KEY,
  election_id INTEGER NOT NULL REFERENCES election (election_id),
  party_id INTEGER REFERENCES party (party_id), -- NULL: independent
  name TEXT NOT NULL,
  born_on DATE,
  list_place INTEGER NOT NULL, -- 1: heads the list
  withdrawn_on DATE -- NULL: stood to the end
);
CREATE TABLE turnout (
  election_id INTEGER NOT NULL REFERENCES election (election_id),
  district_id INTEGER NOT NULL REFERENCES district (district_id),
  eligible INTEGER NOT NULL,
  ballots INTEGER NOT NULL, -- cast, valid or not
  invalid INTEGER NOT NULL, -- of the ballots
  postal INTEGER, -- of the ballots, by post; NULL: not counted separately
  reported_at TIMESTAMP, -- end of the count; NULL: no record
  PRIMARY KEY (election_id, district_id)
);
CREATE TABLE result (
  election_id INTEGER NOT NULL REFERENCES election (election_id),
  district_id INTEGER NOT NULL REFERENCES district (district_id),
  party_id INTEGER NOT NULL REFERENCES party (party_id),
  votes INTEGER NOT NULL, -- valid ones
  PRIMARY KEY (election_id, district_id, party_id)
);
CREATE TABLE seat (
  election_id INTEGER NOT NULL REFERENCES election (election_id),
  party_id INTEGER NOT NULL REFERENCES party (party_id),
  seats INTEGER NOT NULL, -- won; 0: stood, won none
  PRIMARY KEY (election_id, party_id)
);
CREATE TABLE coalition (
  election_id INTEGER NOT NULL REFERENCES election (election_id), -- that elected the chamber
  party_id INTEGER NOT NULL REFERENCES party (party_id),
  role TEXT NOT NULL, -- leading, partner
  joined_on DATE NOT NULL,
  left_on DATE -- NULL: to the end
);
CREATE TABLE donation (
  donation_id INTEGER PRIMARY KEY,
  party_id INTEGER NOT NULL REFERENCES party (party_id),
  donor TEXT NOT NULL,
  received_at TIMESTAMP NOT NULL,
  amount_cents INTEGER NOT NULL,
  returned_on DATE -- NULL: kept
);
"""

ELECTIONS = [
    ("parliament", "2009-05-10", 36),
    ("council", "2010-10-03", 60),
    ("parliament", "2014-05-11", 36),
    ("mayor", "2015-09-20", None),
    ("council", "2016-10-02", 60),
    ("parliament", "2019-05-12", 40),
    ("mayor", "2021-09-19", None),
    ("council", "2022-10-02", 60),
    ("parliament", "2024-05-12", 40),
]
PARTIES = [
    ("SDU", "Social Union", "1946-02-01", None),
    ("CVP", "Civic Party", "1951-06-15", None),
    ("GRN", "Greens", "1986-11-09", None),
    ("LIB", "Liberals", "2012-03-03", None),
    ("FAR", "Farmers", None, "2018-12-31"),
    ("PIR", "Pirates", "2011-07-07", None),
    ("REG", "Region First", "2013-01-20", None),
    ("NEW", "New Start", "2023-09-01", None),
    ("SEN", "Seniors", None, None),
]  # the Seniors never stood for election
STRENGTH = [30, 27, 12, 11, 9, 4, 7, 10, 0]
REGIONS = ["North", "South", "Lakes", "Hills"]
NAMES = ["Aschau", "Berg", "Dorf", "Eben", "Feld", "Gries", "Hof", "Kirchen", "Markt", "Moos", "Neustadt", "Ried"]
FIRST = ["Alma", "Boris", "Celia", "Dario", "Elsa", "Franz", "Gina", "Henrik"]
LAST = ["Auer", "Brunner", "Egger", "Fuchs", "Haas", "Moser", "Pichler"]
DONORS = ["Alpina Bau", "Farmers' Bank", "Haas Holding", "Lakeside Hotels", "Moser & Sons", "Private"]


def days(n):
    return datetime.timedelta(days=n)


def stands(party, held):
    _, _, founded, dissolved = PARTIES[party]
    return STRENGTH[party] and not (founded and founded > held or dissolved and dissolved < held)


def candidates(random, day, mayor, standing):
    """(party, name, birthday, place, withdrawal) of an election."""
    for party in [*standing, None]:
        for place in range(1, 4 if party is None else 2 if mayor else 13):
            year = random.randrange(day.year - 75, day.year - 20)
            born = datetime.date(year, random.randrange(1, 13), random.randrange(1, 28))
            gone = day - days(random.randrange(5, 60)) if place > 1 and random.random() < 0.05 else None
            known = party is not None and random.random() < 0.9
            name = f"{random.choice(FIRST)} {random.choice(LAST)}"  # some share a name
            yield None if party is None else party + 1, name, born if known else None, place, gone


def votes(random, valid, weights):
    """Votes of each party, that make up the valid ones."""
    out = [int(valid * w / sum(weights)) for w in weights]
    if random.random() < 0.06:
        out[0] = out[1] = (out[0] + out[1]) // 2  # a tie
    out[-1] += valid - sum(out)
    return out


def donations(random):
    """(party, donor, time, cents, returned) from 2021 to 2024; none in August 2023."""
    for _ in range(900):
        at = datetime.datetime(2021, 1, 1, 8) + days(random.randrange(1461))
        at += datetime.timedelta(minutes=random.choice([5, 90, 240, 610]))
        if random.random() < 0.03:
            at = at.replace(month=12, day=31, hour=23, minute=59)
        if (at.year, at.month) == (2023, 8):
            continue
        party = random.choice([1, 1, 2, 2, 2, 3, 4, 6, 8] if at.year == 2024 else [1, 1, 2, 2, 3, 4, 7])
        cents = random.choice([5000, 10000, 10000, 25000, 100000, 750000, 1200000])
        back = at.date() + days(random.randrange(3, 40)) if random.random() < 0.04 else None
        yield party, random.choice(DONORS + ["Private"] * 6), at, cents, back


def rows(random):
    for i, row in enumerate(ELECTIONS, 1):
        yield "election", (i, *row)
    for i in range(1, 41):  # the last eight are counted by others; district 33 has no votes
        name = random.choice(NAMES) + random.choice(["", "", " West", " Ost"])
        yield "district", (i, name, REGIONS[i % 4], i - 32 if i > 32 else None)
    for i, row in enumerate(PARTIES, 1):
        yield "party", (i, *row)
    places = [i for i in range(1, 41) if i != 33]
    base = {p: random.choice([1200, 1800, 2400, 2400, 5200, 9000]) for p in places}
    lean = {(p, k): random.uniform(0.6, 1.5) for p in places for k in range(len(PARTIES))}
    number = 0
    for election, (kind, held, seats) in enumerate(ELECTIONS, 1):
        day, totals = datetime.date.fromisoformat(held), {}
        mood = [random.uniform(0.7, 1.35) for _ in PARTIES]
        standing = [k for k in range(len(PARTIES)) if stands(k, held)]
        for row in candidates(random, day, kind == "mayor", standing):
            number += 1
            yield "candidate", (number, election, *row)
        for district in places:
            eligible = base[district] + 10 * random.randrange(-8, 25)
            ballots = int(eligible * random.uniform(0.48, 0.83))
            invalid = int(ballots * random.uniform(0.005, 0.03))
            postal = int(ballots * random.uniform(0.05, 0.3)) if day.year > 2012 else None
            end = datetime.datetime.combine(day, datetime.time(18)) + datetime.timedelta(
                minutes=random.choice([95, 140, 200, 260, 310, 359, 360, 420])
            )
            reported = end if random.random() < 0.93 else None
            yield "turnout", (election, district, eligible, ballots, invalid, postal, reported)
            weights = [STRENGTH[k] * mood[k] * lean[district, k] for k in standing]
            for k, n in zip(standing, votes(random, ballots - invalid, weights)):
                if k == 5 and district % 9 == 0:
                    continue  # the Pirates do not stand everywhere
                totals[k] = totals.get(k, 0) + n
                yield "result", (election, district, k + 1, n)
        if not seats:
            continue
        won = {k: int(seats * n / sum(totals.values())) for k, n in totals.items()}
        ranked = sorted(won, key=lambda k: -totals[k])
        for k in ranked[: seats - sum(won.values())]:
            won[k] += 1
        for k in standing:
            yield "seat", (election, k + 1, won[k])
        inside, others = 0, ranked[1:5]
        random.shuffle(others)
        for k in [ranked[0], *others]:
            if 2 * inside > seats:
                break
            inside += won[k]
            left = day + days(random.randrange(500, 1200)) if k != ranked[0] and random.random() < 0.6 else None
            yield "coalition", (election, k + 1, "leading" if k == ranked[0] else "partner", day + days(45), left)
    for i, row in enumerate(donations(random), 1):
        yield "donation", (i, *row)
