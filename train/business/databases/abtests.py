"""A/B tests of an online shop: experiments, variants, assignments, exposures, orders as conversions. Foreign keys
are declared; money in cents.
"""

import datetime

SCHEMA = """
CREATE TABLE team (
  team_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);
CREATE TABLE person (
  person_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- two analysts have the same name
  team_id INTEGER NOT NULL REFERENCES team (team_id)
);
CREATE TABLE experiment (
  exp_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  owner_id INTEGER NOT NULL REFERENCES person (person_id),
  reviewer_id INTEGER REFERENCES person (person_id), -- NULL: not reviewed yet
  status TEXT NOT NULL CHECK (status IN ('draft', 'running', 'stopped', 'shipped')),
  started_at TIMESTAMP, -- NULL: still a draft
  ended_at TIMESTAMP, -- NULL: still running, or a draft
  traffic_pct INTEGER NOT NULL -- share of users that may enter, 1 to 100
);
CREATE TABLE variant (
  variant_id INTEGER PRIMARY KEY,
  exp_id INTEGER NOT NULL REFERENCES experiment (exp_id),
  label TEXT NOT NULL, -- 'control', 'A', 'B'
  weight INTEGER NOT NULL, -- planned share in percent; the weights of an experiment add up to 100
  is_control BOOLEAN NOT NULL
);
CREATE TABLE shop_user (
  user_id INTEGER PRIMARY KEY,
  registered_at TIMESTAMP NOT NULL,
  platform TEXT NOT NULL, -- 'web', 'ios', 'android'
  country TEXT NOT NULL,
  is_internal BOOLEAN NOT NULL, -- staff and testers
  deleted_at TIMESTAMP -- NULL: account exists
);
CREATE TABLE assignment (
  assignment_id INTEGER PRIMARY KEY,
  variant_id INTEGER NOT NULL REFERENCES variant (variant_id),
  user_id INTEGER NOT NULL REFERENCES shop_user (user_id),
  assigned_at TIMESTAMP NOT NULL
); -- a user is in an experiment at most once
CREATE TABLE exposure (
  exposure_id INTEGER PRIMARY KEY,
  assignment_id INTEGER NOT NULL REFERENCES assignment (assignment_id),
  seen_at TIMESTAMP NOT NULL,
  page TEXT NOT NULL
);
CREATE TABLE conversion (
  conversion_id INTEGER PRIMARY KEY,
  assignment_id INTEGER NOT NULL REFERENCES assignment (assignment_id),
  converted_at TIMESTAMP NOT NULL,
  revenue_cents INTEGER NOT NULL,
  margin_cents INTEGER NOT NULL, -- may be negative
  refunded_at TIMESTAMP -- NULL: kept
);
"""

TEAMS = ["Checkout", "Search", "Growth", "Mobile", "Research"]  # Research owns no experiment
PEOPLE = ["Ana Ruiz", "Tom Berg", "Li Wei", "Tom Berg", "Sara Noor", "Ola Lind", "Kim Park", "Joe Hart"]
# name, owner, reviewer, status, month and day of the start, days, traffic, weights
EXPERIMENTS = [
    ("Green buy button", 1, 2, "shipped", (1, 8), 21, 100, (50, 50)),
    ("One page checkout", 1, 3, "shipped", (1, 15), 35, 50, (34, 33, 33)),
    ("Search suggestions", 3, 1, "stopped", (2, 1), 29, 100, (50, 50)),
    ("Free shipping bar", 5, None, "stopped", (2, 12), 14, 30, (50, 50)),
    ("Ratings in results", 3, 4, "shipped", (3, 4), 28, 60, (80, 20)),
    ("Welcome coupon", 5, 2, "stopped", (3, 18), 40, 100, (34, 33, 33)),
    ("App onboarding", 6, 7, "shipped", (4, 2), 30, 80, (50, 50)),
    ("Dark mode", 6, None, "stopped", (5, 6), 14, 40, (50, 50)),
    ("Saved cards", 2, 1, "shipped", (5, 20), 35, 100, (50, 50)),
    ("Search suggestions", 4, 3, "stopped", (6, 3), 28, 100, (34, 33, 33)),
    ("Push reminder", 7, 6, "stopped", (8, 5), 26, 70, (50, 50)),
    ("Sticky cart", 2, 4, "shipped", (8, 19), 28, 100, (90, 10)),
    ("Gift wrap offer", 1, None, "running", (9, 30), None, 50, (50, 50)),
    ("Faster images", 7, 8, "running", (10, 14), None, 100, (50, 50)),
    ("Referral banner", 5, 1, "running", (11, 4), None, 20, (34, 33, 33)),
    ("Voice search", 3, None, "draft", None, None, 10, (50, 50)),
    ("Price per unit", 2, None, "draft", None, None, 50, (34, 33, 33)),
]
END = datetime.datetime(2024, 12, 31, 23, 59, 59)


def rows(random):
    for i, name in enumerate(TEAMS, 1):
        yield "team", (i, name)
    for i, name in enumerate(PEOPLE, 1):
        yield "person", (i, name, [1, 1, 2, 2, 3, 4, 4, 5][i - 1])
    n_variants, variants = 0, []
    for i, (name, owner, reviewer, status, day, days, traffic, weights) in enumerate(EXPERIMENTS, 1):
        start = day and datetime.datetime(2024, *day, random.choice([0, 9, 10]))
        end = start + datetime.timedelta(days=days) if days else None
        yield "experiment", (i, name, owner, reviewer, status, start, end, traffic)
        arms = []
        for label, weight in zip(("control", "A", "B"), weights):
            n_variants += 1
            arms.append((n_variants, label, weight))
            yield "variant", (n_variants, i, label, weight, label == "control")
        if start:
            variants.append((i, start, end or END, traffic, arms))
    users = []
    for user in range(1, 901):
        at = datetime.datetime(2023, 1, 1) + datetime.timedelta(
            days=random.randrange(700), seconds=random.randrange(86400)
        )
        gone = at + datetime.timedelta(days=random.randrange(30, 400)) if random.random() < 0.05 else None
        users.append((user, at))
        yield "shop_user", (
            user,
            at,
            random.choices(["web", "ios", "android"], [5, 3, 3])[0],
            random.choice(["DE", "DE", "FR", "IT", "ES", "PL"]),
            user % 31 == 0,
            gone if gone and gone < END else None,
        )
    n_assigned = n_seen = n_conv = 0
    for exp, start, end, traffic, arms in variants:
        span = int((end - start).total_seconds())
        for user, registered in users:
            if registered > start or random.random() > traffic / 320:
                continue
            variant, label, _ = random.choices(arms, [w for _, _, w in arms])[0]
            n_assigned += 1
            at = start + datetime.timedelta(seconds=random.randrange(span * 3 // 4))
            if random.random() < 0.03:
                at = at.replace(hour=23, minute=59, second=30)
            yield "assignment", (n_assigned, variant, user, at)
            seen = random.choices([0, 1, 2, 3, 6], [2, 4, 4, 2, 1])[0]
            for _ in range(seen):
                n_seen += 1
                yield "exposure", (
                    n_seen,
                    n_assigned,
                    min(END, at + datetime.timedelta(seconds=random.randrange(span // 4 or 1))),
                    random.choice(["home", "product", "cart", "search"]),
                )
            chance = {"control": 0.14, "A": 0.18, "B": 0.16}[label] if seen else 0.02
            for _ in range(random.choice([1, 1, 1, 2, 3]) if random.random() < chance * 1.6 else 0):
                when = at + datetime.timedelta(seconds=random.randrange(60, span // 4 + 90000))
                if when.month == 7 or when > END:
                    continue  # the order feed was down in July
                n_conv += 1
                revenue = random.choice([1999, 2499, 2499, 4990, 9900, 15000, 31900])
                refund = when + datetime.timedelta(days=random.randrange(1, 25)) if random.random() < 0.12 else None
                yield "conversion", (
                    n_conv,
                    n_assigned,
                    when,
                    revenue,
                    revenue * random.choice([-5, 10, 20, 30, 35]) // 100,
                    refund,
                )
