"""What the tests of all studies share."""

import pytest
from tautwire.claims import Study


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study in whose folder the test stands."""
    return Study(request.path.parent, tmp_path_factory.mktemp("out"))
