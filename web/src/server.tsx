// The pages of `tautwire serve` besides reports: the list of runs, and why something is not shown.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Manifest, VerdictName, VerificationSummary } from "./data";
import { VERDICTS } from "./data";
import { integer, span, verdictText } from "./format";
import { Badge } from "./ui";

const STEP = 200;

interface ListedRun {
  name: string;
  written_s: number;
  manifest?: Manifest;
  run?: { seed: number; duration_ps: number };
  verification?: VerificationSummary;
  fault?: string;
}

interface Folder {
  path: string;
  runs: ListedRun[];
  running: { name: string; becomes: string; live: boolean }[];
  bridges: { name: string; written_s: number; live: boolean }[];
  fault?: string;
}

export interface Index {
  folders: Folder[];
}

/** The frame of a page: a title, and the way back to the list. */
export function Framed(props: { title: string; badge?: ComponentChildren; isIndex?: boolean; children: ComponentChildren }) {
  return (
    <>
      <header class="top">
        <div class="title">
          <span class="brand">Tautwire</span>
          <h1>{props.title}</h1>
          {props.badge}
        </div>
        {!props.isIndex && (
          <nav aria-label="Pages">
            <a href="/">All runs</a>
          </nav>
        )}
      </header>
      <main>{props.children}</main>
    </>
  );
}

export function FaultPage({ shown }: { shown: { title: string; words: string } }) {
  return (
    <Framed title={shown.title}>
      <p class="panel empty mono">{shown.words}</p>
    </Framed>
  );
}

export function IndexPage({ shown }: { shown: Index }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = (key: string) =>
    setChosen(chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key].slice(-2));
  const [before, after] = chosen;
  const compare =
    before && after ? `/compare?before=${encodeURIComponent(before)}&after=${encodeURIComponent(after)}` : undefined;
  return (
    <Framed title="Runs" isIndex>
      <p class="compare-choice" aria-live="polite">
        {compare ? (
          <a class="action" href={compare}>
            Compare {nameOf(before)} with {nameOf(after)}
          </a>
        ) : (
          <span class="note">
            {chosen.length === 1 ? `${nameOf(before)} is chosen: choose a second run` : "Choose two runs to compare them"}
          </span>
        )}
      </p>
      {shown.folders.map((folder, number) => (
        <FolderPart key={folder.path} folder={folder} number={number} chosen={chosen} choose={choose} />
      ))}
    </Framed>
  );
}

function nameOf(key: string | undefined): string {
  return key?.slice(key.indexOf("/") + 1) ?? "";
}

function FolderPart(props: { folder: Folder; number: number; chosen: string[]; choose: (key: string) => void }) {
  const { folder, number, chosen, choose } = props;
  const [limit, setLimit] = useState(STEP);
  const isEmpty = folder.runs.length + folder.running.length + folder.bridges.length === 0;
  const address = (part: string, name: string) => `/${part}/${number}/${encodeURIComponent(name)}`;
  return (
    <section class="panel">
      <div class="heading">
        <h2 class="mono">{folder.path}</h2>
        <span class="note">
          {integer(folder.runs.length)} {folder.runs.length === 1 ? "run" : "runs"}
        </span>
      </div>
      {folder.fault && <p class="empty lost">{folder.fault}</p>}
      {folder.running.length + folder.bridges.length > 0 && (
        <ul class="running">
          {folder.running.map((run) => (
            <li key={run.name}>
              <span class="pulse" aria-hidden="true" />
              {run.live ? <a href={address("live", run.name)}>{run.becomes}</a> : run.becomes}{" "}
              <span class="note">{run.live ? "goes on" : "is being made"}</span>
            </li>
          ))}
          {folder.bridges.map((bridge) => (
            <li key={bridge.name}>
              <span class={bridge.live ? "pulse" : "pulse still"} aria-hidden="true" />
              <a href={address("live", bridge.name)}>{bridge.name}</a>{" "}
              <span class="note">
                {bridge.live ? "bridge, goes on" : <>bridge, counted last <Written seconds={bridge.written_s} /></>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {isEmpty && !folder.fault && (
        <p class="none">
          No run is here yet: <code>tautwire verify NETWORK.yaml</code> makes one.
        </p>
      )}
      {folder.runs.length > 0 && (
        <div class="scroll">
          <table class="runs">
            <thead>
              <tr>
                <th scope="col" class="text">Compare</th>
                <th scope="col" class="text">Run</th>
                <th scope="col" class="text">Verdicts</th>
                <th scope="col" class="text rank-1">Scenario</th>
                <th scope="col" class="rank-1">Seed</th>
                <th scope="col" class="rank-2">Time</th>
                <th scope="col" class="text rank-1">Written</th>
                <th scope="col" class="text rank-2">Command</th>
              </tr>
            </thead>
            <tbody>
              {folder.runs.slice(0, limit).map((run) => {
                const key = `${number}/${run.name}`;
                return (
                  <tr key={run.name}>
                    <td class="text">
                      <input
                        type="checkbox"
                        aria-label={`Compare ${run.name}`}
                        disabled={run.fault !== undefined}
                        checked={chosen.includes(key)}
                        onChange={() => choose(key)}
                      />
                    </td>
                    <th scope="row" class="text">
                      <a href={address("run", run.name)}>{run.name}</a>
                    </th>
                    <td class="text">
                      {run.fault ? <span class="lost fault">damaged: {run.fault}</span> : <Verdicts of={run.verification} />}
                    </td>
                    <td class="text rank-1">{run.manifest?.scenario}</td>
                    <td class="number rank-1">{run.run?.seed ?? run.manifest?.seed}</td>
                    <td class="number rank-2">{run.run && span(run.run.duration_ps)}</td>
                    <td class="text rank-1">
                      <Written seconds={run.written_s} />
                    </td>
                    <td class="text rank-2 mono">{run.manifest && ["tautwire", ...run.manifest.command].join(" ")}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          {folder.runs.length > limit && (
            <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
              Show {Math.min(STEP, folder.runs.length - limit)} more of {folder.runs.length - limit}
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function Verdicts({ of }: { of: VerificationSummary | undefined }) {
  if (!of) return <span class="note">observed only</span>;
  const counts = VERDICTS.filter((verdict: VerdictName) => of.streams[verdict]);
  const words = counts.map((verdict) => `${of.streams[verdict]} ${(verdictText[verdict] ?? verdict).toLowerCase()}`);
  return (
    <>
      <Badge verdict={of.verdict} /> <span class="note">{words.join(", ")}</span>
    </>
  );
}

/** An instant, in the reader's time. */
export function Written({ seconds }: { seconds: number }) {
  const at = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return (
    <time dateTime={at.toISOString()}>
      {day} {two(at.getHours())}:{two(at.getMinutes())}:{two(at.getSeconds())}
    </time>
  );
}
