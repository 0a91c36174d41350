"""Prints the reference of the Python package, from its signatures and docstrings. Run by scripts/generate_reference
with the package on the path."""

import enum
import inspect
import re
import textwrap

import baton
from baton import testing

HEAD = """# The Python package, name by name

This page is generated from the package: `help(baton.Worker)` says the same. [The Python package](python.md) says what
holds for all of it.
"""
# "name, other   what it means": how docstrings list arguments.
ROW = re.compile(r"^([a-z_][\w., ]*?)\s{2,}(\S.*)$")


def rows_as_list(lines: list[str]) -> list[str]:
    """Rows of arguments as items; other lines as they are. Indented lines are code and stay."""
    out: list[str] = []
    in_rows = False
    for line in lines:
        row = ROW.match(line)
        if row:
            if not in_rows and out and out[-1]:
                out.append("")
            in_rows = True
            names = ", ".join(f"`{name.strip()}`" for name in row[1].split(","))
            out.append(f"- {names}: {row[2]}")
        elif in_rows and re.match(r"^\s{6,}\S", line):
            out[-1] += " " + line.strip()
        else:
            if in_rows and line:
                out.append("")
            in_rows = False
            out.append(line)
    return out


def prose(text: str) -> str:
    lines = rows_as_list(inspect.cleandoc(text).splitlines())
    wrapped: list[str] = []
    for line in lines:
        long = len(line) > 120 and not line.startswith("    ")
        wrapped += textwrap.wrap(line, 120, subsequent_indent="  " if line.startswith("- ") else "",
                                 break_long_words=False, break_on_hyphens=False) if long else [line]
    return "\n".join(wrapped)


def tidy(signature: str) -> str:
    """As people write it: without the names of modules."""
    signature = re.sub(r"\b(baton\._core|collections\.abc|numpy|concurrent\.futures|os)\.", "", signature)
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    return re.sub(r"= '([^']*)'", r'= "\1"', signature)


def described(thing) -> tuple[str, str]:
    """The signature and the text of a function, wherever it was written."""
    text = thing.__doc__ or ""
    if type(thing).__name__ in ("nb_func", "nb_method"):
        signature, _, text = text.partition("\n\n")
        signature = signature[signature.index("("):]
    else:
        signature = str(inspect.signature(thing))
    return tidy(re.sub(r"^\(self(, )?", "(", signature)), text


def call(name: str, signature: str) -> str:
    line = f"{name}{signature}"
    if len(line) > 110:
        line = "\n".join(textwrap.wrap(line, 110, subsequent_indent="    ", break_long_words=False,
                                       break_on_hyphens=False))
    return f"```python\n{line}\n```\n"


def members_of(cls: type):
    for name, thing in sorted(vars(cls).items()):
        if not name.startswith("_") and (thing.__doc__ or "").strip():
            yield name, thing


def is_made_by_users(cls: type) -> bool:
    """Not those that wrap an object of the module, and not those of the module itself."""
    return ("__init__" in vars(cls) and cls.__module__ != "baton._core"
            and "core" not in inspect.signature(cls).parameters)


def class_section(name: str, cls: type) -> list[str]:
    out = [f"## {name}\n"]
    if issubclass(cls, enum.Enum):
        out.append(prose(cls.__doc__) + "\n")
        out.append(", ".join(f"`{member.name}`" for member in cls) + "\n")
        return out
    bases = [base.__name__ for base in cls.__bases__ if base.__name__ in baton.__all__]
    if is_made_by_users(cls):
        out.append(call(f"baton.{name}", tidy(re.sub(r" -> None$", "", str(inspect.signature(cls))))))
    out.append(prose(cls.__doc__ or "") + "\n")
    if bases:
        out.append(f"It has all of {', '.join(f'[{base}](#{base.lower()})' for base in bases)}.\n")
    for member, thing in members_of(cls):
        if inspect.isfunction(thing) or type(thing).__name__ == "nb_method":
            signature, text = described(thing)
            out += [f"### {name}.{member}\n", call(member, signature), prose(text) + "\n"]
        elif isinstance(thing, property) or inspect.isdatadescriptor(thing):
            text = re.sub(r"^\(self\).*", "", thing.__doc__)
            out += [f"### {name}.{member}\n", prose(text) + "\n"]
    return out


def main() -> None:
    page = [HEAD]
    functions = [(f"baton.{name}", getattr(baton, name)) for name in sorted(baton.__all__)
                 if callable(getattr(baton, name)) and not inspect.isclass(getattr(baton, name))
                 and type(getattr(baton, name)).__name__ != "Direction"]
    functions.append(("baton.testing.assert_close", testing.assert_close))
    page.append("## Functions\n")
    for name, function in functions:
        signature, text = described(function)
        page += [f"### {name}\n", call(name, signature), prose(text) + "\n"]
    page.append("## Marks\n")
    page.append("`IN`, `OUT`, `INOUT`, `SCALAR`, `NO_DEP`: parts of signatures, and marks of arguments: `OUT(x)`.\n")
    for name in sorted(baton.__all__):
        if inspect.isclass(getattr(baton, name)):
            page += class_section(name, getattr(baton, name))
    page.append("## baton.comm\n")
    page.append(prose(baton.comm.__doc__) + "\n")
    for name in baton.comm.__all__:
        thing = getattr(baton.comm, name)
        if type(thing).__name__ == "nb_func":
            signature, text = described(thing)
            page += [f"### comm.{name}\n", call(name, signature), prose(text) + "\n"]
    print("\n".join(page).rstrip())


main()
