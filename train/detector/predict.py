"""Scores lines of `assay train export` with a trained detector.

python3 predict.py LINES... --model DIR > scores.jsonl
"""
import argparse
import json

import encoder as encoders
import graphs
import model as models
import train


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("lines", nargs="+")
    a.add_argument("--model", required=True)
    a.add_argument("--device", default="cpu")
    args = a.parse_args()
    net = models.load(args.model).to(args.device)
    tokenizer, questions = encoders.load_tokenizer(args.model), graphs.Questions(net.config["parser"])
    c = net.config
    for line in graphs.read_lines(args.lines):
        sample = graphs.make_sample(line, tokenizer, questions, c["longest"], c["original"])
        p = train.score(net, [sample], None, args.device)[0]
        print(json.dumps({**{k: line.get(k) for k in train.KEPT}, "p": round(p, 6)}))


if __name__ == "__main__":
    main()
