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

/** A verdict in words, with a mark and a colour. What is proven though frames were lost is not as green as what lost none. */
export function Badge({ verdict, loses = false }: { verdict: VerdictName; loses?: boolean }) {
  const but = verdict === "proven" && loses;
  return (
    <span class={`badge ${but ? "may-be-lost" : verdict}`}>
      <span aria-hidden="true">{but ? "!" : MARK[verdict]}</span> {verdictText[verdict]}
      {but && " but for losses"}
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
