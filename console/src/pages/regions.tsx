import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault, ask, withQuery } from "../lib/api";
import { csv, download } from "../lib/csv";
import { go, usePlace } from "../lib/router";
import { numberText, t, timeText } from "../lib/store";
import { Failure, note, useAnswer, useTitle } from "../lib/ui";

interface StoredTable { name: string; regions: number; servers: number; mb: number; detail?: string }
interface HeatMap { table: string; starts: string[]; times: string[]; rows: number[][]; bytes: number[][]; most: number }
interface Hot { table?: string; region?: string; server: string; since: string; severity: string; times_mean: number; cause: string; why: string; advice: string[] }
interface Region { name: string; start: string; start_fields?: string; server: string; files_mb: number; memstore_mb: number; reads: number; writes: number }
interface Seen { heat: HeatMap; hot: Hot[]; regions: Region[] }

const path = "/api/v1/ops";
const every = 10_000; // ms between two looks, while the page is in sight
const spans = ["15", "60", "240", "480"]; // minutes
const wide = 900, high = 420; // pixels of the picture

/** How unevenly a table is written: keys from top to bottom, time from left to right. */
export function Regions() {
  useTitle(t("regions"));
  const { query } = usePlace();
  const { answer, err, again } = useAnswer((signal) => ask<{ tables: StoredTable[] }>(path + "/tables", { signal }), []);
  if (err instanceof Fault && err.status === 404) return <><h1>{t("regions")}</h1><p>{t("noRegions")}</p></>;
  if (err !== undefined) return <><h1>{t("regions")}</h1><Failure err={err} again={again} /></>;
  if (!answer) return <><h1>{t("regions")}</h1><p role="status">{t("loading")}</p></>;
  const table = answer.tables.find((one) => one.name === query.get("table"))?.name ?? answer.tables[0]?.name;
  const minutes = spans.find((one) => one === query.get("minutes")) ?? "60";
  const metric = query.get("metric") === "bytes" ? "bytes" : "rows";
  const to = (change: Record<string, string>): void =>
    go(withQuery("/regions", Object.entries({ table: table ?? "", minutes, metric, ...change })));
  return <>
    <h1>{t("regions")}</h1>
    <form class="filters" onSubmit={(e) => e.preventDefault()}>
      <label>{t("regionsTable")}<select value={table} onChange={(e) => to({ table: e.currentTarget.value })}>
        {answer.tables.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></label>
      <label>{t("metric")}<select value={metric} onChange={(e) => to({ metric: e.currentTarget.value })}>
        <option value="rows">{t("rowsPerSecond")}</option><option value="bytes">{t("bytesPerSecond")}</option></select></label>
      <label>{t("span")}<select value={minutes} onChange={(e) => to({ minutes: e.currentTarget.value })}>
        {spans.map((one) => <option key={one} value={one}>{t("minutes", { n: one })}</option>)}</select></label>
    </form>
    {table ? <OneTable key={table} table={table} minutes={minutes} metric={metric} /> : <p class="empty">{t("none")}</p>}
  </>;
}

function OneTable({ table, minutes, metric }: { table: string; minutes: string; metric: "rows" | "bytes" }) {
  const [turn, setTurn] = useState(0);
  const at = `${path}/tables/${encodeURIComponent(table)}`;
  const { answer, err, again } = useAnswer<Seen>(async (signal) => {
    const [heat, skew, regions] = await Promise.all([
      ask<HeatMap>(withQuery(at + "/heat", [["minutes", minutes]]), { signal }),
      ask<{ hot: Hot[] | null }>(at + "/skew", { signal }), ask<{ regions: Region[] }>(at + "/regions", { signal })]);
    return { heat, hot: (skew.hot ?? []).filter((one) => !one.table || one.table === table), regions: regions.regions };
  }, [table, minutes, turn]);
  useEffect(() => {
    const timer = setInterval(() => { if (document.visibilityState === "visible") setTurn((n) => n + 1); }, every);
    return () => clearInterval(timer);
  }, []);
  const [bright, setBright] = useState(1);
  if (err !== undefined && !answer) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")}</p>;
  const { heat, hot, regions } = answer;
  return <>
    {err !== undefined && <Failure err={err} again={again} />}
    <section class="sheet" aria-labelledby="hot-title"><h2 id="hot-title">{t("hot")}</h2>
      {hot.length === 0 ? <p class="small">{t("notHot")}</p> : hot.map((one) => <div key={one.server + one.region} class={`hotspot ${one.severity}`}>
        <p><strong>{one.cause}</strong> · {t("timesMean", { n: numberText(Math.round(one.times_mean * 10) / 10) })}</p>
        <p dir="auto">{one.why}</p>{one.advice.length > 0 && <ul>{one.advice.map((a) => <li key={a} dir="auto">{a}</li>)}</ul>}
      </div>)}
    </section>
    {heat.times.length === 0 || heat.starts.length === 0 ? <p class="empty">{t("noHeat")}</p> : <>
      <Map heat={heat} metric={metric} bright={bright} brighten={setBright} />
      <Hottest heat={heat} metric={metric} />
    </>}
    <h2 id="regions-title">{t("regionsOf", { table })}</h2>
    <div class="scroll" tabIndex={0} role="group" aria-labelledby="regions-title"><table>
      <thead><tr><th scope="col">{t("startKey")}</th><th scope="col">{t("server")}</th><th scope="col" class="number">{t("size")}</th>
        <th scope="col" class="number">{t("reads")}</th><th scope="col" class="number">{t("writes")}</th></tr></thead>
      <tbody>{regions.slice(0, 500).map((r) => <tr key={r.name}><td class="cell" dir="auto">{r.start || t("fromStart")}{r.start_fields && <small>{r.start_fields}</small>}</td>
        <td class="cell">{r.server}</td><td class="number">{numberText(r.files_mb + r.memstore_mb)}</td><td class="number">{numberText(r.reads)}</td>
        <td class="number">{numberText(r.writes)}</td></tr>)}</tbody></table></div>
    <p class="foot"><button type="button" class="quiet" onClick={() => download("regions.csv", csv(["start", "server", "mb", "reads", "writes"],
      regions.map((r) => [r.start, r.server, r.files_mb + r.memstore_mb, r.reads, r.writes])))}>{t("csv")}</button></p>
  </>;
}

// viridis: light and dark differ for whoever sees no colours.
const colours = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

function colour(part: number): readonly [number, number, number] {
  const at = Math.min(Math.max(part, 0), 1) * (colours.length - 1), i = Math.min(Math.floor(at), colours.length - 2), rest = at - i;
  const a = colours[i]!, b = colours[i + 1]!;
  return [a[0] + (b[0] - a[0]) * rest, a[1] + (b[1] - a[1]) * rest, a[2] + (b[2] - a[2]) * rest];
}

function Map({ heat, metric, bright, brighten }: { heat: HeatMap; metric: "rows" | "bytes"; bright: number; brighten: (n: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null), cursor = useRef<HTMLDivElement>(null);
  const cells = heat[metric], ranges = heat.starts.length, columns = heat.times.length;
  const most = useMemo(() => Math.max(0, ...cells.map((line) => Math.max(0, ...line))), [cells]);
  const [at, setAt] = useState<[number, number] | null>(null);
  const [pinned, setPinned] = useState(false);
  useEffect(() => {
    const to = canvas.current?.getContext("2d");
    if (!to) return;
    const image = to.createImageData(wide, high), scale = Math.log1p(most);
    for (let y = 0; y < high; y++) {
      for (let x = 0; x < wide; x++) { // of the cells that a pixel stands for it shows the hottest
        let hottest = 0;
        for (let r = Math.floor(y * ranges / high); r < Math.max((y + 1) * ranges / high, Math.floor(y * ranges / high) + 1); r++) {
          for (let c = Math.floor(x * columns / wide); c < Math.max((x + 1) * columns / wide, Math.floor(x * columns / wide) + 1); c++) {
            if (r < ranges && c < columns) hottest = Math.max(hottest, cells[r]?.[c] ?? 0);
          }
        }
        const [red, green, blue] = colour(scale === 0 ? 0 : Math.pow(Math.log1p(hottest) / scale, 1 / bright));
        image.data.set([red, green, blue, 255], (y * wide + x) * 4);
      }
    }
    to.putImageData(image, 0, 0);
  }, [cells, bright, most]);
  useEffect(() => {
    if (!cursor.current) return;
    cursor.current.hidden = !at;
    if (!at) return;
    const s = cursor.current.style;
    s.left = `${at[1] * 100 / columns}%`;
    s.top = `${at[0] * 100 / ranges}%`;
    s.width = `max(6px, ${100 / columns}%)`;
    s.height = `max(6px, ${100 / ranges}%)`;
  }, [at, columns, ranges]);
  const point = (event: PointerEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    const part = (n: number, of: number): number => Math.min(of - 1, Math.max(0, Math.floor(n * of)));
    return [part((event.clientY - box.top) / box.height, ranges), part((event.clientX - box.left) / box.width, columns)];
  };
  const keys = (event: KeyboardEvent): void => {
    const step = ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as Record<string, [number, number]>)[event.key];
    if (event.key === "Enter") setPinned(!pinned);
    if (event.key === "Escape") { setAt(null); setPinned(false); }
    if (!step) return;
    event.preventDefault();
    const from = at ?? [0, columns];
    setAt([Math.min(ranges - 1, Math.max(0, from[0] + step[0])), Math.min(columns - 1, Math.max(0, from[1] + step[1]))]);
  };
  const key = at ? heat.starts[at[0]] ?? "" : "";
  return <section class="sheet" aria-labelledby="heat-title">
    <h2 id="heat-title" dir="auto">{heat.table}</h2>
    <p class="small" id="heat-help">{t("heatHelp", { most: numberText(Math.round(most * 10) / 10) + " " + t(metric === "rows" ? "rowsPerSecond" : "bytesPerSecond") })}</p>
    <div class="heat" role="application" tabIndex={0} aria-label={t("heatLabel", { table: heat.table })} aria-describedby="heat-help heat-cell" onKeyDown={keys}>
      <canvas ref={canvas} width={wide} height={high} onPointerMove={(e) => { if (!pinned) setAt(point(e)); }}
        onPointerDown={(e) => { setAt(point(e)); setPinned(!pinned); }} onPointerLeave={() => { if (!pinned) setAt(null); }} />
      <div class="cursor" ref={cursor} hidden />
    </div>
    <div class="axis"><span>{timeText(heat.times[0]!)}</span><span>{timeText(heat.times[columns - 1]!)}</span></div>
    <p class="cellinfo" id="heat-cell" role="status">{at && <>{pinned && <strong>{t("pinned")}: </strong>}
      <span dir="auto">{t("heatCell", { rows: numberText(Math.round(heat.rows[at[0]]?.[at[1]] ?? 0)), bytes: numberText(Math.round(heat.bytes[at[0]]?.[at[1]] ?? 0)),
        start: key || t("fromStart"), at: timeText(heat.times[at[1]]!) })}</span></>}</p>
    <div class="buttons">
      <label>{t("brightness")}<input type="range" min="0.5" max="4" step="0.1" value={bright} onInput={(e) => brighten(Number(e.currentTarget.value))} /></label>
      {pinned && at && <button type="button" onClick={() => { navigator.clipboard.writeText(key).then(() => { note.value = { text: t("copied") }; }, () => {}); }}>{t("copyKey")}</button>}
    </div>
  </section>;
}

/** The ranges that took most, in figures. */
function Hottest({ heat, metric }: { heat: HeatMap; metric: "rows" | "bytes" }) {
  const lines = useMemo(() => heat.starts.map((start, i) => {
    const line = heat[metric][i] ?? [];
    return { start, mean: line.reduce((a, b) => a + b, 0) / Math.max(1, line.length), peak: Math.max(0, ...line) };
  }).sort((a, b) => b.mean - a.mean), [heat, metric]);
  return <section class="sheet" aria-labelledby="hottest-title">
    <div class="bar"><h2 id="hottest-title">{t("hottest")}</h2><button type="button" class="quiet"
      onClick={() => download("heat.csv", csv(["start", "mean", "peak"], lines.map((l) => [l.start, l.mean, l.peak])))}>{t("csv")}</button></div>
    <div class="scroll" tabIndex={0} role="group" aria-labelledby="hottest-title"><table>
      <thead><tr><th scope="col">{t("startKey")}</th><th scope="col" class="number">{t("mean")}</th><th scope="col" class="number">{t("peak")}</th></tr></thead>
      <tbody>{lines.slice(0, 10).map((l) => <tr key={l.start}><td class="cell" dir="auto">{l.start || t("fromStart")}</td>
        <td class="number">{numberText(Math.round(l.mean * 100) / 100)}</td><td class="number">{numberText(Math.round(l.peak * 10) / 10)}</td></tr>)}</tbody>
    </table></div>
  </section>;
}
