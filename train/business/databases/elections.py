"""Elections of a province: districts, parties, candidates, votes by district, turnout and the coalitions formed afterwards. Keys are declared."""
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
  name TEXT NOT NULL,
  region TEXT NOT NULL,
  parent_id INTEGER REFERENCES district (district_id) -- the district of which it is a part; NULL: none
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
  invalid INTEGER NOT NULL,
  postal INTEGER, -- of the ballots, by post; NULL: not counted separately
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
  seats INTEGER NOT NULL,
  PRIMARY KEY (election_id, party_id)
);
CREATE TABLE coalition (
  election_id INTEGER NOT NULL REFERENCES election (election_id), -- in whose parliament
  party_id INTEGER NOT NULL REFERENCES party (party_id),
  role TEXT NOT NULL, -- leading, partner
  joined_on DATE NOT NULL,
  left_on DATE -- NULL: to the end
);
"""

ELECTIONS = [("parliament", "2009-05-10", 36), ("council", "2010-10-03", 60), ("parliament", "2014-05-11", 36), ("mayor", "2015-09-20", None), ("council", "2016-10-02", 60),
             ("parliament", "2019-05-12", 40), ("mayor", "2021-09-19", None), ("council", "2022-10-02", 60), ("parliament", "2024-05-12", 40)]
PARTIES = [("SDU", "Social Union", "1946-02-01", None), ("CVP", "Civic Party", "1951-06-15", None), ("GRN", "Greens", "1986-11-09", None), ("LIB", "Liberals", "2012-03-03", None),
           ("FAR", "Farmers", None, "2018-12-31"), ("PIR", "Pirates", "2011-07-07", None), ("REG", "Region First", "2013-01-20", None), ("NEW", "New Start", "2023-09-01", None),
           ("SEN", "Seniors", None, None)] # Seniors never won a vote
STRENGTH = [30, 27, 12, 11, 9, 4, 7, 10, 0]
REGIONS = ["North", "South", "Lakes", "Hills"]
NAMES = ["Aschau", "Berg", "Dorf", "Eben", "Feld", "Gries", "Hof", "Kirchen", "Markt", "Moos", "Neustadt", "Ried"]
FIRST = ["Alma", "Boris", "Celia", "Dario", "Elsa", "Franz", "Gina", "Henrik"]
LAST = ["Auer", "Brunner", "Egger", "Fuchs", "Haas", "Moser", "Pichler"]


def districts(random):
    """Forty districts; two regions may share a name, the last eight are parts of others, and nobody votes in 33."""
    for i in range(1, 41): yield i, random.choice(NAMES) + random.choice(["", "", " West", " Ost"]), REGIONS[i % 4], i - 32 if i > 32 else None


def stands(party, held):
    short, _, founded, dissolved = PARTIES[party]
    return STRENGTH[party] and not (founded and founded > held or dissolved and dissolved < held)


def rows(random):
    for i, row in enumerate(ELECTIONS, 1): yield "election", (i, *row)
    places = list(districts(random))
    for row in places: yield "district", row
    for i, row in enumerate(PARTIES, 1): yield "party", (i, *row)
    base = {p[0]: random.choice([1200, 1800, 2400, 2400, 5200, 9000]) for p in places}
    lean = {(p[0], k): random.uniform(0.6, 1.5) for p in places for k in range(len(PARTIES))}
    number = 0
    for election, (kind, held, seats) in enumerate(ELECTIONS, 1):
        day, totals = datetime.date.fromisoformat(held), {}
        mood = [random.uniform(0.7, 1.35) for _ in PARTIES]
        standing = [k for k in range(len(PARTIES)) if stands(k, held)]
        for k in standing:
            for place in range(1, 2 if kind == "mayor" else 13):
                number += 1
                born = datetime.date(random.randrange(day.year - 75, day.year - 20), random.randrange(1, 13), random.randrange(1, 28)) if random.random() < 0.9 else None
                gone = day - datetime.timedelta(days=random.randrange(5, 60)) if place > 1 and random.random() < 0.05 else None
                yield "candidate", (number, election, k + 1, f"{random.choice(FIRST)} {random.choice(LAST)}", born, place, gone)
        for place in range(1, 4):
            number += 1
            yield "candidate", (number, election, None, f"{random.choice(FIRST)} {random.choice(LAST)}", None, place, None)
        for district in (p[0] for p in places if p[0] != 33):
            eligible = base[district] + 10 * random.randrange(-8, 25)
            ballots = int(eligible * random.uniform(0.48, 0.83))
            invalid = int(ballots * random.uniform(0.005, 0.03))
            yield "turnout", (election, district, eligible, ballots, invalid, int(ballots * random.uniform(0.05, 0.3)) if day.year > 2012 else None)
            weights = [STRENGTH[k] * mood[k] * lean[district, k] for k in standing]
            votes = [int((ballots - invalid) * w / sum(weights)) for w in weights]
            if random.random() < 0.06: votes[0] = votes[1] = (votes[0] + votes[1]) // 2 # a tie
            votes[-1] += ballots - invalid - sum(votes)
            for k, n in zip(standing, votes):
                totals[k] = totals.get(k, 0) + n
                if not (k == 5 and district % 9 == 0): yield "result", (election, district, k + 1, n) # the Pirates do not stand everywhere
        if not seats: continue
        won = {k: int(seats * n / sum(totals.values())) for k, n in totals.items()}
        for k in sorted(won, key=lambda k: -totals[k])[:seats - sum(won.values())]: won[k] += 1
        for k in standing: yield "seat", (election, k + 1, won[k])
        ranked, inside = sorted(won, key=lambda k: -totals[k]), 0
        for k in [ranked[0], *random.sample(ranked[1:5], 4)]:
            if 2 * inside > seats: break
            inside += won[k]
            left = day + datetime.timedelta(days=random.randrange(500, 1200)) if k != ranked[0] and random.random() < 0.3 else None
            yield "coalition", (election, k + 1, "leading" if k == ranked[0] else "partner", day + datetime.timedelta(days=45), left)
