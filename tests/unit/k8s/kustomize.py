"""Implements the part of kustomize that k8s/ uses. An unknown key is an error and is never ignored.

Debian has no kustomize with components. If $ASSAY_TEST_KUSTOMIZE ("kubectl kustomize") names one, test_k8s.py compares
the two outputs for each folder.
"""
import copy
import re
from pathlib import Path

import yaml

KNOWN = {"apiVersion", "kind", "resources", "components", "configMapGenerator", "images", "patches", "nameSuffix",
         "labels"}
BY_NAME = ("name", "mountPath", "topologyKey")  # key that identifies the members of a list


def render(folder):
    """Returns all objects of a kustomization, as `kubectl apply -k` would send them, except for the hash in a
    ConfigMap's name."""
    folder = Path(folder)
    text = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return _transform(folder, text, [o for path in text.get("resources", []) for o in _load(folder / path)])


def _load(path):
    return render(path) if path.is_dir() else [o for o in yaml.safe_load_all(path.read_text()) if o]


def _transform(folder, text, objects):
    if unknown := set(text) - KNOWN:
        raise ValueError(f"{folder}: this test does not know {sorted(unknown)}")
    for path in text.get("components", []):
        objects = component(folder / path, objects)
    for made in text.get("configMapGenerator", []):
        objects.append(_config_map(folder, made))
    for patch in text.get("patches", []):
        _patch(folder, patch, objects)
    for one in objects:
        one["metadata"]["name"] += text.get("nameSuffix", "")
        for label in text.get("labels", []):
            _label(one, label)
        for image in text.get("images", []):
            _image(one, image)
    return objects


def component(folder, objects):
    """Returns the same objects with a component applied."""
    text = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return _transform(folder, text, objects + [o for path in text.get("resources", []) for o in _load(folder / path)])


def _config_map(folder, made):
    data = {Path(name).name: (folder / name).read_text() for name in made["files"]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": made["name"]}, "data": data}


def containers(one):
    return one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])


def _image(one, image):
    for container in containers(one):
        if container["image"] == image["name"]:
            container["image"] = f"{image.get('newName', image['name'])}:{image['newTag']}"


def _label(one, label):
    spec = one.get("spec", {})
    places = [one["metadata"].setdefault("labels", {})]
    if label.get("includeSelectors"):
        places.append(spec.get("selector", {}).get("matchLabels"))
        if "template" in spec:
            places.append(spec["template"]["metadata"]["labels"])
            places += [c["labelSelector"]["matchLabels"]
                       for c in spec["template"]["spec"].get("topologySpreadConstraints", [])]
    for place in places:
        if place is not None:
            place.update(label["pairs"])


# --- patches ---


def _patch(folder, patch, objects):
    target = patch["target"]
    body = yaml.safe_load(patch["patch"] if "patch" in patch else (folder / patch["path"]).read_text())
    for one in objects:
        if not re.fullmatch(target.get("kind", ".*"), one["kind"]):
            continue
        if not re.fullmatch(target.get("name", ".*"), one["metadata"]["name"]):
            continue
        if isinstance(body, list):
            for change in body:
                step(one, change)
        else:
            merge(one, {"spec": copy.deepcopy(body["spec"])})


def step(one, change):
    """Applies RFC 6902, without move and copy."""
    *way, last = [part.replace("~1", "/") for part in change["path"].split("/")[1:]]
    for part in way:
        one = one[int(part)] if isinstance(one, list) else one[part]
    last = int(last) if isinstance(one, list) else last
    if change["op"] == "test" and one[last] != change["value"]:
        raise ValueError(f"{change['path']} is {one[last]}, not {change['value']}")
    if change["op"] in ("remove", "replace"):
        del one[last]
    if change["op"] in ("replace", "add") and isinstance(one, list):
        one.insert(last, change["value"])
    elif change["op"] in ("replace", "add"):
        one[last] = change["value"]


def _key(members):
    """Returns the key that identifies the members of a list, or None if the list is replaced as a whole."""
    return next((k for k in BY_NAME if all(isinstance(m, dict) and k in m for m in members)), None)


def merge(into, patch):
    """Applies a strategic merge: mappings are merged, and so are lists whose members have names."""
    for key, value in patch.items():
        old = into.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            merge(old, value)
        elif isinstance(value, list) and isinstance(old, list) and (name := _key(old + value)):
            for member in value:
                same = next((m for m in old if m[name] == member[name]), None)
                merge(same, member) if same else old.append(member)
        else:
            into[key] = value
