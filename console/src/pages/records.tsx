import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ask } from "../lib/api";
import { usePlace } from "../lib/router";
import { me, t, useStore } from "../lib/store";
import { faultText, useAnswer, useTitle } from "../lib/ui";
import { Recent, bodyOf, useStart, type Asked } from "./jobs";

/** From a cell to the record that it comes from, and from a record to its rows and documents. */
export function Records() {
  useTitle(t("records"));
  const who = useStore(me);
  const { query } = usePlace();
  const { answer } = useAnswer((signal) => ask<{ tables: { name: string }[] }>("/api/v1/ops/tables", { signal }), []);
  const pipelines = useAnswer((signal) => ask<{ pipelines: { name: string }[] }>("/api/v1/ops/pipelines", { signal }), []).answer?.pipelines;
  if (who === "open") return <><h1>{t("records")}</h1><p>{t("noJobs")}</p></>;
  const given = (name: string): string => query.get(name) ?? "";
  const names = answer?.tables.map((one) => one.name) ?? [], wanted = given("table");
  const table = names.find((name) => name === wanted) ?? names.find((name) => name.endsWith(":" + wanted)); // SQL takes the short name too
  return <>
    <h1>{t("records")}</h1>
    <h2>{t("seekTitle")}</h2>
    <p class="small">{t("seekHelp")}</p>
    <Form key={"seek" + query} kind="seek" button={t("seekDo")} more={(body) => ({ ...body, version: String(body["version"] ?? "") })}>
      <label>{t("regionsTable")}<select name="table" required>
        {answer && wanted !== "" && !table && <option value="" selected />}
        {names.map((name) => <option key={name} selected={name === table}>{name}</option>)}</select></label>
      <label class="wide">{t("rowKey")}<input name="row" required defaultValue={given("row")} spellcheck={false} autocapitalize="none" /></label>
      <label>{t("cellVersion")}<input name="version" required defaultValue={given("version")} spellcheck={false} autocapitalize="none" placeholder="1767225600000" /></label>
      <label>{t("cellColumn")}<input name="column" defaultValue={given("column")} spellcheck={false} autocapitalize="none" placeholder={t("any")} /></label>
      <label>{t("mostRead")}<input name="most" type="number" min="1" max="100000000" placeholder="5000000" /></label>
    </Form>
    <h2>{t("explainTitle")}</h2>
    <p class="small">{t("explainHelp")}</p>
    <Form key={"explain" + query} kind="explain" button={t("explainDo")} more={(body) => ({ ...body, partition: Number(body["partition"]), offset: Number(body["offset"]) })}>
      <label>{t("topic")}<input name="topic" required defaultValue={given("topic")} spellcheck={false} autocapitalize="none" /></label>
      <label>{t("partition")}<input name="partition" type="number" min="0" required defaultValue={given("partition")} /></label>
      <label>{t("offset")}<input name="offset" type="number" min="0" required defaultValue={given("offset")} /></label>
      <label>{t("pipeline")}<select name="pipeline"><option value="">{t("any")}</option>
        {pipelines?.map((one) => <option key={one.name} selected={one.name === given("pipeline")}>{one.name}</option>)}</select></label>
    </Form>
    <h2>{t("earlier")}</h2>
    <Recent kind={["seek", "explain"]} />
  </>;
}

/** What starts a job; what is refused is said in place, and nothing of the form is lost. */
function Form({ kind, button, more, children }: { kind: string; button: string; more: (body: Asked) => Asked; children: ComponentChildren }) {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const start = useStart();
  return <form class="filters" onSubmit={(e) => {
    e.preventDefault();
    setBusy(true);
    setErr(null);
    start(kind, more(bodyOf(e.currentTarget))).catch((fault: unknown) => { setErr(fault); setBusy(false); });
  }}>
    {children}
    {err !== null && <p class="failure wide" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button class="main" disabled={busy}>{button}</button></div>
  </form>;
}
