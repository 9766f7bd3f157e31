import { useState } from "preact/hooks";
import { Fault, ask, withQuery } from "../lib/api";
import { Download, Find, type Paging } from "../lib/list";
import { usePlace } from "../lib/router";
import { allText, numberText, shown, t, term } from "../lib/store";
import { Badge, Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";

interface Account { name: string; role: string; owner?: string; enabled: boolean; created: string; changed: string }

const path = "/api/v1/ops/accounts";
const roles = ["customer", "support", "operator", "admin"];

const most = 1000; // accounts of the list; those behind them are found by name

interface Found { accounts: Account[]; more: boolean }

const pageOf: Paging<Account> = async (token, signal) => {
  const page = await ask<{ accounts: Account[]; next_page_token: string }>(withQuery(path, [["page_token", token]]), { signal });
  return { rows: page.accounts, next: page.next_page_token };
};

/** The account of this name; without a name all, in pages of the API's. */
async function find(name: string, signal: AbortSignal): Promise<Found> {
  const out: Account[] = [];
  if (name !== "") {
    try {
      out.push(await ask<Account>(`${path}/${encodeURIComponent(name)}`, { signal }));
    } catch (e) {
      if (!(e instanceof Fault) || e.status !== 404) throw e;
    }
    return { accounts: out, more: false };
  }
  for (let token = ""; ;) {
    const page = await pageOf(token, signal);
    out.push(...page.rows);
    token = page.next;
    if (!token || out.length >= most) return { accounts: out, more: token !== "" };
  }
}

export function Accounts() {
  useTitle(t("accounts"));
  const name = usePlace().query.get("name") ?? "";
  const { answer: found, err, again } = useAnswer((signal) => find(name, signal), [name]);
  const answer = found?.accounts;
  const [editing, setEditing] = useState<Account | "new" | null>(null);
  const done = (): void => { setEditing(null); note.value = { text: t("saved") }; again(); };
  return <>
    <div class="bar"><h1>{t("accounts")}</h1><button type="button" class="main" onClick={() => setEditing("new")}>{t("add")}</button></div>
    <Find path="/accounts" name="name" label={t("name")} value={name} />
    {err !== undefined && <Failure err={err} again={again} />}
    {!answer && err === undefined && <p role="status">{t("loading")}</p>}
    {answer?.length === 0 && <p class="empty">{t("accountsNone")}</p>}
    {answer && answer.length > 0 && <>
      <div class="scroll" tabIndex={0} role="group" aria-label={t("accounts")}><table>
        <thead><tr><th scope="col">{t("name")}</th><th scope="col">{t("role")}</th><th scope="col">{t("owner")}</th><th scope="col">{term("status")}</th>
          <th scope="col">{t("created")}</th><th scope="col">{t("actions")}</th></tr></thead>
        <tbody>{answer.map((a) => <tr key={a.name}>
          <th scope="row" dir="auto" translate={false}>{a.name}</th><td>{term(a.role)}</td><td dir="auto">{a.owner}</td>
          <td>{a.enabled ? t("enabled") : <Badge state="disabled" />}</td><td>{shown(a.created)}</td>
          <td><button type="button" aria-label={`${t("change")}: ${a.name}`} onClick={() => setEditing(a)}>{t("change")}</button></td>
        </tr>)}</tbody>
      </table></div>
      <p class="foot"><span>{found?.more ? t("shownSoFar", { n: numberText(answer.length) }) : allText(answer.length)}</span>
        <Download file="accounts.csv" rows={answer} rest={found?.more ? pageOf : undefined} table={(all) =>
          [["name", "role", "owner", "enabled", "created", "changed"], all.map((a) => [a.name, a.role, a.owner, a.enabled, a.created, a.changed])]} /></p>
    </>}
    {editing && <Edit of={editing} close={() => setEditing(null)} done={done} />}
  </>;
}

function Edit({ of, close, done }: { of: Account | "new"; close: () => void; done: () => void }) {
  const fresh = of === "new";
  const [err, setErr] = useState<unknown>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(data.get(name) ?? "").trim();
    try {
      if (fresh) {
        await ask(path, { method: "POST", body: { name: text("name"), role: text("role"), owner: text("owner"), password: String(data.get("password")) } });
      } else {
        const at = `${path}/${encodeURIComponent(of.name)}`;
        const change: Record<string, unknown> = {};
        if (text("role") !== of.role) change["role"] = text("role");
        if (text("owner") !== (of.owner ?? "")) change["owner"] = text("owner");
        if ((data.get("enabled") === "on") !== of.enabled) change["enabled"] = data.get("enabled") === "on";
        if (Object.keys(change).length > 0) await ask(at, { method: "PATCH", body: change });
        if (data.get("password")) await ask(at + "/password", { method: "POST", body: { password: String(data.get("password")) } });
      }
      done();
    } catch (e) {
      setErr(e);
    }
  };
  return <Dialog title={fresh ? t("add") : `${t("change")}: ${of.name}`} close={close}>
    <form class="stack" onSubmit={submit}>
      {fresh && <label>{t("name")}<input name="name" required autocomplete="off" autocapitalize="none" spellcheck={false} /></label>}
      <label>{t("role")}<select name="role">{roles.map((r) => <option key={r} value={r} selected={r === (fresh ? "customer" : of.role)}>{term(r)}</option>)}</select></label>
      <label>{t("owner")}<input name="owner" defaultValue={fresh ? "" : of.owner ?? ""} autocomplete="off" aria-describedby="owner-help" /><small id="owner-help">{t("ownerHelp")}</small></label>
      {!fresh && <label class="check"><input type="checkbox" name="enabled" defaultChecked={of.enabled} /><span>{t("enabled")}</span></label>}
      <label>{fresh ? t("password") : t("newPassword")}<input name="password" type="password" autocomplete="new-password" required={fresh} aria-describedby="password-help" />
        <small id="password-help">{t("passwordHelp")}</small></label>
      {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main">{t("save")}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
    </form>
  </Dialog>;
}
