"""Two network namespaces whose link delays everything: `delayed_link.py <name> <milliseconds>`, by root.

Makes the nodes <name>-1 and <name>-2 with the addresses 10.77.0.1 and 10.77.0.2, prints "ready", and passes their frames on until it is
ended. For kernels without netem. `test/cluster/network.sh down <name>` removes the nodes.
"""

import collections
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

SET_INTERFACE = 0x400454CA
TAP, NO_PACKET_INFORMATION = 0x0002, 0x1000
FRAME_BYTES = 2048


def make_node(name, node):
    """Returns the descriptor from which the frames of a node are read, and to which those for it are written."""
    interface = f"delay{node}"
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, SET_INTERFACE, struct.pack("16sH22x", interface.encode(), TAP | NO_PACKET_INFORMATION))
    namespace = f"{name}-{node}"
    inside = ["ip", "-n", namespace]
    for command in [
        ["ip", "netns", "add", namespace],
        ["ip", "link", "set", interface, "netns", namespace],
        [*inside, "link", "set", interface, "name", "eth0"],
        [*inside, "address", "add", f"10.77.0.{node}/24", "dev", "eth0"],
        [*inside, "link", "set", "lo", "up"],
        [*inside, "link", "set", "eth0", "up"],
    ]:
        subprocess.run(command, check=True)
    return end


def pass_on(ends, delay_s):
    others = dict(zip(ends, reversed(ends)))
    # In the order of their due times, because the delay is constant.
    waiting = collections.deque()
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], timeout)[0]:
            waiting.append((time.monotonic() + delay_s, others[end], os.read(end, FRAME_BYTES)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, frame = waiting.popleft()
            os.write(end, frame)


def main(name, milliseconds):
    ends = [make_node(name, node) for node in (1, 2)]
    print("ready", flush=True)
    pass_on(ends, milliseconds / 1000)


main(sys.argv[1], float(sys.argv[2]))
