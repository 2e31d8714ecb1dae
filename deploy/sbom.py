#!/usr/bin/env python3
"""What a program runs with, as CycloneDX 1.6: the packages of Debian that hold the libraries it is linked against.

    deploy/sbom.py --version 0.1.0 --time SECONDS PROGRAM
"""
import argparse
import datetime
import hashlib
import json
import re
import subprocess
import uuid
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).resolve().parent


def read(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def distribution():
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(), re.M))
    return fields["ID"], f"{fields['ID']}-{fields['VERSION_ID']}"


def package(name):
    """A library's package as a component, known by its package URL."""
    version, architecture, source = read("dpkg-query", "-W", "-f=${Version}\n${Architecture}\n${source:Package}\n",
                                         name).splitlines()[:3]
    vendor, release = distribution()
    url = f"pkg:deb/{vendor}/{name}@{quote(version, safe='')}?arch={architecture}&distro={release}"
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
            "properties": [{"name": "debian:source", "value": source}]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", required=True)
    parser.add_argument("--time", type=int, required=True, help="seconds since 1970, as of the commit")
    parser.add_argument("program")
    args = parser.parse_args()
    packages = [package(name) for name in read(HERE / "runtime-packages.sh", args.program).split()]
    digest = hashlib.sha256(Path(args.program).read_bytes()).hexdigest()
    own = {"type": "application", "bom-ref": "assay", "name": "assay", "version": args.version,
           "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}]}
    words = {"type": "data", "bom-ref": "wordnet", "name": "WordNet", "version": "3.0",
             "licenses": [{"license": {"name": "WordNet 3.0 license"}}]}
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "metadata": {"timestamp": datetime.datetime.fromtimestamp(args.time,
                                                                  datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                     "component": own},
        "components": packages + [words],
        "dependencies": [{"ref": "assay", "dependsOn": [c["bom-ref"] for c in packages + [words]]}],
    }
    print(json.dumps(bill, indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
