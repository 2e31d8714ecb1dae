import asyncio

import pytest

from assay import AsyncJudge, Judge


class Blocking:
    """AsyncJudge with the interface of Judge, so that both pass the same tests."""

    def __init__(self, url, **options):
        self.loop = asyncio.new_event_loop()
        self.judge_ = AsyncJudge(url, **options)

    def __getattr__(self, name):
        return lambda *args, **options: self.loop.run_until_complete(getattr(self.judge_, name)(*args, **options))

    def batch(self, *args, **options):
        async def collect():
            return [item async for item in self.judge_.batch(*args, **options)]
        return self.loop.run_until_complete(collect())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        self.loop.close()


@pytest.fixture(params=[Judge, Blocking], ids=["sync", "async"])
def client(request):
    """Creates clients of either kind."""
    made = []

    def make(url, **options):
        made.append(request.param(url, **options))
        return made[-1]

    yield make
    for one in made:
        one.__exit__(None, None, None)
