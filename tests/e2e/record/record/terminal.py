"""terminal.py NANOSCOPE PROGRAM TRACE: Ctrl-C, Ctrl-Z and a lost terminal, as a shell's job."""
import os
import pty
import sys
import time

nanoscope, program, trace = sys.argv[1:]
record = f"'{nanoscope}' record -o '{trace}' '{program}' wait 10"


def start(script):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "-mc", script])
    return terminal


def read_until(terminal, text, seen=b""):
    while text not in seen:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # nobody writes any more
            break
    return seen


terminal = start(f"{record}; echo interrupt $?.")
read_until(terminal, b"ready")
os.write(terminal, b"\x03")
print("interrupt 66" if b"interrupt 66." in read_until(terminal, b".\r\n") else "wrong")

terminal = start(f"{record}; echo stop $?.; fg; echo continue $?.")
read_until(terminal, b"ready")
os.write(terminal, b"\x1a")
print("stop 148" if b"stop 148." in read_until(terminal, b".\r\n") else "wrong")
time.sleep(0.3)
os.write(terminal, b"\x03")
print("continue 66" if b"continue 66." in read_until(terminal, b"continue 66.") else "wrong")

# The inner shell takes the terminal; the recorder's progress line must not wait for it to come back.
inner = f"bash --norc -ic \"'{program}' seconds 4; echo inner.\""
terminal = start(f"stty tostop; '{nanoscope}' record -o '{trace}' {inner}; echo background $?.")
seen = read_until(terminal, b"inner.\r")
end = read_until(terminal, b"background 0.", seen)
print("background 0" if b", 2 s" in seen and b"background 0." in end else "wrong")
