"""The two sums over what was read, as `src/sums.rs` forms them: one blind to order (and fast), one that is not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WORD = 2**64
BLOCK = 1 << 20
_WEIGHTS = np.arange(1, 2 * BLOCK, 2, dtype=np.uint64)


class Sums:
    """Sums over many reads; each read has a weight of its own, so that two that changed places show."""

    def __init__(self) -> None:
        self.count = self.plain = self.ordered = 0

    def add(self, values: npt.ArrayLike) -> None:
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        whole = raw.size // 8 * 8
        words = raw[:whole].view(np.uint64)
        plain = ordered = 0
        for at in range(0, words.size, BLOCK):
            block = words[at : at + BLOCK]
            total = int(block.sum(dtype=np.uint64))
            plain += total
            # w * (2 (i + at) + 1) = w * (2 i + 1) + 2 at w
            ordered += int((block * _WEIGHTS[: block.size]).sum(dtype=np.uint64)) + 2 * at * total
        if raw.size > whole:
            last = int.from_bytes(raw[whole:].tobytes(), "little")
            ordered += last * (2 * words.size + 1)
        self.plain = (self.plain + plain) % WORD
        self.ordered = (self.ordered + ordered * (2 * self.count + 1)) % WORD
        self.count += 1
