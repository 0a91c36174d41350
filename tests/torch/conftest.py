"""Without a PyTorch that baton.torch takes, pytest says so and ends with the code that ctest takes for a skipped test."""

import pytest

try:
    import torch
    _MISSING = None
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < (2, 0):
        _MISSING = f"PyTorch {torch.__version__} is too old for baton.torch"
except ImportError:
    _MISSING = "PyTorch is not installed"

_SKIPPED = 5

if not _MISSING:
    import baton.torch  # noqa: F401  compiles once, before ranks are forked
    from ranks import Ranks

    torch.set_num_threads(1)

    @pytest.fixture
    def ranks(tmp_path):
        """ranks(4, body, ...): body(rank, ...) on four ranks of one group."""
        return Ranks(tmp_path)


def pytest_configure():
    if _MISSING:
        pytest.exit(f"SKIPPED: {_MISSING}; `make test-torch` installs one", returncode=_SKIPPED)


def pytest_report_header():
    return f"PyTorch {torch.__version__}"
