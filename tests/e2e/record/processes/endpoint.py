"""An endpoint as src/shared/abi/control.h describes it, for tests: endpoint.py MODE"""
import array, os, socket, struct, sys, time

mode = sys.argv[1]
directory = "/tmp/nanoscope-%d" % os.geteuid()
os.makedirs(directory, mode=0o700, exist_ok=True)
path = "%s/%d.sock" % (directory, os.getpid())
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(path)
os.chmod(path, 0o600)
server.listen(1)
print("ready", flush=True)
MAGIC = 0x4C54434E
joined = False
while True:
    client, _ = server.accept()
    data, rights, _, _ = client.recvmsg(64, socket.CMSG_SPACE(4))
    if len(data) != 16:
        continue  # a connection and nothing else, as `nanoscope ps` makes it
    magic, verb, argument = struct.unpack("<IIQ", data)
    result = 0
    if verb == 0:
        result = 9 if mode == "other-version" else 1
    elif verb == 2:
        fds = array.array("i")
        fds.frombytes(rights[0][2])
        result = -16 if joined else 0 if os.fstat(fds[0]).st_size == 4096 else -22
        joined = True
        os.close(fds[0])
    reply = struct.pack("<IIq", MAGIC, 0, result)
    if mode == "silent":
        time.sleep(3)
    elif mode == "short":
        client.send(reply[:8])
    elif mode == "magic":
        client.send(b"x" * 16)
    elif mode != "closes":
        client.send(reply)
    client.close()
