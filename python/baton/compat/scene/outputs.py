"""Where tests look for files that runs write."""

from __future__ import annotations

import pathlib
import re


def _outputs_dir() -> pathlib.Path:
    return pathlib.Path.cwd() / "outputs"


def _sanitize_for_filename(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", str(text))
