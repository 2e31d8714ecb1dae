#!/usr/bin/env bash
# Compares the API with its description: schemathesis sends valid and invalid requests for /openapi.json and checks each
# answer against it.
#
#   tests/clients/openapi/run.sh SCRATCH     with ASSAY_TEST_PROGRAM; $ASSAY_TEST_CALLS: number of calls (2000)
set -euo pipefail
scratch=$(realpath -m "$1") here=$(cd "$(dirname "$0")" && pwd) calls=${ASSAY_TEST_CALLS:-2000}
: "${ASSAY_TEST_PROGRAM:?a built assay}"
mkdir -p "$scratch/db/podcasts"
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
sqlite3 "$scratch/db/podcasts/podcasts.sqlite" <"$here/../../../deploy/samples/podcasts.sql"

"$ASSAY_TEST_PROGRAM" serve --db-root "$scratch/db" --http 127.0.0.1:0 --keep "$scratch/verdicts.sqlite" \
  --log-form json >"$scratch/serve.log" 2>&1 &
server=$!
trap 'kill $server; wait $server || true' EXIT
for _ in $(seq 300); do
  port=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$scratch/serve.log")
  [ -z "$port" ] || break
  sleep 0.1
done

# One thread: Python 3.11 itself fails now and then if several threads create syntax trees at a time.
passed=0 asked=0 seed=0
while [ "$asked" -lt "$calls" ]; do
  seed=$((seed + 1))
  # Checks that only the operator could know are left out: the length of a text is counted in bytes, which JSON Schema
  # cannot express.
  if (cd "$scratch" && SCHEMATHESIS_HOOKS=lines PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 \
    "$scratch/venv/bin/schemathesis" run "http://127.0.0.1:$port/openapi.json" \
    --seed $seed \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,allow_header_conformance \
    --phases coverage,fuzzing --max-examples 400 --workers 1 --no-color) >"$scratch/run.log" 2>&1; then
    passed=$((passed + 1))
  else
    echo "[FAIL] openapi seed $seed"
    sed -n '/= FAILURES =/,$p; /= ERRORS =/,$p' "$scratch/run.log" | cut -c1-400 | head -60
  fi
  now=$(sed -n 's/^ *\([0-9]*\) generated.*/\1/p' "$scratch/run.log")
  [ -n "$now" ] || { tail -n 20 "$scratch/run.log" | cut -c1-400; break; }
  asked=$((asked + now))
done
kill -0 $server || { echo "[FAIL] the server has ended"; seed=$((seed + 1)); }
echo "$asked calls"
echo "Synthesis: Tested: $seed | Passing: $passed"
[ "$seed" = "$passed" ]
