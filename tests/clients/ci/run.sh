#!/usr/bin/env bash
# Tests the use of Assay in CI services and pre-commit, with their own tools: tests/clients/ci/run.sh SCRATCH
set -euo pipefail
scratch=$(realpath -m "${1:?a folder to work in}")
here=$(cd "$(dirname "$0")" && pwd)
: "${ASSAY_TEST_PROGRAM:?a built assay}"
mkdir -p "$scratch"
if ! cmp -s "$here/requirements.txt" "$scratch/complete"; then
  python3 -m venv --clear "$scratch/venv"
  "$scratch/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/requirements.txt"
  # The schema of Jenkins' JUnit XML, from the sources of pytest.
  "$scratch/venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: \
    -d "$scratch" pytest==7.4.4
  tar xzf "$scratch/pytest-7.4.4.tar.gz" -C "$scratch" --strip-components 3 \
    pytest-7.4.4/testing/example_scripts/junit-10.xsd
  cp "$here/requirements.txt" "$scratch/complete"
fi
exec "$scratch/venv/bin/python" "$here/test_ci.py" "$scratch"
