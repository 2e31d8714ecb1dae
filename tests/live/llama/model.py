"""A language model of 2 MB in the GGUF format with scripted answers.

It is a bigram model in the shape of a llama. A token's embedding is one-hot and the only layer adds nothing, so the
logits after a token are a row of the output matrix, which this file writes. A line break, which the chat template puts
at the end of every prompt, is followed by one of the openings. The schema of a request decides which of them the server
permits. For other schemas the habits below close strings, lists and objects early, so that any answer ends.

The embedding of a text is the mean of its tokens' embeddings: texts with the same letters are near.
"""
import struct

UINT32, INT32, FLOAT32, STRING, ARRAY = 4, 5, 6, 8, 9  # types of GGUF's metadata
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # kinds of a token
ALIGNMENT = 32
HEAD = 64
END = "</s>"

HABITS = [('"', 8.0), ("}", 7.0), ("]", 6.0), (",", 5.0), (":", 4.0), ("0", 3.0),
          ("t", 2.0)]  # closing characters come first


def packed(kind, value):
    if kind == STRING:
        data = value.encode()
        return struct.pack("<Q", len(data)) + data
    if kind == ARRAY:
        of, items = value
        return struct.pack("<IQ", of, len(items)) + b"".join(packed(of, item) for item in items)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f"}[kind], value)


def field(key, kind, value):
    return packed(STRING, key) + struct.pack("<I", kind) + packed(kind, value)


def vocabulary(texts):
    """Returns tokens and their kinds: any byte, any printable character, and the texts, padded to a round number."""
    tokens = ["<unk>", "<s>", END] + [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256
    tokens += ["\u2581"] + [chr(c) for c in range(33, 127)] + [text.replace(" ", "\u2581") for text in texts]
    kinds += [NORMAL] * (len(tokens) - len(kinds))
    spare = -len(tokens) % HEAD
    tokens += [f"<spare{i}>" for i in range(spare)]
    kinds += [CONTROL] * spare
    return tokens, kinds


def logits_after(tokens, follows):
    """Returns the output matrix, with a row for each next token. `follows` is {(token, next token): logit}, with tokens
    as texts."""
    n = len(tokens)
    number = {token: i for i, token in enumerate(tokens)}
    table = [[0.0] * n for _ in range(n)]
    for text, logit in HABITS:
        table[number[text]] = [logit] * n
    for (before, after), logit in follows.items():
        table[number[after.replace(" ", "\u2581")]][number[before.replace(" ", "\u2581")]] = logit
    # The norm before the matrix scales a one-hot embedding to length sqrt(n).
    return b"".join(struct.pack(f"<{n}f", *(logit / n**0.5 for logit in row)) for row in table)


def one_hot(n):
    return b"".join(struct.pack(f"<{n}f", *(float(i == j) for j in range(n))) for i in range(n))


def tensors_of(n, table):
    """Writes name, shape in GGUF's order (the innermost first) and values; None means zeros."""
    ones = struct.pack("<f", 1.0) * n
    return [
        ("token_embd.weight", (n, n), one_hot(n)),
        ("blk.0.attn_norm.weight", (n,), ones),
        ("blk.0.attn_q.weight", (n, HEAD), None),
        ("blk.0.attn_k.weight", (n, HEAD), None),
        ("blk.0.attn_v.weight", (n, HEAD), None),
        ("blk.0.attn_output.weight", (HEAD, n), None),
        ("blk.0.ffn_norm.weight", (n,), ones),
        ("blk.0.ffn_gate.weight", (n, HEAD), None),
        ("blk.0.ffn_up.weight", (n, HEAD), None),
        ("blk.0.ffn_down.weight", (HEAD, n), None),
        ("output_norm.weight", (n,), ones),
        ("output.weight", (n, n), table),
    ]


def fields_of(tokens, kinds):
    n = len(tokens)
    return [
        field("general.architecture", STRING, "llama"),
        field("general.name", STRING, "tiny"),
        field("general.alignment", UINT32, ALIGNMENT),
        field("llama.block_count", UINT32, 1),
        field("llama.context_length", UINT32, 1 << 17),
        field("llama.embedding_length", UINT32, n),
        field("llama.feed_forward_length", UINT32, HEAD),
        field("llama.attention.head_count", UINT32, 1),
        field("llama.attention.key_length", UINT32, HEAD),
        field("llama.attention.value_length", UINT32, HEAD),
        field("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-6),
        field("llama.rope.dimension_count", UINT32, HEAD),
        field("tokenizer.ggml.model", STRING, "llama"),
        field("tokenizer.ggml.tokens", ARRAY, (STRING, tokens)),
        field("tokenizer.ggml.scores", ARRAY, (FLOAT32, [0.0] * n)),
        field("tokenizer.ggml.token_type", ARRAY, (INT32, kinds)),
        field("tokenizer.ggml.unknown_token_id", UINT32, 0),
        field("tokenizer.ggml.bos_token_id", UINT32, 1),
        field("tokenizer.ggml.eos_token_id", UINT32, 2),
        field("tokenizer.chat_template", STRING, "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"),
    ]


def write(path, openings, follows):
    """Writes the model. openings: {text: logit}, possible beginnings of an answer; follows: {(text, next text): logit}.
    All texts become tokens."""
    texts = dict.fromkeys([*openings, *(text for pair in follows for text in pair)])
    tokens, kinds = vocabulary([text for text in texts if text != END and len(text) > 1])
    follows = follows | {("<0x0A>", text): logit for text, logit in (openings | {"{": 20.0}).items()}
    tensors, fields = tensors_of(len(tokens), logits_after(tokens, follows)), fields_of(tokens, kinds)
    infos, body = b"", b""
    for name, shape, values in tensors:
        infos += packed(STRING, name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(body))
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        body += (values or bytes(size)) + bytes(-size % ALIGNMENT)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(fields)) + b"".join(fields) + infos
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + body)
