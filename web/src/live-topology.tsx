// The picture of a network that is running: what each link carries now, and what waits before it.

import { useMemo } from "preact/hooks";
import type { Network } from "./data";
import { rate } from "./format";
import { NODE_HEIGHT, layOut } from "./layout";
import type { LivePort, Use } from "./live-data";
import { waiting } from "./live-data";

/** With more cables there is no room for words. */
const LABELLED_MAX = 40;

export function LiveTopology(props: { network: Network; ports: Map<string, LivePort>; uses: Map<string, Use> }) {
  const { network, ports, uses } = props;
  const picture = useMemo(() => layOut(network, new Set(), true), [network]);
  if (picture.isPart) return null;
  const isLabelled = picture.cables.length <= LABELLED_MAX;
  const parallel = new Map<string, number>();
  return (
    <section id="topology" class="panel">
      <div class="heading">
        <h2>Topology</h2>
        <span class="note">Rate that leaves each port now, and frames that wait there</span>
      </div>
      <div class="topology">
        <svg
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          style={{ maxWidth: `${picture.width * 1.15}px`, minWidth: `${Math.min(picture.width * 0.72, 640)}px` }}
          role="img"
          aria-label={`Topology: ${network.nodes.length} nodes, ${network.cables.length} links; the table of ports has the numbers`}
        >
          {picture.cables.map(({ index, from, to }) => {
            const cable = network.cables[index]!;
            const key = [from.name, to.name].sort().join("\n");
            const nth = parallel.get(key) ?? 0;
            parallel.set(key, nth + 1);
            const bend = nth * 7;
            const ends = [cable.from, cable.to].map((end) => end.join("."));
            const used = Math.max(...ends.map((end) => uses.get(end)?.ppm ?? 0));
            const isWaited = ends.some((end) => waitingAt(ports.get(end)) > 0);
            const line = { x1: from.x, y1: from.y + bend, x2: to.x, y2: to.y + bend };
            return (
              <g key={index} class={`cable live ${used > 0 ? "way" : ""} ${isWaited ? "waits" : ""}`}>
                <line {...line} style={{ strokeWidth: 1.2 + (used / 1e6) * 3.5 }} />
                <title>{ends.map((end) => `${end}: ${words(ports.get(end), uses.get(end), rate(cable.rate_bps))}`).join("\n")}</title>
                {isLabelled && <Label isFirst at={[from, to]} bend={bend} text={short(ports.get(ends[0]!), uses.get(ends[0]!))} />}
                {isLabelled && <Label at={[to, from]} bend={bend} text={short(ports.get(ends[1]!), uses.get(ends[1]!))} />}
              </g>
            );
          })}
          {[...picture.nodes.values()].map((node) => (
            <g
              key={node.name}
              class={`node live ${node.kind}`}
              transform={`translate(${node.x - node.width / 2} ${node.y - NODE_HEIGHT / 2})`}
            >
              <rect width={node.width} height={NODE_HEIGHT} rx={node.kind === "bridge" ? 3 : 15} />
              <text x={node.width / 2} y={NODE_HEIGHT / 2} dy="0.35em" text-anchor="middle">
                {node.name.length > 22 ? `${node.name.slice(0, 21)}…` : node.name}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </section>
  );
}

function waitingAt(port: LivePort | undefined): number {
  return port ? waiting(port) : 0;
}

/** Near the end of the cable at which the port is: beside a line that goes up or down, else above it at one end and below it at the other. */
function Label(props: { at: { x: number; y: number; width: number }[]; bend: number; text: string; isFirst?: boolean }) {
  const [here, there] = props.at;
  if (!here || !there || props.text === "") return null;
  const [dx, dy] = [there.x - here.x, there.y - here.y];
  const isUpright = Math.abs(dy) > Math.abs(dx);
  // Out of the box of the node, then a little further.
  const share = isUpright ? (NODE_HEIGHT / 2 + 9) / Math.abs(dy) : (here.width / 2 + 6) / Math.max(Math.abs(dx), 1);
  const [x, y] = [here.x + dx * Math.min(share, 0.45), here.y + dy * Math.min(share, 0.45) + props.bend];
  const side = props.isFirst ? -5 : 12;
  return (
    <text
      class="load"
      x={isUpright ? x + 5 : x}
      y={isUpright ? y + 3 : y + side}
      text-anchor={isUpright || dx > 0 ? "start" : "end"}
    >
      {props.text}
    </text>
  );
}

function short(port: LivePort | undefined, use: Use | undefined): string {
  const parts: string[] = [];
  if (use && use.bps >= 1) parts.push(brief(use.bps));
  if (waitingAt(port) > 0) parts.push(`${waitingAt(port)} wait`);
  return parts.join(", ");
}

/** `12.3M`, in bit/s. */
function brief(bps: number): string {
  const [worth, name] = bps >= 1e9 ? [1e9, "G"] : bps >= 1e6 ? [1e6, "M"] : [1e3, "k"];
  return `${Number((bps / worth).toPrecision(3))}${name}`;
}

function words(port: LivePort | undefined, use: Use | undefined, of: string): string {
  const waits = `${waitingAt(port)} waiting`;
  return use ? `${brief(use.bps)}bit/s of ${of}, ${waits}` : `${of}, ${waits}`;
}
