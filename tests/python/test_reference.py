"""What the package says about itself: docstrings, stubs, and the pages that are generated from them."""

import ast
import inspect
import os
import pathlib
import pydoc
import subprocess
import sys

import pytest

import baton
from baton import _core
from conftest import HERE, baton_program

ROOT = HERE.parent.parent


def public_members(cls):
    for name in dir(cls):
        if not name.startswith("_"):
            yield name, inspect.getattr_static(cls, name)


def is_documented(thing):
    text = (getattr(thing, "__doc__", None) or "").strip()
    if type(thing).__name__ in ("nb_func", "nb_method"):
        text = text.partition("\n\n")[2]  # behind the signature
    return bool(text) and not text.startswith("(self)")


def test_everything_public_has_a_docstring():
    missing = []
    for name in baton.__all__:
        thing = getattr(baton, name)
        if not is_documented(thing):
            missing.append(name)
        if not inspect.isclass(thing) or issubclass(thing, (BaseException, int)):
            continue
        missing += [f"{name}.{member}" for member, value in public_members(thing)
                    if (callable(value) or inspect.isdatadescriptor(value)) and not is_documented(value)]
    assert missing == []


@pytest.mark.parametrize("name", ["Worker", "Domain", "Chip", "Graph", "Orchestration"])
def test_help_reads_like_documentation(name):
    text = pydoc.plain(pydoc.render_doc(getattr(baton, name)))
    assert "arg0" not in text
    cls = getattr(baton, name)
    # Every paragraph of the description is there, and every method with what it does.
    assert inspect.cleandoc(cls.__doc__).splitlines()[0] in text
    for member, value in vars(cls).items():
        if inspect.isfunction(value) and not member.startswith("_"):
            assert inspect.cleandoc(value.__doc__).splitlines()[0] in text


def stub_of_the_module():
    path = pathlib.Path(baton.__file__).parent / "_core.pyi"
    if not path.exists():
        pytest.fail(f"{path} is not there: build the target baton_python_stub")
    return ast.parse(path.read_text())


def test_the_stub_of_the_module_is_complete():
    tree = stub_of_the_module()
    classes = {node.name: {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
               | {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
               for node in tree.body if isinstance(node, ast.ClassDef)}
    names = set(classes) | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    own = {name for name in vars(_core) if not name.startswith("_")}
    assert own - names == set()
    for name, members in classes.items():
        real = {member for member, _ in public_members(getattr(_core, name))}
        assert real - members == set(), name


def test_the_package_is_typed():
    folder = pathlib.Path(baton.__file__).parent
    assert (folder / "py.typed").exists()
    for path in sorted(folder.rglob("*.py")):
        ast.parse(path.read_text(), str(path))


@pytest.mark.skipif(not (ROOT / "scripts" / "generate_reference").exists(), reason="there is no source tree")
def test_the_generated_pages_are_current():
    result = subprocess.run([sys.executable, str(ROOT / "scripts" / "generate_reference"), "--check", "--pages",
                             "cli-options", "python-api", "--baton", baton_program(), "--package",
                             str(pathlib.Path(baton.__file__).parent.parent), "--python", sys.executable],
                            capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONHASHSEED": "0"})
    assert result.returncode == 0, result.stderr
