"""Every snippet of the documentation runs and shows what it says."""
import doctest
import inspect

import api_page
import pytest
import snippets

import coforest


@pytest.mark.parametrize("page", ["docs/python.md", "README.md", "bindings/python/README.md"])
def test_page(root, page, tmp_path, monkeypatch):
    for needed in ("pandas", "polars", "sklearn", "matplotlib", "networkx"):
        pytest.importorskip(needed)
    if not (root / page).exists():
        pytest.skip(f"there is no {page}")
    monkeypatch.chdir(tmp_path)
    found = snippets.blocks(root / page)
    assert found or page == "README.md"
    snippets.run(found, page)


PUBLIC = [name for name in coforest.__all__ if inspect.isclass(getattr(coforest, name)) or inspect.isfunction(getattr(coforest, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    """Everything public has a docstring of its own, and its examples run."""
    thing = getattr(coforest, name)
    assert thing.__doc__ and thing.__doc__.strip()
    if inspect.isclass(thing):
        assert thing.__doc__ != thing.__mro__[1].__doc__
        missing = [m for m, f in inspect.getmembers(thing, inspect.isfunction)
                   if not m.startswith("_") and f.__module__.startswith("coforest") and not inspect.getdoc(f)]
        assert missing == []
    runner = doctest.DocTestRunner(optionflags=snippets.FLAGS)
    for test in doctest.DocTestFinder(recurse=False).find(thing, name):
        runner.run(test)
    assert runner.failures == 0
    if hasattr(thing, "fit"):
        assert runner.tries > 0, "an estimator has an example"


def test_the_reference_is_made_of_these_docstrings(root):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    if not (root / "docs/python-api.md").exists():
        pytest.skip("there is no docs/python-api.md")
    assert (root / "docs/python-api.md").read_text(encoding="utf-8") == api_page.page(), api_page.__doc__
