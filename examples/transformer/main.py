"""transformer: layers of causal attention and a network with GELU; heads and hidden columns are shared out."""

import dataclasses
import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import ranks

EPSILON = 1e-5
LAYERS = 2


@dataclasses.dataclass
class Layer:
    """The weights of one layer: the two gains, then attention, then the network."""

    attention_gain: np.ndarray
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    out: np.ndarray
    network_gain: np.ndarray
    up: np.ndarray
    down: np.ndarray

    def part(self, head_columns, hidden_columns):
        """What one rank needs: the columns of its heads, their rows of `out`, and the same of the network."""
        return Layer(self.attention_gain, *(w[:, head_columns] for w in (self.query, self.key, self.value)),
                     self.out[head_columns], self.network_gain, self.up[:, hidden_columns], self.down[hidden_columns])

    def arrays(self):
        return [np.ascontiguousarray(getattr(self, field.name)) for field in dataclasses.fields(self)]


def layers_of(options):
    random = np.random.default_rng(0)

    def matrix(rows, columns):
        return (random.normal(size=(rows, columns)) / np.sqrt(rows)).astype("f4")

    def gain():
        return (1 + random.normal(size=options.width) / 10).astype("f4")

    return [Layer(gain(), *(matrix(options.width, options.width) for _ in range(4)), gain(),
                  matrix(options.width, options.hidden), matrix(options.hidden, options.width)) for _ in range(LAYERS)]


def input_of(options, epoch):
    return np.random.default_rng(epoch).normal(size=(options.count, options.width)).astype("f4")


def golden_of(options, epoch):
    """All layers in float64, without any parts."""
    def normalized(x, gain):
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + EPSILON) * gain

    def softmax(scores):
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    x, size = input_of(options, epoch).astype("f8"), options.width // options.heads
    future = np.triu(np.full((options.count, options.count), -np.inf), 1)
    for layer in layers_of(options):
        n = normalized(x, layer.attention_gain)
        q, k, v = n @ layer.query, n @ layer.key, n @ layer.value
        heads = [slice(first, first + size) for first in range(0, options.width, size)]
        seen = [softmax(q[:, h] @ k[:, h].T / np.sqrt(size) + future) @ v[:, h] for h in heads]
        x = x + np.concatenate(seen, axis=1) @ layer.out
        h = normalized(x, layer.network_gain) @ layer.up
        x = x + 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3))) @ layer.down
    return x


def share(size, rank, parts):
    return slice(size * rank // parts, size * (rank + 1) // parts)


class Rank:
    """One rank's tensors, and the tasks that work on them."""

    def __init__(self, me, chip, kernels, options):
        self.me, self.chip, self.kernels, self.options = me, chip, kernels, options
        self.head_size = options.width // options.heads
        heads = share(options.heads, me.rank, me.size)
        self.heads = heads.stop - heads.start
        columns = slice(heads.start * self.head_size, heads.stop * self.head_size)
        hidden = share(options.hidden, me.rank, me.size)
        self.layers = [[chip.tensor(array) for array in layer.part(columns, hidden).arrays()]
                       for layer in layers_of(options)]
        # Two sums over the ranks in each layer, each with a place of its own in the window, and two signals.
        self.partial = chip.window(me, "partial", [2 * LAYERS, options.count, options.width])
        self.signals = chip.window(me, "sums", 4 * LAYERS, "int32")
        self.hidden = hidden.stop - hidden.start

    def new(self, *shape):
        return self.chip.alloc(list(shape))

    def attend(self, graph, x, layer, epoch, at):
        """x + attention of all ranks' heads."""
        count, size, columns = self.options.count, self.head_size, self.heads * self.head_size
        gain, query, key, value, out = layer
        n, seen = self.new(count, self.options.width), self.new(count, columns)
        q, k, v = (self.new(count, columns) for _ in range(3))
        graph.submit(self.kernels["normalize"], x, gain, n, EPSILON)
        for weights, result in ((query, q), (key, k), (value, v)):
            graph.submit(self.kernels["multiply"], n, weights, result)
        for head in range(self.heads):
            mine = (slice(None), slice(head * size, (head + 1) * size))
            scores, keys = self.new(count, count), self.new(size, count)
            graph.submit(self.kernels["transpose"], k[mine], keys)
            graph.submit(self.kernels["multiply"], q[mine], keys, scores)
            graph.submit(self.kernels["softmax"], scores, size**-0.5)
            graph.submit(self.kernels["multiply"], scores, v[mine], seen[mine])
        return self.add_over_ranks(graph, x, seen, out, epoch, at)

    def feed_forward(self, graph, x, layer, epoch, at):
        """x + the network, of which each rank has some hidden columns."""
        gain, up, down = layer
        n, h = self.new(self.options.count, self.options.width), self.new(self.options.count, self.hidden)
        graph.submit(self.kernels["normalize"], x, gain, n, EPSILON)
        graph.submit(self.kernels["multiply"], n, up, h)
        graph.submit(self.kernels["activate"], h)
        return self.add_over_ranks(graph, x, h, down, epoch, at)

    def add_over_ranks(self, graph, x, h, weights, epoch, at):
        """x + the sum over the ranks of h weights; the sum waits, without a core, until all have shown their part."""
        place = self.partial.tensor()[at:at + 1].reshape([self.options.count, self.options.width])
        shown, taken = (self.signals.tensor()[i:i + 1] for i in (2 * at, 2 * at + 1))
        y = self.new(self.options.count, self.options.width)
        room = graph.submit_notification_wait(taken, self.me.size * (epoch - 1))
        graph.submit(self.kernels["multiply"], h, weights, place, tokens=[room])
        graph.submit(self.kernels["show"], place, shown.address, self.signals.context)
        ready = graph.submit_notification_wait(shown, self.me.size * epoch)
        graph.submit(self.kernels["add_partials"], x, y, place.address, self.partial.context, taken.address,
                     self.signals.context, tokens=[ready])
        return y

    def run(self, graph, x, epoch):
        for number, layer in enumerate(self.layers):
            x = self.attend(graph, x, layer[:5], epoch, 2 * number)
            x = self.feed_forward(graph, x, layer[5:], epoch, 2 * number + 1)
        return x


def live(me, options):
    """What one rank does; gives the result of each round."""
    kernels, epochs, results = example.kernels(__file__, options), range(1, options.repeat + 1), []
    with baton.Chip(options.platform, domain=me, clusters=2, threads=1) as chip:
        rank = Rank(me, chip, kernels, options)
        inputs = [chip.tensor(input_of(options, epoch)) for epoch in epochs]
        chip.run(lambda graph: results.extend(rank.run(graph, x, epoch) for epoch, x in zip(epochs, inputs)))
        me.barrier()  # nobody leaves while others may still read its window
        return [chip.copy_out(result) for result in results]


def run(options, report):
    for name in ("width", "heads", "hidden"):
        if getattr(options, name) < 1:
            raise example.Refused(f"--{name} {getattr(options, name)}: there must be at least 1")
    for name in ("heads", "hidden"):
        if getattr(options, name) < options.ranks:
            raise example.Refused(f"--{name} {getattr(options, name)}: each of {options.ranks} ranks needs at least 1")
    if options.width % options.heads != 0:
        raise example.Refused(f"--width {options.width}: must be a multiple of --heads {options.heads}")
    example.kernels(__file__, options)  # compiled once, before the ranks need them
    with report.timed(f"transformer of {LAYERS} layers, {options.count} tokens x {options.width}, "
                      f"{options.heads} heads"):
        outcomes = ranks.run(options, live)
    for rank, results in enumerate(outcomes):
        for epoch, y in enumerate(results, start=1):
            report.check(rank, y, golden_of(options, epoch), tolerance=1e-4, what=f"round {epoch}")


def more_options(parser):
    parser.add_argument("--width", type=int, default=64, metavar="W", help="elements of a token")
    parser.add_argument("--heads", type=int, default=16, metavar="A", help="heads, of all ranks")
    parser.add_argument("--hidden", type=int, default=256, metavar="H", help="columns of the network, of all ranks")


def main(argv=None):
    options = example.parse(argv, __doc__, count=48, most_ranks=16, more=more_options)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
