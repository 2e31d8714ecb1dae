"""A regional bank: customers, accounts, transactions with reversals, cards and standing orders. Keys are declared,
codes have tables.
"""

import datetime

SCHEMA = """
CREATE TABLE branch (
  branch_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  region TEXT NOT NULL -- North, South, Online
);
CREATE TABLE customer (
  customer_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('P', 'B')), -- P private, B business
  born_on DATE, -- NULL: business, or unknown
  home_branch INTEGER NOT NULL REFERENCES branch (branch_id),
  joined_on DATE NOT NULL,
  left_on DATE -- NULL: still a customer
);
CREATE TABLE account_type (
  code TEXT PRIMARY KEY,
  label TEXT NOT NULL
);
CREATE TABLE account (
  account_id INTEGER PRIMARY KEY,
  owner_id INTEGER NOT NULL REFERENCES customer (customer_id),
  co_owner_id INTEGER REFERENCES customer (customer_id), -- NULL: one owner only
  branch_id INTEGER NOT NULL REFERENCES branch (branch_id), -- where it was opened
  type_code TEXT NOT NULL REFERENCES account_type (code),
  opened_on DATE NOT NULL,
  closed_on DATE, -- NULL: open
  overdraft_cents INTEGER NOT NULL
);
CREATE TABLE txn_code (
  code INTEGER PRIMARY KEY,
  label TEXT NOT NULL
);
CREATE TABLE txn (
  txn_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (account_id),
  code INTEGER NOT NULL REFERENCES txn_code (code),
  booked_at TIMESTAMP NOT NULL,
  value_on DATE NOT NULL, -- day from which interest counts
  amount_cents INTEGER NOT NULL, -- positive: money in, negative: money out
  reverses_id INTEGER REFERENCES txn (txn_id), -- the transaction that this one undoes (code 90)
  channel TEXT -- app, web, branch, atm; NULL: made by the bank itself
);
CREATE TABLE card (
  card_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (account_id),
  holder_id INTEGER NOT NULL REFERENCES customer (customer_id),
  kind TEXT NOT NULL, -- debit, credit
  issued_on DATE NOT NULL,
  blocked_at TIMESTAMP, -- NULL: works
  limit_cents INTEGER -- NULL: no limit agreed
);
CREATE TABLE standing_order (
  order_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (account_id),
  payee TEXT NOT NULL,
  amount_cents INTEGER NOT NULL, -- one payment
  rhythm TEXT NOT NULL CHECK (rhythm IN ('M', 'Q', 'Y')), -- monthly, quarterly, yearly
  first_on DATE NOT NULL,
  ended_on DATE -- NULL: goes on
);
"""

BRANCHES = [
    ("Old Town", "North"),
    ("Harbour", "North"),
    ("Station", "South"),
    ("Market", "South"),
    ("Hillside", "South"),
    ("Direct", "Online"),
    ("Fairground", "North"),
]  # the branch Fairground is new
TYPES = [
    ("GIR", "current account"),
    ("SAV", "savings account"),
    ("YTH", "youth account"),
    ("DEP", "fixed deposit"),
]  # no account is a fixed deposit
CODES = [
    (10, "salary"),
    (20, "card payment"),
    (30, "transfer out"),
    (31, "transfer in"),
    (40, "cash withdrawal"),
    (41, "cash deposit"),
    (50, "fee"),
    (60, "standing order"),
    (70, "interest"),
    (90, "reversal"),
    (99, "cheque"),
]  # cheques are no longer used
FIRST = ["Anna", "Ben", "Clara", "David", "Eva", "Felix", "Greta", "Hugo", "Ida", "Jan"]
LAST = ["Berg", "Krause", "Lindner", "Moser", "Novak", "Okafor", "Peters", "Rossi"]
FIRMS = ["Bakery", "Garage", "Studio", "Hotel", "Pharmacy"]
PAYEES = ["City Power", "Water Board", "Rent Office", "Gym 24", "Red Cross"]
END = datetime.datetime(2024, 12, 31, 23, 59)


def some_day(random, first, days):
    return first + datetime.timedelta(days=random.randrange(days))


def moves(random, opened, closed, business):
    """(code, time, amount, channel) of the transactions of an account, no cash withdrawals in July 2024."""
    first = max(opened, datetime.date(2023, 1, 1))
    last = min(closed or END.date(), END.date())
    for _ in range(int((last - first).days * random.choice([0, 0.02, 0.04, 0.05, 0.08]))):
        at = datetime.datetime.combine(
            some_day(random, first, (last - first).days),
            datetime.time(random.randrange(7, 22), random.randrange(0, 60, 5)),
        )
        if random.random() < 0.05:
            at = (at.replace(day=1) + datetime.timedelta(days=32)).replace(
                day=1, hour=0, minute=0
            ) - datetime.timedelta(minutes=1)
        if at > END or at.date() > last:
            continue
        code = random.choices([10, 20, 30, 31, 40, 41, 50, 60], [9, 30, 10, 12, 12, 4, 5, 8])[0]
        if code == 40 and (at.year, at.month) == (2024, 7):
            continue
        amount = {
            10: 100 * random.choice([1800, 2200, 2200, 3100]),
            20: -random.randrange(300, 12000),
            30: -100 * random.randrange(10, 900),
            31: 100 * random.randrange(10, 900),
            40: -5000 * random.randrange(1, 9),
            41: 5000 * random.randrange(1, 20),
            50: -random.choice([250, 490, 490, 900]),
            60: -100 * random.choice([25, 40, 650]),
        }[code] * (3 if business else 1)
        yield code, at, amount, {40: "atm", 41: "branch", 50: None, 60: None, 10: "web"}.get(code) or (
            random.choice(["app", "app", "web", "branch"]) if code not in (50, 60) else None
        )


def rows(random):
    for i, (name, region) in enumerate(BRANCHES, 1):
        yield "branch", (i, name, region)
    for code in TYPES:
        yield "account_type", code
    for code in CODES:
        yield "txn_code", code
    people = {}
    for i in range(1, 231):
        business = i % 9 == 0
        name = (
            f"{random.choice(FIRMS)} {random.choice(LAST)}"
            if business
            else f"{random.choice(FIRST)} {random.choice(LAST)}"
        )
        born = None if business or random.random() < 0.06 else some_day(random, datetime.date(1940, 1, 1), 24800)
        joined = some_day(random, datetime.date(2015, 1, 1), 3500)
        left = some_day(random, datetime.date(2023, 6, 1), 550) if i % 11 == 0 and joined.year < 2023 else None
        people[i] = business, born, joined, left
        yield "customer", (i, name, "B" if business else "P", born, random.randrange(1, 7), joined, left)
    n_accounts = n_txns = n_cards = n_orders = 0
    for owner, (business, born, joined, left) in people.items():
        for kind in random.choice(
            [[], ["GIR"], ["GIR"], ["GIR", "SAV"], ["GIR", "SAV"], ["GIR", "GIR", "SAV"]]
        ):  # some customers have no account
            n_accounts += 1
            kind = "YTH" if kind == "GIR" and born and born.year > 2003 else kind
            opened = joined + datetime.timedelta(days=random.choice([0, 0, 0, 30, 200]))
            if opened > datetime.date(2024, 11, 30):
                opened = joined
            closed = left or (
                some_day(random, datetime.date(2024, 1, 15), 330)
                if random.random() < 0.06 and opened.year < 2024
                else None
            )
            other = random.randrange(1, 231) if not business and random.random() < 0.15 else None
            yield "account", (
                n_accounts,
                owner,
                other if other != owner else None,
                random.randrange(1, 7),
                kind,
                opened,
                closed,
                random.choice([0, 50000, 100000, 200000]) if kind == "GIR" else 0,
            )
            todo = sorted(moves(random, opened, closed, business), key=lambda m: m[1])
            if kind == "SAV":
                todo = [m for m in todo if m[0] in (30, 31, 41)] + [
                    (70, datetime.datetime(y, 12, 31, 23, 59), random.randrange(100, 9000), None)
                    for y in (2023, 2024)
                    if opened.year < y and not closed
                ]
            for code, at, amount, channel in sorted(todo, key=lambda m: m[1]):
                n_txns += 1
                value = at.date() + datetime.timedelta(days=random.choice([0, 0, 0, 1, 2]))
                yield "txn", (n_txns, n_accounts, code, at, value, amount, None, channel)
                if code in (20, 30, 50) and random.random() < 0.03:
                    undo = at + datetime.timedelta(days=random.randrange(1, 25), hours=1)
                    if undo < END:
                        n_txns += 1
                        yield "txn", (n_txns, n_accounts, 90, undo, undo.date(), -amount, n_txns - 1, None)
            for _ in range(random.choice([0, 1, 1, 2]) if kind != "SAV" else 0):
                n_cards += 1
                issued = max(opened, datetime.date(2021, 1, 1)) + datetime.timedelta(days=random.randrange(60))
                blocked = (
                    datetime.datetime.combine(issued, datetime.time(23, 59))
                    + datetime.timedelta(days=random.randrange(20, 900))
                    if random.random() < 0.2
                    else None
                )
                holder = other if other and other != owner and random.random() < 0.4 else owner
                yield "card", (
                    n_cards,
                    n_accounts,
                    holder,
                    random.choice(["debit", "debit", "credit"]),
                    issued,
                    blocked if not blocked or blocked < END else None,
                    random.choice([None, 100000, 200000, 200000, 500000]),
                )
            for _ in range(random.choice([0, 0, 1, 1, 2, 3]) if kind != "SAV" else 0):
                n_orders += 1
                first = some_day(random, datetime.date(2021, 1, 1), 1400)
                ended = some_day(random, first, 900) if random.random() < 0.3 else None
                yield "standing_order", (
                    n_orders,
                    n_accounts,
                    random.choice(PAYEES),
                    100 * random.choice([10, 25, 25, 40, 60, 650, 800]),
                    random.choices("MQY", [7, 2, 1])[0],
                    first,
                    ended if ended and ended < END.date() else None,
                )
