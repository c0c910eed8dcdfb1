// The slots of a cycle as a Gantt chart: a row per station (TDMA) or egress port (time-triggered links, windows of HaRTES with
// the frames that left in them).

import { useState } from "preact/hooks";
import type { Selection } from "./app";
import { CycleLegend, CyclesOfRun, hasCycles } from "./cycles";
import type { CycleFrame, PageData, Schedule, Slot, SlotUse } from "./data";
import { delay, integer, span } from "./format";

const STEP = 40;
/** Most bars of one row; beyond it the beginning is drawn. */
const BARS_MAX = 2_000;

const WORDS: Record<Slot["kind"], string> = {
  synchronisation: "synchronisation",
  standby: "standby master",
  "real-time": "real-time traffic",
  ordinary: "ordinary traffic",
  "time-triggered": "time-triggered frame",
  trigger: "trigger message",
  "turn-around": "turn-around",
  synchronous: "synchronous window",
  asynchronous: "asynchronous window",
  guard: "guard window",
};

const TITLES: Record<Schedule["kind"], string> = {
  tdma: "Slots per cycle",
  "time-triggered": "Schedule per cycle",
  harts: "Elementary cycles",
};

interface Bar {
  slot: Slot;
  /** Of a slot of TDMA, what became of it in the run. */
  use?: SlotUse;
  begin: number;
  end: number;
}

export function Timetable(props: {
  data: PageData;
  schedule: Schedule;
  ports: Set<string> | undefined;
  onSelect: (selection: Selection) => void;
}) {
  const { schedule } = props;
  const cycles = Math.max(1, Math.round(schedule.cycle_ps / schedule.basic_cycle_ps));
  const [cycle, setCycle] = useState(0);
  const [part, setPart] = useState<"whole" | "cycle" | "run">(cycles <= 8 ? "whole" : "cycle");
  const whole = part === "whole";
  const hasRun = schedule.kind === "tdma" && hasCycles(props.data);
  const [limit, setLimit] = useState(STEP);
  const [chosen, setChosen] = useState<Bar | undefined>(undefined);
  const from = whole ? 0 : cycle * schedule.basic_cycle_ps;
  const length = whole ? schedule.cycle_ps : schedule.basic_cycle_ps;
  const byPort = schedule.kind !== "tdma";
  const frames = schedule.kind === "harts" ? (props.data.summary.harts?.frames ?? []) : [];
  const [shown, setFrame] = useState<CycleFrame | undefined>(undefined);
  const rows = schedule.rows.filter((row) => !byPort || !props.ports || props.ports.has(row.name));
  const kinds = [...new Set(schedule.rows.flatMap((row) => row.slots.map((slot) => slot.kind)))];
  const choose = (bar: Bar) => {
    setChosen(bar);
    setFrame(undefined);
    const stream = props.data.summary.streams.findIndex((each) => each.name === bar.slot.label);
    if (stream >= 0) props.onSelect({ stream, listener: 0 });
  };
  return (
    <section id="timetable" class="panel">
      <div class="heading">
        <h2>{TITLES[schedule.kind]}</h2>
        {(cycles > 1 || hasRun) && (
          <span class="segments" role="group" aria-label="Part of the timetable">
            <button type="button" aria-pressed={whole} onClick={() => setPart("whole")}>
              Whole {span(schedule.cycle_ps)}
            </button>
            {cycles > 1 && (
              <button type="button" aria-pressed={part === "cycle"} onClick={() => setPart("cycle")}>
                One cycle of {span(schedule.basic_cycle_ps)}
              </button>
            )}
            {hasRun && (
              <button type="button" aria-pressed={part === "run"} onClick={() => setPart("run")}>
                Cycles of the run
              </button>
            )}
          </span>
        )}
        {part === "cycle" && (
          <label class="tools">
            Cycle{" "}
            <input
              type="number"
              min={0}
              max={cycles - 1}
              value={cycle}
              onInput={(event) => {
                const wanted = Number(event.currentTarget.value);
                setCycle(Math.min(cycles - 1, Math.max(0, Math.floor(wanted) || 0)));
              }}
            />{" "}
            of {integer(cycles)}
          </label>
        )}
        <span class="note legend">
          {part === "run" && <CycleLegend data={props.data} />}
          {(part === "run" ? [] : kinds).map((kind) => (
            <span key={kind}>
              <i class={`slot-mark ${kind}`} aria-hidden="true" /> {WORDS[kind]}
            </span>
          ))}
          {part !== "run" && props.data.summary.slots?.some((use) => use.missed > 0) && (
            <span key="missed">
              <i class="slot-mark missed" aria-hidden="true" /> missed by a frame
            </span>
          )}
        </span>
      </div>
      {part === "run" ? (
        <CyclesOfRun data={props.data} length={schedule.basic_cycle_ps} />
      ) : (
        <>
          <div class="timetable" role="list">
            <div class="time-row axis" aria-hidden="true">
              <span />
              <span class="ticks">
                {[0, 1, 2, 3].map((quarter) => (
                  <span key={quarter}>{quarter === 0 && from === 0 ? "0" : span(from + (length * quarter) / 4)}</span>
                ))}
              </span>
            </div>
            {rows.slice(0, limit).map((row) => {
              const bars = repeated(row.slots, from, length);
              for (const bar of bars) bar.use = useOf(props.data, schedule, row.name, bar.slot);
              const taken = bars.reduce((sum, bar) => sum + bar.end - bar.begin, 0);
              return (
                <div class="time-row" role="listitem" key={row.name}>
                  <span class="time-name" title={row.name}>
                    {row.name}
                  </span>
                  <svg
                    viewBox="0 0 1000 20"
                    preserveAspectRatio="none"
                    role="img"
                    aria-label={`${row.name}: ${bars.length} slots, ${((100 * taken) / length).toFixed(1)} % of the time`}
                  >
                    {[250, 500, 750].map((x) => (
                      <line key={x} class="grid" x1={x} x2={x} y1={0} y2={20} />
                    ))}
                    {bars.map((bar) => (
                      <rect
                        key={`${bar.slot.label} ${bar.begin}`}
                        class={`slot ${bar.slot.kind}${bar.use && bar.use.missed > 0 ? " missed" : ""}`}
                        x={(1000 * (bar.begin - from)) / length}
                        width={Math.max(0.6, (1000 * (bar.end - bar.begin)) / length)}
                        y={2}
                        height={16}
                        onClick={() => choose(bar)}
                      >
                        <title>{told(bar)}</title>
                      </rect>
                    ))}
                    {frames
                      .filter((frame) => frame.port === row.name)
                      .map((frame) => ({ frame, at: frame.cycle * schedule.basic_cycle_ps + frame.begin_ps - from }))
                      .filter(({ at }) => at >= 0 && at < length)
                      .map(({ frame, at }) => (
                        <rect
                          key={`${frame.stream} ${frame.number} ${frame.cycle}`}
                          class={`cycle-frame ${frame.window}`}
                          x={(1000 * at) / length}
                          width={Math.max(1, (1000 * (frame.end_ps - frame.begin_ps)) / length)}
                          y={6}
                          height={8}
                          onClick={() => {
                            setFrame(frame);
                            const stream = props.data.summary.streams.findIndex((each) => each.name === frame.stream);
                            if (stream >= 0) props.onSelect({ stream, listener: 0 });
                          }}
                        >
                          <title>{toldFrame(frame)}</title>
                        </rect>
                      ))}
                  </svg>
                </div>
              );
            })}
            {rows.length === 0 && <p class="none">Nothing is sent by the timetable here.</p>}
          </div>
          {rows.length > limit && (
            <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
              Show {Math.min(STEP, rows.length - limit)} more ports of {rows.length - limit}
            </button>
          )}
          <p class="note chosen" aria-live="polite">
            {shown ? toldFrame(shown) : chosen ? told(chosen) : "Press a slot to see what it is."}
          </p>
        </>
      )}
    </section>
  );
}

function toldFrame(frame: CycleFrame): string {
  const when = `${delay(frame.begin_ps)} to ${delay(frame.end_ps)} of cycle ${integer(frame.cycle)}`;
  return `${frame.stream}, frame ${integer(frame.number)}: ${when} (${WORDS[frame.window]})`;
}

function told(bar: Bar): string {
  const every = `every ${span(bar.slot.period_ps)}`;
  const told = `${bar.slot.label}: ${delay(bar.begin)} to ${delay(bar.end)}, ${every} (${WORDS[bar.slot.kind]})`;
  const use = bar.use;
  if (!use) return told;
  const unheard = use.unheard > 0 ? `, ${integer(use.unheard)} not heard of` : "";
  return `${told}; used ${integer(use.used)} times, empty ${integer(use.empty)}, missed ${integer(use.missed)}${unheard}`;
}

/** What became of a station's slot in the run. */
function useOf(data: PageData, schedule: Schedule, owner: string, slot: Slot): SlotUse | undefined {
  if (schedule.kind !== "tdma" || slot.kind === "synchronisation" || slot.kind === "standby") return undefined;
  const place = (use: SlotUse) => (use.phase * schedule.basic_cycle_ps + use.offset_ps) % slot.period_ps;
  const cycles = slot.period_ps / schedule.basic_cycle_ps;
  return data.summary.slots?.find(
    (use) => use.owner === owner && use.every === cycles && place(use) === slot.offset_ps,
  );
}

/** The slots within a part of the cycle; one that runs over the end of it begins it too. */
function repeated(slots: Slot[], from: number, length: number): Bar[] {
  const bars: Bar[] = [];
  for (const slot of slots) {
    const first = Math.floor((from - slot.offset_ps - slot.length_ps) / slot.period_ps);
    for (let turn = first; bars.length < BARS_MAX; turn += 1) {
      const begin = slot.offset_ps + turn * slot.period_ps;
      if (begin >= from + length) break;
      const end = begin + slot.length_ps;
      if (end > from) bars.push({ slot, begin: Math.max(begin, from), end: Math.min(end, from + length) });
    }
  }
  return bars;
}
