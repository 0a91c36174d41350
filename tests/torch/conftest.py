"""Without a PyTorch that baton.torch takes, nothing is collected here, and pytest says why."""

import pytest

try:
    import torch
    _MISSING = None
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 0):
        _MISSING = f"PyTorch {torch.__version__} is too old for baton.torch"
except ImportError:
    _MISSING = "PyTorch is not installed"

if _MISSING:
    collect_ignore_glob = ["test_*.py"]
else:
    import baton.torch  # noqa: F401  compiles once, before ranks are forked
    from ranks import Ranks

    torch.set_num_threads(1)

    @pytest.fixture
    def ranks(tmp_path):
        """ranks(4, body, ...): body(rank, ...) on four ranks of one group."""
        return Ranks(tmp_path)


def pytest_report_header():
    return f"SKIPPED: {_MISSING}; `make test-torch` installs one" if _MISSING else f"PyTorch {torch.__version__}"
