"""simpler_setup.log_config."""

from __future__ import annotations

import logging
from typing import Any


def configure_logging(level: Any = "info") -> None:
    """The level of Python's log. Chips have BATON_LOG."""
    number = level if isinstance(level, int) else getattr(logging, str(level).upper(), logging.INFO)
    logging.basicConfig(level=number)
    logging.getLogger().setLevel(number)
