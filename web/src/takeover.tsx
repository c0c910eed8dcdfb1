// What failures of a TDMA network cost: the time without a cycle until the standby opens one, and what each kind of failure adds to
// a bound, stated as bars, with a mark at what was seen.

import type { Selection } from "./app";
import type { Failure, PageData, Summary } from "./data";
import { delay } from "./format";

const WHAT: Record<Failure["failure"], string> = {
  stations: "Stations that stop",
  links: "Links that are lost",
  frames: "Synchronisation frames that are lost",
  talkers: "Talkers that babble",
  all: "All that fails",
};

const RULES: Record<NonNullable<Failure["rule"]>, string> = {
  nothing: "no slot is lost",
  slots: "slots of a cycle are lost",
  lifetime: "frames are lost after their lifetime",
};

interface Part {
  kind: string;
  label: string;
  ps: number;
}

/** One line: of what a time is made, and what of it was seen. */
interface Line {
  name: string;
  parts: Part[];
  seen?: number;
  note: string;
  stream?: string;
}

export function hasTakeover(summary: Summary): boolean {
  return summary.takeover !== undefined || (summary.failures ?? []).length > 0;
}

export function Takeover(props: { data: PageData; onSelect: (selection: Selection) => void }) {
  const { summary } = props.data;
  const lines = linesOf(summary);
  const ends = lines.flatMap((line) => [total(line), line.seen ?? 0]);
  const longest = Math.max(1, ...ends);
  const kinds = [...new Map(lines.flatMap((line) => line.parts).map((part) => [part.kind, part.label]))];
  const choose = (name: string | undefined) => {
    const stream = summary.streams.findIndex((each) => each.name === name);
    if (stream >= 0) props.onSelect({ stream, listener: 0 });
  };
  return (
    <section id="takeover" class="panel">
      <div class="heading">
        <h2>Takeover</h2>
        <span class="note legend">
          {kinds.map(([kind, label]) => (
            <span key={kind}>
              <i class={`slot-mark takeover-${kind}`} aria-hidden="true" /> {label}
            </span>
          ))}
          {lines.some((line) => line.seen !== undefined) && (
            <span key="seen">
              <i class="slot-mark takeover-seen" aria-hidden="true" /> seen
            </span>
          )}
        </span>
      </div>
      <div class="takeover" role="list">
        {lines.map((line) => (
          <div class="takeover-row" role="listitem" key={line.name}>
            <span class="takeover-name">{line.name}</span>
            <svg
              viewBox="0 0 1000 20"
              preserveAspectRatio="none"
              role="img"
              aria-label={`${line.name}: ${line.note}`}
              onClick={() => choose(line.stream)}
            >
              {placed(line.parts).map(({ part, begin }) => (
                <rect
                  key={part.kind}
                  class={`takeover-${part.kind}`}
                  x={(1000 * begin) / longest}
                  width={Math.max(part.ps > 0 ? 0.6 : 0, (1000 * part.ps) / longest)}
                  y={2}
                  height={16}
                >
                  <title>{`${part.label}: ${delay(part.ps)}`}</title>
                </rect>
              ))}
              {line.seen !== undefined && (
                <line
                  class="takeover-seen"
                  x1={(1000 * line.seen) / longest}
                  x2={(1000 * line.seen) / longest}
                  y1={0}
                  y2={20}
                >
                  <title>{`seen: ${delay(line.seen)}`}</title>
                </line>
              )}
            </svg>
            <span class="note takeover-note">{line.note}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

function total(line: Line): number {
  return line.parts.reduce((sum, part) => sum + part.ps, 0);
}

/** Parts one behind the other. */
function placed(parts: Part[]): { part: Part; begin: number }[] {
  let begin = 0;
  return parts.map((part) => {
    const here = { part, begin };
    begin += part.ps;
    return here;
  });
}

function linesOf(summary: Summary): Line[] {
  const lines: Line[] = [];
  const { takeover } = summary;
  if (takeover) {
    const { cycle_ps, watch_ps, error_ps, silence_max_ps, silence_observed_ps } = takeover;
    const proven = silence_max_ps !== undefined;
    const parts = [
      { kind: "cycle", label: "cycle", ps: cycle_ps ?? 0 },
      { kind: "watch", label: "watch of the standby", ps: watch_ps ?? 0 },
      { kind: "error", label: "error of clocks and travel", ps: error_ps ?? 0 },
    ];
    const seen = silence_observed_ps === undefined ? "" : `, seen ${delay(silence_observed_ps)}`;
    lines.push({
      name: `Without a cycle until ${takeover.standby} opens one`,
      parts: proven ? parts : [],
      seen: silence_observed_ps,
      note: `${proven ? `${delay(silence_max_ps)} at most` : "nothing is proven"}${seen}`,
    });
    if (takeover.takeover_max_ps !== undefined) {
      const added = { kind: "added", label: "on top of a bound", ps: takeover.takeover_max_ps };
      const note = `${delay(added.ps)} at most on top of a bound (${takeover.takeover_stream})`;
      lines.push({ name: "A master that stops", parts: [added], note, stream: takeover.takeover_stream });
    }
  }
  for (const failure of summary.failures ?? []) lines.push(lineOf(failure));
  return lines;
}

function lineOf(failure: Failure): Line {
  const { added_max_ps: most, added_observed_ps: seen, stream, rule } = failure;
  const name = WHAT[failure.failure];
  if (failure.unbounded) return { name, parts: [], note: `none is proven: ${failure.unbounded.text}` };
  if (most === undefined) return { name, parts: [], note: "no stream has a bound" };
  const observed = seen === undefined ? "" : `, seen ${delay(seen)}`;
  const by = rule ? `; ${RULES[rule]}` : "";
  const note = `${delay(most)} at most on top of a bound (${stream}${by})${observed}`;
  return { name, parts: [{ kind: "added", label: "on top of a bound", ps: most }], seen, note, stream };
}
