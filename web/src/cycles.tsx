// The cycles of a run with TDMA: a row for each, with who opened it and what became of its slots, and for time without one.

import { useState } from "preact/hooks";
import type { Cycle, PageData, SlotUse } from "./data";
import { delay, integer, span, us } from "./format";

const STEP = 40;
/** Of the height of a row, 20. */
const SHAPES: Record<string, { y: number; height: number }> = { empty: { y: 7, height: 6 } };

const FATES: Record<string, { kind: string; told: string }> = {
  u: { kind: "used", told: "used" },
  e: { kind: "empty", told: "empty" },
  E: { kind: "empty", told: "empty, and missed by a frame" },
  x: { kind: "unheard", told: "unheard" },
  X: { kind: "unheard", told: "unheard, and missed by a frame" },
  "?": { kind: "unknown", told: "not over at the end of the run" },
};

const LEGEND: [string, string][] = [
  ["used", "used"],
  ["empty", "empty"],
  ["unheard", "unheard: its owner is silent"],
  ["missed", "missed by a frame"],
  ["by-master", "opened by the master"],
  ["by-standby", "opened by the standby"],
  ["no-cycle", "no cycle is open"],
];

/** Slots that were missed are drawn with a cross, whatever else they are. */
const isMissed = (fate: string) => fate === "E" || fate === "X";

/** Whether the run has cycles to show. */
export function hasCycles(data: PageData): boolean {
  return (data.summary.tdma_cycles?.cycles.length ?? 0) > 0;
}

export function CycleLegend({ data }: { data: PageData }) {
  const cycles = data.summary.tdma_cycles?.cycles ?? [];
  const anySlot = (letters: RegExp) => cycles.some((cycle) => letters.test(cycle.slots));
  const isThere: Record<string, boolean> = {
    unheard: anySlot(/[xX]/),
    missed: anySlot(/[EX]/),
    "by-standby": cycles.some((cycle) => cycle.standby_opened_ps !== undefined),
  };
  return (
    <>
      {LEGEND.filter(([kind]) => isThere[kind] ?? true).map(([kind, told]) => (
        <span key={kind}>
          <i class={`slot-mark fate-${kind}`} aria-hidden="true" /> {told}
        </span>
      ))}
    </>
  );
}

export function CyclesOfRun({ data, length }: { data: PageData; length: number }) {
  const { cycles, left_out } = data.summary.tdma_cycles!;
  const slots = data.summary.slots ?? [];
  const [onlyOdd, setOnlyOdd] = useState(false);
  const [wanted, setWanted] = useState(0);
  const [limit, setLimit] = useState(STEP);
  const [earlier, setEarlier] = useState(0);
  const [chosen, setChosen] = useState<{ turn: number; text: string } | undefined>(undefined);
  const odd = cycles.filter((cycle, place) => isOdd(cycle, cycles[place - 1]));
  const all = onlyOdd ? odd : cycles;
  const found = all.findIndex((cycle) => cycle.number >= wanted);
  const target = found < 0 ? Math.max(0, all.length - 1) : found;
  const start = Math.max(0, target - earlier);
  const end = Math.min(all.length, target + limit);
  const last = cycles[cycles.length - 1]!;
  const silence = (data.summary.run?.duration_ps ?? 0) - last.begin_ps - length;
  const greatest = cycles.reduce((most, cycle) => Math.max(most, cycle.number), 0);
  const restart = (value: number) => {
    setWanted(value);
    setLimit(STEP);
    setEarlier(0);
  };
  return (
    <>
      <div class="tools cycle-tools">
        <label>
          Go to cycle{" "}
          <input
            type="number"
            min={0}
            max={greatest}
            value={wanted}
            onInput={(event) => {
              const value = Math.floor(Number(event.currentTarget.value)) || 0;
              restart(Math.min(greatest, Math.max(0, value)));
            }}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={onlyOdd}
            onChange={(event) => {
              setOnlyOdd(event.currentTarget.checked);
              restart(0);
            }}
          />{" "}
          Only those out of the ordinary ({integer(odd.length)} of {integer(cycles.length)})
        </label>
        {left_out > 0 && <span class="note">{integer(left_out)} further cycles of the run were not kept.</span>}
      </div>
      {start > 0 && (
        <button type="button" class="more" onClick={() => setEarlier(earlier + STEP)}>
          Show {Math.min(STEP, start)} earlier cycles of {integer(start)}
        </button>
      )}
      <div class="timetable cycles" role="list">
        <OwnerRow slots={slots} length={length} />
        {all.slice(start, end).map((cycle, place) => {
          const before = all[start + place - 1];
          const passed = cycle.turn - (before ? before.turn + 1 : 0);
          return [
            !onlyOdd && passed > 0 && (
              <p class="note cycles-left-out" role="listitem" key={`passed ${cycle.turn}`}>
                {integer(passed)} {passed === 1 ? "cycle" : "cycles"} not kept
              </p>
            ),
            cycle.gap_ps !== undefined && <Gap key={`gap ${cycle.turn}`} ps={cycle.gap_ps} />,
            <Row
              key={cycle.turn}
              cycle={cycle}
              slots={slots}
              length={length}
              isChosen={chosen?.turn === cycle.turn}
              onChoose={(text) => setChosen({ turn: cycle.turn, text })}
            />,
          ];
        })}
        {end === all.length && silence > length / 2 && <Gap ps={silence} isLast />}
        {all.length === 0 && <p class="none">No cycle is out of the ordinary.</p>}
      </div>
      {end < all.length && (
        <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
          Show {Math.min(STEP, all.length - end)} more cycles of {integer(all.length - end)}
        </button>
      )}
      <p class="note chosen" aria-live="polite">
        {chosen ? chosen.text : "Press a cycle or a slot to see what became of it."}
      </p>
    </>
  );
}

/** Whose the slots are, by their places in the cycle. */
function OwnerRow({ slots, length }: { slots: SlotUse[]; length: number }) {
  const offsets = [...new Set(slots.map((slot) => slot.offset_ps))].sort((a, b) => a - b);
  return (
    <div class="cycle-row owners" aria-hidden="true">
      <svg class="hatch" width={0} height={0}>
        <pattern id="no-cycle" width={9} height={20} patternUnits="userSpaceOnUse">
          <rect width={4} height={20} />
        </pattern>
      </svg>
      <span class="owner-names">
        {offsets.map((offset, place) => {
          const names = [...new Set(slots.filter((slot) => slot.offset_ps === offset).map((slot) => slot.owner))];
          const behind = offsets[place + 1] ?? length;
          return (
            <span
              key={offset}
              style={{ left: `${(100 * offset) / length}%`, width: `${(100 * (behind - offset)) / length}%` }}
              title={names.join(", ")}
            >
              {names.join(", ")}
            </span>
          );
        })}
      </span>
      <span>opened by</span>
    </div>
  );
}

function Row(props: {
  cycle: Cycle;
  slots: SlotUse[];
  length: number;
  isChosen: boolean;
  onChoose: (text: string) => void;
}) {
  const { cycle, slots, length } = props;
  const x = (ps: number) => (1000 * ps) / length;
  const opened = Math.min(cycle.master_opened_ps ?? Infinity, cycle.standby_opened_ps ?? Infinity);
  const late = Math.max(0, opened - cycle.begin_ps);
  return (
    <div class={`cycle-row${props.isChosen ? " selected" : ""}`} role="listitem">
      <button type="button" class="cycle-name" onClick={() => props.onChoose(toldCycle(cycle, slots))}>
        <b>{integer(cycle.number)}</b> <span class="note">{milliseconds(cycle.begin_ps)}</span>
      </button>
      <svg viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label={toldCycle(cycle, slots)}>
        {late > length / 1000 && (
          <rect class="fate-no-cycle" x={0} width={x(late)} y={0} height={20}>
            <title>{`No cycle is open for ${delay(late)}`}</title>
          </rect>
        )}
        {[...cycle.slots].map((letter, place) => {
          const slot = slots[place];
          const fate = FATES[letter];
          if (!slot || !fate) return null;
          const { y, height } = SHAPES[fate.kind] ?? { y: 2, height: 16 };
          const [from, to] = [x(slot.offset_ps), x(Math.min(length, slot.offset_ps + slot.length_ps))];
          return (
            <g key={place} class="fate" onClick={() => props.onChoose(toldSlot(cycle, slot, letter))}>
              <rect class={`fate-${fate.kind}`} x={from} width={Math.max(1, to - from)} y={y} height={height} />
              {isMissed(letter) && <path class="fate-missed" d={crossed(from, to)} />}
              <title>{toldSlot(cycle, slot, letter)}</title>
            </g>
          );
        })}
        <Mark by="master" ps={cycle.master_opened_ps} begin={cycle.begin_ps} length={length} />
        <Mark by="standby" ps={cycle.standby_opened_ps} begin={cycle.begin_ps} length={length} />
      </svg>
      <span class={`cycle-opener ${cycle.opened_by}`}>{cycle.opened_by}</span>
    </div>
  );
}

/** A frame with a cross in it. */
function crossed(from: number, to: number): string {
  return `M${from} 2H${to}V18H${from}ZL${to} 18M${to} 2L${from} 18`;
}

/** When a synchronisation frame left. */
function Mark(props: { by: "master" | "standby"; ps: number | undefined; begin: number; length: number }) {
  if (props.ps === undefined) return null;
  const at = Math.max(0, Math.min(994, (1000 * (props.ps - props.begin)) / props.length));
  return (
    <rect class={`fate-by-${props.by}`} x={at} width={6} y={0} height={20}>
      <title>{`The ${props.by} opens it at ${delay(props.ps)}`}</title>
    </rect>
  );
}

function Gap({ ps, isLast }: { ps: number; isLast?: boolean }) {
  const text = `${span(ps)} without a cycle${isLast ? ", until the end of the run" : ""}`;
  return (
    <div class="cycle-row gap" role="listitem">
      <span />
      <span class="cycle-gap">
        <span>{text}</span>
      </span>
      <span class="cycle-opener">nobody</span>
    </div>
  );
}

/** Another opened it than the one before, nobody's cycle was before it, or a slot of it was missed or unheard. */
function isOdd(cycle: Cycle, before: Cycle | undefined): boolean {
  const expected = before?.opened_by ?? "master";
  return cycle.gap_ps !== undefined || cycle.opened_by !== expected || /[ExX]/.test(cycle.slots);
}

function named(cycle: Cycle): string {
  return `Cycle ${integer(cycle.number)} at ${milliseconds(cycle.begin_ps)}`;
}

/** All alike, so that they stand in a column. */
function milliseconds(ps: number): string {
  return `${us(ps / 1000)}\u00a0ms`;
}

function toldCycle(cycle: Cycle, slots: SlotUse[]): string {
  const openings = [
    ["master", cycle.master_opened_ps],
    ["standby", cycle.standby_opened_ps],
  ] as const;
  const by = openings
    .filter(([, ps]) => ps !== undefined)
    .map(([who, ps]) => (ps! > cycle.begin_ps ? `the ${who} ${delay(ps! - cycle.begin_ps)} later` : `the ${who}`));
  const fates = [...cycle.slots]
    .map((letter, place) => ({ slot: slots[place], fate: FATES[letter] }))
    .filter(({ slot, fate }) => slot && fate)
    .map(({ slot, fate }) => `${slot!.owner} at ${span(slot!.offset_ps)} ${fate!.told}`);
  return `${named(cycle)}, opened by ${by.join(" and by ")}: ${fates.join("; ")}.`;
}

function toldSlot(cycle: Cycle, slot: SlotUse, letter: string): string {
  const until = delay(slot.offset_ps + slot.length_ps);
  return `${named(cycle)}, slot of ${slot.owner}, ${delay(slot.offset_ps)} to ${until}: ${FATES[letter]?.told}.`;
}
