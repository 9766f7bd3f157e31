import { useEffect, useState } from "preact/hooks";
import { ask, withQuery } from "../lib/api";
import { Download, Find, type Paging } from "../lib/list";
import { usePlace } from "../lib/router";
import { allText, numberText, t, term, timeText } from "../lib/store";
import { Failure, useTitle } from "../lib/ui";

interface Entry { id: number; at: string; account: string; role: string; action: string; object: string; reason: string; address: string; request_id: string }
interface Entries { entries: Entry[]; next_page_token: string }

export function Audit() {
  useTitle(t("audit"));
  const { query } = usePlace();
  const account = query.get("account") ?? "";
  const [entries, setEntries] = useState<Entry[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [err, setErr] = useState<unknown>(null);
  const pageOf: Paging<Entry> = async (token, signal) => {
    const page = await ask<Entries>(withQuery("/api/v1/ops/audit", [["account", account], ["page_token", token]]), { signal });
    return { rows: page.entries, next: page.next_page_token };
  };
  const load = async (token: string, before: Entry[], signal?: AbortSignal): Promise<void> => {
    setErr(null);
    try {
      const page = await pageOf(token, signal ?? new AbortController().signal);
      setEntries([...before, ...page.rows]);
      setNext(page.next);
    } catch (e) {
      if (!signal?.aborted) setErr(e);
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    setNext(null);
    void load("", [], stop.signal);
    return () => stop.abort();
  }, [account]);
  const head = ["at", "account", "role", "action", "object", "reason", "address", "request_id"] as const;
  return <>
    <h1>{t("audit")}</h1>
    <Find path="/audit" name="account" label={t("account")} value={account} />
    {err !== null && <Failure err={err} again={() => { void load(next ?? "", next ? entries : []); }} />}
    {next === null && err === null && <p role="status">{t("loading")}</p>}
    {next === "" && entries.length === 0 && <p class="empty">{t("auditNone")}</p>}
    {entries.length > 0 && <div class="scroll" tabIndex={0} role="group" aria-label={t("audit")}><table>
      <thead><tr><th scope="col">{t("at")}</th><th scope="col">{t("account")}</th><th scope="col">{t("action")}</th><th scope="col">{t("object")}</th>
        <th scope="col">{t("reason")}</th><th scope="col">{t("address")}</th></tr></thead>
      <tbody>{entries.map((e) => <tr key={e.id}>
        <td class="nowrap">{timeText(e.at)}</td><td dir="auto">{e.account || "—"}{e.role && <small>{term(e.role)}</small>}</td><td>{e.action}</td>
        <td class="long" dir="auto">{e.object}</td><td class="long" dir="auto">{e.reason}</td><td>{e.address}</td></tr>)}</tbody>
    </table></div>}
    <p class="foot">
      {next && <button type="button" onClick={() => { void load(next, entries); }}>{t("more")}</button>}
      {next !== null && entries.length > 0 && <span>{next ? t("shownSoFar", { n: numberText(entries.length) }) : allText(entries.length)}</span>}
      {entries.length > 0 && <Download file="audit.csv" rows={entries} rest={next ? pageOf : undefined} table={(all) => [[...head], all.map((e) => head.map((h) => e[h]))]} />}
    </p>
  </>;
}
