"""Serializes bodies with one JSON value a line, which schemathesis does not support by itself: for it they are
lists."""
import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def serialize(ctx, value):
    if not isinstance(value, list):
        return json.dumps(value).encode()
    return b"".join(json.dumps(line).encode() + b"\n" for line in value)


@schemathesis.deserializer("application/x-ndjson")
def deserialize(ctx, response):
    return [json.loads(line) for line in response.content.splitlines() if line.strip()]
