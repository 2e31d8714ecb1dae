#!/usr/bin/env bash
# Tests the Python client from its wheel: against a real server, with scripted faults, in process, its types and its
# page. Tests of topics need ASSAY_TEST_KAFKA (tests/live/servers.sh start DIR kafka) and are skipped without it.
#
#   ASSAY_TEST_PROGRAM=FILE ASSAY_TEST_BUILD=FOLDER tests/clients/python/run.sh SCRATCH
set -euo pipefail
scratch=$(mkdir -p "${1:?"a folder for the venv"}" && cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
. tests/clients/support/python.sh

make_venv "$scratch" tests/clients/python/requirements.txt || failed "the package cannot be built and installed"
run_pytest "$scratch" tests/clients/python
