"""Checks the image, the service and the settings of a standalone server against the program. Each check also runs on a
faulty copy. tests/clients/package runs them.

    test_standalone.py --assay build/asan/cli/assay
"""
import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "k8s"))
from manifests import ROOT, Program  # noqa: E402
from verify import verify  # noqa: E402

FILES = {"image": "deploy/Dockerfile", "unit": "deploy/systemd/assay-serve.service.in",
         "settings": "deploy/systemd/serve.yaml",
         "install": "docs/install.md", "action": "action.yml", "hooks": ".pre-commit-hooks.yaml"}


def labels(files, program):
    """The image has labels. The stage that sets them knows the commit."""
    last = files["image"].split("\nFROM ")[-1]
    said = dict(re.findall(r'org\.opencontainers\.image\.([\w.]+)="([^"]*)"', last))
    if said.get("version") != program.version:
        yield f"version {said.get('version')}, the program is {program.version}"
    if said.get("revision") != "$SOURCE_COMMIT" or "ARG SOURCE_COMMIT" not in last:
        yield f"revision {said.get('revision')}"
    yield from (f"no {name}" for name in ("title", "description", "licenses") if not said.get(name))


def one_line(files, program):
    """The server's command is the same in every place, publishes the port that the image exposes, and uses existing
    flags."""
    line = re.search(r"^#   (docker run .*)$", files["image"], re.M)
    if not line or line[1] not in files["install"]:
        yield "docs/install.md has another command"
        return
    port = re.search(r"-p 127\.0\.0\.1:(\d+):(\d+) assay serve --http :(\d+) ", line[1])
    exposed = re.search(r"^EXPOSE (\d+)$", files["image"], re.M)
    if not port or not exposed or set(port.groups()) != {exposed[1]}:
        yield f"ports: {line[1]}"
    flags = {row["flag"] for section in program.sections.values() for row in section.values()}
    yield from (f"there is no {flag}" for flag in re.findall(r" --([\w-]+)", line[1].split(" assay ")[1])
                if flag not in flags)


def health(files, program):
    """The health check of the image requests existing pages at the ports where its processes listen."""
    listens = dict(re.findall(r"^ENV (\w+)=(\S+)$", files["image"], re.M))
    check = json.loads(re.search(r"^HEALTHCHECK.*\\\n\s+CMD (\[.*\])$", files["image"], re.M)[1])[-1]
    asked = re.search(r"/dev/tcp/([\d.]+)/(\d+) .*GET (/\w+) ", check)
    if (not asked or listens.get("ASSAY_OBSERVE_LISTEN") != f"{asked[1]}:{asked[2]}"
        or not program.knows("ASSAY_OBSERVE_LISTEN")):
        yield f"it listens at {listens}, and is asked by {check}"
    if not asked or f'{{"{asked[3]}", "text' not in (ROOT / "server/health.c").read_text():
        yield f"no page of {check}"


def settings(files, program):
    """The settings of the service are valid and serve only callers of this machine, and the unit names their file."""
    path = program.scratch / "serve.yaml"
    path.write_text(files["settings"])
    done = program.run(["config", "print", "--config", str(path)])
    if done.returncode:
        yield done.stderr.strip()
        return
    printed = yaml.safe_load(done.stdout)
    for section, key in (("serve", "http"), ("observe", "listen")):
        if not str(printed[section][key]).startswith("127.0.0.1:"):
            yield f"{section}.{key} is {printed[section][key]}"
    if ("serve --config /etc/assay/serve.yaml\n" not in files["unit"]
        or "/etc/assay/serve.yaml" not in (ROOT / "deploy/debian/conffiles").read_text()):
        yield "the unit reads another file"


def endings(files, program):
    """A process that receives SIGTERM has enough time to end."""
    drain_s = int(program.sections["serve"]["drain_ms"]["default"]) / 1000
    stop = re.search(r"^TimeoutStopSec=(\d+)$", files["unit"], re.M)
    if not stop or int(stop[1]) <= drain_s:
        yield f"killed before it has drained ({drain_s:.0f} s)"


def checking(files, program):
    """The hook and the action use existing flags and scripts."""
    hook, = yaml.safe_load(files["hooks"])
    steps = yaml.safe_load(files["action"])["runs"]["steps"]
    scripts = re.findall(r"GITHUB_ACTION_PATH/(\S+\.sh)", " ".join(step.get("run", "") for step in steps))
    yield from (f"there is no {script}" for script in scripts if not (ROOT / script).exists())
    told = " ".join([hook["entry"], *((ROOT / script).read_text() for script in scripts if (ROOT / script).exists())])
    help_text = program.run(["check", "--help=all"]).stdout
    flags = set(re.findall(r"--([a-z-]+)", " ".join(re.findall(r"assay check (.*)", told))))
    yield from (f"check has no --{flag}" for flag in flags if f"--{flag}" not in help_text)
    if "pairs" not in flags or len(scripts) != 2:
        yield f"{scripts} with {flags}"


ALL = (labels, one_line, health, settings, endings, checking)
SPOILED = [
    (labels, "image", 'version="', 'version="9.'),
    (labels, "image", "ARG SOURCE_COMMIT\nLABEL", "LABEL"),
    (labels, "image", "image.licenses=", "image.license="),
    (one_line, "image", "EXPOSE 8080", "EXPOSE 8081"),
    (one_line, "image", "--cap-drop ALL", "--cap-add ALL"),
    (health, "image", "LISTEN=127.0.0.1:9100", "LISTEN=127.0.0.1:9101"),
    (health, "image", "GET /readyz", "GET /ready"),
    (settings, "settings", "http: 127.0.0.1", "http: 0.0.0.0"),
    (settings, "settings", "db_root:", "db_rot:"),
    (settings, "unit", "/etc/assay/serve.yaml\nRestart", "/etc/assay/other.yaml\nRestart"),
    (endings, "unit", "TimeoutStopSec=40", "TimeoutStopSec=30"),
    (checking, "hooks", "--pairs", "--pair-files"),
    (checking, "action", "github/check.sh", "github/checks.sh"),
]


def spoil(files, name, was, now):
    """Returns the text with one part replaced, which must occur in it."""
    if was not in files[name]:
        raise AssertionError(f"{FILES[name]} has no {was!r}")
    return {**files, name: files[name].replace(was, now)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    files = {name: (ROOT / path).read_text() for name, path in FILES.items()}
    cases = [(check, now, spoil(files, name, was, now)) for check, name, was, now in SPOILED]
    with tempfile.TemporaryDirectory() as scratch:
        return verify(ALL, cases, files, Program(parser.parse_args().assay, scratch))


if __name__ == "__main__":
    sys.exit(main())
