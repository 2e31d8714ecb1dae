"""Runs checks that must pass on the real files and fail on each faulty copy."""


def verify(checks, cases, content, program):
    """`checks` take (content, program) and yield faults; `cases` are (check, description of the fault, faulty content).
    Prints the failures and, like Criterion, the number of tests. Returns the exit status."""
    failed = []
    for check in checks:
        failed += [f"{check.__name__}: {wrong}" for wrong in list(check(content, program))[:1]]
    for check, what, spoiled in cases:
        if not list(check(spoiled, program)):
            failed.append(f"{check.__name__} does not notice {what}")
    for one in failed:
        print(f"[FAIL] {one}")
    tested = len(checks) + len(cases)
    print(f"Synthesis: Tested: {tested} | Passing: {tested - len(failed)}")
    return 1 if failed else 0
