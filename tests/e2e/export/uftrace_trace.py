"""Write a data folder of uftrace with many processes, without any of nanoscope's code.

usage: uftrace_trace.py FOLDER PROCESSES
Each process but the first is forked by an earlier one, each 64 by the same, and calls main once, for 10 ns. Prints a line for each: pid
and that of its parent.
"""
import os
import struct
import sys

MAIN, FIRST_PID, FORKS = 0x400010, 1000, 64
ENTRY, EXIT, MAGIC = 0, 1, 5 << 3


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    os.mkdir(folder)
    info = b"Ftrace!\0" + struct.pack("<IHBBQQ", 4, 40, 1, 2, 1 << 5, 0)
    write(folder, "info", info.ljust(40, b"\0") + b"exename:/bin/a\nelapsed_time:1 sec\n")
    write(folder, "sid-00aa.map", b"000000400000-000000401000 r-xp 00000000 00:00 0   /bin/a\n")
    write(folder, "a.sym", b"# path name: /bin/a\n0000000000000010 T main\n0000000000000020 ? __sym_end\n")
    tasks = ['SESS timestamp=0.000001000 pid=%d sid=00aa exename="/bin/a"' % FIRST_PID,
             "TASK timestamp=0.000001000 tid=%d pid=%d" % (FIRST_PID, FIRST_PID)]
    print("%d," % FIRST_PID)
    for i in range(count):
        pid, parent, start = FIRST_PID + i, FIRST_PID + i // FORKS, 2000 + i
        write(folder, "%d.dat" % pid, struct.pack("<QQQQ", start, ENTRY | MAGIC | MAIN << 16, start + 10, EXIT | MAGIC | MAIN << 16))
        if i > 0:
            tasks.append("FORK timestamp=0.%09d pid=%d ppid=%d" % (start, pid, parent))
            print("%d,%d" % (pid, parent))
    write(folder, "task.txt", ("\n".join(tasks) + "\n").encode())


main()
