"""What the check scripts share: which files belong to the repository, and the comments of a source file."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CXX_SUFFIXES = {".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"}


def files(root=ROOT):
    """All files under version control and those that could be: tracked, or untracked and not ignored."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        found = {root / name for name in listing.stdout.split("\0") if name}
    else:  # an unpacked archive
        found = {path for path in root.rglob("*")
                 if not any(part.startswith("build") or part in (".git", "__pycache__")
                            for part in path.relative_to(root).parts[:-1])}
    return sorted(path for path in found if path.is_file())


def text_of(path):
    """The text of `path`, or None if it is not text."""
    data = path.read_bytes()
    if b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", errors="replace")


_CXX_TOKEN = re.compile(
    r'R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"'  # raw strings, strings, characters: skipped
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\''
    r'|(?P<comment>//[^\n]*|/\*.*?\*/)', re.DOTALL)
_HASH_COMMENT = re.compile(r"(?:^|\s)(#(?![!{]).*)")


def comments(path, text):
    """Yields (line number, text) for each line of comment of a source file."""
    if path.suffix in CXX_SUFFIXES:
        for token in _CXX_TOKEN.finditer(text):
            if token["comment"]:
                first = text.count("\n", 0, token.start()) + 1
                for offset, line in enumerate(token["comment"].split("\n")):
                    yield first + offset, line
    elif path.suffix in (".py", ".cmake", ".sh", ".yml") or path.name in ("Makefile", "CMakeLists.txt", "run") \
            or (not path.suffix and text.startswith("#!")):
        for number, line in enumerate(text.split("\n"), 1):
            comment = _HASH_COMMENT.search(line)
            if comment:
                yield number, comment[1]


def report(check, problems, examined):
    """Prints problems, or one line that says what was examined. The exit status of a check."""
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print(f"{check}: {len(problems)} problem{'s' if len(problems) > 1 else ''} in {examined}", file=sys.stderr)
        return 1
    print(f"{check}: {examined}, no problems")
    return 0
