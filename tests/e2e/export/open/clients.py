"""Clients that a server has to live with: usage clients.py KIND ADDRESS:PORT COOKIE. Prints what came of it."""
import resource
import socket
import sys
import time

kind, server, cookie = sys.argv[1:]
address, port = server.split(":")
place = (address, int(port))


def connect():
    return socket.create_connection(place, timeout=10)


def ask(head=""):
    """The page's own request; returns its status and how long it took."""
    begun = time.monotonic()
    s = connect()
    s.sendall(
        f"GET /api/trace HTTP/1.1\r\nHost: {server}\r\nCookie: {cookie}\r\n{head}"
        "Connection: close\r\n\r\n".encode()
    )
    text = b""
    while piece := s.recv(65536):
        text += piece
    return text[9:12].decode(), time.monotonic() - begun


def status_of(text):
    """The status that some bytes get; 'closed' if none."""
    s = connect()
    try:
        s.sendall(text)
        return s.recv(65536)[9:12].decode() or "closed"
    except ConnectionError:
        return "closed"


def thousands():
    """Ask while 3000 connections are open that say nothing, and keep coming."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    crowd, worst, answers = [], 0.0, set()
    for i in range(3000):
        try:
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(place)
            crowd.append(s)
        except OSError:
            break
        if i % 300 == 299:
            status, seconds = ask()
            answers.add(status)
            worst = max(worst, seconds)
    print(len(crowd), *answers, "soon" if worst < 3 else f"late: {worst:.1f} s")


def slow():
    """400 clients that say a byte now and then: the page is answered, and they are sent away."""
    crowd = [connect() for _ in range(400)]
    answers, left, begun = set(), set(crowd), time.monotonic()
    while left and time.monotonic() - begun < 12:
        for s in list(left):
            try:
                s.setblocking(False)
                s.send(b"G")
                if s.recv(10) == b"":
                    left.discard(s)
            except BlockingIOError:
                pass
            except OSError:
                left.discard(s)
        answers.add(ask()[0])
        time.sleep(0.3)
    print(*answers, len(left), "left")


def odd():
    """Requests that no browser sends."""
    host = f"Host: {server}\r\n"
    for name, text in {
        "no host": "GET / HTTP/1.1\r\n\r\n",
        "no host, data": f"GET /api/trace HTTP/1.1\r\nCookie: {cookie}\r\n\r\n",
        "no host, login": "POST /login HTTP/1.1\r\nContent-Length: 1\r\n\r\n0",
        "a blank in its name": f"GET / HTTP/1.1\r\nHost : {server}\r\n\r\n",
        "two hosts": f"GET / HTTP/1.1\r\n{host}Host: evil\r\n\r\n",
        "two cookies": f"GET /api/trace HTTP/1.1\r\n{host}Cookie: a=b\r\nCookie: {cookie}\r\n\r\n",
        "absolute": f"GET http://{server}/api/trace HTTP/1.1\r\n{host}Cookie: {cookie}\r\n\r\n",
        "nonsense": "\x00\x01\x02\r\n\r\n",
        "long head": f"GET / HTTP/1.1\r\n{host}X: {'x' * 100000}\r\n\r\n",
        "long token": f"POST /login HTTP/1.1\r\n{host}Content-Length: 100000\r\n\r\n{'0' * 100000}",
    }.items():
        print(f"{name}: {status_of(text.encode('latin1'))}")


def gone():
    """Ask and go away, many times; then ask and stay."""
    for _ in range(300):
        s = connect()
        s.sendall(
            f"GET /api/tiles?zoom=40&first=0&count=1 HTTP/1.1\r\nHost: {server}\r\n"
            f"Cookie: {cookie}\r\n\r\n".encode()
        )
        s.close()
    print(ask()[0])


{"thousands": thousands, "slow": slow, "odd": odd, "gone": gone}[kind]()
