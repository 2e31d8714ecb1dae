"""A football league: seasons, teams, games, goals, cards, squads and transfers. Half of the keys are declared;
days are DATE.
"""

import datetime

SCHEMA = """
CREATE TABLE season (
  season_id INTEGER PRIMARY KEY,
  label TEXT NOT NULL, -- '2022/23'
  starts_on DATE NOT NULL,
  ends_on DATE NOT NULL
);
CREATE TABLE team (
  team_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL, -- some cities have two teams
  founded INTEGER,
  budget_keur INTEGER -- of a season, in thousand euros; NULL: not published
);
CREATE TABLE player (
  player_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, -- not unique
  position TEXT NOT NULL, -- 'GK' goalkeeper, 'DF' defender, 'MF' midfielder, 'FW' forward
  nation TEXT NOT NULL,
  born_on DATE -- NULL: not known
);
CREATE TABLE game (
  game_id INTEGER PRIMARY KEY,
  season_id INTEGER NOT NULL REFERENCES season (season_id),
  round INTEGER NOT NULL,
  planned_on DATE NOT NULL,
  played_on DATE, -- NULL: not played yet
  home_id INTEGER NOT NULL REFERENCES team (team_id),
  away_id INTEGER NOT NULL REFERENCES team (team_id),
  home_goals INTEGER, -- NULL: not played yet
  away_goals INTEGER,
  attendance INTEGER -- NULL: not counted
);
CREATE TABLE goal (
  goal_id INTEGER PRIMARY KEY,
  game_id INTEGER NOT NULL,
  team_id INTEGER NOT NULL, -- for which it counts
  player_id INTEGER NOT NULL, -- who shot it; for an own goal he is of the other team
  minute INTEGER NOT NULL, -- 1 to 95
  kind TEXT NOT NULL -- 'open', 'penalty', 'own'
);
CREATE TABLE card (
  card_id INTEGER PRIMARY KEY,
  game_id INTEGER NOT NULL REFERENCES game (game_id),
  player_id INTEGER NOT NULL,
  team_id INTEGER NOT NULL,
  colour TEXT NOT NULL, -- 'yellow', 'red'
  minute INTEGER NOT NULL
);
CREATE TABLE contract (
  player_id INTEGER NOT NULL,
  team_id INTEGER NOT NULL,
  from_on DATE NOT NULL,
  to_on DATE, -- last day; NULL: current
  wage_eur INTEGER NOT NULL -- a week
);
CREATE TABLE transfer (
  transfer_id INTEGER PRIMARY KEY,
  player_id INTEGER NOT NULL REFERENCES player (player_id),
  from_team INTEGER, -- NULL: came from outside the league
  to_team INTEGER, -- NULL: left the league
  moved_on DATE NOT NULL,
  fee_keur INTEGER -- thousand euros; 0: free; NULL: not disclosed
);
"""

SEASONS = [("2022/23", 2022), ("2023/24", 2023), ("2024/25", 2024)]
TEAMS = [
    ("Harbor City", "Portham", 1899, 21000),
    ("Portham Rovers", "Portham", 1921, 9500),
    ("Northgate United", "Northgate", 1902, 17500),
    ("Millbrook", "Millbrook", 1911, 8000),
    ("Kingsford Town", "Kingsford", 1888, 21000),
    ("Ashby Athletic", "Ashby", 1934, None),
    ("Stonebridge", "Stonebridge", 1905, 6500),
    ("Lakeside", "Lakeside", 1961, 7200),
    ("Elmwood Stars", "Elmwood", 1975, None),
    ("Kingsford Rangers", "Kingsford", 1926, 11000),
    ("Westhaven", "Westhaven", 1950, 5000),
]  # Westhaven has never played
FIRST = ["Alex", "Ben", "Carl", "Dino", "Emil", "Finn", "Gus", "Hugo", "Ivan", "Jon", "Kai", "Leo", "Max", "Nils"]
LAST = ["Adams", "Berg", "Costa", "Dahl", "Evans", "Ferri", "Gomez", "Hill", "Ito", "Jansen", "Kovac", "Lund"]


def rounds(teams):
    """Pairs (home, away) of each round, everybody at home once against everybody."""
    ring, first = list(teams), []
    for r in range(len(ring) - 1):
        first.append([(a, b) if r % 2 else (b, a) for a, b in zip(ring[: len(ring) // 2], ring[::-1])])
        ring = [ring[0], ring[-1]] + ring[1:-1]
    return first + [[(b, a) for a, b in games] for games in first]


def rows(random):
    days = lambda n: datetime.timedelta(days=n)
    for i, (label, year) in enumerate(SEASONS, 1):
        yield "season", (i, label, datetime.date(year, 8, 1), datetime.date(year + 1, 5, 31))
    for i, team in enumerate(TEAMS, 1):
        yield "team", (i,) + team
    squad, n_transfers = {}, 0
    for player in range(1, 191):
        position = ["GK", "DF", "DF", "DF", "MF", "MF", "MF", "FW", "FW"][player % 9]
        born = datetime.date(1988, 1, 1) + days(random.randrange(6000)) if random.random() > 0.05 else None
        yield "player", (
            player,
            f"{random.choice(FIRST)} {random.choice(LAST)}",
            position,
            random.choice(["ENG", "ENG", "ENG", "ESP", "BRA", "NED", "SWE"]),
            born,
        )
        if player > 184:
            continue  # the player has no contract
        team, at = (player - 1) % 10 + 1, datetime.date(2022, 7, 1) - days(random.randrange(0, 500, 10))
        for start in [datetime.date(y, m, d) for y, m, d in ((2023, 1, 15), (2023, 7, 1), (2024, 1, 20), (2024, 7, 1))]:
            if random.random() > 0.07:
                continue
            new = random.choice([t for t in range(1, 11) if t != team] + [None])
            squad.setdefault(team, []).append((player, position, at, start - days(1)))
            yield "contract", (player, team, at, start - days(1), random.choice([900, 1500, 1500, 2500, 4000, 9000]))
            n_transfers += 1
            yield "transfer", (
                n_transfers,
                player,
                team,
                new,
                start,
                random.choice([0, 0, 150, 400, 400, 1200, 3500, None]),
            )
            team, at = new, start
            if new is None:
                break
        if team:
            squad.setdefault(team, []).append((player, position, at, None))
            yield "contract", (player, team, at, None, random.choice([900, 1500, 1500, 2500, 4000, 9000]))
    for player in range(150, 160):  # these players came from outside before the first season
        n_transfers += 1
        yield "transfer", (
            n_transfers,
            player,
            None,
            (player - 1) % 10 + 1,
            datetime.date(2022, 6, 30),
            random.choice([0, 300, 300, None]),
        )
    n_games = n_goals = n_cards = 0
    for season, (_, year) in enumerate(SEASONS, 1):
        for number, pairs in enumerate(rounds(range(1, 11)), 1):
            day = datetime.date(year, 8, 12) + days(
                14 * (number - 1) + (28 if number > 10 else 0)
            )  # no games in January
            for home, away in pairs:
                n_games += 1
                planned = day + days(random.choice([0, 0, 1, 2]))
                played = planned if random.random() > 0.06 else planned + days(random.choice([5, 17]))
                if season == 3 and number > 13:
                    played = None
                if played is None:
                    yield "game", (n_games, season, number, planned, None, home, away, None, None, None)
                    continue
                score = [
                    (
                        random.choices(range(6), [6, 8, 6, 3, 1, 1])[0]
                        if side == 0
                        else random.choices(range(5), [8, 8, 5, 2, 1])[0]
                    )
                    for side in (0, 1)
                ]
                yield "game", (
                    n_games,
                    season,
                    number,
                    planned,
                    played,
                    home,
                    away,
                    *score,
                    None if random.random() < 0.05 else random.choice([3200, 4100, 5200, 5200, 8800, 12500, 18000]),
                )
                on = {
                    t: [(p, pos) for p, pos, a, b in squad[t] if a <= played and (b is None or played <= b)]
                    for t in (home, away)
                }
                for team, other, goals in ((home, away, score[0]), (away, home, score[1])):
                    for _ in range(goals):
                        n_goals += 1
                        kind = random.choices(["open", "penalty", "own"], [16, 3, 1])[0]
                        side = on[other if kind == "own" else team]
                        shooter = random.choices(
                            side, [{"GK": 0.02, "DF": 1, "MF": 3, "FW": 8}[pos] for _, pos in side]
                        )[0][0]
                        yield "goal", (n_goals, n_games, team, shooter, random.randint(1, 95), kind)
                for team in (home, away):
                    for _ in range(random.choice([0, 1, 1, 2, 3])):
                        n_cards += 1
                        yield "card", (
                            n_cards,
                            n_games,
                            random.choice(on[team])[0],
                            team,
                            random.choices(["yellow", "red"], [9, 1])[0],
                            random.randint(3, 95),
                        )
