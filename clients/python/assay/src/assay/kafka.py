"""A fleet's topics (docs/fleet.md, proto/asyncapi.yaml): requests in, committed verdicts out. Needs confluent-kafka:
pip install assay-sql[kafka].

    with Verdicts("kafka:9092") as verdicts, Requests("kafka:9092") as requests:
        requests.send(request(...))
        requests.flush()
        for verdict in verdicts.read(timeout=30): ...
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import OrderedDict
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from ._json import encode
from .errors import AssayError, MalformedAnswer, NotYet, Unreachable
from .request import identified
from .verdict import Verdict

REQUESTS, VERDICTS = "assay.requests", "assay.verdicts"
LARGEST = 67_174_400  # bytes of a message that the topics take
REMEMBERED = 1 << 16  # requests whose verdict was seen
POLL_S = 0.5

Properties = Mapping[str, Any]  # of librdkafka: {"security.protocol": "SASL_SSL", ...}

log = logging.getLogger("assay.kafka")


class Requests:
    """Sends requests, as JSON; the key is the id, so that a repeat meets its first. Any number of threads may use
    it."""

    def __init__(self, servers: str, *, topic: str = REQUESTS, properties: Optional[Properties] = None) -> None:
        self.topic = topic
        self._failed: List[str] = []
        usual = {"enable.idempotence": True, "message.max.bytes": LARGEST, "compression.type": "lz4", "linger.ms": 5}
        self._producer = Producer({**usual, **(properties or {}), "bootstrap.servers": servers})

    def send(self, request: Mapping[str, Any], *, timeout: float = 30.0) -> str:
        """The id, made up where there is none. It is on its way then, and flush() says whether it came. NotYet: the
        queue stays full."""
        id, request = identified(request)
        value, until = encode(request), time.monotonic() + timeout
        while True:
            try:
                self._producer.produce(self.topic, value, id, headers={"content-type": "application/json"},
                                       on_delivery=self._delivered)
                self._producer.poll(0)
                return id
            except BufferError:
                if time.monotonic() >= until:
                    raise NotYet("the brokers take no more requests") from None
                self._producer.poll(0.1)
            except KafkaException as error:
                raise AssayError("refused", str(error)) from error

    def flush(self, timeout: float = 30.0) -> None:
        """Returns once the brokers have all that was sent. Unreachable: they have not, or refused some; those are
        named, and were not sent."""
        left = self._producer.flush(timeout)
        failed, self._failed = self._failed, []
        if failed:
            raise Unreachable("unreachable", f"{len(failed)} requests were not sent: {'; '.join(failed[:3])}")
        if left:
            raise NotYet(f"{left} requests are still to be sent")

    def _delivered(self, error: Optional[KafkaError], message: Message) -> None:
        if error is not None:
            self._failed.append(f"{(message.key() or b'').decode(errors='replace')}: {error}")

    def __enter__(self) -> Requests:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.flush()


class Verdicts:
    """Reads committed verdicts, each once. One thread.

    With a `group` its members share the topic and go on where it was left: a verdict counts as read when the next one
    is asked for. Without one, all that come from now on (or, with from_beginning, that are kept) are read, and nothing
    is remembered.
    """

    def __init__(
        self, servers: str, *, group: Optional[str] = None, from_beginning: bool = False, topic: str = VERDICTS,
        properties: Optional[Properties] = None, timeout: float = 30.0,
    ) -> None:
        self.skipped = 0  # records that are no verdict in JSON: said in the log
        self._seen: OrderedDict[Tuple[bytes, ...], None] = OrderedDict()
        self._keeps = group is not None
        self._consumer = Consumer({
            "fetch.message.max.bytes": LARGEST, **(properties or {}), "bootstrap.servers": servers,
            "isolation.level": "read_committed",
            "group.id": group or f"assay-sql-{uuid.uuid4().hex}", "enable.auto.commit": self._keeps,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
        })
        if group is None:
            self._consumer.assign(self._starts(topic, from_beginning, timeout))
        else:
            self._consumer.subscribe([topic])

    def _starts(self, topic: str, from_beginning: bool, timeout: float) -> List[TopicPartition]:
        """Offsets, not "the end": what is sent before the first read is read too."""
        try:
            partitions = sorted(self._consumer.list_topics(topic, timeout).topics[topic].partitions)
            if not partitions:
                raise AssayError("refused", f"topic {topic} does not exist")
            if from_beginning:
                return [TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions]
            return [TopicPartition(topic, p, self._consumer.get_watermark_offsets(TopicPartition(topic, p), timeout)[1])
                    for p in partitions]
        except KafkaException as error:
            raise Unreachable("unreachable", str(error)) from error

    def read(self, timeout: Optional[float] = None) -> Iterator[Verdict]:
        """Verdicts as they are committed; ends when none has come for `timeout` seconds (None: never)."""
        last = time.monotonic()
        while timeout is None or time.monotonic() - last < timeout:
            message = self._consumer.poll(POLL_S if timeout is None else min(POLL_S, timeout))
            verdict = self._take(message) if message is not None else None
            if verdict is not None:
                yield verdict
                last = time.monotonic()
            if message is not None and message.error() is None and self._keeps:
                self._consumer.store_offsets(message)

    def _take(self, message: Message) -> Optional[Verdict]:
        """None: an error that librdkafka deals with, a repeat, or no verdict."""
        error = message.error()
        if error is not None:
            if error.fatal():
                raise Unreachable("unreachable", str(error))
            log.warning("%s", error)
            return None
        headers = dict(message.headers() or ())
        if not self._is_first(headers):
            return None
        try:
            if headers.get("content-type", b"application/json") != b"application/json":
                raise MalformedAnswer(f"a verdict as {headers['content-type']!r}: its request was sent so")
            return Verdict.parse(message.value() or b"")
        except MalformedAnswer as malformed:
            self.skipped += 1
            log.warning("%s[%s]@%s: %s", message.topic(), message.partition(), message.offset(), malformed)
            return None

    def _is_first(self, headers: Mapping[str, Any]) -> bool:
        """Of two verdicts on one record of the requests, which the headers name, the first counts."""
        request = tuple(headers.get(f"request-{part}") or b"" for part in ("group", "partition", "offset"))
        if not all(request):
            return True
        first = request not in self._seen
        self._seen[request] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return first

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> Verdicts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
