"""What a solver prints is not seen, and everything before and after is."""

import subprocess
import sys

SCRIPT = """
import ctypes, threading
from equigraph.rules.quiet import no_stray_output

libc = ctypes.CDLL(None)
print("before")
libc.printf(b"C before\\n")

def stray(first, second):
    with no_stray_output():
        first.set()
        second.wait(5)
        libc.printf(b"stray\\n")

one, other = threading.Event(), threading.Event()
threads = [threading.Thread(target=stray, args=pair) for pair in ((one, other), (other, one))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.printf(b"C after\\n")
libc.fflush(None)
print("after")
"""


def test_only_the_stray_lines_are_gone():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n") == ["before", "C before", "C after", "after", ""]
    assert run.stderr == ""


def test_a_process_without_standard_output():
    script = """
import os
os.close(1)
from equigraph.rules.quiet import no_stray_output
with no_stray_output():
    pass
"""
    run = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, check=True)
    assert run.stderr == ""
