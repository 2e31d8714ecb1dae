#!/usr/bin/env python3
"""Train the small schema linker: an encoder-decoder that writes which tables, and which of their columns, a question needs.

  assay link export LOG... --db-root DATABASES --out lines.jsonl
  train.py lines.jsonl --out DIR [--epochs 20]

Databases of the last three of ten folds (prompt.py) are left out: what tells its mistakes is trained on those. The same arguments give the same
weights on the same machine. DIR is a Hugging Face directory: weights in half precision, tokenizer, configuration.
"""

import argparse, collections, copy, json, math, random, sys, time

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import MBartConfig, MBartForConditionalGeneration, PreTrainedTokenizerFast

from prompt import LINKER_FOLDS, SPECIAL, column_prompt, fold_of, table_prompt

TOKENS_A_BATCH = 2000
LONGEST = 700
MIN_DATABASES = 8


def read_lines(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for text in f: yield json.loads(text)


def make_tokenizer(lines):
    """Words that MIN_DATABASES share; others are <unk>."""
    databases = collections.defaultdict(set)
    for line in lines:
        names = (x for t in line["tables"] for x in [t, *t["columns"]])
        for word in [*line["words"], *(w for x in names for w in x["words"])]: databases[word].add(line["db"])
    shared = sorted(w for w, where in databases.items() if len(where) >= MIN_DATABASES)
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(dict.fromkeys([*SPECIAL, *shared]))}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", words.token_to_id("</s>"))])
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
                                   model_max_length=LONGEST, additional_special_tokens=SPECIAL[3:])


def make_model(tokenizer, width):
    """Normalised before each layer, so that it learns to copy slots within an epoch; a T5 of this size took ten times as long."""
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    return MBartForConditionalGeneration(MBartConfig(
        vocab_size=len(tokenizer), d_model=width, encoder_layers=3, decoder_layers=4, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=3 * width, decoder_ffn_dim=3 * width, max_position_embeddings=LONGEST + 68,
        pad_token_id=pad, eos_token_id=end, bos_token_id=end, forced_eos_token_id=None,
        decoder_start_token_id=end,  # what this family shifts to the front of its labels
        dropout=0.15, init_std=0.06, scale_embedding=True))


def prompts(lines, rng):
    for line in lines:
        yield table_prompt(line, rng)
        yield column_prompt(line, line["gold"]["tables"], rng)


def batches(lines, tokenizer, rng):
    """Of like length, in random order: (input ids, targets)."""
    both = [p for p in prompts(lines, rng) if p]
    inputs = tokenizer([p.text for p in both])["input_ids"]
    targets = tokenizer([p.target() for p in both])["input_ids"]
    pairs = sorted(((i, t) for i, t in zip(inputs, targets) if len(i) <= LONGEST), key=lambda p: (len(p[0]), rng.random()))
    out, batch = [], []
    for pair in pairs:
        if batch and (len(batch) + 1) * len(pair[0]) > TOKENS_A_BATCH:
            out.append(batch)
            batch = []
        batch.append(pair)
    out.append(batch)
    rng.shuffle(out)
    return out


def padded(rows, filler):
    width = max(map(len, rows))
    return torch.tensor([row + [filler] * (width - len(row)) for row in rows])


def drop_words(ids, tokenizer, rng, share=0.08):
    """Some words are hidden, so that marks and schema are learned from too."""
    unk, first = tokenizer.unk_token_id, len(SPECIAL)
    return [unk if i >= first and rng.random() < share else i for i in ids]


def train(model, tokenizer, lines, args):
    rng = random.Random(args.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=0.01, betas=(0.9, 0.98))
    steps, total, began = 0, None, time.time()
    for epoch in range(args.epochs):
        todo = batches(lines, tokenizer, rng)
        total = total or len(todo) * args.epochs
        model.train()
        loss_sum = 0.0
        for batch in todo:
            rate = args.rate * min(1, (steps + 1) / 200) * (0.5 + 0.5 * math.cos(math.pi * min(1, steps / total)))
            for group in optimizer.param_groups: group["lr"] = rate
            ids = padded([drop_words(i, tokenizer, rng) for i, _ in batch], tokenizer.pad_token_id)
            labels = padded([t for _, t in batch], -100)
            loss = model(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id).long(), labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            steps += 1
            loss_sum += loss.item()
        print(f"epoch {epoch + 1}: loss {loss_sum / len(todo):.4f}, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        if (epoch + 1) % 2 == 0: save(model, tokenizer, args.out)


def save(model, tokenizer, path):
    copy.deepcopy(model).half().save_pretrained(path, safe_serialization=True)
    tokenizer.save_pretrained(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    lines = [line for line in read_lines(args.lines) if "gold" in line and fold_of(line["db"]) < LINKER_FOLDS]
    tokenizer = make_tokenizer(lines)
    model = make_model(tokenizer, args.width)
    print(f"{len(lines)} questions, {sum(p.numel() for p in model.parameters())} weights", file=sys.stderr)
    train(model, tokenizer, lines, args)
    save(model, tokenizer, args.out)


if __name__ == "__main__":
    main()
