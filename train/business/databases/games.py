"""A studio of mobile games: players, installs, sessions, attempts, purchases, refunds, wallets. Keys are declared."""

import datetime

SCHEMA = """
CREATE TABLE game (
  game_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  genre TEXT NOT NULL,
  launched_on DATE, -- NULL: not launched yet
  sunset_on DATE -- last day of service; NULL: live, or not launched
);
CREATE TABLE game_level (
  game_id INTEGER NOT NULL REFERENCES game (game_id),
  level_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  difficulty TEXT NOT NULL CHECK (difficulty IN ('easy', 'medium', 'hard')),
  is_boss BOOLEAN NOT NULL,
  PRIMARY KEY (game_id, level_no)
);
CREATE TABLE player (
  player_id INTEGER PRIMARY KEY,
  nickname TEXT NOT NULL, -- not unique
  country TEXT, -- ISO code; NULL: unknown
  registered_at TIMESTAMP NOT NULL,
  referred_by INTEGER REFERENCES player (player_id), -- NULL: came without a referral
  is_tester BOOLEAN NOT NULL, -- staff of the studio
  banned_at TIMESTAMP -- NULL: not banned
);
CREATE TABLE install (
  install_id INTEGER PRIMARY KEY,
  player_id INTEGER NOT NULL REFERENCES player (player_id),
  game_id INTEGER NOT NULL REFERENCES game (game_id),
  installed_at TIMESTAMP NOT NULL,
  platform TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
  source TEXT NOT NULL CHECK (source IN ('organic', 'ads', 'crosspromo', 'preload')),
  ad_cost_cents INTEGER, -- US cents paid for the install; NULL unless source is ads
  uninstalled_at TIMESTAMP -- NULL: still on the phone
);
CREATE TABLE play_session (
  session_id INTEGER PRIMARY KEY,
  install_id INTEGER NOT NULL REFERENCES install (install_id),
  started_at TIMESTAMP NOT NULL,
  duration_ms INTEGER, -- milliseconds; NULL: the app crashed
  app_version TEXT NOT NULL
);
CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES play_session (session_id),
  game_id INTEGER NOT NULL,
  level_no INTEGER NOT NULL,
  began_at TIMESTAMP NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('won', 'lost', 'quit')),
  stars INTEGER, -- 1 to 3; NULL unless won
  FOREIGN KEY (game_id, level_no) REFERENCES game_level (game_id, level_no)
);
CREATE TABLE product (
  product_id INTEGER PRIMARY KEY,
  game_id INTEGER NOT NULL REFERENCES game (game_id),
  title TEXT NOT NULL, -- two games may sell the same title
  kind TEXT NOT NULL CHECK (kind IN ('currency', 'item', 'pass')),
  price_cents INTEGER NOT NULL, -- list price of today, US cents
  gems INTEGER -- gems that the product credits; NULL unless kind is currency
);
CREATE TABLE purchase (
  purchase_id INTEGER PRIMARY KEY,
  install_id INTEGER NOT NULL REFERENCES install (install_id),
  product_id INTEGER NOT NULL REFERENCES product (product_id),
  purchased_at TIMESTAMP NOT NULL,
  paid_cents INTEGER NOT NULL, -- US cents before refunds
  fee_bp INTEGER NOT NULL, -- share of paid_cents that the store keeps, basis points
  status TEXT NOT NULL CHECK (status IN ('completed', 'pending', 'failed'))
);
CREATE TABLE refund (
  refund_id INTEGER PRIMARY KEY,
  purchase_id INTEGER NOT NULL REFERENCES purchase (purchase_id), -- may be refunded in parts
  refunded_at TIMESTAMP NOT NULL,
  amount_cents INTEGER NOT NULL,
  reason TEXT -- accident, defect, fraud; NULL: not stated
);
CREATE TABLE wallet (
  install_id INTEGER NOT NULL REFERENCES install (install_id),
  currency TEXT NOT NULL CHECK (currency IN ('coins', 'gems')),
  balance INTEGER NOT NULL, -- negative: overdrawn
  PRIMARY KEY (install_id, currency)
);
CREATE TABLE wallet_entry (
  entry_id INTEGER PRIMARY KEY,
  install_id INTEGER NOT NULL REFERENCES install (install_id),
  currency TEXT NOT NULL,
  booked_at TIMESTAMP NOT NULL,
  delta INTEGER NOT NULL, -- negative: spent or taken back
  reason TEXT NOT NULL CHECK (reason IN ('purchase', 'reward', 'spend', 'gift', 'correction'))
);
"""

DAY = datetime.date
GAMES = [
    ("Gem Harbor", "puzzle", DAY(2023, 5, 10), None, 12),
    ("Kart Clash", "racing", DAY(2023, 9, 1), None, 10),
    ("Word Garden", "puzzle", DAY(2024, 2, 15), None, 8),
    ("Dungeon Ledger", "rpg", DAY(2023, 11, 20), None, 14),
    ("Paper Pilots", "arcade", DAY(2023, 3, 1), DAY(2024, 6, 30), 6),
    ("Moon Miners", "rpg", None, None, 3),
]
PLACES = ["Dock", "Cave", "Bridge", "Tower", "Garden", "Ruins", "Gate", "Lagoon"]
PRODUCTS = [
    (1, "Starter Pack", "item", 299, None),
    (1, "Pile of Gems", "currency", 499, 500),
    (1, "Chest of Gems", "currency", 1999, 2400),
    (1, "Harbor Pass", "pass", 999, None),
    (2, "Starter Pack", "item", 199, None),
    (2, "Pile of Gems", "currency", 499, 450),
    (2, "Season Pass", "pass", 999, None),
    (2, "Golden Kart", "item", 1499, None),
    (3, "Hint Bundle", "item", 99, None),
    (3, "Pile of Gems", "currency", 399, 500),
    (4, "Starter Pack", "item", 299, None),
    (4, "Pile of Gems", "currency", 499, 500),
    (4, "Vault of Gems", "currency", 4999, 6000),
    (4, "Season Pass", "pass", 1299, None),
    (5, "No Ads", "item", 299, None),
    (4, "Dragon Skin", "item", 2499, None),
]  # the last product was never bought
NAMES = ["Pixel", "Comet", "Luna", "Bolt", "Echo", "Mango", "Rook", "Tango", "Nova", "Fizz", "Otter", "Sable", "Kiwi"]
COUNTRIES = ["US", "US", "US", "DE", "BR", "BR", "JP", "KR", None]
VERSIONS = [(DAY(2024, 3, 1), "1.9.0"), (DAY(2024, 6, 15), "1.10.0"), (DAY(2024, 10, 1), "2.0.0"), (None, "2.1.0")]
END = datetime.datetime(2024, 12, 31, 23, 59, 59)
TURN = [datetime.datetime(2024, m, d, 23, 59, 20) for m, d in [(1, 31), (3, 31), (4, 30), (6, 30), (9, 30), (12, 31)]]


def moment(random, start, days):
    """A moment within some days after another."""
    return start + datetime.timedelta(seconds=random.randrange(days * 86400))


def version(at):
    return next(name for until, name in VERSIONS if until is None or at.date() < until)


def players(random):
    out = []
    start = datetime.datetime(2023, 10, 1)
    for player in range(1, 421):
        at = start + datetime.timedelta(days=player, seconds=random.randrange(86400))
        if random.random() < 0.5:
            at = start + datetime.timedelta(days=random.randrange(60, 440), seconds=random.randrange(86400))
        earlier = [p for p, _, when in out if when < at]
        referrer = random.choice(earlier[-60:]) if earlier and random.random() < 0.25 else None
        name = random.choice(NAMES) + random.choice(["", "", "77", "_x", "Pro"])
        banned = moment(random, at, 120) if random.random() < 0.05 else None
        out.append((player, (name, random.choice(COUNTRIES), at, referrer, player % 29 == 0, banned), at))
    return out


class Counter:
    def __init__(self):
        self.n = {}

    def next(self, table):
        self.n[table] = self.n.get(table, 0) + 1
        return self.n[table]


def attempts(random, count, session, game, at, reached):
    """Attempts of a session; the highest level that is open."""
    for _ in range(random.choice([0, 1, 2, 2, 3, 4])):
        level = reached if random.random() < 0.75 else random.randint(1, reached)
        outcome = random.choices(["won", "lost", "quit"], [5, 4, 2])[0]
        stars = random.choice([1, 2, 2, 3]) if outcome == "won" else None
        yield reached, ("attempt", (count.next("attempt"), session, game, level, at, outcome, stars))
        at += datetime.timedelta(seconds=random.randrange(40, 400))
        if outcome == "won" and level == reached:
            reached = min(reached + 1, GAMES[game - 1][4])
    yield reached, None


def purchases(random, count, install, game, times, platform):
    own = [i for i, p in enumerate(PRODUCTS, 1) if p[0] == game and p[1] != "Dragon Skin"]
    for at in times:
        product = random.choice(own)
        price, gems = PRODUCTS[product - 1][3:]
        paid = random.choice([price, price, price, price, price // 2, price * 4 // 5])
        status = random.choices(["completed", "pending", "failed"], [20, 1, 3])[0]
        fee = 1500 if platform == "android" and random.random() < 0.4 else 3000
        number = count.next("purchase")
        yield "purchase", (number, install, product, at, paid, fee, status)
        if status == "completed" and gems:
            yield "gems", (at, gems)
        if status == "completed" and random.random() < 0.13:
            parts = random.choice([1, 1, 1, 2])
            amount = paid if random.random() < 0.6 else paid // 2
            when = moment(random, at, 40)
            if (when.year, when.month) == (2024, 5):
                when = when.replace(month=6, day=min(when.day, 30))  # no refunds in May 2024
            for part in range(parts):
                share = amount // parts if part else amount - amount // parts * (parts - 1)
                reason = random.choice(["accident", "accident", "defect", "fraud", None])
                later = when + datetime.timedelta(days=part)
                yield "refund", (count.next("refund"), number, later, share, reason)


def entries(random, count, install, credits, times):
    """Wallet entries, and wallets; a few balances differ from the sum of the entries."""
    booked = [(at, "gems", gems, "purchase") for at, gems in credits]
    for at in times:
        if random.random() < 0.55:
            booked.append((at, "coins", random.choice([50, 100, 100, 250]), "reward"))
        if random.random() < 0.3:
            booked.append((at + datetime.timedelta(seconds=90), "coins", -random.choice([40, 60, 120]), "spend"))
        if random.random() < 0.12:
            booked.append((at, "gems", random.choice([5, 10, 25]), random.choice(["gift", "reward"])))
        if random.random() < 0.02:
            booked.append((at, "coins", random.choice([-30, 30]), "correction"))
    for at, gems in credits:
        if random.random() < 0.7:
            booked.append((at + datetime.timedelta(hours=2), "gems", -random.randrange(50, gems), "spend"))
    total = {"coins": 0}
    for at, currency, delta, reason in sorted(booked):
        total[currency] = total.get(currency, 0) + delta
        yield "wallet_entry", (count.next("wallet_entry"), install, currency, at, delta, reason)
    for currency, balance in total.items():
        yield "wallet", (install, currency, balance + (15 if install % 61 == 0 else 0))


def install(random, count, player, registered, game):
    number = count.next("install")
    at = moment(random, max(registered, datetime.datetime.combine(GAMES[game - 1][2], datetime.time(8))), 30)
    if random.random() < 0.05:
        at = random.choice([t for t in TURN if t >= at] or [at])
    last = min(END, datetime.datetime.combine(GAMES[game - 1][3] or END.date(), datetime.time(23, 59)))
    if at >= last:
        at = last - datetime.timedelta(hours=5)
    platform = random.choice(["ios", "android", "android"])
    source = random.choices(["organic", "ads", "crosspromo"], [5, 4, 2])[0]
    cost = random.choice([80, 120, 150, 150, 240, 310]) if source == "ads" else None
    times, next_at = [], at + datetime.timedelta(minutes=3)
    for _ in range(random.choice([0, 1, 2, 4, 8, 14, 22])):
        if next_at > last:
            break
        times.append(next_at)
        pause = random.choice([3, 9, 20, 26, 30, 55, 120, 300])
        next_at += datetime.timedelta(hours=pause, seconds=random.randrange(3600))
    gone = None
    if random.random() < 0.35:
        gone = (times[-1] if times else at) + datetime.timedelta(hours=random.randrange(2, 400))
        gone = gone if gone <= END else None
    yield "install", (number, player, game, at, platform, source, cost, gone)
    reached = 1
    for when in times:
        session = count.next("play_session")
        length = None
        if random.random() >= 0.04:
            length = random.choice([60, 180, 300, 300, 600, 900, 1500, 2700]) * 1000 + random.randrange(1000)
        yield "play_session", (session, number, when, length, version(when))
        for reached, row in attempts(random, count, session, game, when, reached):
            if row:
                yield row
    bought = [t + datetime.timedelta(minutes=2) for t in times if random.random() < 0.25] if number % 5 < 2 else []
    credits = []
    for table, values in purchases(random, count, number, game, bought, platform):
        if table == "gems":
            credits.append(values)
        else:
            yield table, values
    yield from entries(random, count, number, credits, times)


def rows(random):
    for game, (title, genre, launched, sunset, levels) in enumerate(GAMES, 1):
        yield "game", (game, title, genre, launched, sunset)
        for level in range(1, levels + 1):
            difficulty = "easy" if level < 4 else "medium" if level < 8 else "hard"
            yield "game_level", (game, level, random.choice(PLACES), difficulty, level % 5 == 0)
    for product, values in enumerate(PRODUCTS, 1):
        yield "product", (product, *values)
    people = players(random)
    for player, values, _ in people:
        yield "player", (player, *values)
    count = Counter()
    for player, _, registered in people:
        for game in random.sample([1, 2, 3, 4, 5], random.choice([0, 1, 1, 1, 2, 2, 3])):
            if game == 5 and registered > datetime.datetime(2024, 6, 20):
                continue
            yield from install(random, count, player, registered, game)
            if game < 5 and random.random() < 0.08:  # the player installs the game again
                yield from install(random, count, player, registered + datetime.timedelta(days=50), game)
