"""The line of ``line.cc`` in SimPy: a process for each port and each talker. Input and output are the same; times are whole ps."""

import json
import sys
import time

import simpy

PS_PER_OCTET = 8_000  # 1 Gbit/s


def main() -> None:
    words = iter(map(int, sys.stdin.read().split()))
    duration, _nodes, links = next(words), next(words), next(words)
    env = simpy.Environment()
    ports = {}
    for _ in range(links):
        a, b = next(words), next(words)
        ports[a, b], ports[b, a] = simpy.Store(env), simpy.Store(env)
    paths, seen, transmissions = [], [], [0]

    def port(queue: simpy.Store):
        while True:
            stream, hop, created, octets = yield queue.get()
            yield env.timeout((octets + 8) * PS_PER_OCTET)
            transmissions[0] += 1
            path = paths[stream]
            if hop + 2 == len(path):
                delay = env.now - created
                found = seen[stream]
                found[0] += 1
                found[1] += delay
                found[2] = max(found[2], delay)
            else:
                ports[path[hop + 1], path[hop + 2]].put((stream, hop + 1, created, octets))
            yield env.timeout(12 * PS_PER_OCTET)

    def talker(stream: int, period: int, offset: int, octets: int):
        yield env.timeout(offset)
        queue = ports[paths[stream][0], paths[stream][1]]
        while True:
            queue.put((stream, 0, env.now, octets))
            yield env.timeout(period)

    for queue in ports.values():
        env.process(port(queue))
    for stream in range(next(words)):
        period, offset, octets, length = (next(words) for _ in range(4))
        paths.append([next(words) for _ in range(length)])
        seen.append([0, 0, 0])
        env.process(talker(stream, period, offset, octets))
    begun = time.process_time()
    env.run(until=duration)
    seconds = time.process_time() - begun
    print(json.dumps({"cpu_s": seconds, "transmissions": transmissions[0], "streams": seen}))


main()
