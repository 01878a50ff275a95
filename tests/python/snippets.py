"""The Python of a Markdown page: ```python blocks with >>> are compared with the output they show, others just run."""
import doctest
import re

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(path):
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(found, name):
    """Runs blocks one after the other in one namespace; raises where one fails or shows something else."""
    names = {"__name__": "__main__"}
    for number, block in enumerate(found, 1):
        where = f"{name}, block {number}"
        if ">>>" not in block:
            exec(compile(block, where, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, where, name, 0)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        problems = []
        runner.run(test, out=problems.append, clear_globs=False)
        names.update(test.globs)
        if runner.summarize(verbose=False).failed:
            raise AssertionError("".join(problems))
