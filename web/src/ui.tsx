// Small parts that several sections share.

import type { VerdictName } from "./data";
import { verdictText } from "./format";

const MARK: Record<VerdictName, string> = {
  contradiction: "‼",
  refused: "✕",
  missed: "✕",
  "may-be-lost": "!",
  "not-proven": "?",
  proven: "✓",
  "no-requirement": "·",
};

/** A verdict in words, with a mark and a colour. */
export function Badge({ verdict }: { verdict: VerdictName }) {
  return (
    <span class={`badge ${verdict}`}>
      <span aria-hidden="true">{MARK[verdict]}</span> {verdictText[verdict]}
    </span>
  );
}

/** A share as a bar with its number in words beside it. */
export function Bar({ ppm }: { ppm: number }) {
  const per_cent = Math.min(100, ppm / 1e4);
  const level = per_cent > 90 ? "full" : per_cent > 75 ? "high" : "";
  return (
    <span class="bar" aria-hidden="true">
      <span class={level} style={{ width: `${per_cent}%` }} />
    </span>
  );
}
