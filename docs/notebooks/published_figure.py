# %% [markdown]
# # Reproduce a published figure
#
# A published evaluation of a switch with asynchronous traffic shaping on an FPGA sends 100 frames of 1522 B back to
# back at 1 Gbit/s through a scheduler with a committed information rate of 100 Mbit/s and a burst size of N frames.
# Its Figure 12 shows the intervals at which they arrive with N = 16: sixteen of 12.336 us, the line rate, and from
# the eighteenth on 121.752 or 121.760 us, the shaper's rate. Its Figure 13 counts the intervals at line rate for
# other N. `papers/ats-fpga-switch` has the whole evaluation, claim by claim; here are these two figures from nothing.

# %%
import numpy as np
import tautwire
from matplotlib import pyplot

FRAME, FRAMES = 1522, 100
# Preamble and gap add 20 octets to a frame on the wire.
WIRE_NS = (FRAME + 20) * 8


def intervals_ns(size: int) -> np.ndarray:
    """Distances of the frames at the receiver with a burst size of so many frames."""
    network = tautwire.Network(
        "burst",
        network_control="none",
        vlans={1: {"tagged": "all"}},
        allow=["port::overload"],
        # The switch is the published one, as data of the workbench; this experiment discards no frame that waits long.
        devices={"switch": {"based_on": "aist-ats-fpga", "max_residence_time": "none"}},
        run={"duration": "20 ms"},
        # The talker stops behind the hundredth frame.
        events=[{"at": f"{FRAMES * WIRE_NS - 1} ns", "stop-stream": "flow"}],
    )
    network.end_station("sender")
    network.end_station("receiver")
    # Its clock runs at 125 MHz.
    network.bridge("switch", device="switch", clock=tautwire.Clock(granularity="8 ns"), ports=["p0", "p1", "p2", "p3"])
    network.link("sender", "switch:p0", rate="1 Gbit/s")
    network.link("receiver", "switch:p1", rate="1 Gbit/s")
    network.stream(
        "flow",
        "sender",
        "receiver",
        priority=3,
        frame=f"{FRAME} B",
        traffic=tautwire.Periodic(f"{WIRE_NS} ns"),
        shaper=tautwire.Shaper("100 Mbit/s", f"{size * FRAME} B"),
        udp=tautwire.Udp("192.168.1.1", "192.168.1.2", 40_000, 5001),
    )
    run = tautwire.simulate(network, frames=["flow"])
    hop, received = (np.array(run.frames.column(name)) for name in ("hop", "received_ps"))
    return np.diff(received[hop == hop.max()]) / 1000


# %% [markdown]
# ## Figure 12

# %%
found = intervals_ns(16)
print(
    f"{(found == 12_336).sum()} intervals of 12.336 us, one of {found[16] / 1000:.3f} us, then {set(found[17:] / 1000)}"
)

# %%
_, axes = pyplot.subplots(layout="constrained")
axes.plot(np.arange(1, FRAMES), found / 1000, ".", label="Tautwire")
axes.plot([1, 16], [12.336] * 2, color="#c0392b", label="published: 12.336 us, 16 times")
axes.plot([18, 99], [121.756] * 2, "--", color="#c0392b", label="published: 121.752 or 121.760 us")
axes.set(xlabel="interval", ylabel="us", title="Figure 12: arrival intervals, burst size of 16 frames")
axes.legend(frameon=False)

# %% [markdown]
# ## Figure 13
#
# By the token bucket, a frame that finds credit for a whole frame goes on at line rate, and while N frames are sent
# the bucket gains a tenth of them. The count is read off the simulation, and the theory is computed next to it.


# %%
def theory(size: int) -> int:
    """Intervals at line rate, by the token bucket."""
    gained = WIRE_NS * 0.1 / 8
    count = 0
    while count < FRAMES - 1 and size * FRAME + (count + 1) * gained >= (count + 2) * FRAME:
        count += 1
    return count


sizes = [1, 2, 4, 8, 16, 32, 48, 64]
counts = {size: int((intervals_ns(size) == 12_336).sum()) for size in sizes}
print(counts)
agrees = counts == {size: theory(size) for size in sizes}
agrees
