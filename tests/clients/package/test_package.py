"""Tests the packages, archives, service and image of Assay as the users who install them see them.

    test_package.py SCRATCH [Class.test ...]          after run.sh has filled it
"""
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.request
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/live/fleet"))
from ports import free_port, free_ports  # noqa: E402
from wait import wait_until  # noqa: E402

HERE = Path(__file__).resolve().parent
SCRATCH = Path(sys.argv[1])
CHECKOUT = SCRATCH / "checkout"
UNIT = SCRATCH / "build/assay-serve.service"
QUESTION = "How many hosts are there?"
REQUEST = {"id": "q1", "db": "podcasts", "question": QUESTION, "candidates": ["SELECT count(*) FROM host"]}
CHECK = ["check", "--db", "/databases/podcasts/podcasts.sqlite", "--question", QUESTION, "--format", "json",
         REQUEST["candidates"][0]]
as_root = unittest.skipUnless(os.getuid() == 0, "only root may change its root folder")


def run(*command, **kwargs):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **{"timeout": 600, **kwargs})


def must(*command, **kwargs):
    done = run(*command, **kwargs)
    if done.returncode:
        raise AssertionError(f"{shlex.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def make_database(folder):
    (folder / "podcasts").mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "podcasts/podcasts.sqlite")
    connection.executescript((ROOT / "deploy/samples/podcasts.sql").read_text())
    connection.close()


def ask(port):
    """Returns the verdict on REQUEST; waits for a while until the server answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/judge?wait_ms=20000", json.dumps(REQUEST).encode(),
                                     {"Content-Type": "application/json"})

    def answered():
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except ConnectionError:
            return None
        except urllib.error.URLError as e:
            if not isinstance(e.reason, ConnectionError):
                raise
            return None
    return wait_until(answered, 10, "somebody answers")


@contextlib.contextmanager
def running(*command, **kwargs):
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, start_new_session=True,
                                   **kwargs)
        try:
            yield process
        except BaseException as e:
            log.seek(0)
            raise AssertionError(f"{e}\n{log.read()[-4000:]}") from e
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


class Bare(unittest.TestCase):
    """A root folder with only the essential packages of this release."""

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="assay-root-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        must("tar", "xf", SCRATCH / "root.tar", "-C", cls.root)
        shutil.copy("/etc/resolv.conf", cls.root / "etc/resolv.conf")

    @classmethod
    def inside(cls, *words, user=None, read_only=False, env=None):
        """Returns the command that runs these words in the root, in separate namespaces. It sees no other process, and
        its mounts end with it."""
        mounts = (f"mount --bind {cls.root} {cls.root} && mount -t proc proc {cls.root}/proc "
                  f"&& mount --rbind /dev {cls.root}/dev")
        if read_only:
            mounts += f" && mount -o remount,bind,ro {cls.root}"
        who = [f"--userspec={user}"] if user else []
        variables = [f"{key}={value}"
                     for key, value in {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
                                         **(env or {})}.items()]
        chroot = shlex.join(["chroot", *who, str(cls.root), "env", "-i", *variables, *map(str, words)])
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", f"{mounts} && exec {chroot}"]

    @classmethod
    def files(cls):
        return {str(path.relative_to(cls.root)) for path in cls.root.rglob("*")}


@as_root
class Installed(Bare):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make_database(cls.root / "databases")
        must(*cls.inside("apt-get", "update", "-qq"))
        cls.before = cls.files()
        (cls.root / "packages").mkdir()
        for deb in SCRATCH.glob("release/*.deb"):
            shutil.copy(deb, cls.root / "packages")
        must(*cls.inside("bash", "-c", "apt-get install -y -qq --no-install-recommends /packages/*.deb"))
        shutil.rmtree(cls.root / "packages")

    def test_1_the_program(self):
        version = re.search(r"project\(assay VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertRegex(must(*self.inside("assay", "--version")), rf"^assay {re.escape(version)} ")
        verdict = json.loads(must(*self.inside("assay", *CHECK, user="65534:65534", read_only=True)))
        self.assertEqual(verdict["status"], "validated")

    def test_2_manuals_completions_models(self):
        for path in ("usr/share/man/man1/assay-check.1.gz", "usr/share/bash-completion/completions/assay",
                     "etc/assay/serve.yaml",
                     "usr/share/zsh/site-functions/_assay", "usr/share/fish/vendor_completions.d/assay.fish",
                     "usr/share/assay/models/verifier.json", "usr/lib/systemd/system/assay-serve.service",
                     "usr/share/doc/assay/copyright"):
            self.assertTrue((self.root / path).is_file(), path)

    def test_3_the_library(self):
        self.assertTrue((self.root / "usr/include/assay.h").is_file())
        self.assertIn("libassay.so.1", must(*self.inside("ldconfig", "-p")))

    def test_4_the_service(self):
        """Runs the program as the unit starts it, with its settings, except for the ports."""
        make_database(self.root / "var/lib/assay/databases")
        start = re.search(r"^ExecStart=(.*)$", (self.root / "usr/lib/systemd/system/assay-serve.service").read_text(),
                          re.M)[1]
        port = free_port()
        ports = ["--http", f"127.0.0.1:{port}", "--listen", "127.0.0.1:0"]
        with running(*self.inside(*start.split(), *ports, user="65534:65534", read_only=True)):
            self.assertEqual(ask(port)["status"], "validated")

    def test_5_removed_without_a_trace(self):
        shutil.rmtree(self.root / "var/lib/assay/databases/podcasts", ignore_errors=True)
        must(*self.inside("apt-get", "remove", "-y", "-qq", "assay", "libassay1", "libassay-dev"))
        self.assertFalse((self.root / "usr/bin/assay").exists())
        self.assertTrue((self.root / "etc/assay/serve.yaml").exists(), "settings are kept until they are purged")
        must(*self.inside("dpkg", "--purge", "assay", "libassay1", "libassay-dev"))
        left = {path for path in self.files() - self.before if "assay" in path}
        self.assertEqual(left, set())


class Package(unittest.TestCase):
    def deb(self, name):
        path, = SCRATCH.glob(f"release/{name}_*.deb")
        return path

    def test_dependencies_are_declared(self):
        depends = must("dpkg-deb", "-f", self.deb("assay"), "Depends")
        for library in ("libsqlite3-0", "libpq5", "librdkafka1", "libc6 (>="):
            self.assertIn(library, depends)
        self.assertRegex(must("dpkg-deb", "-f", self.deb("libassay1"), "Depends"), r"assay \(= [\d.]+-1\)")

    def test_lintian(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        # No bug of Debian's tracker requested the package, its local builder has no address, and CPack calls ldconfig
        # beside the trigger.
        left_out = ("initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog,"
                    "maintscript-calls-ldconfig")
        debs = sorted(SCRATCH.glob("release/*.deb"))
        done = run("lintian", "--fail-on", "error,warning", "--suppress-tags", left_out, *debs)
        self.assertEqual(done.returncode, 0, done.stdout)


class Service(unittest.TestCase):
    def test_exposure_is_low(self):
        done = run("systemd-analyze", "security", "--offline=true", "--threshold=30", "--no-pager", UNIT)
        self.assertEqual(done.returncode, 0, done.stdout[-400:])

    def test_exposure_threshold_can_fail(self):
        with tempfile.TemporaryDirectory() as home:
            bare = Path(home, "bare.service")
            bare.write_text("[Service]\nExecStart=/bin/true\n")
            self.assertNotEqual(run("systemd-analyze", "security", "--offline=true", "--threshold=30", bare).returncode,
                                0)

    @as_root
    def test_restricted_program_judges(self):
        """Runs the built program in a root that the unit allows it to see."""
        with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
            os.chmod(home, 0o755)
            program, databases = Path(home, "bin/assay"), Path(home, "databases")
            program.parent.mkdir()
            shutil.copy(SCRATCH / "build/cli/assay", program)
            shutil.copytree(ROOT / "models", Path(home, "share/assay/models"))
            make_database(databases)
            must("chmod", "-R", "a+rX", home)
            port = free_port()
            serve = [program, "serve", "--db-root", databases, "--http", f"127.0.0.1:{port}", "--listen", "127.0.0.1:0"]
            sandbox = ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, HERE / "sandbox.py",
                       UNIT]
            with running(*sandbox, *serve):
                verdict = ask(port)
            self.assertEqual(verdict["status"], "validated")
            judged = verdict["candidates"][0]
            self.assertEqual(judged["execution"]["rows"], 1, "statements run, in processes of their own")
            self.assertNotIn("unavailable", json.dumps(judged["signals"]))

    @as_root
    def test_restrictions_are_effective(self):
        """A control for the test above: without the restrictions, each of these actions would succeed."""
        tries = {"write": "open('/var/tmp/assay-gone', 'w')",
                 "look": "assert os.listdir('/root') or os.listdir('/home')",
                 "raise": "os.setuid(0)", "packet": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
                 "mount": "assert ctypes.CDLL(None, use_errno=True).mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0",
                 "code": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)",
                 "namespace": "assert ctypes.CDLL(None).unshare(0x10000000) == 0"}
        script = "import ctypes, mmap, os, socket, sys\nfor name, one in " + repr(tries) + """.items():
    try: exec(one)
    except (OSError, AssertionError): continue
    print(name)
"""
        sandbox = ["unshare", "--mount", "--pid", "--fork", "--kill-child", sys.executable, HERE / "sandbox.py", UNIT]
        self.assertEqual(must(*sandbox, "/usr/bin/python3", "-c", script), "")


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = SCRATCH / "release"

    def names(self):
        return {path.name: path for path in self.out.iterdir()}

    def test_archive_is_reproducible(self):
        with tempfile.TemporaryDirectory() as home:
            again = Path(home, "again")
            must(CHECKOUT / "deploy/release.sh", "--build", SCRATCH / "build", again, cwd=home)
            self.assertEqual((self.out / "SHA256SUMS").read_text(), (again / "SHA256SUMS").read_text())

    def test_checksums_match(self):
        sums = dict(reversed(line.split("  ")) for line in (self.out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(sums), set(self.names()) - {"SHA256SUMS"})
        for name, digest in sums.items():
            self.assertEqual(hashlib.sha256((self.out / name).read_bytes()).hexdigest(), digest, name)

    def test_bill_of_materials_is_valid(self):
        bill, = self.out.glob("*.cdx.json")
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read_text()))
        content = json.loads(bill.read_text())
        names = {component["name"] for component in content["components"]}
        linked = set(must(ROOT / "deploy/runtime-packages.sh", SCRATCH / "build/cli/assay").split())
        self.assertEqual(names, linked | {"WordNet"})
        sqlite, = (component for component in content["components"] if component["name"] == "libsqlite3-0")
        self.assertEqual(sqlite["version"], must("dpkg-query", "-W", "-f=${Version}", "libsqlite3-0"))
        self.assertIsNotNone(
            JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps({**content, "components": 1})))

    def test_archived_program_runs_in_bare_root(self):
        archive, = self.out.glob("assay-*-linux-*.tar.gz")
        with tempfile.TemporaryDirectory() as home:
            must("tar", "xzf", archive, "-C", home, "--strip-components=1")
            make_database(Path(home, "databases"))
            words = [word.replace("/databases", f"{home}/databases") for word in CHECK]
            env = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
            self.assertEqual(json.loads(must(f"{home}/bin/assay", *words, env=env, cwd=home))["status"], "validated")

    def test_sources_equal_commit(self):
        archive, = (path for path in self.out.iterdir() if re.fullmatch(r"assay-[\d.]+\.tar\.gz", path.name))
        with tarfile.open(archive) as tar:
            names = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
        tracked = set(must("git", "ls-files", cwd=CHECKOUT).split("\n")) - {""}
        self.assertEqual(tracked - names, set())


class Image(Bare):
    """Tests deploy/Dockerfile. Its second stage runs step by step in a bare root. This build replaces the output of the
    first stage."""

    class Stage:
        def __init__(self):
            self.steps, self.env, self.labels, self.user, self.entry, self.health = [], {}, "", None, [], None

    @classmethod
    def stages(cls):
        """Parses the instructions of each stage. Supports only the part of the format that this file uses; anything
        else is an error."""
        text = re.sub(r"^\s*#.*\n", "", (ROOT / "deploy/Dockerfile").read_text(), flags=re.M)
        stages = []
        for line in re.sub(r"\\\n", " ", text).splitlines():
            if not line.strip():
                continue
            word, rest = line.split(None, 1)
            if word == "FROM":
                stages.append(cls.Stage())
            stage = stages[-1]
            if word in ("RUN", "COPY"):
                stage.steps.append((word, rest))
            elif word == "ENV":
                stage.env.update(pair.split("=", 1) for pair in shlex.split(rest))
            elif word == "USER":
                stage.user = rest
            elif word == "ENTRYPOINT":
                stage.entry = json.loads(rest)
            elif word == "HEALTHCHECK":
                stage.health = json.loads(rest[rest.index("CMD ") + 4:])
            elif word == "LABEL":
                stage.labels += rest
            elif word not in ("FROM", "WORKDIR", "ARG", "EXPOSE", "CMD"):
                raise AssertionError(f"{word} is not known here")
        return stages

    @classmethod
    def setUpClass(cls):
        if os.getuid() != 0:
            raise unittest.SkipTest("only root may change its root folder")
        super().setUpClass()
        cls.stage = cls.stages()[-1]
        image = SCRATCH / "image"
        shutil.rmtree(image, ignore_errors=True)
        must("cmake", "--install", SCRATCH / "build", "--strip", "--component", "program",
             env={**os.environ, "DESTDIR": str(image)})
        (image / "packages").write_text(must(ROOT / "deploy/runtime-packages.sh", image / "usr/bin/assay"))
        for word, rest in cls.stage.steps:
            if word == "RUN":
                must(*cls.inside("/bin/sh", "-c", rest))
                continue
            source, target = re.fullmatch(r"--from=build /image(\S+) (\S+)", rest).groups()
            if (image / source[1:]).is_dir():
                shutil.copytree(image / source[1:], cls.root / target[1:], dirs_exist_ok=True, symlinks=True)
            else:
                shutil.copy(image / source[1:], cls.root / target[1:])
        make_database(cls.root / "databases")
        must("chmod", "-R", "a+rX", cls.root / "databases")

    def container(self, *words, env=None):
        """The process of the image as a container engine would start it: with its user and a read-only root."""
        return self.inside(*self.stage.entry, *words, user=self.stage.user, read_only=True,
                           env={**self.stage.env, **(env or {})})

    def test_program_runs_in_image(self):
        self.assertEqual(json.loads(must(*self.container(*CHECK)))["status"], "validated")
        self.assertNotEqual(run(*self.inside("touch", "/databases/x", user=self.stage.user, read_only=True)).returncode,
                            0)

    def test_server_command_line_works(self):
        """Runs the command line of the image with a port of the test, and the health check during the run and after
        it."""
        line = re.search(r"docker run (.*) assay (serve .*)", (ROOT / "deploy/Dockerfile").read_text())
        self.assertIn("--read-only --cap-drop ALL --security-opt no-new-privileges", line[1])
        self.assertIn(line[0], (ROOT / "docs/install.md").read_text())
        port, health = free_ports(2)
        env = {key: value.replace(":9100", f":{health}") for key, value in self.stage.env.items()}
        words = [word.replace(":8080", f"127.0.0.1:{port}") for word in line[2].split()]
        check = self.inside(*(word.replace("/9100", f"/{health}") for word in self.stage.health), user=self.stage.user,
                            read_only=True)
        self.assertNotEqual(run(*check).returncode, 0, "nobody is there")
        with running(*self.container(*words, env=env)):
            self.assertEqual(ask(port)["status"], "validated")
            must(*check)

    @unittest.skipUnless(os.environ.get("ASSAY_TEST_IMAGE") == "whole",
                         "the image's first stage takes minutes: ASSAY_TEST_IMAGE=whole")
    def test_first_stage_builds(self):
        root = Path(tempfile.mkdtemp(prefix="assay-stage-"))
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        must("tar", "xf", SCRATCH / "root.tar", "-C", root)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        source = root / "src"
        source.mkdir()
        stage = type("Stage", (Bare,), {"root": root})
        for word, rest in self.stages()[0].steps:
            if word == "RUN":
                must(*stage.inside("/bin/sh", "-c", f"cd /src && {rest}", env={"SOURCE_COMMIT": "abc"}), timeout=3000)
            elif rest == ". .":
                archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True,
                                         stdout=subprocess.PIPE).stdout
                subprocess.run(["tar", "x", "-C", source], input=archive, check=True)
            else:
                self.assertEqual(rest, "deploy/packages.sh deploy/")
                (source / "deploy").mkdir()
                shutil.copy(ROOT / "deploy/packages.sh", source / "deploy")
        self.assertIn("commit abc", must(*stage.inside("/image/usr/bin/assay", "--version")))
        self.assertIn("libsqlite3-0\n", (root / "image/packages").read_text())


def check_out():
    """A clone with the current sources in a commit: a release uses only committed files."""
    shutil.rmtree(CHECKOUT, ignore_errors=True)
    must("git", "clone", "-q", ROOT, CHECKOUT)
    changes = subprocess.run(["git", "diff", "--binary", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    if changes:
        subprocess.run(["git", "apply", "--index"], cwd=CHECKOUT, input=changes, check=True)
        must("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "as it is",
             cwd=CHECKOUT)


def main():
    shutil.rmtree(SCRATCH / "release", ignore_errors=True)
    check_out()
    must(CHECKOUT / "deploy/release.sh", "--build", SCRATCH / "build", SCRATCH / "release")
    module, loader = sys.modules["__main__"], unittest.defaultTestLoader
    tests = loader.loadTestsFromNames(sys.argv[2:], module) if sys.argv[2:] else loader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(stream=open(os.devnull, "w")).run(tests)
    for case, why in result.skipped:
        print(f"skipped: {case}: {why}")
    wrong = result.failures + result.errors
    for case, why in wrong:
        print(f"[FAIL] {case.id()}\n{why}")
    tested = result.testsRun - len(result.skipped) + sum(1 for case, _ in wrong if not hasattr(case, "_testMethodName"))
    print(f"Synthesis: Tested: {tested} | Passing: {tested - len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
