"""Subscriptions of a software vendor: plans, accounts, invoices and payments. Foreign keys are declared."""

import datetime

SCHEMA = """
CREATE TABLE plan (
  plan_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  price_cents INTEGER NOT NULL, -- a seat and month
  retired_on DATE -- NULL: still sold
);
CREATE TABLE account (
  account_id INTEGER PRIMARY KEY,
  company TEXT NOT NULL,
  country TEXT NOT NULL, -- ISO code
  is_test BOOLEAN NOT NULL
);
CREATE TABLE subscription (
  sub_id INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES account (account_id),
  plan_id INTEGER NOT NULL REFERENCES plan (plan_id),
  started_on DATE NOT NULL,
  ended_on DATE, -- NULL: runs
  seats INTEGER NOT NULL
);
CREATE TABLE invoice (
  inv_id INTEGER PRIMARY KEY,
  sub_id INTEGER NOT NULL REFERENCES subscription (sub_id),
  issued_at TIMESTAMP NOT NULL,
  due_on DATE NOT NULL,
  amount_cents INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'void'))
);
CREATE TABLE payment (
  pay_id INTEGER PRIMARY KEY,
  inv_id INTEGER NOT NULL REFERENCES invoice (inv_id),
  paid_at TIMESTAMP NOT NULL,
  amount_cents INTEGER NOT NULL
);
"""

PLANS = [
    ("Solo", 900, None),
    ("Team", 1900, None),
    ("Scale", 3900, None),
    ("Legacy", 1500, datetime.date(2023, 3, 31)),
    ("Campus", 400, None),
]  # no account has the plan Campus
COUNTRIES = ["DE", "DE", "FR", "US", "US", "US", "JP"]
FIRST = ["Blue", "North", "Red", "Iron", "Silver", "Green", "Bright", "Quiet"]
SECOND = ["Harbor", "Field", "Works", "Foods", "Labs", "Logistics", "Media"]


def subscriptions(random, account):
    """(plan, start, end, seats) of the subscriptions of an account."""
    day = datetime.date(2022, 6, 1) + datetime.timedelta(days=random.randrange(800))
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3])):
        end = day + datetime.timedelta(days=random.randrange(60, 500))
        if end.month == 3 and end.year == 2024:
            end = end.replace(month=4, day=min(end.day, 30))  # no subscription ends in March 2024
        open_end = end > datetime.date(2024, 12, 31) or random.random() < 0.3
        yield random.choices([1, 2, 3, 4], [4, 5, 3, 2])[0], day, None if open_end else end, random.choice(
            [1, 2, 3, 5, 5, 10, 25]
        )
        if open_end:
            return
        day = end + datetime.timedelta(days=random.randrange(0, 90))


def invoices(random, start, end, price):
    """(issued, due, amount, status) of one invoice a month."""
    at = datetime.datetime.combine(start, datetime.time(random.choice([0, 9, 23]), random.choice([0, 30, 59])))
    last = end or datetime.date(2024, 12, 31)
    while at.date() <= last:
        yield at, at.date() + datetime.timedelta(days=30), price, random.choices(["paid", "open", "void"], [8, 2, 1])[0]
        at += datetime.timedelta(days=random.choice([30, 31]))


def rows(random):
    for i, (name, price, retired) in enumerate(PLANS, 1):
        yield "plan", (i, name, price, retired)
    n_subs = n_invoices = n_payments = 0
    for account in range(1, 181):
        company = f"{random.choice(FIRST)} {random.choice(SECOND)}"  # some companies share a name
        yield "account", (account, company, random.choice(COUNTRIES), account % 23 == 0)
        for plan, start, end, seats in subscriptions(random, account):
            n_subs += 1
            yield "subscription", (n_subs, account, plan, start, end, seats)
            for issued, due, amount, status in invoices(random, start, end, PLANS[plan - 1][1] * seats):
                n_invoices += 1
                yield "invoice", (n_invoices, n_subs, issued, due, amount, status)
                parts = {"paid": random.choice([1, 1, 1, 2]), "open": random.choice([0, 0, 1]), "void": 0}[status]
                for part in range(parts):
                    n_payments += 1
                    share = amount // parts if status == "paid" else amount // 3
                    if status == "paid" and part == parts - 1:
                        share = amount - share * (parts - 1)
                    yield "payment", (
                        n_payments,
                        n_invoices,
                        issued + datetime.timedelta(days=random.randrange(2, 70)),
                        share,
                    )
