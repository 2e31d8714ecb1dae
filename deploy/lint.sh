#!/usr/bin/env bash
# The repository's own rules for its sources: deploy/lint.sh format | tidy
set -euo pipefail
cd "$(dirname "$0")/.."

sources() { git ls-files -- '*.c' '*.h'; }

case ${1:-} in
  format) sources | xargs clang-format --dry-run --Werror ;;
  tidy)
    # Production code; the compile commands of the plain build, which has no sanitizer flags. One file a run: the check
    # of va_list carries its state over to the next file.
    cmake --preset dev -DBUILD_TESTING=OFF >/dev/null
    cmake --build --preset dev >/dev/null
    git ls-files -- "*.c" ":!tests" ":!bench" |
      xargs -P 2 -n 1 clang-tidy -p build/dev --quiet
    ;;
  *) echo "usage: deploy/lint.sh format|tidy" >&2; exit 2 ;;
esac
