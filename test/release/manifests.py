"""Checks the YAML documents on stdin against the models of Debian's python3-kubernetes.

Every field must exist in the model of its object, and have its type.
"""

import re
import sys

import yaml
from kubernetes import client

KINDS = {
    ("v1", "Service"): client.V1Service,
    ("apps/v1", "StatefulSet"): client.V1StatefulSet,
    ("apps/v1", "Deployment"): client.V1Deployment,
}
SCALARS = {"str": str, "int": int, "bool": bool, "object": (str, int)}


def check(value, kind, path):
    if kind in SCALARS:
        if not isinstance(value, SCALARS[kind]):
            sys.exit(f"{path} must be {kind}, not {value!r}")
        return
    of_list = re.fullmatch(r"list\[(.*)\]", kind)
    of_dict = re.fullmatch(r"dict\(str, (.*)\)", kind)
    if of_list:
        assert isinstance(value, list), f"{path} must be a list"
        for at, one in enumerate(value):
            check(one, of_list[1], f"{path}[{at}]")
    elif of_dict:
        assert isinstance(value, dict), f"{path} must be an object"
        for key, one in value.items():
            check(one, of_dict[1], f"{path}.{key}")
    else:
        check_object(value, getattr(client, kind), path)


def check_object(value, model, path):
    assert isinstance(value, dict), f"{path} must be an object"
    fields = {name: attribute for attribute, name in model.attribute_map.items()}
    for name, one in value.items():
        if name not in fields:
            sys.exit(f"{path} has no field {name}")
        check(one, model.openapi_types[fields[name]], f"{path}.{name}")


for document in yaml.safe_load_all(sys.stdin):
    kind = (document["apiVersion"], document["kind"])
    check_object(document, KINDS[kind], kind[1])
    print(kind[1])
