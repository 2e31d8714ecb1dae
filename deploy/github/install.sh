#!/usr/bin/env bash
# For action.yml: have `assay` in the path of the steps that follow. One that is there already is taken; else it is
# built from the action's own sources, with the packages of a Debian or Ubuntu runner.
set -euo pipefail
if command -v assay; then exit; fi
cd "$(dirname "$0")/../.."
. deploy/packages.sh
install_packages "$build_packages"
build=$RUNNER_TEMP/assay-build
cmake --preset release -B "$build" -DBUILD_TESTING=OFF
cmake --build "$build" --target assay manual
cmake --install "$build" --prefix "$RUNNER_TEMP/assay" --component program --strip
echo "$RUNNER_TEMP/assay/bin" >>"$GITHUB_PATH"
