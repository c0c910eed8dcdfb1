// A run that goes on, or a bridge: asked for its counts each second, until it is over.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { integer, rate, share, span, us } from "./format";
import type { Live, LiveAnswer, LiveStatus, LiveStream } from "./live-data";
import { uses, waiting } from "./live-data";
import { LiveTopology } from "./live-topology";
import { Framed } from "./server";
import { Bar } from "./ui";

const EVERY_MS = 1000;
const PATIENCE_MS = 5000;
/** So many seconds without new counts are said. */
const OLD_S = 4;

interface Look {
  answer: LiveAnswer;
  /** The counts before those of the answer. */
  before?: LiveStatus | undefined;
  /** The last counts that there were. */
  last?: LiveStatus | undefined;
  fault?: string | undefined;
}

export function LivePage({ shown }: { shown: Live }) {
  const look = useLooks(shown);
  const { answer, before, last, fault } = look;
  const loads = useMemo(() => (last ? uses(before, last) : new Map()), [before, last]);
  const ports = useMemo(() => new Map(last?.ports.map((port) => [port.port, port])), [last]);
  return (
    <Framed title={shown.name} badge={<State answer={answer} fault={fault} />}>
      {answer.over && (
        <p class="panel empty" role="status">
          {answer.report ? (
            <>
              The run is over: <a href={answer.report}>its report</a>
            </>
          ) : shown.bridge ? (
            "The folder of the bridge is gone."
          ) : (
            "The run has ended without results: it was stopped, or its folder was moved. What it had counted last is below."
          )}
        </p>
      )}
      {last ? (
        <>
          <Facts status={last} isBridge={shown.bridge} />
          {shown.network && <LiveTopology network={shown.network} ports={ports} uses={loads} />}
          <Streams status={last} isBridge={shown.bridge} />
          <Ports status={last} uses={loads} isBridge={shown.bridge} />
          {(last.clocks.length > 0 || last.time) && <Clocks status={last} />}
          <Drops status={last} />
        </>
      ) : (
        !answer.over && <p class="panel empty">Nothing is counted yet: the network is being made.</p>
      )}
    </Framed>
  );
}

/** Asks again and again; one question at a time. */
function useLooks(shown: Live): Look {
  const [look, setLook] = useState<Look>({ answer: shown.now, last: shown.now.status });
  const known = useRef(look);
  known.current = look;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const ask = async () => {
      const { last } = known.current;
      const next = { ...known.current };
      try {
        const begun = last?.begun_s === undefined ? "" : `?begun=${last.begun_s}`;
        const reply = await fetch(shown.address + begun, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
        if (!reply.ok) throw new Error((await reply.text()).trim());
        next.answer = (await reply.json()) as LiveAnswer;
        next.fault = undefined;
        const status = next.answer.status;
        if (status && status.elapsed_ps !== last?.elapsed_ps) {
          next.before = last;
          next.last = status;
        }
      } catch (error) {
        next.fault = error instanceof TypeError ? "tautwire serve does not answer" : String((error as Error).message);
      }
      if (isGone) return;
      setLook(next);
      if (!next.answer.over) timer = setTimeout(ask, EVERY_MS);
    };
    if (!shown.now.over) timer = setTimeout(ask, EVERY_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [shown]);
  return look;
}

function State({ answer, fault }: { answer: LiveAnswer; fault: string | undefined }) {
  const isOld = (answer.age_s ?? 0) > OLD_S;
  const [tone, words] = fault
    ? ["missed", fault]
    : answer.over
      ? ["no-requirement", "Over"]
      : isOld
        ? ["not-proven", `No new counts for ${answer.age_s} s`]
        : answer.status
          ? ["proven", "Goes on"]
          : ["no-requirement", "Begins or ends"];
  return (
    <span class={`badge ${tone}`} role="status">
      {words}
    </span>
  );
}

function Facts({ status, isBridge }: { status: LiveStatus; isBridge: boolean }) {
  const { elapsed_ps: elapsed, duration_ps: duration } = status;
  const done = duration ? Math.min(1, elapsed / duration) : undefined;
  const seconds = (ps: number) => `${(ps / 1e12).toFixed(1)} s`;
  return (
    <section class="facts" aria-label="At a glance">
      {done !== undefined && (
        <label class="progress">
          <progress max={1} value={done} /> {seconds(Math.min(elapsed, duration ?? elapsed))} of {span(duration ?? 0)}
        </label>
      )}
      <dl class="inline">
        {isBridge && <Fact name="Runs for" value={seconds(elapsed)} />}
        {status.out_of_order_frames !== undefined && <Fact name="Out of order" value={integer(status.out_of_order_frames)} />}
        {status.duplicate_frames !== undefined && <Fact name="Twice" value={integer(status.duplicate_frames)} />}
        {status.foreign_frames !== undefined && <Fact name="Foreign" value={integer(status.foreign_frames)} />}
      </dl>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const or = (ps: number | null | undefined) => ps ?? undefined;

function Streams({ status, isBridge }: { status: LiveStatus; isBridge: boolean }) {
  const rows = status.streams;
  return (
    <section id="streams" class="panel">
      <div class="heading">
        <h2>Streams</h2>
        <span class="note">
          {isBridge ? "Copies that came and went" : "Delays contain what this machine adds: no verdict rests on them"}
        </span>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text">Stream</th>
              {!isBridge && <th scope="col" class="text rank-1">Way</th>}
              {isBridge && <th scope="col">Received</th>}
              <th scope="col">Sent</th>
              {!isBridge && <th scope="col">Received</th>}
              <th scope="col">{isBridge ? "Dropped" : "Missing"}</th>
              {!isBridge && (
                <>
                  <th scope="col" class="rank-1">Late</th>
                  <th scope="col" class="rank-1">Mean <span class="unit">µs</span></th>
                  <th scope="col" class="rank-1">99 % <span class="unit">µs</span></th>
                  <th scope="col">Max <span class="unit">µs</span></th>
                  <th scope="col">Bound <span class="unit">µs</span></th>
                  <th scope="col" class="rank-1">Deadline <span class="unit">µs</span></th>
                  <th scope="col" class="text rank-2 gauge-head">Max, bound, deadline</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.stream} ${row.listener}`}>
                <th scope="row" class="text">{row.stream}</th>
                {!isBridge && <td class="text rank-1">{row.talker} → {row.listener}</td>}
                {isBridge && <td class="number">{integer(row.received_frames)}</td>}
                <td class="number">{integer(row.sent_frames)}</td>
                {!isBridge && <td class="number">{integer(row.received_frames)}</td>}
                <td class={`number ${row.missing_frames > 0 ? "lost" : ""}`}>{integer(row.missing_frames)}</td>
                {!isBridge && (
                  <>
                    <td class={`number rank-1 ${row.late_frames ? "lost" : ""}`}>{integer(row.late_frames)}</td>
                    <td class="number rank-1">{us(or(row.delay_mean_ps))}</td>
                    <td class="number rank-1">{us(or(row.delay_p99_ps))}</td>
                    <td class="number">{us(or(row.delay_max_ps))}</td>
                    <td class="number">{row.bound_ps ? us(row.bound_ps) : "unbounded"}</td>
                    <td class="number rank-1">{us(or(row.deadline_ps))}</td>
                    <td class="text rank-2"><Scale row={row} /></td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="none">No frame of a described stream has come.</p>}
      </div>
    </section>
  );
}

/** Greatest delay as a bar, bound and deadline as marks, on one scale. */
function Scale({ row }: { row: LiveStream }) {
  const [max, bound, deadline] = [row.delay_max_ps ?? 0, or(row.bound_ps), or(row.deadline_ps)];
  const top = Math.max(max, bound ?? 0, deadline ?? 0) * 1.04;
  if (top === 0) return null;
  const x = (ps: number) => (ps / top) * 100;
  return (
    <svg class="gauge" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect x="0" y="4" width="100" height="4" class="track" />
      <rect x="0" y="4" width={x(max)} height="4" class="max" />
      {bound !== undefined && <rect x={x(bound) - 0.8} y="1" width="1.6" height="10" class="bound" />}
      {deadline !== undefined && <rect x={x(deadline) - 0.8} y="1" width="1.6" height="10" class="deadline" />}
    </svg>
  );
}

function Ports(props: { status: LiveStatus; uses: Map<string, { bps: number; ppm: number }>; isBridge: boolean }) {
  const { status, isBridge } = props;
  const classes = (frames: number[]) =>
    frames.flatMap((count, index) => (count > 0 ? [`class ${index}: ${count}`] : [])).join(", ");
  return (
    <section id="links" class="panel">
      <div class="heading">
        <h2>Ports</h2>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text">Port</th>
              <th scope="col" class="text rank-1">{isBridge ? "Interface" : "To"}</th>
              {!isBridge && <th scope="col" class="rank-1">Rate</th>}
              <th scope="col">Sent now</th>
              <th scope="col" class="text use-head">Line used</th>
              <th scope="col" class="rank-1">Frames</th>
              <th scope="col">Waiting</th>
              <th scope="col" class="rank-1">Most</th>
              <th scope="col">Dropped</th>
            </tr>
          </thead>
          <tbody>
            {status.ports.map((port) => {
              const use = props.uses.get(port.port);
              const most = Math.max(0, ...port.waiting_frames_max);
              return (
                <tr key={port.port}>
                  <th scope="row" class="text">{port.port}</th>
                  <td class="text rank-1">{port.to}</td>
                  {!isBridge && <td class="number rank-1">{port.rate_bps && rate(port.rate_bps)}</td>}
                  <td class="number">{use ? rate(use.bps) : "–"}</td>
                  <td class="text use">
                    {use && (
                      <>
                        <Bar ppm={use.ppm} />
                        <span class="number">{share(Math.round(use.ppm))}</span>
                      </>
                    )}
                  </td>
                  <td class="number rank-1">{integer(port.sent_frames)}</td>
                  <td class="number" title={classes(port.waiting_frames)}>{integer(waiting(port))}</td>
                  <td class="number rank-1" title={classes(port.waiting_frames_max)}>{integer(most)}</td>
                  <td class={`number ${port.dropped_frames > 0 ? "lost" : ""}`}>{integer(port.dropped_frames)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Clocks({ status }: { status: LiveStatus }) {
  const { time } = status;
  return (
    <section id="clocks" class="panel">
      <div class="heading">
        <h2>gPTP</h2>
        <span class="note">Offset of each node’s time from its grandmaster’s</span>
      </div>
      {time && (
        <p class="none">
          Grandmaster {time.is_grandmaster ? "itself" : (time.grandmaster ?? "none")}; ports{" "}
          {time.ports.map((port) => (port.capable ? port.role : `${port.role}, not capable`)).join("; ")}
        </p>
      )}
      {status.clocks.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col" class="text">Node</th>
                <th scope="col" class="text">Grandmaster</th>
                <th scope="col">Offset <span class="unit">µs</span></th>
                <th scope="col">Least <span class="unit">µs</span></th>
                <th scope="col">Greatest <span class="unit">µs</span></th>
                <th scope="col" class="rank-1">Samples without</th>
              </tr>
            </thead>
            <tbody>
              {status.clocks.map((clock) => (
                <tr key={clock.node}>
                  <th scope="row" class="text">{clock.node}</th>
                  <td class="text">{clock.grandmaster ?? "–"}</td>
                  <td class="number">{us(or(clock.offset_ps))}</td>
                  <td class="number">{us(or(clock.offset_min_ps))}</td>
                  <td class="number">{us(or(clock.offset_max_ps))}</td>
                  <td class="number rank-1">{integer(clock.without)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Drops({ status }: { status: LiveStatus }) {
  const rows = [...status.dropped].sort((one, other) => other.frames - one.frames);
  return (
    <section id="losses" class="panel">
      <div class="heading">
        <h2>Drops by reason</h2>
      </div>
      {rows.length === 0 ? (
        <p class="none">Nothing was dropped.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col" class="text">Reason</th>
                <th scope="col" class="text">Stream</th>
                <th scope="col" class="text">Port</th>
                <th scope="col">Frames</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.reason} ${row.stream} ${row.port} ${row.class}`}>
                  <th scope="row" class="text">{row.reason}</th>
                  <td class="text">{row.stream ?? "–"}</td>
                  <td class="text">{row.port ?? "–"}{row.class != null && `, class ${row.class}`}</td>
                  <td class="number lost">{integer(row.frames)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
