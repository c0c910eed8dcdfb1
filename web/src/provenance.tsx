// Where the results come from: scenario, seed, version, command, timeline, nodes, description.

import type { PageData } from "./data";
import { span } from "./format";

export function Provenance({ data }: { data: PageData }) {
  const { manifest, summary, network } = data;
  const facts: [string, string | undefined][] = [
    ["Scenario", manifest.scenario],
    ["SHA-256 of its text", manifest.scenario_sha256],
    ["Command", ["tautwire", ...manifest.command].join(" ")],
    ["Version", manifest.version],
    ["Seed", summary.run && String(summary.run.seed)],
    ["Simulated time", summary.run && span(summary.run.duration_ps)],
    ["Warm-up", summary.run && `${span(summary.run.warm_up_ps)}, checked but not in statistics`],
    ["Trace hash", summary.run?.trace_hash],
  ];
  return (
    <section id="provenance" class="panel">
      <div class="heading">
        <h2>Configuration and provenance</h2>
      </div>
      <dl class="figures wide">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="mono">{value}</dd>
            </div>
          ))}
      </dl>
      {network.events.length > 0 && (
        <details>
          <summary>Timeline, {network.events.length} events</summary>
          <ul>
            {network.events.map((event) => (
              <li key={event}>{event}</li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Nodes, {network.nodes.length}</summary>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                {["Node", "Kind", "Model", "Clock"].map((title) => (
                  <th key={title} scope="col" class="text">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {network.nodes.slice(0, 2000).map((node) => (
                <tr key={node.name}>
                  <th scope="row" class="text">
                    {node.name}
                  </th>
                  <td class="text">{node.kind.replace("-", " ")}</td>
                  <td class="text">{node.model}</td>
                  <td class="text">{node.clock}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      <details>
        <summary>Description</summary>
        <pre>{network.description}</pre>
      </details>
    </section>
  );
}
