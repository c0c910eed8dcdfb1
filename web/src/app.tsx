// The page: verdict, topology, streams, the selected stream, links, losses, provenance.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageData, VerdictName } from "./data";
import { PROVISOS, VERDICTS, nodeOf } from "./data";
import { integer, provisoText, span, verdictText } from "./format";
import { Ladders } from "./ladder";
import { Links } from "./links";
import { Losses } from "./losses";
import { MechanismTables } from "./mechanism-tables";
import { Provenance } from "./provenance";
import { Takeover, hasTakeover } from "./takeover";
import { Timetable } from "./timetable";
import { StreamDetail } from "./stream";
import { Streams } from "./streams";
import { TestBed } from "./test-bed";
import { Tightness } from "./tightness";
import { Topology } from "./topology";
import { VirtualLinks } from "./virtual-links";
import { Badge } from "./ui";

/** A part of the picture that the reader looks at. */
export type Focus = { kind: "node"; name: string } | { kind: "cable"; index: number } | undefined;

/** A stream at a listener, by index. */
export interface Selection {
  stream: number;
  listener: number;
}

export function App({ data }: { data: PageData }) {
  const { summary, network } = data;
  const first = useMemo(() => worst(data), [data]);
  const [selection, setSelection] = useState<Selection>(first);
  const [focus, setFocus] = useState<Focus>(undefined);
  const [verdict, setVerdict] = useState<VerdictName | undefined>(undefined);
  useEffect(() => {
    const clear = (event: KeyboardEvent) => event.key === "Escape" && setFocus(undefined);
    window.addEventListener("keydown", clear);
    return () => window.removeEventListener("keydown", clear);
  }, []);
  const ports = useMemo(() => focusedPorts(data, focus), [data, focus]);
  const stream = summary.streams[selection.stream];
  const proviso = PROVISOS.find((one) => summary.streams.some((s) => s.verdict === "proven" && s.proviso === one));
  return (
    <>
      <header class="top">
        <div class="title">
          <span class="brand">Tautwire</span>
          <h1>{network.name}</h1>
          {summary.verification && <Badge verdict={summary.verification.verdict} proviso={proviso} />}
        </div>
        <nav aria-label="Sections">
          {data.served && <a href="/">All runs</a>}
          <a href="#topology">Topology</a>
          <a href="#streams">Streams</a>
          <a href="#stream">Selected</a>
          {summary.adversary && <a href="#tightness">Tightness</a>}
          <a href="#links">Links</a>
          {network.schedule && <a href="#timetable">Timetable</a>}
          {hasTakeover(summary) && <a href="#takeover">Takeover</a>}
          {summary.virtual_links && <a href="#virtual-links">Virtual links</a>}
          {summary.test && <a href="#test-bed">Messages</a>}
          {summary.reservations && <a href="#reservations">Reservations</a>}
          {summary.mechanisms?.some((table) => table.rows.length > 0) && <a href="#mechanisms">Mechanisms</a>}
          {summary.run && <a href="#losses">Losses</a>}
          <a href="#provenance">Provenance</a>
        </nav>
      </header>
      <main>
        <Facts data={data} verdict={verdict} onVerdict={setVerdict} />
        {summary.verification && summary.verification.contradictions.length > 0 && (
          <section class="alarm" role="alert">
            <h2>Observations above a bound</h2>
            <p>A bound or the simulator is wrong. Please report it with this run folder.</p>
            <ul>
              {summary.verification.contradictions.slice(0, 50).map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </section>
        )}
        <Topology data={data} stream={stream} focus={focus} onFocus={setFocus} />
        <Streams
          data={data}
          selection={selection}
          onSelect={setSelection}
          verdict={verdict}
          onVerdict={setVerdict}
          ports={ports}
          focusText={focusText(data, focus)}
          onClearFocus={() => setFocus(undefined)}
        />
        {stream && <StreamDetail data={data} selection={selection} onSelect={setSelection} />}
        {summary.adversary && <Tightness data={data} onSelect={setSelection} />}
        <Links data={data} ports={ports} />
        {network.schedule && (
          <Timetable data={data} schedule={network.schedule} ports={ports} onSelect={setSelection} />
        )}
        {hasTakeover(summary) && <Takeover data={data} onSelect={setSelection} />}
        {summary.virtual_links && summary.virtual_links.length > 0 && (
          <VirtualLinks data={data} links={summary.virtual_links} onSelect={setSelection} />
        )}
        {summary.test && summary.test.messages.length > 0 && (
          <TestBed data={data} messages={summary.test.messages} onSelect={setSelection} />
        )}
        {summary.reservations && <Ladders reservations={summary.reservations} />}
        {summary.mechanisms && <MechanismTables tables={summary.mechanisms} />}
        {summary.run && <Losses data={data} onSelect={setSelection} />}
        <Provenance data={data} />
      </main>
    </>
  );
}

function Facts(props: {
  data: PageData;
  verdict: VerdictName | undefined;
  onVerdict: (verdict: VerdictName | undefined) => void;
}) {
  const { summary, network } = props.data;
  const counts = summary.verification?.streams;
  const held = PROVISOS.map((proviso) => ({
    proviso,
    count: summary.streams.filter((s) => s.verdict === "proven" && s.proviso === proviso).length,
  })).filter(({ count }) => count > 0);
  const provisos = (verdict: VerdictName) => (verdict === "proven" ? held : []);
  return (
    <section class="facts" aria-label="At a glance">
      {counts && (
        <div class="verdicts" role="group" aria-label="Streams by verdict; press to filter">
          {VERDICTS.filter((verdict) => counts[verdict]).map((verdict) => (
            <button
              key={verdict}
              type="button"
              class={`verdict-count ${provisos(verdict).length > 0 ? "may-be-lost" : verdict}`}
              aria-pressed={props.verdict === verdict}
              onClick={() => props.onVerdict(props.verdict === verdict ? undefined : verdict)}
            >
              <b>{counts[verdict]}</b> {verdictText[verdict]}
              {provisos(verdict).map(({ proviso, count }) => `, ${count} ${provisoText(proviso)}`)}
            </button>
          ))}
        </div>
      )}
      <dl class="inline">
        <Fact name="Nodes" value={integer(network.nodes.length)} />
        <Fact name="Links" value={integer(network.cables.length)} />
        <Fact name="Streams" value={integer(summary.streams.length)} />
        {summary.run && <Fact name="Simulated" value={span(summary.run.duration_ps)} />}
        {summary.run && <Fact name="Frame-hops" value={integer(summary.run.frame_hops)} />}
        {summary.run && <Fact name="Seed" value={String(summary.run.seed)} />}
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

/** The listener that the reader should see first: the worst verdict, then the least margin. */
function worst(data: PageData): Selection {
  let best: Selection = { stream: 0, listener: 0 };
  let rank = Number.POSITIVE_INFINITY;
  data.summary.streams.forEach((stream, index) => {
    stream.listeners.forEach((listener, place) => {
      const verdict = listener.verdict ? VERDICTS.indexOf(listener.verdict) : VERDICTS.length;
      const margin = listener.margin_ps ?? 0;
      const value = verdict * 1e15 + Math.max(-1e14, Math.min(1e14, margin));
      if (value < rank) {
        rank = value;
        best = { stream: index, listener: place };
      }
    });
  });
  return best;
}

/** The egress ports of what is in focus; undefined if nothing is. */
function focusedPorts(data: PageData, focus: Focus): Set<string> | undefined {
  if (!focus) return undefined;
  if (focus.kind === "node") {
    const isThere = (port: { port: string; to: string }) =>
      nodeOf(port.port) === focus.name || port.to === focus.name;
    return new Set(data.summary.ports.filter(isThere).map((port) => port.port));
  }
  const cable = data.network.cables[focus.index];
  return cable ? new Set([cable.from.join("."), cable.to.join(".")]) : undefined;
}

function focusText(data: PageData, focus: Focus): string | undefined {
  if (!focus) return undefined;
  if (focus.kind === "node") return `through ${focus.name}`;
  const cable = data.network.cables[focus.index];
  return cable ? `over ${cable.from[0]} – ${cable.to[0]}` : undefined;
}
