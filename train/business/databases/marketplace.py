"""A marketplace for handmade things: sellers, listings, buyers, orders, reviews, payouts and disputes. Foreign
keys are declared.
"""

import datetime

SCHEMA = """
CREATE TABLE sellers (
  seller_id INTEGER PRIMARY KEY,
  shop_name TEXT NOT NULL, -- not unique
  country TEXT NOT NULL, -- ISO code
  joined_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP, -- NULL: shop is open
  fee_bp INTEGER NOT NULL, -- our commission, basis points of the line value
  is_test BOOLEAN NOT NULL
);
CREATE TABLE buyers (
  buyer_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  country TEXT NOT NULL,
  registered_at TIMESTAMP NOT NULL,
  referred_by INTEGER REFERENCES buyers (buyer_id), -- NULL: came alone
  newsletter BOOLEAN -- NULL: never asked
);
CREATE TABLE listings (
  listing_id INTEGER PRIMARY KEY,
  seller_id INTEGER NOT NULL REFERENCES sellers (seller_id),
  title TEXT NOT NULL,
  category TEXT NOT NULL,
  price_cents INTEGER NOT NULL, -- price asked now
  created_at TIMESTAMP NOT NULL,
  ended_at TIMESTAMP -- NULL: live
);
CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  buyer_id INTEGER NOT NULL REFERENCES buyers (buyer_id), -- who pays
  recipient_id INTEGER REFERENCES buyers (buyer_id), -- a gift for this member; NULL: no gift
  placed_at TIMESTAMP NOT NULL,
  paid_at TIMESTAMP, -- NULL: not yet
  shipped_at TIMESTAMP,
  delivered_at TIMESTAMP,
  status TEXT NOT NULL CHECK (status IN ('placed', 'paid', 'shipped', 'delivered', 'cancelled')),
  shipping_cents INTEGER NOT NULL,
  coupon_cents INTEGER NOT NULL -- discount on the whole order, 0: none
);
CREATE TABLE order_lines (
  line_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  listing_id INTEGER NOT NULL REFERENCES listings (listing_id),
  quantity INTEGER NOT NULL,
  unit_cents INTEGER NOT NULL, -- price agreed, for one piece
  refund_cents INTEGER -- of the whole line; NULL: nothing refunded
);
CREATE TABLE reviews (
  review_id INTEGER PRIMARY KEY,
  line_id INTEGER NOT NULL REFERENCES order_lines (line_id),
  stars INTEGER NOT NULL, -- 1 to 5
  written_at TIMESTAMP NOT NULL,
  body TEXT, -- NULL: stars only
  hidden BOOLEAN NOT NULL -- taken down by us
);
CREATE TABLE payouts (
  payout_id INTEGER PRIMARY KEY,
  seller_id INTEGER NOT NULL REFERENCES sellers (seller_id),
  period_start DATE NOT NULL, -- first day of the month it settles
  amount_cents BIGINT NOT NULL,
  requested_at TIMESTAMP NOT NULL,
  sent_at TIMESTAMP, -- NULL: not sent yet
  status TEXT NOT NULL CHECK (status IN ('sent', 'held', 'failed'))
);
CREATE TABLE disputes (
  dispute_id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (order_id),
  opened_by TEXT NOT NULL, -- buyer or seller
  reason TEXT NOT NULL,
  opened_at TIMESTAMP NOT NULL,
  closed_at TIMESTAMP, -- NULL: open
  outcome TEXT -- refund, rejected, withdrawn; NULL: undecided
);
"""

COUNTRIES = ["DE", "DE", "US", "US", "US", "FR", "GB", "JP"]
CATEGORIES = ["Ceramics", "Jewelry", "Prints", "Toys", "Vintage", "Candles"]
THINGS = {
    "Ceramics": ["Mug", "Bowl", "Vase"],
    "Jewelry": ["Ring", "Necklace"],
    "Prints": ["Poster", "Map"],
    "Toys": ["Wooden Train", "Puppet"],
    "Vintage": ["Lamp", "Clock"],
    "Candles": ["Soy Candle"],
    "Patterns": ["Knitting Pattern"],
}
FIRST = ["Ada", "Ben", "Carla", "Dev", "Emi", "Finn", "Greta", "Hugo", "Ines", "Jonas"]
LAST = ["Adler", "Brooks", "Chen", "Duval", "Evans", "Fuchs", "Garcia", "Hahn", "Ito", "Jensen", "Klein"]
SHOP = ["Clay", "Moss", "Lune", "Oak", "Salt", "Fern"]
KIND = ["Studio", "Works", "Corner", "Atelier"]
BODIES = [None, None, "lovely", "arrived late", "as described", "smaller than expected", "broken"]
START, DAYS = datetime.datetime(2023, 1, 1), 731


def moment(random, begin=0, end=DAYS):
    """A time between two days, often in the last minute of a day."""
    at = START + datetime.timedelta(days=random.randrange(begin, end))
    return at + random.choice(
        [datetime.timedelta(hours=23, minutes=59), datetime.timedelta(minutes=random.randrange(1440))]
    )


def order_times(random, placed):
    """(status, paid, shipped, delivered)"""
    status = random.choices(["placed", "paid", "shipped", "delivered", "cancelled"], [1, 1, 2, 16, 2])[0]
    step = {"placed": 0, "paid": 1, "shipped": 2, "delivered": 3, "cancelled": random.choice([0, 1])}[status]
    paid = placed + datetime.timedelta(hours=random.choice([0, 0, 1, 20, 70]))
    shipped = paid + datetime.timedelta(days=random.choice([1, 1, 2, 3, 8]))
    times = [paid, shipped, shipped + datetime.timedelta(days=random.randrange(1, 15), hours=5)]
    return status, [t if i < step else None for i, t in enumerate(times)]


def rows(random):
    for i in range(1, 81):
        closed = moment(random, 400) if random.random() < 0.15 else None
        yield "sellers", (
            i,
            f"{random.choice(SHOP)} {random.choice(KIND)}",
            random.choice(COUNTRIES),
            moment(random, *((-900, -300) if i < 73 else (0, 380))),
            closed,
            random.choice([500, 650, 650, 800]),
            i % 19 == 0,
        )
    registered = {}
    for i in range(1, 421):
        registered[i] = random.randrange(-300, 600)
        referrer = random.randrange(1, i) if i > 20 and random.random() < 0.3 else None
        yield "buyers", (
            i,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            random.choice(COUNTRIES),
            moment(random, registered[i], registered[i] + 1),
            referrer,
            random.choice([True, False, False, None]),
        )
    listings = []
    for i in range(1, 601):
        category = random.choice(CATEGORIES) if i % 75 else "Patterns"  # Patterns are never bought
        price = random.choice([900, 1500, 2400, 2400, 3900, 6500, 12000, 25000])
        created = moment(random, -300, 600)
        ended = created + datetime.timedelta(days=random.randrange(20, 300)) if random.random() < 0.3 else None
        title = f"{random.choice(['Blue', 'Small', 'Large', 'Old', 'Gift'])} {random.choice(THINGS[category])}"
        listings.append((i, random.randrange(1, 73), price, category, created))  # sellers 73 to 80 have no listings
        yield "listings", (i, listings[-1][1], title, category, price, created, ended)
    sold = [l for l in listings if l[3] != "Patterns" and l[0] % 11]
    n_line = n_review = n_dispute = 0
    for i in range(1, 2401):
        buyer = min(random.randrange(1, 391), random.randrange(1, 391))  # buyers after 390 buy nothing
        placed = moment(random, max(0, registered[buyer]))
        if (placed.year, placed.month) == (2023, 6):
            placed += datetime.timedelta(days=61)  # the marketplace is closed for a month
        status, times = order_times(random, placed)
        recipient = random.randrange(1, 421) if random.random() < 0.12 else None
        yield "orders", (
            i,
            buyer,
            recipient,
            placed,
            *times,
            status,
            random.choice([0, 390, 490, 990]),
            random.choice([0, 0, 0, 0, 500, 1000]),
        )
        for listing in random.sample([l for l in sold if l[4] < placed], random.choice([1, 1, 1, 2, 2, 3, 4])):
            n_line += 1
            unit, quantity = listing[2] - random.choice([0, 0, 100]), random.choice([1, 1, 1, 1, 2, 3, 12])
            refund = random.choice([unit, unit * quantity]) if times[0] and random.random() < 0.07 else None
            yield "order_lines", (n_line, i, listing[0], quantity, unit, refund)
            if times[2] and random.random() < 0.5:
                n_review += 1
                yield "reviews", (
                    n_review,
                    n_line,
                    random.choices([1, 2, 3, 4, 5], [1, 1, 2, 5, 9])[0],
                    times[2] + datetime.timedelta(days=random.randrange(1, 30)),
                    random.choice(BODIES),
                    random.random() < 0.05,
                )
        for _ in range(random.choices([0, 1, 2], [89, 9, 2])[0] if times[0] else 0):
            n_dispute += 1
            opened = times[0] + datetime.timedelta(days=random.randrange(3, 40))
            if (opened.year, opened.month) == (2024, 8):
                opened += datetime.timedelta(days=31)  # no disputes in August 2024
            done = random.random() < 0.8
            yield "disputes", (
                n_dispute,
                i,
                random.choice(["buyer", "buyer", "buyer", "seller"]),
                random.choice(["not received", "not received", "damaged", "wrong item", "counterfeit"]),
                opened,
                opened + datetime.timedelta(days=random.randrange(1, 45)) if done else None,
                random.choice(["refund", "refund", "rejected", "withdrawn"]) if done else None,
            )
    n_payout = 0
    for month in range(24):
        start = datetime.date(2023 + month // 12, month % 12 + 1, 1)
        for seller in range(1, 77):
            if random.random() < 0.55:
                continue
            n_payout += 1
            requested = datetime.datetime.combine(start, datetime.time(9)) + datetime.timedelta(
                days=random.randrange(31, 40), hours=random.randrange(0, 14)
            )
            status = random.choices(["sent", "held", "failed"], [9, 1, 1])[0]
            yield "payouts", (
                n_payout,
                seller,
                start,
                random.choice([5000, 12500, 31000, 8000 + seller * 37]),
                requested,
                requested + datetime.timedelta(days=random.choice([0, 1, 1, 2, 6])) if status == "sent" else None,
                status,
            )
