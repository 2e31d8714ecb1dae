"""Bounded waits for observable conditions."""
import time

LOOK_S = 0.1


def wait_until(condition, seconds, what, look_s=LOOK_S):
    """Returns the result of `condition()` once it is true. Raises TimeoutError, naming `what`, after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(look_s)
