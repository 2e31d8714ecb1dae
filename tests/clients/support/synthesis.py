"""A plugin of pytest that prints "[FAIL] name" for each failure with its reason, and the number of passed tests as the
last line."""


def pytest_terminal_summary(terminalreporter):
    reports = {kind: terminalreporter.stats.get(kind, []) for kind in ("passed", "failed", "error", "skipped")}
    for report in reports["failed"] + reports["error"]:
        terminalreporter.write_line(f"[FAIL] {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    for report in reports["skipped"]:
        terminalreporter.write_line(
            f"skipped: {report.nodeid}: "
            f"{report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr}")
    failed = {report.nodeid for report in reports["failed"] + reports["error"]}
    passed = {report.nodeid for report in reports["passed"]} - failed
    terminalreporter.config.synthesis = f"Synthesis: Tested: {len(passed) + len(failed)} | Passing: {len(passed)}"


def pytest_unconfigure(config):
    """Runs after all of pytest's own output."""
    print(getattr(config, "synthesis", "Synthesis: Tested: 1 | Passing: 0"), flush=True)
