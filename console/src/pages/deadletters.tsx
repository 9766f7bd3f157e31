import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Fault, ask, withQuery } from "../lib/api";
import { List, type Paging } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { allText, kindText, me, numberText, t, timeText, useStore } from "../lib/store";
import { Dialog, Failure, faultText, useAnswer, useTitle } from "../lib/ui";
import { OneJob, bodyOf, useStart, type Asked } from "./jobs";

interface Sum {
  pipeline?: string; reason?: string; field?: string; schema?: string; other?: boolean; letters: number; first: string; last: string; example: string;
}
interface Letter {
  pipeline: string; topic: string; partition: number; offset: number; time: string; reason: string; field?: string; detail?: string; fix?: string;
  written: string; replayed?: string; let?: string; key?: string; headers?: { name: string; value: string }[]; value?: string; masked?: boolean;
  fields?: Record<string, string>;
}
interface LetterPage { dead_letters: Letter[]; next_page_token: string }

const path = "/api/v1/ops/dead-letters";
const names = ["pipeline", "half", "partition", "reason", "since", "until", "key", "text", "all"] as const;

/** Numbers, as a field of a form and an address have them. */
const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Filters as the API takes them: each partition is a parameter of its own. */
const forAPI = (asked: [string, string][]): [string, string][] =>
  asked.flatMap(([name, value]) => name === "partition" ? listOf(value).map((n) => [name, n] as [string, string]) : [[name, value] as [string, string]]);

/** The filters as the body of a job has them. */
function forJob(asked: [string, string][]): Asked {
  const of: Asked = {};
  for (const [name, value] of asked) {
    if (value === "") continue;
    if (name === "reason") of["reasons"] = [value];
    else if (name === "partition") of["partitions"] = listOf(value).map(Number);
    else of[name] = name === "all" ? true : value;
  }
  return of;
}

/** Records that could not be written: of what kinds, which, and one of them whole. */
export function DeadLetters() {
  useTitle(t("deadLetters"));
  const { query } = usePlace();
  const asked = names.map((name) => [name, query.get(name) ?? ""] as [string, string]);
  const record = query.get("record"), scan = query.get("scan") ?? "";
  const who = useStore(me);
  const [doing, setDoing] = useState<"scan" | "replay" | "purge" | null>(null);
  const pipelines = useAnswer((signal) => ask<{ pipelines: { name: string }[] }>("/api/v1/ops/pipelines", { signal }), []);
  const known = pipelines.answer?.pipelines.map((p) => p.name);
  const named = known ?? (pipelines.err === undefined ? null : []);
  return <>
    <div class="bar"><h1>{t("deadLetters")}</h1>{who !== "open" && !record && <div class="buttons">
      <button type="button" onClick={() => setDoing("scan")}>{t("letterScan")}…</button>
      <button type="button" onClick={() => setDoing("replay")}>{t("letterReplay")}…</button>
      <button type="button" onClick={() => setDoing("purge")}>{t("letterPurge")}…</button></div>}</div>
    {record ? <One record={record} pipeline={query.get("pipeline") ?? ""} back={withQuery("/dead-letters", [...asked, ["scan", scan]])} /> : <>
      <Filters asked={asked} pipelines={known ?? []} />
      {scan ? <Scanned key={scan} id={scan} asked={asked} pipelines={named} /> : <>
        <Kinds asked={asked} pipelines={named} scan={who === "open" ? undefined : () => setDoing("scan")} />
        <Which key={withQuery(path, asked)} asked={asked} />
      </>}
    </>}
    {doing === "scan" && <ScanFor asked={asked} close={() => setDoing(null)} />}
    {doing === "replay" && <Replay asked={asked} close={() => setDoing(null)} />}
    {doing === "purge" && <Purge asked={asked} close={() => setDoing(null)} />}
  </>;
}

/** What a job is started with; its name is that of the button that starts it. */
function Look({ title, kind, of, close, name = t("preview"), place, children }: {
  title: string; kind: string; of: (form: Asked) => Asked; close: () => void; name?: string; place?: (id: string) => string; children: ComponentChildren;
}) {
  const [err, setErr] = useState<unknown>(null);
  const start = useStart();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    start(kind, of(bodyOf(event.currentTarget as HTMLFormElement)), place).then(place && close, setErr);
  };
  return <Dialog title={title} close={close}><form class="stack" onSubmit={submit}>
    {children}
    {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button class="main">{name}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
  </form></Dialog>;
}

/** What is asked for, as a dialog repeats it. */
const askedOf = (of: Asked): string => Object.entries(of).map(([name, value]) => value === true ? name : `${name} ${String(value)}`).join(" · ") || t("all");

/** Counts those of the filters by a job, which may take as long as it needs; it is shown in the place of what a request would answer. */
function ScanFor({ asked, close }: { asked: [string, string][]; close: () => void }) {
  const of = forJob(asked);
  return <Look title={t("letterScan")} kind="dead-letter-scan" name={t("letterScanDo")} of={(form) => ({ ...of, ...form })} close={close}
    place={(id) => withQuery("/dead-letters", [...asked, ["scan", id]])}>
    <p>{t("letterScanHelp")}</p>
    <p class="small" dir="auto">{askedOf(of)}</p>
    <label>{t("letterScanList")}<input name="list" type="number" min="0" max="500" defaultValue="100" /></label>
  </Look>;
}

/** What a job has counted and listed, as the page shows what a request answers. */
function Scanned({ id, asked, pipelines }: { id: string; asked: [string, string][]; pipelines: string[] | null }) {
  return <>
    <p><a href={withQuery("/dead-letters", asked)}>{t("letterScanNow")}</a></p>
    <OneJob id={id} show={(job) => {
      const of = <T,>(what: string): T[] => (job.results ?? []).filter((result) => result.what === what).map((result) => result.value as T);
      const sums = of<Sum>("sum"), letters = of<Letter>("dead_letter"), all = sums.reduce((n, sum) => n + sum.letters, 0);
      if (job.state !== "done") return null;
      return <>
        <KindsOf sums={sums} asked={asked} pipelines={pipelines} />
        {letters.length > 0 && <Letters letters={letters} asked={[...asked, ["scan", id]]}>
          <span>{letters.length < all ? t("letterScanFirst", { n: numberText(letters.length) }) : allText(letters.length)}</span></Letters>}
      </>;
    }} />
  </>;
}

/** Those that are listed are written again, by the configuration as it is now. */
function Replay({ asked, close }: { asked: [string, string][]; close: () => void }) {
  const of = forJob(asked.filter(([name]) => name !== "all"));
  return <Look title={t("letterReplay")} kind="dead-letter-replay" of={(form) => ({ ...of, ...form, preview: 10 })} close={close}>
    <p>{t("letterReplayHelp")}</p>
    <p class="small" dir="auto">{askedOf(of)}</p>
    {asked.some(([name, value]) => name === "all" && value !== "") && <p class="hint">{t("letterReplayNew")}</p>}
    <label>{t("letterFix")}<textarea name="let" rows={2} spellcheck={false} autocapitalize="none" placeholder="weight = weight.trim()" aria-describedby="fix-help" />
      <small id="fix-help">{t("letterFixHelp")}</small></label>
    <label class="check"><input type="checkbox" name="alter_identity" value="true" /><span>{t("letterIdentity")}</span></label>
    <label>{t("mostPerSecond")}<input name="rate" type="number" min="1" /></label>
  </Look>;
}

function Purge({ asked, close }: { asked: [string, string][]; close: () => void }) {
  const pipeline = Object.fromEntries(asked)["pipeline"];
  return <Look title={t("letterPurge")} kind="dead-letter-purge" of={(form) => ({ ...(pipeline ? { pipeline } : {}), ...form, dry_run: true })} close={close}>
    <p>{t("letterPurgeHelp")}</p>
    <p class="small" dir="auto">{pipeline ? `${t("pipeline")} ${pipeline}` : t("all")}</p>
    <label>{t("olderThan")}<input name="older_than" required spellcheck={false} autocapitalize="none" placeholder="30d" /></label>
    <label class="check"><input type="checkbox" name="keep_open" value="true" defaultChecked /><span>{t("keepOpen")}</span></label>
  </Look>;
}

function Filters({ asked, pipelines }: { asked: [string, string][]; pipelines: string[] }) {
  const given = Object.fromEntries(asked);
  const filter = (form: HTMLFormElement): void =>
    go(withQuery("/dead-letters", [...new FormData(form)].map(([name, value]) => [name, String(value).trim()])));
  return <form key={withQuery("", asked) + (pipelines.length > 0 ? "+" : "")} class="filters" role="search" aria-label={t("filters")}
    onSubmit={(e) => { e.preventDefault(); filter(e.currentTarget); }}>
    <label>{t("pipeline")}<select name="pipeline" onChange={(e) => filter(e.currentTarget.form!)}><option value="">{t("any")}</option>
      {pipelines.map((name) => <option key={name} selected={name === given["pipeline"]}>{name}</option>)}</select></label>
    <label>{t("half")}<select name="half" onChange={(e) => filter(e.currentTarget.form!)}><option value="">{t("both")}</option>
      <option value="rows" selected={given["half"] === "rows"}>{t("rows")}</option>
      <option value="documents" selected={given["half"] === "documents"}>{t("documents")}</option></select></label>
    <label>{t("partitions")}<input name="partition" defaultValue={given["partition"]} pattern="[\d\s,]*" placeholder={t("any")} /></label>
    <label>{t("why")}<input name="reason" defaultValue={given["reason"]} spellcheck={false} autocapitalize="none" /></label>
    <label>{t("since")}<input name="since" defaultValue={given["since"]} placeholder="2h" spellcheck={false} autocapitalize="none" /></label>
    <label>{t("mapUntil")}<input name="until" defaultValue={given["until"]} placeholder="1h" spellcheck={false} autocapitalize="none" /></label>
    <label>{t("letterText")}<input name="text" defaultValue={given["text"]} spellcheck={false} autocapitalize="none" /></label>
    <label>{t("recordKey")}<input name="key" defaultValue={given["key"]} spellcheck={false} autocapitalize="none" /></label>
    <label class="check"><input type="checkbox" name="all" value="true" defaultChecked={given["all"] === "true"} onChange={(e) => filter(e.currentTarget.form!)} />
      <span>{t("replayedToo")}</span></label>
    <div class="buttons"><button class="main">{t("search")}</button><a class="button" href="/dead-letters">{t("clear")}</a></div>
  </form>;
}

/**
 * The pipeline and the half of a name, as filters: null where the name is no half's of a pipeline that runs. It is a group's then, which the filters
 * of the API do not know.
 */
function halfOf(name: string, pipelines: string[]): [string, string][] | null {
  const dot = name.lastIndexOf("."), pipeline = name.slice(0, Math.max(0, dot)), half = name.slice(dot + 1);
  return pipelines.includes(pipeline) && (half === "rows" || half === "documents") ? [["pipeline", pipeline], ["half", half]] : null;
}

/** The dead letters by kind; a count that takes longer than an answer may is a job. */
function Kinds({ asked, pipelines, scan }: { asked: [string, string][]; pipelines: string[] | null; scan: (() => void) | undefined }) {
  const { answer, err, again } = useAnswer((signal) => // not asked again by itself: what has taken too long would, each time
    ask<{ sums: Sum[] }>(withQuery(path + "/summary", forAPI(asked)), { signal, again: "unbegun" }), [withQuery("", asked)]);
  if (err !== undefined) {
    return <><Failure err={err} again={again} />
      {scan && err instanceof Fault && [0, 503, 504].includes(err.status) && <p class="hint">{t("letterScanSlow")} <button type="button" onClick={scan}>{t("letterScan")}…</button></p>}</>;
  }
  if (!answer) return <p role="status">{t("loading")}</p>;
  return <KindsOf sums={answer.sums} asked={asked} pipelines={pipelines} />;
}

function KindsOf({ sums, asked, pipelines }: { sums: Sum[]; asked: [string, string][]; pipelines: string[] | null }) {
  const all = sums.reduce((n, sum) => n + sum.letters, 0);
  if (all === 0) return <p class="empty">{t("noDeadLetters")}</p>;
  const rest = asked.filter(([name]) => name !== "pipeline" && name !== "half" && name !== "reason"), which = asked.filter(([name]) => name === "pipeline" || name === "half");
  const half = (s: Sum): [string, string][] => pipelines && s.pipeline && halfOf(s.pipeline, pipelines) || which; // of a group that is not in the configuration: as it is now
  return <section aria-labelledby="kinds"><h2 id="kinds">{t("kinds")}</h2>
    <List label={t("kinds")} file="dead-letter-kinds.csv" rows={sums} empty={t("noDeadLetters")} columns={[
      { name: "pipeline", label: t("pipeline"), of: (s) => s.pipeline ?? "" },
      { name: "reason", label: t("why"), of: (s) => s.other ? t("others") : s.reason ?? "", show: (s) => s.reason && pipelines
        ? <a href={withQuery("/dead-letters", [...half(s), ["reason", s.reason], ...rest])}>{reasonText(s.reason)}</a> : s.other ? t("others") : s.reason && reasonText(s.reason) },
      { name: "field", label: t("field"), of: (s) => s.field ?? "" },
      { name: "schema", label: t("schema"), of: (s) => s.schema ?? "" },
      { name: "letters", label: t("howMany"), of: (s) => s.letters },
      { name: "first", label: t("first"), of: (s) => s.first },
      { name: "last", label: t("last"), of: (s) => s.last },
      { name: "example", label: t("example"), of: (s) => s.example, show: (s) => pipelines && s.example
        ? <a href={withQuery("/dead-letters", [...half(s).filter(([name]) => name === "pipeline"), ["record", s.example]])}>{s.example}</a> : s.example },
    ]}><span>{t("inAll", { n: numberText(all) })}</span></List></section>;
}

function Which({ asked }: { asked: [string, string][] }) {
  const [letters, setLetters] = useState<Letter[]>([]);
  const [next, setNext] = useState<string | null>(null); // null: not asked yet; empty: the end
  const [err, setErr] = useState<unknown>(null);
  const load = async (token: string, before: Letter[], signal?: AbortSignal): Promise<void> => {
    setErr(null);
    try {
      const page = await ask<LetterPage>(withQuery(path, [...forAPI(asked), ["page_token", token]]), signal ? { signal } : {});
      setLetters([...before, ...page.dead_letters]);
      setNext(page.next_page_token);
    } catch (e) {
      if (!signal?.aborted) setErr(e);
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    void load("", [], stop.signal);
    return () => stop.abort();
  }, []);
  const rest: Paging<Letter> = async (token, signal) => {
    const page = await ask<LetterPage>(withQuery(path, [...forAPI(asked), ["page_token", token]]), { signal });
    return { rows: page.dead_letters, next: page.next_page_token };
  };
  if (err !== null) return <Failure err={err} again={() => { void load(next ?? "", next ? letters : []); }} />;
  if (letters.length === 0) return null;
  return <Letters letters={letters} rest={next ? rest : undefined} asked={asked}>
    {next && <button type="button" onClick={() => { void load(next, letters); }}>{t("more")}</button>}
    <span>{next ? t("shownSoFar", { n: numberText(letters.length) }) : allText(letters.length)}</span></Letters>;
}

function Letters({ letters, rest, asked, children }: { letters: Letter[]; rest?: Paging<Letter> | undefined; asked: [string, string][]; children: ComponentChildren }) {
  return <section aria-labelledby="which"><h2 id="which">{t("records")}</h2>
    <List label={t("records")} file="dead-letters.csv" rows={letters} rest={rest} empty={t("noDeadLetters")} columns={[
      { name: "record", label: t("record"), of: (l) => place(l), show: (l) =>
        <a href={withQuery("/dead-letters", [...asked, ["record", place(l)]])}>{place(l)}</a> }, // whose it is may be a group that is not in the configuration
      { name: "pipeline", label: t("pipeline"), of: (l) => l.pipeline },
      { name: "reason", label: t("why"), of: (l) => l.reason, show: (l) => reasonText(l.reason) },
      { name: "field", label: t("field"), of: (l) => l.field ?? "" },
      { name: "detail", label: t("detail"), of: (l) => l.detail ?? "", long: true },
      { name: "key", label: t("recordKey"), of: (l) => l.key ?? "", long: true },
      { name: "written", label: t("at"), of: (l) => l.written },
      { name: "replayed", label: t("replayed"), of: (l) => l.replayed ?? "" },
    ]}>{children}</List></section>;
}

const reasonText = (reason: string): string => kindText(`reason.${reason}`, reason);
const place = (l: Letter): string => `${l.topic}/${l.partition}:${l.offset}`;

/** One record, whole: a dead letter of each half that rejected it. */
function One({ record, pipeline, back }: { record: string; pipeline: string; back: string }) {
  const at = withQuery(`${path}/records/${encodeURIComponent(record)}`, [["pipeline", pipeline]]);
  const { answer, err, again } = useAnswer((signal) => ask<LetterPage>(at, { signal }), [at]);
  return <>
    <p><a href={back}>{t("toTheList")}</a></p>
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer?.dead_letters.map((l) => {
      const facts: [string, string | undefined][] = [[t("why"), reasonText(l.reason)], [t("field"), l.field], [t("detail"), l.detail], [t("whatHelps"), l.fix],
        [t("time"), timeText(l.time)], [t("at"), timeText(l.written)], [t("replayed"), l.replayed && timeText(l.replayed)], [t("fixedBy"), l.let], [t("recordKey"), l.key]];
      return <section key={l.pipeline + l.written} class="sheet letter" aria-label={`${t("record")} ${l.pipeline}`}>
        <h2 dir="auto" translate={false}>{place(l)} · {l.pipeline}</h2>
        <dl>{facts.map(([name, value]) => value ? <div key={name}><dt>{name}</dt><dd dir="auto">{value}</dd></div> : null)}</dl>
        <p><a href={withQuery("/records", [["topic", l.topic], ["partition", String(l.partition)], ["offset", String(l.offset)]])}>{t("explainDo")}</a></p>
        {l.masked && <p class="small">{t("masked")}</p>}
        {l.fields && Object.keys(l.fields).length > 0 && <dl>{Object.entries(l.fields).map(([name, value]) => <div key={name}><dt dir="auto" translate={false}>{name}</dt><dd dir="auto">{value}</dd></div>)}</dl>}
        {l.headers && l.headers.length > 0 && <><h3>{t("headers")}</h3><dl>{l.headers.map((h, i) => <div key={i}><dt dir="auto" translate={false}>{h.name}</dt><dd dir="auto">{h.value}</dd></div>)}</dl></>}
        {l.value && <><h3>{t("value")}</h3><pre class="raw" tabIndex={0} dir="auto">{l.value}</pre></>}
      </section>;
    })}
  </>;
}
