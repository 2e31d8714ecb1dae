#!/usr/bin/env bash
# The main job on this machine: install what is missing, build, replay the bundled query log, show one full report.
#
#   deploy/demo.sh [--no-install] [--build-only]
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/packages.sh

install=1 build_only=
for arg; do
  case $arg in
    --no-install) install= ;;
    --build-only) build_only=1 ;;
    *) echo "usage: deploy/demo.sh [--no-install] [--build-only]" >&2; exit 2 ;;
  esac
done
[ -z "$install" ] || install_packages "$build_packages" "$optional_packages"

echo "== building" >&2
cmake --preset release -DBUILD_TESTING=OFF -B build/demo >/dev/null
cmake --build build/demo --target assay >/dev/null
[ -z "$build_only" ] || exit 0
assay=build/demo/cli/assay

echo "== sample databases" >&2
root=build/demo/samples
for sql in deploy/samples/*.sql; do
  name=$(basename "$sql" .sql)
  mkdir -p "$root/$name"
  rm -f "$root/$name/$name.sqlite"
  sqlite3 "$root/$name/$name.sqlite" <"$sql"
done

echo "== replaying deploy/samples/questions.jsonl" >&2
"$assay" replay deploy/samples/questions.jsonl --db-root "$root" --format jsonl --out build/demo/verdicts.jsonl --force
echo
echo "Accuracy of Assay's choice on this log, measured with its gold answers:"
"$assay" eval deploy/samples/questions.jsonl --db-root "$root"
echo
echo "A full verdict:"
"$assay" check --db "$root/podcasts/podcasts.sqlite" \
  --question "Give the name of each host and the titles of the shows they host." \
  "SELECT h.name, s.title FROM host AS h JOIN show AS s ON h.host_id = s.show_id" \
  "SELECT h.name, s.title FROM host AS h JOIN show_host AS x ON h.host_id = x.host_id JOIN show AS s ON x.show_id = s.show_id" ||
  [ $? = 1 ] # judged, not validated: an answer, not a failure
echo
echo "A repair:"
"$assay" fix --db "$root/podcasts/podcasts.sqlite" --format text \
  --question "How many hosts live in Leeds?" "SELECT count(*) FROM host WHERE city = 'leeds'"
echo
echo "All verdicts: build/demo/verdicts.jsonl"
