import { useState } from "preact/hooks";
import { ask } from "../lib/api";
import { List } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { me, t, useStore, type Key } from "../lib/store";
import { Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";

interface Half { pipeline: string; does: string; settings?: string[]; onward?: boolean }
interface Setting { setting: string; was?: string; becomes?: string; effect: string }
interface Refusal { setting: string; message: string; fix: string }
interface Offset { pipeline: string; topic: string; partition: number; offset: number; until?: number }
interface Reload {
  result: string; before: string; after?: string; pipelines: Half[]; settings: Setting[]; refusals?: Refusal[]; error?: string; fix?: string;
  warnings?: string[]; onward?: Offset[]; unrecorded?: string;
}

const path = "/api/v1/ops/reload";

/** The configuration that runs; secrets are not in the answer. */
export function Configuration() {
  useTitle(t("configuration"));
  const { query } = usePlace();
  const who = useStore(me);
  const { answer, err, again } = useAnswer((signal) => ask<{ yaml: string }>("/api/v1/ops/configuration", { signal }), []);
  return <>
    <div class="bar"><h1>{t("configuration")}</h1><div class="buttons">
      {answer && <button type="button" onClick={() => {
        navigator.clipboard.writeText(answer.yaml).then(() => { note.value = { text: t("copied") }; }, () => {});
      }}>{t("copy")}</button>}
      {who !== "open" && !query.has("plan") && <a class="button" href="/configuration?plan=">{t("reloadPlan")}</a>}
    </div></div>
    {who !== "open" && query.has("plan") && <Planned applied={again} />}
    <p class="small">{t("configurationHelp")}</p>
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer && <pre class="sheet raw" tabIndex={0} aria-label={t("configuration")}>{answer.yaml}</pre>}
  </>;
}

const does: Record<string, Key> = { starts: "reloadStarts", stops: "reloadStops", changes: "reloadChanges", stays: "reloadStays" };
const effects: Record<string, Key> = {
  live: "effectLive", drain: "effectDrain", onward: "effectOnward", restart: "effectRestart", replay: "effectReplay", serve: "effectServe",
};
const said = (words: Record<string, Key>, word: string): string => words[word] ? t(words[word]) : word;

/** What a reload would do, which is done once it is confirmed; and what it has done. */
function Planned({ applied }: { applied: () => void }) {
  const { answer, err, loading, again, put } = useAnswer((signal) => ask<Reload>(path, { method: "POST", body: { dry_run: true }, signal, again: true }), []);
  const [sure, setSure] = useState(false);
  const can = answer?.result === "preview" && answer.settings.length > 0;
  return <section class="sheet" aria-labelledby="plan-title" aria-busy={loading}>
    <div class="bar"><h2 id="plan-title">{t("reloadPlan")}</h2><div class="buttons">
      {can && <button type="button" class="danger" onClick={() => setSure(true)}>{t("reloadDo")}</button>}
      <button type="button" onClick={again}>{t("refresh")}</button>
      <button type="button" onClick={() => go("/configuration")}>{t("close")}</button></div></div>
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer && <Plan of={answer} />}
    {sure && answer && <Sure of={answer} close={() => setSure(false)} done={(now) => { setSure(false); put(now); applied(); }} />}
  </section>;
}

function Plan({ of }: { of: Reload }) {
  const done = of.result === "applied";
  const both = of.onward?.some((o) => o.until !== undefined);
  return <>
    {done ? <p role="status">{t("reloadDone", { after: of.after ?? "", before: of.before })}</p>
      : of.result === "refused" ? <Refused of={of} />
      : <p>{of.settings.length === 0 ? t("reloadNothing") : t("reloadPlanHelp")}</p>}
    {of.warnings?.map((w) => <p key={w} class="hint" dir="auto">{w}</p>)}
    {of.settings.length > 0 && <>
      <List label={t("reloadPipelines")} file="reload-pipelines.csv" rows={of.pipelines} empty={t("reloadSureNone")} columns={[
        { name: "pipeline", label: t("pipeline"), of: (h) => h.pipeline },
        { name: "does", label: t("reloadDoes"), of: (h) => h.does, show: (h) => said(does, h.does) },
        { name: "settings", label: t("reloadBy"), of: (h) => (h.settings ?? []).join(" "), long: true, show: (h) => (h.settings ?? []).join(", ") },
      ]} />
      <List label={t("reloadSettings")} file="reload-settings.csv" rows={of.settings} empty={t("reloadNothing")} columns={[
        { name: "setting", label: t("setting"), of: (s) => s.setting, long: true },
        { name: "was", label: t("reloadWas"), of: (s) => s.was ?? "", long: true },
        { name: "becomes", label: t("reloadBecomes"), of: (s) => s.becomes ?? "", long: true },
        { name: "effect", label: t("reloadEffect"), of: (s) => s.effect, show: (s) => said(effects, s.effect) },
      ]} />
    </>}
    {of.onward && of.onward.length > 0 && <>
      <h3>{t("reloadOnward")}</h3>
      <List label={t("reloadOnward")} file="reload-offsets.csv" rows={of.onward} empty="" columns={[
        { name: "pipeline", label: t("pipeline"), of: (o) => o.pipeline },
        { name: "topic", label: t("topic"), of: (o) => o.topic },
        { name: "partition", label: t("partition"), of: (o) => o.partition },
        { name: "offset", label: t("reloadOffset"), of: (o) => o.offset },
        ...both ? [{ name: "until", label: t("reloadUntil"), of: (o: Offset) => o.until ?? "" }] : [],
      ]} />
      {both && <p class="hint">{t("reloadUntilHelp")}</p>}
      {of.unrecorded && <p class="hint" dir="auto">{of.unrecorded}</p>}
    </>}
  </>;
}

/** Why what runs goes on, setting by setting where that is the reason. */
function Refused({ of }: { of: Reload }) {
  return <div class="failure" role="alert">
    <p>{t("reloadRefused")}</p>
    {of.refusals?.length ? <ul>{of.refusals.map((r) => <li key={r.setting} dir="auto">{r.setting} {r.message}; {r.fix}</li>)}</ul>
      : <p dir="auto">{of.error}{of.fix && `; ${of.fix}`}</p>}
  </div>;
}

/** Asks once more, and does what is shown: if the file has changed meanwhile, it is refused. */
function Sure({ of, close, done }: { of: Reload; close: () => void; done: (now: Reload) => void }) {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const stopping = of.pipelines.filter((h) => h.does === "stops" || h.does === "changes").map((h) => h.pipeline);
  const apply = (): void => {
    setBusy(true);
    setErr(null);
    ask<Reload>(path, { method: "POST", body: { after: of.after } }).then(done, (e) => { setErr(e); setBusy(false); });
  };
  return <Dialog title={t("reloadDo")} close={() => { if (!busy) close(); }}>
    <p>{stopping.length > 0 ? t("reloadSure", { pipelines: stopping.join(", ") }) : t("reloadSureNone")}</p>
    {busy && <p role="status">{t("reloading")}</p>}
    {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button type="button" class="danger" disabled={busy} onClick={apply}>{t("reloadDo")}</button>
      <button type="button" disabled={busy} onClick={close}>{t("cancelAction")}</button></div>
  </Dialog>;
}
