#!/usr/bin/env python3
"""on_terminal.py WIDTH COMMAND...: runs the command on a terminal of its own and prints what came, escapes spelled out
(ESC, CR), so that colour and the progress line can be looked for with grep."""
import fcntl
import os
import pty
import struct
import sys
import termios

width, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
seen = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    seen += piece
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = seen.decode("utf-8", "replace").replace("\r\n", "\n").replace("\033", "ESC").replace("\r", "CR")
sys.stdout.write(text)
sys.exit(code)
