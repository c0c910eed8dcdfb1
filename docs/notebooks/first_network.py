# %% [markdown]
# # A first network
#
# A sensor and a camera send to a controller over one bridge. Is every frame in time, whatever the phases of the two
# are? This notebook describes the network, finds a fault in it, proves a bound, runs it, and shows what the bound is
# made of.
#
# Cells begin with `# %%`: open this file in VS Code, Spyder, or in Jupyter with jupytext. The tests run it.

# %%
import tautwire
from tautwire import plots

network = tautwire.Network("cell", run={"duration": "200 ms"})
for name in ("sensor", "camera", "controller"):
    network.end_station(name)
network.bridge("bridge")
for name, rate in (("sensor", "100 Mbit/s"), ("camera", "1 Gbit/s"), ("controller", "100 Mbit/s")):
    network.link(name, "bridge", rate=rate, length="10 m")
network.stream(
    "samples",
    "sensor",
    "controller",
    payload="100 B",
    traffic=tautwire.Periodic("1 ms", phase="random"),
    deadline="200 us",
)
network.stream(
    "picture",
    "camera",
    "controller",
    payload="1500 B",
    traffic=tautwire.Periodic("2 ms", burst=4, phase="random"),
    deadline="1 ms",
)
network

# %% [markdown]
# ## A fault has a place and a remedy
#
# Every quantity has a unit. `check` gives all faults of a description at once, each with the line that stated it: of
# this notebook, or of the file that a network was read from.

# %%
broken = tautwire.Network.of_document(network.document())
broken.streams["samples"].payload = "100"
faults = tautwire.check(broken)
print(*faults, sep="\n")

# %% [markdown]
# ## Bounds, a run, verdicts
#
# `verify` proves a bound for each stream, simulates the network frame by frame, and holds both against the deadline.

# %%
result = tautwire.verify(network)
result

# %% [markdown]
# Samples are not proven: a burst of four frames, which comes faster than it leaves, may be before one of them. The
# explanation of the bound says so, and the figure shows at which hop. A run sees it only if phases meet.

# %%
print(result.explain("samples"))
plots.hops(result, "samples")

# %% [markdown]
# ## A higher priority
#
# Samples get a priority above the picture. They then wait for one frame of the camera at most, the one on the line.

# %%
better = network.changed({"streams.samples.priority": 5})
proven = tautwire.verify(better)
plots.boxes(proven)
proven

# %% [markdown]
# What did the change do? `diff` compares descriptions, verdicts, bounds and delays.

# %%
tautwire.diff(result, proven)
