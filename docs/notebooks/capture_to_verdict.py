# %% [markdown]
# # From a capture to a verdict
#
# A network is built and captured. Does it keep its deadlines, and is it the network that was described? The capture
# here is made by a run of the description, so that this notebook needs no hardware; in its place stands the pcapng
# file of `tcpdump`, a mirror port or a tap (see the guide, `docs/guide/captures.md`).

# %%
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tautwire

folder = tempfile.TemporaryDirectory()
here = Path(folder.name)
network = tautwire.Network(
    "plant",
    run={"duration": "200 ms"},
    vlans={1: {"tagged": "all"}},
    devices={"slow": {"stages": [{"name": "forwarding", "position": "processing", "latency": "30 us"}]}},
)
for name in ("valve", "scanner", "control"):
    network.end_station(name)
network.bridge("switch")
for name in ("valve", "scanner", "control"):
    network.link(name, "switch", rate="100 Mbit/s")
network.stream(
    "pressure",
    "valve",
    "control",
    priority=5,
    payload="100 B",
    traffic=tautwire.Periodic("1 ms", phase="random"),
    deadline="200 us",
)
network.stream("scan", "scanner", "control", priority=3, payload="1400 B", traffic=tautwire.Periodic("720 us"))
_ = (here / "plant.yaml").write_text(network.text())


def tautwire_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, as in a shell."""
    command = [sys.executable, "-m", "tautwire", *arguments]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)


def captured(network: tautwire.Network, name: str) -> str:
    """A capture of a network that is built as it is described, at all of its cables."""
    (here / f"{name}.yaml").write_text(network.text())
    tautwire_command("simulate", f"{name}.yaml", "--trace", "pcapng", "--out", name, "--quiet")
    return f"{name}/frames.pcapng"


capture = captured(network, "built")
print(f"{capture}: {(here / capture).stat().st_size // 1024} KiB")

# %% [markdown]
# ## The capture against the description
#
# Interfaces of the capture have the names of the cables, so no place need be stated. Frames are found again by their
# contents at each place; delays, losses and order follow, next to the bound and to a simulation. The exit code is 0:
# nothing was lost, late or above its bound.

# %%
analysed = tautwire_command("analyse", capture, "--against", "plant.yaml", "--out", "analysed")
print(analysed.stdout)
analysed.returncode

# %% [markdown]
# ## A network that is not the described one
#
# Somebody builds in another switch, which takes 30 us longer. All deadlines are kept, and yet delays are above their
# bounds: what was proven is not this network. The exit code is 1, and `captures.json` says which streams show it.

# %%
other = captured(network.changed({"nodes.switch.device": "slow"}), "rebuilt")
found = tautwire_command("analyse", other, "--against", "plant.yaml", "--out", "found")
rows = json.loads((here / "found" / "captures.json").read_text())["rows"]
for row in rows:
    measured, bound = row["measured_max_ps"] / 1e6, row["bound_ps"] / 1e6
    print(f"{row['stream']}: captured {measured:.1f} us, bound {bound:.1f} us, {row['late']} late, {row['lost']} lost")
above = [row["stream"] for row in rows if row["is_above_bound"]]
above, found.returncode

# %% [markdown]
# ## What was captured becomes what is described
#
# With the switch that is there the bound holds again, and the deadline is proven for it.

# %%
again = network.changed({"nodes.switch.device": "slow"})
_ = (here / "again.yaml").write_text(again.text())
verdict = tautwire.verify(again).verdict
held = tautwire_command("analyse", other, "--against", "again.yaml", "--out", "again")
verdict, held.returncode

# %%
folder.cleanup()
