"""One cluster of two workers for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ttt_cli.cluster.client import cluster_client

if TYPE_CHECKING:
    from distributed import Client


@pytest.fixture(scope="package")
def client() -> Iterator[Client]:
    with cluster_client("local:2") as found:
        yield found
