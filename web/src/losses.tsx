// Frames that were lost, by listener and reason, and what ATS discarded by reception port.

import type { Selection } from "./app";
import type { PageData } from "./data";
import { lossesOf } from "./data";
import { integer, share } from "./format";

export function Losses(props: { data: PageData; onSelect: (selection: Selection) => void }) {
  const { streams } = props.data.summary;
  const rows = lossesOf(streams);
  const dropped = streams.flatMap((stream) => Object.entries(stream.frames?.dropped ?? {}));
  const copies = (isEliminated: boolean) =>
    dropped.reduce((sum, [reason, count]) => sum + ((reason === "eliminated") === isEliminated ? count : 0), 0);
  // A copy that is eliminated came beside another one: nothing is lost with it.
  const note = [
    [copies(false), "copies lost"],
    [copies(true), "copies eliminated"],
  ].flatMap(([count, what]) => (count ? `${integer(Number(count))} ${what}` : []));
  const ports = props.data.summary.ports.filter((port) => port.observed?.scheduler_discarded);
  return (
    <section id="losses" class="panel">
      <div class="heading">
        <h2>Losses</h2>
        <span class="note">
          {note.join(", ")}
        </span>
      </div>
      {rows.length > 0 ? (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col" class="text">
                  Stream
                </th>
                <th scope="col" class="text">
                  Listener
                </th>
                <th scope="col" class="text">
                  Reason
                </th>
                <th scope="col">Copies</th>
                <th scope="col">Lost of its frames</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 500).map((row) => (
                <tr
                  key={`${row.index} ${row.listener} ${row.reason}`}
                  onClick={() => props.onSelect({ stream: row.index, listener: row.listener })}
                >
                  <th scope="row" class="text">
                    <button type="button" class="name">
                      {row.stream.name}
                    </button>
                  </th>
                  <td class="text">{row.at.listener}</td>
                  <td class="text">{row.reason.replaceAll("-", " ")}</td>
                  <td class="number">{integer(row.count)}</td>
                  <td class="number">{share(row.at.frames?.loss_ppm)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p class="none">No frame was lost.</p>
      )}
      {ports.length > 0 && (
        <div class="scroll">
          <table id="discards">
            <thead>
              <tr>
                <th scope="col" class="text">
                  Reception port
                </th>
                <th scope="col" class="text">
                  From
                </th>
                <th scope="col">Discarded by its ATS schedulers</th>
              </tr>
            </thead>
            <tbody>
              {ports.slice(0, 500).map((port) => (
                <tr key={port.port}>
                  <th scope="row" class="text">
                    {port.port}
                  </th>
                  <td class="text">{port.to}</td>
                  <td class="number">{integer(port.observed?.scheduler_discarded)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
