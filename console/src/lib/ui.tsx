import { Component, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Fault, ask, onOtherAccount, onSignedOut, whoIs, type Company, type Me, type RefusedSignIn } from "./api";
import { useStore, Store, choose, expired, forget, language, me, t, term, theme, userName, type Language, type Theme } from "./store";
import { backToMark, markPlace, usePlace } from "./router";

/** What is said for a moment, and read aloud. */
export interface Note { text: string; action?: { name: string; run: () => void }; bad?: boolean }
export const note = new Store<Note | null>(null);

let noted = ""; // whose notes are shown
me.follow(() => { // what a note offers to do is done under its user's reason
  if (userName() === noted) return;
  noted = userName();
  note.value = null;
});

/** What went wrong, in the reader's words; what brine says besides stands behind it. */
export function faultText(err: unknown): string {
  if (!(err instanceof Fault)) return String(err);
  switch (err.status) {
    case 0: return t("away");
    case 403: return t("forbidden");
    case 404: return t("gone");
    case 429: return t("busy", { n: err.retryAfter || 1 });
    case 503: return t("store");
    case 412: return t("changed");
    case 409: return err.kind === "refused" ? err.problem.detail : err.kind === "held" || err.kind === "running" ? t("held") : t("changed");
  }
  const wrong = err.problem.errors?.map((e) => `${e.location}: ${e.message}${e.fix ? "; " + e.fix : ""}`).join("\n");
  return wrong || err.problem.detail || err.problem.title || `HTTP ${err.status}`;
}

export function Failure({ err, again }: { err: unknown; again?: () => void }) {
  const id = err instanceof Fault ? err.problem.request_id : undefined;
  return <div class="failure" role="alert">
    <p>{faultText(err)}</p>
    {id && <p class="small">{t("request", { id })}</p>}
    {again && <button type="button" onClick={again}>{t("again")}</button>}
  </div>;
}

/** What is asked for when its inputs change; an answer that comes too late is dropped. */
export function useAnswer<T>(question: ((signal: AbortSignal) => Promise<T>) | null, inputs: unknown[]): {
  answer: T | undefined; err: unknown; loading: boolean; again: () => void; put: (answer: T) => void;
} {
  const [state, setState] = useState<{ answer?: T; err?: unknown; loading: boolean }>({ loading: question !== null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!question) { setState({ loading: false }); return undefined; }
    const stop = new AbortController();
    setState((s) => ({ ...s, err: undefined, loading: true }));
    question(stop.signal).then(
      (answer) => { if (!stop.signal.aborted) setState({ answer, loading: false }); },
      (err: unknown) => { if (!stop.signal.aborted) setState({ err, loading: false }); },
    );
    return () => stop.abort();
  }, [...inputs, turn]);
  return {
    answer: state.answer, err: state.err, loading: state.loading,
    again: () => setTurn((n) => n + 1), put: (answer) => setState({ answer, loading: false }),
  };
}

export function Badge({ state }: { state: string }) {
  const tone = /^(received|SIGNED|ARRIVE|DELIVERED|running|enabled|done)$/.test(state) ? "good" : /^(cancelled|deleted|disabled|failed|halted|stopped|canceled|interrupted)$/.test(state)
    ? "bad" : "plain";
  return <span class={`badge ${tone}`}>{term(state)}</span>;
}

/** A dialog that the browser holds the focus in. */
export function Dialog({ title, children, close }: { title: string; children: ComponentChildren; close?: () => void }) {
  const at = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    at.current?.showModal();
    return () => { if (before instanceof HTMLElement) before.focus(); };
  }, []);
  return <dialog ref={at} aria-labelledby="dialog-title" onCancel={(e) => { e.preventDefault(); close?.(); }}>
    <h2 id="dialog-title">{title}</h2>
    {children}
  </dialog>;
}

/** Signs in by a company's provider: in this tab, which comes back to where it was; from the operators' console, which the provider does not know, in another tab. */
function ByCompany({ of }: { of: Company }) {
  const here = new URL(of.path, location.href).origin === location.origin;
  return <>
    <a class="button" href={of.path} data-whole onClick={here ? markPlace : undefined} {...here ? {} : { target: "_blank", rel: "noopener" }}>{t("signInBy", { company: of.name })}</a>
    {!here && <p class="small">{t("signInElsewhere")}</p>}
  </>;
}

export function SignIn({ then }: { then: (who: Me) => void }) {
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [companies, setCompanies] = useState<Company[]>([]);
  const [refused, setRefused] = useState<RefusedSignIn | undefined>(undefined);
  useEffect(() => { // without an answer the password is left
    void ask<{ companies?: Company[]; refused?: RefusedSignIn }>("/api/v1/session").then((ways) => {
      setCompanies(ways.companies ?? []);
      setRefused(ways.refused);
    }, () => undefined);
  }, []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    try {
      const who = await ask<Me>("/api/v1/session", { method: "POST", body: { name: data.get("name"), password: data.get("password") } });
      setErr(null);
      tabs?.postMessage("in");
      then(who);
    } catch (e) {
      setErr(e);
    } finally {
      setBusy(false);
    }
  };
  return <form class="stack" onSubmit={submit}>
    {refused && <div class="failure" role="alert">
      <p><strong>{t(refused.status < 500 ? "signInRefused" : "signInAway")}</strong></p>
      <p dir="auto">{refused.detail}</p>
      <p>{t("signInRefusedHelp")}</p>
      {refused.request_id && <p class="small">{t("request", { id: refused.request_id })}</p>}
    </div>}
    <label>{t("name")}<input name="name" autocomplete="username" required autofocus autocapitalize="none" spellcheck={false} /></label>
    <label>{t("password")}<input name="password" type="password" autocomplete="current-password" required /></label>
    {err !== null && <p class="failure" role="alert">{err instanceof Fault && err.status === 401 ? t("wrongPassword") : faultText(err)}</p>}
    <button class="main" disabled={busy}>{t("signIn")}</button>
    {companies.map((c) => <ByCompany key={c.path} of={c} />)}
  </form>;
}

/** Who is signed in, asked for once; who has just come back from a company's provider is where the tab was before. */
export async function askMe(): Promise<void> {
  try {
    me.value = await whoIs();
    backToMark();
  } catch (err) {
    const status = err instanceof Fault ? err.status : 0;
    if (status === 404) me.value = "open";
    else if (status === 401) me.value = null;
    else throw err;
  }
}

onSignedOut(() => { if (userName() !== "") expired.value = true; });
onOtherAccount(leave);

/** Begins the page again with nothing of the user whose it was: somebody else is signed in, or nobody any more. An address's fragment is removed as the page begins. */
function leave(): void {
  forget();
  location.reload();
}

/** Looks whether the session is still this page's user's: another tab, or the console on another port, may have changed it. */
async function lookAgain(): Promise<void> {
  const before = userName(), known = me.value;
  if (known === undefined || known === "open") return;
  let now: Me | null = null;
  try {
    now = await whoIs();
  } catch (err) {
    if (!(err instanceof Fault) || err.status !== 401) return;
  }
  if (userName() !== before) return; // somebody has signed in here meanwhile
  if (now === null) expired.value = before !== "";
  else if (before !== "" && now.name !== before) leave();
  else {
    expired.value = false;
    if (JSON.stringify(now) !== JSON.stringify(me.value)) me.value = now;
    if (before === "") backToMark();
  }
}
addEventListener("focus", () => { void lookAgain(); });
addEventListener("pageshow", (event) => { if (event.persisted) void lookAgain(); });

/** The other tabs. */
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("session");
if (tabs) tabs.onmessage = ({ data }) => {
  if (data === "out" && userName() !== "") leave();
  else void lookAgain();
};

async function signOut(then: () => void): Promise<void> {
  try {
    await ask("/api/v1/session", { method: "DELETE" });
  } catch (err) {
    if (!(err instanceof Fault) || err.status !== 401) { note.value = { text: faultText(err), bad: true }; return; }
  }
  forget();
  me.value = null;
  tabs?.postMessage("out");
  then();
}

export interface Tab { path: string; name: string; group?: string }

/** The pages, those of a group side by side. */
function Menu({ tabs, path }: { tabs: Tab[]; path: string }) {
  const link = (tab: Tab): ComponentChildren => <a key={tab.path} href={tab.path} aria-current={path === tab.path ? "page" : undefined}>{tab.name}</a>;
  const groups = [...new Set(tabs.map((tab) => tab.group ?? ""))];
  const at = useRef<HTMLElement>(null);
  useLayoutEffect(() => { // the page that is open is in sight where the menu is wider than the window
    const nav = at.current, open = nav?.querySelector<HTMLElement>("[aria-current]");
    if (nav && open) nav.scrollLeft = open.offsetLeft - (nav.clientWidth - open.offsetWidth) / 2;
  }, [path, tabs.map((tab) => tab.name).join()]);
  return <nav ref={at} aria-label={t("menu")} class={groups.length > 1 ? "grouped" : undefined}>
    {groups.length < 2 ? tabs.map(link)
      : groups.map((group) => <div key={group} class="group" role="group" aria-label={group}>{tabs.filter((tab) => tab.group === group).map(link)}</div>)}
  </nav>;
}

/** The frame of all pages. */
export function Frame({ tabs, children, signedOut }: { tabs: Tab[]; children: ComponentChildren; signedOut: () => void }) {
  const { path } = usePlace();
  const who = useStore(me), lang = useStore(language), look = useStore(theme), said = useStore(note), over = useStore(expired);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!said) return undefined;
    const timer = setTimeout(() => { note.value = null; }, said.action ? 12_000 : 6_000);
    return () => clearTimeout(timer);
  }, [said]);
  const signed = who && who !== "open" ? who : null;
  return <>
    <a class="skip" href="#main" data-whole onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>{t("skip")}</a>
    <header>
      <a class="brand" href="/"><span class="mark" aria-hidden="true" />brine</a>
      <Menu tabs={tabs} path={path} />
      <div class="settings">
        <select aria-label={t("language")} value={lang} onChange={(e) => {
          choose(e.currentTarget.value as Language).catch(() => { note.value = { text: t("away"), bad: true }; });
        }}>
          <option value="en" lang="en">English</option>
          <option value="zh" lang="zh-CN">中文</option>
        </select>
        <select aria-label={t("theme")} value={look} onChange={(e) => { theme.value = e.currentTarget.value as Theme; }}>
          <option value="auto">{t("themeAuto")}</option>
          <option value="light">{t("themeLight")}</option>
          <option value="dark">{t("themeDark")}</option>
        </select>
        {signed && <a class="button who" href="/me" title={t("signedInAs", { name: signed.name, role: term(signed.role) })} aria-label={`${t("own")}: ${signed.name}`}
          dir="auto">{signed.name}</a>}
        {signed && <button type="button" onClick={() => { void signOut(signedOut); }}>{t("signOut")}</button>}
        {who === null && path !== "/signin" && <a class="button" href="/signin">{t("signIn")}</a>}
      </div>
    </header>
    <main id="main" tabIndex={-1} ref={main}><Guard key={path}>{children}</Guard></main>
    <div class="notes" role="status" aria-live="polite">
      {said && <div class={said.bad ? "note bad" : "note"}>
        <span>{said.text}</span>
        {said.action && <button type="button" onClick={() => { note.value = null; said.action?.run(); }}>{said.action.name}</button>}
      </div>}
    </div>
    {over && <Dialog title={t("signIn")}>
      <p>{t("expired")}</p>
      <SignIn then={(now) => {
        if (now.name !== signed?.name) { leave(); return; }
        me.value = now;
        expired.value = false;
      }} />
    </Dialog>}
  </>;
}

/** A page that breaks says so, and the others go on. */
class Guard extends Component<{ children: ComponentChildren }, { err: unknown }> {
  override state = { err: null as unknown };
  override componentDidCatch(err: unknown): void { this.setState({ err }); }
  render() {
    return this.state.err ? <Failure err={this.state.err} again={() => this.setState({ err: null })} /> : this.props.children;
  }
}

export function useTitle(text: string): void {
  useEffect(() => { document.title = text ? `${text} · brine` : "brine"; }, [text]);
}
