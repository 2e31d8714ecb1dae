#!/usr/bin/env bash
# The tests of clients/python/traces, with real small models: python3-torch of the distribution, the rest from PyPI into
# ${ASSAY_TEST_TRACES_LIBS:-build/traces-libs}. Skipped with a message (77) without torch, or without wheels for this
# Python.
set -uo pipefail
export ASSAY_BINARY=${1:?"the program"}
shift
root=$(cd "$(dirname "$0")/../../.." && pwd)
libs=${ASSAY_TEST_TRACES_LIBS:-$root/build/traces-libs} requirements=$root/tests/live/traces/requirements.txt
python=/usr/bin/python3

skip() { echo "skipped: $1"; exit 77; }

"$python" -c 'import torch' 2>/dev/null || skip "python3-torch is not installed"
"$python" -c 'import platform, sys; sys.exit(sys.version_info[:2] != (3, 11) or platform.machine() != "x86_64")' ||
  skip "the pinned wheels are for Python 3.11 on x86_64"
if ! cmp -s "$requirements" "$libs/complete"; then
  rm -rf "$libs"
  "$python" -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary=:all: \
    --require-hashes --target "$libs" \
    -r "$requirements" || exit 1
  cp "$requirements" "$libs/complete"
fi
export PYTHONPATH=$libs:$root/clients/python/traces/src:$root/train/linker PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1
exec "$python" -m pytest -q -p no:cacheprovider "$root/clients/python/traces/tests" "$root/tests/live/traces" "$@"
