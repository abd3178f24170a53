"""One cluster of two workers for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ttt_cli.cluster.client import cluster_client

if TYPE_CHECKING:
    from distributed import Client


@pytest.fixture(scope="package")
def cluster() -> Iterator[Client]:
    with cluster_client("local:2") as found:
        yield found


@pytest.fixture
def client(cluster: Client) -> Client:
    """It, when both are there, also after a test that killed one."""
    cluster.wait_for_workers(2)
    return cluster
