"""Team chat: users and bots, channels with memberships, messages in threads, reactions, devices. Half of the keys
are declared; times are epoch ms.
"""

import datetime

SCHEMA = """
CREATE TABLE usr (
  id INTEGER PRIMARY KEY,
  handle TEXT NOT NULL, -- unique
  display_name TEXT NOT NULL, -- not unique
  kind TEXT NOT NULL, -- human, guest, bot
  dept TEXT, -- NULL for guests and bots
  signed_up BIGINT NOT NULL, -- epoch milliseconds, UTC
  disabled BIGINT -- epoch ms; NULL: account is active
);
CREATE TABLE channel (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  visibility TEXT NOT NULL, -- public, private, dm
  owner INTEGER, -- usr.id
  created BIGINT NOT NULL, -- epoch ms
  archived BIGINT -- epoch ms; NULL: in use
);
CREATE TABLE membership (
  channel INTEGER NOT NULL REFERENCES channel (id),
  usr INTEGER NOT NULL, -- usr.id
  joined BIGINT NOT NULL, -- epoch ms
  left_at BIGINT -- epoch ms; NULL: still a member; who comes back gets a new row
);
CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  channel INTEGER NOT NULL REFERENCES channel (id),
  author INTEGER NOT NULL, -- usr.id
  parent INTEGER REFERENCES message (id), -- first message of the thread; NULL: not a reply
  sent BIGINT NOT NULL, -- epoch ms, UTC
  edited BIGINT, -- epoch ms of the last edit; NULL: never edited
  deleted BIGINT, -- epoch ms; NULL: not deleted
  chars INTEGER NOT NULL,
  file_kb INTEGER -- size of the attachment; NULL: none
);
CREATE TABLE reaction (
  message INTEGER NOT NULL REFERENCES message (id),
  usr INTEGER NOT NULL, -- usr.id of who reacted
  emoji TEXT NOT NULL,
  made BIGINT NOT NULL -- epoch ms
);
CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  usr INTEGER NOT NULL, -- usr.id
  platform TEXT NOT NULL, -- ios, android, web, desktop
  added BIGINT NOT NULL, -- epoch ms
  last_seen BIGINT -- epoch ms; NULL: never connected
);
"""

NAMES = [
    "Alex Kim",
    "Bea Novak",
    "Chris Paul",
    "Dana Ives",
    "Eli Stern",
    "Fay Moreau",
    "Gus Olsen",
    "Hana Ito",
    "Ian Wolfe",
    "Jo Marsh",
    "Kay Dunn",
    "Leo Brandt",
    "Mia Costa",
    "Ned Ryan",
    "Alex Kim",
    "Ola Berg",
    "Pia Roth",
    "Quin Adair",
    "Ray Tan",
    "Sue Lam",
]
DEPTS = ["engineering", "engineering", "sales", "support", "support", "hr"]
CHANNELS = [
    ("general", "public"),
    ("random", "public"),
    ("eng-backend", "private"),
    ("eng-frontend", "private"),
    ("sales-emea", "private"),
    ("support", "public"),
    ("incidents", "public"),
    ("lunch", "public"),
    ("board", "private"),
    ("ideas", "public"),
]  # the channel ideas has no message
EMOJI = ["thumbsup", "thumbsup", "thumbsup", "heart", "tada", "eyes", "thumbs_up"]


def ms(*at):
    return int(datetime.datetime(*at, tzinfo=datetime.timezone.utc).timestamp() * 1000)


START, END, DAY = ms(2024, 1, 1), ms(2024, 7, 1), 86_400_000


def memberships(random, users):
    """(channel, user, joined, left)."""
    for channel in range(1, len(CHANNELS) + 1):
        for user in users:
            if channel > 1 and random.random() < 0.55:
                continue
            if user == 20:
                continue  # this user is in no channel
            joined = START - random.randrange(1, 300) * DAY + random.randrange(DAY)
            for _ in range(random.choice([1, 1, 1, 1, 2])):
                left = joined + random.randrange(20, 400) * DAY if random.random() < 0.25 else None
                if left and left > END:
                    left = None
                yield channel, user, joined, left
                if left is None or left + 60 * DAY > END:
                    break
                joined = left + random.randrange(5, 50) * DAY


def rows(random):
    n_user = 0
    users = []
    for i in range(1, 49):
        kind = "bot" if i in (12, 31) else "guest" if i % 9 == 0 else "human"
        name = "Deploy Bot" if i == 12 else "Poll Bot" if i == 31 else NAMES[(i * 7) % 20]
        signed = datetime.datetime(2022, 12, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(
            minutes=random.randrange(500 * 1440)
        )
        if signed.month == 11:
            signed = signed.replace(month=10)  # no user signs up in November
        disabled = ms(2024, random.choice([3, 5, 6]), 15, 12) if i in (6, 17, 25, 33, 46) else None
        users.append(i)
        yield "usr", (
            i,
            f"u{i:02d}_{name.split()[0].lower()}",
            name,
            kind,
            random.choice(DEPTS) if kind == "human" else None,
            int(signed.timestamp() * 1000),
            disabled,
        )
    for i, (name, visibility) in enumerate(CHANNELS, 1):
        yield "channel", (
            i,
            name,
            visibility,
            random.choice([1, 2, 3, 4, None]),
            START - (400 - i) * DAY,
            ms(2024, 5, 31, 23, 59) if name == "board" else None,
        )
    yield "channel", (11, "dm-1-2", "dm", None, START, None)
    yield "channel", (12, "dm-3-8", "dm", None, START + 40 * DAY, None)
    members = list(memberships(random, users)) + [
        (11, 1, START, None),
        (11, 2, START, None),
        (12, 3, START + 40 * DAY, None),
        (12, 8, START + 40 * DAY, None),
    ]
    for row in members:
        yield "membership", row
    by_channel = {
        c: [u for ch, u, _, _ in members if ch == c and u not in (44, 45)] for c in range(1, 13)
    }  # users 44 and 45 only read
    roots, sent_at = {}, []
    for i in range(1, 5201):
        channel = random.choices(range(1, 13), [9, 6, 8, 5, 4, 7, 3, 3, 1, 0, 1, 1])[0]
        sent = START + random.randrange(END - START)
        if channel == 12:
            sent = max(sent, START + 41 * DAY)
        if channel == 9:
            sent = min(sent, ms(2024, 5, 31, 23, 59) - random.randrange(20 * DAY))
        if channel == 2 and ms(2024, 3, 1) <= sent < ms(2024, 4, 1):
            sent += 31 * DAY  # no message in the channel random in March
        if i % 300 == 0:
            sent = ms(2024, random.choice([1, 3, 5]), 31, 23, 59)
        parent = None
        if roots.get(channel) and random.random() < 0.3:
            parent, at = random.choice(roots[channel][-12:])
            sent = max(at + random.randrange(60_000, 2 * DAY), 1)
            if sent >= END:
                sent = END - 1000
            if channel == 2 and ms(2024, 3, 1) <= sent < ms(2024, 4, 1):
                parent, sent = None, sent + 31 * DAY
        if parent is None:
            roots.setdefault(channel, []).append((i, sent))
        author = 12 if channel in (3, 7) and random.random() < 0.2 else random.choice(by_channel[channel])
        edited = sent + random.randrange(5_000, 3_600_000) if random.random() < 0.1 else None
        deleted = sent + random.randrange(5_000, 5 * DAY) if random.random() < 0.05 else None
        yield "message", (
            i,
            channel,
            author,
            parent,
            sent,
            edited,
            deleted,
            random.randrange(1, 600),
            random.choice([12, 80, 350, 2048, 5120]) if random.random() < 0.08 else None,
        )
        sent_at.append((i, sent))
    for i, sent in sent_at:
        if random.random() < 0.6:
            continue
        for user in random.sample(range(1, 49), random.choice([1, 1, 2, 3, 5])):
            yield "reaction", (i, user, random.choice(EMOJI), sent + random.randrange(1_000, 3 * DAY))
    for user in users:
        for _ in range(random.choice([0, 1, 1, 2, 3])):
            n_user += 1
            added = START - random.randrange(0, 300) * DAY
            yield "device", (
                n_user,
                user,
                random.choice(["ios", "android", "web", "desktop"]),
                added,
                None if random.random() < 0.15 else added + random.randrange(1, 170) * DAY,
            )
