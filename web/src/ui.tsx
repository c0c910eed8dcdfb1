// Small parts that several sections share.

import { useLayoutEffect, useState } from "preact/hooks";
import type { ProvisoName, VerdictName } from "./data";
import { provisoText, verdictText } from "./format";

const MARK: Record<VerdictName, string> = {
  contradiction: "‼",
  refused: "✕",
  missed: "✕",
  "may-be-lost": "!",
  "not-proven": "?",
  proven: "✓",
  "no-requirement": "·",
};

/** A verdict in words, with a mark and a colour. What is proven with a proviso is not as green as what is proven without. */
export function Badge({ verdict, proviso }: { verdict: VerdictName; proviso?: ProvisoName | undefined }) {
  const but = verdict === "proven" && proviso !== undefined;
  return (
    <span class={`badge ${but ? "may-be-lost" : verdict}`}>
      <span aria-hidden="true">{but ? "!" : MARK[verdict]}</span> {verdictText[verdict]}
      {but && ` ${provisoText(proviso)}`}
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

/** The width of the drawing in pixels, so that its text is as large as the page's. */
export function useWidth(svg: { current: SVGSVGElement | null }): number {
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const drawing = svg.current;
    if (!drawing) return;
    const measure = () => setWidth(Math.max(260, Math.round(drawing.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(drawing);
    return () => observer.disconnect();
  }, []);
  return width;
}
