"""Help desk: tickets with SLA, agents in teams, replies, escalations, satisfaction surveys. Keys are declared in
half of the tables; a ticket has three status columns.
"""

import datetime

SCHEMA = """
CREATE TABLE teams (
  team_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  level INTEGER NOT NULL -- 1 first line, 2, 3
);
CREATE TABLE agents (
  agent_id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL, -- not unique
  team_id INTEGER NOT NULL REFERENCES teams (team_id),
  is_active BOOLEAN NOT NULL,
  joined_at TIMESTAMP NOT NULL
);
CREATE TABLE clients (
  client_id INTEGER NOT NULL,
  company TEXT NOT NULL,
  tier TEXT NOT NULL, -- gold, silver, bronze
  is_internal BOOLEAN NOT NULL -- our own test clients
);
CREATE TABLE sla (
  tier TEXT NOT NULL,
  priority TEXT NOT NULL,
  first_reply_min INTEGER NOT NULL, -- minutes from opening to the first reply
  solve_hours INTEGER NOT NULL -- hours from opening to the solution
);
CREATE TABLE tickets (
  ticket_id INTEGER PRIMARY KEY,
  client_id INTEGER NOT NULL,
  subject TEXT NOT NULL,
  priority TEXT NOT NULL, -- low, normal, high, urgent
  channel TEXT NOT NULL, -- mail, chat, phone, portal
  status TEXT NOT NULL, -- open, pending, solved, closed
  sla_status TEXT NOT NULL, -- kept, breached, running
  billing_status TEXT, -- billable, billed; NULL: free
  opened_by INTEGER NOT NULL REFERENCES agents (agent_id), -- who took it
  solved_by INTEGER REFERENCES agents (agent_id), -- NULL: not solved
  opened_at TIMESTAMP NOT NULL,
  first_reply_at TIMESTAMP, -- NULL: no answer yet
  solved_at TIMESTAMP,
  closed_at TIMESTAMP, -- days after the solution, if nobody objects
  merged_into INTEGER -- ticket_id that goes on; NULL: not merged
);
CREATE TABLE replies (
  reply_id INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL REFERENCES tickets (ticket_id),
  agent_id INTEGER, -- NULL: the client wrote
  is_public BOOLEAN NOT NULL, -- 0: internal note
  sent_at TIMESTAMP NOT NULL,
  words INTEGER NOT NULL
);
CREATE TABLE escalations (
  esc_id INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL,
  from_team INTEGER NOT NULL, -- teams.team_id
  to_team INTEGER NOT NULL,
  status TEXT NOT NULL, -- accepted, rejected, waiting
  raised_at TIMESTAMP NOT NULL,
  decided_at TIMESTAMP -- NULL: waiting
);
CREATE TABLE surveys (
  survey_id INTEGER NOT NULL,
  ticket_id INTEGER NOT NULL REFERENCES tickets (ticket_id),
  sent_at TIMESTAMP NOT NULL,
  answered_at TIMESTAMP, -- NULL: no answer
  score INTEGER -- 1 bad to 5 good; NULL: no answer, or only a comment
);
"""

TEAMS = [
    ("Front Desk", 1),
    ("Night Desk", 1),
    ("Network", 2),
    ("Billing", 2),
    ("Database", 3),
    ("Lab", 3),
]  # the lab has no agents
AGENTS = [
    "Ana Silva",
    "Bob Stone",
    "Chen Wu",
    "Dora Lang",
    "Eli Brandt",
    "Fatma Kaya",
    "Gus Olsen",
    "Chen Wu",
    "Hana Mori",
    "Ivan Petrov",
    "Jill Hart",
    "Kofi Mensah",
    "Lena Vogt",
]
SUBJECTS = [
    "login fails",
    "invoice wrong",
    "slow report",
    "vpn down",
    "data missing",
    "new user",
    "printer",
    "upgrade question",
]
SLA = {"gold": (30, 8), "silver": (60, 24), "bronze": (240, 72)}
FACTOR = {"urgent": 1, "high": 1, "normal": 2, "low": 4}


def minutes(n):
    return datetime.timedelta(minutes=n)


def rows(random):
    for i, (name, level) in enumerate(TEAMS, 1):
        yield "teams", (i, name, level)
    for i, name in enumerate(AGENTS, 1):  # the last agent has just started
        yield "agents", (
            i,
            name,
            (i - 1) % 5 + 1,
            i not in (7, 11),
            datetime.datetime(2021 + i % 3, i % 12 + 1, 1, 9) if i < 13 else datetime.datetime(2024, 12, 30, 9),
        )
    tiers = [random.choice(["gold", "silver", "silver", "bronze", "bronze"]) for _ in range(90)]
    for i, tier in enumerate(tiers, 1):
        yield "clients", (
            i,
            f"{random.choice(['Acme', 'Borea', 'Cobalt', 'Dune', 'Elm', 'Fjord'])} "
            f"{random.choice(['AG', 'Ltd', 'Group', 'Lines'])}",
            tier,
            i % 30 == 0,
        )
    for tier, (reply, solve) in SLA.items():
        for priority, factor in FACTOR.items():
            yield "sla", (tier, priority, reply * factor, solve * factor)
    n_replies = n_escalations = n_surveys = 0
    opened = datetime.datetime(2023, 1, 2, 8)
    for ticket in range(1, 1601):
        opened += minutes(random.choice([20, 60, 240, 600, 900, 2000]))
        if opened.hour == 23 and random.random() < 0.5:
            opened = opened.replace(minute=59)
        if opened.day > 26 and random.random() < 0.2:
            opened = (opened.replace(day=28) + minutes(4 * 1440)).replace(day=1, hour=0, minute=0) - minutes(
                1
            )  # the last minute of the month
        if opened.year > 2024:
            break
        client, priority, agent = (
            random.randrange(1, 86),
            random.choices(list(FACTOR), [1, 3, 6, 3])[0],
            random.randrange(1, 13),
        )
        due_reply, due_solve = (x * FACTOR[priority] for x in SLA[tiers[client - 1]])
        replied = (
            opened + minutes(int(due_reply * random.choice([0.2, 0.4, 0.7, 0.9, 1, 1.5, 3])))
            if random.random() < 0.95
            else None
        )
        solved = (
            max(replied, opened + minutes(int(due_solve * 60 * random.choice([0.1, 0.3, 0.5, 0.8, 1, 1.3, 2.5]))))
            if replied and random.random() < 0.88
            else None
        )
        closed = solved + minutes(1440 * random.choice([2, 3, 5])) if solved and random.random() < 0.85 else None
        kept = (
            "running"
            if not solved
            else (
                "kept"
                if replied <= opened + minutes(due_reply) and solved <= opened + minutes(due_solve * 60)
                else "breached"
            )
        )
        yield "tickets", (
            ticket,
            client,
            random.choice(SUBJECTS),
            priority,
            random.choices(["mail", "chat", "phone", "portal"], [5, 3, 2, 3])[0],
            "closed" if closed else "solved" if solved else random.choice(["open", "pending"]),
            kept,
            random.choice([None, None, None, "billable", "billed"]),
            agent,
            (agent if random.random() < 0.6 else random.randrange(1, 13)) if solved else None,
            opened,
            replied,
            solved,
            closed,
            random.randrange(1, ticket) if ticket > 50 and random.random() < 0.03 else None,
        )
        at = replied
        for number in range(random.choice([1, 1, 2, 3, 5]) if replied else 0):
            n_replies += 1
            by_agent = number == 0 or random.random() < 0.6
            yield "replies", (
                n_replies,
                ticket,
                (agent if random.random() < 0.8 else random.randrange(1, 13)) if by_agent else None,
                not by_agent or number == 0 or random.random() < 0.7,
                at,
                random.choice([8, 15, 40, 40, 90, 200]),
            )
            at += minutes(random.choice([15, 60, 240]))
        if (opened.year, opened.month) != (2024, 2):  # no escalations in February 2024
            for _ in range(random.choice([0, 0, 0, 0, 0, 1, 1, 2])):
                n_escalations += 1
                raised, state = (
                    opened + minutes(random.choice([60, 180, 600])),
                    random.choices(["accepted", "rejected", "waiting"], [6, 2, 1])[0],
                )
                yield "escalations", (
                    n_escalations,
                    ticket,
                    (agent - 1) % 5 + 1,
                    random.choice([3, 4, 5]),
                    state,
                    raised,
                    None if state == "waiting" else raised + minutes(random.choice([10, 45, 300])),
                )
        if closed and random.random() < 0.7:
            n_surveys += 1
            answered = closed + minutes(random.choice([30, 600, 3000])) if random.random() < 0.5 else None
            yield "surveys", (
                n_surveys,
                ticket,
                closed,
                answered,
                random.choice([None, 1, 2, 3, 4, 4, 5, 5, 5]) if answered else None,
            )
