#!/usr/bin/env python3
"""interrupt.py SECONDS SIGNAL COMMAND...: starts the command, sends it the signal, prints its exit code."""
import signal
import subprocess
import sys
import time

wait_s, name, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
stdin = subprocess.PIPE if "-" in command else subprocess.DEVNULL  # a table that never comes
process = subprocess.Popen(command, stdin=stdin)
time.sleep(wait_s)
process.send_signal(getattr(signal, name))
print("exit", process.wait(timeout=60), flush=True)
