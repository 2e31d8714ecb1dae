"""Runs queries of training data on SQLite and compares their results. Used by the scripts that check such data."""
import sqlite3, time

SECONDS = 10 # limit for one query
ROWS = 50_000


def run(db, sql):
    """Returns (rows, None), or (None, message) if the query fails, or exceeds SECONDS or ROWS."""
    end = time.monotonic() + SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try: rows = db.execute(sql).fetchmany(ROWS + 1)
    except sqlite3.Error as error: return None, str(error)
    return (None, f"more than {ROWS} rows") if len(rows) > ROWS else (rows, None)


def rounded(value):
    """Rounds numbers to nine digits, because sums of floats depend on their order."""
    return float(f"{value:.9g}") if isinstance(value, float) else value


def same(a, b, ordered):
    """True if two results are equal. Without `ordered`, as multisets of rows."""
    a, b = ([tuple(map(rounded, row)) for row in rows] for rows in (a, b))
    return a == b if ordered else sorted(a, key=repr) == sorted(b, key=repr)
