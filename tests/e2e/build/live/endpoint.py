#!/usr/bin/env python3
"""A client of a program's endpoint (src/shared/abi/control.h), good and bad.

usage: endpoint.py SCENARIO PROGRAM...    PROGRAM is built from listens.c

Ends with 0 if the scenario went as it should, else with a message on standard error.
"""
import array
import mmap
import os
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time

MAGIC, HELLO, MEMORY, JOIN, APPLY, OFF, DROP = 0x4C54434E, 0, 1, 2, 3, 4, 5
EINVAL, EBADF, EBUSY, ENOTCONN = 22, 9, 16, 107
DIRECTORY = "/tmp/nanoscope-%d" % os.getuid()
PAGE, CHUNK, CHUNKS = 4096, 8192, 64
TOTAL = 128 * PAGE + CHUNKS * CHUNK


def must(condition, what):
    if not condition:
        sys.exit("endpoint.py: %s: %s" % (sys.argv[1], what))


class Program:
    """The program, started so that it listens; `expected` is what its first descriptor should be."""

    def __init__(self, mode="work", environment=None, calls=1000):
        self.calls = calls
        environment = dict(os.environ, NANOSCOPE_LISTEN="1") if environment is None else environment
        self.process = subprocess.Popen(sys.argv[2:] + [mode], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        self.pid = self.process.pid
        self.descriptor = int(self.process.stdout.readline())
        must(self.process.stdout.readline() == "ready\n", "the program did not begin")
        self.path = "%s/%d.sock" % (DIRECTORY, self.pid)

    def finish(self):
        right = 0
        for _ in range(self.calls):
            right = (right * 3 + 1) % 2**64
        out, _ = self.process.communicate("%d\n" % self.calls, timeout=20)
        must(out == "sum %d\n" % right, "the program printed %r" % out)
        must(self.process.returncode == 0, "the program ended with %d" % self.process.returncode)
        must(self.descriptor == 3, "the program's first descriptor was %d" % self.descriptor)

    def connect(self):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for _ in range(2000):
            client.setblocking(False)
            try:
                client.connect(self.path)
                break
            except BlockingIOError:  # others are before us
                time.sleep(0.01)
        client.settimeout(20)
        return client

    def send(self, message, descriptors=()):
        with self.connect() as client:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            try:
                client.sendmsg([message], rights if descriptors else [])
                return client.recv(100)
            except (ConnectionResetError, BrokenPipeError):
                return b""

    def call(self, verb, argument=0, descriptors=()):
        reply = self.send(struct.pack("<IIQ", MAGIC, verb, argument), descriptors)
        must(len(reply) == 16, "verb %d: a reply of %d bytes" % (verb, len(reply)))
        magic, _, result = struct.unpack("<IIq", reply)
        must(magic == MAGIC, "verb %d: a reply that is none" % verb)
        return result

    def threads(self):
        names = []
        for task in os.listdir("/proc/%d/task" % self.pid):
            with open("/proc/%d/task/%s/comm" % (self.pid, task)) as comm:
                names.append(comm.read().strip())
        return names


def session():
    """A memory file with an empty session, and its mapping."""
    exit_bit = 47 if os.uname().machine == "x86_64" else 0
    header = struct.pack("<QIIQBB2xIIIQ6Q6I4I2IQQII", 0x314556494C43534E, 2, PAGE, TOTAL, 16, exit_bit,
                         0, os.getpid(), 1, 0,
                         1 * PAGE, 24 * PAGE, 8 * PAGE, 16 * PAGE, 96 * PAGE, 128 * PAGE,
                         64, 64, 64, CHUNKS, CHUNK, PAGE,
                         CHUNKS, 0, 0, 0, 0, 0, 0, 0, CHUNKS, CHUNKS)
    fd = os.memfd_create("session")
    os.ftruncate(fd, TOTAL)
    os.pwrite(fd, header, 0)
    return fd, mmap.mmap(fd, TOTAL)


def count(memory):
    """Recorded events and lost ones."""
    events = lost = 0
    for at in range(CHUNKS):
        if struct.unpack_from("<Q", memory, 16 * PAGE + 40 * at)[0] != 0:
            start = 128 * PAGE + at * CHUNK
            for slot in range(start, start + CHUNK, 16):
                events += struct.unpack_from("<Q", memory, slot)[0] & (1 << 48) - 1 >= 0x10000
    for at in range(64):
        lost += struct.unpack_from("<Q", memory, 8 * PAGE + 64 * at + 24)[0]
    return events, lost


def scenario_record():
    program = Program()
    must(stat.S_IMODE(os.stat(program.path).st_mode) == 0o600, "the socket is open to others")
    must(stat.S_IMODE(os.stat(DIRECTORY).st_mode) == 0o700, "the directory is open to others")
    must(sorted(program.threads()) == ["listens", "nanoscope"], "threads %s" % program.threads())
    must(program.call(HELLO) == 1, "hello")
    must(program.call(APPLY) == -ENOTCONN, "apply without a session")
    must(program.call(OFF) == 0, "off without a session")
    fd, memory = session()
    must(program.call(JOIN, descriptors=[fd]) == 0, "join")
    must(program.call(JOIN, descriptors=[fd]) == -EBUSY, "a second session")
    must(program.call(APPLY) == 0, "apply")
    program.finish()
    events, lost = count(memory)
    must(events + lost == 2 * program.calls, "%d events, %d lost" % (events, lost))
    must(not os.path.exists(program.path), "the socket is still there")


def scenario_malformed():
    program = Program()
    request = struct.pack("<IIQ", MAGIC, HELLO, 0)
    for message in (b"x", request[:-1], request + b"x", request * 100, bytes(16), bytes(65536),
                    struct.pack("<IIQ", MAGIC + 1, HELLO, 0)):
        must(program.send(message) == b"", "%d bytes got a reply" % len(message))
    must(program.call(12345) == -EINVAL, "an unknown verb")
    must(program.call(MEMORY) == -EINVAL and program.call(DROP, 3) == -EINVAL, "memory, drop")
    must(program.call(JOIN, 0) == -EBADF, "join without a descriptor")
    empty, null, pipe = os.memfd_create("empty"), os.open("/dev/null", os.O_RDWR), os.pipe()
    fd, memory = session()
    memory[0] = 0
    for bad in (empty, null, pipe[0], fd, os.open("/", os.O_PATH)):
        must(program.call(JOIN, descriptors=[bad]) < 0, "joined descriptor %d" % bad)
    must(program.send(request, [null, null]) == b"", "two descriptors")
    must(program.send(request, [null] * 200) == b"", "200 descriptors")
    must(program.call(HELLO, descriptors=[null]) == 1, "a descriptor that nobody wants")
    until = time.monotonic() + 20  # what came last is closed after the reply
    while True:
        open_now = sorted(int(n) for n in os.listdir("/proc/%d/fd" % program.pid))
        if len(open_now) <= 5 or time.monotonic() > until:
            break
        time.sleep(0.01)
    must(open_now[:4] == [0, 1, 2, 3] and len(open_now) == 5 and open_now[4] >= 500,
         "descriptors %s" % open_now)
    program.finish()


def scenario_crowd():
    program = Program()
    clients = []
    for _ in range(1000):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.setblocking(False)
        try:
            client.connect(program.path)
        except BlockingIOError:
            pass
        clients.append(client)
    began = time.monotonic()
    program.finish()
    must(time.monotonic() - began < 5, "the program waited for its clients")
    program = Program()
    slow = program.connect()
    must(program.call(HELLO) == 1, "a client behind a slow one")
    slow.close()
    for _ in range(1000):
        program.connect().close()
    must(program.call(HELLO) == 1, "a client behind a thousand")
    program.finish()


def scenario_end():
    """main()'s thread ends, another goes on, and what it has printed is there."""
    program = Program("leave")
    time.sleep(1.5)
    must(program.call(HELLO) == 1, "hello")
    program.finish()
    must(not os.path.exists(program.path), "the socket is still there")


def scenario_setuid():
    program = Program("setuid")
    must(program.call(HELLO) == 1, "hello")
    program.finish()


def scenario_close():
    """The program closes what it does not know: the endpoint is gone, the program is not."""
    program = Program("close")
    time.sleep(1.2)
    must(program.threads() == ["listens"], "threads %s" % program.threads())
    program.finish()


def scenario_fork():
    """A child has no endpoint, and leaves its parent's alone."""
    program = Program("fork")
    must(program.call(HELLO) == 1, "hello")
    program.finish()


def ps():
    subprocess.run([os.environ["NANOSCOPE"], "ps"], stdout=subprocess.DEVNULL, check=True)


def scenario_kill():
    program = Program()
    program.process.kill()
    program.process.wait()
    must(os.path.exists(program.path), "who removed the socket?")
    other = Program()
    must(ps() is None and os.path.exists(program.path), "a young socket was removed")
    for path in (program.path, other.path):
        os.utime(path, (0, 0))
    ps()
    must(not os.path.exists(program.path), "a killed program's socket is still there")
    must(other.call(HELLO) == 1, "a living program's socket is gone")
    other.finish()


def scenario_silent():
    """Without the variable there is nothing."""
    for value in (None, "0", "", "11"):
        environment = {k: v for k, v in os.environ.items() if k != "NANOSCOPE_LISTEN"}
        if value is not None:
            environment["NANOSCOPE_LISTEN"] = value
        program = Program(environment=environment)
        must(program.threads() == ["listens"], "threads %s" % program.threads())
        must(not os.path.exists(program.path), "a socket")
        program.finish()


def scenario_directory():
    """A directory that others may enter, or a link in its place, is not used. Root becomes a user
    who has no such directory."""
    global DIRECTORY
    DIRECTORY = "/tmp/nanoscope-54321"
    for path in (DIRECTORY, DIRECTORY + ".other"):  # of a test that was cut short
        if os.path.islink(path):
            os.unlink(path)
        shutil.rmtree(path, ignore_errors=True)
    os.setgid(54321)
    os.setuid(54321)
    must(not os.path.lexists(DIRECTORY), "%s exists" % DIRECTORY)
    os.mkdir(DIRECTORY, 0o755)
    program = Program()
    must(os.listdir(DIRECTORY) == [], "a socket where others see it")
    program.finish()
    os.rmdir(DIRECTORY)
    os.mkdir(DIRECTORY + ".other", 0o700)
    os.symlink(DIRECTORY + ".other", DIRECTORY)
    program = Program()
    must(os.listdir(DIRECTORY + ".other") == [], "a socket behind a link")
    program.finish()
    os.unlink(DIRECTORY)
    os.rmdir(DIRECTORY + ".other")
    old = os.umask(0)
    program = Program()
    os.umask(old)
    must(stat.S_IMODE(os.stat(program.path).st_mode) == 0o600, "the umask shows")
    must(stat.S_IMODE(os.stat(DIRECTORY).st_mode) == 0o700, "the umask shows")
    program.finish()
    os.rmdir(DIRECTORY)


def scenario_strangers():
    """Of root's endpoint, for others: even if they come as far as the socket."""
    program = Program()
    os.chmod(program.path, 0o666)
    mode = stat.S_IMODE(os.stat(DIRECTORY).st_mode)
    os.chmod(DIRECTORY, 0o755)
    child = os.fork()
    if child == 0:
        os.setuid(54322)
        os._exit(0 if program.send(struct.pack("<IIQ", MAGIC, HELLO, 0)) == b"" else 1)
    _, status = os.waitpid(child, 0)
    os.chmod(DIRECTORY, mode)
    must(status == 0, "a stranger got a reply")
    must(program.call(HELLO) == 1, "hello")
    program.finish()


def scenario_name():
    """A program that is waited for by name is recorded from its start; whatever else lies in the
    place of the link is left alone."""
    waiting = "%s/start" % DIRECTORY
    name = "%s/%s" % (waiting, os.path.basename(sys.argv[2]))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NANOSCOPE_")}
    os.makedirs(waiting, mode=0o700, exist_ok=True)
    if os.path.lexists(name):
        os.unlink(name)
    try:
        for target in ("%(good)s", "/proc/self/maps", "/dev/null", "/proc/1/fd/99999:1",
                       "/proc/x/fd/1:1", "/nowhere", "%(path)s", "%(path)s:", "%(path)s:1",
                       "%(good)s0", "%(good)s:1", "%(path)s/..:1", "x" * 200):
            fd, memory = session()
            path = "/proc/%d/fd/%d" % (os.getpid(), fd)
            good = "%s:%d" % (path, os.fstat(fd).st_ino)
            os.symlink(target % {"path": path, "good": good}, name)
            program = Program(environment=environment)
            program.finish()
            events, lost = count(memory)
            wanted = 2 * program.calls if target == "%(good)s" else 0
            must(events + lost == wanted, "%s: %d events" % (target, events + lost))
            os.unlink(name)
        if os.getuid() == 0:  # somebody else's link to a good session
            fd, memory = session()
            os.symlink("/proc/%d/fd/%d:%d" % (os.getpid(), fd, os.fstat(fd).st_ino), name)
            os.lchown(name, 54322, 54322)
            program = Program(environment=environment)
            program.finish()
            must(count(memory) == (0, 0), "followed a stranger's link")
    finally:
        if os.path.lexists(name):
            os.unlink(name)


if __name__ == "__main__":
    globals()["scenario_" + sys.argv[1]]()
