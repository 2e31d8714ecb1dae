#!/usr/bin/env bash
# Builds an assay with profile-guided optimisation for the bundled samples, as build/pgo/cli/assay. Makes two builds:
# one that counts, and one that uses the counts.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build/profile
cmake --preset pgo-train > /dev/null
cmake --build --preset pgo-train --target assay
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for script in deploy/samples/*.sql; do
  name=$(basename "$script" .sql)
  mkdir -p "$scratch/$name"
  sqlite3 "$scratch/$name/$name.sqlite" < "$script"
done
for strategy in rerank first_valid cyclesql detect_then_rerank; do
  build/pgo-train/cli/assay replay deploy/samples/questions.jsonl --db-root "$scratch" \
    --strategy "$strategy" > /dev/null
done
cmake --preset pgo > /dev/null
cmake --build --preset pgo --target assay
