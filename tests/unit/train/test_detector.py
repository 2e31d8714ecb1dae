"""The learned detector: its tables and collector on constructed cases, and, if torch is installed, the whole path from
an export through a served model to a verdict.

    test_detector.py --assay build/asan/cli/assay

The test creates a tiny, untrained encoder. $ASSAY_DETECTOR_ENCODER names a real one instead
(train/detector/fetch_encoder.sh), and $ASSAY_DETECTOR_PYTHON a Python that has torch and tokenizers.
"""
import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DETECTOR, SAMPLES = ROOT / "train/detector", ROOT / "deploy/samples"
PYTHON = os.environ.get("ASSAY_DETECTOR_PYTHON", sys.executable)
ASSAY = None
sys.path.insert(0, str(DETECTOR))
sys.dont_write_bytecode = True

import collect  # noqa: E402
import graphs  # noqa: E402
import tables  # noqa: E402

TINY = """
import sys, json, os
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
into = sys.argv[1]
tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
tokenizer.train_from_iterator(["select count from vessel where name how many are there"], trainer)
tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                         special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
os.makedirs(into)
tokenizer.save(os.path.join(into, "tokenizer.json"))
config = dict(model_type="bert", vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=1,
              num_attention_heads=2, intermediate_size=64, max_position_embeddings=192)
json.dump(config, open(os.path.join(into, "config.json"), "w"))
import torch, encoder
torch.manual_seed(1)
named = {}
for key, value in encoder.Bert(config).state_dict().items():
    part = key.split(".")
    first = {"words": "word_embeddings", "places": "position_embeddings", "types": "token_type_embeddings"}
    if part[0] == "layers":
        name = f"encoder.layer.{part[1]}.{encoder.PARTS[part[2]]}.{part[3]}"
    else:
        name = f"embeddings.{first.get(part[0], 'LayerNorm')}.{part[1]}"
    named[name] = value.numpy()
encoder.write_safetensors(os.path.join(into, "model.safetensors"), named)
"""


def score(question, place, label, p, db="d", fold=0):
    return {"id": question, "db": db, "fold": fold, "place": place, "label": label, "p": p}


class Tables(unittest.TestCase):
    def test_auc_counts_ties_half(self):
        scores = [score("a", 0, True, 0.9), score("b", 0, True, 0.5), score("c", 0, False, 0.5)]
        self.assertAlmostEqual(tables.auc(scores), 0.75)

    def test_threshold_comes_from_other_databases(self):
        train = [score("a", 0, True, 0.4, fold=1), score("b", 0, False, 0.2, fold=1)]
        test = [score("c", 0, True, 0.35, fold=2), score("d", 0, False, 0.45, fold=2)]
        accuracy = tables.measures(train + test)[6]
        # fold 2 with fold 1's 0.3: one of two; fold 1 with fold 2's: no threshold separates, all are called right: one
        # of two
        self.assertAlmostEqual(accuracy, 50.0)

    def test_reranking_keeps_undoubted_first_candidate(self):
        beam = [score("a", 0, True, 0.6), score("a", 1, False, 0.9)]
        self.assertFalse(tables.reranked(beam)["label"])
        self.assertTrue(tables.reranked(beam, 0.5)["label"])
        even = [score("a", 0, True, 0.5), score("a", 1, False, 0.5)]
        self.assertTrue(tables.reranked(even)["label"], "of equals the first")


class Graphs(unittest.TestCase):
    LINE = {"question": "Où 10 old cats", "words": [[0, 3, True], [4, 6, False], [7, 10, False], [11, 15, False]]}

    def test_byte_spans_become_phrases(self):
        graph = graphs.chained_graph(self.LINE["question"], self.LINE["words"])
        self.assertEqual([self.LINE["question"][a:b] for a, b in filter(None, graph["spans"])],
                         ["Où", "10", "old", "cats"])
        phrase = graph["types"].index("phrase")
        self.assertEqual([b for a, b in graph["edges"] if a == phrase], [1, 2, 3])


class Collect(unittest.TestCase):
    def test_query_is_rewritten_for_other_schema(self):
        with tempfile.TemporaryDirectory() as folder:
            schemas = []
            for name, sql in (("a", "CREATE TABLE singer (name TEXT, age INT)"),
                              ("b", "CREATE TABLE vessel (title TEXT, weight INT)")):
                with sqlite3.connect(f"{folder}/{name}.sqlite") as db:
                    db.execute(sql)
                schemas.append(collect.Schema(f"{folder}/{name}.sqlite"))
            question = "Which vessels have a weight over 7?"
            filler = collect.Filler(schemas[0], schemas[1], question, [], random.Random(1))
            sql = filler.fill("SELECT name FROM singer WHERE age > 30")
            self.assertEqual(sql, 'SELECT "vessel"."title" FROM "vessel" WHERE "vessel"."weight" > 7')
            self.assertTrue(schemas[1].runs(sql))
            self.assertIsNone(filler.fill("SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)"))
            for schema in schemas:
                schema.db.close()


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch, tokenizers"], capture_output=True).returncode == 0


@unittest.skipUnless(has_torch(), "no torch and tokenizers ($ASSAY_DETECTOR_PYTHON names a Python that has them)")
class EndToEnd(unittest.TestCase):
    def python(self, *words):
        env = {**os.environ, "PYTHONPATH": str(DETECTOR), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        ran = subprocess.run([PYTHON, "-W", "ignore", *map(str, words)], env=env, capture_output=True, text=True,
                             timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def assay(self, *words):
        ran = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, timeout=120)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        return ran.stdout

    def test_trained_detector_serves_check(self):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            for sql in SAMPLES.glob("*.sql"):
                (at / sql.stem).mkdir()
                with sqlite3.connect(at / sql.stem / f"{sql.stem}.sqlite") as db:
                    db.executescript(sql.read_text())
                db.close()
            self.assay("train", "export", SAMPLES / "questions.jsonl", "--db-root", at, "--out", at / "lines.jsonl")
            lines = graphs.read_lines([at / "lines.jsonl"])
            self.assertTrue({True, False} <= {line["label"] for line in lines})
            self.assertTrue(any(line["links"] for line in lines))
            encoder = os.environ.get("ASSAY_DETECTOR_ENCODER") or at / "encoder"
            if not os.environ.get("ASSAY_DETECTOR_ENCODER"):
                (at / "tiny.py").write_text(TINY)
                self.python(at / "tiny.py", encoder)
            train = (DETECTOR / "train.py", at / "lines.jsonl", "--encoder", encoder, "--epochs", 1, "--graph-dim", 16,
                     "--parser", "none")
            self.python(*train, "--links", "--original", "--folds", "--only-folds", 1, "--scores", at / "s")
            self.assertTrue(all(0 <= s["p"] <= 1 for s in tables.read(at / "s")) and tables.read(at / "s"))
            self.python(*train, "--out", at / "model")
            self.served(at)

    def served(self, at):
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        with subprocess.Popen([PYTHON, "-W", "ignore", DETECTOR / "serve.py", "--model", at / "model", "--assay", ASSAY,
                               "--port", "0"], env=env, stdout=subprocess.PIPE, text=True) as server:
            try:
                url = server.stdout.readline().strip()
                odd = "SELECT count(*) FROM vessel WHERE name = 'x | 2 rows ('"
                out = self.assay("check", "--db", at / "ferries/ferries.sqlite", "--question",
                                 "How many vessels are there?",
                                 "--verifier-backend", "tei", "--verifier-endpoint", url, "--format", "json",
                                 "SELECT count(*) FROM vessel", "SELECT name FROM vessel", odd)
            finally:
                server.kill()
        candidates = json.loads(out)["candidates"]
        self.assertEqual([c["verifier"] for c in candidates], ["tei"] * 3, out)
        self.assertTrue(all(0 <= c["entailment"] <= 1 for c in candidates))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    known, rest = parser.parse_known_args()
    ASSAY = str(Path(known.assay).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
