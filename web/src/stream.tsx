// The selected stream at a listener: figures, distribution, and where the time goes.

import { Breakdown } from "./breakdown";
import type { Selection } from "./app";
import type { Application, PageData } from "./data";
import { observedMax } from "./data";
import { Distribution } from "./distribution";
import { delay, integer, provisoText, share, span, times } from "./format";
import { Badge } from "./ui";

/** How far apart the copies over two networks may come. */
function skew(bound_ps: number | undefined): string {
  return bound_ps === undefined ? "unbounded" : `at most ${delay(bound_ps)}`;
}

export function StreamDetail(props: {
  data: PageData;
  selection: Selection;
  onSelect: (selection: Selection) => void;
}) {
  const { data, selection } = props;
  const stream = data.summary.streams[selection.stream];
  const listener = stream?.listeners[selection.listener];
  const settings = data.network.streams[selection.stream];
  if (!stream || !listener) return null;
  const histogram = data.histograms.find(
    (each) => each.stream === selection.stream && each.listener === selection.listener,
  );
  const { observed, bound } = listener;
  const facts: [string, string][] = [];
  const add = (name: string, value: string | undefined | null) => value && facts.push([name, value]);
  add("Deadline", stream.deadline_ps === undefined ? "none" : delay(stream.deadline_ps));
  if (bound) add("Bound", bound.unbounded ? `unbounded: ${bound.unbounded.text}` : delay(bound.delay_max_ps));
  if (listener.method) add("Bound by", listener.method.replaceAll("-", " "));
  if (listener.margin_ps !== undefined) add("Margin", delay(listener.margin_ps));
  for (const { proviso, text } of listener.apart_from ?? []) add(`Proven ${provisoText(proviso)}`, text);
  for (const limit of listener.may_be_lost ?? []) {
    add(limit.meant ? "Lost as meant at" : "May be lost at", limit.text);
  }
  if (stream.skew_max_ps !== undefined && bound)
    add("Copies apart", `${skew(listener.skew_bound_ps)} (SkewMax ${delay(stream.skew_max_ps)})`);
  const worst = listener.adversary;
  if (worst?.delay_max_ps !== undefined) {
    const over = worst.bound_to_worst_mille === undefined ? "" : `, bound over it ${times(worst.bound_to_worst_mille)}`;
    add("Adversary's worst", worst.open ? `${delay(worst.delay_max_ps)}${over}` : `nothing is open${over}`);
  }
  if (observed) {
    add("Observed max", delay(observedMax(listener)));
    if (observed.delay_mean_ps !== undefined)
      add("Mean", `${delay(observed.delay_mean_ps)}${confidence(observed.delay_mean_ci95_ps)}`);
    add("Std deviation", delay(observed.delay_sd_ps));
    add("Min", delay(observed.delay_min_ps));
    const jitter = bound?.jitter_ps === undefined ? "" : ` (bound ${delay(bound.jitter_ps)})`;
    add("Jitter", delay(observed.jitter_ps) + jitter);
    if (observed.quantiles) {
      add("Median", delay(observed.quantiles["delay_p50_ps"]));
      add("99 %", delay(observed.quantiles["delay_p99_ps"]));
      add("99.9 %", delay(observed.quantiles["delay_p99_9_ps"]));
    }
    add("Late frames", integer(observed.late));
    for (const at of observed.late_at ?? []) add(`Later than ${span(at.deadline_ps)}`, integer(at.late));
    if (observed.worst)
      add("Worst frame", `no. ${integer(observed.worst.number)}, created at ${span(observed.worst.created_ps)}`);
  }
  for (const [name, value] of atApplication(listener.application)) add(name, value);
  if (stream.frames) {
    add("Frames", `${integer(stream.frames.created)} created, ${integer(stream.frames.delivered)} delivered`);
  }
  if (listener.frames) {
    add("Delivered here", integer(listener.frames.delivered));
    add("Loss", share(listener.frames.loss_ppm));
    if (listener.frames.lost_by_failures) add("Lost by failures", integer(listener.frames.lost_by_failures));
  }
  if (listener.not_served) add("Not served", listener.not_served.text);
  return (
    <section id="stream" class="panel">
      <div class="heading">
        <h2>
          {stream.name}
          <span class="route">
            {stream.talker} → {listener.listener}
          </span>
        </h2>
        {listener.verdict && <Badge verdict={listener.verdict} proviso={listener.proviso} />}
        {stream.listeners.length > 1 && (
          <label class="tools">
            Listener{" "}
            <select
              value={selection.listener}
              onChange={(event) =>
                props.onSelect({ stream: selection.stream, listener: Number(event.currentTarget.value) })
              }
            >
              {stream.listeners.map((each, index) => (
                <option key={each.listener} value={index}>
                  {each.listener}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div class="detail">
        <div class="charts">
          {histogram ? (
            <Distribution
              histogram={histogram}
              bound_ps={bound?.delay_max_ps}
              deadline_ps={stream.deadline_ps}
              name={`${stream.name} at ${listener.listener}`}
            />
          ) : (
            <p class="none">
              {data.summary.run ? "No histogram was kept of this stream." : "No run was made: bounds alone."}
            </p>
          )}
        </div>
        <dl class="figures">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      <Breakdown stream={stream} listener={listener} />
      {settings && (
        <dl class="inline settings">
          {(
            [
              ["Traffic", settings.traffic],
              ["Payload", payload(settings.payload_min_octets, settings.payload_max_octets)],
              ["Promise", settings.arrival ?? "none"],
              ["Shaper", settings.shaper],
              ["Priority", String(settings.priority)],
              ["VLAN", String(settings.vlan)],
              ["To", settings.destination],
              ["UDP", settings.udp],
            ] as [string, string | null][]
          )
            .filter(([, value]) => value)
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      )}
    </section>
  );
}

/** Bound and delays from application to application; nothing of a host that takes no time behind its port. */
function atApplication(application: Application | undefined): [string, string][] {
  const { bound, observed } = application ?? {};
  const facts: [string, string][] = [];
  if (bound)
    facts.push(["Application bound", bound.unbounded ? `unbounded: ${bound.unbounded.text}` : delay(bound.delay_max_ps)]);
  if (!observed) return facts;
  if (observed.observed_max_ps !== undefined) facts.push(["Application max", delay(observed.observed_max_ps)]);
  if (observed.delay_mean_ps !== undefined)
    facts.push(["Application mean", `${delay(observed.delay_mean_ps)}, ${delay(observed.processing.mean_ps)} in its host`]);
  const lost = Object.values(observed.dropped).reduce((sum, count) => sum + count, 0);
  if (lost > 0) facts.push(["Lost in its host", integer(lost)]);
  return facts;
}

function confidence(half_ps: number | undefined): string {
  return half_ps === undefined ? "" : ` ± ${(half_ps / 1e6).toFixed(3)}`;
}

function payload(least: number, greatest: number): string {
  return least === greatest ? `${greatest} B` : `${least} to ${greatest} B`;
}
