#!/usr/bin/env bash
# The page of assay serve in a real browser: run.sh SCRATCH, with ASSAY_TEST_PROGRAM. ASSAY_TEST_PICTURES=1 writes
# docs/pictures again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mkdir -p "$1" && cd "$1" && pwd)
browser=${ASSAY_TEST_BROWSER:-$(command -v chromium || true)}
if [ -z "$browser" ]; then
  echo "[FAIL] page/browser"
  echo "  there is no chromium: apt-get install chromium"
  echo "Synthesis: Tested: 1 | Passing: 0"
  exit 1
fi
cp "$here"/package.json "$here"/*.mjs "$scratch"/
if ! npm install --prefix "$scratch" --no-audit --no-fund --no-package-lock \
    --ignore-scripts --loglevel=error >"$scratch/npm.log" 2>&1; then
  echo "[FAIL] page/npm"
  sed 's/^/  /' "$scratch/npm.log"
  echo "Synthesis: Tested: 1 | Passing: 0"
  exit 1
fi
export ASSAY_TEST_BROWSER=$browser ASSAY_TEST_PROGRAM ASSAY_TEST_ROOT=${here%/tests/clients/page}
exec node "$scratch/run.mjs" "$scratch"
