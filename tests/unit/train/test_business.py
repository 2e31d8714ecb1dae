#!/usr/bin/env python3
"""Tests train/business. Its questions follow its README, check.py finds those that do not, log.py leaves out the
held-out databases, and second_reader.py recognises answers that agree.

check.py runs all queries, which takes minutes. This test runs only those of EXECUTED.
"""
import collections, contextlib, io, os, sqlite3, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "train", "business"))
import check, corpus, log, second_reader

EXECUTED = ["subscriptions", "hospital"]


def database():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE bill(id INT, paid_on TEXT)")
    db.execute("INSERT INTO bill VALUES (1, '2024-02-01'), (2, NULL), (3, '2024-03-01')")
    return db


def question(**members):
    right = ["SELECT COUNT(*) FROM bill WHERE paid_on IS NULL"]
    wrong = [corpus.Wrong("null", "SELECT COUNT(*) FROM bill WHERE paid_on <> NULL"),
             corpus.Wrong("missing_condition", "SELECT COUNT(*) FROM bill")]
    sound = {"id": "q", "db": "d", "work": "everyday", "question": "unpaid bills?", "right": right, "wrong": wrong}
    return corpus.Question(**{**sound, **members})


class Corpus(unittest.TestCase):
    def test_each_question_is_complete(self):
        for name in corpus.names():
            for q in corpus.read(name):
                with self.subTest(id=q.id):
                    self.assertTrue(q.question and 1 <= len(q.right) <= 3)
                    self.assertLessEqual({w.kind for w in q.wrong}, set(check.KINDS))
                    self.assertFalse(set(q.right) & {w.sql for w in q.wrong})

    def test_no_member_continues_in_the_text_of_another(self):
        for name in corpus.names():
            for q in corpus.read(name):
                for text in (q.question, q.evidence, *(w.twin for w in q.wrong), *(w.twin_evidence for w in q.wrong)):
                    self.assertNotRegex(text or "", r" (ambiguous|evidence|right|twin): ", q.id)

    def test_ids_are_unique(self):
        seen = collections.Counter(q.id for name in corpus.names() for q in corpus.read(name))
        self.assertEqual([id for id, n in seen.items() if n > 1], [])

    def test_malformed_line_names_its_place(self):
        for lines, place in [(["[a] everyday", "question: who?", "rigth: SELECT", "  1", ""], "x.txt:3"),
                             (["question: who?"], "x.txt:1"), (["  who?"], "x.txt:1"),
                             (["[a] everyday", "[b] nightly"], "x.txt:2"),
                             (["[a] everyday", "twin: who?"], "x.txt:2")]:
            with self.subTest(lines=lines), self.assertRaisesRegex(corpus.Malformed, place):
                corpus.parse("x", lines)

    def test_continued_line_is_joined(self):
        q, = corpus.parse("x", ["[a] everyday", "right: SELECT", "  1", "wrong value: SELECT 2", "twin: two?"])
        self.assertEqual((q.right, q.wrong), (["SELECT 1"], [corpus.Wrong("value", "SELECT 2", "two?")]))

    def test_same_seed_gives_same_rows(self):
        self.assertEqual(list(corpus.rows("subscriptions")), list(corpus.rows("subscriptions")))

    def test_queries_follow_rules(self):
        for name in EXECUTED:
            with contextlib.redirect_stdout(io.StringIO()) as printed: _, bad = check.check(name)
            self.assertEqual(bad, 0, printed.getvalue())

    def test_ddl_has_types_of_dialect(self):
        self.assertIn("TIMESTAMP NOT NULL", corpus.ddl("subscriptions", "postgres"))
        self.assertIn("DATETIME NOT NULL", corpus.ddl("subscriptions", "mariadb"))
        self.assertIn("VARCHAR(190) NOT NULL", corpus.ddl("subscriptions", "mariadb"))


class Check(unittest.TestCase):
    def faults(self, **members):
        return check.faults(question(**members), database(), database())

    def test_valid_question_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    def test_right_queries_that_differ_are_reported(self):
        more = [question().right[0], "SELECT COUNT(*) FROM bill"]
        self.assertIn("right queries differ", " ".join(self.faults(right=more)))

    def test_wrong_query_with_right_result_is_reported(self):
        wrong = [*question().wrong, corpus.Wrong("value", "SELECT COUNT(*) FROM bill WHERE id = 2")]
        self.assertIn("has the right result", " ".join(self.faults(wrong=wrong)))

    def test_query_that_does_not_run_is_reported(self):
        wrong = [*question().wrong, corpus.Wrong("value", "SELECT no_column FROM bill")]
        self.assertIn("no such column", " ".join(self.faults(wrong=wrong)))

    def test_right_queries_differing_on_copy_are_reported(self):
        copy = database()
        copy.execute("DELETE FROM bill WHERE id = 2")
        found = check.faults(question(right=[*question().right, "SELECT 1"]), database(), copy)
        self.assertIn("on the copy: right queries differ: SELECT 1", found)

    def test_unknown_kind_is_reported(self):
        wrong = [*question().wrong, corpus.Wrong("mood", "SELECT 7")]
        self.assertIn("unknown kind 'mood'", self.faults(wrong=wrong))


class Log(unittest.TestCase):
    def test_training_log_has_no_held_out_database(self):
        held = {name for names in corpus.HELD.values() for name in names}
        self.assertLessEqual(held, set(corpus.names()))
        self.assertFalse(held & set(log.names_of("training")))

    def test_twin_puts_wrong_query_on_right_side(self):
        twins = [q for q in log.questions_of("subscriptions") if "/twin" in q[0]]
        by_question = {q.question: q for q in corpus.read("subscriptions")}
        open_invoices = next(q for q in twins if q[1] == "open invoices?")
        self.assertEqual(open_invoices[3], "SELECT COUNT(*) FROM invoice WHERE status = 'open'")
        self.assertIn(by_question["cancelled invoices?"].right[0], open_invoices[4])


class SecondReader(unittest.TestCase):
    def test_sample_has_each_database_to_its_share(self):
        sizes = {name: len(corpus.read(name)) for name in corpus.names()}
        drawn = collections.Counter(q.db for q in second_reader.sample(300, 1))
        for name, size in sizes.items():
            self.assertLessEqual(abs(drawn[name] - 300 * size / sum(sizes.values())), 1, name)
        self.assertEqual([q.id for q in second_reader.sample(9, 1)], [q.id for q in second_reader.sample(9, 1)])

    def test_order_of_columns_and_rounding_are_form(self):
        expected = [("a", 1 / 3, 2), ("b", 2 / 3, 1)]
        self.assertEqual(second_reader.verdict(expected[::-1], expected), "agree")
        self.assertEqual(second_reader.verdict([(2, "a", 0.33), (1, "b", 0.67)], expected), "form")
        self.assertEqual(second_reader.verdict([("a", "2"), ("b", "1")], expected), "form")

    def test_other_values_or_pairs_differ(self):
        expected = [("a", 1 / 3, 2), ("b", 2 / 3, 1)]
        for answer in ([("a", 0.34, 2), ("b", 0.67, 1)], [("b", 1 / 3, 2), ("a", 2 / 3, 1)], expected[:1], []):
            self.assertEqual(second_reader.verdict(answer, expected), "differ")


if __name__ == "__main__":
    unittest.main()
