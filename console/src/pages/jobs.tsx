import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, ask, freshName, watch, withQuery } from "../lib/api";
import { isNumber, jsonText } from "../lib/json";
import { List, type Column } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { kindText, me, numberText, shown, spanText, t, term, timeText, useResultKinds, useStore, type Key } from "../lib/store";
import { Badge, Dialog, Failure, faultText, useAnswer, useTitle } from "../lib/ui";

export type Asked = Record<string, unknown>;
interface Progress { of: string; done: number; total: number; per_second: number; eta_seconds: number; waiting?: string }
export interface Result { what: string; value: Record<string, unknown> }
export interface Job {
  id: string; kind: string; state: string; account: string; asked: Asked; created: string; started?: string; ended?: string; progress: Progress[];
  detail?: string; fix?: string; results?: Result[]; results_cut?: number;
}

const path = "/api/v1/ops/jobs";
const mostJobs = 1000; // more than are kept

export const hasEnded = (job: Job): boolean => !/^(queued|running|canceling)$/.test(job.state);

/** Where a job is shown, unless a page has a place of its own for it. */
const placeOf = (id: string): string => withQuery("/jobs", [["job", id]]);

/** Starts long work, and shows it. Until something changes in it, the same request starts it once, also if the answer to the first was lost. */
export function useStart(): (kind: string, asked: Asked, place?: (id: string) => string) => Promise<void> {
  const last = useRef({ what: "", key: "" });
  return async (kind, asked, place = placeOf) => {
    const what = JSON.stringify([kind, asked]);
    if (last.current.what !== what) last.current = { what, key: freshName() };
    const job = await ask<Job>(`${path}/${kind}`, { method: "POST", body: asked, again: true, headers: { "Idempotency-Key": last.current.key } });
    last.current = { what: "", key: "" };
    go(place(job.id));
  };
}

/** The body of a form: what is empty is left out, numbers are numbers, and lists are lists. Row keys stay to the byte: they may begin and end with spaces. */
export function bodyOf(form: HTMLFormElement): Asked {
  const out: Asked = {};
  for (const [name, value] of new FormData(form)) {
    const isKey = name === "row" || name === "keys";
    const text = isKey ? String(value) : String(value).trim();
    const field = form.elements.namedItem(name);
    if (text === "") continue;
    if (field instanceof HTMLInputElement && field.type === "checkbox") out[name] = true;
    else if (field instanceof HTMLInputElement && field.type === "number") out[name] = Number(text);
    else if (name === "partitions") out[name] = text.split(/[\s,]+/).map(Number);
    else if (name === "keys" || name === "let") out[name] = text.split(/\r?\n/).map((line) => isKey ? line : line.trim()).filter(Boolean);
    else out[name] = text;
  }
  return out;
}

/** All long work, or one piece of it. */
export function Jobs() {
  useTitle(t("jobs"));
  const { query } = usePlace();
  const id = query.get("job");
  return <><h1>{t("jobs")}</h1>{id ? <><p><a href="/jobs">{t("toTheList")}</a></p><OneJob key={id} id={id} /></> : <Recent />}</>;
}

/** Those of a kind, or all, the newest first. */
export function Recent({ kind }: { kind?: string | string[] }) {
  const shows = (job: Job): boolean => !kind || (typeof kind === "string" ? kind === job.kind : kind.includes(job.kind));
  const { answer, err, again } = useAnswer(async (signal) => {
    const out: Job[] = [];
    for (let token = ""; ;) {
      const page = await ask<{ jobs: Job[]; next_page_token: string }>(withQuery(path, [["page_token", token]]), { signal });
      out.push(...page.jobs.filter(shows));
      token = page.next_page_token;
      if (!token || out.length >= mostJobs) return out;
    }
  }, [String(kind)]);
  if (err instanceof Fault && err.status === 404) return <p>{t("noJobs")}</p>;
  if (err !== undefined) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")}</p>;
  return <List label={t("jobs")} file="jobs.csv" rows={answer} empty={t(kind ? "jobsNoneHere" : "jobsNone")} columns={[
    { name: "created", label: t("at"), of: (job) => job.created, show: (job) => <a href={placeOf(job.id)}>{timeText(job.created)}</a> },
    { name: "kind", label: t("jobKind"), of: (job) => job.kind, show: (job) => kindName(job.kind) },
    { name: "state", label: term("status"), of: (job) => job.state, show: (job) => <Badge state={job.state} /> },
    { name: "asked", label: t("jobAsked"), of: (job) => jsonText(job.asked), show: (job) => askedText(job.asked), long: true },
    { name: "account", label: t("account"), of: (job) => job.account },
    { name: "detail", label: t("jobDetail"), of: (job) => job.detail ?? "", long: true },
  ]}><button type="button" onClick={again}>{t("refresh")}</button></List>;
}

const kinds: Record<string, Key> = {
  replay: "replay", verify: "verify", "dead-letter-scan": "letterScan", "dead-letter-replay": "letterReplay", "dead-letter-purge": "letterPurge", reindex: "reindex",
  "region-split": "regionSplit", "region-move": "regionMove", seek: "seekDo", explain: "explainDo",
};

function kindName(kind: string): string { return kinds[kind] ? t(kinds[kind]) : kind; }

function askedText(asked: Asked): string {
  return Object.entries(asked).map(([name, value]) => value === true ? name : `${name} ${typeof value === "string" ? value : jsonText(value)}`).join(" · ");
}

/** A job with its progress and, once it has ended, its results, drawn by show. It continues when the page is closed. */
export function OneJob({ id, show = (job) => <Results of={job} /> }: { id: string; show?: (job: Job) => ComponentChildren }) {
  const at = `${path}/${encodeURIComponent(id)}`;
  const who = useStore(me);
  const [now, setNow] = useState<Job | null>(null);
  const [err, setErr] = useState<unknown>(undefined);
  const [asking, setAsking] = useState<"cancel" | Next | null>(null);
  const start = useStart(), named = useResultKinds();
  const ended = now !== null && hasEnded(now);
  useEffect(() => {
    const stop = new AbortController();
    void watch<Job>(at + "/events", undefined, {
      page: (job) => {
        setErr(undefined);
        setNow((before) => ({ ...job, ...(before?.results ? { results: before.results } : {}) }));
        if (hasEnded(job)) stop.abort();
      },
      stale: (fault) => setErr(fault),
    }, stop.signal);
    return () => stop.abort();
  }, [at, who]);
  const whole = useAnswer(ended ? (signal) => ask<Job>(at, { signal }) : null, [at, ended]);
  if (!now || !named) return err === undefined ? <p role="status">{t("loading")}</p> : <Failure err={err} />;
  const admin = who !== "open" && who?.role === "admin";
  const next = whole.answer ? nextOf(whole.answer, admin) : [];
  return <>
    <section class="sheet job" aria-labelledby="job-title">
      <div class="bar"><h2 id="job-title">{kindName(now.kind)}</h2><span role="status"><Badge state={now.state} /></span></div>
      <p class="small" dir="auto">{askedText(now.asked)}</p>
      <p class="small">{now.account} · {timeText(now.created)}{now.ended && now.started && <> · {t("took", { span: spanText(Date.parse(now.ended) - Date.parse(now.started)) })}</>}</p>
      {err !== undefined && !ended && <p class="hint">{t("notLive", { why: err === null ? t("reconnecting") : faultText(err) })}</p>}
      {now.progress.map((p) => <OneProgress key={p.of} of={p} ended={ended} />)}
      {now.detail && <p class={now.state === "failed" ? "failure" : undefined} dir="auto">{now.detail}</p>}
      {now.fix && <p dir="auto"><strong>{t("whatHelps")}</strong>: {now.fix}</p>}
      <div class="buttons">
        {!ended && now.state !== "canceling" && <button type="button" onClick={() => setAsking("cancel")}>{t("jobCancel")}</button>}
        {next.map((one) => <button key={one.name} type="button" class="danger" onClick={() => setAsking(one)}>{t(one.name)}</button>)}
      </div>
      {!ended && <p class="small">{t("jobGoesOn")}</p>}
      {admin && whole.answer && purgeable(whole.answer) && !isFresh(whole.answer) && <p class="hint">{t("lookAgain")}</p>}
    </section>
    {whole.err !== undefined && <Failure err={whole.err} again={whole.again} />}
    {whole.answer && show(whole.answer)}
    {asking === "cancel" && <Sure title={t("jobCancel")} text={t("jobCancelSure")} act={() => ask(at + "/cancel", { method: "POST" })} close={() => setAsking(null)} />}
    {asking && asking !== "cancel" && <Sure title={t(asking.name)} text={`${asking.sure}\n${askedText(asking.asked)}`} act={() => start(now.kind, asking.asked)} close={() => setAsking(null)} />}
  </>;
}

interface Next { name: Key; sure: string; asked: Asked }

/**
 * What is offered after a dry run: the same job, for real. A job on a region uses the region that the dry run found, because what was asked for
 * may be another one by now. A job whose arguments are masked cannot be repeated, so nothing is offered.
 */
function nextOf(job: Job, admin: boolean): Next[] {
  const { dry_run, diff, preview, ...asked } = job.asked;
  const region = job.kind.startsWith("region-") && job.results?.find((result) => result.what === "region")?.value["region"];
  if (typeof region === "string") asked["region"] = region;
  if (job.state !== "done" && job.state !== "failed" || jsonText(asked)!.includes(`"***"`)) return [];
  const looked = dry_run === true || Number(diff) > 0 || Number(preview) > 0;
  switch (job.kind) {
    case "replay": return looked ? [{ name: "replayDo", sure: t("replaySure"), asked }] : [];
    case "dead-letter-replay": return looked ? [{ name: "replayDo", sure: t("letterReplaySure"), asked }] : [];
    case "dead-letter-purge": return admin && purgeable(job) && isFresh(job)
      ? [{ name: "letterPurgeDo", sure: t("letterPurgeSure", { n: numberText(purged(job)) }), asked: { ...asked, shown: job.id } }] : [];
    case "region-split": return looked ? [{ name: "regionSplit", sure: t("regionSplitSure"), asked }] : [];
    case "region-move": return looked ? [{ name: "regionMove", sure: t("regionMoveSure"), asked }] : [];
    case "verify": {
      if (asked["repair"] || asked["delete_extra"]) return [];
      const extra = extraOf(job), report = job.results?.findLast((result) => result.what === "report")?.value;
      const next: Next[] = report?.["result"] === "equal" ? [] : [{ name: "repair", sure: t("repairSure"), asked: { ...asked, repair: true } }];
      if (admin && asked["full"] && !asked["sample"] && extra > 0) {
        next.push({ name: "deleteExtra", sure: t("deleteExtraSure", { n: numberText(extra) }), asked: { ...asked, delete_extra: true, most_extra: extra } });
      }
      return next;
    }
  }
  return [];
}

/** A look at a purge that has found something to delete, and has shown all of it. */
const purgeable = (job: Job): boolean => job.kind === "dead-letter-purge" && job.state === "done" && job.asked["dry_run"] === true && !job.results_cut && purged(job) > 0;

/** Whether what a look has found can be deleted: the server refuses it later than that. */
const isFresh = (job: Job): boolean => Date.now() - Date.parse(job.ended ?? "") < 3_600_000;

/** How many records a look at a purge has found to delete. */
function purged(job: Job): number {
  return (job.results ?? []).reduce((n, result) => n + (result.what === "topic" ? Number(result.value["records"]) || 0 : 0), 0);
}

/** How much a verification has found that no record accounts for. */
function extraOf(job: Job): number {
  const report = job.results?.findLast((result) => result.what === "report")?.value as { tables?: { found?: { extra?: number } }[] } | undefined;
  return (report?.tables ?? []).reduce((n, table) => n + (table.found?.extra ?? 0), 0);
}

function OneProgress({ of, ended }: { of: Progress; ended: boolean }) {
  const done = of.total > 0 ? Math.min(1, of.done / of.total) : ended ? 1 : 0;
  return <div class="progress">
    <div class="bar"><span dir="auto">{kindText(`progress.${of.of}`, of.of)}</span><span>{t("progress", { done: numberText(of.done), total: numberText(of.total) })}
      {!ended && of.per_second > 0 && ` · ${numberText(Math.round(of.per_second))} ${t("perSecond")}`}
      {!ended && of.eta_seconds >= 0 && ` · ${t("left", { span: spanText(of.eta_seconds * 1000) })}`}</span></div>
    <progress max={1} value={done} aria-label={t("progressOf", { of: kindText(`progress.${of.of}`, of.of) })} />
    {of.waiting && !ended && <p class="hint" dir="auto">{of.waiting}</p>}
  </div>;
}

/** The fields that some of these objects have. */
const fieldsOf = (rows: Asked[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

const isObject = (value: unknown): value is Asked => value !== null && typeof value === "object" && !Array.isArray(value) && !isNumber(value);

/** Of an object, and those in it: its lists of objects, by their names, and its other fields. */
function partsOf(value: Asked): { fields: Asked; lists: Map<string, Asked[]> } {
  const fields = flat(value), lists = new Map<string, Asked[]>();
  const look = (of: Asked, before: string): void => {
    for (const [name, inner] of Object.entries(of)) {
      if (isObject(inner)) look(inner, `${before}${name}.`);
      else if (Array.isArray(inner) && inner.length > 0 && inner.every(isObject)) {
        lists.set(before + name, inner);
        delete fields[before + name];
      }
    }
  };
  look(value, "");
  return { fields, lists };
}

/** Objects as a table, of the fields that they have. */
function Objects({ label, file, rows }: { label: string; file: string; rows: Asked[] }) {
  const columns: Column<Asked>[] = fieldsOf(rows).map((name) => ({ name, label: fieldName(name), of: (row) => timeIn(row, name) ?? (row[name] === null ? "null" : row[name] ?? ""), show: (row) => cellText(row, name, shown), long: true }));
  return <List label={label} file={file} rows={rows} empty={t("noResults")} columns={columns} />;
}

/** The fewest first fields that tell these objects apart; none do where two are the same in all of them. */
function namesApart(rows: Asked[]): string[] {
  const fields = fieldsOf(rows), differ = (names: string[]): boolean => new Set(rows.map((row) => jsonText(names.map((name) => row[name])))).size === rows.length;
  const one = fields.find((name) => differ([name]));
  if (one !== undefined) return [one];
  const n = fields.findIndex((_, i) => differ(fields.slice(0, i + 1)));
  return fields.slice(0, n + 1);
}

/** Objects with lists of objects in them: a table of the objects, and tables of each list, whose rows say which object they are of. */
function Nested({ what, label, values }: { what: string; label: string; values: Asked[] }) {
  const parts = values.map(partsOf), lists = [...new Set(parts.flatMap((part) => [...part.lists.keys()]))];
  const rows = parts.map((part) => Object.fromEntries(Object.entries(part.fields).filter(([name]) => !lists.includes(name)))), apart = namesApart(rows); // a list may be empty in some
  const of = (i: number, one: Asked): Asked => Object.fromEntries(apart.length > 0 ? apart.map((name) => [name in one ? `of.${name}` : name, rows[i]![name]]) : [["number", i + 1]]);
  return <>
    {fieldsOf(rows).length > 0 && <Objects label={label} file={`${what}.csv`} rows={rows} />}
    {lists.map((name) => <div key={name}><h3>{fieldName(name)}</h3>
      <Nested what={`${what}-${name}`} label={fieldName(name)} values={parts.flatMap((part, i) => (part.lists.get(name) ?? []).map((one) => ({ ...of(i, one), ...one })))} /></div>)}
  </>;
}

/** A result on its own: its fields, and tables of each list of objects. */
function OneResult({ what, value }: { what: string; value: Asked }) {
  const { fields, lists } = partsOf(value);
  return <>
    <dl class="sheet">{Object.keys(fields).map((name) => <div key={name}><dt>{fieldName(name)}</dt><dd dir="auto">{cellText(fields, name)}</dd></div>)}</dl>
    {[...lists].map(([name, list]) => <div key={name}><h3>{fieldName(name)}</h3>
      <Nested what={`${what}-${name}`} label={fieldName(name)} values={list} /></div>)}
  </>;
}

/** The address of the page of dead letters that shows what a job has counted of them. */
function lettersOf({ id, asked }: Job): string {
  const of = (name: string): string => asked[name] === undefined ? "" : String(asked[name]); // numbers are joined by commas
  return withQuery("/dead-letters", [["pipeline", of("pipeline")], ["half", of("half")], ["partition", of("partitions")], ["reason", of("reasons")], ["since", of("since")],
    ["until", of("until")], ["key", of("key")], ["text", of("text")], ["all", of("all")], ["scan", id]]);
}

/** What came of a job: a table of each kind of results, of the fields that they have. */
function Results({ of }: { of: Job }) {
  const results = of.results ?? [];
  return <>
    {of.kind === "dead-letter-scan" && of.state === "done" && <p><a class="button" href={lettersOf(of)}>{t("letterScanShow")}</a></p>}
    {[...new Set(results.map((r) => r.what))].map((what) => {
      const values = results.filter((r) => r.what === what).map((r) => r.value), rows = values.map((value) => flat(value)), label = resultName(what);
      return <section key={what} data-what={what} aria-label={label}><h2>{label}</h2>
        {what === "record" && of.kind === "seek" && <p>{rows.map((row) => <a key={String(row["offset"])} class="button" href={withQuery("/records",
          ["topic", "partition", "offset"].map((name) => [name, String(row[name])]))}>{t("explainDo")}: {String(row["partition"])}:{String(row["offset"])}</a>)}</p>}
        {values.length === 1 ? <OneResult what={what} value={values[0]!} /> : <Nested what={what} label={label} values={values} />}</section>;
    })}
    {of.results_cut !== undefined && of.results_cut > 0 && <p class="hint">{t("resultsCut", { n: numberText(of.results_cut) })}</p>}
    {hasEnded(of) && results.length === 0 && <p class="empty">{t("noResults")}</p>}</>;
}

const whats: Record<string, Key> = {
  plan: "whatPlan", diff: "whatDiff", result: "whatResult", finding: "whatFinding", report: "whatReport", note: "whatNote", preview: "preview",
  sum: "kinds", dead_letter: "deadLetters", effect: "whatEffect", topic: "whatTopic",
  region: "whatRegion", record: "record", range: "whatRange", outcome: "whatResult", repaired_records: "whatResult", deleted_extra: "whatResult", row: "whatRow", document: "whatDocument",
};

function resultName(what: string): string { return whats[what] ? t(whats[what]) : what; }

/** The name of a field, of an object in it each part by itself. */
const fieldName = (name: string): string => name.split(".").map((part) => kindText(`field.${part}`, kindText(`reason.${part}`, part.replaceAll("_", " ")))).join(": ");
/** A value of a field, in words where it is a kind. */
const valueText = (name: string, value: unknown, own: (value: unknown) => string): string => typeof value === "string" ? kindText(`${name}.${value}`, own(value)) : own(value);
/** A field of an object as people read it: blank if the object lacks it, which null is not. */
function cellText(row: Asked, name: string, own = textOf): string {
  const value = row[name], time = timeIn(row, name);
  return time ?? (value === undefined ? "" : value === null ? "null" : reasonText(row, name) ?? valueText(name, value, own));
}

/** The time in a field that holds milliseconds since 1970, with all of them, as changes of one minute differ; null: it holds none, as a record without a time, which is at −1. What was written and replayed are times of a dead letter, which has a place, and numbers of records elsewhere. */
function timeIn(row: Asked, name: string): string | null {
  const value = row[name], part = name.slice(name.lastIndexOf(".") + 1), before = name.slice(0, name.length - part.length);
  const is = part === "timestamp" && Number(value) >= 0 || part === "value" && /^time(_m?s)?$/.test(String(row[`${before}type`])) ||
    (part === "written" || part === "replayed") && typeof row[`${before}place`] === "string";
  return is && isNumber(value) && Math.abs(Number(value)) <= 8.64e15 ? new Date(Number(value)).toISOString() : null;
}

/** The reason of a finding in words of its kind and the API's own, where the language has none for the whole of it. */
function reasonText({ finding, reason }: Asked, name: string): string | null {
  const meaning = name === "reason" && !kindText(`reason.${reason}`, "") && kindText(`meaning.${finding}`, "");
  return meaning ? `${meaning}（${reason}）` : null;
}
const textOf = (value: unknown): string => typeof value === "string" ? shown(value) : isNumber(value) ? numberText(value) : jsonText(value) ?? "";

/** The fields of an object; those of objects in it by both names. */
function flat(value: unknown, before = ""): Asked {
  if (!isObject(value)) return { [before || "value"]: value };
  const out: Asked = {};
  for (const [name, inner] of Object.entries(value)) {
    const at = before ? `${before}.${name}` : name;
    if (isObject(inner)) Object.assign(out, flat(inner, at));
    else out[at] = Array.isArray(inner) ? inner.map((one: unknown) => typeof one === "object" && !isNumber(one) ? jsonText(one) : String(one)).join("\n") : inner;
  }
  return out;
}

/** Asks before something is done. */
export function Sure({ title, text, act, close }: { title: string; text: string; act: () => Promise<unknown>; close: () => void }) {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  return <Dialog title={title} close={close}>
    {text.split("\n").map((line) => <p key={line} dir="auto">{line}</p>)}
    {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button type="button" class="danger" disabled={busy} onClick={() => {
      setBusy(true);
      act().then(close, (e: unknown) => { setErr(e); setBusy(false); });
    }}>{title}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
  </Dialog>;
}
