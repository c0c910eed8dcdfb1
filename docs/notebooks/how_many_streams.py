# %% [markdown]
# # How many streams until a deadline breaks?
#
# Cameras share the line to a computer. Each sends a burst of four frames every 5 ms, at any phase, and each has a
# deadline of 2 ms. How many may there be? A study asks for every number of cameras: once for bounds, and once for
# runs with several seeds.

# %%
import tempfile

import tautwire
from tautwire import plots, statistics


def cameras(count: int) -> tautwire.Network:
    """So many cameras at one bridge."""
    network = tautwire.Network("cameras", run={"duration": "100 ms"})
    network.bridge("bridge")
    network.end_station("computer")
    network.link("bridge", "computer", rate="100 Mbit/s")
    for number in range(count):
        network.end_station(f"camera{number}")
        network.link(f"camera{number}", "bridge", rate="1 Gbit/s")
        network.stream(
            f"video{number}",
            f"camera{number}",
            "computer",
            frame="1522 B",
            traffic=tautwire.Periodic("5 ms", burst=4, phase="random"),
            deadline="2 ms",
        )
    return network


counts = list(range(1, 9))
folder = tempfile.TemporaryDirectory()

# %% [markdown]
# ## Proven
#
# A study writes its rows to a folder, so a long one may be stopped and goes on. `executor="serial"` runs in this
# process; by default it takes all processors.

# %%
proven = tautwire.study(
    cameras, tautwire.grid(count=counts), run="bounds", to=f"{folder.name}/bounds", executor="serial", progress=False
)
most_proven = max(row["count"] for row in proven.rows() if row["verdict"] == "proven")
print(f"up to {most_proven} cameras are proven")

# %% [markdown]
# ## Observed
#
# The phases of the cameras are drawn by the seed. A run sees some of them; how late a frame may be shows in the
# spread over seeds, and even the greatest stays below the bound.

# %%
seen = tautwire.study(
    cameras,
    tautwire.grid(count=counts),
    seeds=range(1, 7),
    run="simulate",
    to=f"{folder.name}/runs",
    executor="serial",
    progress=False,
)
rows = statistics.summarise(seen, "delay_max_ps", "count")
for row in rows:
    print(
        f"{row['count']} cameras: at most {row['greatest'] / 1e6:.0f} us, mean of the maxima {row['mean'] / 1e6:.0f} us"
    )

# %%
axes = plots.load_sweep(proven, "count", "bound_delay_max_ps")
plots.load_sweep(seen, "count", "delay_max_ps", band="range", ax=axes)
axes.axhline(2000, color="#c0392b", ls="--")
axes.set(xlabel="cameras", ylabel="bound, and greatest delay over six seeds (us)")

# %% [markdown]
# ## Is the proof pessimistic?
#
# One camera more than is proven: the adversary searches for phases with which a frame is late. If it finds some, no
# better proof is possible.

# %%
worst = tautwire.verify(cameras(most_proven + 1), adversary=True)
ratio = worst.bound_to_adversary("video0")
print(f"{most_proven + 1} cameras: {worst.verdict}; bound over the worst run found: {ratio:.3f}")
breaks = max(worst.listeners.column("adversary_max_ps")) > 2_000_000_000
breaks

# %%
folder.cleanup()
