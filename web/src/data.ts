// The data block of the page: manifest, summary, network and histograms of one run folder.
// The keys are those of docs/schema/summary.schema.json; times are picoseconds.

export type VerdictName =
  | "contradiction"
  | "refused"
  | "missed"
  | "may-be-lost"
  | "not-proven"
  | "proven"
  | "no-requirement";

/** What a proven row is proven but for. */
export type ProvisoName = "but-for-losses" | "for-the-newest" | "once-synchronised";

/** From worst to best. */
export const PROVISOS: ProvisoName[] = ["but-for-losses", "for-the-newest", "once-synchronised"];

/** From worst to best. */
export const VERDICTS: VerdictName[] = [
  "contradiction",
  "refused",
  "missed",
  "may-be-lost",
  "not-proven",
  "proven",
  "no-requirement",
];

export interface Bound {
  delay_max_ps?: number;
  delay_min_ps: number;
  jitter_ps?: number;
  unbounded?: { reason: string; port: string; text: string };
}

export interface Delays {
  count: number;
  delay_min_ps?: number;
  delay_mean_ps?: number;
  delay_max_ps?: number;
  delay_sd_ps?: number;
  delay_mean_ci95_ps?: number;
  jitter_ps?: number;
  quantiles?: Record<string, number>;
  interval?: { interval_min_ps: number; interval_mean_ps: number; interval_max_ps: number };
  /** Of all frames, those of the warm-up too. */
  observed_max_ps?: number;
  late: number;
  late_at?: { deadline_ps: number; late: number }[];
  worst?: { number: number; created_ps: number; delay_ps: number };
}

/** The worst delay that a search found, the described run included. */
export interface Adversary {
  delay_max_ps?: number;
  bound_to_worst_mille?: number;
  /** Whether the description leaves anything open that may make it later. */
  open: boolean;
}

/** What a listener's application sees behind its port: from application to application. */
export interface Application {
  bound?: Bound;
  observed?: Delays & {
    received: number;
    in_flight: number;
    dropped: Record<string, number>;
    processing: { sum_ps: number; mean_ps: number; max_ps: number };
  };
}

/** What became of the copies for one listener. */
export interface ListenerFrames {
  delivered: number;
  in_flight: number;
  withheld?: number;
  dropped: Record<string, number>;
  /** What was lost behind the listener's port, by reason. */
  dropped_in_host?: Record<string, number>;
  /** Who took what is lost for a reason, where not the network of its own accord: failure, start-up, meant. */
  causes?: Record<string, string>;
  lost_by_failures?: number;
  loss_ppm: number;
}

export interface Listener {
  listener: string;
  verdict?: VerdictName;
  bound?: Bound;
  /** The method that gave the bound, if that is one of its path and not of its hops. */
  method?: string;
  margin_ps?: number;
  skew_bound_ps?: number;
  proviso?: ProvisoName;
  /** Reasons for provisos. */
  apart_from?: { proviso: ProvisoName; text: string }[];
  /** Limits on its way that are not proven to be enough. */
  may_be_lost?: { text: string; meant?: boolean }[];
  frames?: ListenerFrames;
  not_served?: { reason: string; failure_code?: number; text: string };
  observed?: Delays;
  adversary?: Adversary;
  application?: Application;
}

export const PARTS = ["processing", "shaping", "queueing", "transmission", "propagation"] as const;
export type Part = (typeof PARTS)[number];
export type Parts = Record<`${Part}_ps`, number>;

export interface Hop {
  port: string;
  to: string;
  previous?: number;
  traffic_class: number;
  observed?: { count: number; delay_max_ps: number; mean: Parts };
  bound?: Bound;
  method?: string;
}

export interface Frames {
  created: number;
  replicated: number;
  delivered: number;
  consumed: number;
  in_flight: number;
  dropped: Record<string, number>;
  loss_ppm: number;
}

export interface Stream {
  name: string;
  talker: string;
  traffic_class: number;
  deadline_ps?: number;
  skew_max_ps?: number;
  verdict?: VerdictName;
  proviso?: ProvisoName;
  frames?: Frames;
  listeners: Listener[];
  hops: Hop[];
}

export interface PortClass {
  traffic_class: number;
  selection: string;
  idle_slope_bps?: number;
  observed?: {
    frames: number;
    dropped: number;
    backlog_max_frames: number;
    backlog_max_octets: number;
    hi_credit_bits?: number;
    lo_credit_bits?: number;
  };
  bound?: {
    backlog_max_octets?: number;
    hi_credit_bits?: number;
    lo_credit_bits?: number;
    utilisation_ppm?: number;
  };
}

export interface Port {
  port: string;
  to: string;
  rate_bps: number;
  observed?: {
    frames: number;
    octets: number;
    busy_ps: number;
    utilisation_ppm: number;
    dropped: number;
    scheduler_discarded?: number;
  };
  classes: PortClass[];
}

export interface VerificationSummary {
  verdict: VerdictName;
  streams: Partial<Record<VerdictName, number>>;
  contradictions: string[];
}

export interface Summary {
  network: string;
  run?: { seed: number; duration_ps: number; warm_up_ps: number; frame_hops: number; trace_hash: string };
  verification?: VerificationSummary;
  /** The search for the worst runs, if there was one. */
  adversary?: { runs: number };
  streams: Stream[];
  ports: Port[];
  reservations?: Reservation[];
  slots?: SlotUse[];
  tdma_cycles?: { left_out: number; cycles: Cycle[] };
  takeover?: Takeover;
  failures?: Failure[];
  harts?: { frames?: CycleFrame[] };
  virtual_links?: VirtualLink[];
  test?: { messages: TestMessages[] };
  mechanisms?: MechanismTable[];
}

/** What a mechanism observed; a column whose name ends in `_ps` has times. */
export interface MechanismTable {
  name: string;
  title: string;
  about: string;
  columns: { name: string; title: string }[];
  rows: (string | number | null)[][];
}

/** Spans of time; of two clocks they may be below zero. */
export interface Spans {
  count: number;
  min_ps: number;
  mean_ps: number;
  max_ps: number;
  sd_ps?: number;
}

/** What became of the messages of a transmit task of a test bed. */
export interface TestMessages {
  id: number;
  route: string;
  sent: number;
  complete: number;
  lost: Record<string, number>;
  open: number;
  misdirected: number;
  corrupted: number;
  repeated: number;
  outliers: number;
  round_trip?: Spans;
  links: { route: string; from: string; to: string; received: number; one_way?: Spans }[];
}

/** A virtual link (ARINC 664 part 7) with all its sub-virtual-links. */
export interface VirtualLink {
  id: number;
  talker: string;
  streams: string[];
  bag_ps: number;
  frame_min: number;
  frame_max: number;
  redundant: boolean;
  granted_bps: number;
  granted_ppm: number;
  bag_used_ppm?: number;
  end_system_jitter_ps: number;
  end_system_jitter_max_ps: number;
  delay_max_ps?: number;
}

/** The takeover of a TDMA standby: the time without a cycle, of what it is made, and what a failing master adds to a bound. */
export interface Takeover {
  standby: string;
  cycle_ps?: number;
  watch_ps?: number;
  error_ps?: number;
  silence_max_ps?: number;
  takeover_max_ps?: number;
  takeover_stream?: string;
  silence_observed_ps?: number;
}

/** What a kind of failure of a TDMA network adds to bounds. */
export interface Failure {
  failure: "stations" | "links" | "frames" | "talkers" | "all";
  rule?: "nothing" | "slots" | "lifetime";
  unbounded?: { reason: string; text: string };
  added_max_ps?: number;
  stream?: string;
  added_observed_ps?: number;
}

/** What became of a slot of a TDMA cycle in the run. */
export interface SlotUse {
  owner: string;
  offset_ps: number;
  length_ps: number;
  every: number;
  phase: number;
  opened: number;
  used: number;
  empty: number;
  missed: number;
  unheard: number;
}

/** A cycle of TDMA in the run; of its slots a character each, in the order of the summary's. */
export interface Cycle {
  turn: number;
  number: number;
  begin_ps: number;
  gap_ps?: number;
  opened_by: "master" | "standby" | "both";
  master_opened_ps?: number;
  standby_opened_ps?: number;
  slots: string;
}

/** What happened to a reservation, at a node; `peer` is whom a declaration is for or from. */
export interface Rung {
  at_ps: number;
  node: string;
  event: string;
  port?: string;
  declaration?: string;
  peer?: string;
}

export interface Reservation {
  stream: string;
  set_up_ps?: number;
  admission_ps?: number;
  admission_bound_ps?: number;
  sends: boolean;
  lapses: number;
  failure_code?: number;
  ladder: Rung[];
}

export interface Node {
  name: string;
  kind: "bridge" | "end-station";
  model: string;
  clock: string;
}

export interface Cable {
  from: [string, string];
  to: [string, string];
  rate_bps: number;
  propagation_ps: number;
}

export interface StreamSettings {
  destination: string;
  vlan: number;
  priority: number;
  payload_min_octets: number;
  payload_max_octets: number;
  traffic: string;
  arrival: string | null;
  shaper: string | null;
  udp: string | null;
}

/** A frame in an elementary cycle of HaRTES. */
export interface CycleFrame {
  port: string;
  stream: string;
  number: number;
  cycle: number;
  window: Slot["kind"];
  begin_ps: number;
  end_ps: number;
}

/** A slot of a cycle, repeated every period. */
export interface Slot {
  label: string;
  kind:
    | "synchronisation"
    | "standby"
    | "real-time"
    | "ordinary"
    | "time-triggered"
    | "trigger"
    | "turn-around"
    | "synchronous"
    | "asynchronous"
    | "guard";
  offset_ps: number;
  length_ps: number;
  period_ps: number;
}

/** When who may send: per station of TDMA, per port of time-triggered frames, or per port at a HaRTES switch. */
export interface Schedule {
  kind: "tdma" | "time-triggered" | "harts";
  cycle_ps: number;
  basic_cycle_ps: number;
  rows: { name: string; slots: Slot[] }[];
}

export interface Network {
  name: string;
  nodes: Node[];
  cables: Cable[];
  streams: StreamSettings[];
  events: string[];
  schedule?: Schedule;
  description: string;
}

export interface Histogram {
  stream: number;
  listener: number;
  least_ps: number[];
  greatest_ps: number[];
  count: number[];
}

export interface Manifest {
  scenario: string;
  scenario_sha256: string;
  seed?: number;
  version: string;
  command: string[];
}

export interface PageData {
  manifest: Manifest;
  summary: Summary;
  network: Network;
  histograms: Histogram[];
  /** Whether it comes from a server that has more pages. */
  served?: boolean;
}

/** The data of this page: a report, or what `main.tsx` knows by `page`; nothing if the page is empty. */
export function pageData(): unknown {
  const text = document.getElementById("tautwire-data")?.textContent?.trim();
  return text ? JSON.parse(text) : undefined;
}

/** The greatest delay of all frames, those of the warm-up too. */
export function observedMax(listener: Listener): number | undefined {
  return listener.observed?.observed_max_ps;
}

/** A loss at a listener. */
export interface Loss {
  stream: Stream;
  index: number;
  at: Listener;
  listener: number;
  reason: string;
  count: number;
}

/** All losses at listeners, the greatest first. */
export function lossesOf(streams: Stream[]): Loss[] {
  const rows = streams.flatMap((stream, index) =>
    stream.listeners.flatMap((at, listener) => {
      const row = (reason: string, count: number): Loss => ({ stream, index, at, listener, reason, count });
      const by = (reason: string) => at.frames?.causes?.[reason];
      const onWay = Object.entries(at.frames?.dropped ?? {}).map(([reason, count]) =>
        row(by(reason) && by(reason) !== "meant" ? `${reason} (${by(reason)})` : reason, count),
      );
      const inHost = Object.entries(at.frames?.dropped_in_host ?? {}).map(([reason, count]) =>
        row(`${reason} (in the host${by(reason) ? `, ${by(reason)}` : ""})`, count),
      );
      return [...onWay, ...inHost];
    }),
  );
  return rows.sort((a, b) => b.count - a.count);
}

/** The hops from the talker to a listener, as indices of the stream's; of several ways one after the other, each from where it parts. */
export function path(stream: Stream, listener: Listener): number[] {
  const hops = new Set<number>();
  stream.hops.forEach((end, last) => {
    const way: number[] = [];
    for (let at = end.to === listener.listener ? last : undefined; at !== undefined; ) {
      way.unshift(at);
      at = way.length <= stream.hops.length ? stream.hops[at]?.previous : undefined;
    }
    way.forEach((hop) => hops.add(hop));
  });
  return [...hops];
}

/** The node of `node.port`; a port's name has no point. */
export function nodeOf(port: string): string {
  return port.slice(0, port.lastIndexOf("."));
}
