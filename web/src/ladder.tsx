// The ladder of a reservation: a line for each node, an arrow for each declaration from its first bit to its
// last, a dot for what happens at a node. Rows are events in their order, not to scale; times stand beside them.

import { useState } from "preact/hooks";
import type { Reservation, Rung } from "./data";

const ROW = 20;
const TOP = 34;
const LEFT = 92;
const COLUMN = 132;
/** Most rows that are drawn at first. */
const ROWS_MAX = 60;

interface Arrow {
  from: number;
  to: number;
  sent: number;
  received: number;
  text: string;
  isLost: boolean;
}

export function Ladders({ reservations }: { reservations: Reservation[] }) {
  const [place, setPlace] = useState(0);
  const [isWhole, setWhole] = useState(false);
  const reservation = reservations[Math.min(place, reservations.length - 1)]!;
  const rungs = isWhole ? reservation.ladder : reservation.ladder.slice(0, ROWS_MAX);
  const nodes = columns(rungs);
  const x = (node: string) => LEFT + COLUMN * (nodes.indexOf(node) + 0.5);
  const y = (row: number) => TOP + ROW * (row + 0.5);
  const width = LEFT + COLUMN * nodes.length;
  const height = TOP + ROW * rungs.length + 8;
  const list = arrows(rungs, nodes);
  return (
    <section id="reservations" class="panel">
      <div class="heading">
        <h2>Reservations</h2>
        <label class="tools">
          Stream{" "}
          <select value={place} onChange={(event) => setPlace(Number(event.currentTarget.value))}>
            {reservations.map((each, index) => (
              <option key={each.stream} value={index}>
                {each.stream}
              </option>
            ))}
          </select>
        </label>
        <span class="note">{outcome(reservation)}</span>
      </div>
      <div class="ladder" tabIndex={0}>
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Ladder of the reservation of ${reservation.stream}: ${rungs.length} events at ${nodes.join(", ")}`}
        >
          <defs>
            <marker id="ladder-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          {nodes.map((node) => (
            <g key={node} class="grid">
              <line x1={x(node)} x2={x(node)} y1={TOP - 6} y2={height} />
              <text x={x(node)} y={TOP - 14} text-anchor="middle">
                {node}
              </text>
            </g>
          ))}
          {rungs.map((rung, row) => (
            <g key={row}>
              <text class="axis" x={LEFT - 16} y={y(row) + 4} text-anchor="end">
                {(rung.at_ps / 1e9).toFixed(3)}
              </text>
              {!rung.peer && (
                <g class="happens">
                  <circle cx={x(rung.node)} cy={y(row)} r={3.5} />
                  <text x={x(rung.node) + 8} y={y(row) + 4}>
                    {rung.port ? `${rung.event} ${rung.port}` : rung.event}
                  </text>
                </g>
              )}
            </g>
          ))}
          {list.map((arrow, index) => (
            <g key={index} class={arrow.isLost ? "said lost" : "said"}>
              <line
                x1={LEFT + COLUMN * (arrow.from + 0.5)}
                x2={LEFT + COLUMN * (arrow.to + 0.5)}
                y1={y(arrow.sent)}
                y2={y(arrow.received)}
                marker-end="url(#ladder-head)"
              />
              <text
                x={LEFT + COLUMN * ((arrow.from + arrow.to) / 2 + 0.5)}
                y={(y(arrow.sent) + y(arrow.received)) / 2 - 4}
                text-anchor="middle"
              >
                {arrow.text}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <p class="note">
        Times in milliseconds since the start of the run; rows are not to scale.{" "}
        {reservation.ladder.length > ROWS_MAX && (
          <button type="button" onClick={() => setWhole(!isWhole)}>
            {isWhole ? `First ${ROWS_MAX} events` : `All ${reservation.ladder.length} events`}
          </button>
        )}
      </p>
    </section>
  );
}

/** Nodes in the order in which declarations reach them, then the others. */
function columns(rungs: Rung[]): string[] {
  const said = rungs.filter((rung) => rung.peer).flatMap((rung) => [rung.node, rung.peer!]);
  return [...new Set([...said, ...rungs.map((rung) => rung.node)])];
}

/** From each sent declaration to where it is received; a short one to the next row if it never is. */
function arrows(rungs: Rung[], nodes: string[]): Arrow[] {
  const taken = new Set<number>();
  const list: Arrow[] = [];
  rungs.forEach((rung, row) => {
    if (rung.event !== "sent" || !rung.peer) return;
    const received = rungs.findIndex(
      (other, at) =>
        at > row &&
        !taken.has(at) &&
        other.event === "received" &&
        other.node === rung.peer &&
        other.peer === rung.node &&
        other.declaration === rung.declaration,
    );
    if (received >= 0) taken.add(received);
    list.push({
      from: nodes.indexOf(rung.node),
      to: nodes.indexOf(rung.peer),
      sent: row,
      received: received < 0 ? row : received,
      text: rung.declaration ?? "",
      isLost: received < 0,
    });
  });
  return list;
}

function outcome(reservation: Reservation): string {
  const parts = [reservation.sends ? "reserved" : "silent"];
  const ms = (ps: number) => `${(ps / 1e9).toFixed(3)}\u00a0ms`;
  if (reservation.set_up_ps !== undefined) parts.push(`set up in ${ms(reservation.set_up_ps)}`);
  if (reservation.admission_ps !== undefined) parts.push(`admitted in ${ms(reservation.admission_ps)}`);
  if (reservation.admission_bound_ps !== undefined) {
    parts.push(`admission proven within ${ms(reservation.admission_bound_ps)}`);
  }
  if (reservation.lapses > 0) parts.push(`${reservation.lapses} lapses`);
  if (reservation.failure_code !== undefined) parts.push(`failure code ${reservation.failure_code}`);
  return parts.join(", ");
}
