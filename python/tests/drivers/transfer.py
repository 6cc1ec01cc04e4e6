"""One TCP connection that asks for a congestion control by name, and what the kernel says of it after so many bytes.

Each end runs in a namespace of its own: `transfer.py receive ADDRESS PORT` prints a line when it listens, and then how
many bytes came; `transfer.py send ADDRESS PORT CONTROL BYTES` prints control, window, pace and MSS as JSON.
As `default` it asks for none.
"""

import json
import socket
import struct
import sys

CONTROL = socket.TCP_CONGESTION
SND_MSS, SND_CWND, PACING_RATE = 16, 80, 104  # where they stand in struct tcp_info


def receive(address: str, port: int) -> None:
    with socket.create_server((address, port)) as server:
        print("listening", flush=True)
        connection, _ = server.accept()
        with connection:
            print(sum(iter(lambda: len(connection.recv(1 << 16)), 0)))


def send(address: str, port: int, control: str, count: int) -> None:
    with socket.socket() as connection:
        if control != "default":
            connection.setsockopt(socket.IPPROTO_TCP, CONTROL, control.encode())
        connection.connect((address, port))
        connection.sendall(bytes(count))
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        name = connection.getsockopt(socket.IPPROTO_TCP, CONTROL, 16)
        mss, window = (struct.unpack_from("=I", info, at)[0] for at in (SND_MSS, SND_CWND))
        (pace,) = struct.unpack_from("=Q", info, PACING_RATE)
        print(json.dumps({"control": name.rstrip(b"\0").decode(), "window": window, "pace": pace, "mss": mss}))


if __name__ == "__main__":
    role, address, port, *rest = sys.argv[1:]
    if role == "receive":
        receive(address, int(port))
    else:
        send(address, int(port), rest[0], int(rest[1]))
