import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault, ask, watch, withQuery } from "../lib/api";
import { csv, download } from "../lib/csv";
import { partColumns, partOf, zoomTimes, type Part } from "../lib/heat";
import { List } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { kindText, me, numberText, spanText, t, useStore, type Key } from "../lib/store";
import { Failure, useAnswer, useTitle } from "../lib/ui";
import { Map, cellsOf, figure, knownOf, ofCalls, partFrom, type HeatMap, type Metric, type Spot } from "./heatmap";
import { Sure, useStart } from "./jobs";
import { ChangeRegion, changeName, type Change } from "./regionchange";

interface StoredTable { name: string; regions: number; servers: number; mb: number; detail?: string }
interface Action { job: string; text: string; table: string; region: string; at?: string; to?: string }
interface Hot {
  table?: string; region?: string; server: string; since: string; severity: string; times_mean: number; cause: string; why: string; advice: string[]; actions?: Action[];
  values?: Record<string, number>; key?: string; remedies?: Remedy[]; // why and the advice, without words
}
interface Remedy {
  kind: string; table: string; region?: string; at?: string; at_text?: string; to?: string; buckets?: number; fields?: string[];
  effect?: { before_max_mean: number; after_max_mean: number; before_largest_share: number; after_largest_share: number };
}
interface Region { name: string; start: string; start_fields?: string; server: string; files_mb: number; memstore_mb: number; reads: number; writes: number }
interface HeavyKey { key: string; text?: string; rows: number; error: number; share: number }
interface Writer { pipeline: string; topic: string; partition: number; producer: number; name?: string; records: number; error: number; share: number }
/** What is counted of a region: by brine, and, where the cluster reports it, of all clients. */
interface Load { name: string; server: string; rows_per_second: number; mb?: number; reads_per_second?: number; writes_per_second?: number }
interface Skew { heavy_keys: HeavyKey[]; writers: Writer[]; regions: Load[] }
interface Seen { metric: Metric; asked: string; server: string; heat: HeatMap; hot: Hot[]; regions: Region[]; skew: Skew | undefined }

const path = "/api/v1/ops";
const every = 3_000; // ms between two looks while the pipelines' stream says that something goes on: a region that becomes hot is found after six to eight seconds
const still = 15_000; // the same, while it says nothing: the cluster reports what all clients do as seldom
const everyLarge = 10_000; // as every, of a map whose answer is megabytes
const large = 100_000; // cells
const seldom = 60_000; // ms, where what is seen is of days
const day = 24 * 60;
const metrics: [Metric, Key][] = [["rows", "rowsPerSecond"], ["bytes", "bytesPerSecond"], ["requests", "allRequests"], ["latency", "writeLatency"], ["read_latency", "readLatency"]];
const spans = ["15", "60", "240", "480", String(day), String(7 * day), String(30 * day)]; // minutes

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
  const metric = metrics.find(([one]) => one === query.get("metric"))?.[0] ?? "rows";
  const server = query.get("server") ?? "";
  const [servers, setServers] = useState<string[]>([]); // of the table's regions
  const zoom = query.get("zoom") ?? "", times = zoomTimes(zoom);
  const asked = Number.isNaN(Date.parse(query.get("until") ?? "")) ? "" : query.get("until")!;
  const until = asked || (times && Date.parse(times[1]) < Date.now() - Number(minutes) * 60_000 ? times[1] : ""); // what is looked at has left the live map
  const to = (change: Record<string, string>): void => // another map is seen as a whole
    go(withQuery("/regions", Object.entries({ table: table ?? "", minutes, metric, server, until: asked, zoom: "metric" in change ? zoom : "", ...change })));
  return <>
    <h1>{t("regions")}</h1>
    <form class="filters" onSubmit={(e) => e.preventDefault()}>
      <label>{t("regionsTable")}<select value={table} onChange={(e) => to({ table: e.currentTarget.value })}>
        {answer.tables.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></label>
      <label>{t("metric")}<select value={metric} onChange={(e) => to({ metric: e.currentTarget.value })}>
        {metrics.map(([one, label]) => <option key={one} value={one}>{t(label)}</option>)}</select></label>
      <label>{t("server")}<select value={server} onChange={(e) => to({ server: e.currentTarget.value })}>
        <option value="">{t("allServers")}</option>
        {[...new Set(server ? [...servers, server] : servers)].sort().map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
      <label>{t("span")}<select value={minutes} onChange={(e) => to({ minutes: e.currentTarget.value })}>
        {spans.map((one) => <option key={one} value={one}>{spanText(Number(one) * 60_000)}</option>)}</select></label>
      <label>{t("mapUntil")}<input type="datetime-local" value={localTime(until)} onChange={(e) => to({ until: e.currentTarget.value ? new Date(e.currentTarget.value).toISOString() : "" })} /></label>
      <div class="buttons">
        <button type="button" onClick={() => to({ until: moved(until, -Number(minutes)) })}>{t("mapEarlier")}</button>
        {until !== "" && <button type="button" onClick={() => to({ until: moved(until, Number(minutes)) })}>{t("mapLater")}</button>}
      </div>
    </form>
    {table ? <OneTable key={table} table={table} minutes={minutes} metric={metric} server={server} found={setServers} until={until}
      zoom={zoom} look={(next) => to({ zoom: next })} /> : <p class="empty">{t("tablesNone")}</p>}
  </>;
}

/** A time as a field of a form has it, in the reader's zone. */
function localTime(until: string): string {
  if (until === "") return "";
  const at = new Date(until);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A time that lies so many minutes behind another; none behind now. */
function moved(until: string, minutes: number): string {
  const at = (until === "" ? Date.now() : Date.parse(until)) + minutes * 60_000;
  return at >= Date.now() ? "" : new Date(at).toISOString();
}

const causeText = (of: Hot): string => kindText(`cause.${of.cause}`, of.cause);

/** Why a region is hot. Keys that grow and keys that count down with time have one cause, but not one text. */
function whyText(of: Hot): string {
  const values: Record<string, string> = { key: of.key ?? "" };
  for (const [name, n] of Object.entries(of.values ?? {})) values[name] = numberText(name === "times" ? Math.round(n * 10) / 10 : Math.round(n));
  const side = of.cause === "monotonic key" ? "before" in values ? ".before" : ".after" : "";
  return kindText(`why.${of.cause}${side}`, of.why, values);
}

function adviceText(of: Hot, i: number): string {
  const own = of.advice[i]!, one = of.remedies?.[i], effect = one?.effect;
  if (!one) return own;
  const kind = one.kind === "split" && !one.at ? "split.anywhere" : one.kind === "salt" && of.cause === "one heavy key" ? "salt.one heavy key" : one.kind;
  const what = kindText(`advice.${kind}`, "", { ...one, key: of.key, at: one.at_text ? `${one.at}（${one.at_text}）` : one.at,
    fields: one.fields?.length ? one.fields.join(", ") : kindText("advice.salt.all", ""), effect: undefined });
  if (what === "" || !effect) return what || own;
  const percent = (n: number): string => (100 * n).toFixed(1);
  return what + kindText(one.kind === "move" ? "effect.servers" : "effect.regions", "", { before: effect.before_max_mean.toFixed(2),
    after: effect.after_max_mean.toFixed(2), largestBefore: percent(effect.before_largest_share), largestAfter: percent(effect.after_largest_share) });
}

/** The ranges of the map that hot regions are, with why. */
function spotsOf(heat: HeatMap, hot: Hot[]): Spot[] {
  return hot.flatMap((one) => {
    const at = heat.hot?.find((spot) => spot.region === one.region);
    return at ? [{ from: at.from, to: at.to, severity: one.severity, why: causeText(one) }] : [];
  });
}

function OneTable({ table, minutes, metric, server, found, until, zoom, look }: {
  table: string; minutes: string; metric: Metric; server: string; found: (servers: string[]) => void; until: string;
  zoom: string; look: (zoom: string) => void;
}) {
  const who = useStore(me);
  const [doing, setDoing] = useState<Action | null>(null);
  const [choosing, setChoosing] = useState<{ what: Change; region: Region } | null>(null);
  const start = useStart();
  const [turn, setTurn] = useState(0);
  const looking = useRef(false); // at a part of the map, which stays as it is
  const at = `${path}/tables/${encodeURIComponent(table)}`;
  const asked = metric === "requests" || ofCalls(metric) ? metric : ""; // rows and bytes come together
  const { answer, err, again } = useAnswer<Seen>(async (signal) => {
    const [heat, skew, regions] = await Promise.all([
      ask<HeatMap>(withQuery(at + "/heat", [["minutes", minutes], ["until", until], ["metric", asked], ["server", server]]), { signal }),
      ask<{ hot: Hot[] | null; tables: Skew[] }>(at + "/skew", { signal }), ask<{ regions: Region[] }>(at + "/regions", { signal })]);
    found([...new Set(regions.regions.map((one) => one.server))].filter((one) => one !== ""));
    return { metric, asked, server, heat, hot: (skew.hot ?? []).filter((one) => !one.table || one.table === table), regions: regions.regions, skew: skew.tables[0] };
  }, [table, minutes, until, asked, server, turn]);
  const parts = useRef<Part | null>(null); // what was asked for last of a finer map
  const part = parts.current = answer ? partOf(answer.heat.times, answer.heat.buckets ?? [], zoom, parts.current, Date.now()) : null;
  const finer = useAnswer<{ asked: string; server: string; heat: HeatMap }>(part && (async (signal) => {
    const heat = await ask<HeatMap>(withQuery(at + "/heat", [["minutes", String(Math.ceil((part.until - part.from) / 60_000))],
      ["until", new Date(part.until).toISOString()], ["columns", String(partColumns)], ["metric", asked], ["server", server]]), { signal });
    return { asked, server, heat: partFrom(heat, part) };
  }), [table, asked, server, part?.from, part?.until, part?.step]);
  const cells = (answer?.heat.starts.length ?? 0) * (answer?.heat.times.length ?? 0);
  const pause = Number(minutes) >= day ? seldom : cells > large ? everyLarge : every;
  useEffect(() => {
    if (until !== "") return undefined; // what was does not change
    const stop = new AbortController();
    let last = Date.now(), timer = 0;
    const lookIn = (ms: number): void => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        const seen = document.visibilityState === "visible" && !looking.current;
        lookIn(seen ? Math.max(pause, still) : pause);
        if (!seen) return;
        last = Date.now();
        setTurn((n) => n + 1);
      }, ms);
    };
    lookIn(Math.max(pause, still));
    let first = true; // as it is now, which is shown already
    void watch(path + "/pipelines/events", undefined, {
      page: () => { if (!first) lookIn(Math.max(0, last + pause - Date.now())); first = false; },
      stale: () => { first = true; },
    }, stop.signal);
    return () => { stop.abort(); clearTimeout(timer); };
  }, [pause, until, who]);
  const [bright, setBright] = useState(1);
  if (err !== undefined && !answer) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")}</p>;
  const { heat, hot, regions, skew } = answer;
  const shown = asked === "" && (answer.metric === "rows" || answer.metric === "bytes") ? metric : answer.metric; // until another metric has come
  const unknown = (heat.unknown ?? []).filter((column) => until !== "" || column < heat.times.length - 1).length; // the newest begins without any
  const loads = new globalThis.Map(skew?.regions.map((load) => [load.name, load]));
  return <>
    {err !== undefined && <Failure err={err} again={again} />}
    <section class="sheet" aria-labelledby="hot-title"><h2 id="hot-title">{t("hot")}</h2>
      {hot.length === 0 ? <p class="small">{t("notHot")}</p> : hot.map((one) => <div key={one.server + one.region} class={`hotspot ${one.severity}`}>
        <p><strong>{causeText(one)}</strong> · {t("timesMean", { n: numberText(Math.round(one.times_mean * 10) / 10) })}</p>
        <p dir="auto">{whyText(one)}</p>{one.advice.length > 0 && <ul>{one.advice.map((a, i) => <li key={a} dir="auto">{adviceText(one, i)}
          {who !== "open" && one.actions?.filter((action) => action.text === a).map((action) =>
            <button key={action.job} type="button" onClick={() => setDoing({ ...action, text: adviceText(one, i) })}>{t(changeName(action.job))}…</button>)}</li>)}</ul>}
      </div>)}
    </section>
    {heat.loads && <p class="failure" role="alert" dir="auto">{t("mapNoLoads", { why: heat.loads })}</p>}
    {answer.server && <p class="hint" dir="auto">{t("mapServer", { server: answer.server })}</p>}
    {heat.times.length === 0 || heat.starts.length === 0
      ? <p class="empty">{answer.server && heat.starts.length === 0 ? t("noHeatServer", { server: answer.server }) : t("noHeat")}</p> : <>
        {heat.detail && <p class="hint" dir="auto">{t("mapWithout", { why: heat.detail })}</p>}
        {unknown > 0 && <p class="hint">{t("mapUnknown", { n: numberText(unknown), of: numberText(heat.times.length) })}</p>}
        {Number(minutes) > (heat.kept_minutes ?? 480) && <p class="hint">{t("mapKept", { span: spanText((heat.kept_minutes ?? 480) * 60_000) })}</p>}
        {finer.err !== undefined && <Failure err={finer.err} again={finer.again} />}
        <Map key={answer.server} heat={heat} part={finer.answer && finer.answer.asked === answer.asked && finer.answer.server === answer.server ? finer.answer.heat : null} metric={shown} bright={bright} brighten={setBright} hold={(on) => { looking.current = on; }} spots={until === "" ? spotsOf(heat, hot) : []}
          zoom={zoom} look={look} />
        <Hottest heat={heat} metric={shown} />
      </>}
    {skew && until === "" && <Heaviest of={skew} />}
    {doing && <Sure title={t(changeName(doing.job))} text={`${doing.text}\n${t(doing.job === "region-split" ? "regionSplitSure" : "regionMoveSure")}`}
      act={() => start(doing.job, { table: doing.table, region: doing.region, ...(doing.at ? { at: doing.at } : {}), ...(doing.to ? { to: doing.to } : {}) })}
      close={() => setDoing(null)} />}
    {skew && skew.regions.length > 0 && <Servers table={table} loads={skew.regions} />}
    <h2 id="regions-title">{t("regionsOf", { table })}</h2>
    <List label={t("regionsOf", { table })} file="regions.csv" rows={regions} empty={t("regionsNone")} columns={[
      { name: "start", label: t("startKey"), of: (r) => r.start, show: (r) => <>{r.start || t("fromStart")}{r.start_fields && <small>{r.start_fields}</small>}</>, long: true },
      { name: "server", label: t("server"), of: (r) => r.server, long: true },
      { name: "mb", label: t("size"), of: (r) => r.files_mb + r.memstore_mb },
      { name: "rows_per_second", label: t("brineRows"), of: (r) => loads.get(r.name)?.rows_per_second ?? "", show: (r) => rate(loads.get(r.name)?.rows_per_second) },
      { name: "reads_per_second", label: t("allReads"), of: (r) => loads.get(r.name)?.reads_per_second ?? "", show: (r) => rate(loads.get(r.name)?.reads_per_second) },
      { name: "writes_per_second", label: t("allWrites"), of: (r) => loads.get(r.name)?.writes_per_second ?? "", show: (r) => rate(loads.get(r.name)?.writes_per_second) },
      { name: "reads", label: t("reads"), of: (r) => r.reads },
      { name: "writes", label: t("writes"), of: (r) => r.writes },
      ...who !== "open" ? [{ name: "region", label: t("actions"), of: (r: Region) => r.name, show: (r: Region) => <span class="buttons">{changes.map((what) =>
        <button key={what} type="button" aria-label={`${t(changeName(what))}: ${r.start || t("fromStart")}`} onClick={() => setChoosing({ what, region: r })}>
          {t(what === "region-split" ? "split" : "move")}…</button>)}</span> }] : [],
    ]} />
    {choosing && <ChangeRegion what={choosing.what} table={table} region={choosing.region} close={() => setChoosing(null)}
      servers={[...new Set(regions.map((one) => one.server))].filter((one) => one !== "").sort()} />}
  </>;
}

const changes: Change[] = ["region-split", "region-move"];

/** A rate; nothing where it is not known. */
const rate = (n: number | undefined): string => n === undefined ? "" : numberText(Math.round(n * 10) / 10);

/** What most rows of the last minute begin with, and who has written most of them. */
function Heaviest({ of }: { of: Skew }) {
  const share = (one: { share: number }): string => numberText(Math.round(one.share * 1000) / 10);
  return <>
    <section aria-labelledby="heavy-title"><h2 id="heavy-title">{t("heaviestKeys")}</h2>
      <List label={t("heaviestKeys")} file="keys.csv" rows={of.heavy_keys} empty={t("heaviestNone")} columns={[
        { name: "key", label: t("rowKey"), of: (h) => h.key, show: (h) => <>{h.text || h.key}{h.text && <small>{h.key}</small>}</>, long: true },
        { name: "share", label: t("share"), of: (h) => h.share * 100, show: share },
        { name: "rows", label: t("rows"), of: (h) => h.rows },
      ]} /></section>
    <section aria-labelledby="writers-title"><h2 id="writers-title">{t("writers")}</h2>
      <List label={t("writers")} file="writers.csv" rows={of.writers} empty={t("writersNone")} columns={[
        { name: "pipeline", label: t("pipeline"), of: (w) => w.pipeline, long: true },
        { name: "topic", label: t("topic"), of: (w) => w.topic, long: true },
        { name: "partition", label: t("partition"), of: (w) => w.partition },
        { name: "producer", label: t("producer"), of: (w) => w.producer < 0 ? "" : String(w.producer) },
        { name: "name", label: t("writerName"), of: (w) => w.name ?? "", long: true },
        { name: "share", label: t("share"), of: (w) => w.share * 100, show: share },
        { name: "records", label: t("records"), of: (w) => w.records },
      ]} /></section>
  </>;
}

/** The same by server. */
function Servers({ table, loads }: { table: string; loads: Load[] }) {
  const sums = new globalThis.Map<string, { server: string; regions: number; mb: number; rows: number; reads: number; writes: number }>();
  for (const load of loads) {
    const of = sums.get(load.server) ?? { server: load.server, regions: 0, mb: 0, rows: 0, reads: 0, writes: 0 };
    sums.set(load.server, { ...of, regions: of.regions + 1, mb: of.mb + (load.mb ?? 0), rows: of.rows + load.rows_per_second,
      reads: of.reads + (load.reads_per_second ?? 0), writes: of.writes + (load.writes_per_second ?? 0) });
  }
  const rows = [...sums.values()].sort((a, b) => b.rows - a.rows || a.server.localeCompare(b.server));
  const known = loads.some((load) => load.writes_per_second !== undefined);
  return <section aria-labelledby="servers-title"><h2 id="servers-title">{t("serversOf", { table })}</h2>
    <List label={t("serversOf", { table })} file="servers.csv" rows={rows} empty={t("regionsNone")} columns={[
      { name: "server", label: t("server"), of: (s) => s.server, long: true },
      { name: "regions", label: t("regions"), of: (s) => s.regions },
      { name: "rows_per_second", label: t("brineRows"), of: (s) => s.rows, show: (s) => rate(s.rows) },
      ...known ? [
        { name: "mb", label: t("size"), of: (s: typeof rows[0]) => s.mb },
        { name: "reads_per_second", label: t("allReads"), of: (s: typeof rows[0]) => s.reads, show: (s: typeof rows[0]) => rate(s.reads) },
        { name: "writes_per_second", label: t("allWrites"), of: (s: typeof rows[0]) => s.writes, show: (s: typeof rows[0]) => rate(s.writes) },
      ] : [],
    ]} /></section>;
}

/** The ranges that took most, in figures. */
function Hottest({ heat, metric }: { heat: HeatMap; metric: Metric }) {
  const lines = useMemo(() => {
    const known = knownOf(heat, metric);
    return heat.starts.map((start, i) => {
      const line = (cellsOf(heat, metric)[i] ?? []).filter(known);
      return { start, label: heat.labels?.[i] ?? "", mean: line.reduce((a, b) => a + b, 0) / Math.max(1, line.length), peak: Math.max(0, ...line) };
    }).sort((a, b) => b.mean - a.mean);
  }, [heat, metric]);
  return <section class="sheet" aria-labelledby="hottest-title">
    <div class="bar"><h2 id="hottest-title">{t("hottest")}</h2><button type="button" class="quiet"
      onClick={() => download("heat.csv", csv(["start", "mean", "peak"], lines.map((l) => [l.start, l.mean, l.peak])))}>{t("csv")}</button></div>
    <div class="scroll" tabIndex={0} role="group" aria-labelledby="hottest-title"><table>
      <thead><tr><th scope="col">{t("startKey")}</th><th scope="col" class="number">{t("mean")}</th><th scope="col" class="number">{t("peak")}</th></tr></thead>
      <tbody>{lines.slice(0, 10).map((l) => <tr key={l.start}><td class="cell" dir="auto">{l.start || t("fromStart")}{l.label && <small>{l.label}</small>}</td>
        <td class="number">{numberText(Math.round(l.mean * 100) / 100)}</td><td class="number">{figure(l.peak, metric)}</td></tr>)}</tbody>
    </table></div>
  </section>;
}
