"""Stock of a wholesaler: movements in and out of warehouses, counts, reservations and suppliers. No key is
declared; dates are ISO text.
"""

import datetime

SCHEMA = """
CREATE TABLE WAREHOUSES (
  WH_CODE TEXT,
  CITY TEXT,
  CLOSED_ON TEXT -- NULL: open
);
CREATE TABLE SUPPLIERS (
  SUP_NO INTEGER,
  NAME TEXT,
  COUNTRY TEXT, -- ISO code
  LEAD_DAYS INTEGER -- promised; NULL: nothing promised
);
CREATE TABLE PRODUCTS (
  SKU TEXT,
  NAME TEXT,
  GROUP_CODE TEXT, -- TOOL, PAINT, GARDEN, ELEC
  SUP_NO INTEGER, -- main supplier; NULL: made by us
  COST_CENTS INTEGER, -- of a piece
  PRICE_CENTS INTEGER, -- of a piece
  REORDER_LEVEL INTEGER, -- pieces over all warehouses
  STATUS TEXT -- ACTIVE, PHASE_OUT, DELETED
);
CREATE TABLE MOVEMENTS (
  MOV_NO INTEGER,
  SKU TEXT,
  WH_CODE TEXT,
  MOVED_AT TEXT, -- YYYY-MM-DD HH:MM
  KIND TEXT, -- IN: from a supplier, OUT: to a customer, ADJ: correction after a count
  QTY INTEGER, -- pieces; IN and OUT are positive, ADJ has a sign
  SUP_NO INTEGER -- who delivered; only for IN
);
CREATE TABLE COUNTS (
  COUNT_NO INTEGER,
  SKU TEXT,
  WH_CODE TEXT,
  COUNTED_ON TEXT, -- YYYY-MM-DD
  FOUND_QTY INTEGER,
  BOOK_QTY INTEGER -- what the system said
);
CREATE TABLE RESERVATIONS (
  RES_NO INTEGER,
  SKU TEXT,
  WH_CODE TEXT,
  CUSTOMER TEXT,
  QTY INTEGER,
  MADE_ON TEXT,
  NEEDED_ON TEXT, -- NULL: no date agreed
  STATE TEXT -- OPEN, PICKED, CANCELLED
);
CREATE TABLE ORDERS_OUT (
  PO_NO INTEGER, -- orders to suppliers
  SUP_NO INTEGER,
  SKU TEXT,
  QTY INTEGER,
  ORDERED_ON TEXT,
  RECEIVED_ON TEXT -- NULL: not yet
);
"""

WAREHOUSES = [
    ("BRE", "Bremen", None),
    ("LEI", "Leipzig", None),
    ("MUC", "Munich", None),
    ("GRZ", "Graz", "2024-05-31"),
    ("ULM", "Ulm", None),
]  # the warehouse Ulm is new
SUPPLIERS = [
    ("Hansa Tools", "DE", 7),
    ("Brico Sud", "FR", 14),
    ("Nippon Parts", "JP", 40),
    ("Verde", "IT", 14),
    ("Alpin", "AT", None),
    ("Zenit", "CZ", 10),
    ("Hansa Tools", "NL", 7),
]  # two suppliers share a name; Zenit supplies nothing
NOUNS = {
    "TOOL": ["Hammer", "Drill", "Saw", "Wrench"],
    "PAINT": ["Primer", "Varnish", "Wall paint"],
    "GARDEN": ["Hose", "Rake", "Mower"],
    "ELEC": ["Cable", "Switch", "Lamp"],
}
SIZES = ["S", "M", "L", "XL", "Pro"]
CUSTOMERS = ["Baumann", "Holzer", "City Works", "Gruber", "Hausmann", "Kraus"]
START = datetime.date(2023, 1, 2)


def products(random):
    number = 0
    for group, nouns in NOUNS.items():
        for noun in nouns:
            for size in random.sample(SIZES, random.choice([3, 4, 5])):
                number += 1
                cost = random.choice([199, 450, 450, 890, 1250, 4900])
                yield (
                    f"{group[0]}{1000 + number}",
                    f"{noun} {size}",
                    group,
                    random.choice([1, 1, 2, 3, 4, 4, 5, 7, None]),
                    cost,
                    cost * random.choice([125, 140, 140, 180]) // 100,
                    random.choice([20, 50, 50, 120, 200]),
                    random.choices(["ACTIVE", "PHASE_OUT", "DELETED"], [8, 2, 1])[0],
                )


def rows(random):
    for row in WAREHOUSES:
        yield "WAREHOUSES", row
    for i, row in enumerate(SUPPLIERS, 1):
        yield "SUPPLIERS", (i, *row)
    everything = list(products(random))
    for product in everything:
        yield "PRODUCTS", product
    numbers, stock = dict.fromkeys(["MOVEMENTS", "COUNTS", "RESERVATIONS", "ORDERS_OUT"], 0), {}

    def numbered(table, *values):
        numbers[table] += 1
        return table, (numbers[table], *values)

    def move(product, place, day, kind, quantity, supplier=None):
        stock[product[0], place] = stock.get((product[0], place), 0) + (-quantity if kind == "OUT" else quantity)
        clock = (
            "23:59" if random.random() < 0.05 else f"{random.randrange(6, 20):02}:{random.choice([0, 15, 30, 45]):02}"
        )
        return numbered("MOVEMENTS", product[0], place, f"{day} {clock}", kind, quantity, supplier)

    for product in everything[:-3]:  # the last three products never moved
        for place in random.sample(["BRE", "LEI", "MUC", "GRZ"], random.choice([1, 2, 3])):
            yield move(product, place, START, "IN", random.choice([40, 60, 100]), product[3])
    for i in range(728):
        day = START + datetime.timedelta(days=i)
        if day.weekday() > 4:
            continue
        quiet = (day.year, day.month) == (2024, 7)  # the warehouses are moved, so nothing is shipped
        for key in random.sample(sorted(stock), 9):
            product, place = next(p for p in everything if p[0] == key[0]), key[1]
            if place == "GRZ" and str(day) > "2024-05-31":
                continue
            if stock[key] < 15 and random.random() < 0.5:
                supplier = product[3] if random.random() < 0.85 else random.choice([1, 2, 3, 4, 5, 7])
                quantity, late = random.choice([30, 50, 50, 100]), random.choice([3, 7, 10, 14, 20, 45])
                arrives = day + datetime.timedelta(days=late)
                yield numbered(
                    "ORDERS_OUT",
                    supplier or 1,
                    product[0],
                    quantity,
                    day,
                    arrives if arrives <= datetime.date(2024, 12, 30) else None,
                )
                if arrives <= datetime.date(2024, 12, 30):
                    yield move(product, place, day if random.random() < 0.3 else arrives, "IN", quantity, supplier or 1)
            elif stock[key] > 0 and not quiet:
                yield move(product, place, day, "OUT", min(stock[key], random.choice([1, 2, 5, 5, 10, 10, 20])))
            if random.random() < 0.1:
                needed = day + datetime.timedelta(days=random.randrange(2, 40)) if random.random() < 0.8 else None
                state = random.choices(["PICKED", "CANCELLED", "OPEN"], [6, 2, 1 if day.year == 2023 else 6])[0]
                yield numbered(
                    "RESERVATIONS",
                    product[0],
                    place,
                    random.choice(CUSTOMERS),
                    random.choice([1, 2, 5, 10, 10]),
                    day,
                    needed,
                    state,
                )
        if day.day == 15 or random.random() < 0.02:
            for key in random.sample(sorted(stock), 25):
                book, found = stock[key], stock[key] + random.choice([0, 0, 0, -1, -2, -5, 1, 3])
                yield numbered("COUNTS", *key, day, max(found, 0), book)
                if max(found, 0) != book:
                    yield move((key[0],), key[1], day, "ADJ", max(found, 0) - book)
