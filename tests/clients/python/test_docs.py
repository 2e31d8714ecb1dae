"""docs/python.md as it is written: its snippets run one after the other, as one program, and what they print is what the page says."""
import contextlib
import io
import os
import re

import pytest
from served import ROOT, Server

PAGE = (ROOT / "docs/python.md").read_text("utf-8")
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
