// Histogram and ECDF of one listener's delays on one axis, with bound and deadline drawn in.
//
// The histogram joins the log-linear steps into equal bins (a step that two bins share is split
// evenly); the ECDF is drawn at the upper end of each step, so it never flatters.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Histogram } from "./data";
import { delay, tickText, ticks } from "./format";
import { useWidth } from "./ui";

const LEFT = 46;
const RIGHT = 12;
const TOP = 22;
const BARS = 120;
const GAP = 12;
const CURVE = 130;
const HEIGHT = TOP + BARS + GAP + CURVE + 34;
const BINS = 60;

interface Props {
  histogram: Histogram;
  bound_ps: number | undefined;
  deadline_ps: number | undefined;
  name: string;
}

export function Distribution({ histogram, bound_ps, deadline_ps, name }: Props) {
  const [isTail, setTail] = useState(false);
  const [isClose, setClose] = useState(false);
  const [at, setAt] = useState<number | undefined>(undefined);
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(svg);
  const total = useMemo(() => histogram.count.reduce((sum, n) => sum + n, 0), [histogram]);
  const [least, greatest] = useMemo(
    () => range(histogram, isClose ? undefined : bound_ps, isClose ? undefined : deadline_ps),
    [histogram, bound_ps, deadline_ps, isClose],
  );
  const x = (ps: number) => LEFT + ((ps - least) / (greatest - least)) * (width - LEFT - RIGHT);
  const bins = useMemo(() => binned(histogram, least, greatest), [histogram, least, greatest]);
  const most = Math.max(...bins, 1);
  const curve = useMemo(() => cumulative(histogram, total), [histogram, total]);
  const bottom = TOP + BARS + GAP + CURVE;
  const decades = Math.max(1, Math.ceil(Math.log10(total)));
  const y = (share: number) => {
    if (!isTail) return bottom - share * CURVE;
    const tail = Math.max(1 - share, 10 ** -decades);
    return bottom - CURVE * (1 + Math.log10(tail) / decades);
  };
  const axis = ticks(least, greatest, width / 100);
  const line = path(curve, x, y, least, greatest);
  const binWidth = (greatest - least) / BINS;
  const move = (event: PointerEvent) => {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return;
    const px = ((event.clientX - box.left) / box.width) * width;
    const ps = least + ((px - LEFT) / (width - LEFT - RIGHT)) * (greatest - least);
    setAt(ps >= least && ps <= greatest ? ps : undefined);
  };
  return (
    <figure class="distribution">
      <div class="chart-tools">
        <figcaption class="note" aria-live="off">
          {at === undefined
            ? `${total.toLocaleString("en").replaceAll(",", "\u202f")} frames, bins of ${delay(binWidth)}`
            : `${((shareUpTo(curve, at)) * 100).toFixed(3)} % within ${delay(at)}`}
        </figcaption>
        <span class="segments" role="group" aria-label="Lower chart">
          <button type="button" aria-pressed={!isTail} onClick={() => setTail(false)}>
            ECDF
          </button>
          <button type="button" aria-pressed={isTail} onClick={() => setTail(true)}>
            Tail
          </button>
        </span>
        {(bound_ps !== undefined || deadline_ps !== undefined) && (
          <span class="segments" role="group" aria-label="Range">
            <button type="button" aria-pressed={!isClose} onClick={() => setClose(false)}>
              Limits
            </button>
            <button type="button" aria-pressed={isClose} onClick={() => setClose(true)}>
              Observed
            </button>
          </span>
        )}
      </div>
      <svg
        ref={svg}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={describe(name, histogram, total, bound_ps, deadline_ps)}
        onPointerMove={move}
        onPointerLeave={() => setAt(undefined)}
      >
        {axis.map((ps) => (
          <g key={ps} class="grid">
            <line x1={x(ps)} x2={x(ps)} y1={TOP} y2={bottom} />
            <text x={x(ps)} y={bottom + 15} text-anchor="middle">
              {tickText(ps, axis)}
            </text>
          </g>
        ))}
        <text class="axis" x={width - RIGHT} y={bottom + 30} text-anchor="end">
          delay, µs
        </text>
        <g class="bars">
          {bins.map((count, bin) =>
            count > 0 ? (
              <rect
                key={bin}
                x={x(least + bin * binWidth) + 0.4}
                width={Math.max(0.6, x(least + (bin + 1) * binWidth) - x(least + bin * binWidth) - 0.8)}
                y={TOP + BARS - (count / most) * BARS}
                height={(count / most) * BARS}
              />
            ) : null,
          )}
        </g>
        <g class="grid">
          <line x1={LEFT} x2={width - RIGHT} y1={TOP + BARS} y2={TOP + BARS} class="base" />
          <text x={LEFT - 6} y={TOP + 8} text-anchor="end">
            {((most / total) * 100).toFixed(1)} %
          </text>
          <text x={LEFT - 6} y={TOP + BARS} text-anchor="end">
            0
          </text>
        </g>
        <g class="grid">
          {(isTail ? tailTicks(decades) : [0, 0.25, 0.5, 0.75, 1]).map((share) => (
            <g key={share}>
              <line x1={LEFT} x2={width - RIGHT} y1={y(share)} y2={y(share)} />
              <text x={LEFT - 6} y={y(share) + 4} text-anchor="end">
                {isTail ? tailText(share) : share}
              </text>
            </g>
          ))}
          <line x1={LEFT} x2={width - RIGHT} y1={bottom} y2={bottom} class="base" />
        </g>
        <path class="ecdf" d={line} />
        {marks(bound_ps, deadline_ps, least, greatest, x, width).map((mark) => (
          <g key={mark.name} class={`mark ${mark.name}`}>
            {mark.line !== undefined && <line x1={mark.line} x2={mark.line} y1={TOP - 4} y2={bottom} />}
            <text x={mark.x} y={mark.y} text-anchor={mark.anchor}>
              {mark.text}
            </text>
          </g>
        ))}
        {at !== undefined && <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={bottom} />}
      </svg>
      <p class="legend">
        <span>
          <i class="swatch bars" /> frames
        </span>
        <span>
          <i class="swatch ecdf" /> {isTail ? "share of frames later" : "share of frames within"}
        </span>
        {bound_ps !== undefined && (
          <span>
            <i class="swatch bound" /> bound {delay(bound_ps)}
          </span>
        )}
        {deadline_ps !== undefined && (
          <span>
            <i class="swatch deadline" /> deadline {delay(deadline_ps)}
          </span>
        )}
      </p>
    </figure>
  );
}

interface Mark {
  name: "bound" | "deadline";
  text: string;
  anchor: "start" | "end";
  x: number;
  y: number;
  line?: number;
}

/** Lines with names for bound and deadline; an arrow at the edge for what lies outside. */
function marks(
  bound: number | undefined,
  deadline: number | undefined,
  least: number,
  greatest: number,
  x: (ps: number) => number,
  width: number,
): Mark[] {
  const list: Mark[] = [];
  const inside = [bound, deadline].filter((ps) => ps !== undefined && ps >= least && ps <= greatest);
  const rightmost = Math.max(...inside.map((ps) => ps!));
  for (const [name, ps] of [
    ["bound", bound],
    ["deadline", deadline],
  ] as ["bound" | "deadline", number | undefined][]) {
    if (ps === undefined) continue;
    if (ps < least || ps > greatest) {
      const isRight = ps > greatest;
      list.push({
        name,
        text: isRight ? `${name} ${delay(ps)} →` : `← ${name} ${delay(ps)}`,
        anchor: isRight ? "end" : "start",
        x: isRight ? width - RIGHT : LEFT + 4,
        y: TOP + 12 + list.length * 14,
      });
      continue;
    }
    // Of two lines the left one has its name on the left, unless there is no room.
    const isLeft = inside.length === 2 ? ps < rightmost : x(ps) > width - 80;
    const anchor = (isLeft && x(ps) > LEFT + 60) || x(ps) > width - 64 ? "end" : "start";
    const both = inside.length === 2 && Math.abs(x(bound!) - x(deadline!)) < 64 && x(rightmost) > width - 64;
    list.push({
      name,
      text: name,
      anchor,
      x: x(ps) + (anchor === "end" ? -4 : 4),
      y: TOP - 8 + (both && name === "deadline" ? 14 : 0),
      line: x(ps),
    });
  }
  return list;
}

/** The axis: all observations, and bound and deadline as long as they leave room for them. */
function range(h: Histogram, bound: number | undefined, deadline: number | undefined): [number, number] {
  const [first, last] = [h.least_ps[0] ?? 0, h.greatest_ps[h.greatest_ps.length - 1] ?? 1];
  const width = Math.max(last - first, last * 0.02, 1);
  let greatest = last;
  if (bound !== undefined && bound < first + width * 12) greatest = Math.max(greatest, bound);
  if (deadline !== undefined && deadline < first + Math.max(greatest - first, width) * 1.8)
    greatest = Math.max(greatest, deadline);
  const pad = Math.max((greatest - first) * 0.04, 1);
  return [Math.max(0, first - pad), greatest + pad];
}

function binned(h: Histogram, least: number, greatest: number): number[] {
  const bins = new Array<number>(BINS).fill(0);
  const width = (greatest - least) / BINS;
  h.count.forEach((count, step) => {
    const [from, to] = [h.least_ps[step]!, Math.max(h.greatest_ps[step]!, h.least_ps[step]! + 1)];
    const clamp = (bin: number) => Math.max(0, Math.min(BINS - 1, bin));
    const [first, last] = [clamp(Math.floor((from - least) / width)), clamp(Math.floor((to - least) / width))];
    for (let bin = first; bin <= last; bin += 1) {
      const overlap =
        first === last ? 1 : (Math.min(to, least + (bin + 1) * width) - Math.max(from, least + bin * width)) / (to - from);
      bins[bin]! += count * Math.max(0, overlap);
    }
  });
  return bins;
}

/** Share of frames up to the upper end of each step. */
function cumulative(h: Histogram, total: number): [number, number][] {
  let seen = 0;
  return h.count.map((count, step) => {
    seen += count;
    return [h.greatest_ps[step]!, seen / total];
  });
}

function shareUpTo(curve: [number, number][], ps: number): number {
  return curve.findLast(([at]) => at <= ps)?.[1] ?? 0;
}

function path(
  curve: [number, number][],
  x: (ps: number) => number,
  y: (share: number) => number,
  least: number,
  greatest: number,
): string {
  let line = `M${x(least).toFixed(1)} ${y(0).toFixed(1)}`;
  for (const [ps, share] of curve) line += `H${x(ps).toFixed(1)}V${y(share).toFixed(1)}`;
  return `${line}H${x(greatest).toFixed(1)}`;
}

function tailTicks(decades: number): number[] {
  return Array.from({ length: decades + 1 }, (_, power) => 1 - 10 ** -power);
}

function tailText(share: number): string {
  const power = Math.round(Math.log10(1 - share));
  return power === 0 ? "1" : `1e${power}`;
}

function describe(
  name: string,
  h: Histogram,
  total: number,
  bound: number | undefined,
  deadline: number | undefined,
): string {
  const parts = [
    `Delays of ${name}: ${total} frames from ${delay(h.least_ps[0])} to ${delay(h.greatest_ps.at(-1))}`,
  ];
  if (bound !== undefined) parts.push(`bound ${delay(bound)}`);
  if (deadline !== undefined) parts.push(`deadline ${delay(deadline)}`);
  return parts.join(", ");
}
