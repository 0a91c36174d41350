"""Programs and tests that were written for the public runtime `simpler`, on Baton, as they are.

    baton test --compat tests/st                      # scene tests and test functions, packed onto devices
    python -m baton.compat examples/hello/main.py     # a program

Both make the modules that such programs import (simpler, simpler_setup, _task_interface) importable in that process;
install() does it for a process of one's own. What is not offered raises NotOffered, which names it.
docs/how-to/bring-an-existing-project.md of the project tells more.
"""

from baton.compat.not_offered import NotOffered
from baton.compat.names import install

__all__ = ["NotOffered", "install"]
