// Egress ports: how much of the line is used, and backlog and credit of each class against its bound.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { PageData, Port, PortClass } from "./data";
import { integer, rate, share } from "./format";
import { Bar } from "./ui";

const STEP = 60;

export function Links({ data, ports }: { data: PageData; ports: Set<string> | undefined }) {
  const [limit, setLimit] = useState(STEP);
  const [order, setOrder] = useState<"use" | "file">("use");
  const hasRun = data.summary.run !== undefined;
  const hasBounds = data.summary.verification !== undefined;
  const isUsed = (port: Port) => (port.observed?.frames ?? 0) > 0 || port.classes.length > 0;
  const used = data.summary.ports.filter((port) => isUsed(port) && (!ports || ports.has(port.port)));
  const idle = data.summary.ports.length - data.summary.ports.filter(isUsed).length;
  const shown =
    order === "use" && hasRun
      ? [...used].sort((a, b) => (b.observed?.utilisation_ppm ?? 0) - (a.observed?.utilisation_ppm ?? 0))
      : used;
  return (
    <section id="links" class="panel">
      <div class="heading">
        <h2>Links and classes</h2>
        {hasRun && (
          <span class="segments" role="group" aria-label="Order of links">
            <button type="button" aria-pressed={order === "use"} onClick={() => setOrder("use")}>
              Most used
            </button>
            <button type="button" aria-pressed={order === "file"} onClick={() => setOrder("file")}>
              As described
            </button>
          </span>
        )}
        <span class="note">{idle > 0 ? `${idle} unused directions left out` : ""}</span>
      </div>
      <div class="scroll">
        <table class="links">
          <thead>
            <tr>
              <th scope="col" class="text">
                Port
              </th>
              <th scope="col" class="text rank-2">
                To
              </th>
              <th scope="col" class="rank-1">
                Rate
              </th>
              {hasRun && (
                <th scope="col" class="text use-head">
                  Line used
                </th>
              )}
              <th scope="col" class="text">
                Class
              </th>
              {hasRun && <th scope="col" class="rank-1">Frames</th>}
              {hasRun && <th scope="col" class="rank-1">Dropped</th>}
              <th scope="col">
                Backlog <span class="unit">B</span>
              </th>
              <th scope="col" class="rank-2">
                Credit <span class="unit">bit</span>
              </th>
              {hasBounds && (
                <th scope="col" class="rank-2">
                  Sustained
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, limit).map((port) => (
              <Fragment key={port.port}>
                {port.classes.map((each, index) => (
                  <tr key={each.traffic_class} class={index === 0 ? "first" : ""}>
                    <th scope="row" class="text">
                      {index === 0 && port.port}
                    </th>
                    <td class="text rank-2">{index === 0 && port.to}</td>
                    <td class="number rank-1">{index === 0 && rate(port.rate_bps)}</td>
                    {hasRun && (
                      <td class="text use">
                        {index === 0 && port.observed && (
                          <>
                            <Bar ppm={port.observed.utilisation_ppm} />
                            <span class="number">{share(port.observed.utilisation_ppm)}</span>
                          </>
                        )}
                      </td>
                    )}
                    <td class="text">
                      {each.traffic_class} <span class="note selection">{selection(each)}</span>
                    </td>
                    {hasRun && <td class="number rank-1">{integer(each.observed?.frames)}</td>}
                    {hasRun && (
                      <td class={`number rank-1 ${each.observed?.dropped ? "lost" : ""}`}>
                        {integer(each.observed?.dropped)}
                      </td>
                    )}
                    <td class="number">{backlog(each, hasRun, hasBounds)}</td>
                    <td class="number rank-2">{credit(each)}</td>
                    {hasBounds && <td class="number rank-2">{share(each.bound?.utilisation_ppm)}</td>}
                  </tr>
                ))}
              </Fragment>
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p class="none">Nothing passes here.</p>}
        {shown.length > limit && (
          <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
            Show {Math.min(STEP, shown.length - limit)} more ports of {shown.length - limit}
          </button>
        )}
      </div>
    </section>
  );
}

function selection(each: PortClass): string {
  const idle = each.idle_slope_bps === undefined ? "" : ` ${rate(each.idle_slope_bps)}`;
  return each.selection.replaceAll("-", " ") + idle;
}

/** `4 512 / 6 144`: observed, bound. */
function backlog(each: PortClass, hasRun: boolean, hasBounds: boolean): string {
  const parts: string[] = [];
  if (hasRun) parts.push(integer(each.observed?.backlog_max_octets));
  if (hasBounds) {
    const bound = each.bound?.backlog_max_octets;
    parts.push(bound === undefined ? "unbounded" : integer(bound));
  }
  return parts.join(" / ");
}

function credit(each: PortClass): string {
  const of = each.observed ?? each.bound;
  if (each.idle_slope_bps === undefined || of?.hi_credit_bits === undefined) return "";
  return `${integer(of.lo_credit_bits)} … ${integer(of.hi_credit_bits)}`;
}
