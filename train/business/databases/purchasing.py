"""Purchasing of an industrial company: requisitions, orders, receipts, invoices and price agreements. No key is
declared.
"""

import datetime

SCHEMA = """
CREATE TABLE SUPP (
  SUPP_NO INTEGER NOT NULL,
  SUPP_NM TEXT NOT NULL,
  CTRY TEXT NOT NULL,
  BLKD BOOLEAN NOT NULL -- blocked for new orders
);
CREATE TABLE EMPL (
  EMP_NO INTEGER NOT NULL,
  EMP_NM TEXT NOT NULL,
  DEPT TEXT NOT NULL,
  MGR_NO INTEGER -- employee number of the manager
);
CREATE TABLE ITEM (
  ITEM_CD TEXT NOT NULL,
  ITEM_NM TEXT NOT NULL,
  CAT TEXT NOT NULL
);
CREATE TABLE PRC_AGR ( -- price agreements
  SUPP_NO INTEGER NOT NULL,
  ITEM_CD TEXT NOT NULL,
  VLD_FR DATE NOT NULL,
  VLD_TO DATE, -- last day; NULL: until further notice
  AGR_PRC NUMERIC(10,2) NOT NULL
);
CREATE TABLE REQN (
  REQ_NO INTEGER NOT NULL,
  REQ_BY INTEGER NOT NULL, -- employee
  APPR_BY INTEGER, -- employee; NULL: not decided
  REQ_DT DATE NOT NULL,
  EST_AMT NUMERIC(12,2), -- NULL: not estimated
  STAT TEXT NOT NULL -- N new, A approved, R rejected
);
CREATE TABLE PO_HDR (
  PO_NO INTEGER NOT NULL,
  SUPP_NO INTEGER NOT NULL,
  REQ_NO INTEGER, -- NULL: ordered without a requisition
  ORD_BY INTEGER NOT NULL, -- employee
  APPR_BY INTEGER, -- employee; NULL: below the limit, no approval needed
  ORD_DT DATE NOT NULL,
  PROM_DT DATE NOT NULL, -- promised delivery
  STAT TEXT NOT NULL -- O open, C closed, X cancelled
);
CREATE TABLE PO_LN (
  PO_NO INTEGER NOT NULL,
  LN_NO INTEGER NOT NULL,
  ITEM_CD TEXT NOT NULL,
  QTY NUMERIC(10,2) NOT NULL,
  UNIT_PRC NUMERIC(10,2) NOT NULL -- euros
);
CREATE TABLE RCPT (
  RCPT_NO INTEGER NOT NULL,
  PO_NO INTEGER NOT NULL,
  LN_NO INTEGER NOT NULL,
  RCPT_TS TIMESTAMP NOT NULL,
  QTY_RCVD NUMERIC(10,2) NOT NULL, -- rejected quantity included
  QTY_REJ NUMERIC(10,2) NOT NULL
);
CREATE TABLE INV (
  INV_NO INTEGER NOT NULL,
  PO_NO INTEGER NOT NULL,
  INV_DT DATE NOT NULL,
  DUE_DT DATE NOT NULL,
  PAID_DT DATE, -- NULL: not yet
  AMT_CT BIGINT NOT NULL -- cents; negative: credit note
);
"""

SUPPLIERS = [
    "Alfa Steel",
    "Bergmann",
    "Cortez Tools",
    "Delta Parts",
    "Elbe Chemie",
    "Fjord Marine",
    "Gallo",
    "Hanse Pack",
    "Iberia Metals",
    "Jansen",
    "Kovac",
    "Lumen Electric",
    "Moravia",
    "Nordlicht",
    "Omega Parts",
    "Bergmann",
    "Quadra",
    "Rhein Office",
    "Sirius",
    "Test Supplier",
]
EMPLOYEES = [
    "Greta Sand",
    "Luis Prado",
    "Hana Cerna",
    "Peter Lang",
    "Ivo Marin",
    "Clara Roth",
    "Peter Lang",
    "Dan Oduya",
    "Vera Kuhn",
    "Milan Hruby",
    "Ada Stone",
    "Felix Ott",
]
ITEMS = [
    ("Drill", "TOOL"),
    ("Saw blade", "TOOL"),
    ("Wrench", "TOOL"),
    ("Gloves", "SAFETY"),
    ("Helmet", "SAFETY"),
    ("Goggles", "SAFETY"),
    ("Solvent", "CHEM"),
    ("Grease", "CHEM"),
    ("Cable", "ELEC"),
    ("Switch", "ELEC"),
    ("Fuse", "ELEC"),
    ("Paper", "OFFICE"),
    ("Toner", "OFFICE"),
    ("Pallet", "PACK"),
    ("Carton", "PACK"),
    ("Gloves", "CHEM"),
]


def day(random, first, days):
    return first + datetime.timedelta(days=random.randrange(days))


def agreements(random):
    """{(supplier, item): [(from, to, price)]}: some with a gap, some that run on."""
    found = {}
    for supplier in range(1, 17):
        for item in random.sample(range(16), random.choice([0, 2, 3, 5, 6])):
            start, price, periods = (
                datetime.date(2022, 11, 1) + datetime.timedelta(days=random.choice([0, 30, 61, 120])),
                round(random.uniform(2, 140), 2),
                [],
            )
            for i in range(random.choice([1, 2, 2, 3])):
                end = start + datetime.timedelta(days=random.choice([180, 240, 364]))
                periods.append((start, end, price))
                start, price = end + datetime.timedelta(days=random.choice([1, 1, 1, 45])), round(
                    price * random.uniform(0.93, 1.15), 2
                )
            if random.random() < 0.6:
                periods[-1] = (periods[-1][0], None, periods[-1][2])
            found[supplier, item] = periods
    return found


def rows(random):
    for i, name in enumerate(SUPPLIERS, 1):
        yield "SUPP", (i, name, ["DE", "DE", "CZ", "ES", "IT", "NO"][i % 6], i in (7, 13))
    for i, name in enumerate(EMPLOYEES, 1):
        yield "EMPL", (
            i,
            name,
            ["BUY", "PROD", "MAINT", "BUY", "ADMIN"][i % 5],
            None if i == 1 else 1 if i <= 4 else random.choice([2, 3, 4]),
        )
    for i, (name, category) in enumerate(ITEMS):
        yield "ITEM", (f"IT{i:02d}", name, category)
    agreed = agreements(random)
    for (supplier, item), periods in agreed.items():
        for start, end, price in periods:
            yield "PRC_AGR", (supplier, f"IT{item:02d}", start, end, price)
    requested = {}
    for number in range(1, 521):
        status = random.choices("ARN", [8, 1, 1])[0]
        date = day(random, datetime.date(2023, 1, 2), 720)
        requested[number] = date, status
        yield "REQN", (
            number,
            random.choice([2, 3, 5, 6, 7, 8, 9, 10, 11]),
            None if status == "N" else random.choice([1, 2, 3, 4]),
            date,
            None if random.random() < 0.15 else random.choice([100, 250, 500, 500, 1200, 2400, 5000]),
            status,
        )
    approved = [n for n, (_, status) in requested.items() if status == "A"]
    n_receipts = n_invoices = 0
    for po in range(7001, 7001 + 780):
        request = random.choice(approved) if random.random() < 0.7 else None
        date = (
            requested[request][0] + datetime.timedelta(days=random.choice([0, 1, 2, 4, 9, 15, 31]))
            if request
            else day(random, datetime.date(2023, 1, 3), 725)
        )
        if (date.year, date.month) == (2024, 2):
            date = date.replace(month=3)  # nothing was ordered in February 2024
        date = min(date, datetime.date(2024, 12, 31))
        supplier = random.choices(range(1, 18), [6, 5, 5, 4, 4, 4, 1, 3, 3, 3, 3, 2, 1, 2, 2, 2, 1])[
            0
        ]  # suppliers 18 to 20 never received an order
        promised, buyer = date + datetime.timedelta(days=random.choice([3, 7, 7, 14, 14, 21, 30])), random.choice(
            [4, 5, 9, 9, 10]
        )
        status = (
            random.choices("COX", [75, 18, 7])[0]
            if date >= datetime.date(2024, 7, 1)
            else random.choices("COX", [91, 2, 7])[0]
        )
        lines = []
        for line in range(1, random.choice([1, 1, 2, 2, 3, 4]) + 1):
            item = (
                random.choice([i for s, i in agreed if s == supplier] or [1])
                if random.random() < 0.6
                else random.randrange(16)
            )
            current = [p for a, b, p in agreed.get((supplier, item), []) if a <= date and (b is None or date <= b)]
            price = (
                current[0]
                if current and random.random() < 0.7
                else round(current[0] * random.uniform(0.9, 1.3), 2) if current else round(random.uniform(2, 140), 2)
            )
            lines.append((line, item, random.choice([1, 2, 5, 10, 10, 12, 20, 50]), price))
        total = sum(q * p for _, _, q, p in lines)
        yield "PO_HDR", (
            po,
            supplier,
            request,
            buyer,
            None if total < 500 else buyer if random.random() < 0.05 else random.choice([1, 2, 3, 4]),
            date,
            promised,
            status,
        )
        for line, item, quantity, price in lines:
            yield "PO_LN", (po, line, f"IT{item:02d}", quantity, price)
        if status == "X":
            continue
        for line, _, quantity, _ in lines:
            parts = random.choice([1, 1, 1, 2]) if status == "C" else random.choice([0, 0, 1])
            for part in range(parts):
                amount = quantity if parts == 1 and status == "C" else max(1, quantity // 2)
                if parts == 2 and part == 1:
                    amount = max(0, quantity - max(1, quantity // 2))
                if not amount:
                    continue
                at = datetime.datetime.combine(
                    promised + datetime.timedelta(days=random.choice([-2, 0, 0, 0, 1, 3, 8]) + 5 * part),
                    datetime.time(random.choice([7, 9, 11, 15]), random.randrange(60)),
                )
                if random.random() < 0.02:
                    at = (at.replace(day=28) + datetime.timedelta(days=4)).replace(
                        day=1, hour=23, minute=59
                    ) - datetime.timedelta(days=1)
                n_receipts += 1
                yield "RCPT", (
                    n_receipts,
                    po,
                    line,
                    at,
                    amount,
                    random.choice([0, 0, 0, 0, 0, 1, 2]) if amount > 2 else 0,
                )
        parts = random.choice([1, 1, 1, 1, 2]) if status == "C" else random.choice([0, 0, 1])
        for part in range(parts):
            n_invoices += 1
            issued = promised + datetime.timedelta(days=random.choice([0, 1, 2, 5, 10]))
            due = issued + datetime.timedelta(days=random.choice([14, 30, 30, 60]))
            paid = (
                None
                if random.random() < (0.35 if due > datetime.date(2024, 10, 1) else 0.03)
                else due + datetime.timedelta(days=random.choice([-10, -3, -1, 0, 0, 2, 7, 20]))
            )
            yield "INV", (
                900000 + n_invoices,
                po,
                issued,
                due,
                paid,
                int(round(100 * total)) // parts + (random.choice([0, 0, 0, 990, -500]) if parts == 1 else 0),
            )
        if status == "C" and random.random() < 0.03:
            n_invoices += 1
            yield "INV", (
                900000 + n_invoices,
                po,
                promised + datetime.timedelta(days=25),
                promised + datetime.timedelta(days=39),
                promised + datetime.timedelta(days=30),
                -int(round(random.uniform(5, 60) * 100)),
            )
