// Virtual links (ARINC 664 part 7), by end system: BAG, frames, what is granted and used of the line, jitter of the end
// system by the standard's rule, and the greatest bound beside the greatest observed delay.

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Selection } from "./app";
import type { PageData, VirtualLink } from "./data";
import { observedMax } from "./data";
import { integer, rate, share, span, us } from "./format";
import { Bar } from "./ui";

const STEP = 60;

export function VirtualLinks(props: {
  data: PageData;
  links: VirtualLink[];
  onSelect: (selection: Selection) => void;
}) {
  const [limit, setLimit] = useState(STEP);
  const { summary } = props.data;
  const hasRun = summary.run !== undefined;
  const systems = [...new Set(props.links.map((link) => link.talker))];
  const ordered = systems.flatMap((name) => props.links.filter((link) => link.talker === name));
  const places = new Map(summary.streams.map((stream, place) => [stream.name, place]));
  const observed = (link: VirtualLink) => {
    const listeners = link.streams.flatMap((name) => summary.streams[places.get(name) ?? -1]?.listeners ?? []);
    const delays = listeners.map(observedMax).filter((ps) => ps !== undefined);
    return delays.length > 0 ? Math.max(...delays) : undefined;
  };
  return (
    <section id="virtual-links" class="panel">
      <div class="heading">
        <h2>Virtual links</h2>
        <span class="note">
          {integer(props.links.length)} of {integer(systems.length)} end systems
        </span>
      </div>
      <div class="scroll">
        <table class="links">
          <thead>
            <tr>
              <th scope="col" class="text">End system</th>
              <th scope="col">Link</th>
              <th scope="col" class="text rank-2">Streams</th>
              <th scope="col">BAG</th>
              <th scope="col" class="rank-2">
                Lmin – Lmax <span class="unit">B</span>
              </th>
              <th scope="col" class="text rank-1">Networks</th>
              <th scope="col" class="text use-head">Granted of the line</th>
              {hasRun && <th scope="col" class="rank-1">BAG used</th>}
              <th scope="col">
                Bound <span class="unit">µs</span>
              </th>
              {hasRun && (
                <th scope="col">
                  Observed <span class="unit">µs</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {ordered.slice(0, limit).map((link, index) => {
              const first = index === 0 || ordered[index - 1]!.talker !== link.talker;
              const place = places.get(link.streams[0] ?? "");
              const sent = ordered.filter((each) => each.talker === link.talker);
              return (
                <Fragment key={link.id}>
                  <tr class={first ? "first" : ""}>
                    <th scope="row" class="text">
                      {first && (
                        <>
                          {link.talker}{" "}
                          <span
                            class={`note ${link.end_system_jitter_ps > link.end_system_jitter_max_ps ? "over" : ""}`}
                          >
                            {integer(sent.length)} links, jitter {us(link.end_system_jitter_ps)} of{" "}
                            {us(link.end_system_jitter_max_ps)} µs
                          </span>
                        </>
                      )}
                    </th>
                    <td class="number">
                      <button
                        type="button"
                        class="plain"
                        disabled={place === undefined}
                        onClick={() => place !== undefined && props.onSelect({ stream: place, listener: 0 })}
                      >
                        {link.id}
                      </button>
                    </td>
                    <td class="text rank-2">{link.streams.join(", ")}</td>
                    <td class="number">{span(link.bag_ps)}</td>
                    <td class="number rank-2">
                      {integer(link.frame_min)} – {integer(link.frame_max)}
                    </td>
                    <td class="text rank-1">{link.redundant ? "A and B" : "one"}</td>
                    <td class="text use">
                      <Bar ppm={link.granted_ppm} />
                      <span class="number" title={rate(link.granted_bps)}>
                        {share(link.granted_ppm)}
                      </span>
                    </td>
                    {hasRun && <td class="number rank-1">{share(link.bag_used_ppm)}</td>}
                    <td class="number">{link.delay_max_ps === undefined ? "–" : us(link.delay_max_ps)}</td>
                    {hasRun && <td class="number">{us(observed(link))}</td>}
                  </tr>
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      {ordered.length > limit && (
        <button type="button" class="more" onClick={() => setLimit(limit + STEP)}>
          Show {integer(Math.min(STEP, ordered.length - limit))} more of {integer(ordered.length)}
        </button>
      )}
    </section>
  );
}
