import { useState } from "preact/hooks";
import { ask, type Me } from "../lib/api";
import { List } from "../lib/list";
import { me, shown, t, term, useStore } from "../lib/store";
import { Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";

interface Token { id: number; name: string; role: string; created: string; expires: string; used: string }

const path = "/api/v1/me";
const roles = ["customer", "support", "operator", "admin"];
const day = 86_400_000;

/** The own account: its password and its API tokens. */
export function Own() {
  useTitle(t("own"));
  const who = useStore(me);
  if (!who || who === "open") return <><h1>{t("own")}</h1><p>{t(who === "open" ? "noAccounts" : "signInFor")}</p></>;
  return <>
    <h1>{t("own")}</h1>
    <p>{t("signedInAs", { name: who.name, role: term(who.role) })}{who.owner && who.owner !== who.name && <small>{t("owner")}: {who.owner}</small>}</p>
    <Password />
    <Tokens who={who} />
  </>;
}

function Password() {
  const [err, setErr] = useState<unknown>(null);
  const [turn, setTurn] = useState(0);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    try {
      me.value = await ask<Me>(path + "/password", { method: "POST", body: { old: String(data.get("old")), password: String(data.get("password")) } });
      note.value = { text: t("passwordChanged") };
      setErr(null);
      setTurn((n) => n + 1); // and the form is empty
    } catch (e) {
      setErr(e);
    }
  };
  return <section class="sheet" aria-labelledby="password-title"><h2 id="password-title">{t("ownPassword")}</h2>
    <form key={turn} class="stack narrow" onSubmit={submit}>
      <label>{t("oldPassword")}<input name="old" type="password" autocomplete="current-password" required /></label>
      <label>{t("newPassword")}<input name="password" type="password" autocomplete="new-password" required aria-describedby="own-password-help" />
        <small id="own-password-help">{t("passwordHelp")}. {t("ownPasswordHelp")}</small></label>
      {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main">{t("save")}</button></div>
    </form>
  </section>;
}

function Tokens({ who }: { who: Me }) {
  const { answer, err, again } = useAnswer((signal) => ask<{ tokens: Token[] }>(path + "/tokens", { signal }), [who.name]);
  const [asking, setAsking] = useState<"new" | Token | null>(null);
  return <section class="sheet" aria-labelledby="tokens-title">
    <div class="bar"><h2 id="tokens-title">{t("tokens")}</h2><button type="button" onClick={() => setAsking("new")}>{t("newToken")}</button></div>
    <p class="small">{t("tokensHelp")}</p>
    {err !== undefined && <Failure err={err} again={again} />}
    {answer && <List label={t("tokens")} file="tokens.csv" rows={answer.tokens} empty={t("tokensNone")} columns={[
      { name: "name", label: t("tokenFor"), of: (one) => one.name },
      { name: "role", label: t("role"), of: (one) => one.role, show: (one) => term(one.role) },
      { name: "created", label: t("created"), of: (one) => one.created },
      { name: "expires", label: t("expires"), of: (one) => one.expires },
      { name: "used", label: t("lastUsed"), of: (one) => one.used, show: (one) => one.used ? shown(one.used) : t("neverUsed") },
      { name: "id", label: t("actions"), of: (one) => String(one.id), show: (one) =>
        <button type="button" class="danger" aria-label={`${t("revoke")}: ${one.name}`} onClick={() => setAsking(one)}>{t("revoke")}</button> },
    ]} />}
    {asking === "new" && <NewToken who={who} close={() => { setAsking(null); again(); }} />}
    {asking !== null && asking !== "new" && <Revoke of={asking} close={() => setAsking(null)} done={() => { setAsking(null); note.value = { text: t("revoked") }; again(); }} />}
  </section>;
}

function NewToken({ who, close }: { who: Me; close: () => void }) {
  const [err, setErr] = useState<unknown>(null);
  const [made, setMade] = useState("");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    try {
      const body = { name: String(data.get("name")).trim(), role: String(data.get("role")), expires: `${String(data.get("expires"))}T00:00:00Z` };
      setMade((await ask<{ token: string }>(path + "/tokens", { method: "POST", body })).token);
    } catch (e) {
      setErr(e);
    }
  };
  const date = (days: number): string => new Date(Date.now() + days * day).toISOString().slice(0, 10);
  if (made) return <Dialog title={t("newToken")} close={close}>
    <p>{t("tokenOnce")}</p>
    <p><code class="rowkey token">{made}</code></p>
    <div class="buttons"><button type="button" class="main" onClick={() => { navigator.clipboard.writeText(made).then(() => { note.value = { text: t("copied") }; }, () => {}); }}>{t("copy")}</button>
      <button type="button" onClick={close}>{t("close")}</button></div>
  </Dialog>;
  return <Dialog title={t("newToken")} close={close}>
    <form class="stack" onSubmit={submit}>
      <label>{t("tokenFor")}<input name="name" required maxLength={100} autocomplete="off" /></label>
      <label>{t("role")}<select name="role">{roles.slice(0, roles.indexOf(who.role) + 1).map((r) => <option key={r} value={r} selected={r === who.role}>{term(r)}</option>)}</select></label>
      <label>{t("expires")}<input type="date" name="expires" required min={date(1)} max={date(364)} defaultValue={date(90)} /></label>
      {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
      <div class="buttons"><button class="main">{t("make")}</button><button type="button" onClick={close}>{t("cancelAction")}</button></div>
    </form>
  </Dialog>;
}

function Revoke({ of, close, done }: { of: Token; close: () => void; done: () => void }) {
  const [err, setErr] = useState<unknown>(null);
  return <Dialog title={t("revoke")} close={close}>
    <p dir="auto">{t("revokeSure", { name: of.name })}</p>
    {err !== null && <p class="failure" role="alert">{faultText(err)}</p>}
    <div class="buttons"><button type="button" class="danger" onClick={() => { ask(`${path}/tokens/${of.id}`, { method: "DELETE" }).then(done, setErr); }}>{t("revoke")}</button>
      <button type="button" onClick={close}>{t("cancelAction")}</button></div>
  </Dialog>;
}
