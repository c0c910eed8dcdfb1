// The picture of the network: bridges and end stations, cables coloured by use, the selected
// stream's way drawn over them.

import { useMemo } from "preact/hooks";
import type { Focus } from "./app";
import type { Cable, PageData, Port, Stream } from "./data";
import { nodeOf } from "./data";
import { rate, share, span } from "./format";
import { NODE_HEIGHT, layOut } from "./layout";
import { Bar } from "./ui";

interface Props {
  data: PageData;
  stream: Stream | undefined;
  focus: Focus;
  onFocus: (focus: Focus) => void;
}

export function Topology({ data, stream, focus, onFocus }: Props) {
  const ports = useMemo(() => new Map(data.summary.ports.map((port) => [port.port, port])), [data]);
  const onWay = useMemo(() => new Set(stream?.hops.map((hop) => hop.port)), [stream]);
  const wayNodes = useMemo(
    () => new Set(stream?.hops.flatMap((hop) => [nodeOf(hop.port), hop.to])),
    [stream],
  );
  const isLarge = useMemo(() => layOut(data.network, new Set()).isPart, [data]);
  const picture = useMemo(
    () => layOut(data.network, isLarge ? wayNodes : new Set()),
    [data, isLarge, isLarge && wayNodes],
  );
  const parallel = new Map<string, number>();
  return (
    <section id="topology" class="panel">
      <div class="heading">
        <h2>Topology</h2>
        <span class="note">
          {picture.isPart
            ? `${data.network.nodes.length} nodes: only the selected stream’s way is drawn`
            : "Select a node or link to filter streams and links"}
        </span>
      </div>
      <div class="topology">
        <svg
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          style={{ maxWidth: `${picture.width * 1.15}px`, minWidth: `${Math.min(picture.width * 0.72, 640)}px` }}
          role="group"
          aria-label={`Topology: ${data.network.nodes.length} nodes, ${data.network.cables.length} links`}
        >
          {picture.cables.map(({ index, from, to }) => {
            const cable = data.network.cables[index]!;
            const key = [from.name, to.name].sort().join("\n");
            const nth = parallel.get(key) ?? 0;
            parallel.set(key, nth + 1);
            const bend = nth * 7;
            const [there, back] = [ports.get(cable.from.join(".")), ports.get(cable.to.join("."))];
            const used = Math.max(there?.observed?.utilisation_ppm ?? 0, back?.observed?.utilisation_ppm ?? 0);
            const isOnWay = onWay.has(cable.from.join(".")) || onWay.has(cable.to.join("."));
            const isFocus = focus?.kind === "cable" && focus.index === index;
            const line = { x1: from.x, y1: from.y + bend, x2: to.x, y2: to.y + bend };
            const choose = () => onFocus(isFocus ? undefined : { kind: "cable", index });
            return (
              <g
                key={index}
                class={`cable ${isOnWay ? "way" : ""} ${isFocus ? "focus" : ""}`}
                role="button"
                tabIndex={0}
                aria-pressed={isFocus}
                aria-label={`Link ${cable.from.join(".")} to ${cable.to.join(".")}, ${rate(cable.rate_bps)}`}
                onClick={choose}
                onKeyDown={(event) => pressed(event) && choose()}
              >
                <line {...line} class="hit" />
                <line {...line} style={{ strokeWidth: 1.2 + (used / 1e6) * 3.5 }} />
                <title>{cableTitle(cable, there, back)}</title>
              </g>
            );
          })}
          {[...picture.nodes.values()].map((node) => {
            const isFocus = focus?.kind === "node" && focus.name === node.name;
            const choose = () => onFocus(isFocus ? undefined : { kind: "node", name: node.name });
            const isOnWay = wayNodes.has(node.name);
            return (
              <g
                key={node.name}
                class={`node ${node.kind} ${isFocus ? "focus" : ""} ${isOnWay ? "way" : ""}`}
                transform={`translate(${node.x - node.width / 2} ${node.y - NODE_HEIGHT / 2})`}
                role="button"
                tabIndex={0}
                aria-pressed={isFocus}
                aria-label={`${node.kind === "bridge" ? "Bridge" : "End station"} ${node.name}`}
                onClick={choose}
                onKeyDown={(event) => pressed(event) && choose()}
              >
                <rect width={node.width} height={NODE_HEIGHT} rx={node.kind === "bridge" ? 3 : 15} />
                <text x={node.width / 2} y={NODE_HEIGHT / 2} dy="0.35em" text-anchor="middle">
                  {node.name.length > 22 ? `${node.name.slice(0, 21)}…` : node.name}
                </text>
              </g>
            );
          })}
        </svg>
        <Legend stream={stream} />
      </div>
      {focus && <FocusDetail data={data} focus={focus} ports={ports} />}
    </section>
  );
}

function Legend({ stream }: { stream: Stream | undefined }) {
  return (
    <p class="legend">
      <span>
        <i class="swatch bridge" /> bridge
      </span>
      <span>
        <i class="swatch end-station" /> end station
      </span>
      <span>thicker link: more used</span>
      {stream && (
        <span>
          <i class="swatch way" /> way of {stream.name}
        </span>
      )}
    </p>
  );
}

function pressed(event: KeyboardEvent): boolean {
  const isPress = event.key === "Enter" || event.key === " ";
  if (isPress) event.preventDefault();
  return isPress;
}

function cableTitle(cable: Cable, there: Port | undefined, back: Port | undefined): string {
  const used = (port: Port | undefined) => share(port?.observed?.utilisation_ppm);
  const ends = `${cable.from.join(".")} – ${cable.to.join(".")}, ${rate(cable.rate_bps)}`;
  return there?.observed ? `${ends}\n→ ${used(there)} used, ← ${used(back)} used` : ends;
}

function FocusDetail(props: { data: PageData; focus: NonNullable<Focus>; ports: Map<string, Port> }) {
  const { data, focus, ports } = props;
  if (focus.kind === "node") {
    const node = data.network.nodes.find((each) => each.name === focus.name);
    if (!node) return null;
    const own = [...ports.values()].filter((port) => nodeOf(port.port) === node.name);
    return (
      <div class="focus-detail" aria-live="polite">
        <h3>{node.name}</h3>
        <p class="note">
          {node.kind === "bridge" ? "Bridge" : "End station"}, model {node.model}, clock {node.clock}
        </p>
        <PortUse ports={own} />
      </div>
    );
  }
  const cable = data.network.cables[focus.index];
  if (!cable) return null;
  const both = [cable.from.join("."), cable.to.join(".")].flatMap((name) => ports.get(name) ?? []);
  return (
    <div class="focus-detail" aria-live="polite">
      <h3>
        {cable.from.join(".")} – {cable.to.join(".")}
      </h3>
      <p class="note">
        {rate(cable.rate_bps)}, propagation {span(cable.propagation_ps)}
      </p>
      <PortUse ports={both} />
    </div>
  );
}

function PortUse({ ports }: { ports: Port[] }) {
  return (
    <ul class="port-use">
      {ports.map((port) => (
        <li key={port.port}>
          <span>
            {port.port} → {port.to}
          </span>
          {port.observed && (
            <>
              <Bar ppm={port.observed.utilisation_ppm} />
              <span class="number">{share(port.observed.utilisation_ppm)}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
