// Numbers for people. Delays are microseconds with three decimals, as in the tables of the command.

const NONE = "–";

/** `12.336`, in microseconds. */
export function us(ps: number | undefined): string {
  if (ps === undefined) return NONE;
  return grouped((ps / 1e6).toFixed(3));
}

/** With its unit: `12.336 µs`. */
export function delay(ps: number | undefined): string {
  return ps === undefined ? NONE : `${us(ps)}\u00a0µs`;
}

/** A span of simulated time: `2 s`, `12.5 ms`. */
export function span(ps: number): string {
  const units: [number, string][] = [
    [1e12, "s"],
    [1e9, "ms"],
    [1e6, "µs"],
    [1e3, "ns"],
  ];
  for (const [worth, name] of units) {
    if (ps >= worth) return `${Number((ps / worth).toPrecision(6))}\u00a0${name}`;
  }
  return `${ps} ps`;
}

export function integer(value: number | undefined): string {
  return value === undefined ? NONE : grouped(String(value));
}

/** `12.3 %`; small shares keep their digits. */
export function share(ppm: number | undefined): string {
  if (ppm === undefined) return NONE;
  if (ppm === 0) return "0 %";
  if (ppm < 1000) return `${(ppm / 1e4).toFixed(4)} %`;
  return `${(ppm / 1e4).toFixed(1)} %`;
}

/** A ratio in thousandths: `1.058`. */
export function times(mille: number | undefined): string {
  return mille === undefined ? NONE : (mille / 1000).toFixed(3);
}

export function rate(bps: number): string {
  if (bps >= 1e9) return `${Number((bps / 1e9).toPrecision(6))} Gbit/s`;
  if (bps >= 1e6) return `${Number((bps / 1e6).toPrecision(6))} Mbit/s`;
  return `${Number((bps / 1e3).toPrecision(6))} kbit/s`;
}

/** The words behind a verdict. */
export function provisoText(proviso: string): string {
  return proviso.replaceAll("-", " ");
}

export const verdictText: Record<string, string> = {
  contradiction: "Contradiction",
  refused: "Refused",
  missed: "Missed",
  "may-be-lost": "May be lost",
  "not-proven": "Not proven",
  proven: "Proven",
  "no-requirement": "No requirement",
};

/** Thin spaces between groups of three digits, from five digits on. */
function grouped(digits: string): string {
  const [whole = "", fraction] = digits.split(".");
  const sign = whole.startsWith("-") ? "−" : "";
  const bare = whole.replace("-", "");
  const spaced = bare.length > 4 ? bare.replace(/\B(?=(\d{3})+$)/g, "\u202f") : bare;
  return sign + spaced + (fraction === undefined ? "" : `.${fraction}`);
}

/** Round values of an axis from `least` to `greatest`, about `count` of them. */
export function ticks(least: number, greatest: number, count: number): number[] {
  const raw = (greatest - least) / Math.max(count, 1);
  if (!(raw > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? raw;
  const values: number[] = [];
  for (let n = Math.ceil(least / step); n * step <= greatest + step * 1e-9; n += 1) values.push(n * step);
  return values;
}

/** A tick of an axis of microseconds, with as many decimals as its step needs. */
export function tickText(value_ps: number, all: number[]): string {
  const step = all.length > 1 ? Math.abs(all[1]! - all[0]!) / 1e6 : 1;
  const decimals = step >= 1 && Number.isInteger(step) ? 0 : step >= 0.1 ? 1 : 3;
  return grouped((value_ps / 1e6).toFixed(decimals));
}
