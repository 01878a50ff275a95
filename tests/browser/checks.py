"""Counts what holds and says what does not."""


class Checks:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def that(self, holds, what):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"FAIL {what}")

    def equal(self, got, want, what):
        """What is said of long values is cut: downloads are compared too."""
        self.that(got == want, f"{what}: {shown(got)} instead of {shown(want)}")


def shown(value):
    text = repr(value)
    return text if len(text) <= 2000 else f"{text[:2000]}..."
