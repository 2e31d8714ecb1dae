#!/usr/bin/env python3
"""Writes pairs of queries that differ inside one operator.

  analytic_pairs.py [--facts tests/data/analytic/facts.json] [--set tune|held] > pairs.jsonl

A fact (facts.json) names a table that records events, its date, amount, group and owner, and the words for them. Each kind
below makes a question and two queries of a fact. The queries differ in the operand of one window, CASE, set operation,
ratio or join. Pairs whose queries return equal rows are left out.
"""
import argparse, json, os, sqlite3, sys

import pairs

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "analytic")
MONTH = "strftime('%Y-%m', {date})"
BY_MONTH = "WITH m AS (SELECT " + MONTH + " AS month, SUM({amount}) AS total FROM {table} GROUP BY " + MONTH + ") "
PER = "WITH t AS (SELECT {group}, {owner}, SUM({amount}) AS total FROM {table} GROUP BY {group}, {owner}) "

# kind, what the fact must have, questions, right query, wrong query
KINDS = [
    ("running_direction", (), ("Show the running total of {of} by month {dated}, from the earliest month on.",
                               "cumulative {of} month by month ({dated})"),
     BY_MONTH + "SELECT month, total, SUM(total) OVER (ORDER BY month) AS cumulative FROM m ORDER BY month",
     BY_MONTH + "SELECT month, total, SUM(total) OVER (ORDER BY month DESC) AS cumulative FROM m ORDER BY month"),
    ("running_partition", (), ("For every {owned}, list its {things} with the running total of {of} in the order {dated}.",
                               "{things}: id, {owned}, and the {of} accumulated so far within the same {owned}, by date {dated}"),
     "SELECT {id}, {owner}, SUM({amount}) OVER (PARTITION BY {owner} ORDER BY {date}, {id}) AS so_far FROM {table}",
     "SELECT {id}, {owner}, SUM({amount}) OVER (ORDER BY {date}, {id}) AS so_far FROM {table}"),
    ("running_key", ("group",), ("For every {grouped}, list its {things} with the running total of {of} in the order {dated}.",),
     "SELECT {id}, {group}, SUM({amount}) OVER (PARTITION BY {group} ORDER BY {date}, {id}) AS so_far FROM {table}",
     "SELECT {id}, {group}, SUM({amount}) OVER (PARTITION BY {owner} ORDER BY {date}, {id}) AS so_far FROM {table}"),
    ("frame", (), ("For each month {dated}, give the average {of} of that month and the two months before it.",
                   "3-month moving average of monthly {of} (month {dated})"),
     BY_MONTH + "SELECT month, AVG(total) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM m",
     BY_MONTH + "SELECT month, AVG(total) OVER (ORDER BY month ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS moving FROM m"),
    ("frame_to_end", (), ("For each month {dated}: total {of}, and the share of all months' {of} that it is.",),
     BY_MONTH + "SELECT month, total, 1.0 * total / SUM(total) OVER () AS share FROM m",
     BY_MONTH + "SELECT month, total, 1.0 * total / SUM(total) OVER (ORDER BY month) AS share FROM m"),
    ("previous", (), ("How did the {of} of each month {dated} change against the month before?",
                      "monthly {of} ({dated}) and the difference to the previous month"),
     BY_MONTH + "SELECT month, total - LAG(total) OVER (ORDER BY month) AS change FROM m",
     BY_MONTH + "SELECT month, total - LEAD(total) OVER (ORDER BY month) AS change FROM m"),
    ("previous_order", (), ("How did the {of} of each month {dated} change against the month before?",),
     BY_MONTH + "SELECT month, total - LAG(total) OVER (ORDER BY month) AS change FROM m",
     BY_MONTH + "SELECT month, total - LAG(total) OVER (ORDER BY total) AS change FROM m"),
    ("previous_of", (), ("For each of the {things}, how many days passed since the previous one of the same {owned}?",),
     "SELECT {id}, julianday({date}) - julianday(LAG({date}) OVER (PARTITION BY {owner} ORDER BY {date})) AS days FROM {table}",
     "SELECT {id}, julianday({date}) - julianday(LAG({date}) OVER (ORDER BY {date})) AS days FROM {table}"),
    ("growth_base", (), ("By how many percent did the {of} grow from month to month ({dated})?",
                         "month-over-month growth of {of} in percent, by month {dated}"),
     BY_MONTH + "SELECT month, 100.0 * (total - LAG(total) OVER (ORDER BY month)) / LAG(total) OVER (ORDER BY month) AS growth FROM m",
     BY_MONTH + "SELECT month, 100.0 * (total - LAG(total) OVER (ORDER BY month)) / total AS growth FROM m"),
    ("rank_ties", (), ("Which {owned} has the highest {of} in each {grouped}? If several tie, show all of them.",
                       "top {owned} per {grouped} by total {of}, ties included"),
     PER + "SELECT {group}, {owner}, total FROM (SELECT t.*, RANK() OVER (PARTITION BY {group} ORDER BY total DESC) AS place FROM t) AS r WHERE place = 1",
     PER + "SELECT {group}, {owner}, total FROM (SELECT t.*, ROW_NUMBER() OVER (PARTITION BY {group} ORDER BY total DESC) AS place FROM t) AS r WHERE place = 1"),
    ("rank_dense", (), ("For each {grouped}, list the {things} with the second-highest {of} value; equal values share a place and no place is skipped.",),
     "SELECT {group}, {id}, {amount} FROM (SELECT {group}, {id}, {amount}, DENSE_RANK() OVER (PARTITION BY {group} ORDER BY {amount} DESC) AS place FROM {table}) AS r WHERE place = 2",
     "SELECT {group}, {id}, {amount} FROM (SELECT {group}, {id}, {amount}, ROW_NUMBER() OVER (PARTITION BY {group} ORDER BY {amount} DESC) AS place FROM {table}) AS r WHERE place = 2"),
    ("first_last", (), ("For each {owned}, show the id and date of its most recent of the {things} (highest id if several share the date).",),
     "SELECT {owner}, {id}, {date} FROM (SELECT {owner}, {id}, {date}, ROW_NUMBER() OVER (PARTITION BY {owner} ORDER BY {date} DESC, {id} DESC) AS n FROM {table}) AS r WHERE n = 1",
     "SELECT {owner}, {id}, {date} FROM (SELECT {owner}, {id}, {date}, ROW_NUMBER() OVER (PARTITION BY {owner} ORDER BY {date}, {id} DESC) AS n FROM {table}) AS r WHERE n = 1"),
    ("case_sign", ("values",), ("Net {of} per month {dated}: {things} of {grouped} {v2} count as negative, all others as positive.",
                                "by month {dated}: {of} of all {things}, with {v2} subtracted"),
     "SELECT " + MONTH + " AS month, SUM(CASE WHEN {group} = '{v2}' THEN -{amount} ELSE {amount} END) AS net FROM {table} GROUP BY " + MONTH,
     "SELECT " + MONTH + " AS month, SUM(CASE WHEN {group} = '{v2}' THEN {amount} ELSE -{amount} END) AS net FROM {table} GROUP BY " + MONTH),
    ("case_sides", ("values",), ("Per month {dated}: {of} of {v1} minus {of} of {v2}.",
                                 "For each month {dated}, how much more {of} was there for {v1} than for {v2}?"),
     "SELECT " + MONTH + " AS month, SUM(CASE WHEN {group} = '{v1}' THEN {amount} ELSE 0 END) - SUM(CASE WHEN {group} = '{v2}' THEN {amount} ELSE 0 END) AS gap FROM {table} GROUP BY " + MONTH,
     "SELECT " + MONTH + " AS month, SUM(CASE WHEN {group} = '{v2}' THEN {amount} ELSE 0 END) - SUM(CASE WHEN {group} = '{v1}' THEN {amount} ELSE 0 END) AS gap FROM {table} GROUP BY " + MONTH),
    ("case_order", ("mid", "high"), ("Count the {things} by size: 'large' when {of} is {high} or more, otherwise 'medium' when it is {mid} or more, otherwise 'small'.",),
     "SELECT CASE WHEN {amount} >= {high} THEN 'large' WHEN {amount} >= {mid} THEN 'medium' ELSE 'small' END AS size, COUNT(*) AS n FROM {table} GROUP BY 1",
     "SELECT CASE WHEN {amount} >= {mid} THEN 'medium' WHEN {amount} >= {high} THEN 'large' ELSE 'small' END AS size, COUNT(*) AS n FROM {table} GROUP BY 1"),
    ("case_labels", ("values",), ("For each {owned}, count the {v1} {things} and the {v2} {things}, in that order.",),
     "SELECT {owner}, SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN {group} = '{v2}' THEN 1 ELSE 0 END) AS b FROM {table} GROUP BY {owner}",
     "SELECT {owner}, SUM(CASE WHEN {group} = '{v2}' THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) AS b FROM {table} GROUP BY {owner}"),
    ("ratio_sides", ("values",), ("What is the ratio of {v1} {things} to {v2} {things}?",
                                  "For the whole period: number of {v1} {things} per {v2} one"),
     "SELECT 1.0 * SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) / SUM(CASE WHEN {group} = '{v2}' THEN 1 ELSE 0 END) AS ratio FROM {table}",
     "SELECT 1.0 * SUM(CASE WHEN {group} = '{v2}' THEN 1 ELSE 0 END) / SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) AS ratio FROM {table}"),
    ("ratio_whole", ("values",), ("For each month {dated}, what share of the {things} was {v1}?",
                                  "share of {v1} among all {things}, by month {dated}"),
     "SELECT " + MONTH + " AS month, 1.0 * SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) / COUNT(*) AS share FROM {table} GROUP BY " + MONTH,
     "SELECT " + MONTH + " AS month, 1.0 * SUM(CASE WHEN {group} = '{v1}' THEN 1 ELSE 0 END) / SUM(CASE WHEN {group} <> '{v1}' THEN 1 ELSE 0 END) AS share FROM {table} GROUP BY " + MONTH),
    ("ratio_per", (), ("For each {grouped}: {of} per {owned} (total divided by the number of different {owners}).",
                       "average {of} per {owned}, by {grouped}"),
     "SELECT {group}, 1.0 * SUM({amount}) / COUNT(DISTINCT {owner}) AS per_owner FROM {table} GROUP BY {group}",
     "SELECT {group}, 1.0 * SUM({amount}) / COUNT(DISTINCT {id}) AS per_owner FROM {table} GROUP BY {group}"),
    ("share_whole", (), ("For each {grouped} and {owned}: what share of the {of} of that {grouped} does the {owned} have?",),
     PER + "SELECT {group}, {owner}, 1.0 * total / SUM(total) OVER (PARTITION BY {group}) AS share FROM t",
     PER + "SELECT {group}, {owner}, 1.0 * total / SUM(total) OVER (PARTITION BY {owner}) AS share FROM t"),
    ("coalesce_average", ("optional",), ("What is the average {optional_of} per {owned}, where {things} without a value count as 0?",
                                         "avg {optional_of} by {owned}; a missing value means zero"),
     "SELECT {owner}, AVG(COALESCE({optional_column}, 0)) AS mean FROM {table} GROUP BY {owner}",
     "SELECT {owner}, COALESCE(AVG({optional_column}), 0) AS mean FROM {table} GROUP BY {owner}"),
    ("except_sides", ("other",), ("Which {owners} have {things} but no {other_things}? Give the ids.",
                                  "ids of {owners} with at least one of the {things} and none of the {other_things}"),
     "SELECT {owner} FROM {table} EXCEPT SELECT {other_key} FROM {other_table}",
     "SELECT {other_key} FROM {other_table} EXCEPT SELECT {owner} FROM {table}"),
    ("union_all", ("other",), ("How many different {owners} appear in {things} or {other_things}?",
                               "count the {owners} found in the {things} or the {other_things}, each once"),
     "SELECT COUNT(*) FROM (SELECT {owner} AS k FROM {table} WHERE {owner} IS NOT NULL UNION SELECT {other_key} FROM {other_table} WHERE {other_key} IS NOT NULL) AS u",
     "SELECT COUNT(*) FROM (SELECT {owner} AS k FROM {table} WHERE {owner} IS NOT NULL UNION ALL SELECT {other_key} FROM {other_table} WHERE {other_key} IS NOT NULL) AS u"),
    ("union_rows", ("other",), ("How many {things} and {other_things} are there together for each {owned}?",),
     "SELECT k, COUNT(*) AS n FROM (SELECT {owner} AS k FROM {table} UNION ALL SELECT {other_key} FROM {other_table}) AS u GROUP BY k",
     "SELECT k, COUNT(*) AS n FROM (SELECT {owner} AS k FROM {table} UNION SELECT {other_key} FROM {other_table}) AS u GROUP BY k"),
    ("level", (), ("What is the average monthly total of {of} (month {dated})?",
                   "average over the months {dated} of the summed {of}"),
     BY_MONTH + "SELECT AVG(total) AS mean FROM m",
     "SELECT AVG({amount}) AS mean FROM {table}"),
    ("filter_window", ("values",), ("Running total of {of} for {v1} {things} only, by date {dated}.",),
     "SELECT {id}, SUM({amount}) OVER (ORDER BY {date}, {id}) AS so_far FROM {table} WHERE {group} = '{v1}'",
     "SELECT {id}, SUM({amount}) OVER (ORDER BY {date}, {id}) AS so_far FROM {table} WHERE {group} = '{v2}'"),
    ("average_of", (), ("List the {things} whose {of} are above the average of their own {grouped}.",
                        "{things} with more {of} than the mean of the same {grouped}"),
     "SELECT {id} FROM (SELECT {id}, {amount}, AVG({amount}) OVER (PARTITION BY {group}) AS mean FROM {table}) AS a WHERE {amount} > mean",
     "SELECT {id} FROM (SELECT {id}, {amount}, AVG({amount}) OVER (PARTITION BY {owner}) AS mean FROM {table}) AS a WHERE {amount} > mean"),
]


def words_of(fact, db):
    """The names that the kinds use, of one fact. `mid` and `high` are round amounts that split the rows."""
    out = {k: v for k, v in fact.items() if isinstance(v, str)}
    if fact["values"]: out.update(values=True, v1=fact["values"][0], v2=fact["values"][1])
    if fact["optional"]: out.update(optional=True, optional_column=fact["optional"][0], optional_of=fact["optional"][1])
    if fact["other"]:
        out.update(other=True, other_table=fact["other"][0], other_key=fact["other"][1], other_things=fact["other"][2])
    values = [v for (v,) in db.execute("SELECT {amount} FROM {table} WHERE {amount} > 0 ORDER BY 1".format(**out))]
    if values and values[len(values) // 2] < values[len(values) * 5 // 6]:
        out.update(mid=values[len(values) // 2], high=values[len(values) * 5 // 6])
    return out


def make(fact, db):
    words = words_of(fact, db)
    for kind, needs, questions, right, wrong in KINDS:
        if any(n not in words for n in needs): continue
        pair = {side: text.format(**words) for side, text in (("right", right), ("wrong", wrong))}
        if "{group}" in right and "{owner}" in right + wrong and words["group"] == words["owner"]: continue
        rows = [sorted(map(repr, db.execute(sql).fetchall())) for sql in pair.values()]
        if rows[0] == rows[1]: continue
        for n, question in enumerate(questions):
            yield {"id": f"{fact['db']}-{fact['table']}-{kind}-{n + 1}", "db": fact["db"], "kind": kind,
                   "question": question.format(**words), **pair}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--facts", default=os.path.join(FOLDER, "facts.json"))
    p.add_argument("--set", choices=("tune", "held"))
    a = p.parse_args()
    with open(a.facts, encoding="utf-8") as f: facts = [fact for fact in json.load(f) if a.set in (None, fact["set"])]
    with pairs.build_databases(FOLDER) as root:
        for fact in facts:
            db = sqlite3.connect(f"file:{root}/{fact['db']}/{fact['db']}.sqlite?mode=ro", uri=True)
            for pair in make(fact, db): print(json.dumps(pair))
            db.close()


if __name__ == "__main__":
    sys.exit(main())
