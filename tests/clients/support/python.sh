# Sourced by run.sh of the Python tests: a venv with the current build of the wheel of clients/python/assay.

# make_venv SCRATCH REQUIREMENTS: creates SCRATCH/venv with $ASSAY_TEST_BUILD, for ${ASSAY_TEST_PYTHON:-python3}.
make_venv() {
  rm -rf "$1/venv" "$1/wheel"
  "${ASSAY_TEST_PYTHON:-python3}" -m venv "$1/venv" &&
    clients/python/assay/build_wheel.sh "$ASSAY_TEST_BUILD" "$1/wheel" >/dev/null &&
    "$1/venv/bin/pip" install -q --disable-pip-version-check -r "$2" "$1"/wheel/*.whl
}

# run_pytest SCRATCH FOLDER [ARGUMENT]...: runs the tests of the folder with the wheel and without the sources.
run_pytest() {
  local scratch=$1 folder=$2
  shift 2
  env -u ASSAY_LIBRARY -u ASSAY_MODELS PYTHONPATH=tests/clients/support:tests/live/fleet PYTHONDONTWRITEBYTECODE=1 \
    "$scratch/venv/bin/python" -m pytest -q -p synthesis -p served -p no:cacheprovider \
      --basetemp "$scratch/tmp" "$folder" "$@"
}

# failed WHAT: reports a run that failed before its tests.
failed() {
  echo "[FAIL] $1"
  echo "Synthesis: Tested: 1 | Passing: 0"
  exit 1
}
