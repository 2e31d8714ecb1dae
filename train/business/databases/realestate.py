"""Estate agency: offices, agents, clients, listings, prices, viewings, offers, deals, commissions. Keys declared."""

import datetime

SCHEMA = """
CREATE TABLE office (
  office_id INTEGER PRIMARY KEY,
  city TEXT NOT NULL,
  street TEXT NOT NULL,
  closed_on DATE -- NULL: open
);
CREATE TABLE agent (
  agent_no INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- two agents may share a name
  office_id INTEGER NOT NULL REFERENCES office (office_id),
  manager_no INTEGER REFERENCES agent (agent_no), -- NULL: heads the office
  joined_on DATE NOT NULL,
  left_on DATE -- NULL: works here
);
CREATE TABLE client (
  client_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  is_company BOOLEAN NOT NULL,
  budget_eur INTEGER, -- NULL: not told
  known_since DATE NOT NULL,
  channel TEXT NOT NULL -- portal, referral, walk-in, fair
);
CREATE TABLE district (
  code TEXT PRIMARY KEY,
  name TEXT NOT NULL, -- not unique across cities
  city TEXT NOT NULL
);
CREATE TABLE listing (
  listing_id INTEGER PRIMARY KEY,
  district_code TEXT NOT NULL REFERENCES district (code),
  kind TEXT NOT NULL CHECK (kind IN ('flat', 'house', 'office', 'land')),
  tenure TEXT NOT NULL CHECK (tenure IN ('sale', 'rent')),
  area_sqm INTEGER NOT NULL,
  rooms INTEGER, -- NULL: land
  built_year INTEGER, -- NULL: unknown, or land
  owner_id INTEGER NOT NULL REFERENCES client (client_id),
  agent_no INTEGER NOT NULL REFERENCES agent (agent_no), -- in charge
  listed_on DATE NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'reserved', 'closed', 'withdrawn')), -- closed: sold or let
  ended_on DATE -- closed or withdrawn that day; NULL: on the market
);
CREATE TABLE asking_price (
  price_id INTEGER PRIMARY KEY,
  listing_id INTEGER NOT NULL REFERENCES listing (listing_id),
  from_date DATE NOT NULL,
  to_date DATE, -- last day of this price; NULL: the latest price
  price_eur INTEGER NOT NULL -- of sale, or the rent of a month
);
CREATE TABLE viewing (
  viewing_id INTEGER PRIMARY KEY,
  listing_id INTEGER NOT NULL REFERENCES listing (listing_id),
  client_id INTEGER NOT NULL REFERENCES client (client_id),
  guide_no INTEGER NOT NULL REFERENCES agent (agent_no), -- shows the property
  booked_at TIMESTAMP NOT NULL,
  starts_at TIMESTAMP NOT NULL,
  outcome TEXT, -- held, no_show, cancelled; NULL: not reported
  rating INTEGER -- by the client, 1 (poor) to 5; NULL: not given
);
CREATE TABLE offer (
  offer_id INTEGER PRIMARY KEY,
  listing_id INTEGER NOT NULL REFERENCES listing (listing_id),
  client_id INTEGER NOT NULL REFERENCES client (client_id),
  made_at TIMESTAMP NOT NULL,
  amount_eur INTEGER NOT NULL, -- of sale, or the rent of a month
  state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'declined', 'retracted')),
  decided_on DATE -- NULL: open
);
CREATE TABLE deal (
  deal_id INTEGER PRIMARY KEY,
  offer_id INTEGER NOT NULL UNIQUE REFERENCES offer (offer_id),
  signed_on DATE NOT NULL,
  price_eur INTEGER NOT NULL, -- of sale, or the rent of a month
  commission_bp INTEGER NOT NULL, -- of price_eur, basis points
  handed_over_on DATE -- NULL: not yet
);
CREATE TABLE commission_share (
  share_id INTEGER PRIMARY KEY,
  deal_id INTEGER NOT NULL REFERENCES deal (deal_id),
  agent_no INTEGER NOT NULL REFERENCES agent (agent_no),
  role TEXT NOT NULL CHECK (role IN ('listing', 'buyer', 'referral')),
  amount_cents INTEGER NOT NULL,
  paid_on DATE -- NULL: not paid out
);
"""

DAY = datetime.date
OFFICES = [
    ("Linz", "Harbour Road 3", None),
    ("Linz", "Castle Street 11", None),
    ("Graz", "Mill Lane 7", None),
    ("Wels", "Station Square 1", DAY(2024, 3, 31)),
    ("Steyr", "Bridge Street 2", None),
]  # the office in Steyr has no agents yet
DISTRICTS = [
    ("L1", "Old Town", "Linz"),
    ("L2", "Harbour", "Linz"),
    ("L3", "Hillside", "Linz"),
    ("G1", "Old Town", "Graz"),
    ("G2", "University", "Graz"),
    ("G3", "Hillside", "Graz"),
    ("W1", "Centre", "Wels"),
    ("W2", "Fairground", "Wels"),
    ("S1", "Riverbank", "Steyr"),
]  # S1 has no listings
FIRST = ["Anna", "Boris", "Clara", "David", "Elif", "Franz", "Gerda", "Hannes", "Ida", "Jonas", "Katya", "Leo", "Mira"]
LAST = ["Auer", "Berger", "Cerny", "Dorn", "Egger", "Fuchs", "Gruber", "Hofer", "Ilic", "Jung", "Koller", "Lang"]
FIRMS = ["Alpina", "Domus", "Terra", "Quadra", "Nova", "Rhein", "Donau"]
TODAY = DAY(2024, 12, 31)
START = DAY(2022, 7, 1)


def days(random, low, high):
    return datetime.timedelta(days=random.randrange(low, high))


def at(random, day):
    """A moment of a day; sometimes in its last minute."""
    if random.random() < 0.02:
        return datetime.datetime.combine(day, datetime.time(23, 59, random.choice([5, 40])))
    return datetime.datetime.combine(day, datetime.time(random.randrange(8, 20), random.choice([0, 15, 30, 45])))


def agents(random):
    number = 0
    for office in range(1, 5):
        head = None
        for _ in range([9, 6, 8, 4][office - 1]):
            number += 1
            joined = DAY(random.randrange(2012, 2022), random.randrange(1, 13), random.randrange(1, 29))
            left = DAY(2024, 3, 31) if office == 4 and number % 2 else DAY(2023, 11, 30) if number == 6 else None
            yield number, f"{random.choice(FIRST)} {random.choice(LAST)}", office, head, joined, left
            head = head or number


def clients(random):
    for client in range(1, 521):
        firm = random.random() < 0.15
        name = f"{random.choice(FIRMS)} {random.choice(['Invest', 'Living', 'Property'])}"
        if not firm:
            name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        budget = random.choice([None, 900, 1200, 150000, 220000, 300000, 300000, 450000, 800000])
        since = START + days(random, -300, 880)
        yield client, name, firm, budget, since, random.choices(["portal", "referral", "walk-in"], [5, 3, 2])[0]


def prices(random, price, begin, end):
    """(from, to, price) of the asking prices of a listing."""
    day = begin
    for _ in range(random.choice([0, 0, 0, 1, 1, 2, 3])):
        change = day + days(random, 14, 90)
        if change >= (end or TODAY):
            break
        yield day, change - datetime.timedelta(days=1), price
        price = round(price * random.choice([0.9, 0.93, 0.95, 0.95, 0.97, 1.04]))
        day = change
    yield day, None, price


class Counter:
    def __init__(self):
        self.n = {}

    def next(self, table):
        self.n[table] = self.n.get(table, 0) + 1
        return self.n[table]


def signing(day):
    """No deal is signed in August 2023."""
    return day.replace(month=9, day=min(day.day, 28)) if (day.year, day.month) == (2023, 8) else day


def commission(random, count, deal, price, bp, listing_agent, buyer_agent, team, signed):
    cents = price * bp // 100
    parts = [("listing", listing_agent, 50), ("buyer", buyer_agent, 50)]
    if random.random() < 0.2:
        parts = [("listing", listing_agent, 45), ("buyer", buyer_agent, 45), ("referral", random.choice(team), 10)]
    for role, agent, percent in parts:
        paid = signed + days(random, 10, 80) if random.random() < 0.85 else None
        paid = paid if paid and paid <= TODAY else None
        yield "commission_share", (count.next("commission_share"), deal, agent, role, cents * percent // 100, paid)


def bids(random, count, listing, tenure, current, begin, last, people, team, agent):
    """Rows of offers and of the deal of a listing; the last says whether it was sold and when."""
    sold = None
    days_on = (last - begin).days
    whole = list(range(5, max(6, days_on), max(7, days_on // 4)))
    for step in whole[: random.choice([0, 0, 1, 2, 3, 4])]:
        day = begin + datetime.timedelta(days=step)
        if day > last:
            break
        number = count.next("offer")
        amount = round(current * random.choice([0.85, 0.9, 0.94, 0.97, 1.0, 1.0, 1.03]))
        state = random.choices(["accepted", "declined", "retracted", "open"], [4, 5, 2, 1])[0]
        decided = None if state == "open" else day + days(random, 1, 15)
        if decided and decided > TODAY:
            state, decided = "open", None
        client = random.choice(people)
        yield "offer", (number, listing, client, at(random, day), amount, state, decided)
        if state != "accepted":
            continue
        signed = signing(decided + days(random, 3, 30))
        if signed > TODAY or random.random() < 0.08:  # accepted, but not signed
            yield "reserved", decided
            return
        deal = count.next("deal")
        bp = random.choice([200, 300, 300, 360]) if tenure == "sale" else 20000
        price = amount if random.random() < 0.8 else round(amount * 0.99)
        handed = signed + days(random, 5, 90)
        yield "deal", (deal, number, signed, price, bp, handed if handed <= TODAY else None)
        guide = agent if random.random() < 0.4 else random.choice(team)
        yield from commission(random, count, deal, price, bp, agent, guide, team, signed)
        sold = signed
        break
    yield "sold", sold


def viewings(random, count, listing, begin, last, people, team, agent):
    for _ in range(random.choice([0, 1, 3, 5, 8, 10])):
        day = begin + days(random, 1, max(2, (last - begin).days))
        outcome = random.choices(["held", "no_show", "cancelled", None], [14, 2, 3, 1])[0]
        rating = random.choice([1, 2, 3, 3, 4, 4, 5, None]) if outcome == "held" else None
        guide = agent if random.random() < 0.7 else random.choice(team)
        booked = at(random, day - days(random, 1, 12))
        row = (listing, random.choice(people), guide, booked, at(random, day), outcome, rating)
        yield "viewing", (count.next("viewing"), *row)


def listing(random, count, people, owners, team):
    number = count.next("listing")
    kind = random.choices(["flat", "house", "office", "land"], [7, 4, 2, 1])[0]
    tenure = "sale" if kind == "land" else random.choice(["sale", "sale", "rent"])
    area = {"flat": (35, 130), "house": (90, 260), "office": (40, 500), "land": (400, 1600)}[kind]
    area = random.randrange(*area)
    rooms = None if kind == "land" else max(1, area // 28)
    built = None if kind == "land" or random.random() < 0.1 else random.randrange(1900, 2024)
    begin = START + days(random, 0, 890)
    agent = random.choice(team)
    per = {"flat": 3900, "house": 3300, "office": 2800, "land": 240}[kind] * random.choice([0.8, 1, 1.2])
    price = round(area * per / 1000) * 1000 if tenure == "sale" else round(area * per / 280 / 10) * 10
    district = random.choice([d[0] for d in DISTRICTS if d[0] != "S1"])
    last = min(TODAY, begin + days(random, 20, 330))
    rows = list(bids(random, count, number, tenure, price, begin, last, people, team, agent))
    final, day = rows.pop()
    if final == "reserved":
        status, ended = "reserved", None
    elif day:
        status, ended, last = "closed", day, day
    elif last < TODAY and random.random() < 0.5:
        status, ended = "withdrawn", last
    else:
        status, ended = "active", None
    owner = random.choice(owners)
    yield "listing", (number, district, kind, tenure, area, rooms, built, owner, agent, begin, status, ended)
    for row in prices(random, price, begin, last):
        yield "asking_price", (count.next("asking_price"), number, *row)
    yield from rows
    yield from viewings(random, count, number, begin, last, people, team, agent)


def rows(random):
    for number, row in enumerate(OFFICES, 1):
        yield "office", (number, *row)
    people = list(agents(random))
    for row in people:
        yield "agent", row
    for row in clients(random):
        yield "client", row
    for row in DISTRICTS:
        yield "district", row
    count = Counter()
    team = [p[0] for p in people if p[0] not in (5, 12)]  # two agents sell nothing
    for _ in range(640):
        yield from listing(random, count, list(range(1, 440)), list(range(300, 500)), team)
