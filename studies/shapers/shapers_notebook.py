# %% [markdown]
# # Which shaper for my traffic?
#
# The networks and mechanisms are those of the page `docs/guide/which-shaper.md`. Run this file as a script, or cell by
# cell in an editor that knows `# %%` (VS Code, Spyder, Jupyter by jupytext).

# %%
import shapers_mechanisms as mechanisms
import tautwire
from shapers_fields import FIELDS
from shapers_study import run

# %% [markdown]
# ## One network, one mechanism
#
# A factory line of four bridges: orders and states of drives, two cameras, alarms, and files in the rest of the lines.
# First with strict priority.

# %%
factory = mechanisms.build(FIELDS["factory"], "strict")
result = tautwire.verify(factory, duration="50 ms")
for name in ("order-c4", "image-c4", "alarms"):
    observed = result.stream(name)["listeners"][0]["observed"]["delay_max_ps"]
    print(f"{name}: observed {observed / 1e6:.1f} us, bound {result.delay_max_ps(name) / 1e6:.1f} us")

# %% [markdown]
# ## What the alarms wait for
#
# Both images go before an alarm at every bridge. The credit-based shaper spreads them, so an alarm waits for a frame of
# theirs, not for a burst.

# %%
strict = tautwire.bounds(factory)
credit = tautwire.bounds(mechanisms.build(FIELDS["factory"], "credit"))
print(strict.explain("alarms"))
print({name: [bounds.delay_max_ps(name) / 1e6 for bounds in (strict, credit)] for name in ("alarms", "image-c4")})

# %% [markdown]
# ## What a schedule gives
#
# Gates keep the way of the orders free. `schedule` finds their offsets and the lists; the jitter of the orders is
# the gap between two frames.

# %%
rows, cost = run("factory", "gates", seeds=(1,), duration="50 ms")
for row in rows:
    print(f"{row.role}: bound {row.bound_us} us, jitter {row.jitter_bound_us} us, observed {row.observed_us} us")
print(f"files: {cost.bulk_mbps} Mbit/s")

# %% [markdown]
# ## What fits my traffic?
#
# The combinations with which every deadline of the factory is proven, by what remains for files.

# %%
fits = []
for combination in mechanisms.COMBINATIONS:
    rows, cost = run("factory", combination, seeds=(1,), duration="100 ms")
    if all(row.proven == row.streams for row in rows):
        fits.append((cost.bulk_mbps, combination))
print(sorted(fits, reverse=True))
