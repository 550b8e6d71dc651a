"""What is to be done later."""

import heapq
import time


class Timers:
    def __init__(self):
        self.waiting = []
        self.count = 0

    def after(self, seconds, action):
        """What comes back can be forgotten."""
        self.count += 1
        timer = [time.monotonic() + seconds, self.count, action]
        heapq.heappush(self.waiting, timer)
        return timer

    def seconds_left(self):
        """Until the next one; None when there is none."""
        while self.waiting and self.waiting[0][2] is None:
            heapq.heappop(self.waiting)
        return max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None

    def act(self):
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            action = heapq.heappop(self.waiting)[2]
            if action is not None:
                action()


def forget(timer):
    timer[2] = None
