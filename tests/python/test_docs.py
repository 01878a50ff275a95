"""Every snippet of the documentation runs and shows what it says."""
import pytest
import snippets


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_page(root, page, tmp_path, monkeypatch):
    for needed in ("pandas", "polars", "sklearn", "matplotlib", "networkx"):
        pytest.importorskip(needed)
    if not (root / page).exists():
        pytest.skip(f"there is no {page}")
    monkeypatch.chdir(tmp_path)
    found = snippets.blocks(root / page)
    assert found or page == "README.md"
    snippets.run(found, page)
