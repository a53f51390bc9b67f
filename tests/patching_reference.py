"""The rules of the byte entropy model and of patching in a page of plain Python.

It shares nothing with the package.

Model: count every byte under each of the 0 to order-1 bytes before it in its document. Prediction of a byte:
  backoff      the longest context of at least one byte that was seen, alone, with `alpha` added to all 256
               counts; none seen: uniform. Without a byte before it: the plain counts, likewise.
  witten-bell  from uniform upwards: P_k(v) = (n(c, v) + t(c) P_{k-1}(v)) / (n(c) + t(c)), where t(c) is the
               number of different bytes seen after the context c; contexts never seen change nothing.

A patch starts at the first byte of a document, and wherever the rule says so from the bytes before alone.
A byte of `reset_on` ends a document in both respects.
"""

import math


def entropy_bits(probabilities):
    return 0.0 - math.fsum(p * math.log2(p) for p in probabilities if p > 0)


class Model:
    def __init__(self, order=4, alpha=0.01, smoothing="backoff"):
        self.order, self.alpha, self.smoothing = order, alpha, smoothing
        self.counts = {}
        self._entropies = {}

    def train(self, *documents):
        for data in documents:
            for at, byte in enumerate(data):
                for length in range(min(self.order - 1, at) + 1):
                    row = self.counts.setdefault(data[at - length : at], {})
                    row[byte] = row.get(byte, 0) + 1
        self._entropies.clear()
        return self

    def distribution(self, history):
        context = history[max(0, len(history) - self.order + 1) :]
        if self.smoothing == "witten-bell":
            blend = [1 / 256] * 256
            for length in range(len(context) + 1):
                row = self.counts.get(context[len(context) - length :])
                if row:
                    total, kinds = sum(row.values()), len(row)
                    blend = [(row.get(v, 0) + kinds * p) / (total + kinds) for v, p in enumerate(blend)]
            return blend
        row = self.counts.get(b"", {}) if not context else {}
        for length in range(len(context), 0, -1):
            if row := self.counts.get(context[len(context) - length :], {}):
                break
        total = sum(row.values()) + 256 * self.alpha
        return [(row.get(v, 0) + self.alpha) / total for v in range(256)]

    def answered(self, history):
        """The context that the prediction is made from, or mixed up to, and how often it was seen."""
        context = history[max(0, len(history) - self.order + 1) :]
        shortest = 1 if context and self.smoothing == "backoff" else 0
        for length in range(len(context), shortest - 1, -1):
            tail = context[len(context) - length :]
            if row := self.counts.get(tail):
                return tail, sum(row.values())
        return b"", 0

    def contexts(self, data, reset_on=b""):
        """`answered` for each byte; behind a byte of `reset_on` as at the start of a text."""
        found, start = [], 0
        for at in range(len(data)):
            found.append(self.answered(data[start:at]))
            if data[at] in reset_on:
                start = at + 1
        return found

    def entropies(self, data, reset_on=b""):
        """Of the prediction for each byte; behind a byte of `reset_on` as at the start of a text."""
        found, start = [], 0
        for at in range(len(data)):
            context = data[max(start, at - self.order + 1) : at]
            if context not in self._entropies:
                self._entropies[context] = entropy_bits(self.distribution(context))
            found.append(self._entropies[context])
            if data[at] in reset_on:
                start = at + 1
        return found

    def bits_per_byte(self, data):
        bits = [-math.log2(self.distribution(data[:at])[byte]) for at, byte in enumerate(data)]
        return math.fsum(bits) / len(data) if data else 0.0


def by_entropy(data, entropies, theta=None, rise=None, reset_on=b""):
    """Starts where all given thresholds are crossed, strictly; and behind a byte of `reset_on`."""
    return [
        at
        for at, bits in enumerate(entropies)
        if at == 0
        or data[at - 1] in reset_on
        or ((theta is None or bits > theta) and (rise is None or bits - entropies[at - 1] > rise))
    ]


def space_like(byte):
    return not (chr(byte).isalnum() if byte < 128 else 128 <= byte < 192)


def by_space(data):
    """Starts behind a space-like byte that does not itself follow one."""
    return [
        at
        for at in range(len(data))
        if at == 0 or (space_like(data[at - 1]) and not (at > 1 and space_like(data[at - 2])))
    ]


def by_size(data, size):
    return list(range(0, len(data), size))


def cut(starts, length, longest):
    """The same patches, those above `longest` bytes cut into pieces of it."""
    ends = [*starts[1:], length]
    return [at for start, end in zip(starts, ends, strict=False) for at in range(start, end, longest)]


def reasons(data, starts, limited, rule, reset_on=b""):
    """Why patches start at `limited`, which is `starts` and what a limit of length adds."""
    return [
        "first" if at == 0
        else "reset" if data[at - 1] in reset_on
        else rule if at in set(starts)
        else "max_length"
        for at in limited
    ]  # fmt: skip


def patches(data, starts):
    return [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=False)]
