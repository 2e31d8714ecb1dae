"""Record a schema linker at work: what it writes token by token, where it would have left the right path, and its
hidden states.

    names = Names({"singer": [45, 12], "concert": [77]}, separator=[6], end=1)
    with Writer("dev") as out:
        out.write(record(model, inputs, names, gold=["singer"], id="1", database="concert_singer", question=...,
        stage="tables"))

makes dev.jsonl and dev.safetensors, which `assay link` reads. send() asks a running `assay serve` about one trace at
once.
"""

from .names import Names
from .recorder import Trace, record
from .writer import FORMAT, Refused, Writer, message, send

__all__ = ["FORMAT", "Names", "Refused", "Trace", "Writer", "message", "record", "send"]
