"""Payments of a processor: what merchants take, what is reversed, disputed, charged and paid out, and the ledger.
Keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE merchant (
  merchant_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL, -- travel, grocery, electronics, gaming, donations
  country TEXT NOT NULL, -- ISO code
  onboarded_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP, -- NULL: still with us
  is_sandbox BOOLEAN NOT NULL -- 1: for trials only, no real money
);
CREATE TABLE payment (
  payment_id INTEGER PRIMARY KEY,
  merchant_id INTEGER NOT NULL REFERENCES merchant (merchant_id),
  created_at TIMESTAMP NOT NULL,
  captured_at TIMESTAMP, -- NULL: failed, or not captured yet
  amount_cents INTEGER NOT NULL,
  method TEXT NOT NULL, -- card, wallet, bank_debit
  status TEXT NOT NULL CHECK (status IN ('captured', 'failed', 'pending'))
);
CREATE TABLE fee (
  fee_id INTEGER PRIMARY KEY,
  payment_id INTEGER NOT NULL REFERENCES payment (payment_id),
  kind TEXT NOT NULL, -- processing, scheme
  amount_cents INTEGER NOT NULL
);
CREATE TABLE reversal (
  reversal_id INTEGER PRIMARY KEY,
  payment_id INTEGER NOT NULL REFERENCES payment (payment_id),
  reversed_at TIMESTAMP NOT NULL,
  amount_cents INTEGER NOT NULL, -- may be a part of the payment
  reason TEXT -- NULL: unknown
);
CREATE TABLE dispute (
  dispute_id INTEGER PRIMARY KEY,
  payment_id INTEGER NOT NULL REFERENCES payment (payment_id),
  opened_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP, -- NULL: not decided yet
  amount_cents INTEGER NOT NULL,
  outcome TEXT -- won or lost by the merchant; NULL while open
);
CREATE TABLE payout (
  payout_id INTEGER PRIMARY KEY,
  merchant_id INTEGER NOT NULL REFERENCES merchant (merchant_id),
  created_at TIMESTAMP NOT NULL,
  paid_at TIMESTAMP, -- NULL: not arrived
  amount_cents INTEGER NOT NULL,
  status TEXT NOT NULL -- paid, in_transit, failed
);
CREATE TABLE account (
  account_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  merchant_id INTEGER REFERENCES merchant (merchant_id) -- NULL: one of our own accounts
);
CREATE TABLE entry (
  entry_id INTEGER PRIMARY KEY,
  txn_no INTEGER NOT NULL, -- entries of one booking share it
  account_id INTEGER NOT NULL REFERENCES account (account_id),
  booked_at TIMESTAMP NOT NULL,
  side TEXT NOT NULL CHECK (side IN ('D', 'C')), -- debit or credit
  amount_cents INTEGER NOT NULL, -- never negative
  payment_id INTEGER REFERENCES payment (payment_id),
  payout_id INTEGER REFERENCES payout (payout_id),
  reverses_id INTEGER REFERENCES entry (entry_id) -- the entry that this one takes back; NULL: none
);
"""

START = datetime.datetime(2023, 1, 1)
OWN = ["clearing", "fee_income", "bank", "suspense"]  # the account suspense has no bookings
CATEGORIES = ["travel", "grocery", "grocery", "electronics", "gaming", "donations"]
FIRST = ["Alma", "Kite", "Nordic", "Plum", "Rocket", "Sunny", "Urban"]
SECOND = ["Tickets", "Market", "Gadgets", "Play", "Aid", "Travel"]
PRICES = [500, 999, 1500, 2500, 4900, 4900, 9900, 19900]


def moment(random, day):
    """A time of this day; sometimes its last minute."""
    return (
        datetime.datetime.combine(day, datetime.time(23, 59, 30))
        if random.random() < 0.06
        else datetime.datetime.combine(
            day, datetime.time(random.randrange(24), random.randrange(60), random.randrange(60))
        )
    )


def merchants(random):
    for i in range(1, 61):
        joined = moment(random, START + datetime.timedelta(days=random.randrange(0, 500)))
        closed = joined + datetime.timedelta(days=random.randrange(90, 400)) if random.random() < 0.2 else None
        yield (
            i,
            f"{random.choice(FIRST)} {random.choice(SECOND)}",
            random.choice(CATEGORIES),
            random.choice(["DE", "DE", "NL", "FR", "FR", "ES", "PT"]),
            joined,
            closed,
            i % 17 == 0,
        )


def payments(random, merchant):
    """Rows without id of the payments of a merchant; every tenth has none."""
    i, _, category, _, joined, closed, _ = merchant
    if i % 10 == 3:
        return
    last = min(closed or datetime.datetime(2024, 12, 30), datetime.datetime(2024, 12, 30))
    for _ in range(random.choice([5, 30, 60, 60, 90])):
        day = joined + datetime.timedelta(days=random.randrange((last - joined).days))
        if random.random() < 0.05:
            day = day.replace(day=1) - datetime.timedelta(days=1)  # the last day of a month
        at = max(moment(random, day), joined)
        cents = (
            random.choice(PRICES) * (4 if category == "travel" else 1)
            if random.random() < 0.7
            else random.randrange(300, 30000)
        )
        status = random.choices(["captured", "failed", "pending"], [85, 11, 4])[0]
        captured = at + datetime.timedelta(hours=random.choice([0, 0, 0, 6, 24, 50])) if status == "captured" else None
        yield i, at, captured, cents, random.choices(["card", "wallet", "bank_debit"], [6, 3, 2])[0], status


def reversals(random, captured, cents):
    if random.random() > 0.09:
        return
    parts = random.choice([1, 1, 1, 2])
    whole = random.random() < 0.5
    for part in range(parts):
        yield (
            captured + datetime.timedelta(days=random.randrange(1, 40) + 10 * part),
            cents // parts if whole else cents // 4,
            random.choice(["customer_request", "customer_request", "duplicate", "fraud", None]),
        )


def disputes(random, captured, cents):
    if random.random() > 0.06:
        return
    opened = captured + datetime.timedelta(days=random.randrange(5, 90))
    if (opened.year, opened.month) == (2024, 8):
        opened += datetime.timedelta(days=31)  # no disputes in August 2024
    closed = opened + datetime.timedelta(days=random.randrange(3, 70))
    if closed > datetime.datetime(2024, 12, 31) or random.random() < 0.1:
        yield opened, None, cents, None
    else:
        yield opened, closed, cents, random.choice(["won", "lost", "lost"])


def payouts(random, merchant):
    """Rows without id of roughly monthly payouts, none in February 2024; every twentieth merchant has none."""
    if merchant[0] % 20 == 3:
        return
    at = merchant[4] + datetime.timedelta(days=20)
    while at < (merchant[5] or datetime.datetime(2024, 12, 31)):
        status = random.choices(["paid", "in_transit", "failed"], [88, 4, 8])[0]
        paid = at + datetime.timedelta(days=random.choice([1, 1, 2, 2, 3, 6])) if status == "paid" else None
        if (at.year, at.month) != (2024, 2):
            yield merchant[0], at, paid, random.choice([20000, 35000, 50000, 50000, 80000]), status
        at += datetime.timedelta(days=random.choice([28, 31, 35]))


class Ledger:
    """Books pairs of entries."""

    def __init__(self, random):
        self.random, self.txn, self.entry = random, 0, 0

    def book(self, debit, credit, at, cents, payment=None, payout=None):
        self.txn += 1
        lost = cents // 10 if self.random.random() < 0.002 else 0  # a few bookings do not balance
        pair = [("D", debit, cents), ("C", credit, cents - lost)]
        for back in range(2 if self.random.random() < 0.01 else 1):  # a few are reversed two days later
            for side, account, amount in pair:
                self.entry += 1
                yield "entry", (
                    self.entry,
                    self.txn + back,
                    account,
                    at + datetime.timedelta(days=2 * back),
                    {"D": "C", "C": "D"}[side] if back else side,
                    amount,
                    payment,
                    payout,
                    self.entry - 2 if back else None,
                )
        self.txn += back


def rows(random):
    all_merchants = list(merchants(random))
    for merchant in all_merchants:
        yield "merchant", merchant
    for i, code in enumerate(OWN, 1):
        yield "account", (i, code, None)
    for merchant in all_merchants:
        yield "account", (100 + merchant[0], f"balance-{merchant[0]:03}", merchant[0])
    ledger, ids = Ledger(random), dict.fromkeys(["payment", "fee", "reversal", "dispute", "payout"], 0)

    def numbered(table, *values):
        ids[table] += 1
        return table, (ids[table], *values)

    taken = sorted((p for m in all_merchants for p in payments(random, m)), key=lambda p: p[1])
    for merchant, at, captured, cents, method, status in taken:
        yield numbered("payment", merchant, at, captured, cents, method, status)
        payment, balance = ids["payment"], 100 + merchant
        if not captured:
            continue
        yield from ledger.book(1, balance, captured, cents, payment)
        charged = 0 if random.random() < 0.07 else cents * 14 // 1000 + 25  # 0: the fee is waived
        if charged:
            yield numbered("fee", payment, "processing", charged)
        if method == "card":
            yield numbered("fee", payment, "scheme", 3 * cents // 1000 + 5)
        if charged:
            yield from ledger.book(balance, 2, captured, charged, payment)
        for back, part, reason in reversals(random, captured, cents):
            yield numbered("reversal", payment, back, part, reason)
            yield from ledger.book(balance, 1, back, part, payment)
        for values in disputes(random, captured, cents):
            yield numbered("dispute", payment, *values)
    for merchant in all_merchants:
        for i, at, paid, cents, status in payouts(random, merchant):
            yield numbered("payout", i, at, paid, cents, status)
            if paid:
                yield from ledger.book(100 + i, 3, paid, cents, payout=ids["payout"])
