"""What all tests share: hypothesis without deadlines (kernels compile at first use), and where real data may be."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ttt", deadline=None, derandomize=True)
settings.load_profile("ttt")

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, where there is one."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}")
    return DATA
