"""Each requirement that the core must follow is named by a test of the core."""

from tests.docs.test_docs import cited, requirements


def test_each_requirement_of_the_core_has_a_test_here():
    asked = {name for name, marks in requirements().items() if "core" in marks}
    missing = sorted(asked - cited("tests/core"))
    assert not missing, f"tests/core does not cite {missing}"
