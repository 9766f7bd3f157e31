import type { Value } from "../lib/api";
import { isNumber } from "../lib/json";
import { numberText, shown, t } from "../lib/store";

/** Where a key lies in the key space, from 0 to 1. Keys whose beginnings are hex digits, as those of a hash are, share it among 16. */
function placeOf(key: string, hex: boolean): number {
  let at = 0, share = 1;
  const bytes = bytesOf(key);
  for (const b of bytes.slice(0, 6)) {
    share /= hex ? 16 : 256;
    at += share * (hex ? Math.min(15, Math.max(0, parseInt(String.fromCharCode(b), 16) || 0)) : b);
  }
  return at;
}

/** The bytes of a key as HBase's shell prints it. */
function bytesOf(key: string): number[] {
  const out: number[] = [];
  for (let i = 0; i < key.length && out.length < 8; i++) {
    if (key.startsWith("\\x", i)) {
      out.push(parseInt(key.slice(i + 2, i + 4), 16) || 0);
      i += 3;
    } else {
      out.push(key.charCodeAt(i) & 255);
    }
  }
  return out;
}

/** A plan, step by step, with the ranges where they lie in the key space. */
export function Plan({ rows }: { rows: Value[][] }) {
  const ranges = rows.filter(([what, plan]) => what === "range" && String(plan).includes(" → ")).map(([, plan]) => {
    const [start = "", rest = ""] = String(plan).split(" → ");
    return { start, stop: rest.split("  ")[0] ?? "", text: String(plan) };
  });
  const hex = ranges.every((r) => /^[0-9a-f]{2}/.test(r.start) || r.start === "");
  return <ol class="plan">{rows.map(([what, plan], i) => {
    const range = what === "range" ? ranges.find((r) => r.text === plan) : undefined;
    const from = range ? placeOf(range.start, hex) : 0, to = range && range.stop !== "end" ? placeOf(range.stop, hex) : 1;
    return <li key={i}><span class="what">{String(what)}</span><span dir="auto">{String(plan)}</span>
      {range && <svg class="span" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="1000" height="10" />
        <rect x={from * 1000} width={Math.max(6, (to - from) * 1000)} height="10" /></svg>}
    </li>;
  })}</ol>;
}

const mostBars = 30;

/** Whether an answer can be drawn: two columns, the second of which holds numbers. */
export function drawable(columns: { type: string }[], rows: Value[][]): boolean {
  return columns.length === 2 && rows.length > 1 && rows.every((row) => isNumber(row[1]) && Number(row[1]) >= 0) && rows.some((row) => Number(row[1]) > 0);
}

/** An answer of names and numbers, as bars; of more rows than bars are read, as a line. */
export function Chart({ columns, rows }: { columns: { name: string; type: string }[]; rows: Value[][] }) {
  const most = Math.max(...rows.map((row) => Number(row[1])));
  const title = t("chartOf", { what: columns[1]!.name, by: columns[0]!.name });
  if (rows.length <= mostBars) {
    return <figure class="chart"><figcaption>{title}</figcaption><ul>{rows.map((row, i) => <li key={i}>
      <span class="of" dir="auto">{shown(row[0])}</span>
      <svg class="span" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect width={Number(row[1]) / most * 1000} height="10" /></svg>
      <span class="number">{shown(row[1])}</span></li>)}</ul></figure>;
  }
  const points = rows.map((row, i) => `${i / (rows.length - 1) * 1000},${200 - Number(row[1]) / most * 190}`).join(" ");
  return <figure class="chart"><figcaption>{title} · {t("chartMost", { n: numberText(most) })}</figcaption>
    <svg class="line" viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label={title}><polyline points={points} /></svg>
    <div class="axis"><span>{shown(rows[0]![0])}</span><span>{shown(rows[rows.length - 1]![0])}</span></div></figure>;
}
