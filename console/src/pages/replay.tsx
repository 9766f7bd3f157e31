import { useState } from "preact/hooks";
import { ask } from "../lib/api";
import { drafted, dropDraft, useDraft } from "../lib/drafts";
import { me, t, useStore } from "../lib/store";
import { faultText, useAnswer, useTitle } from "../lib/ui";
import { Recent, bodyOf, useStart, type Asked } from "./jobs";

/** The pipelines to choose from; and, of those that have both, which half. */
function Which({ form, all }: { form: string; all?: boolean }) {
  const { answer } = useAnswer((signal) => ask<{ pipelines: { name: string }[] }>("/api/v1/ops/pipelines", { signal }), []);
  const kept = drafted(form, "pipeline");
  return <>
    <label>{t("pipeline")}<select name="pipeline" required={!all}>{all && <option value="">{t("any")}</option>}
      {answer?.pipelines.map((p) => <option key={p.name} selected={p.name === kept}>{p.name}</option>)}</select></label>
    <label>{t("half")}<select name="half"><option value="">{t("both")}</option><option value="rows">{t("rows")}</option><option value="documents">{t("documents")}</option></select></label>
    <label>{t("topic")}<input name="topic" spellcheck={false} autocapitalize="none" placeholder={t("any")} /></label>
  </>;
}

/** Sends a form's body as a job, as it is or with what a button adds; what is refused is said in place, and nothing of the form is lost. */
function useSend(kind: string): { err: unknown; busy: boolean; send: (event: SubmitEvent, more: (by: HTMLElement | null) => Asked) => void } {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const start = useStart();
  const send = (event: SubmitEvent, more: (by: HTMLElement | null) => Asked): void => {
    event.preventDefault();
    setBusy(true);
    setErr(null);
    start(kind, { ...bodyOf(event.currentTarget as HTMLFormElement), ...more(event.submitter) }).catch((e: unknown) => { setErr(e); setBusy(false); });
  };
  return { err, busy, send };
}

/** Whether the filters of now are those of all records, or each record has those of its time. */
function AsConfigured() {
  return <label class="check"><input type="checkbox" name="as_configured" value="true" /><span>{t("asConfigured")}</span></label>;
}

export function Replay() {
  useTitle(t("replay"));
  const who = useStore(me);
  const { err, busy, send } = useSend("replay");
  const form = useDraft("replay");
  if (who === "open") return <><h1>{t("replay")}</h1><p>{t("noJobs")}</p></>;
  return <>
    <h1>{t("replay")}</h1>
    <p class="small">{t("replayHelp")}</p>
    <form ref={form} class="filters" onSubmit={(e) => send(e, (by) => by?.dataset["look"] === "diff" ? { diff: 20 } : { dry_run: true })}>
      <Which form="replay" />
      <label>{t("from")}<input name="from" required spellcheck={false} autocapitalize="none" placeholder="2h" aria-describedby="from-help" /></label>
      <label>{t("to")}<input name="to" spellcheck={false} autocapitalize="none" placeholder="latest" aria-describedby="from-help" /></label>
      <label>{t("partitions")}<input name="partitions" pattern="[\d\s,]*" placeholder={t("any")} /></label>
      <label>{t("mostPerSecond")}<input name="rate" type="number" min="1" /></label>
      <label>{t("replayName")}<input name="name" spellcheck={false} autocapitalize="none" aria-describedby="name-help" /></label>
      <label class="wide">{t("replayKeys")}<textarea name="keys" rows={2} spellcheck={false} autocapitalize="none" /></label>
      <label class="check"><input type="checkbox" name="skip_missing" value="true" /><span>{t("skipMissing")}</span></label>
      <label class="check"><input type="checkbox" name="again" value="true" /><span>{t("replayAgain")}</span></label>
      <AsConfigured />
      <small id="from-help" class="wide">{t("fromHelp")}</small>
      <small id="name-help" class="wide">{t("replayNameHelp")}</small>
      {err !== null && <p class="failure wide" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main" data-look="plan" disabled={busy}>{t("replayPlan")}</button>
        <button data-look="diff" disabled={busy}>{t("replayDiff")}</button>
        <button type="reset" onClick={() => dropDraft("replay")}>{t("clear")}</button></div>
    </form>
    <h2>{t("earlier")}</h2>
    <Recent kind="replay" />
  </>;
}

export function Verify() {
  useTitle(t("verify"));
  const who = useStore(me);
  const { err, busy, send } = useSend("verify");
  const form = useDraft("verify");
  if (who === "open") return <><h1>{t("verify")}</h1><p>{t("noJobs")}</p></>;
  return <>
    <h1>{t("verify")}</h1>
    <p class="small">{t("verifyHelp")}</p>
    <form ref={form} class="filters" onSubmit={(e) => send(e, () => ({}))}>
      <Which form="verify" all />
      <label>{t("from")}<input name="from" spellcheck={false} autocapitalize="none" placeholder="earliest" aria-describedby="from-help" /></label>
      <label>{t("to")}<input name="to" spellcheck={false} autocapitalize="none" placeholder="latest" aria-describedby="from-help" /></label>
      <label>{t("partitions")}<input name="partitions" pattern="[\d\s,]*" placeholder={t("any")} /></label>
      <label>{t("sample")}<input name="sample" spellcheck={false} autocapitalize="none" placeholder="1%" /></label>
      <label>{t("mostPerSecond")}<input name="rate" type="number" min="1" /></label>
      <label class="check"><input type="checkbox" name="full" value="true" /><span>{t("verifyFull")}</span></label>
      <label class="check"><input type="checkbox" name="ahead" value="true" /><span>{t("verifyAhead")}</span></label>
      <AsConfigured />
      <small id="from-help" class="wide">{t("fromHelp")}</small>
      {err !== null && <p class="failure wide" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main" disabled={busy}>{t("verifyStart")}</button>
        <button type="reset" onClick={() => dropDraft("verify")}>{t("clear")}</button></div>
    </form>
    <h2>{t("earlier")}</h2>
    <Recent kind="verify" />
  </>;
}
