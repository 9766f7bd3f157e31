import { useEffect, useState } from "preact/hooks";
import { ask, withQuery } from "../lib/api";
import { List } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { kindText, numberText, t, useResultKinds } from "../lib/store";
import { Failure, useAnswer, useTitle } from "../lib/ui";

interface Design {
  key?: string; fields: { name: string; type: string }[]; parts: { expr: string; width?: number; doc: string; bytes?: string; value?: string }[];
  row?: string; bytes?: number; row_wrong?: string; scans: { start: string; stop?: string; from_version?: number; to_version?: number }[]; scans_wrong?: string;
  splits: string[]; splits_wrong?: string; findings: { rule: string; severity: string; column?: number; message: string; fix?: string }[];
}
interface Field { name: string; type: string; value: string; where: string }
interface Asked { table: string; key: string; fields: Field[]; row: string; regions: string; servers: string; query: string; rowKey: string }

const types = ["text", "int", "float", "bool", "time"];
const pause = 250; // ms after the last letter until it is asked

const example: Asked = {
  table: "", key: `md5(waybill, 4) + waybill + "|" + desc(at, ms)`, row: "event", regions: "16", servers: "", query: "waybill at..", rowKey: "",
  fields: [{ name: "waybill", type: "text", value: "UA-1545", where: "UA-1545" }, { name: "at", type: "time", value: "2026-01-31T08:00:00Z", where: "2026-01-31..2026-02-01" }],
};

/** What an address asks; one that asks nothing shows an example. */
function askedBy(query: URLSearchParams): Asked {
  if (!query.has("table") && !query.has("key")) return example;
  const fields: Field[] = query.getAll("field").map((text) => {
    const [name, type] = text.split(":");
    return { name: name ?? "", type: type ?? "text", value: "", where: "" };
  });
  for (const [of, into] of [["value", "value"], ["where", "where"]] as const) {
    for (const text of query.getAll(of)) {
      const at = text.indexOf("="), name = text.slice(0, at);
      let field = fields.find((f) => f.name === name);
      if (!field) fields.push(field = { name, type: "", value: "", where: "" });
      field[into] = text.slice(at + 1);
    }
  }
  const one = (name: string): string => query.get(name) ?? "";
  return { table: one("table"), key: one("key"), fields, row: one("row") || "event", regions: one("regions"), servers: one("servers"),
    query: query.getAll("query").join("\n"), rowKey: one("row_key") };
}

/** The same as parameters, of the address and of the question. */
function parameters(of: Asked): [string, string][] {
  const out: [string, string][] = of.table ? [["table", of.table]] : [["key", of.key.trim()]];
  for (const f of of.fields) {
    const name = f.name.trim();
    if (!name) continue;
    if (!of.table) out.push(["field", `${name}:${f.type}`]);
    if (f.value) out.push(["value", `${name}=${f.value}`]); // blanks are part of a value
    if (f.where.trim()) out.push(["where", `${name}=${f.where.trim()}`]);
  }
  if (!of.table && of.row !== "event") out.push(["row", of.row]);
  for (const line of of.query.split("\n")) out.push(["query", line.trim()]);
  out.push(["regions", of.regions], ["servers", of.servers], ["row_key", of.rowKey]);
  return out.filter(([, value]) => value !== "");
}

/** A key as one writes it: its parts, a row, ranges, split points and what will go wrong. */
export function Keys() {
  useTitle(t("keys"));
  const { query } = usePlace();
  const [asked, setAsked] = useState(() => askedBy(query));
  const address = withQuery("/keys", parameters(asked));
  const [settled, setSettled] = useState(address);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(address), pause);
    return () => clearTimeout(timer);
  }, [address]);
  useEffect(() => { if (settled === address && location.pathname === "/keys") go(settled, true); }, [settled]);
  const named = useResultKinds(), empty = !asked.table && !asked.key.trim();
  const tables = useAnswer((signal) => ask<{ tables: { name: string }[] }>("/api/v1/ops/tables", { signal }), []);
  const { answer, err, again } = useAnswer<Design>(empty ? null : (signal) => ask<Design>("/api/v1/ops" + settled, { signal }), [settled, empty]);
  const put = (change: Partial<Asked>): void => setAsked({ ...asked, ...change });
  const field = (i: number, change: Partial<Field>): void => put({ fields: asked.fields.map((f, n) => n === i ? { ...f, ...change } : f) });
  const own = asked.table === "";
  // of a table's key the fields are known; what was written for them stays
  const fields = own ? asked.fields : (answer?.fields ?? []).map((f) => asked.fields.find((one) => one.name === f.name) ?? { ...f, value: "", where: "" });
  const change = (i: number, of: Partial<Field>): void => own ? field(i, of) : put({ fields: fields.map((f, n) => n === i ? { ...f, ...of } : f) });
  return <>
    <h1>{t("keys")}</h1>
    <form class="filters keys" onSubmit={(e) => e.preventDefault()}>
      <label>{t("keyOf")}<select value={asked.table} onChange={(e) => put({ table: e.currentTarget.value, fields: e.currentTarget.value ? [] : example.fields })}>
        <option value="">{t("keyOwn")}</option>{tables.answer?.tables.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></label>
      <label>{t("regions")}<input type="number" min="1" max="4096" value={asked.regions} onInput={(e) => put({ regions: e.currentTarget.value })} /></label>
      <label>{t("servers")}<input type="number" min="1" value={asked.servers} onInput={(e) => put({ servers: e.currentTarget.value })} /></label>
      {own && <>
        <label class="wide">{t("keyRow")}<select value={asked.row} onChange={(e) => put({ row: e.currentTarget.value })}>
          <option value="event">{t("keyEvent")}</option><option value="entity">{t("keyEntity")}</option></select></label>
        <label class="wide">{t("keyExpression")}<textarea rows={2} value={asked.key} spellcheck={false} autocapitalize="none" maxLength={4000}
          aria-describedby="key-help" onInput={(e) => put({ key: e.currentTarget.value })} /><small id="key-help">{t("keyHelp")}</small></label>
      </>}
      <div class="scroll wide" tabIndex={0} role="group" aria-label={t("keyFields")}><table>
        <thead><tr><th scope="col">{t("field")}</th><th scope="col">{t("type")}</th><th scope="col">{t("value")}</th><th scope="col">{t("keyWhere")}</th>
          {own && <th scope="col">{t("actions")}</th>}</tr></thead>
        <tbody>{fields.map((f, i) => <tr key={i}>
          <td>{own ? <input aria-label={t("field")} value={f.name} spellcheck={false} autocapitalize="none" onInput={(e) => change(i, { name: e.currentTarget.value })} /> : f.name}</td>
          <td>{own ? <select aria-label={`${t("type")}: ${f.name}`} value={f.type} onChange={(e) => change(i, { type: e.currentTarget.value })}>
            {types.map((one) => <option key={one}>{one}</option>)}</select> : answer?.fields[i]?.type}</td>
          <td><input aria-label={`${t("value")}: ${f.name}`} value={f.value} spellcheck={false} autocapitalize="none" onInput={(e) => change(i, { value: e.currentTarget.value })} /></td>
          <td><input aria-label={`${t("keyWhere")}: ${f.name}`} value={f.where} spellcheck={false} autocapitalize="none" placeholder="from..to" onInput={(e) => change(i, { where: e.currentTarget.value })} /></td>
          {own && <td><button type="button" aria-label={`${t("remove")}: ${f.name}`} onClick={() => put({ fields: asked.fields.filter((_, n) => n !== i) })}>{t("remove")}</button></td>}
        </tr>)}</tbody>
      </table></div>
      {own && <div class="buttons"><button type="button" onClick={() => put({ fields: [...asked.fields, { name: "", type: "text", value: "", where: "" }] })}>{t("addField")}</button></div>}
      {own && <label class="wide">{t("keyQueries")}<textarea rows={2} value={asked.query} spellcheck={false} autocapitalize="none" aria-describedby="query-help"
        onInput={(e) => put({ query: e.currentTarget.value })} /><small id="query-help">{t("keyQueriesHelp")}</small></label>}
      <label class="wide">{t("keyTakeApart")}<input value={asked.rowKey} spellcheck={false} autocapitalize="none" aria-describedby="apart-help"
        onInput={(e) => put({ rowKey: e.currentTarget.value })} /><small id="apart-help">{t("keyTakeApartHelp")}</small></label>
    </form>
    {err !== undefined && <Failure err={err} again={again} />}
    {answer && err === undefined && named && <Shown of={answer} regions={asked.regions} />}
  </>;
}

/** What a finding says. Where the language has a text of its rule, the API's own, which has the expressions, stands behind that. */
function Finding({ of }: { of: Design["findings"][0] }) {
  const meaning = kindText(`key.${of.rule}`, ""), fix = of.fix && kindText(`key.fix.${of.rule}`, "");
  if (!meaning) return <><p dir="auto">{of.message}</p>{of.fix && <p class="small" dir="auto">{of.fix}</p>}</>;
  return <><p>{meaning}</p>{fix && <p class="small">{fix}</p>}
    <p class="small" lang="en" dir="auto">{of.message}{of.fix && `; ${of.fix}`}</p></>;
}

function Shown({ of, regions }: { of: Design; regions: string }) {
  return <div aria-live="polite">
    <h2>{t("keyFindings")}</h2>
    {of.findings.length === 0 ? <p class="small">{t("keyFine")}</p> : <ul class="findings">{of.findings.map((f, i) => <li key={i} class={f.severity}>
      <strong>{t(f.severity === "error" ? "severityError" : f.severity === "warning" ? "severityWarning" : "severityAdvice")}</strong>
      {f.column !== undefined && f.column > 0 && <small>{t("at_line", { line: 1, column: f.column })}</small>}
      <Finding of={f} /></li>)}</ul>}
    {of.key && <>
      <h2>{t("keyParts")}</h2>
      <List label={t("keyParts")} file="key-parts.csv" rows={of.parts} empty="" columns={[
        { name: "part", label: t("keyPart"), of: (p) => p.expr },
        { name: "bytes", label: t("size_bytes"), of: (p) => p.width ?? "", show: (p) => p.width ? numberText(p.width) : t("varies") },
        { name: "row", label: t("keyBytes"), of: (p) => p.bytes ?? "", show: (p) => p.bytes && <code>{p.bytes}</code>, long: true },
        { name: "value", label: t("value"), of: (p) => p.value ?? "", long: true },
        { name: "about", label: t("about"), of: (p) => p.doc, long: true },
      ]} />
      {of.row && <p class="sheet"><span class="small">{t("keyMade", { n: of.bytes ?? 0 })}</span><code class="rowkey">{of.row}</code></p>}
      {of.row_wrong && <p class="hint" dir="auto">{of.row_wrong}</p>}
      {(of.scans.length > 0 || of.scans_wrong) && <><h2>{t("keyScans", { n: numberText(of.scans.length) })}</h2>
        {of.scans_wrong && <p class="hint" dir="auto">{of.scans_wrong}</p>}
        {of.scans.length > 0 && <List label={t("keyScans", { n: numberText(of.scans.length) })} file="key-ranges.csv" rows={of.scans} empty="" columns={[
          { name: "start", label: t("startKey"), of: (s) => s.start, show: (s) => <code>{s.start || t("fromStart")}</code>, long: true },
          { name: "stop", label: t("stopKey"), of: (s) => s.stop ?? "", show: (s) => <code>{s.stop || t("toEnd")}</code>, long: true },
        ]} />}</>}
      {(of.splits.length > 0 || of.splits_wrong) && <><h2>{t("keySplits", { n: regions })}</h2>
        {of.splits_wrong ? <p class="hint" dir="auto">{of.splits_wrong}</p> : <div class="sheet splits" tabIndex={0} role="group" aria-label={t("keySplits", { n: regions })}>{of.splits.map((s) => <code key={s}>{s}</code>)}</div>}</>}
    </>}
  </div>;
}
