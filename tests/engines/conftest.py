"""One session of Spark for all tests of a process that want it."""

import pytest

from . import _spark


@pytest.fixture(scope="session")
def session():
    from tacit.engines.spark import session as spark_session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_SUBMIT_ARGS", _spark.arguments(_spark.FAST))
        return spark_session.opened("local[2]")
