#!/usr/bin/env bash
# clients/python/examples with the PyPI releases of LangChain, LangGraph, LlamaIndex and Vanna, and scripted language
# models.
#
#   ASSAY_TEST_PROGRAM=FILE ASSAY_TEST_BUILD=FOLDER tests/clients/frameworks/run.sh SCRATCH
set -euo pipefail
scratch=$(mkdir -p "${1:?"a folder for the venv"}" && cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
. tests/clients/support/python.sh

make_venv "$scratch" tests/clients/frameworks/requirements.txt || failed "the package cannot be built and installed"
run_pytest "$scratch" tests/clients/frameworks
