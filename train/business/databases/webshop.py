"""Web shop: customers, addresses, orders with items, vouchers, returns and refunds. Foreign keys are declared,
money is in cents. An order has a billing and a shipping address; items and refunds both hang on it.
"""

import datetime

SCHEMA = """
CREATE TABLE customers (
  customer_id INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  full_name TEXT NOT NULL, -- not unique
  birth_date DATE, -- NULL: not told
  newsletter BOOLEAN NOT NULL,
  registered_at TIMESTAMP NOT NULL,
  deleted_at TIMESTAMP -- NULL: account exists
);
CREATE TABLE addresses (
  address_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  city TEXT NOT NULL,
  postcode TEXT NOT NULL,
  country TEXT NOT NULL -- ISO code
);
CREATE TABLE products (
  product_id INTEGER PRIMARY KEY,
  sku TEXT NOT NULL,
  title TEXT NOT NULL, -- editions share a title
  category TEXT NOT NULL,
  list_price_cents INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL, -- what we pay for a piece
  discontinued_on DATE -- NULL: still in the shop
);
CREATE TABLE vouchers (
  voucher_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('percent', 'fixed')),
  worth INTEGER NOT NULL, -- percent, or cents if fixed
  valid_from DATE NOT NULL,
  valid_to DATE -- last day; NULL: no end
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  billing_address_id INTEGER NOT NULL REFERENCES addresses (address_id),
  shipping_address_id INTEGER NOT NULL REFERENCES addresses (address_id),
  voucher_id INTEGER REFERENCES vouchers (voucher_id),
  channel TEXT NOT NULL, -- web, app, phone
  status TEXT NOT NULL CHECK (status IN ('open', 'shipped', 'delivered', 'cancelled')),
  ordered_at TIMESTAMP NOT NULL,
  shipped_at TIMESTAMP,
  delivered_at TIMESTAMP,
  discount_cents INTEGER NOT NULL, -- by the voucher, 0 without
  shipping_cents INTEGER NOT NULL
);
CREATE TABLE order_items (
  item_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  product_id INTEGER NOT NULL REFERENCES products (product_id),
  quantity INTEGER NOT NULL,
  unit_price_cents INTEGER NOT NULL -- as sold
);
CREATE TABLE returns (
  return_id INTEGER PRIMARY KEY,
  item_id INTEGER NOT NULL REFERENCES order_items (item_id),
  quantity INTEGER NOT NULL, -- pieces sent back
  reason TEXT, -- NULL: customer gave none
  requested_at TIMESTAMP NOT NULL,
  received_at TIMESTAMP -- NULL: not arrived yet
);
CREATE TABLE refunds (
  refund_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  amount_cents INTEGER NOT NULL,
  method TEXT NOT NULL, -- card, bank, voucher
  refunded_at TIMESTAMP NOT NULL
);
"""

FIRST = ["Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Lea", "Max"]
LAST = ["Becker", "Dupont", "Fischer", "Keller", "Martin", "Novak", "Rossi", "Weber", "Wolf"]
PLACES = [
    ("Berlin", "DE"),
    ("Hamburg", "DE"),
    ("Berlin", "DE"),
    ("Cologne", "DE"),
    ("Vienna", "AT"),
    ("Graz", "AT"),
    ("Zurich", "CH"),
    ("Paris", "FR"),
    ("Lyon", "FR"),
]
CATEGORIES = {
    "kitchen": ["Chef Knife", "Cast Pan", "Mixer", "Kettle", "Scale"],
    "garden": ["Hose", "Rake", "Lantern", "Planter"],
    "toys": ["Kite", "Puzzle", "Robot", "Train Set"],
    "books": ["Atlas", "Cookbook", "Crime Novel"],
    "office": ["Desk Lamp", "Stapler", "Chair"],
    "gift cards": ["Gift Card"],
}  # gift cards were never bought
VOUCHERS = [
    ("WELCOME10", "percent", 10, "2023-01-01", None),
    ("SPRING15", "percent", 15, "2023-03-01", "2023-05-31"),
    ("FIVER", "fixed", 500, "2023-01-01", "2024-06-30"),
    ("XMAS20", "percent", 20, "2023-12-01", "2023-12-31"),
    ("SORRY", "fixed", 1000, "2023-01-01", None),
    ("SUMMER24", "percent", 12, "2024-06-01", "2024-08-31"),
    ("PRESS50", "percent", 50, "2024-01-01", None),
]  # PRESS50 was never used
REASONS = ["damaged", "too late", "wrong size", "not as described", None]


def moment(random, first, days):
    return datetime.datetime.combine(
        first + datetime.timedelta(days=random.randrange(days)),
        datetime.time(random.choice([0, 8, 9, 12, 17, 20, 21, 23]), random.choice([0, 5, 30, 42, 59])),
    )


def catalogue(random):
    for category, titles in CATEGORIES.items():
        for title in titles:
            for edition in range(1 if category == "gift cards" else random.choice([1, 2, 2])):
                price = random.choice([990, 1490, 1990, 2990, 4990, 7990, 12900])
                gone = datetime.date(2024, random.randrange(1, 12), 15) if random.random() < 0.2 else None
                yield f"{title[:3].upper()}-{edition + 1}", title, category, price, price * random.choice(
                    [40, 55, 60, 75]
                ) // 100, gone


def parcel(random, at):
    """(status, shipped, delivered) of an order."""
    status = random.choices(["delivered", "shipped", "open", "cancelled"], [78, 8, 5, 9])[0]
    shipped = (
        at + datetime.timedelta(days=random.choice([0, 1, 1, 2, 3, 6]), hours=3)
        if status in ("delivered", "shipped")
        else None
    )
    return (
        status,
        shipped,
        shipped + datetime.timedelta(days=random.choice([1, 2, 2, 3, 5, 9])) if status == "delivered" else None,
    )


def rows(random):
    products = list(catalogue(random))
    for i, product in enumerate(products, 1):
        yield "products", (i, *product)
    for i, voucher in enumerate(VOUCHERS, 1):
        yield "vouchers", (i, *voucher)
    sold = [i for i, p in enumerate(products, 1) if p[2] != "gift cards"]
    n_addresses = n_orders = n_items = n_returns = n_refunds = 0
    for customer in range(1, 421):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        registered = moment(random, datetime.date(2022, 7, 1), 850)
        born = (
            datetime.date(random.randrange(1950, 2006), random.randrange(1, 13), random.randrange(1, 29))
            if random.random() < 0.8
            else None
        )
        deleted = registered + datetime.timedelta(days=random.randrange(100, 900)) if random.random() < 0.06 else None
        yield "customers", (
            customer,
            f"{name.split()[0].lower()}{customer}@example.org",
            name,
            born,
            random.random() < 0.4,
            registered,
            deleted,
        )
        homes = []
        for _ in range(random.choice([1, 1, 2, 2, 3])):
            n_addresses += 1
            city, country = random.choice(PLACES)
            homes.append(n_addresses)
            yield "addresses", (n_addresses, customer, city, str(random.randrange(10000, 99999)), country)
        for number in range(random.choice([0, 0, 1, 1, 2, 3, 4, 6, 9, 14])):
            at = moment(
                random,
                max(registered.date() + datetime.timedelta(days=1), datetime.date(2023, 1, 1)),
                200 + 60 * number,
            )
            if at.year > 2024 or (deleted and at > deleted) or (at.year, at.month) == (2023, 8):
                continue  # the shop moved in August 2023
            if random.random() < 0.03:
                at = datetime.datetime(at.year, random.choice([1, 3, 5, 10, 12]), 31, 23, 59)
            if at <= registered:
                continue
            n_orders += 1
            order = n_orders
            usable = [
                i for i, v in enumerate(VOUCHERS, 1) if v[0] != "PRESS50" and v[3] <= str(at.date()) <= (v[4] or "9999")
            ]
            voucher = random.choice(usable) if random.random() < 0.25 else None
            lines = [
                (random.choice(sold), random.choice([1, 1, 1, 2, 3])) for _ in range(random.choice([1, 1, 2, 2, 3, 4]))
            ]
            prices = [products[p - 1][3] * random.choice([100, 100, 100, 90, 80]) // 100 for p, _ in lines]
            total = sum(q * c for (_, q), c in zip(lines, prices))
            discount = (
                0
                if not voucher
                else min(
                    total,
                    (
                        VOUCHERS[voucher - 1][2]
                        if VOUCHERS[voucher - 1][1] == "fixed"
                        else total * VOUCHERS[voucher - 1][2] // 100
                    ),
                )
            )
            status, shipped, delivered = parcel(random, at)
            channel = random.choices(["web", "app", "phone"], [6, 5, 1])[0]
            if channel == "phone" and at.month == 2:
                channel = "web"  # the phone desk is closed in February
            yield "orders", (
                order,
                customer,
                random.choice(homes),
                random.choice(homes),
                voucher,
                channel,
                status,
                at,
                shipped,
                delivered,
                discount,
                0 if total >= 5000 else random.choice([390, 490]),
            )
            back = 0
            for (product, quantity), price in zip(lines, prices):
                n_items += 1
                yield "order_items", (n_items, order, product, quantity, price)
                if delivered and random.random() < 0.16:
                    for part in range(
                        2 if quantity > 1 and random.random() < 0.5 else 1
                    ):  # some items come back in two parcels
                        n_returns += 1
                        asked = delivered + datetime.timedelta(days=random.randrange(1, 25))
                        back += price
                        yield "returns", (
                            n_returns,
                            n_items,
                            1,
                            random.choice(REASONS),
                            asked,
                            (
                                asked + datetime.timedelta(days=random.randrange(2, 12))
                                if random.random() < 0.85
                                else None
                            ),
                        )
            if back and random.random() < 0.1:
                back += 1000  # goodwill refund
            if status == "cancelled" and random.random() < 0.7:
                back = total - discount
            parts = random.choice([1, 1, 1, 2]) if back and random.random() < 0.9 else 0
            for _ in range(parts):
                n_refunds += 1
                yield "refunds", (
                    n_refunds,
                    order,
                    back // parts,
                    random.choice(["card", "card", "bank", "voucher"]),
                    (delivered or at) + datetime.timedelta(days=random.randrange(1, 40)),
                )
