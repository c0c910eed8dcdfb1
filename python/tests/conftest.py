"""Fixtures."""

import pytest
from networks import make_two_hosts

import tautwire


@pytest.fixture
def two_hosts() -> tautwire.Network:
    """Two streams between two end stations, by a bridge."""
    return make_two_hosts()
