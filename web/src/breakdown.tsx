// Where the time goes, hop by hop: mean parts as a stacked bar, the greatest delay and the bound as
// marks, all on one scale.

import type { Hop, Listener, Parts, Stream } from "./data";
import { PARTS, path } from "./data";
import { delay, us } from "./format";

const NO_TIME: Parts = { processing_ps: 0, shaping_ps: 0, queueing_ps: 0, transmission_ps: 0, propagation_ps: 0 };

export function Breakdown({ stream, listener }: { stream: Stream; listener: Listener }) {
  const way = path(stream, listener);
  const hops = way.flatMap((index) => stream.hops[index] ?? []);
  if (hops.length === 0) return null;
  const hasRun = hops.some((hop) => hop.observed);
  const hasBounds = hops.some((hop) => hop.bound);
  // What the listener's host takes behind its port is the last part of the delay between applications.
  const host = listener.application?.observed?.processing;
  const longest = hops.map((hop) => Math.max(hop.observed?.delay_max_ps ?? 0, hop.bound?.delay_max_ps ?? 0));
  const top = Math.max(1, host?.max_ps ?? 0, ...longest);
  return (
    <div class="breakdown">
      <h3>Delay by hop</h3>
      <p class="legend">
        {hasRun &&
          PARTS.map((part) => (
            <span key={part}>
              <i class={`swatch part ${part}`} /> {part}
            </span>
          ))}
        {hasRun && (
          <span>
            <i class="swatch max" /> observed max
          </span>
        )}
        {hasBounds && (
          <span>
            <i class="swatch bound" /> bound
          </span>
        )}
      </p>
      <div class="scroll">
        <table class="hops">
          <thead>
            <tr>
              <th scope="col" class="text">
                Hop
              </th>
              <th scope="col" class="text rank-2">
                Class
              </th>
              <th scope="col" class="text bar-head">
                {hasRun ? "Mean delay in parts" : "Bound"}
              </th>
              {hasRun && <th scope="col" class="rank-1">Mean µs</th>}
              {hasRun && <th scope="col" class="rank-1">Max µs</th>}
              {hasBounds && <th scope="col">Bound µs</th>}
              {hasBounds && (
                <th scope="col" class="text rank-2">
                  Method
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {hops.map((hop, place) => (
              <tr key={way[place]}>
                <th scope="row" class="text">
                  {hop.port}{" "}
                  <span class="note">
                    → {hop.to}
                    {place > 0 && hop.previous !== way[place - 1] && ", another way"}
                  </span>
                </th>
                <td class="text rank-2">{hop.traffic_class}</td>
                <td class="bar-cell">
                  <Bar mean={hop.observed?.mean} max={hop.observed?.delay_max_ps} bound={hop.bound?.delay_max_ps} top={top} />
                </td>
                {hasRun && <td class="number rank-1">{us(mean(hop))}</td>}
                {hasRun && <td class="number rank-1">{us(hop.observed?.delay_max_ps)}</td>}
                {hasBounds && (
                  <td class="number">
                    {hop.bound?.unbounded ? (
                      <span class="unbounded" title={hop.bound.unbounded.text}>
                        unbounded
                      </span>
                    ) : (
                      us(hop.bound?.delay_max_ps)
                    )}
                  </td>
                )}
                {hasBounds && <td class="text rank-2 method">{hop.method?.replaceAll("-", " ")}</td>}
              </tr>
            ))}
            {host && (
              <tr class="host">
                <th scope="row" class="text">
                  {listener.listener} <span class="note">→ application</span>
                </th>
                <td class="text rank-2">–</td>
                <td class="bar-cell">
                  <Bar mean={{ ...NO_TIME, processing_ps: host.mean_ps }} max={host.max_ps} top={top} />
                </td>
                <td class="number rank-1">{us(host.mean_ps)}</td>
                <td class="number rank-1">{us(host.max_ps)}</td>
                {hasBounds && <td class="number">–</td>}
                {hasBounds && <td class="text rank-2 method" />}
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function mean(hop: Hop): number | undefined {
  const parts = hop.observed?.mean;
  return parts && PARTS.reduce((sum, part) => sum + parts[`${part}_ps`], 0);
}

function Bar({ mean: parts, max, bound, top }: { mean?: Parts; max?: number; bound?: number; top: number }) {
  const x = (ps: number) => (ps / top) * 99;
  const words = parts ? PARTS.map((part) => `${part} ${delay(parts[`${part}_ps`])}`).join(", ") : "";
  let from = 0;
  return (
    <svg class="hop-bar" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={words || "bound"}>
      <title>{words}</title>
      {bound !== undefined && <rect class="room" x="0" y="3" width={x(bound)} height="14" />}
      {parts &&
        PARTS.map((part) => {
          const ps = parts[`${part}_ps`];
          const at = from;
          from += ps;
          return ps > 0 ? (
            <rect key={part} class={`part ${part}`} x={x(at)} y="5" width={x(ps)} height="10" />
          ) : null;
        })}
      {max !== undefined && <rect class="max" x={x(max) - 0.25} y="4" width="0.5" height="12" />}
      {bound !== undefined && <rect class="bound" x={x(bound) - 0.25} y="1" width="0.6" height="18" />}
    </svg>
  );
}
