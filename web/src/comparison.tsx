// Two runs side by side: what differs first; values of the descriptions that differ.

import { useState } from "preact/hooks";
import type { Manifest, ProvisoName, VerdictName } from "./data";
import { delay, integer, span, us } from "./format";
import { Framed } from "./server";
import { Badge } from "./ui";

const STEP = 200;

interface Side {
  name: string;
  address: string;
  manifest: Manifest;
}

interface RowSide {
  verdict?: VerdictName;
  proviso?: ProvisoName;
  deadline_ps?: number;
  bound_ps?: number;
  max_ps?: number;
  p99_ps?: number;
  mean_ps?: number;
  delivered?: number;
  lost?: number;
}

interface Row {
  stream: string;
  listener: string;
  change?: string;
  before?: RowSide;
  after?: RowSide;
}

interface Result {
  network: string;
  seed?: number;
  duration_ps?: number;
  verdict?: VerdictName;
}

export interface Comparison {
  before: Side;
  after: Side;
  difference: {
    before: Result;
    after: Result;
    compared: { bounds: boolean; run: boolean };
    description?: { key: string; before?: unknown; after?: unknown }[];
    layout?: boolean;
    equal_listeners: number;
    elsewhere?: string[];
  };
  rows: Row[];
}

type Value = { title: string; unit?: string; rank: number; of: (side: RowSide) => number | undefined };

const DELAYS: Value[] = [
  { title: "Deadline", unit: "µs", rank: 2, of: (side) => side.deadline_ps },
  { title: "Bound", unit: "µs", rank: 0, of: (side) => side.bound_ps },
  { title: "Max", unit: "µs", rank: 0, of: (side) => side.max_ps },
  { title: "99 %", unit: "µs", rank: 1, of: (side) => side.p99_ps },
  { title: "Mean", unit: "µs", rank: 2, of: (side) => side.mean_ps },
];

export function ComparisonPage({ shown }: { shown: Comparison }) {
  const { before, after, difference, rows } = shown;
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(STEP);
  const differing = rows.filter((row) => row.change !== undefined);
  const listed = all ? rows : differing;
  const has = (value: Value) =>
    rows.some((row) => [row.before, row.after].some((side) => side && value.of(side) !== undefined));
  const delays = DELAYS.filter(has);
  const hasVerdict = rows.some((row) => row.before?.verdict ?? row.after?.verdict);
  const hasLoss = rows.some((row) => (row.before?.lost ?? row.after?.lost) !== undefined);
  return (
    <Framed title={`${before.name} – ${after.name}`}>
      <section class="panel" aria-label="The two runs">
        <div class="scroll">
          <table class="sides">
            <thead>
              <tr>
                <td />
                <th scope="col" class="text"><a href={before.address}>{before.name}</a></th>
                <th scope="col" class="text"><a href={after.address}>{after.name}</a></th>
              </tr>
            </thead>
            <tbody>
              <SideRow title="Network" before={difference.before.network} after={difference.after.network} />
              {hasVerdict && (
                <tr>
                  <th scope="row" class="text">Verdict</th>
                  {[difference.before, difference.after].map((side, index) => (
                    <td key={index} class="text">{side.verdict ? <Badge verdict={side.verdict} /> : "–"}</td>
                  ))}
                </tr>
              )}
              <SideRow title="Seed" before={difference.before.seed} after={difference.after.seed} />
              <SideRow
                title="Time"
                before={difference.before.duration_ps && span(difference.before.duration_ps)}
                after={difference.after.duration_ps && span(difference.after.duration_ps)}
              />
              <SideRow title="Command" before={before.manifest.command.join(" ")} after={after.manifest.command.join(" ")} />
              <SideRow title="Version" before={before.manifest.version} after={after.manifest.version} />
            </tbody>
          </table>
        </div>
      </section>
      <section id="description" class="panel">
        <div class="heading">
          <h2>Values of the descriptions</h2>
        </div>
        {difference.description && difference.description.length > 0 ? (
          <div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col" class="text">Key</th>
                  <th scope="col" class="text">{before.name}</th>
                  <th scope="col" class="text">{after.name}</th>
                </tr>
              </thead>
              <tbody>
                {difference.description.map((each) => (
                  <tr key={each.key}>
                    <th scope="row" class="text mono">{each.key}</th>
                    <td class="text mono">{valueText(each.before)}</td>
                    <td class="text mono">{valueText(each.after)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <p class="none">{difference.layout ? "They differ in comments, layout or order alone." : "They do not differ."}</p>
        )}
      </section>
      <section id="streams" class="panel">
        <div class="heading">
          <h2>Streams at listeners</h2>
          <span class="segments" role="group" aria-label="Rows">
            <button type="button" aria-pressed={!all} onClick={() => setAll(false)}>
              {integer(differing.length)} that differ
            </button>
            <button type="button" aria-pressed={all} onClick={() => setAll(true)}>
              All {integer(rows.length)}
            </button>
          </span>
          <span class="note">
            {before.name} above, {after.name} below
          </span>
        </div>
        <div class="scroll">
          <table class="compared">
            <thead>
              <tr>
                <th scope="col" class="text">Stream</th>
                <th scope="col" class="text">Listener</th>
                <th scope="col" class="text">Change</th>
                {hasVerdict && <th scope="col" class="text">Verdict</th>}
                {delays.map((value) => (
                  <th key={value.title} scope="col" class={`rank-${value.rank}`}>
                    {value.title} <span class="unit">{value.unit}</span>
                  </th>
                ))}
                {hasLoss && <th scope="col" class="rank-1">Received</th>}
                {hasLoss && <th scope="col">Lost</th>}
              </tr>
            </thead>
            <tbody>
              {listed.slice(0, limit).map((row) => (
                <tr key={`${row.stream} ${row.listener}`} class={row.change ? "differs" : ""}>
                  <th scope="row" class="text">{row.stream}</th>
                  <td class="text">{row.listener}</td>
                  <td class="text">{row.change?.replaceAll("-", " ") ?? "none"}</td>
                  {hasVerdict && (
                    <td class="text">
                      <Both
                        before={row.before?.verdict && <Badge verdict={row.before.verdict} proviso={row.before.proviso} />}
                        after={row.after?.verdict && <Badge verdict={row.after.verdict} proviso={row.after.proviso} />}
                        isSame={row.before?.verdict === row.after?.verdict && row.before?.proviso === row.after?.proviso}
                      />
                    </td>
                  )}
                  {delays.map((value) => {
                    const [one, other] = [row.before && value.of(row.before), row.after && value.of(row.after)];
                    return (
                      <td key={value.title} class={`number rank-${value.rank}`} title={changeText(one, other)}>
                        <Both before={us(one)} after={us(other)} isSame={one === other} />
                      </td>
                    );
                  })}
                  {hasLoss && (
                    <td class="number rank-1">
                      <Both
                        before={integer(row.before?.delivered)}
                        after={integer(row.after?.delivered)}
                        isSame={row.before?.delivered === row.after?.delivered}
                      />
                    </td>
                  )}
                  {hasLoss && (
                    <td class={`number ${row.before?.lost || row.after?.lost ? "lost" : ""}`}>
                      <Both
                        before={integer(row.before?.lost)}
                        after={integer(row.after?.lost)}
                        isSame={row.before?.lost === row.after?.lost}
                      />
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
          {listed.length === 0 && <p class="none">No stream differs at any listener.</p>}
          {listed.length > limit && (
            <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
              Show {Math.min(STEP, listed.length - limit)} more of {listed.length - limit}
            </button>
          )}
        </div>
      </section>
      {difference.elsewhere && difference.elsewhere.length > 0 && (
        <p class="note">Also different in the results: {difference.elsewhere.join(", ")}.</p>
      )}
    </Framed>
  );
}

function SideRow({ title, before, after }: { title: string; before?: string | number | undefined; after?: string | number | undefined }) {
  if (before === undefined && after === undefined) return null;
  return (
    <tr>
      <th scope="row" class="text">{title}</th>
      <td class="text">{before ?? "–"}</td>
      <td class="text">{after ?? "–"}</td>
    </tr>
  );
}

/** Both values, one above the other; once if they are the same. */
function Both({ before, after, isSame }: { before: preact.ComponentChild; after: preact.ComponentChild; isSame: boolean }) {
  if (isSame) return <>{before}</>;
  return (
    <span class="both">
      <span>{before || "–"}</span>
      <b>{after || "–"}</b>
    </span>
  );
}

function changeText(before: number | undefined, after: number | undefined): string | undefined {
  if (before === undefined || after === undefined || before === after) return undefined;
  const share = before === 0 ? "" : ` (${after > before ? "+" : "−"}${Math.abs((after / before - 1) * 100).toFixed(1)} %)`;
  return `${delay(before)} → ${delay(after)}${share}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
