import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, ask, watch, withQuery } from "../lib/api";
import { isNumber, jsonText } from "../lib/json";
import { List, type Column } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { kindText, me, numberText, shown, spanText, t, term, timeText, useStore, type Key } from "../lib/store";
import { Badge, Dialog, Failure, faultText, useAnswer, useTitle } from "../lib/ui";

export type Asked = Record<string, unknown>;
interface Progress { of: string; done: number; total: number; per_second: number; eta_seconds: number; waiting?: string }
interface Result { what: string; value: Record<string, unknown> }
interface Job {
  id: string; kind: string; state: string; account: string; asked: Asked; created: string; started?: string; ended?: string; progress: Progress[];
  detail?: string; fix?: string; results?: Result[]; results_cut?: number;
}

const path = "/api/v1/ops/jobs";
const mostJobs = 200;

export const hasEnded = (job: Job): boolean => !/^(queued|running|canceling)$/.test(job.state);

/** Starts long work, and shows it. Until something changes in it, the same request starts it once, also if the answer to the first was lost. */
export function useStart(): (kind: string, asked: Asked) => Promise<void> {
  const last = useRef({ what: "", key: "" });
  return async (kind, asked) => {
    const what = JSON.stringify([kind, asked]);
    if (last.current.what !== what) last.current = { what, key: crypto.randomUUID() };
    const job = await ask<Job>(`${path}/${kind}`, { method: "POST", body: asked, again: true, headers: { "Idempotency-Key": last.current.key } });
    last.current = { what: "", key: "" };
    go(withQuery("/jobs", [["job", job.id]]));
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
    { name: "created", label: t("at"), of: (job) => job.created, show: (job) => <a href={withQuery("/jobs", [["job", job.id]])}>{timeText(job.created)}</a> },
    { name: "kind", label: t("jobKind"), of: (job) => job.kind, show: (job) => kindName(job.kind) },
    { name: "state", label: term("status"), of: (job) => job.state, show: (job) => <Badge state={job.state} /> },
    { name: "asked", label: t("jobAsked"), of: (job) => jsonText(job.asked), show: (job) => askedText(job.asked), long: true },
    { name: "account", label: t("account"), of: (job) => job.account },
    { name: "detail", label: t("jobDetail"), of: (job) => job.detail ?? "", long: true },
  ]}><button type="button" onClick={again}>{t("refresh")}</button></List>;
}

const kinds: Record<string, Key> = {
  replay: "replay", verify: "verify", "dead-letter-replay": "letterReplay", "dead-letter-purge": "letterPurge", reindex: "reindex",
  "region-split": "regionSplit", "region-move": "regionMove", seek: "seekDo", explain: "explainDo",
};

function kindName(kind: string): string { return kinds[kind] ? t(kinds[kind]) : kind; }

function askedText(asked: Asked): string {
  return Object.entries(asked).map(([name, value]) => value === true ? name : `${name} ${typeof value === "string" ? value : jsonText(value)}`).join(" · ");
}

/** A job as it goes, and what came of it: it goes on whoever looks. */
function OneJob({ id }: { id: string }) {
  const at = `${path}/${encodeURIComponent(id)}`;
  const who = useStore(me);
  const [now, setNow] = useState<Job | null>(null);
  const [err, setErr] = useState<unknown>(undefined);
  const [asking, setAsking] = useState<"cancel" | Next | null>(null);
  const start = useStart();
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
  if (!now) return err === undefined ? <p role="status">{t("loading")}</p> : <Failure err={err} />;
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
    {whole.answer && <Results of={whole.answer} />}
    {asking === "cancel" && <Sure title={t("jobCancel")} text={t("jobCancelSure")} act={() => ask(at + "/cancel", { method: "POST" })} close={() => setAsking(null)} />}
    {asking && asking !== "cancel" && <Sure title={t(asking.name)} text={`${asking.sure}\n${askedText(asking.asked)}`} act={() => start(now.kind, asking.asked)} close={() => setAsking(null)} />}
  </>;
}

interface Next { name: Key; sure: string; asked: Asked }

/**
 * What may follow upon a look: the same, done, to the region that was looked at: by what was asked it may be another one meanwhile. Of what is
 * masked from everybody the job does not say enough to be done again.
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
    <div class="bar"><span dir="auto">{of.of}</span><span>{t("progress", { done: numberText(of.done), total: numberText(of.total) })}
      {!ended && of.per_second > 0 && ` · ${numberText(Math.round(of.per_second))} ${t("perSecond")}`}
      {!ended && of.eta_seconds >= 0 && ` · ${t("left", { span: spanText(of.eta_seconds * 1000) })}`}</span></div>
    <progress max={1} value={done} aria-label={of.of} />
    {of.waiting && !ended && <p class="hint" dir="auto">{of.waiting}</p>}
  </div>;
}

/** The fields that some of these objects have. */
const fieldsOf = (rows: Asked[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

/** Objects as a table, of the fields that they have. */
function Objects({ label, file, rows }: { label: string; file: string; rows: Asked[] }) {
  const columns: Column<Asked>[] = fieldsOf(rows).map((name) => ({ name, label: fieldName(name), of: (row) => row[name] ?? "", show: (row) => reasonText(row, name) ?? valueText(name, row[name] ?? "", shown), long: true }));
  return <List label={label} file={file} rows={rows} empty={t("noResults")} columns={columns} />;
}

/** A result on its own: its fields, and a table for each that is a list of objects. */
function OneResult({ what, value }: { what: string; value: Asked }) {
  const tables = Object.entries(value).filter((entry): entry is [string, object[]] => Array.isArray(entry[1]) && entry[1].length > 0
    && entry[1].every((one) => one !== null && typeof one === "object" && !Array.isArray(one)));
  const rest = flat(Object.fromEntries(Object.entries(value).filter(([name]) => !tables.some(([table]) => table === name))));
  return <>
    <dl class="sheet">{Object.entries(rest).map(([name, one]) => <div key={name}><dt>{fieldName(name)}</dt><dd dir="auto">{reasonText(rest, name) ?? valueText(name, one)}</dd></div>)}</dl>
    {tables.map(([name, list]) => <div key={name}><h3>{fieldName(name)}</h3>
      <Objects label={fieldName(name)} file={`${what}-${name}.csv`} rows={list.map((one) => flat(one))} /></div>)}
  </>;
}

/** What came of a job: a table of each kind of results, of the fields that they have. */
function Results({ of }: { of: Job }) {
  const results = of.results ?? [];
  return <>{[...new Set(results.map((r) => r.what))].map((what) => {
    const values = results.filter((r) => r.what === what).map((r) => r.value), rows = values.map((value) => flat(value));
    return <section key={what} aria-label={what}><h2>{resultName(what)}</h2>
      {what === "record" && of.kind === "seek" && <p>{rows.map((row) => <a key={String(row["offset"])} class="button" href={withQuery("/records",
        ["topic", "partition", "offset"].map((name) => [name, String(row[name])]))}>{t("explainDo")}: {String(row["partition"])}:{String(row["offset"])}</a>)}</p>}
      {values.length === 1 ? <OneResult what={what} value={values[0]!} /> : <Objects label={resultName(what)} file={`${what}.csv`} rows={rows} />}</section>;
  })}
  {of.results_cut !== undefined && of.results_cut > 0 && <p class="hint">{t("resultsCut", { n: numberText(of.results_cut) })}</p>}
  {hasEnded(of) && results.length === 0 && <p class="empty">{t("noResults")}</p>}</>;
}

const whats: Record<string, Key> = {
  plan: "whatPlan", diff: "whatDiff", result: "whatResult", finding: "whatFinding", report: "whatReport", note: "whatNote", preview: "preview",
  region: "whatRegion", record: "record", range: "whatRange", outcome: "whatResult", repaired_records: "whatResult", deleted_extra: "whatResult", row: "whatRow", document: "whatDocument",
};

function resultName(what: string): string { return whats[what] ? t(whats[what]) : what; }

/** The name of a field, of an object in it each part by itself. */
const fieldName = (name: string): string => name.split(".").map((part) => kindText(`field.${part}`, part.replaceAll("_", " "))).join(": ");
/** A value of a field, in words where it is a kind. */
const valueText = (name: string, value: unknown, own = textOf): string => typeof value === "string" ? kindText(`${name}.${value}`, own(value)) : own(value);
/** The reason of a finding in words of its kind and the API's own, where the language has none for the whole of it. */
function reasonText({ finding, reason }: Asked, name: string): string | null {
  const meaning = name === "reason" && !kindText(`reason.${reason}`, "") && kindText(`meaning.${finding}`, "");
  return meaning ? `${meaning}（${reason}）` : null;
}
const textOf = (value: unknown): string => typeof value === "string" ? value : isNumber(value) ? numberText(value) : jsonText(value) ?? "";

/** The fields of an object; those of objects in it by both names. */
function flat(value: unknown, before = ""): Asked {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return { [before || "value"]: value };
  const out: Asked = {};
  for (const [name, inner] of Object.entries(value)) {
    const at = before ? `${before}.${name}` : name;
    if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) Object.assign(out, flat(inner, at));
    else out[at] = Array.isArray(inner) ? inner.map((one) => typeof one === "object" ? jsonText(one) : String(one)).join("\n") : inner;
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
