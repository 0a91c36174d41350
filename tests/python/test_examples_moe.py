"""The examples of experts: sizes, imbalance, capacity, rounds that overlap; and what kernels say about wrong sizes."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import baton

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = ["moe_dispatch", "moe_dispatch_combine"]
SMALL = ["--experts", "3", "--top-k", "2", "--width", "40"]


def load(name):
    """examples/NAME/main.py as a module."""
    known = f"example_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, EXAMPLES / name / "main.py")
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def run(name, ranks, *more):
    return load(name).main(["-d", f"0-{ranks - 1}", *more])


CASES = {
    "as it comes": [],
    "one token": ["-n", "1"],
    "all to one expert": ["--choose", "one", "--top-k", "1"],
    "some have none": ["--uneven", "--choose", "random"],
    "no room": ["--capacity", "1", "--choose", "one", "--uneven"],
    "little room": ["--capacity", "2", "--choose", "random"],
    "all experts": ["--experts", "1", "--top-k", "2", "--choose", "random"],
    "many experts": ["--experts", "33", "--top-k", "5", "--choose", "random"],
    "one element": ["--width", "1", "--choose", "random"],
    "more than a tile": ["--width", "4099", "--choose", "random"],
    "float32": ["--dtype", "float32", "--choose", "random"],
    "bfloat16": ["--dtype", "bfloat16", "--choose", "modulo"],
}


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_every_imbalance_again_and_again_in_the_same_windows(name, ranks, capsys):
    for case, more in CASES.items():
        assert run(name, ranks, "--inproc", "--repeat", "3", "-n", "5", *SMALL, *more) == 0, (case, capsys.readouterr())
        told = capsys.readouterr().out
        assert told.count("largest difference") == ranks and "3 rounds in" in told, case


@pytest.mark.parametrize("name", NAMES)
def test_the_sizes_of_the_examples_themselves(name, capsys):
    assert load(name).main(["--inproc"]) == 0, capsys.readouterr()


@pytest.mark.parametrize("name", NAMES)
def test_sixteen_chips_odd_numbers_and_the_other_generation(name, capsys):
    assert run(name, 16, "--inproc", "-n", "9", *SMALL, "--choose", "random") == 0, capsys.readouterr()
    for ranks in (3, 5):
        assert run(name, ranks, "--inproc", "-p", "a5sim", "-n", "9", *SMALL) == 0, capsys.readouterr()


@pytest.mark.parametrize("name", NAMES)
def test_a_process_for_each_chip(name):
    done = subprocess.run([sys.executable, EXAMPLES / name / "main.py", "-d", "0,2-3", "-n", "10", "--repeat", "3",
                           *SMALL, "--uneven"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a process each" in done.stdout and done.stdout.count("largest difference") == 3


@pytest.mark.parametrize("environment", [{"BATON_SEED": "1"}, {"BATON_SEED": "2"},
                                         {"BATON_SEED": "3", "BATON_PIPES": "strict"}], ids=str)
def test_what_chips_leave_open_changes_nothing(environment):
    done = subprocess.run([sys.executable, __file__], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options, told", [(["-n", "0"], "at least 1"), (["-d", "0-16"], "16 at most"),
                                           (["--experts", "0"], "--experts 0"), (["--width", "0"], "--width 0"),
                                           (["--top-k", "9999"], "there are"), (["--capacity", "-1"], "--capacity -1"),
                                           (["-n", "2000000000"], "too many tokens")])
def test_options_that_make_no_sense_are_told(name, options, told, capsys):
    assert load(name).main(["--inproc", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{name}: ") and told in error and "Traceback" not in error


def test_the_first_rows_of_an_expert_are_sent_when_there_is_no_room_for_all():
    load("moe_dispatch")
    import moe
    chosen = np.array([[0, 1], [0, 2], [0, 1], [1, 0]])
    assert moe.sent_by_expert(chosen, 3, 2) == [[(0, 0), (1, 0)], [(0, 1), (2, 1)], [(1, 1)]]


class Side:
    """One rank of an exchange, with tensors of its own for each round."""

    def __init__(self, me, chip, options, rounds):
        import moe
        self.module = load("moe_dispatch_combine")
        self.kernels = baton.kernels(EXAMPLES / "moe_dispatch_combine" / "moe_dispatch_combine.cpp",
                                     defines={"ELEMENT": "float"})
        problem = moe.problem_of(options)
        sizes = moe.Sizes(self.kernels, problem)
        self.window = me.window("moe", sizes.window_bytes, "uint8")
        self.side = [self.window.tensor().address, self.window.context]
        self.problem = chip.tensor(problem.array())
        self.weights = chip.tensor(self.module.expert_weights(options)[me.rank * options.experts:][:options.experts])
        self.chosen = [moe.choices(options, me.rank, k) for k in rounds]
        self.tokens = [self.module.tokens_of(me.rank, k, options) for k in rounds]
        self.gates = [self.module.gates_of(me.rank, k, options) for k in rounds]
        self.plans = [chip.alloc(sizes.plan_ints, "int32") for _ in rounds]
        self.blocks = [chip.alloc(sizes.block_ints, "int32") for _ in rounds]
        self.homes = [chip.alloc(1, "int32") for _ in rounds]
        self.rows = [chip.alloc([sizes.received_rows, options.width]) for _ in rounds]
        self.results = [chip.alloc([sizes.received_rows, options.width]) for _ in rounds]
        self.sums = [chip.alloc([options.count, options.width]) for _ in rounds]

    def submit(self, graph, k):
        kernels, problem, plan, blocks = self.kernels, self.problem, self.plans[k - 1], self.blocks[k - 1]
        tokens, rows, results, home = self.tokens[k - 1], self.rows[k - 1], self.results[k - 1], self.homes[k - 1]
        count = len(self.chosen[k - 1])
        graph.submit(kernels["dispatch"], problem, tokens, self.chosen[k - 1], plan, *self.side, count, k)
        graph.submit(kernels["assemble"], problem, plan, tokens, rows, blocks, *self.side, count)
        graph.submit(kernels["run_experts"], problem, rows, blocks, self.weights, results)
        graph.submit(kernels["give_back"], problem, results, blocks, home, *self.side, k)
        graph.submit(kernels["combine"], problem, plan, results, blocks, self.gates[k - 1], home, self.sums[k - 1],
                     *self.side, count)


def overlap(seed):
    """All rounds in one graph, without an edge between them: the counters alone keep them apart."""
    import example
    rounds = range(1, 4)
    options = example.parse(["-d", "0-3", "-n", "6"], "", count=6, more=load("moe_dispatch_combine").more_options)
    options.experts, options.top_k, options.width, options.dtype = 2, 3, 300, "float32"
    wrong = []

    def live(me):
        with baton.Chip(domain=me, clusters=len(rounds) + 1, threads=1, seed=seed) as chip:
            side = Side(me, chip, options, rounds)
            chip.run(lambda graph: [side.submit(graph, k) for k in rounds])
            me.barrier()
            for k in rounds:
                given = {(k, me.rank): side.tokens[k - 1]}
                golden = side.module.golden_sums(me.rank, k, options, given, side.module.expert_weights(options))
                if not np.allclose(side.sums[k - 1].numpy()[:len(golden)], golden, rtol=1e-6, atol=1e-6):
                    wrong.append((seed, me.rank, k))

    baton.run_ranks(options.ranks, live)
    return wrong


def test_rounds_that_overlap():
    load("moe_dispatch_combine")
    for seed in range(1, 9):
        assert overlap(seed) == []


def alone(**changes):
    """What a chip says that runs `dispatch` as the only rank, with these arguments instead of the right ones."""
    load("moe_dispatch_combine")
    import moe
    kernels = baton.kernels(EXAMPLES / "moe_dispatch_combine" / "moe_dispatch_combine.cpp",
                            defines={"ELEMENT": "float"})
    problem = moe.Problem(1, 2, 1, 3, 8, 4)
    sizes = moe.Sizes(kernels, problem)
    given = {"numbers": problem.array(), "tokens": np.zeros((3, 8), "f4"), "experts": np.array([0, 1, 0], "i4"),
             "plan": np.zeros(sizes.plan_ints, "i4"), "window_bytes": sizes.window_bytes, "count": 3, **changes}

    def live(me):
        window = me.window("moe", given["window_bytes"], "uint8")
        with baton.Chip(domain=me, clusters=1, threads=1) as chip:
            chip.run(kernels["dispatch"], given["numbers"], given["tokens"], given["experts"], given["plan"],
                     window.tensor().address, window.context, given["count"], 1)
        return given["plan"]

    return baton.run_ranks(1, live)[0]


def test_one_rank_needs_nobody():
    assert list(alone()) == [0, 2, 3, 0, 2, 1]  # starts of two experts, the end, and the rows of three tokens
    assert list(alone(experts=np.array([1, -1, 1], "i4"))) == [0, 0, 2, 0, -1, 1]  # the second token chose none


@pytest.mark.parametrize("changes, told", [
    ({"count": 4}, "4 tokens; the exchange is made for at most 3"),
    ({"experts": np.array([0, 2, 0], "i4")}, "token 1 chose expert 2; there are 2"),
    ({"experts": np.array([0, -2, 0], "i4")}, "token 1 chose expert -2"),
    ({"plan": np.zeros(5, "i4")}, "plan has 5 elements, needs 6"),
    ({"tokens": np.zeros(8, "f4")}, "tokens has 8 elements, needs 24"),
    ({"window_bytes": 64}, "bytes of this rank's window, which has 64"),
    ({"numbers": np.array([2, 1, 1, 3, 8, 4, 0], "i4")}, "made for 2 ranks, the domain has 1"),
    ({"numbers": np.array([1, 2, 1, 3, 8, 2, 0], "i4")}, "elements of 2 bytes, this kernel has 4"),
    ({"numbers": np.array([1, 0, 1, 3, 8, 4, 0], "i4")}, "experts_per_rank: at least 1"),
], ids=lambda value: value if isinstance(value, str) else None)
def test_sizes_that_do_not_fit_are_told(changes, told):
    with pytest.raises(baton.Error, match="moe::") as raised:
        alone(**changes)
    assert told in str(raised.value)


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_blocks_share_the_rows_and_a_kernel_may_wait_on_its_core(ranks):
    load("moe_dispatch")
    import moe
    kernels = baton.kernels(pathlib.Path(__file__).parent / "kernels" / "moe_parts.cpp")
    problem = moe.Problem(ranks, 2, 3, 4, 10, 4, capacity=3)
    sizes = moe.Sizes(kernels, problem)
    chosen = np.array([[0, 1, -1], [0, -1, 1], [1, 0, -1], [0, 1, -1]], "i4")  # 4 rows for each of two experts, 3 sent
    weights = np.arange(1, 13, dtype="f4").reshape(4, 3)
    sent = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 0, 0]])

    def live(me):
        window = me.window("moe", sizes.window_bytes, "uint8")
        tokens = np.arange(40, dtype="f4").reshape(4, 10) + 100 * me.rank
        with baton.Chip(domain=me, clusters=1, threads=1) as chip:
            for epoch, parts in enumerate((1, 2, 3, 7), start=1):
                sums = np.full((4, 10), np.nan, "f4")
                chip.run(kernels["there_and_back"], problem.array(), tokens, chosen, weights,
                         np.zeros(sizes.plan_ints, "i4"), np.zeros((sizes.sent_rows, 10), "f4"),
                         np.full((sizes.received_rows, 10), np.nan, "f4"), np.zeros(sizes.block_ints, "i4"), sums,
                         window.tensor().address, window.context, 4, epoch, parts)
                assert np.array_equal(sums, tokens * (weights * sent).sum(axis=1, keepdims=True))
            me.barrier()

    baton.run_ranks(ranks, live)


if __name__ == "__main__":  # both examples, for a seed in the environment
    sys.exit(sum(run(name, 4, "--inproc", "--repeat", "5", "-n", "9", *SMALL, "--choose", choose, "--uneven")
                 for name in NAMES for choose in ("random", "one")))
