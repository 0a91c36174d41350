"""The index of names says what the headers and baton.compat have, and has all of their names."""

import importlib
import pathlib
import re

import pytest

from baton.compat import install
from baton.compat.names import _MODULES
from baton.compat.not_offered import _NAMES, NotOffered

install()

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "field-index.md").read_text(encoding="utf-8")
HEADERS = ROOT / "include" / "kernel"
# What the compiler is told, and what a library may have.
ELSEWHERE = ["src/kernel/build.cpp", "src/chip/orchestration/program.cpp"]
INSTRUCTION = r"\b(T[A-Z][A-Z0-9_]{2,}|M(?:SCATTER|GATHER))\("
FUNCTION = r"\b((?:rt|pto2|pto2_rt)_\w+)\s*\("
# What only our own headers use.
BENEATH = {"CallableNamespace", "Orchestrator", "DeferredCompletionSlab", "LaunchSpec", "PTO2SdmaDescriptor", "SdmaDirection",
           "TaskArguments", "TaskToken", "TensorSlot", "UrmaRequestDescriptor"}
TYPE = r"^(?:enum class|struct|class|using) (?!namespace)(?:alignas\(\w+\) )?(\w+)\b"


def text_of(*parts):
    """Headers without comments: a file, or all of a folder."""
    files = [file for part in parts for file in ([HEADERS / part] if (HEADERS / part).is_file()
                                                 else sorted((HEADERS / part).rglob("*"))) if file.is_file()]
    assert files
    return re.sub(r"//[^\n]*", "", "\n".join(file.read_text(encoding="utf-8") for file in files))


def rows(section):
    """(names, state) of each row of a table; a name may end with *."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == 2 and not cells[0].startswith(("names", "---")):
            code = " ".join(span for span in re.findall(r"`([^`]*)`", cells[0]) if not re.search(r"[(/]", span))
            yield re.findall(r"[A-Za-z_]\w*\*?", code), cells[1]


def is_in(name, text):
    return re.search(rf"\b{name[:-1]}" if name.endswith("*") else rf"\b{name}\b", text) is not None


ON_PAGE = {name for section in ("Kernels", "Orchestrations", "Python") for names, _ in rows(section) for name in names}


@pytest.mark.parametrize("section", ["Kernels", "Orchestrations"])
def test_names_that_work_are_in_the_headers_and_others_are_not(section):
    text = text_of(".") + "".join((ROOT / part).read_text(encoding="utf-8") for part in ELSEWHERE)
    seen = 0
    for names, state in rows(section):
        if "`" in state or not names:
            continue
        missing = state.startswith("not there")
        members = missing and names[0] == "ChipTensor"  # the row is of what it has not
        looked_at = text_of("chip_tensor.h") if members else text
        for name in names[1:] if members else names:
            seen += 1
            assert is_in(name, looked_at) != missing, f"{name}: {state}"
    assert seen > 40


@pytest.mark.parametrize("found, parts", [
    (INSTRUCTION, ["pto"]),
    (FUNCTION, ["."]),
    (TYPE, [*(path.name for path in sorted(HEADERS.glob("*.h"))), "backend", "completion/async_ctx.hpp", "platform_comm",
            "orchestration/task_args.hpp"])],
    ids=["instructions", "functions", "types"])
def test_names_of_the_headers_are_on_the_page(found, parts):
    names = set(re.findall(found, text_of(*parts), re.MULTILINE))
    assert len(names) > 10
    missing = sorted(name for name in names - ON_PAGE - BENEATH
                     if not any(known.endswith("*") and name.startswith(known[:-1]) for known in ON_PAGE))
    assert missing == []


def test_names_of_the_modules_are_on_the_page():
    offered = {name for names in _MODULES.values() for name in names}
    assert sorted((offered | set(_NAMES)) - BENEATH - ON_PAGE) == []


def test_modules_have_what_the_page_says():
    """A row that begins with a module names what is in it."""
    seen = 0
    text = PAGE.partition("## Python\n")[2]
    for cell, state in re.findall(r"^\| (.*?) \| (.*) \|$", text, re.MULTILINE):
        lead = re.match(r"`((?:simpler|_task_interface)[\w.]*)`: `([^`]*)`", cell)
        if lead is None:
            continue
        module, _, class_name = lead[1].rpartition(".") if lead[1].endswith(".Worker") else (lead[1], "", "")
        holder = importlib.import_module(module)
        holder = getattr(holder, class_name) if class_name else holder
        for name in lead[2].split():
            assert hasattr(holder, name), f"{lead[1]}.{name} is {state}"
            seen += 1
    assert seen > 25


def test_what_the_page_refuses_is_refused_by_name():
    import simpler.task_interface as module
    for names, state in rows("Python"):
        if state.startswith("refused") and not state.startswith("refused: nothing writes"):
            for name in set(names) & set(_NAMES):
                with pytest.raises(NotOffered, match=name):
                    getattr(module, name)
