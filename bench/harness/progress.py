"""Which case runs, how many are left and how long that takes: on stderr, on one line if it is a terminal."""

import time


class Progress:
    def __init__(self, stream, cases, runs):
        """`runs` is how many programs all cases together start."""
        self._stream = stream
        self._cases = [case.name for case in cases]
        self._left = runs
        self._done = 0
        self._started = time.monotonic()
        self._terminal = stream.isatty()
        self._case = None

    def step(self, case, what, contender):
        """A program is about to run; `what` is the round it belongs to."""
        number = self._cases.index(case.name) + 1
        text = f"[{number}/{len(self._cases)}] {case.name}  {what}"
        if self._terminal:
            line = f"{text}  {contender.name} ({contender.setting})  {self._remaining()}"
            self._stream.write(f"\r\033[K{line[:118]}")
            self._stream.flush()
        elif case.name != self._case:
            self._stream.write(f"[{number}/{len(self._cases)}] {case.name}  {self._remaining()}\n")
            self._stream.flush()
        self._case = case.name
        self._done += 1
        self._left -= 1

    def skip(self):
        """A program that was planned will not run."""
        self._left -= 1

    def clear(self):
        """Makes room for other output."""
        if self._terminal:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def _remaining(self):
        if self._done == 0:
            return f"{self._left} runs left"
        seconds = (time.monotonic() - self._started) / self._done * self._left
        duration = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
        return f"{self._left} runs left, about {duration}"
