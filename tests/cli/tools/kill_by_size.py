"""Runs a command again and again, and kills it when a file that it writes has grown to a random size.

    kill_by_size.py FILE FULL-SIZE TIMES SEED COMMAND...

Prints how often it was killed, if that was at least half of the times: the command may be done before it is noticed.
"""
import os
import random
import subprocess
import sys


def size(path):
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


path, full, times, seed, *command = sys.argv[1:]
chance = random.Random(int(seed))
n_killed = 0
for target in sorted(chance.randrange(int(full)) for _ in range(int(times))):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and size(path) <= target:
        pass
    process.kill()
    n_killed += process.wait() != 0
print("killed often enough" if 2 * n_killed >= int(times) else f"killed {n_killed} times only")
