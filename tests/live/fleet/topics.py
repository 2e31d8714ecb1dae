"""The contents of the fleet's topics, read with librdkafka's own client and without a group."""
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from checker import Record, Task
from wait import wait_until

REQUESTS, VERDICTS, LETTERS, RESULTS = "assay.requests", "assay.verdicts", "assay.dlq", "assay.results"
TASKS = "assay.tasks."
FAMILIES = ("structure", "join", "execution", "value", "question", "explain")
ALL_TASKS = [TASKS + name for name in (*FAMILIES, "all")]
READ_S = 60  # maximum seconds without a new record

_SETTINGS = {
    "group.id": "assay-checker",  # the client requires a group; it never joins
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "message.max.bytes": 70 << 20,
    "fetch.message.max.bytes": 4 << 20,
    "fetch.wait.max.ms": 50,
    "allow.auto.create.topics": False,
    "log_level": 0,
}


def consumer(servers, committed, **settings):
    level = "read_committed" if committed else "read_uncommitted"
    return Consumer({**_SETTINGS, "bootstrap.servers": servers, "isolation.level": level, **settings})


def patiently(call, *arguments):
    """Repeats a call that may fail for a while, during elections of leaders and restarts of brokers."""
    refused = None

    def attempt():
        nonlocal refused
        try:
            return (call(*arguments, timeout=10),)  # a tuple, so the result is true for any reply
        except KafkaException as error:
            refused = error
            return None

    try:
        return wait_until(attempt, READ_S, "an answer of the brokers")[0]
    except TimeoutError:
        raise refused from None


def partitions_of(client, topic):
    def ask(timeout):
        found = client.list_topics(topic, timeout=timeout).topics[topic]
        if found.error:
            raise KafkaException(found.error)
        return sorted(found.partitions)

    return patiently(ask)


def ends(servers, topic):
    """Returns {partition: one past its last record}, over all written records, committed or not."""
    client = consumer(servers, committed=False)
    try:
        at = [TopicPartition(topic, p) for p in partitions_of(client, topic)]
        return {t.partition: patiently(client.get_watermark_offsets, t)[1] for t in at}
    finally:
        client.close()


def leaders(servers):
    """Returns the numbers of the brokers that lead a partition of any topic; -1 means that a partition has no
    leader."""
    found = patiently(AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics)
    return {p.leader for topic in found.topics.values() for p in topic.partitions.values()}


def _group(servers, group):
    """Returns the coordinator's description of the group; empty if no member ever joined."""
    return patiently(AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_groups, group)


def members(servers, group):
    """Returns the ids of a group's members. A static member's id begins with its instance's name."""
    return [member.id for found in _group(servers, group) for member in found.members]


def is_complete(servers, group, n):
    """Returns true if n members share a group's partitions and no member is joining or leaving."""
    return any(found.state == "Stable" and len(found.members) == n for found in _group(servers, group))


def committed_offsets(servers, group, topic):
    """Returns {partition: offset}; below 0 if no offset was ever committed."""
    client = consumer(servers, committed=True, **{"group.id": group})
    try:
        at = [TopicPartition(topic, p) for p in partitions_of(client, topic)]
        return {t.partition: t.offset for t in patiently(client.committed, at)}
    finally:
        client.close()


def read(servers, topic, committed, since=None):
    """Returns all records of a topic from the offsets `since` ({partition: offset}) to its end."""
    return list(follow(servers, topic, committed, since))


def follow(servers, topic, committed, since=None, stop=None):
    """Yields the same records one by one. With `stop` (an Event), also yields new records until it is set."""
    client = consumer(servers, committed)
    try:
        partitions = partitions_of(client, topic)
        start = [TopicPartition(topic, p, (since or {}).get(p, OFFSET_BEGINNING)) for p in partitions]
        client.assign(start)
        ended, deadline = set(), time.monotonic() + READ_S
        while (stop and not stop.is_set()) or (not stop and len(ended) < len(partitions)):
            message = client.poll(0.2)
            if message is None:
                if not stop and time.monotonic() > deadline:
                    raise TimeoutError(f"{topic}: no end in sight of partitions {set(partitions) - ended}")
                continue
            if not message.error():
                deadline = time.monotonic() + READ_S
                ended.discard(message.partition())
                yield _record(message)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            elif message.error().fatal():
                raise KafkaException(message.error())
    finally:
        client.close()


def _record(message):
    headers = {k: (v or b"").decode("utf-8", "replace") for k, v in message.headers() or []}
    return Record(
        message.partition(), message.offset(), message.value(), message.key(), headers, message.timestamp()[1]
    )


def lag(servers, group, topics):
    """Returns {(group, topic): lag in records}; a partition without a commit counts from its beginning."""
    client = consumer(servers, committed=True, **{"group.id": group})
    behind = {}
    try:
        for topic in topics:
            at = [TopicPartition(topic, p) for p in partitions_of(client, topic)]
            marks = {t.partition: patiently(client.get_watermark_offsets, t) for t in at}
            committed = {t.partition: t.offset for t in patiently(client.committed, at)}
            behind[(group, topic)] = sum(
                high - max(committed[p], low) for p, (low, high) in marks.items() if high > max(committed[p], low)
            )
    finally:
        client.close()
    return behind


def is_whole(record):
    """Returns true if a task or a result can be decoded."""
    return record.value is not None and record.value[:2] == b"\x93\xcd"


def tasks(record, kind):
    """Returns the tasks (2), or the results (3), that share a message, in the checker's form: proto/FORMAT.md."""
    import msgpack

    frames = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace")
    frames.feed(record.value)
    return [task(frame, kind, record.timestamp) for frame in frames]


def task(frame, kind, timestamp):
    version, got, fields = frame
    if got != kind:
        raise ValueError(f"a message of kind {got} (version {version:x}) on the wrong topic")
    key = fields.get(1, {})
    proposes = fields.get({2: 13, 3: 14}[kind], False)  # a task other than the explanation of the same candidate
    family = fields.get(4, "") + (" (proposals)" if proposes else "") + (" (rows)" if fields.get(20) == 2 else "")
    return Task((key.get(1, 0), key.get(2, 0)), fields.get(2, b""), family, timestamp)
