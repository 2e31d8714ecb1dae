"""Insurance: policies of three lines (subtypes share the key), premiums, claims, payments on claims, brokers.
Foreign keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE BROKER (
  BROKER_ID INTEGER PRIMARY KEY,
  BROKER_NAME TEXT NOT NULL,
  REGION TEXT NOT NULL,
  HEAD_BROKER_ID INTEGER REFERENCES BROKER (BROKER_ID), -- NULL: head office or independent
  COMMISSION_PCT NUMERIC(4,1) NOT NULL, -- percent of the premium
  TERMINATED_ON DATE -- NULL: contract runs
);
CREATE TABLE CUSTOMER (
  CUST_ID INTEGER PRIMARY KEY,
  FULL_NAME TEXT NOT NULL,
  BIRTH_DATE DATE, -- NULL: a company
  CITY TEXT NOT NULL
);
CREATE TABLE POLICY (
  POLICY_ID INTEGER PRIMARY KEY,
  POLICY_NO TEXT NOT NULL,
  LINE TEXT NOT NULL CHECK (LINE IN ('MOTOR', 'HOME', 'LIFE')),
  HOLDER_ID INTEGER NOT NULL REFERENCES CUSTOMER (CUST_ID),
  PAYER_ID INTEGER NOT NULL REFERENCES CUSTOMER (CUST_ID), -- often the holder
  BROKER_ID INTEGER REFERENCES BROKER (BROKER_ID), -- NULL: sold directly
  SIGNED_DATE DATE NOT NULL,
  START_DATE DATE NOT NULL,
  END_DATE DATE, -- last day of cover; NULL: no end agreed
  STATUS TEXT NOT NULL CHECK (STATUS IN ('ACTIVE', 'LAPSED', 'CANCELLED', 'DRAFT'))
);
CREATE TABLE MOTOR_POLICY (
  POLICY_ID INTEGER PRIMARY KEY REFERENCES POLICY (POLICY_ID),
  MAKE TEXT NOT NULL,
  FUEL TEXT NOT NULL, -- P petrol, D diesel, E electric
  NO_CLAIMS_YEARS INTEGER NOT NULL,
  DEDUCTIBLE NUMERIC(8,2) NOT NULL
);
CREATE TABLE HOME_POLICY (
  POLICY_ID INTEGER PRIMARY KEY REFERENCES POLICY (POLICY_ID),
  SUM_INSURED NUMERIC(12,2) NOT NULL,
  BUILD_YEAR INTEGER, -- NULL: unknown
  FLOOD_COVER BOOLEAN NOT NULL
);
CREATE TABLE LIFE_POLICY (
  POLICY_ID INTEGER PRIMARY KEY REFERENCES POLICY (POLICY_ID),
  SUM_INSURED NUMERIC(12,2) NOT NULL,
  SMOKER BOOLEAN NOT NULL,
  BENEFICIARY_ID INTEGER REFERENCES CUSTOMER (CUST_ID) -- NULL: the estate
);
CREATE TABLE PREMIUM (
  PREMIUM_ID INTEGER PRIMARY KEY,
  POLICY_ID INTEGER NOT NULL REFERENCES POLICY (POLICY_ID),
  DUE_DATE DATE NOT NULL,
  PAID_DATE DATE, -- NULL: not paid yet
  AMOUNT NUMERIC(10,2) NOT NULL
);
CREATE TABLE CLAIM (
  CLAIM_ID INTEGER PRIMARY KEY,
  POLICY_ID INTEGER NOT NULL REFERENCES POLICY (POLICY_ID),
  CAUSE TEXT NOT NULL, -- COLLISION, GLASS, THEFT, WATER, FIRE, STORM, DEATH, OTHER
  LOSS_DATE DATE NOT NULL,
  REPORTED_DATE DATE NOT NULL,
  CLOSED_DATE DATE, -- NULL: open
  RESERVE NUMERIC(12,2) NOT NULL, -- estimate at the time of the report
  STATUS TEXT NOT NULL CHECK (STATUS IN ('OPEN', 'SETTLED', 'REJECTED'))
);
CREATE TABLE CLAIM_PAYMENT (
  PAYMENT_ID INTEGER PRIMARY KEY,
  CLAIM_ID INTEGER NOT NULL REFERENCES CLAIM (CLAIM_ID),
  PAY_DATE DATE NOT NULL,
  KIND TEXT NOT NULL, -- I indemnity, E expenses (experts, lawyers)
  AMOUNT NUMERIC(12,2) NOT NULL
);
"""

BROKERS = [
    "Alder & Sons",
    "Bridge Cover",
    "Castle Risk",
    "Delta Brokers",
    "Eastgate",
    "Fairway Partners",
    "Guildhall",
    "Harbour Direct",
    "Ivy Lane",
    "Juniper",
    "Kestrel Cover",
    "Lighthouse",
]
HEADS = [None, 1, 1, None, 4, None, None, 7, 7, 4, 6, None]  # Kestrel Cover and Lighthouse have no policy
FIRST = ["Ann", "Brian", "Carla", "David", "Edith", "Frank", "Grace", "Henry", "Iris", "John"]
LAST = ["Adams", "Baker", "Clark", "Davies", "Evans", "Foster", "Green", "Hughes"]
CITIES = ["Leeds", "Leeds", "York", "Bristol", "Cardiff", "Hull"]
CAUSES = {
    "MOTOR": ["COLLISION", "COLLISION", "GLASS", "GLASS", "THEFT", "OTHER"],
    "HOME": ["WATER", "WATER", "FIRE", "STORM", "THEFT", "OTHER"],
    "LIFE": ["DEATH"],
}
CHANCE = {"MOTOR": [0, 0, 1, 1, 2, 3], "HOME": [0, 0, 0, 1, 2], "LIFE": [0] * 5 + [1]}
END = datetime.date(2024, 12, 31)
DAY = datetime.timedelta(days=1)


def subtype(random, policy, line):
    if line == "MOTOR":
        values = (
            random.choice(["Ford", "Ford", "Opel", "Volvo", "Tesla"]),
            random.choice("PPDDE"),
            random.randrange(0, 15),
            random.choice([0, 150, 300, 500]),
        )
    elif line == "HOME":
        values = (
            random.choice([120, 180, 250, 250, 400]) * 1000,
            random.choice([None, 1905, 1950, 1978, 1990, 2004, 2015]),
            random.random() < 0.3,
        )
    else:
        values = (
            random.choice([50, 100, 100, 200, 300]) * 1000,
            random.random() < 0.25,
            random.choice([None, random.randrange(1, 261)]),
        )
    return line + "_POLICY", (policy, *values)


def premiums(random, start, last, amount):
    """(due, paid) of a quarterly premium."""
    due = start
    while due <= min(last, END):
        late = random.choice([-5, 0, 0, 2, 6, 14, 35])
        paid = None if random.random() < (0.3 if due.year == 2024 and due.month > 9 else 0.04) else due + late * DAY
        yield due, paid, amount
        due += random.choice([91, 91, 92]) * DAY
        if due.month == 12 and due.day == 31:
            due += DAY


def rows(random):
    for i, name in enumerate(BROKERS, 1):
        yield "BROKER", (
            i,
            name,
            ["North", "South", "West"][i % 3],
            HEADS[i - 1],
            [5, 7.5, 10, 7.5][i % 4],
            datetime.date(2023, 9, 30) if i in (5, 9) else None,
        )
    for i in range(1, 261):
        company = i % 26 == 0
        name = (
            random.choice(LAST) + " Ltd" if company else f"{random.choice(FIRST)} {random.choice(LAST)}"
        )  # some share a name
        yield "CUSTOMER", (
            i,
            name,
            None if company else datetime.date(1940, 1, 1) + random.randrange(23000) * DAY,
            random.choice(CITIES),
        )
    n_premiums = n_claims = n_payments = 0
    for i in range(1, 421):
        line, holder = random.choice(["MOTOR", "MOTOR", "MOTOR", "HOME", "HOME", "LIFE"]), random.randrange(
            1, 231
        )  # customers 231 to 260 hold no policy
        signed = datetime.date(2021, 11, 1) + random.randrange(1000) * DAY
        if signed.year == 2023 and signed.month == 8:
            signed = datetime.date(2023, 7, 31)  # no policy is signed in August 2023
        start = signed + random.choice([1, 1, 10, 30, 60]) * DAY
        status = random.choices(["ACTIVE", "LAPSED", "CANCELLED", "DRAFT"], [12, 3, 3, 1])[0]
        end = {"ACTIVE": random.choice([None, None, datetime.date(2025, 6, 30)]), "DRAFT": None}.get(
            status, min(start + random.randrange(90, 700) * DAY, END)
        )
        yield "POLICY", (
            i,
            f"{line[0]}-{10000 + i * 7}",
            line,
            holder,
            holder if random.random() < 0.8 else random.randrange(1, 261),
            None if i % 4 == 0 else random.randrange(1, 11),
            signed,
            start,
            end,
            status,
        )
        yield subtype(random, i, line)
        if status == "DRAFT":
            continue
        amount = {"MOTOR": 130.5, "HOME": 72.25, "LIFE": 48}[line] + random.choice([0, 12, 12.5, 40, 95])
        last = min(end or END, END)
        for values in premiums(random, start, last, amount):
            if i % 41 == 7:
                break  # the premiums of this policy were never invoiced
            n_premiums += 1
            yield "PREMIUM", (n_premiums, i, *values)
        for _ in range(random.choice(CHANCE[line])):
            n_claims += 1
            loss = start + random.randrange(max((last - start).days, 1)) * DAY
            reported = min(loss + random.choice([0, 0, 1, 2, 5, 20, 60]) * DAY, END)
            state = random.choices(["SETTLED", "REJECTED", "OPEN"], [6, 2, 3 if reported.year == 2024 else 1])[0]
            closed = None if state == "OPEN" else min(reported + random.randrange(3, 200) * DAY, END)
            reserve = 50000 if line == "LIFE" else random.choice([300, 500, 800, 1200, 1200, 2500, 6000, 15000])
            yield "CLAIM", (n_claims, i, random.choice(CAUSES[line]), loss, reported, closed, reserve, state)
            parts = {
                "SETTLED": random.choice([1, 1, 2, 3]),
                "OPEN": random.choice([0, 0, 1]),
                "REJECTED": random.choice([0, 0, 0, 1]),
            }[state]
            for part in range(parts):
                n_payments += 1
                paid = min(reported + random.randrange(2, 120) * DAY, closed or END)
                kind = "E" if state == "REJECTED" or random.random() < 0.25 else "I"
                yield "CLAIM_PAYMENT", (
                    n_payments,
                    n_claims,
                    paid,
                    kind,
                    round(
                        (
                            reserve * random.choice([0.08, 0.2, 0.3, 0.5])
                            if kind == "I"
                            else random.choice([90, 140.5, 420])
                        ),
                        2,
                    ),
                )
