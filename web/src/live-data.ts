// What a run that goes on, or a bridge, has counted up to now: `status.json` of `tautwire live` and of `tautwire bridge --status`,
// as `tautwire serve` gives it. Times are picoseconds.

import type { Network } from "./data";

export interface LivePort {
  port: string;
  /** The node at the other end; of a bridge by itself the interface. */
  to?: string;
  rate_bps?: number;
  received_frames?: number;
  sent_frames: number;
  sent_octets: number;
  busy_ps: number;
  dropped_frames: number;
  /** By class. */
  waiting_frames: number[];
  waiting_frames_max: number[];
}

export interface LiveStream {
  stream: string;
  talker?: string;
  listener?: string;
  sent_frames: number;
  received_frames: number;
  missing_frames: number;
  late_frames?: number;
  delay_mean_ps?: number | null;
  delay_p99_ps?: number | null;
  delay_max_ps?: number | null;
  bound_ps?: number | null;
  deadline_ps?: number | null;
}

export interface LiveStatus {
  run: string;
  begun_s?: number;
  elapsed_ps: number;
  duration_ps?: number;
  ports: LivePort[];
  streams: LiveStream[];
  dropped: { stream?: string; port?: string | null; class?: number | null; reason: string; frames: number }[];
  clocks: {
    node: string;
    grandmaster?: string | null;
    offset_ps?: number | null;
    offset_min_ps?: number | null;
    offset_max_ps?: number | null;
    without: number;
  }[];
  time?: { grandmaster?: string | null; is_grandmaster: boolean; ports: { role: string; capable: boolean }[] } | null;
  out_of_order_frames?: number;
  duplicate_frames?: number;
  foreign_frames?: number;
}

export interface LiveAnswer {
  status?: LiveStatus;
  age_s?: number | null;
  waits?: boolean;
  over?: boolean;
  report?: string | null;
}

export interface Live {
  name: string;
  address: string;
  bridge: boolean;
  network: Network | null;
  now: LiveAnswer;
}

/** What a port does now: from two looks, one after the other. */
export interface Use {
  bps: number;
  ppm: number;
}

/** By port; nothing for a port without an earlier look, and none that went backwards (a bridge that was started anew). */
export function uses(before: LiveStatus | undefined, now: LiveStatus): Map<string, Use> {
  const found = new Map<string, Use>();
  if (!before) return found;
  const span = now.elapsed_ps - before.elapsed_ps;
  const earlier = new Map(before.ports.map((port) => [port.port, port]));
  for (const port of now.ports) {
    const old = earlier.get(port.port);
    if (!old || span <= 0 || port.sent_octets < old.sent_octets) continue;
    const bps = ((port.sent_octets - old.sent_octets) * 8e12) / span;
    found.set(port.port, { bps, ppm: Math.max(0, ((port.busy_ps - old.busy_ps) / span) * 1e6) });
  }
  return found;
}

export function waiting(port: LivePort): number {
  return port.waiting_frames.reduce((sum, frames) => sum + frames, 0);
}
