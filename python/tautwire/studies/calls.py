"""What one task of a study does: a network with other values or a function, and the figures of its result."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautwire import _core
from tautwire.computing import bounds, simulate, verify
from tautwire.network import Network, resolved
from tautwire.results import Bounds, Observation, Verification
from tautwire.texts import changed_text

__all__ = ["Measure", "OfFunction", "OfNetwork"]

Row = dict[str, Any]
Figures = Mapping[str, Any] | Sequence[Mapping[str, Any]]

# Figures of a network, with their kinds.
OF_NETWORK = {
    "verdict": "text",
    "margin_min_ps": "int",
    "bound_delay_max_ps": "int",
    "unbounded": "int",
    "delay_max_ps": "int",
    "delivered": "int",
    "lost": "int",
    "late": "int",
    "frame_hops": "int",
}
# Columns of listeners.parquet by default, with their kinds.
OF_LISTENERS = {
    "verdict": "text",
    "deadline_ps": "int",
    "bound_delay_max_ps": "int",
    "margin_ps": "int",
    "count": "int",
    "delay_min_ps": "int",
    "delay_mean_ps": "int",
    "delay_sd_ps": "int",
    "delay_p50_ps": "int",
    "delay_p99_ps": "int",
    "delay_p99_9_ps": "int",
    "observed_max_ps": "int",
    "late": "int",
    "delivered": "int",
    "dropped": "int",
    "loss_ppm": "int",
}
RUNS = ("verify", "bounds", "simulate")
Computed = Bounds | Observation | Verification


@dataclass(frozen=True)
class Measure:
    """How a network is computed, and which figures are taken of it."""

    run: str = "verify"
    duration: str | None = None
    rows: str = "network"
    metrics: tuple[str, ...] | Mapping[str, Callable[[Any], Any]] | None = None

    def __post_init__(self) -> None:
        if self.run not in RUNS:
            raise ValueError(f"a run is one of {', '.join(RUNS)}, not {self.run!r}")
        if self.rows not in ("network", "listeners"):
            raise ValueError(f"rows are for each `network` or for its `listeners`, not {self.rows!r}")
        if isinstance(self.metrics, Mapping):
            if self.rows != "network":
                raise ValueError("metrics that are functions give a row for each network")
            return
        known = OF_NETWORK if self.rows == "network" else OF_LISTENERS
        for name in self.metrics or ():
            if name not in known:
                raise ValueError(f"no metric `{name}`; there are: {', '.join(known)}")

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of the columns, as far as they are known."""
        if isinstance(self.metrics, Mapping):
            return {}
        known = OF_NETWORK if self.rows == "network" else OF_LISTENERS
        chosen = {name: kind for name, kind in known.items() if self.metrics is None or name in self.metrics}
        return chosen if self.rows == "network" else {"stream": "text", "listener": "text", **chosen}

    def of(self, network: Network, seed: int | None) -> Figures:
        """The figures of a network."""
        result: Computed
        if self.run == "bounds":
            result = bounds(network)
        elif self.run == "simulate":
            result = simulate(network, seed=seed, duration=self.duration)
        else:
            result = verify(network, seed=seed, duration=self.duration)
        if isinstance(self.metrics, Mapping):
            return {name: function(result) for name, function in self.metrics.items()}
        if self.rows == "listeners":
            columns = {name: result.listeners.column(name) for name in self.kinds}
            return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        figures = _of_network(result.summary)
        return {name: figures[name] for name in self.kinds}

    def identity(self) -> list[Any]:
        """What tells its results from others."""
        metrics = self.metrics
        if isinstance(metrics, Mapping):
            return [self.run, self.duration, self.rows, {name: source_of(one) for name, one in metrics.items()}]
        return [self.run, self.duration, self.rows, list(self.kinds)]


def _of_network(summary: Mapping[str, Any]) -> Row:
    ends = [end for stream in summary["streams"] for end in stream["listeners"]]
    proven = [end["bound"].get("delay_max_ps") for end in ends if "bound" in end]
    margins = [end["margin_ps"] for end in ends if "margin_ps" in end]
    seen = [end["observed"] for end in ends if "observed" in end]
    delays = [one["observed_max_ps"] for one in seen if "observed_max_ps" in one]
    frames = [end["frames"] for end in ends if "frames" in end]
    lost = [sum(one["dropped"].values()) + sum(one.get("dropped_in_host", {}).values()) for one in frames]
    has_run = "run" in summary
    return {
        "verdict": summary["verification"]["verdict"] if "verification" in summary else None,
        "margin_min_ps": min(margins, default=None),
        "bound_delay_max_ps": max((one for one in proven if one is not None), default=None),
        "unbounded": sum(one is None for one in proven) if proven else None,
        "delay_max_ps": max(delays, default=None),
        "delivered": sum(one["delivered"] for one in frames) if has_run else None,
        "lost": sum(lost) if has_run else None,
        "late": sum(one["late"] for one in seen) if has_run else None,
        "frame_hops": summary["run"]["frame_hops"] if has_run else None,
    }


@dataclass(frozen=True)
class OfNetwork:
    """A description with other values: ``keys`` says which ones each parameter changes."""

    text: str
    path: str
    keys: Mapping[str, tuple[str, ...]]
    measure: Measure

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of the columns."""
        return self.measure.kinds

    def network(self, values: Mapping[str, Any]) -> Network:
        """The network with these values."""
        return Network._of(resolved(*_core.load_text(self.path, self.text_with(values))))

    def text_with(self, values: Mapping[str, Any]) -> str:
        """Its text with these values, which the description may refuse."""
        changes = {key: value for name, value in values.items() for key in self.keys.get(name, (name,))}
        return changed_text(self.text, changes)

    def __call__(self, values: Mapping[str, Any], seed: int | None) -> Figures:
        """The figures of one task."""
        return self.measure.of(self.network(values), seed)

    def identity(self) -> Any:
        """What tells its results from others."""
        keys = {name: list(keys) for name, keys in self.keys.items()}
        return ["network", digest(self.text), keys, self.measure.identity()]


@dataclass(frozen=True)
class OfFunction:
    """A function of the user that gives figures, or a network."""

    function: Callable[..., Any]
    measure: Measure

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of the columns: a function's figures are known when it has given them."""
        return {}

    def __call__(self, values: Mapping[str, Any], seed: int | None) -> Figures:
        """The figures of one task."""
        takes = "seed" in inspect.signature(self.function).parameters
        arguments = {**values, "seed": seed} if seed is not None and takes else dict(values)
        value = self.function(**arguments)
        if isinstance(value, Network):
            return self.measure.of(value, seed)
        if isinstance(value, Mapping):
            return value
        if (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(isinstance(one, Mapping) for one in value)
        ):
            return value
        return {"value": value}

    def identity(self) -> Any:
        """What tells its results from others: the source of the function, not that of what it calls."""
        return ["function", source_of(self.function), self.measure.identity()]


def source_of(function: Callable[..., Any]) -> str:
    """A digest of what a function does."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = repr((code.co_code, code.co_consts, code.co_names)) if code is not None else repr(function)
    return digest(text)


def digest(value: Any) -> str:
    """Sixteen digits that tell a value from others."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
