import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, ask, watch, withQuery } from "../lib/api";
import { List } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { me, numberText, spanText, t, term, timeText, useStore, type Key } from "../lib/store";
import { Badge, Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";

interface Half {
  name: string; kind: string; group: string; state: string; detail?: string; lag: number; members: string[]; regions?: number;
  versions: { member: string; version?: string; host?: string; pid?: number }[];
  paused?: boolean; rate_limit?: number; drain_seconds?: number; asked_by?: string; asked_at?: string; limiting_step?: string;
  offsets_per_second?: number; arriving_per_second?: number; age_seconds?: number;
  counts?: { events: number; retries: number; retried?: string; cause?: string; dead_letters: number };
  partitions?: Partition[];
}
interface Partition {
  topic: string; partition: number; committed?: number; latest: number; lag: number; state?: string; detail?: string; watermark?: number;
}
interface Pipeline { name: string; topics: string[]; topic_pattern?: string; tables: string[]; indexes: string[]; halves: Half[] }

const path = "/api/v1/ops/pipelines";

/** Each pipeline as the way of its records: the topic, what reads it, and what that writes. */
export function Overview() {
  useTitle(t("overview"));
  const who = useStore(me);
  const opened = usePlace().query.getAll("open");
  const open = (name: string, on: boolean): void =>
    go(withQuery("/overview", [...opened.filter((one) => one !== name), ...(on ? [name] : [])].map((one) => ["open", one])));
  const [list, setList] = useState<Pipeline[] | null>(null);
  const [stale, setStale] = useState<unknown>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    void watch<{ pipelines: Pipeline[] }>(path + "/events", undefined, {
      page: (now) => { setList(now.pipelines); setStale(undefined); },
      stale: (fault) => setStale(fault),
    }, stop.signal);
    return () => stop.abort();
  }, [who]);
  if (stale instanceof Fault && stale.status === 404) return <><h1>{t("overview")}</h1><p>{t("noOverview")}</p></>;
  const troubled = (list ?? []).flatMap((p) => p.halves).filter((h) => stateOf(h) !== "running").length;
  return <>
    <div class="bar"><h1>{t("overview")}</h1>
      <span class={list && stale === undefined ? "live on" : "live"} role="status">
        {stale !== undefined ? t("notLive", { why: stale === null ? t("reconnecting") : faultText(stale) }) : list ? t("live") : t("connecting")}</span></div>
    {list && <p class={troubled > 0 ? "hint" : "small"}>{troubled > 0 ? t("troubled", { n: troubled }) : t("allWell")}</p>}
    {list?.map((p) => <OnePipeline key={p.name} of={p} open={opened.includes(p.name)} show={(on) => open(p.name, on)} />)}
  </>;
}

function OnePipeline({ of, open, show }: { of: Pipeline; open: boolean; show: (on: boolean) => void }) {
  const id = `pipeline-${of.name}`;
  return <section class="sheet" aria-labelledby={id}>
    <div class="bar"><h2 id={id} dir="auto" translate={false}>{of.name}</h2>
      <div class="buttons"><Controls of={of} />
        <button type="button" aria-expanded={open} onClick={() => show(!open)}>{t(open ? "hidePartitions" : "showPartitions")}</button></div></div>
    <div class="way">
      <div class="stop"><small>{t("topic")}</small>{[...of.topics, ...(of.topic_pattern ? [of.topic_pattern] : [])].map((n) => <span key={n} dir="auto">{n}</span>)}</div>
      <ul class="branches">{of.halves.map((h) => <li key={h.name}>
        <Reading of={h} pipeline={of.name} show={() => show(true)} />
        <div class="stop"><small>{t(h.kind === "documents" ? "documents" : "rows")}</small>
          {(h.kind === "documents" ? of.indexes : of.tables).map((n) => <span key={n} dir="auto">{n}</span>)}</div>
      </li>)}</ul>
    </div>
    {open && <Partitions of={of} />}
  </section>;
}

type What = "pause" | "resume" | "limit";

/** What may be asked of a pipeline that runs, and is done by all of its members. */
function Controls({ of }: { of: Pipeline }) {
  const who = useStore(me);
  const [asking, setAsking] = useState<What | null>(null);
  if (who === "open") return null; // without accounts nothing is changed
  return <>
    {of.halves.some((h) => !h.paused) && <button type="button" onClick={() => setAsking("pause")} aria-label={`${t("pause")}: ${of.name}`}>{t("pause")}</button>}
    {of.halves.some((h) => h.paused) && <button type="button" class="main" onClick={() => setAsking("resume")} aria-label={`${t("resume")}: ${of.name}`}>{t("resume")}</button>}
    <button type="button" onClick={() => setAsking("limit")} aria-label={`${t("limit")}: ${of.name}`}>{t("limit")}…</button>
    {asking && <AskPipeline what={asking} of={of} close={() => setAsking(null)} />}
  </>;
}

const sure: Record<What, Key> = { pause: "pauseSure", resume: "resumeSure", limit: "limitSure" };

function AskPipeline({ what, of, close }: { what: What; of: Pipeline; close: () => void }) {
  const [err, setErr] = useState<unknown>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const body: Record<string, unknown> = {};
    if (data.get("half")) body["half"] = String(data.get("half"));
    if (what === "limit") body["limit"] = Number(data.get("limit"));
    ask(`${path}/${encodeURIComponent(of.name)}/${what}`, { method: "POST", again: true, body }).then(() => {
      note.value = { text: t("asked", { what: t(what), pipeline: of.name }) };
      close();
    }, setErr);
  };
  return <Dialog title={`${t(what)}: ${of.name}`} close={close}><form class="stack" onSubmit={submit}>
    <p>{t(sure[what])}</p>
    {of.halves.length > 1 && <label>{t("half")}<select name="half"><option value="">{t("both")}</option>
      {of.halves.map((h) => <option key={h.kind} value={h.kind}>{t(h.kind === "documents" ? "documents" : "rows")}</option>)}</select></label>}
    {what === "limit" && <label>{t("mostPerSecond")}<input name="limit" type="number" min="0" required defaultValue={String(of.halves.find((h) => h.rate_limit)?.rate_limit ?? 0)} /></label>}
    {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button class={what === "resume" ? "main" : "danger"}>{t(what)}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
  </form></Dialog>;
}

const steps: Record<string, Key> = {
  fetch: "stepFetch", decode: "stepDecode", room: "stepRoom", submit: "stepSubmit", lane: "stepLane", server: "stepServer", settle: "stepSettle", commit: "stepCommit",
};

/** The step that holds up the others. Waiting for records holds up nothing where there are none. */
function limitText(of: Half): string {
  const step = of.limiting_step;
  if (!step || step === "fetch" && of.lag <= 0) return "";
  return steps[step] ? t(steps[step]) : step;
}

/** The state to show: "paused" hides all others except halted and stopped. */
const stateOf = (of: Half): string => of.paused && of.state !== "halted" && of.state !== "stopped" ? "paused" : of.state;

/** The versions that the members run, with the number of members, or nothing if none has reported its own. */
function versionsOf(of: Half): [version: string, members: number][] {
  const counts = new Map<string, number>();
  for (const one of of.versions) counts.set(one.version ?? "", (counts.get(one.version ?? "") ?? 0) + 1);
  return counts.size === 1 && counts.has("") ? [] : [...counts].sort();
}

/** A member as the brokers describe it, with what it has reported. */
function memberText(of: Half, member: string): string {
  const known = of.versions.find((one) => member.includes(`(${one.member})`));
  return known?.version ? `${member}, ${t("memberVersion")} ${known.version} (${known.host ?? ""}, ${known.pid ?? ""})` : member;
}

function Reading({ of, pipeline, show }: { of: Half; pipeline: string; show: () => void }) {
  const rate = of.offsets_per_second, arriving = of.arriving_per_second ?? 0;
  const known = of.drain_seconds, growing = rate !== undefined && rate - arriving <= 0.01;
  const drain = of.lag <= 0 ? "" : known !== undefined ? known < 0 ? t("never") : spanText(known * 1000)
    : rate === undefined ? "" : growing ? t("never") : spanText(of.lag / (rate - arriving) * 1000);
  const limit = limitText(of);
  const versions = versionsOf(of), reported = versions.filter(([name]) => name);
  const letters = of.counts?.dead_letters ?? 0;
  const figures: [string, ComponentChildren][] = [
    [t("lag"), of.lag < 0 ? t("unknown") : numberText(of.lag)],
    ...(rate === undefined ? [] : [[t("rate"), numberText(Math.round(rate))] as [string, string]]),
    ...(of.arriving_per_second === undefined ? [] : [[t("arriving"), numberText(Math.round(arriving))] as [string, string]]),
    ...(drain ? [[t("drain"), drain] as [string, string]] : []),
    ...(limit ? [[t("limitedBy"), limit] as [string, string]] : []),
    ...(of.rate_limit ? [[t("rateLimit"), numberText(of.rate_limit)] as [string, string]] : []),
    ...(of.age_seconds ? [[t("oldest"), spanText(of.age_seconds * 1000)] as [string, string]] : []),
    ...(of.counts ? [[t("deadLetters"), letters > 0 ? <a href={withQuery("/dead-letters", [["pipeline", pipeline], ["half", of.kind]])}>{numberText(letters)}</a> : numberText(letters)],
      [t("retries"), numberText(of.counts.retries)]] as [string, ComponentChildren][] : []),
    [t("members"), of.members.length ? numberText(of.members.length) : t("noMembers")],
    ...(reported.length === 1 ? [[t("memberVersion"), reported[0]![0]] as [string, string]] : []),
  ];
  const why = of.counts?.cause ?? of.detail;
  return <div class="reading">
    <div><strong dir="auto">{of.name}</strong> <Badge state={stateOf(of)} /></div>
    <dl class="figures">{figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    {reported.length === 1 && versions.length > 1 && <p class="small">{t("versionsSilent", { n: versions[0]![1] })}</p>}
    {reported.length > 1 && <p class="hint" dir="auto">{t("versionsDiffer", { versions: versions.map(([name, n]) => `${name || t("versionUnknown")} × ${numberText(n)}`).join(", ") })}</p>}
    {of.asked_by && (of.paused || of.rate_limit) ? <p class="small" dir="auto">{t("askedBy", { who: of.asked_by, at: of.asked_at ? timeText(of.asked_at) : "" })}</p> : null}
    {why && !of.paused && <p class="cause"><span dir="auto">{why}</span> <button type="button" class="quiet" onClick={show}>{t("showPartitions")}</button></p>}
  </div>;
}

/** The partitions of a pipeline, asked for again whenever the stream has sent something: one request at a time, as an answer may take longer than the next event. */
function Partitions({ of }: { of: Pipeline }) {
  const { answer, err, loading, again } = useAnswer<Pipeline>((signal) => ask<Pipeline>(`${path}/${encodeURIComponent(of.name)}`, { signal }), [of.name]);
  const asked = useRef(of);
  useEffect(() => {
    if (loading || asked.current === of) return;
    asked.current = of;
    again();
  }, [of, loading]);
  if (err !== undefined) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")}</p>;
  return <>{answer.halves.map((h) => <div key={h.name}>
    <h3 dir="auto" translate={false}>{h.name}</h3>
    {h.members.length > 0 && <p class="small" dir="auto">{t("members")}: {h.members.map((m) => memberText(h, m)).join("; ")}</p>}
    <List label={`${t("partitions")}: ${h.name}`} file="partitions.csv" rows={h.partitions ?? []} empty={t("partitionsNone")} columns={[
      { name: "topic", label: t("topic"), of: (p) => p.topic },
      { name: "partition", label: t("partition"), of: (p) => p.partition },
      { name: "lag", label: t("lag"), of: (p) => p.lag, show: (p) => p.lag < 0 ? t("unknown") : numberText(p.lag) },
      { name: "watermark", label: t("watermark"), of: (p) => p.watermark ?? null },
      { name: "committed", label: t("committed"), of: (p) => p.committed ?? null },
      { name: "latest", label: t("latestOffset"), of: (p) => p.latest },
      { name: "state", label: term("status"), of: (p) => p.state ?? "", show: (p) => p.state && <Badge state={p.state} /> },
      { name: "detail", label: t("detail"), of: (p) => p.detail ?? "", long: true, show: (p) => <>{p.detail} {stuck(p) && <a href={withQuery("/records",
        [["topic", p.topic], ["partition", String(p.partition)], ["offset", String(p.watermark)]])}>{t("explainDo")}</a>}</> },
    ]} /></div>)}</>;
}

/** Whether a partition does not go on; then the record at its watermark is the oldest that is not settled. */
const stuck = (p: Partition): boolean => p.watermark !== undefined && /^(halted|waiting|retrying)$/.test(p.state ?? "");
