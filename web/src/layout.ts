// Where nodes and cables stand in the picture.
//
// Bridges, and stations with several cables, are laid out in layers; a station with one cable stands
// above or below its bridge, in its block.

import dagre from "@dagrejs/dagre";
import type { Network } from "./data";

/** More nodes than these are not laid out whole: the picture would be of no use, and slow. */
export const NODES_MAX = 250;
export const NODE_HEIGHT = 30;
const GAP_X = 12;
const GAP_Y = 30;
/** Between rows and between layers where cables have words. */
const WORDS_Y = 46;
const WORDS_X = 150;
const ROW_MAX = 4;

export interface Place {
  name: string;
  kind: string;
  x: number;
  y: number;
  width: number;
}

export interface Picture {
  nodes: Map<string, Place>;
  cables: { index: number; from: Place; to: Place }[];
  width: number;
  height: number;
  /** Whether only a part of the network is drawn. */
  isPart: boolean;
}

/** Stations around one bridge: rows above, nearest first, and rows below. */
interface Block {
  above: string[][];
  below: string[][];
  width: number;
  height: number;
}

/** Lays out the network, or, if that is too large, the nodes named in `part`; with room for words at both ends of a cable if it has them. */
export function layOut(network: Network, part: Set<string>, hasWords = false): Picture {
  const gap = hasWords ? WORDS_Y : GAP_Y;
  const isPart = network.nodes.length > NODES_MAX;
  const drawn = network.nodes.filter((node) => !isPart || part.has(node.name));
  const kind = new Map(drawn.map((node) => [node.name, node.kind]));
  const ends = network.cables
    .map((cable, index) => ({ index, from: cable.from[0], to: cable.to[0] }))
    .filter(({ from, to }) => kind.has(from) && kind.has(to));
  const home = leaves(kind, ends);
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 26, ranksep: hasWords ? WORDS_X : 54, marginx: 10, marginy: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  const blocks = new Map<string, Block>();
  for (const { name } of drawn) {
    if (home.has(name)) continue;
    const around = block(name, [...home].flatMap(([leaf, at]) => (at === name ? [leaf] : [])), gap);
    blocks.set(name, around);
    graph.setNode(name, { width: around.width, height: around.height });
  }
  const order = new Map([...part].map((name, place) => [name, place]));
  for (const { index, from, to } of ends) {
    if (!blocks.has(from) || !blocks.has(to)) continue;
    // A way alone is drawn from its talker on.
    const isBack = isPart && (order.get(from) ?? 0) > (order.get(to) ?? 0);
    graph.setEdge(isBack ? to : from, isBack ? from : to, {}, String(index));
  }
  dagre.layout(graph);
  const nodes = new Map<string, Place>();
  for (const [name, around] of blocks) {
    const at = graph.node(name);
    put(nodes, kind, name, around, [at.x ?? 0, at.y ?? 0], gap);
  }
  const cables = ends.flatMap(({ index, from, to }) => {
    const [a, b] = [nodes.get(from), nodes.get(to)];
    return a && b ? [{ index, from: a, to: b }] : [];
  });
  const size = graph.graph();
  return { nodes, cables, width: size.width ?? 0, height: size.height ?? 0, isPart };
}

function widthOf(name: string): number {
  return Math.max(56, Math.min(name.length, 22) * 7.1 + 26);
}

/** End stations with one cable, and the bridge at its other end. */
function leaves(kind: Map<string, string>, ends: { from: string; to: string }[]): Map<string, string> {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of ends) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const home = new Map<string, string>();
  for (const [name, others] of neighbours) {
    const only = others.length === 1 ? others[0]! : undefined;
    if (kind.get(name) === "end-station" && only && kind.get(only) === "bridge") home.set(name, only);
  }
  return home;
}

function block(name: string, stations: string[], gap: number): Block {
  const half = Math.ceil(stations.length / 2);
  const rows = (list: string[]) => {
    const count = Math.ceil(list.length / ROW_MAX);
    const each = Math.ceil(list.length / Math.max(count, 1));
    return Array.from({ length: count }, (_, row) => list.slice(row * each, (row + 1) * each));
  };
  const [above, below] = [rows(stations.slice(0, half)), rows(stations.slice(half))];
  const width = Math.max(widthOf(name), ...[...above, ...below].map(rowWidth));
  // The bridge stands in the middle of its block, so that bridges in line stand in line.
  const side = Math.max(above.length, below.length) * (NODE_HEIGHT + gap);
  return { above, below, width, height: NODE_HEIGHT + 2 * side };
}

function rowWidth(row: string[]): number {
  return row.reduce((sum, name) => sum + widthOf(name) + GAP_X, -GAP_X);
}

function put(
  nodes: Map<string, Place>,
  kind: Map<string, string>,
  name: string,
  around: Block,
  [x, y]: [number, number],
  gap: number,
) {
  const add = (of: string, at: number, row: number) =>
    nodes.set(of, { name: of, kind: kind.get(of) ?? "", x: at, y: row, width: widthOf(of) });
  add(name, x, y);
  for (const [rows, sign] of [
    [around.above, -1],
    [around.below, 1],
  ] as [string[][], number][]) {
    rows.forEach((row, index) => {
      let left = x - rowWidth(row) / 2;
      for (const station of row) {
        add(station, left + widthOf(station) / 2, y + sign * (index + 1) * (NODE_HEIGHT + gap));
        left += widthOf(station) + GAP_X;
      }
    });
  }
}
