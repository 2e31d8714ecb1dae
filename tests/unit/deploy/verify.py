"""Checks that find nothing in the files as they are, and something in each that is spoiled."""


def verify(checks, cases, content, program):
    """`checks` take (content, program) and yield what is wrong; `cases` are (check, what was spoiled, content so). Prints what fails
    and, as Criterion does, how many were tested. Exit status."""
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
