"""The reference docs/python-api.md, made of the docstrings: python tests/python/api_page.py > docs/python-api.md"""
import ast
import importlib
import inspect
import pathlib
import re
import textwrap

import coforest

WIDTH = 120
HEAD = """# coforest in Python: reference

Made from the docstrings by `tests/python/api_page.py`; change those, not this page. [python.md](python.md) explains and shows
how things go together.
"""


def markdown(text):
    """A docstring: double backquotes become single ones, sections lists, and examples fenced blocks."""
    text = re.sub(r"``(.+?)``", r"`\1`", inspect.cleandoc(text), flags=re.DOTALL)
    text = re.sub(r"^(\w+)\n-{4,}$", r"**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(\w+) : ", r"- `\1`: ", text, flags=re.MULTILINE)
    return re.sub(r"^>>>.*?(?=^\s*$|\Z)", lambda found: f"```python\n{found[0].rstrip()}\n```\n", text,
                  flags=re.DOTALL | re.MULTILINE)


def signature(thing):
    """Arguments without types, which the stubs have."""
    if inspect.isclass(thing) and not (inspect.isfunction(thing.__init__) or inspect.isfunction(thing.__new__)):
        return ""  # Python versions differ about exceptions and dicts
    parameters = inspect.signature(thing).parameters.values()
    return str(inspect.Signature([p.replace(annotation=p.empty) for p in parameters if p.name != "self"]))


def members(cls):
    """{name: (title, thing)} of the methods and properties that are the package's own."""
    found = {}
    for name in sorted(n for n in dir(cls) if not n.startswith("_")):
        thing = getattr(cls, name)
        own = thing.fget if isinstance(thing, property) else thing
        if (getattr(own, "__module__", None) or "").startswith("coforest") and callable(own):
            found[own.__qualname__] = (name if isinstance(thing, property) else name + signature(thing), thing)
    return found


def entry(name, thing, known=()):
    call = textwrap.fill(name + signature(thing), WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    lines = [f"### {name}", "", "```text", call, "```", "", markdown(thing.__doc__), ""]
    for qualified, (title, member) in (members(thing) if inspect.isclass(thing) else {}).items():
        if qualified not in known:
            lines += [f"- `{title}`", "", textwrap.indent(markdown(member.__doc__), "  "), ""]
    return lines


def module_entries(title, known):
    """Engines are imported only where they are installed, so their modules are described by their first words."""
    module = importlib.util.find_spec(f"coforest.{title}")
    text = ast.get_docstring(ast.parse(pathlib.Path(module.origin).read_text(encoding="utf-8")))
    lines = [f"## coforest.{title}", "", markdown(text), ""]
    if title in ("dask", "spark", "mpi"):
        return [*lines, "[scale.md](scale.md) has the rest.", ""]
    module = importlib.import_module(f"coforest.{title}")
    for name, thing in sorted(vars(module).items()):
        if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__:
            lines += entry(name, thing, known)
    return lines


def page():
    shared = members(coforest.COForest)
    estimators = [name for name in coforest.__all__ if hasattr(getattr(coforest, name), "fit")]
    lines = [HEAD, "## Estimators", "", "The methods and attributes of `COForest` are those of all others too, as far as a "
             "method of clustering can have them.", ""]
    for name in ["COForest", *(other for other in estimators if other != "COForest")]:
        lines += entry(name, getattr(coforest, name), () if name == "COForest" else shared)
    lines += ["## Functions and other classes", ""]
    for name in coforest.__all__:
        if name not in estimators and callable(getattr(coforest, name)):
            lines += entry(name, getattr(coforest, name))
    for title in ("metrics", "stats", "plots", "datasets", "dask", "spark", "mpi"):
        lines += module_entries(title, shared)
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)).strip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
