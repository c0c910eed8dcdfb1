// Messages of a test bed, by transmit task and link: what became of them, and how long each link took.

import { Fragment } from "preact";
import type { Selection } from "./app";
import type { PageData, Spans, TestMessages } from "./data";
import { integer, us } from "./format";

export function TestBed(props: {
  data: PageData;
  messages: TestMessages[];
  onSelect: (selection: Selection) => void;
}) {
  const places = new Map(props.data.summary.streams.map((stream, place) => [stream.name, place]));
  const sent = props.messages.reduce((sum, one) => sum + one.sent, 0);
  return (
    <section id="test-bed" class="panel">
      <div class="heading">
        <h2>Messages</h2>
        <span class="note">
          {integer(sent)} of {integer(props.messages.length)} tasks
        </span>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text">Message, link</th>
              <th scope="col">Sent</th>
              <th scope="col">Came</th>
              <th scope="col">Lost</th>
              <th scope="col">Open</th>
              <th scope="col">Misdirected</th>
              <th scope="col">Corrupted</th>
              <th scope="col">Repeated</th>
              <th scope="col">Outliers</th>
              <th scope="col">
                Mean <span class="unit">µs</span>
              </th>
              <th scope="col">
                Deviation <span class="unit">µs</span>
              </th>
              <th scope="col">
                Least – most <span class="unit">µs</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {props.messages.map((one) => (
              <Fragment key={one.id}>
                <tr class="first">
                  <th scope="row" class="text">
                    <button
                      type="button"
                      class="name"
                      onClick={() => props.onSelect({ stream: places.get(one.route) ?? 0, listener: 0 })}
                    >
                      {one.route}
                    </button>
                    {one.round_trip && <span class="note"> round trip</span>}
                  </th>
                  <td class="number">{integer(one.sent)}</td>
                  <td class="number">{integer(one.complete)}</td>
                  <td class="number" title={reasons(one)}>
                    {integer(Object.values(one.lost).reduce((sum, count) => sum + count, 0))}
                  </td>
                  <td class="number">{integer(one.open)}</td>
                  <td class="number">{integer(one.misdirected)}</td>
                  <td class="number">{integer(one.corrupted)}</td>
                  <td class="number">{integer(one.repeated)}</td>
                  <td class="number">{integer(one.outliers)}</td>
                  <Times of={one.round_trip} />
                </tr>
                {one.links.map((link) => (
                  <tr key={`${link.route} ${link.to}`}>
                    <td class="text note">
                      {link.from} to {link.to} by {link.route}
                    </td>
                    <td />
                    <td class="number">{integer(link.received)}</td>
                    <td colSpan={6} />
                    <Times of={link.one_way} />
                  </tr>
                ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Times({ of }: { of: Spans | undefined }) {
  return (
    <>
      <td class="number">{us(of?.mean_ps)}</td>
      <td class="number">{us(of?.sd_ps)}</td>
      <td class="number">{of === undefined ? "–" : `${us(of.min_ps)} – ${us(of.max_ps)}`}</td>
    </>
  );
}

function reasons(one: TestMessages): string {
  return Object.entries(one.lost)
    .map(([reason, count]) => `${reason.replaceAll("-", " ")} ${count}`)
    .join(", ");
}
