// The picture of a heat map: cells as bytes, a view of them, and pixels that show the hottest of what they stand for.

/** The part of a map that is in sight, in cells. */
export interface View { top: number; left: number; rows: number; columns: number }

export interface Grid {
  rows: number; columns: number; most: number; least: number; // the columns of its narrowest view
  heat: Uint8Array; ofRows: Float64Array; ofColumns: Float64Array;
}

const unknown = 0, nothing = 1, hottest = 255; // what is known is always seen before what is not

/**
 * Cells on a logarithmic scale up to at least most, a byte each, with the means of their lines. What is not nothing is never shown as nothing.
 */
export function gridOf(cells: number[][], columns: number, known: (n: number, column: number) => boolean, most = 0, least = few): Grid {
  for (const line of cells) for (const n of line) if (n > most) most = n;
  const grid: Grid = { rows: cells.length, columns, most, least, heat: new Uint8Array(cells.length * columns), ofRows: new Float64Array(cells.length),
    ofColumns: new Float64Array(columns) };
  const scale = most > 0 ? (hottest - nothing) / Math.log1p(most) : 0;
  cells.forEach((line, r) => {
    for (let c = 0; c < columns; c++) {
      const n = line[c] ?? 0;
      grid.heat[r * columns + c] = !known(n, c) ? unknown : n <= 0 ? nothing : nothing + Math.max(1, Math.round(Math.log1p(n) * scale));
      if (n <= 0) continue;
      grid.ofRows[r]! += n / columns;
      grid.ofColumns[c]! += n / cells.length;
    }
  });
  return grid;
}

const few = 4; // ranges and columns, of which a view has at least as many

export const whole = (of: Grid): View => ({ top: 0, left: 0, rows: of.rows, columns: of.columns });

/** A view within its map: no part of it lies beside. */
export function held(v: View, of: Grid): View {
  const rows = Math.min(of.rows, Math.max(Math.min(few, of.rows), v.rows)), columns = Math.min(of.columns, Math.max(Math.min(of.least, of.columns), v.columns));
  return { rows, columns, top: Math.min(of.rows - rows, Math.max(0, v.top)), left: Math.min(of.columns - columns, Math.max(0, v.left)) };
}

/** A view that is larger or smaller by a factor; the place at these parts of it stays where it is. */
export function zoomed(v: View, by: number, x: number, y: number, of: Grid): View {
  const rows = Math.min(of.rows, v.rows * by), columns = Math.min(of.columns, v.columns * by);
  return held({ rows, columns, top: v.top + (v.rows - rows) * y, left: v.left + (v.columns - columns) * x }, of);
}

/** Where the columns of a map begin, and how long they are, in ms. The newest may be shorter: it ends with the map. */
export function axis(times: string[]): { first: number; step: number; end: number } {
  const ends = times.map((at) => Date.parse(at)), n = ends.length;
  const step = n > 1 ? ends[1]! - ends[0]! : 60_000;
  return { first: (ends[0] ?? 0) - step, step, end: ends[n - 1] ?? 0 };
}

/** How far back buckets of a length are kept. */
export interface Buckets { minutes: number; seconds: number }
/** A part of a map's time, as it is asked for, and how long its columns will be, in ms. */
export interface Part { from: number; until: number; step: number }

export const partColumns = 720; // of a part at most: it has half as much time again as what is looked at

/**
 * The part of a map to ask for, with time to move on both sides, where the store has it finer than the map; null: it has not. The part before is
 * good as long as it holds what is looked at and a new one would not be finer.
 */
export function partOf(times: string[], buckets: Buckets[], zoom: string, before: Part | null, now: number): Part | null {
  const seen = zoomTimes(zoom)?.map((at) => Date.parse(at));
  if (!seen || times.length === 0) return null;
  const map = axis(times), [left, right] = [Math.max(map.first, seen[0]!), Math.min(map.end, seen[1]!)], beside = (right - left) / 4;
  if (left >= right) return null;
  const kept = buckets.find((b) => now - left <= b.minutes * minute) ?? buckets.at(-1);
  if (!kept) return null;
  const from = Math.max(map.first, Math.min(left, Math.max(left - beside, now - kept.minutes * minute))), until = Math.min(map.end, right + beside);
  const long = kept.seconds * 1000;
  const step = long * Math.ceil(Math.ceil(until / long - Math.floor(from / long)) / partColumns);
  if (!(step < map.step)) return null;
  return before && before.from <= left && before.until >= right && before.step <= step ? before : { from, until, step };
}

const minute = 60_000;

/** How the places of a map lie on another one of the same table and a part of its time. */
export interface Joint { row: (n: number) => number; column: (n: number) => number; backRow: (n: number) => number; backColumn: (n: number) => number }

/** Ranges are joined by the keys that both maps have, and evenly in between. */
export function joined(of: { starts: string[]; times: string[] }, on: { starts: string[]; times: string[] }): Joint {
  const a = axis(of.times), b = axis(on.times), from = [0], to = [0];
  if (new Set(on.starts).size === on.starts.length) { // masked keys are all the same
    const places = new Map(on.starts.map((key, n) => [key, n]));
    of.starts.forEach((key, n) => {
      const place = places.get(key) ?? 0;
      if (place > to.at(-1)!) { from.push(n); to.push(place); }
    });
  }
  from.push(of.starts.length);
  to.push(on.starts.length);
  return {
    row: (n) => between(from, to, n), backRow: (n) => between(to, from, n),
    column: (n) => (a.first + n * a.step - b.first) / b.step, backColumn: (n) => (b.first + n * b.step - a.first) / a.step,
  };
}

/** Where n lies among the numbers to, as it lies among the numbers from. */
function between(from: number[], to: number[], n: number): number {
  let i = 1;
  while (i < from.length - 1 && n >= from[i]!) i++;
  return to[i - 1]! + (n - from[i - 1]!) * (to[i]! - to[i - 1]!) / (from[i]! - from[i - 1]!);
}

/**
 * A view as an address has it: parts of the key space, and times, which stay the same while the map goes on. Keys are not in it: addresses
 * are in logs, and keys may be masked.
 */
export function zoomText(v: View, ranges: number, times: string[]): string {
  const { first, step } = axis(times), part = (n: number): string => String(Math.round(n / ranges * 1e5) / 1e5);
  const at = (column: number): string => new Date(Math.round(first + column * step)).toISOString();
  return [part(v.top), part(v.top + v.rows), at(v.left), at(v.left + v.columns)].join("~");
}

/** The times that an address's view begins and ends at; null: it has none. */
export function zoomTimes(zoom: string): [string, string] | null {
  const [, , from = "", to = ""] = zoom.split("~");
  return Date.parse(from) < Date.parse(to) ? [from, to] : null;
}

/** The view that an address has of a map; null: all of it. */
export function zoomView(zoom: string, of: Grid, times: string[]): View | null {
  const [top, bottom] = zoom.split("~").map(Number), [from, to] = zoomTimes(zoom) ?? [];
  if (!(top! >= 0 && bottom! > top! && bottom! <= 1) || from === undefined || to === undefined || times.length === 0) return null;
  const { first, step } = axis(times), column = (at: string): number => (Date.parse(at) - first) / step;
  const left = Math.max(0, column(from)), right = Math.min(of.columns, column(to));
  if (left >= right) return null;
  const v = held({ top: top! * of.rows, rows: (bottom! - top!) * of.rows, left, columns: right - left }, of);
  return v.rows >= of.rows && v.columns >= of.columns ? null : v;
}

const grey = [128, 128, 128] as const; // of what is unknown
// viridis: light and dark differ for whoever sees no colours.
const colours = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** The colours of all heats, as a canvas has pixels; the brighter, the more of the scale is light. */
export function palette(bright: number): Uint32Array {
  const out = new Uint32Array(hottest + 1);
  out[unknown] = pixel(...grey);
  for (let heat = nothing; heat <= hottest; heat++) {
    const at = Math.pow((heat - nothing) / (hottest - nothing), 1 / bright) * (colours.length - 1), i = Math.min(Math.floor(at), colours.length - 2), rest = at - i;
    const [r, g, b] = colours[i]!.map((from, n) => Math.round(from + (colours[i + 1]![n]! - from) * rest)) as [number, number, number];
    out[heat] = pixel(r, g, b);
  }
  return out;
}

/** The value that so great a part of the scale stands for: the scale is logarithmic, and begins with nothing. */
export const valueAt = (part: number, most: number): number => part >= 1 ? most : Math.expm1(part * Math.log1p(most));

/** The colours of the scale, from nothing to the hottest. */
export const scaleOf = (colours: Uint32Array): Uint32Array => colours.subarray(nothing);
/** The colour of what is unknown. */
export const colourOfUnknown = (colours: Uint32Array): Uint32Array => colours.subarray(unknown, unknown + 1);

const pixel = (r: number, g: number, b: number): number => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

/** Paints a view: each pixel shows the hottest of its cells, so that no hot one disappears. */
export function paint(of: Grid, v: View, colours: Uint32Array, pixels: Uint32Array, wide: number, high: number): void {
  const { heat, columns } = of;
  const from = new Int32Array(wide), to = new Int32Array(wide);
  for (let x = 0; x < wide; x++) {
    from[x] = Math.min(columns - 1, Math.floor(v.left + x * v.columns / wide));
    to[x] = Math.min(columns, Math.max(from[x]! + 1, Math.ceil(v.left + (x + 1) * v.columns / wide)));
  }
  const first = from[0]!, last = to[wide - 1]!;
  const line = new Uint8Array(columns); // the hottest of the ranges that a line of pixels stands for
  let above = -1, below = -1; // the ranges of the line before
  for (let y = 0, at = 0; y < high; y++) {
    const top = Math.min(of.rows - 1, Math.floor(v.top + y * v.rows / high)), bottom = Math.min(of.rows, Math.max(top + 1, Math.ceil(v.top + (y + 1) * v.rows / high)));
    if (top === above && bottom === below) {
      pixels.copyWithin(at, at - wide, at);
      at += wide;
      continue;
    }
    [above, below] = [top, bottom];
    line.set(heat.subarray(top * columns + first, top * columns + last), first);
    for (let r = top + 1; r < bottom; r++) {
      for (let c = first, i = r * columns + first; c < last; c++, i++) if (heat[i]! > line[c]!) line[c] = heat[i]!;
    }
    for (let x = 0; x < wide; x++, at++) {
      let most = line[from[x]!]!;
      for (let c = from[x]! + 1, end = to[x]!; c < end; c++) if (line[c]! > most) most = line[c]!;
      pixels[at] = colours[most]!;
    }
  }
}

/** The largest of the numbers that each of so many pixels stands for, as parts of the largest of all. */
export function strip(of: Float64Array, from: number, count: number, pixels: number): Float64Array {
  let most = 0;
  for (const n of of) if (n > most) most = n;
  const out = new Float64Array(pixels);
  for (let p = 0; p < pixels && most > 0; p++) {
    const begin = Math.min(of.length - 1, Math.floor(from + p * count / pixels));
    const end = Math.min(of.length, Math.max(begin + 1, Math.ceil(from + (p + 1) * count / pixels)));
    for (let i = begin; i < end; i++) if (of[i]! / most > out[p]!) out[p] = of[i]! / most;
  }
  return out;
}
