"""What hostile programs do in Python. Usage: hostile.py WAY"""

import os
import socket
import sys
import threading


def fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            pass


def thread_bomb():
    event = threading.Event()
    while True:  # until there may be no more, which is an exception
        threading.Thread(target=event.wait, daemon=True).start()


def heap():
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 16) * 16))


def recursion():
    def deeper(n):
        return deeper(n + 1) + 1

    deeper(0)


def deep_recursion():
    sys.setrecursionlimit(10**9)
    threading.stack_size(1 << 30)
    recursion()


def children():
    for _ in range(4):
        if os.fork() == 0:
            while True:
                pass
    os.wait()


def sockets():
    for family, address in ((socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_UNIX, "\0deepoj")):
        try:
            socket.create_connection(address, 2) if family == socket.AF_INET else socket.socket(family).connect(address)
            print("worked")
        except OSError:
            print("failed")
    try:
        socket.getaddrinfo("example.org", 80)
        print("worked")
    except OSError:
        print("failed")


globals()[sys.argv[1]]()
