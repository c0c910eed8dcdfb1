// How far bounds are above the worst run that the adversary found: the share of rows up to each ratio, a dot for each row.

import { useMemo, useRef, useState } from "preact/hooks";
import type { Selection } from "./app";
import type { PageData } from "./data";
import { delay, times } from "./format";
import { useWidth } from "./ui";

const LEFT = 46;
const RIGHT = 16;
const TOP = 22;
const CURVE = 150;
const BOTTOM = TOP + CURVE;
/** More dots than these would be one line. */
const DOTS = 2000;
const TICKS = [1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000];

interface Row extends Selection {
  name: string;
  mille: number;
  worst_ps: number;
  bound_ps: number | undefined;
  /** Whether the adversary could change anything. */
  isOpen: boolean;
}

export function Tightness({ data, onSelect }: { data: PageData; onSelect: (selection: Selection) => void }) {
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(svg);
  const [at, setAt] = useState<Row | undefined>(undefined);
  const rows = useMemo(() => ratios(data), [data]);
  if (rows.length === 0) return null;
  // A ratio below one is a contradiction.
  const [least, greatest] = [Math.max(0.001, Math.min(1, rows[0]!.mille / 1000)), Math.max(2, rows.at(-1)!.mille / 1000)];
  const x = (ratio: number) =>
    LEFT + (Math.log(Math.max(ratio, 0.001) / least) / Math.log(greatest / least)) * (width - LEFT - RIGHT);
  const y = (share: number) => BOTTOM - share * CURVE;
  const share = (place: number) => (place + 1) / rows.length;
  const line = rows.map((row, place) => `H${x(row.mille / 1000).toFixed(1)}V${y(share(place)).toFixed(1)}`).join("");
  const marks = [
    { name: "median", mille: quantile(rows, 0.5) },
    { name: "95 %", mille: quantile(rows, 0.95) },
  ];
  return (
    <section id="tightness" class="panel">
      <div class="heading">
        <h2>Tightness</h2>
        <span class="note" aria-live="off">
          {at
            ? `${at.name}: bound ${delay(at.bound_ps)}, adversary ${delay(at.worst_ps)}, ${times(at.mille)} times`
            : `Bound over the adversary's worst: median ${times(marks[0]!.mille)}, 95th percentile ${times(marks[1]!.mille)}`}
        </span>
      </div>
      <figure class="distribution">
        <svg
          ref={svg}
          viewBox={`0 0 ${width} ${BOTTOM + 34}`}
          role="img"
          aria-label={`Bound over the adversary's worst for ${rows.length} rows, from ${times(rows[0]!.mille)} to ${times(rows.at(-1)!.mille)}`}
          onPointerLeave={() => setAt(undefined)}
        >
          {TICKS.filter((ratio) => ratio <= greatest).map((ratio) => (
            <g key={ratio} class="grid">
              <line x1={x(ratio)} x2={x(ratio)} y1={TOP} y2={BOTTOM} />
              <text x={x(ratio)} y={BOTTOM + 15} text-anchor="middle">
                {ratio}
              </text>
            </g>
          ))}
          <text class="axis" x={width - RIGHT} y={BOTTOM + 30} text-anchor="end">
            bound / adversary's worst
          </text>
          {[0, 0.5, 0.95, 1].map((part) => (
            <g key={part} class="grid">
              <line x1={LEFT} x2={width - RIGHT} y1={y(part)} y2={y(part)} class={part === 0 ? "base" : ""} />
              <text x={LEFT - 6} y={y(part) + (part === 0.95 ? 8 : 4)} text-anchor="end">
                {part}
              </text>
            </g>
          ))}
          <path class="ecdf" d={`M${LEFT} ${BOTTOM}${line}H${width - RIGHT}`} />
          {marks.map((mark) => (
            <g key={mark.name} class="mark bound">
              <line x1={x(mark.mille / 1000)} x2={x(mark.mille / 1000)} y1={TOP - 4} y2={BOTTOM} />
              <text
                x={x(mark.mille / 1000) + (mark.name === "median" ? -4 : 4)}
                y={TOP - 8}
                text-anchor={mark.name === "median" && x(mark.mille / 1000) > LEFT + 50 ? "end" : "start"}
              >
                {mark.name}
              </text>
            </g>
          ))}
          {rows.length <= DOTS &&
            rows.map((row, place) => (
              <circle
                key={`${row.stream}-${row.listener}`}
                class={row.isOpen ? "dot" : "dot closed"}
                cx={x(row.mille / 1000)}
                cy={y(share(place))}
                r="3.5"
                onPointerEnter={() => setAt(row)}
                onClick={() => onSelect(row)}
              >
                <title>{row.name}</title>
              </circle>
            ))}
        </svg>
        <p class="legend">
          <span>
            <i class="swatch ecdf" /> share of rows up to a ratio; a dot selects its row
          </span>
          {rows.some((row) => !row.isOpen) && <span>hollow: nothing is open, the run as described is all there is</span>}
        </p>
      </figure>
    </section>
  );
}

/** The rows that have a bound and a worst run, the tightest first. */
function ratios(data: PageData): Row[] {
  const rows = data.summary.streams.flatMap((of, stream) =>
    of.listeners.flatMap(({ adversary, bound, listener: node }, listener) => {
      if (adversary?.bound_to_worst_mille === undefined || adversary.delay_max_ps === undefined) return [];
      const [mille, worst_ps] = [adversary.bound_to_worst_mille, adversary.delay_max_ps];
      const name = `${of.name} → ${node}`;
      return [{ stream, listener, name, mille, worst_ps, bound_ps: bound?.delay_max_ps, isOpen: adversary.open !== false }];
    }),
  );
  return rows.sort((left, right) => left.mille - right.mille);
}

/** The least ratio that so large a share of the rows does not exceed, thousandths. */
function quantile(rows: Row[], share: number): number {
  return rows[Math.max(0, Math.ceil(share * rows.length) - 1)]!.mille;
}
