import { useState } from "preact/hooks";
import { Fault, ask, withQuery } from "../lib/api";
import { List } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { me, numberText, t, useStore } from "../lib/store";
import { Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";
import { bodyOf } from "./jobs";

interface Position {
  pipeline: string; group: string; topic: string; partition: number; earliest: number; committed?: number; latest: number; lag: number; members: string[];
}
interface Move { pipeline: string; topic: string; partition: number; now?: number; then: number; again: number; skipped: number }
interface Moves { moves: Move[]; done: boolean; in_use?: string }

const path = "/api/v1/ops/offsets";
const names = ["pipeline", "half", "topic"] as const;

/** Where the groups are in their topics, and moved to. */
export function Offsets() {
  useTitle(t("offsets"));
  const { query } = usePlace();
  const who = useStore(me);
  const asked = names.map((name) => [name, query.get(name) ?? ""] as [string, string]);
  const { answer, err, again } = useAnswer((signal) => ask<{ positions: Position[] }>(withQuery(path, asked), { signal }), [withQuery(path, asked)]);
  const all = useAnswer((signal) => ask<{ pipelines: { name: string; topics: string[] }[] }>("/api/v1/ops/pipelines", { signal }), []);
  const [setting, setSetting] = useState(false);
  const filter = (form: HTMLFormElement): void => go(withQuery("/offsets", [...new FormData(form)].map(([name, value]) => [name, String(value)])));
  const pipelines = all.answer?.pipelines ?? [];
  const choice = (name: typeof names[number], label: string, values: string[]) => <label>{label}<select name={name} value={query.get(name) ?? ""}
    onChange={(e) => filter(e.currentTarget.form!)}><option value="">{t("any")}</option>{values.map((v) => <option key={v} value={v}>{halfName(v)}</option>)}</select></label>;
  const behind = (answer?.positions ?? []).reduce((n, p) => n + Math.max(0, p.lag), 0);
  return <>
    <div class="bar"><h1>{t("offsets")}</h1>
      {who !== "open" && <button type="button" onClick={() => setSetting(true)}>{t("offsetsSet")}</button>}</div>
    <form class="filters" role="search" aria-label={t("filters")} onSubmit={(e) => { e.preventDefault(); filter(e.currentTarget); }}>
      {choice("pipeline", t("pipeline"), pipelines.map((p) => p.name))}
      {choice("half", t("half"), ["rows", "documents"])}
      {choice("topic", t("topic"), [...new Set(pipelines.flatMap((p) => p.topics))])}
      <div class="buttons"><button type="button" onClick={again}>{t("refresh")}</button></div>
    </form>
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer && <List label={t("offsets")} file="offsets.csv" rows={answer.positions} empty={t("offsetsNone")} columns={[
      { name: "pipeline", label: t("pipeline"), of: (p) => p.pipeline },
      { name: "topic", label: t("topic"), of: (p) => p.topic },
      { name: "partition", label: t("partition"), of: (p) => p.partition },
      { name: "earliest", label: t("logBegins"), of: (p) => p.earliest },
      { name: "committed", label: t("committed"), of: (p) => p.committed ?? null, show: (p) => p.committed === undefined ? t("nothing") : numberText(p.committed) },
      { name: "latest", label: t("latestOffset"), of: (p) => p.latest },
      { name: "lag", label: t("lag"), of: (p) => p.lag, show: (p) => p.lag < 0 ? t("unknown") : numberText(p.lag) },
      { name: "members", label: t("members"), of: (p) => p.members.join(" "), show: (p) => p.members.length ? numberText(p.members.length) : t("noMembers") },
    ]}><span>{t("behindInAll", { n: numberText(behind) })}</span></List>}
    {setting && <SetOffsets given={Object.fromEntries(asked)} pipelines={pipelines.map((p) => p.name)} close={() => setSetting(false)} done={() => {
      setSetting(false);
      note.value = { text: t("offsetsDone") };
      again();
    }} />}
  </>;
}

const halfName = (name: string): string => name === "rows" ? t("rows") : name === "documents" ? t("documents") : name;

/** Asks where groups are to go on, shows what that means, and does it. */
function SetOffsets({ given, pipelines, close, done }: { given: Record<string, string>; pipelines: string[]; close: () => void; done: () => void }) {
  const [preview, setPreview] = useState<Moves | null>(null);
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const send = async (body: Record<string, unknown>, then: (moves: Moves) => void): Promise<void> => {
    setBusy(true);
    setErr(null);
    try {
      then(await ask<Moves>(path, { method: "POST", body, again: true })); // moves are from an offset to an offset: those that are made are not made again
    } catch (e) {
      setErr(e);
      if (e instanceof Fault && e.status === 409) setPreview(null);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void send({ ...bodyOf(event.currentTarget as HTMLFormElement), dry_run: true }, setPreview);
  };
  const changed = (): void => { setPreview(null); setErr(null); };
  return <Dialog title={t("offsetsSet")} close={close}>
    <form class="stack" onSubmit={submit} onInput={changed}>
      <label>{t("pipeline")}<select name="pipeline" required>{pipelines.map((p) => <option key={p} selected={p === given["pipeline"]}>{p}</option>)}</select></label>
      <label>{t("half")}<select name="half"><option value="">{t("both")}</option>{["rows", "documents"].map((h) =>
        <option key={h} value={h} selected={h === given["half"]}>{halfName(h)}</option>)}</select></label>
      <label>{t("topic")}<input name="topic" defaultValue={given["topic"] ?? ""} spellcheck={false} autocapitalize="none" placeholder={t("any")} /></label>
      <label>{t("partitions")}<input name="partitions" pattern="[\d\s,]*" placeholder={t("any")} /></label>
      <label>{t("offsetsTo")}<input name="to" required spellcheck={false} autocapitalize="none" aria-describedby="to-help" /><small id="to-help">{t("offsetsToHelp")}</small></label>
      {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
      {preview && <section aria-live="polite">
        {preview.moves.length === 0 ? <p>{t("offsetsThere")}</p> : <List label={t("preview")} file="moves.csv" rows={preview.moves} empty={t("offsetsThere")} columns={[
          { name: "pipeline", label: t("pipeline"), of: (m) => m.pipeline },
          { name: "topic", label: t("topic"), of: (m) => m.topic },
          { name: "partition", label: t("partition"), of: (m) => m.partition },
          { name: "now", label: t("now"), of: (m) => m.now ?? null },
          { name: "then", label: t("then"), of: (m) => m.then },
          { name: "again", label: t("readAgain"), of: (m) => m.again },
          { name: "skipped", label: t("skipped"), of: (m) => m.skipped },
        ]} />}
        {preview.in_use && <p class="hint" dir="auto">{preview.in_use}</p>}
        {preview.moves.some((m) => m.skipped > 0) && <p class="hint">{t("skippedWarning")}</p>}
      </section>}
      <div class="buttons">
        <button class={preview ? undefined : "main"} disabled={busy}>{t("preview")}</button>
        {preview && preview.moves.length > 0 && !preview.in_use && <button type="button" class="danger" disabled={busy}
          onClick={() => { void send({ moves: preview.moves }, done); }}>{t("offsetsDo")}</button>}
        <button type="button" onClick={close}>{t("cancelAction")}</button>
      </div>
    </form>
  </Dialog>;
}
