#!/bin/sh
# Agents: `assay mcp` and POST /mcp of `assay serve`, with the official SDKs of the Model Context Protocol as clients,
# in every form of the protocol that these support.
#
#   tests/clients/mcp/run.sh SCRATCH     with $ASSAY_TEST_PROGRAM
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
scratch=$1
program=$ASSAY_TEST_PROGRAM
export ASSAY_MODELS="${ASSAY_MODELS:-$root/models}"
mkdir -p "$scratch"

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
cp "$here"/package.json "$here"/*.mjs "$scratch"
(cd "$scratch" && npm install --silent --no-audit --no-fund)

"$scratch/venv/bin/python" - "$root/deploy/samples" "$scratch/databases" <<'PYTHON'
import pathlib, sqlite3, sys
for sql in pathlib.Path(sys.argv[1]).glob("*.sql"):
    folder = pathlib.Path(sys.argv[2], sql.stem)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{sql.stem}.sqlite").unlink(missing_ok=True)
    sqlite3.connect(folder / f"{sql.stem}.sqlite").executescript(sql.read_text()).connection.close()
PYTHON

"$program" serve --db-root "$scratch/databases" --http 127.0.0.1:0 --log-form=json 2>"$scratch/serve.log" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
port=
for _ in $(seq 300); do
  port=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$scratch/serve.log" | head -n 1)
  [ -z "$port" ] || break
  sleep 0.1
done
[ -n "$port" ] || { echo "[FAIL] serve"; cat "$scratch/serve.log"; echo "Synthesis: Tested: 1 | Passing: 0"; exit 1; }
export ASSAY_TEST_DATABASES="$scratch/databases" ASSAY_TEST_URL="http://127.0.0.1:$port/mcp"

status=0
"$scratch/venv/bin/python" "$here/check.py" >"$scratch/python.out" || status=1
(cd "$scratch" && node check.mjs) >"$scratch/node.out" || status=1
cat "$scratch/python.out" "$scratch/node.out" | grep -v '^Synthesis:' || true
cat "$scratch/python.out" "$scratch/node.out" |
  awk '/^Synthesis:/ { tested += $3; passing += $6; n++ } END { print "Synthesis: Tested: " tested " | Passing: " passing; exit n == 2 ? 0 : 1 }' || status=1
exit $status
