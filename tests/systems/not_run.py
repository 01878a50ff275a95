"""Which cases do not run on a system, and why: reads not_run.txt, which lists them, and compares it with what happened."""
import pathlib

LIST = pathlib.Path(__file__).resolve().parent / "not_run.txt"


class NotRun:
    """The cases that are listed for a system; none for None, which is this machine."""

    def __init__(self, system):
        self.reasons, self.passed, self.failed, self.left_out = {}, 0, 0, 0
        for line in LIST.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                systems, suite, case, reason = line.split(maxsplit=3)
                if system in systems.split(","):
                    self.reasons[suite, case] = reason

    def judge(self, suite, case, wrong):
        """Counts a case; `wrong` is what went wrong, as lines. A listed case must fail, and any other one pass."""
        listed = (suite, case) in self.reasons
        if listed and wrong:
            self.left_out += 1
        elif listed:
            print(f"FAIL {suite} {case}: it passes; remove it from {LIST.name}")
        elif wrong:
            print(f"FAIL {suite} {case}\n  " + "\n  ".join(wrong), flush=True)
        self.passed += not listed and not wrong
        self.failed += listed != bool(wrong)

    def count(self, skipped=0):
        """The last line."""
        more = (f", {skipped} skipped" if skipped else "") + (f", {self.left_out} do not run here" if self.left_out else "")
        print(f"{self.passed} passed, {self.failed} failed{more}")
