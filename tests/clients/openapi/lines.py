"""Serializes bodies that have one JSON value a line. schemathesis does not support these by itself and treats them as
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
