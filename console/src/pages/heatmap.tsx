import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { axis, colourOfUnknown, gridOf, held, joined, paint, palette, scaleOf, strip, valueAt, whole, zoomed, zoomText, zoomView, type Buckets, type Grid, type Joint, type Part, type View } from "../lib/heat";
import { numberText, t, timeText, type Key } from "../lib/store";
import { note } from "../lib/ui";

export interface HeatMap {
  table: string; starts: string[]; labels?: string[]; times: string[]; rows: number[][]; bytes: number[][]; most: number; kept_minutes?: number; detail?: string;
  buckets?: Buckets[]; // finest first
  hot?: { region: string; from: number; to: number }[]; // hot regions, as ranges of the map
  requests?: number[][]; latency?: number[][]; read_latency?: number[][]; // in the place of rows and bytes, if they were asked for
  unknown?: number[]; // columns without requests
  loads?: string; // why requests are not known now
}
/** A place that is hot, as ranges of the map, and why. */
export interface Spot { from: number; to: number; severity: string; why: string }
export type Metric = "rows" | "bytes" | "requests" | "latency" | "read_latency";

const units: Record<Metric, Key> = { rows: "rowsPerSecond", bytes: "bytesPerSecond", requests: "requestsPerSecond", latency: "milliseconds", read_latency: "milliseconds" };

/** Says whether a metric is a duration of brine's calls, of which a cell may have none. */
export const ofCalls = (metric: Metric): boolean => metric === "latency" || metric === "read_latency";

/** A value of the map with its unit. */
const withUnit = (n: number, metric: Metric): string => `${figure(n, metric)} ${t(units[metric])}`;
/** A value of the map: milliseconds are often few. */
export const figure = (n: number, metric: Metric): string => numberText(ofCalls(metric) ? Math.round(n * 100) / 100 : Math.round(n * 10) / 10);

export const cellsOf = (heat: HeatMap, metric: Metric): number[][] => heat[metric] ?? [];

/** Says whether the value of a column's cell is known. Where no call was made, there is no latency. */
export function knownOf(heat: HeatMap, metric: Metric): (n: number, column: number) => boolean {
  if (ofCalls(metric)) return (n) => n > 0;
  const unknown = new Set(metric === "requests" ? heat.unknown : []);
  return (_, column) => !unknown.has(column);
}

/** A part of a map as it was answered, from where it was asked for: nothing is known to have happened before its first column. */
export function partFrom(heat: HeatMap, asked: Part): HeatMap {
  const { first, step } = axis(heat.times), n = Math.ceil((first - asked.from) / step);
  if (heat.times.length === 0 || n <= 0) return heat;
  const longer = (cells: number[][] | undefined): number[][] => (cells ?? []).map((line) => [...Array<number>(n).fill(0), ...line]);
  const out: HeatMap = { ...heat, rows: longer(heat.rows), bytes: longer(heat.bytes), requests: longer(heat.requests), latency: longer(heat.latency),
    read_latency: longer(heat.read_latency), times: [...Array.from({ length: n }, (_, i) => new Date(first + (i + 1 - n) * step).toISOString()), ...heat.times] };
  out.unknown = [...Array(n).keys(), ...(heat.unknown ?? []).map((column) => column + n)];
  return out;
}

const wide = 900, high = 420, thick = 36; // pixels of the picture, and of the strips beside and below it
const mostLabels = 16; // beside the map
const rest = 400; // ms without a change, after which a view is in the address
const still = 4; // pixels: who moves less has clicked

/** The map as it is looked at; while a part of it is, or a cell is pinned, hold keeps it as it is. Where a finer part holds what is looked at, it is shown. */
export function Map({ heat: of, part, metric, bright, brighten, hold, spots, zoom, look }: {
  heat: HeatMap; part: HeatMap | null; metric: Metric; bright: number; brighten: (n: number) => void; hold: (on: boolean) => void; spots: Spot[];
  zoom: string; look: (zoom: string) => void; // the view that the address has, and how to change it
}) {
  const canvas = useRef<HTMLCanvasElement>(null), box = useRef<HTMLDivElement>(null), cursor = useRef<HTMLDivElement>(null), frame = useRef<HTMLDivElement>(null);
  const beside = useRef<HTMLCanvasElement>(null), below = useRef<HTMLCanvasElement>(null);
  const known = useMemo(() => knownOf(of, metric), [of, metric]), time = useMemo(() => axis(of.times), [of]);
  const all = useMemo(() => gridOf(cellsOf(of, metric), of.times.length, known, 0, Math.min(4, 4 * (of.buckets?.[0]?.seconds ?? Infinity) * 1000 / time.step)), [of, metric]);
  const finer = useMemo(() => {
    const its = part && axis(part.times);
    if (!part || !its || part.times.length < 2 || its.step >= time.step) return null;
    const known = knownOf(part, metric); // of one scale with the whole: a colour keeps what it stands for
    return { heat: part, known, grid: gridOf(cellsOf(part, metric), part.times.length, known, all.most), on: joined(of, part), from: its.first, end: its.end };
  }, [part, all]);
  const colours = useMemo(() => palette(bright), [bright]);
  const [seen, setSeen] = useState<View | null>(() => zoomView(zoom, all, of.times)); // null: all of it, however it grows
  const addressed = useRef(seen); // the view of the address
  const written = useRef(zoom), looks = useRef(look);
  looks.current = look;
  const extent = [all.rows, all.columns, zoom && of.times[0]].join();
  const [place, setPlace] = useState<[number, number] | null>(null); // of the cursor
  const [pinned, setPinned] = useState(false);
  const drag = useRef<{ x: number; y: number; view: View; frame: boolean; moved: boolean } | null>(null);
  const setView = (v: View): void => setSeen(v.rows >= all.rows && v.columns >= all.columns ? null : v);
  const sight = seen ? held(seen, all) : whole(all);
  const full = sight.rows === all.rows && sight.columns === all.columns;
  const fine = finer && finer.from <= time.first + sight.left * time.step && Math.min(time.end, time.first + (sight.left + sight.columns) * time.step) <= finer.end ? finer : null;
  // What is shown, in its own cells; the sight and the place of the cursor are in cells of the whole, whatever is shown.
  const { heat, grid } = fine ?? { heat: of, grid: all }, ranges = grid.rows, columns = grid.columns;
  const view = fine ? partOfView(sight, fine.on) : sight;
  // The cursor may lie beside the part that is shown: then it is in a cell of the whole.
  const under = place && fine && !(fine.on.column(place[1]) >= 0 && fine.on.column(place[1]) < fine.grid.columns) ? null : fine, mine = under ?? { heat: of, grid: all, known };
  const at = place && cellAt(under ? [under.on.row(place[0]), under.on.column(place[1])] : place, mine.grid);
  const setAt = ([row, column]: [number, number], on = fine): void => setPlace(on ? [on.on.backRow(row + .5), on.on.backColumn(column + .5)] : [row + .5, column + .5]);
  useEffect(() => { // the way back, a link, or another map under the same address
    if (zoom === "" && written.current === "") return;
    written.current = zoom;
    setSeen(addressed.current = zoomView(zoom, all, of.times));
  }, [zoom, extent]);
  useEffect(() => { // at rest, not with each frame
    if (seen === addressed.current) return undefined;
    const timer = setTimeout(() => {
      addressed.current = seen;
      looks.current(written.current = seen ? zoomText(sight, all.rows, of.times) : "");
    }, rest);
    return () => clearTimeout(timer);
  }, [seen]);
  useEffect(() => hold(!full || pinned), [full, pinned]);

  useEffect(() => {
    const to = canvas.current?.getContext("2d");
    if (!to) return;
    const image = to.createImageData(wide, high);
    paint(grid, view, colours, new Uint32Array(image.data.buffer), wide, high);
    to.putImageData(image, 0, 0);
    sums(beside.current, strip(grid.ofRows, view.top, view.rows, high), false);
    sums(below.current, strip(grid.ofColumns, view.left, view.columns, wide), true);
  }, [grid, colours, view.top, view.left, view.rows, view.columns]);
  useEffect(() => {
    if (!cursor.current) return;
    const { top, left, rows, columns } = under ? view : sight;
    const inSight = at && at[0] >= top - 1 && at[0] < top + rows && at[1] >= left - 1 && at[1] < left + columns;
    cursor.current.hidden = !inSight;
    if (!at) return;
    const s = cursor.current.style;
    s.left = `${(at[1] - left) * 100 / columns}%`;
    s.top = `${(at[0] - top) * 100 / rows}%`;
    s.width = `max(6px, ${100 / columns}%)`;
    s.height = `max(6px, ${100 / rows}%)`;
  }, [at?.[0], at?.[1], under, view.top, view.left, view.rows, view.columns]);

  /** Where an event is, in parts of the picture. */
  const partOf = (event: { clientX: number; clientY: number }): [number, number] => {
    const b = canvas.current!.getBoundingClientRect();
    return [(event.clientX - b.left) / b.width, (event.clientY - b.top) / b.height];
  };
  const cellOf = (event: PointerEvent): [number, number] => {
    const [x, y] = partOf(event);
    return cellAt([view.top + y * view.rows, view.left + x * view.columns], grid);
  };
  const now = useRef(sight);
  now.current = sight;
  useEffect(() => { // not by a property: such a listener may not keep the page where it is
    const wheel = (event: WheelEvent): void => {
      if (event.deltaY > 0 && now.current.rows === all.rows && now.current.columns === all.columns) return; // there is no more to see: the page goes on
      event.preventDefault();
      const [x, y] = partOf(event);
      setView(now.current = zoomed(now.current, event.deltaY < 0 ? 0.8 : 1.25, x, y, all));
    };
    const to = canvas.current;
    to?.addEventListener("wheel", wheel, { passive: false });
    return () => to?.removeEventListener("wheel", wheel);
  }, [all]);
  const framed = (event: PointerEvent): { left: number; top: number; width: number; height: number } => {
    const b = canvas.current!.getBoundingClientRect(), d = drag.current!;
    const x = [d.x, event.clientX].map((n) => Math.min(1, Math.max(0, (n - b.left) / b.width))), y = [d.y, event.clientY].map((n) => Math.min(1, Math.max(0, (n - b.top) / b.height)));
    return { left: Math.min(...x), top: Math.min(...y), width: Math.abs(x[1]! - x[0]!), height: Math.abs(y[1]! - y[0]!) };
  };
  /** Looks at a part of what is shown. */
  const seeView = (v: View, part = fine): void => setView(held(part ? {
    top: part.on.backRow(v.top), rows: part.on.backRow(v.top + v.rows) - part.on.backRow(v.top),
    left: part.on.backColumn(v.left), columns: part.on.backColumn(v.left + v.columns) - part.on.backColumn(v.left),
  } : v, all));
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    canvas.current!.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, view: sight, frame: full || event.shiftKey, moved: false };
  };
  const move = (event: PointerEvent): void => {
    const d = drag.current;
    if (!d) {
      if (!pinned) setAt(cellOf(event));
      return;
    }
    d.moved ||= Math.abs(event.clientX - d.x) + Math.abs(event.clientY - d.y) > still;
    if (!d.moved) return;
    if (d.frame) {
      const f = framed(event), s = frame.current!.style;
      frame.current!.hidden = false;
      [s.left, s.top, s.width, s.height] = [f.left, f.top, f.width, f.height].map((n) => `${n * 100}%`) as [string, string, string, string];
    } else {
      const b = canvas.current!.getBoundingClientRect();
      setView(held({ ...d.view, left: d.view.left - (event.clientX - d.x) / b.width * d.view.columns, top: d.view.top - (event.clientY - d.y) / b.height * d.view.rows }, all));
    }
  };
  const up = (event: PointerEvent): void => {
    const d = drag.current;
    drag.current = null;
    frame.current!.hidden = true;
    if (!d) return;
    if (!d.moved) {
      setAt(cellOf(event));
      setPinned(!pinned);
    } else if (d.frame) {
      drag.current = d;
      const f = framed(event);
      drag.current = null;
      seeView({ left: view.left + f.left * view.columns, top: view.top + f.top * view.rows, columns: f.width * view.columns, rows: f.height * view.rows });
    }
  };
  const keys = (event: KeyboardEvent): void => {
    const step = ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as Record<string, [number, number]>)[event.key];
    const by = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (event.key === "Enter") setPinned(!pinned);
    if (event.key === "Escape") { setPlace(null); setPinned(false); }
    if (event.key === "0") setView(whole(all));
    if (by) setView(zoomed(sight, by, place ? (place[1] - sight.left) / sight.columns : .5, place ? (place[0] - sight.top) / sight.rows : .5, all));
    if (!step) return;
    event.preventDefault();
    const from = at ?? [Math.floor(view.top), Math.ceil(view.left + view.columns)], v = under ? view : sight;
    const to: [number, number] = [clamp(from[0] + step[0], mine.grid.rows), clamp(from[1] + step[1], mine.grid.columns)];
    setAt(to, under);
    seeView({ ...v, top: Math.max(to[0] + 1 - v.rows, Math.min(v.top, to[0])), left: Math.max(to[1] + 1 - v.columns, Math.min(v.left, to[1])) }, under); // it follows
  };
  const key = at ? mine.heat.starts[at[0]] ?? "" : "", label = at ? mine.heat.labels?.[at[0]] ?? "" : "";
  const lines = Math.min(mostLabels, Math.ceil(view.rows));
  const shownRanges = Array.from({ length: lines }, (_, i) => clamp(Math.floor(view.top + (i + .5) * view.rows / lines), ranges));
  return <section class="sheet" aria-labelledby="heat-title">
    <h2 id="heat-title" dir="auto" translate={false}>{heat.table}</h2>
    <p class="small" id="heat-help">{t("heatHelp", { most: withUnit(grid.most, metric) })}{ofCalls(metric) && " " + t("heatNoCalls")}</p>
    <div class="heatbox">
      <ol class="labels" aria-hidden="true">{shownRanges.map((r) => <li key={r} title={heat.starts[r]} dir="auto">{heat.labels?.[r] || heat.starts[r] || t("fromStart")}</li>)}</ol>
      <div class="heat" ref={box} role="application" tabIndex={0} aria-label={t("heatLabel", { table: heat.table })} aria-describedby="heat-help heat-cell" onKeyDown={keys}>
        <canvas ref={canvas} width={wide} height={high} class={full ? undefined : "zoomed"} onPointerDown={down} onPointerMove={move} onPointerUp={up}
          onPointerCancel={() => { drag.current = null; }} onPointerLeave={() => { if (!pinned && !drag.current) setPlace(null); }} />
        {spots.map((one) => <HotPlace key={one.from} of={fine ? { ...one, from: fine.on.row(one.from), to: fine.on.row(one.to) } : one} view={view} />)}
        <div class="cursor" ref={cursor} hidden />
        <div class="cursor frame" ref={frame} hidden />
      </div>
      <canvas class="strip beside" ref={beside} width={thick} height={high} aria-hidden="true" />
      <canvas class="strip below" ref={below} width={wide} height={thick} aria-hidden="true" />
    </div>
    <div class="axis"><span>{timeText(heat.times[clamp(Math.floor(view.left), columns)]!)}</span><span>{timeText(heat.times[clamp(Math.ceil(view.left + view.columns) - 1, columns)]!)}</span></div>
    <Legend most={grid.most} metric={metric} colours={colours} />
    <p class="cellinfo" id="heat-cell" role="status">{at && <>{pinned && <strong>{t("pinned")}: </strong>}
      <span dir="auto">{cellText(mine.heat, metric, mine.known, at, { start: key ? label ? `${key} (${label})` : key : t("fromStart"), at: timeText(mine.heat.times[at[1]]!) })}</span>
      {spots.filter((one) => place![0] >= one.from && place![0] < one.to).map((one) => <span key={one.from}> · {t("hot")}: {one.why}</span>)}</>}</p>
    <div class="buttons">
      <label>{t("brightness")}<input type="range" min="0.5" max="4" step="0.1" value={bright} onInput={(e) => brighten(Number(e.currentTarget.value))} /></label>
      <button type="button" onClick={() => setView(zoomed(sight, 0.5, .5, .5, all))}>{t("zoomIn")}</button>
      {!full && <><button type="button" onClick={() => setView(zoomed(sight, 2, .5, .5, all))}>{t("zoomOut")}</button>
        <button type="button" onClick={() => setView(whole(all))}>{t("zoomAll")}</button></>}
      {pinned && at && <button type="button" onClick={() => { navigator.clipboard.writeText(key).then(() => { note.value = { text: t("copied") }; }, () => {}); }}>{t("copyKey")}</button>}
    </div>
  </section>;
}

const marks = [0, .25, .5, .75, 1]; // of the scale, with their values

/** What the colours stand for. */
function Legend({ most, metric, colours }: { most: number; metric: Metric; colours: Uint32Array }) {
  const scale = useRef<HTMLCanvasElement>(null), grey = useRef<HTMLCanvasElement>(null), none = ofCalls(metric) ? "legendNoCall" : metric === "requests" ? "legendUnknown" : null;
  useEffect(() => {
    for (const [to, of] of [[scale.current, scaleOf(colours)], [grey.current, colourOfUnknown(colours)]] as const) {
      const on = to?.getContext("2d");
      if (!to || !on) continue;
      const image = on.createImageData(of.length, 1);
      new Uint32Array(image.data.buffer).set(of);
      to.width = of.length;
      on.putImageData(image, 0, 0);
    }
  }, [colours, none]);
  return <figure class="legend"><figcaption>{t("legend", { unit: t(units[metric]) })}</figcaption>
    <div><canvas ref={scale} height={1} aria-hidden="true" />
      <ol>{marks.map((part) => <li key={part}>{figure(part < 1 && most > 100 ? Number(valueAt(part, most).toPrecision(2)) : valueAt(part, most), metric)}</li>)}</ol></div>
    {none && <p><canvas ref={grey} height={1} aria-hidden="true" />{t(none)}</p>}
  </figure>;
}

const cellAt = ([row, column]: [number, number], of: Grid): [number, number] => [clamp(Math.floor(row), of.rows), clamp(Math.floor(column), of.columns)];

/** A view in the cells of a part. */
function partOfView(v: View, on: Joint): View {
  const top = on.row(v.top), left = on.column(v.left);
  return { top, left, rows: on.row(v.top + v.rows) - top, columns: on.column(v.left + v.columns) - left };
}

const cellTexts = { // of a value, and of none
  requests: ["heatCellRequests", "heatCellUnknown"], latency: ["heatCellLatency", "heatCellNoCalls"], read_latency: ["heatCellReadLatency", "heatCellNoReads"],
} as const;

/** What a cell has, and where it lies. */
function cellText(heat: HeatMap, metric: Metric, known: (n: number, column: number) => boolean, [range, column]: [number, number], place: { start: string; at: string }): string {
  const of = (which: Metric): number => cellsOf(heat, which)[range]?.[column] ?? 0;
  if (metric === "rows" || metric === "bytes") return t("heatCell", { rows: numberText(Math.round(of("rows"))), bytes: numberText(Math.round(of("bytes"))), ...place });
  const [text, unknown] = cellTexts[metric];
  if (!known(of(metric), column)) return t(unknown, place);
  return t(text, { n: figure(of(metric), metric), ...place });
}

/** Marks a hot place at the map's newest side; why stands in the cell's line, and above the map. */
function HotPlace({ of, view }: { of: Spot; view: View }) {
  const at = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { // the policy takes no style of markup, but what scripts set
    const from = Math.max(of.from, view.top), to = Math.min(of.to, view.top + view.rows), s = at.current!.style;
    at.current!.hidden = from >= to;
    s.top = `${(from - view.top) * 100 / view.rows}%`;
    s.height = `max(6px, ${Math.max(0, to - from) * 100 / view.rows}%)`;
  }, [of.from, of.to, view.top, view.rows]);
  return <div ref={at} class={`spot ${of.severity}`} title={of.why} />;
}

const clamp = (n: number, of: number): number => Math.min(of - 1, Math.max(0, n));

/** Draws means of ranges beside the map, or of times below it. */
function sums(to: HTMLCanvasElement | null, parts: Float64Array, lying: boolean): void {
  const on = to?.getContext("2d");
  if (!to || !on) return;
  on.clearRect(0, 0, to.width, to.height);
  on.fillStyle = getComputedStyle(to).color;
  parts.forEach((part, i) => {
    const n = part > 0 ? Math.max(1, part * thick) : 0;
    if (lying) on.fillRect(i, thick - n, 1, n);
    else on.fillRect(0, i, n, 1);
  });
}
