#!/usr/bin/env bash
# For action.yml: check the files of $INPUT_PATHS, and leave annotations, or a SARIF file for the step that uploads it.
set -uo pipefail
mapfile -t paths < <(sed '/^[[:space:]]*$/d' <<<"$INPUT_PATHS")
read -ra arguments <<<"${INPUT_ARGUMENTS:-}"
if [ -n "${INPUT_DB_ROOT:-}" ]; then arguments+=(--db-root "$INPUT_DB_ROOT"); fi
if [ -n "${INPUT_DB:-}" ]; then arguments+=(--db "$INPUT_DB"); fi
if [ "${INPUT_UPLOAD:-}" != true ]; then
  exec assay check --pairs --format github "${arguments[@]}" -- "${paths[@]}"
fi
sarif=$RUNNER_TEMP/assay.sarif
assay check --pairs --format sarif "${arguments[@]}" -- "${paths[@]}" >"$sarif"
status=$?
if [ -s "$sarif" ]; then echo "sarif=$sarif" >>"$GITHUB_OUTPUT"; fi
exit "$status"
