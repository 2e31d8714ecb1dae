"""Waiting for something that can be seen, with a bound."""
import time

LOOK_S = 0.1


def wait_until(condition, seconds, what, look_s=LOOK_S):
    """What `condition()` says, once that is true. TimeoutError, with `what` it was about, after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(look_s)
