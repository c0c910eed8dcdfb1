# %% [markdown]
# # Which shaper for my camera?
#
# A camera sends a picture as a burst. What should be below it in priority and still has a deadline, here a report of
# a gauge, waits for the whole burst at each bridge. Three ways to treat the class of the camera, on the same network:
# strict priority, the credit-based shaper of AVB, and asynchronous traffic shaping (ATS).

# %%
from typing import Any

import tautwire
from tautwire import plots, statistics

CLASSES: dict[str, dict[str, Any]] = {
    "strict": {},
    "credit": {5: {"transmission_selection": "credit-based", "idle_slope": "50 Mbit/s"}},
    "ats": {5: {"transmission_selection": "ats"}},
}
BURST = 8


def line(shaper: str) -> tautwire.Network:
    """A camera and a gauge, two bridges, a computer; all else is a file that never ends."""
    network = tautwire.Network("line", run={"duration": "500 ms"}, vlans={1: {"tagged": "all"}})
    for name in ("camera", "gauge", "archive", "computer"):
        network.end_station(name)
    for name in ("near", "far"):
        network.bridge(name, classes=CLASSES[shaper], traffic_class_table="identity")
    for name in ("camera", "gauge", "archive"):
        network.link(name, "near", rate="1 Gbit/s")
    network.link("near", "far", rate="100 Mbit/s")
    network.link("far", "computer", rate="100 Mbit/s")
    limits = {}
    if shaper == "ats":
        limits = {"shaper": tautwire.Shaper("50 Mbit/s", f"{BURST * 1522} B")}
    network.stream(
        "picture",
        "camera",
        "computer",
        priority=5,
        frame="1522 B",
        traffic=tautwire.Periodic("5 ms", burst=BURST, phase="random"),
        deadline="5 ms",
        **limits,
    )
    network.stream(
        "report",
        "gauge",
        "computer",
        priority=3,
        frame="200 B",
        traffic=tautwire.Periodic("10 ms", phase="random"),
        deadline="1 ms",
    )
    network.stream("log", "archive", "computer", priority=0, frame="1522 B", traffic=tautwire.ConstantRate("40 Mbit/s"))
    return network


results = {shaper: tautwire.verify(line(shaper)) for shaper in CLASSES}
{shaper: result.verdict for shaper, result in results.items()}

# %% [markdown]
# ## Bounds
#
# The credit-based shaper spreads the burst: the report waits for less, and the picture for more. ATS with a burst
# size of the whole picture passes it as it comes, so the report is no better off than with strict priority; what ATS
# is for is to hold back a camera that sends more than it stated.

# %%
bounds_us = {
    shaper: {name: result.delay_max_ps(name) / 1e6 for name in ("picture", "report")}
    for shaper, result in results.items()
}
bounds_us

# %% [markdown]
# ## What runs show
#
# The tail of the report's delay in a run of half a second, with the deadline. Frames of a run are correlated; the
# interval of the mean is by batch means.

# %%
plots.ecdf({shaper: result.distribution("report") for shaper, result in results.items()}, lines={"deadline": 1e9})

# %%
kept = tautwire.simulate(line("strict"), frames=["picture"])
mean = statistics.confidence(kept.delays("picture").delay_ps / 1e6)
print(f"mean delay of the picture's frames: {mean} us")
statistics.tightness(results["credit"])[0]

# %% [markdown]
# ## The answer
#
# The combinations that prove every deadline.

# %%
fits = [shaper for shaper, result in results.items() if result.holds]
fits
