// Tables of what mechanisms observed: columns and rows as the results have them, whatever they are of.

import { useState } from "preact/hooks";
import type { MechanismTable } from "./data";
import { integer, span } from "./format";

const STEP = 60;

export function MechanismTables({ tables }: { tables: MechanismTable[] }) {
  const full = tables.filter((table) => table.rows.length > 0);
  if (full.length === 0) return null;
  return (
    <section id="mechanisms" class="panel">
      <div class="heading">
        <h2>Mechanisms</h2>
      </div>
      {full.map((table) => (
        <OneTable key={table.name} table={table} />
      ))}
    </section>
  );
}

function OneTable({ table }: { table: MechanismTable }) {
  const [limit, setLimit] = useState(STEP);
  const isText = table.columns.map((_, place) => table.rows.some((row) => typeof row[place] === "string"));
  const isTime = table.columns.map((column) => column.name.endsWith("_ps"));
  const cell = (value: string | number | null, place: number) => {
    if (value === null) return "–";
    if (typeof value === "string") return value;
    return isTime[place] ? span(value) : integer(value);
  };
  return (
    <>
      <h3>{table.title}</h3>
      <p class="note">{table.about}</p>
      <div class="scroll">
        <table id={table.name}>
          <thead>
            <tr>
              {table.columns.map((column, place) => (
                <th key={column.name} scope="col" class={isText[place] ? "text" : ""}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.slice(0, limit).map((row, index) => (
              <tr key={index}>
                {row.map((value, place) => (
                  <td key={place} class={isText[place] ? "text" : ""}>
                    {cell(value, place)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {table.rows.length > limit && (
        <button type="button" onClick={() => setLimit(limit + STEP)}>
          {integer(table.rows.length - limit)} more
        </button>
      )}
    </>
  );
}
