// The table of streams: a row for each listener; to sort, to filter, to select.

import { useMemo, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Selection } from "./app";
import type { Listener, PageData, Stream, VerdictName } from "./data";
import { VERDICTS, observedMax } from "./data";
import { share, times, us, verdictText } from "./format";
import { Badge } from "./ui";

interface Row extends Selection {
  of: Stream;
  at: Listener;
  max: number | undefined;
}

interface Column {
  key: string;
  title: string;
  unit?: string;
  /** Narrow screens leave out 2 first, then 1. */
  rank: 0 | 1 | 2;
  needs?: "bounds" | "run" | "adversary";
  isText?: boolean;
  value: (row: Row) => number | string | undefined;
  cell: (row: Row) => ComponentChildren;
}

const COLUMNS: Column[] = [
  {
    key: "listener",
    title: "Way",
    rank: 2,
    isText: true,
    value: (row) => `${row.of.talker} ${row.at.listener}`,
    cell: (row) => `${row.of.talker} → ${row.at.listener}`,
  },
  { key: "class", title: "Class", rank: 2, value: (r) => r.of.traffic_class, cell: (r) => r.of.traffic_class },
  {
    key: "deadline",
    title: "Deadline",
    unit: "µs",
    rank: 1,
    value: (row) => row.of.deadline_ps,
    cell: (row) => us(row.of.deadline_ps),
  },
  {
    key: "bound",
    title: "Bound",
    unit: "µs",
    rank: 0,
    needs: "bounds",
    value: (row) => row.at.bound?.delay_max_ps ?? Number.POSITIVE_INFINITY,
    cell: (row) =>
      row.at.bound?.unbounded ? (
        <span class="unbounded" title={row.at.bound.unbounded.text}>
          {row.at.bound.unbounded.reason === "not-granted" ? "–" : "unbounded"}
        </span>
      ) : (
        us(row.at.bound?.delay_max_ps)
      ),
  },
  {
    key: "adversary",
    title: "Adversary",
    unit: "µs",
    rank: 0,
    needs: "adversary",
    value: (row) => row.at.adversary?.delay_max_ps,
    cell: (row) => us(row.at.adversary?.delay_max_ps),
  },
  {
    key: "tightness",
    title: "Bound/adv.",
    rank: 1,
    needs: "adversary",
    value: (row) => row.at.adversary?.bound_to_worst_mille,
    cell: (row) => (
      <span title={row.at.adversary?.open === false ? "Nothing is open: the run as described is all there is" : undefined}>
        {times(row.at.adversary?.bound_to_worst_mille)}
        {row.at.adversary?.open === false && "*"}
      </span>
    ),
  },
  { key: "max", title: "Max", unit: "µs", rank: 0, needs: "run", value: (r) => r.max, cell: (r) => us(r.max) },
  {
    key: "mean",
    title: "Mean",
    unit: "µs",
    rank: 1,
    needs: "run",
    value: (row) => row.at.observed?.delay_mean_ps,
    cell: (row) => us(row.at.observed?.delay_mean_ps),
  },
  {
    key: "jitter",
    title: "Jitter",
    unit: "µs",
    rank: 1,
    needs: "run",
    value: (row) => row.at.observed?.jitter_ps,
    cell: (row) => us(row.at.observed?.jitter_ps),
  },
  {
    key: "loss",
    title: "Loss",
    rank: 1,
    needs: "run",
    value: (row) => row.at.frames?.loss_ppm,
    cell: (row) => share(row.at.frames?.loss_ppm),
  },
  {
    key: "margin",
    title: "Margin",
    unit: "µs",
    rank: 1,
    needs: "bounds",
    value: (row) => row.at.margin_ps,
    cell: (row) => us(row.at.margin_ps),
  },
];

const ROWS_STEP = 200;

export function Streams(props: {
  data: PageData;
  selection: Selection;
  onSelect: (selection: Selection) => void;
  verdict: VerdictName | undefined;
  onVerdict: (verdict: VerdictName | undefined) => void;
  ports: Set<string> | undefined;
  focusText: string | undefined;
  onClearFocus: () => void;
}) {
  const { summary } = props.data;
  const [text, setText] = useState("");
  const [sort, setSort] = useState<{ key: string; down: boolean } | undefined>(undefined);
  const [limit, setLimit] = useState(ROWS_STEP);
  const hasBounds = summary.verification !== undefined;
  const there = { bounds: hasBounds, run: summary.run !== undefined, adversary: summary.adversary !== undefined };
  const columns = COLUMNS.filter(({ needs }) => !needs || there[needs]);
  const all = useMemo(() => rows(props.data), [props.data]);
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const isShown = (row: Row) =>
      (!props.verdict || row.at.verdict === props.verdict) &&
      (!props.ports || row.of.hops.some((hop) => props.ports!.has(hop.port))) &&
      (!wanted || `${row.of.name} ${row.of.talker} ${row.at.listener}`.toLowerCase().includes(wanted));
    const list = all.filter(isShown);
    return sort ? sorted(list, sort.key, sort.down) : list;
  }, [all, text, sort, props.verdict, props.ports]);
  const sortBy = (key: string) =>
    setSort((now) => (now?.key !== key ? { key, down: key !== "name" } : now.down ? { key, down: false } : undefined));
  const header = (key: string, title: string, unit?: string) => (
    <button type="button" onClick={() => sortBy(key)}>
      {title} {unit && <span class="unit">{unit}</span>}
      <span class="arrow" aria-hidden="true">
        {sort?.key === key ? (sort.down ? "▾" : "▴") : ""}
      </span>
    </button>
  );
  const order = (key: string) => (sort?.key === key ? (sort.down ? "descending" : "ascending") : "none");
  return (
    <section id="streams" class="panel">
      <div class="heading">
        <h2>Streams</h2>
        <div class="tools">
          <input
            type="search"
            placeholder="Filter by name or node"
            aria-label="Filter streams by name or node"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {hasBounds && (
            <select
              aria-label="Filter streams by verdict"
              value={props.verdict ?? ""}
              onChange={(event) => props.onVerdict((event.currentTarget.value || undefined) as VerdictName | undefined)}
            >
              <option value="">All verdicts</option>
              {VERDICTS.map((verdict) => (
                <option key={verdict} value={verdict}>
                  {verdictText[verdict]}
                </option>
              ))}
            </select>
          )}
          {props.focusText && (
            <button type="button" class="chip" onClick={props.onClearFocus}>
              {props.focusText} <span aria-label="clear">×</span>
            </button>
          )}
        </div>
        <span class="note" aria-live="polite">
          {shown.length} of {all.length}
        </span>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text" aria-sort={order("name")}>
                {header("name", "Stream")}
              </th>
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  class={`${column.isText ? "text" : ""} rank-${column.rank}`}
                  aria-sort={order(column.key)}
                >
                  {header(column.key, column.title, column.unit)}
                </th>
              ))}
              <th scope="col" class="gauge-head rank-1">
                <span class="note" title="Bar: observed max. Red mark: bound. Dark mark: deadline.">Compared</span>
              </th>
              {hasBounds && (
                <th scope="col" class="text" aria-sort={order("verdict")}>
                  {header("verdict", "Verdict")}
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {shown.slice(0, limit).map((row) => {
              const isSelected = row.stream === props.selection.stream && row.listener === props.selection.listener;
              const select = () => props.onSelect({ stream: row.stream, listener: row.listener });
              return (
                <tr
                  key={`${row.stream}-${row.listener}`}
                  class={isSelected ? "selected" : ""}
                  aria-current={isSelected ? "true" : undefined}
                  onClick={select}
                >
                  <th scope="row" class="text">
                    <button type="button" class="name" title={row.of.name}>
                      {row.of.name}
                    </button>
                    <span class="narrow-only note">
                      {row.of.talker} → {row.at.listener}
                    </span>
                  </th>
                  {columns.map((column) => (
                    <td
                      key={column.key}
                      title={column.isText ? String(column.cell(row)) : undefined}
                      class={`${column.isText ? "text" : "number"} rank-${column.rank}`}
                    >
                      {column.cell(row)}
                    </td>
                  ))}
                  <td class="rank-1">
                    <Gauge row={row} />
                  </td>
                  {hasBounds && <td class="text">{row.at.verdict && <Badge verdict={row.at.verdict} proviso={row.at.proviso} />}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
        {shown.length === 0 && <p class="none">No stream passes this filter.</p>}
        {shown.length > limit && (
          <button type="button" class="more" onClick={() => setLimit(limit + ROWS_STEP)}>
            Show {Math.min(ROWS_STEP, shown.length - limit)} more of {shown.length - limit}
          </button>
        )}
      </div>
    </section>
  );
}

/** Observed maximum as a bar, bound and deadline as marks, on one scale. */
function Gauge({ row }: { row: Row }) {
  const [bound, deadline] = [row.at.bound?.delay_max_ps, row.of.deadline_ps];
  const top = Math.max(row.max ?? 0, bound ?? 0, deadline ?? 0) * 1.04;
  if (top === 0) return null;
  const x = (ps: number) => (ps / top) * 100;
  return (
    <svg class="gauge" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect x="0" y="4" width="100" height="4" class="track" />
      {row.max !== undefined && <rect x="0" y="4" width={x(row.max)} height="4" class="max" />}
      {bound !== undefined && <rect x={x(bound) - 0.8} y="1" width="1.6" height="10" class="bound" />}
      {deadline !== undefined && <rect x={x(deadline) - 0.8} y="1" width="1.6" height="10" class="deadline" />}
    </svg>
  );
}

function rows(data: PageData): Row[] {
  return data.summary.streams.flatMap((of, stream) =>
    of.listeners.map((at, listener) => ({ stream, listener, of, at, max: observedMax(at) })),
  );
}

function sorted(rows: Row[], key: string, down: boolean): Row[] {
  const column = COLUMNS.find((each) => each.key === key);
  const value = (row: Row): number | string | undefined => {
    if (key === "name") return row.of.name;
    if (key === "verdict") return row.at.verdict && -VERDICTS.indexOf(row.at.verdict);
    return column?.value(row);
  };
  const compare = (left: Row, right: Row) => {
    const [a, b] = [value(left), value(right)];
    if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
    const order = typeof a === "string" ? a.localeCompare(String(b), "en") : a === b ? 0 : a < Number(b) ? -1 : 1;
    return down ? -order : order;
  };
  return [...rows].sort(compare);
}
