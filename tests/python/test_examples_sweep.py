"""Examples with options drawn at random, each under a seed of its own: what `make check` adds to the other tests."""

import os
import pathlib
import random
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
EACH = 40


def moe(draw, ranks):
    experts = draw.randint(1, 9)
    options = ["-n", draw.randint(1, 40), "--experts", experts, "--top-k", draw.randint(1, min(6, ranks * experts)),
               "--width", draw.choice([1, 31, 128, 4100]), "--dtype", draw.choice(["float32", "bfloat16"]),
               "--capacity", draw.choice([0, 0, 1, 3, 20]), "--choose", draw.choice(["modulo", "random", "one"])]
    return options + draw.choice([[], ["--uneven"]])


def ffn_block(draw, ranks):
    return ["-n", draw.randint(1, 150), "--width", draw.randint(1, 150), "--hidden", draw.randint(ranks, 300),
            "--chunks", draw.randint(1, 9)] + draw.choice([[], ["--late"]])


def transformer(draw, ranks):
    heads = draw.randint(ranks, ranks + 5)
    return ["-n", draw.randint(1, 100), "--heads", heads, "--width", heads * draw.randint(1, 9), "--hidden",
            draw.randint(ranks, 200)]


@pytest.mark.parametrize("name, options_of", [("moe_dispatch", moe), ("moe_dispatch_combine", moe),
                                              ("ffn_block", ffn_block), ("transformer", transformer)],
                         ids=lambda value: value if isinstance(value, str) else "")
def test_options_drawn_at_random(name, options_of):
    draw = random.Random(name)
    for seed in range(1, EACH + 1):
        ranks = draw.choice([2, 3, 4, 5, 8, 16])
        command = [EXAMPLES / name / "main.py", "-d", f"0-{ranks - 1}", "--repeat", draw.randint(1, 5), "-p",
                   draw.choice(["a2a3sim", "a5sim"]), "--inproc", *options_of(draw, ranks)]
        unkind = {"BATON_SEED": str(seed), **draw.choice([{}, {"BATON_PIPES": "strict"}])}
        done = subprocess.run([sys.executable, *map(str, command)], env={**os.environ, **unkind}, capture_output=True,
                              text=True, timeout=120)
        assert done.returncode == 0, (unkind, command, done.stdout, done.stderr)
