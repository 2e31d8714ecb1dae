"""A mobile operator: subscribers, contracts on plans, calls, data usage, invoices and top-ups. No key is declared."""

import datetime

SCHEMA = """
CREATE TABLE plan (
  plan_cd TEXT,
  plan_nm TEXT,
  mth_fee NUMERIC(8,2), -- euros
  incl_mb INTEGER, -- data included a month; NULL: unlimited
  prepaid_flg INTEGER -- 1: prepaid, topped up; 0: billed
);
CREATE TABLE subscr (
  sub_no INTEGER,
  sub_nm TEXT,
  birth_dt DATE,
  city TEXT,
  seg_cd TEXT, -- R: residential, B: business, T: test line of ours
  recr_sub_no INTEGER -- subscriber who recruited this one, NULL: none
);
CREATE TABLE contr (
  contr_no INTEGER,
  sub_no INTEGER,
  plan_cd TEXT,
  start_dt DATE,
  end_dt DATE, -- last day; NULL: runs
  end_rsn_cd TEXT -- M: moved to another plan of ours, C: cancelled by the customer, D: disconnected by us
);
CREATE TABLE call_rec (
  call_id INTEGER,
  from_sub INTEGER,
  to_sub INTEGER, -- NULL: number of another operator
  start_ts TIMESTAMP,
  dur_s INTEGER, -- seconds; 0: not answered
  drop_flg INTEGER, -- 1: line was lost
  cost_ct INTEGER -- charged to the caller
);
CREATE TABLE data_use (
  sub_no INTEGER,
  use_dt DATE,
  mb INTEGER,
  roam_flg INTEGER -- 1: abroad
);
CREATE TABLE inv (
  inv_no INTEGER,
  contr_no INTEGER,
  per_mth TEXT, -- month billed, YYYY-MM
  iss_dt DATE,
  amt NUMERIC(9,2), -- euros
  paid_dt DATE, -- NULL: unpaid
  stat_cd TEXT -- O: open, P: paid, X: cancelled
);
CREATE TABLE topup (
  topup_id INTEGER,
  sub_no INTEGER,
  topup_ts TIMESTAMP,
  amt_ct INTEGER,
  chan TEXT
);
"""

PLANS = [
    ("S5", "Smart 5", 14.9, 5120, 0),
    ("S20", "Smart 20", 24.9, 20480, 0),
    ("MAX", "Max", 39.9, None, 0),
    ("PRE", "Flex Prepaid", 0, 1024, 1),
    ("KID", "Kids", 7.9, 512, 0),
    ("SEN", "Senior", 9.9, 2048, 0),
]  # no subscriber has the plan Senior
CITIES = ["Graz", "Graz", "Linz", "Wien", "Wien", "Wien", "Salzburg"]
FIRST = ["Anna", "Paul", "Lena", "Max", "Eva", "Jakob", "Mia", "Felix"]
LAST = ["Gruber", "Huber", "Wagner", "Pichler", "Moser", "Berger", "Fuchs"]
DAY = datetime.timedelta(days=1)
LAST_DAY = datetime.date(2024, 12, 31)


def contracts(random):
    """(plan, start, end, reason) of one subscriber in order."""
    day = datetime.date(2022, 10, 1) + DAY * random.randrange(600)
    for _ in range(3):
        if day > LAST_DAY:
            return
        plan = random.choices(["S5", "S20", "MAX", "PRE", "KID"], [4, 4, 2, 3, 1])[0]
        end, reason = day + DAY * random.randrange(40, 420), random.choices("MCD", [5, 3, 1])[0]
        if (end.year, end.month) == (2024, 2):
            end += 29 * DAY  # no contract ends in February 2024
        if end > LAST_DAY or random.random() < 0.35:
            end, reason = None, None
        yield plan, day, end, reason
        if end is None or reason == "D" or reason == "C" and random.random() < 0.8:
            return
        day = end + DAY * (1 if reason == "M" else random.randrange(10, 120))


def months(start, end):
    """First days of the months that a contract touches from 2023 on."""
    day = max(start, datetime.date(2023, 1, 1)).replace(day=1)
    while day <= (end or LAST_DAY):
        yield day
        day = (day + 32 * DAY).replace(day=1)


def rows(random):
    for plan in PLANS:
        yield "plan", plan
    fee, prepaid = {p[0]: p[2] for p in PLANS}, {p[0]: p[4] for p in PLANS}
    n_contract = n_invoice = n_topup = 0
    phases = {}
    for i in range(1, 301):
        sub = 1000 + i
        recruiter = 1000 + random.randrange(1, i) if i > 10 and random.random() < 0.25 else None
        birth = datetime.date(1945, 1, 1) + DAY * random.randrange(24000) if random.random() < 0.93 else None
        yield "subscr", (
            sub,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            birth,
            random.choice(CITIES),
            random.choices("RBT", [16, 5, 1])[0],
            recruiter,
        )
        phases[sub] = []
        for plan, start, end, reason in contracts(random) if i % 29 else ():  # some subscribers never had a contract
            n_contract += 1
            phases[sub].append((max(start, datetime.date(2023, 1, 1)), min(end or LAST_DAY, LAST_DAY)))
            yield "contr", (n_contract, sub, plan, start, end, reason)
            for month in months(start, end):
                if prepaid[plan]:
                    for _ in range(random.choice([0, 0, 1, 1, 2])):
                        n_topup += 1
                        at = datetime.datetime.combine(
                            (
                                (month + 31 * DAY).replace(day=1) - DAY
                                if random.random() < 0.15
                                else month + DAY * random.randrange(28)
                            ),
                            random.choice([datetime.time(23, 59, 30), datetime.time(random.randrange(24), 15)]),
                        )
                        yield "topup", (
                            n_topup,
                            sub,
                            at,
                            random.choice([500, 1000, 1000, 1500, 3000]),
                            random.choice(["app", "app", "web", "shop"]),
                        )
                    continue
                n_invoice += 1
                issued = (month + 32 * DAY).replace(day=3)
                state = random.choices("PPOX", [9, 9, 2, 1])[0]
                amount = round(fee[plan] + random.choice([0, 0, 0, 2.5, 4.9, 12]), 2)
                yield "inv", (
                    n_invoice,
                    n_contract,
                    month.strftime("%Y-%m"),
                    issued,
                    amount,
                    issued + DAY * random.randrange(1, 60) if state == "P" else None,
                    state,
                )
    with_line = [s for s in phases if any(a < b for a, b in phases[s])]
    for i in range(1, 9001):
        sub = random.choice(with_line)
        start, end = random.choice([p for p in phases[sub] if p[0] < p[1]])
        day = start + DAY * random.randrange((end - start).days)
        at = datetime.datetime.combine(
            day,
            random.choice(
                [datetime.time(23, 59, 5)] + [datetime.time(random.randrange(24), random.randrange(60), 11)] * 11
            ),
        )
        other = random.choice([s for s in random.sample(with_line, 2) if s != sub]) if random.random() < 0.6 else None
        length = random.choice([0, 0, 15, 60, 60, 95, 180, 400, 1260, 3600])
        yield "call_rec", (
            i,
            sub,
            other,
            at,
            length,
            int(length > 0 and random.random() < 0.06),
            0 if random.random() < 0.7 else length // 60 * 9,
        )
    for sub in with_line:
        for start, end in phases[sub]:
            day = start
            while day <= end:
                if day.month != 7 or day.year != 2023:  # usage of July 2023 was lost
                    yield "data_use", (
                        sub,
                        day,
                        random.choice([0, 12, 80, 80, 250, 900, 2100]),
                        int(random.random() < 0.08),
                    )
                day += DAY * random.choice([3, 7, 11, 20])
