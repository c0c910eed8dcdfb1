# %% [markdown]
# # A schedule, from CP-SAT to YANG
#
# A controller sends orders to two motors and asks for their state, over two switches, while files take all that is
# left. Which gates at which ports, and when may each talker send, so that no order ever waits? The solver CP-SAT finds
# offsets, gate lists follow from them (802.1Q scheduled traffic), bounds prove them, a run shows them, and the lists go
# to the bridges as YANG instance data. It needs `pip install 'tautwire[cp-sat,plot]'`.

# %%
import json

import tautwire
from tautwire import plots

network = tautwire.Network("press", network_control="none", vlans={1: {"tagged": "all"}}, run={"duration": "20 ms"})
network.settings["defaults"] = {"rate": "100 Mbit/s", "traffic_class_table": "identity"}
for name in ("controller", "server", "motor-a", "motor-b", "panel"):
    network.end_station(name)
for name in ("left", "right"):
    network.bridge(name)
for station, bridge in (("controller", "left"), ("server", "left"), ("left", "right"), ("motor-a", "right")):
    network.link(station, bridge, length="20 m")
for station in ("motor-b", "panel"):
    network.link(station, "right", length="20 m")
for name, talker, listener, interval in (
    ("order-a", "controller", "motor-a", "500 us"),
    ("order-b", "controller", "motor-b", "1 ms"),
    ("state-a", "motor-a", "controller", "1 ms"),
):
    network.stream(
        name,
        talker,
        listener,
        priority=7,
        payload="100 B",
        traffic=tautwire.Periodic(interval),
        deadline="60 us",
        time_aware={},
    )
network.stream("files", "server", "panel", priority=0, payload="1500 B", traffic=tautwire.ConstantRate("60 Mbit/s"))
network.stream("films", "server", "motor-b", priority=0, payload="1500 B", traffic=tautwire.ConstantRate("20 Mbit/s"))

# %% [markdown]
# ## Without gates
#
# An order may find a frame of the files on the line at both switches.

# %%
plain = tautwire.Network.of_document(network.document())
for stream in plain.streams:
    stream.pop("time_aware", None)
before = tautwire.verify(plain)
{name: before.delay_max_ps(name) / 1e6 for name in ("order-a", "order-b", "state-a")}, before.verdict

# %% [markdown]
# ## Synthesis
#
# CP-SAT is exact: it finds a schedule of all streams, here the one with the least delays, or proves that there is none.
# What comes back is the schedule, proven by bounds and held against a run, and the network with it.

# %%
schedule, scheduled = network.schedule(method="cp-sat", least_delay=True)
assert scheduled is not None
for stream in schedule["streams"]:
    print(f"{stream['name']}: sent at {stream['offset_ps'] / 1e6} us, at most {stream['delay_max_ps'] / 1e6} us")
schedule["verdict"], schedule["run"]["verdict"], len(schedule["ports"])

# %% [markdown]
# The search of `tautwire schedule` needs no solver and takes thousands of streams; of these it finds a schedule, too.

# %%
quick, _ = network.schedule()
{one["name"]: one["delay_max_ps"] / 1e6 for one in quick["streams"]}

# %% [markdown]
# ## What cannot be
#
# How short may the deadlines be? Where no schedule exists, the least set of streams that contradict each other is
# named: with any one of them less there is a schedule.

# %%
least_us, conflict = 0, []
for deadline_us in range(60, 20, -1):
    for name in ("order-a", "order-b", "state-a"):
        network.streams[name].deadline = f"{deadline_us} us"
    tried, _ = network.schedule(method="cp-sat")
    if tried["verdict"] == "impossible":
        conflict = tried["conflict"]
        break
    least_us = deadline_us
least_us, conflict

# %% [markdown]
# ## Proof and run

# %%
after = tautwire.verify(scheduled)
run = tautwire.simulate(scheduled, frames=True)
jitter = {name: int(abs(run.delays(name).variation_ps).max()) for name in ("order-a", "order-b", "state-a")}
after.verdict, jitter

# %%
plots.gantt(run, scheduled, ports=["left.p3", "right.p2", "right.p3"], end_us=1000)

# %% [markdown]
# ## To the bridges
#
# Each bridge gets an instance document of the IEEE 802.1Q YANG modules; what the description says and the document
# does not is listed, never dropped silently.

# %%
exported = tautwire.export(scheduled, "yang")
print(*exported.left_out, sep="\n")
interfaces = json.loads(exported.texts["right.json"])["ietf-interfaces:interfaces"]["interface"]
tables = {
    one["name"]: one["ieee802-dot1q-bridge:bridge-port"]["ieee802-dot1q-sched-bridge:gate-parameter-table"]
    for one in interfaces
}
gated = {
    name: table["admin-control-list"]["gate-control-entry"] for name, table in tables.items() if table["gate-enabled"]
}
print({name: len(entries) for name, entries in gated.items()})
gated
