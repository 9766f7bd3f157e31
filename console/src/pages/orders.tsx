import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault, ask, give, jsonOf, send, withQuery, type Page, type Parameter, type Row, type Table, type Transition, type View } from "../lib/api";
import { dropDraft, useDraft } from "../lib/drafts";
import { isNumber } from "../lib/json";
import { Download, type Paging } from "../lib/list";
import { go, usePlace } from "../lib/router";
import { allText, language, me, owned, reason, shown, stateName, t, term, timeText, userName, useStore } from "../lib/store";
import { Badge, Dialog, Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";

export interface Known { views: View[]; tables: Table[] }

const pageSize = 12;
const pageInFile = 1000; // rows
const rowHeight = 64; // of a row of the list, as the style has it: what is out of sight is not in the page

/** The views that show rows which commands change. */
function orderViews(known: Known): { view: View; table: Table }[] {
  return known.views.flatMap((view) => {
    const table = known.tables.find((one) => one.table === view.table);
    return table?.state && view.order ? [{ view, table }] : [];
  });
}

export function Orders({ known }: { known: Known }) {
  useTitle(t("orders"));
  const { query } = usePlace();
  const views = orderViews(known);
  const chosen = views.find((one) => one.view.view === query.get("view")) ?? views[0];
  if (!chosen) return <p>{t("noOrderView")}</p>;
  return <OrderCentre key={chosen.view.view} view={chosen.view} table={chosen.table} views={views.map((one) => one.view)} />;
}

/** The parameters of a question that an address holds, of those that the view has. */
function questionOf(view: View, query: URLSearchParams): [string, string][] {
  const out: [string, string][] = [];
  for (const p of view.parameters) {
    for (const name of p.range ? [p.name, p.name + ".from", p.name + ".to"] : [p.name]) {
      for (const value of query.getAll(name)) {
        if (value === "") continue;
        if (p.type === "time" && /^\d{4}-\d\d-\d\d$/.test(value)) { // a day begins when it does for who reads the times of the list
          const at = new Date(value + "T00:00:00");
          if (name.endsWith(".to")) at.setDate(at.getDate() + 1); // that day is among them
          out.push([name, Number.isNaN(at.getTime()) ? value : at.toISOString()]);
        } else {
          out.push([name, value]);
        }
      }
    }
  }
  return out;
}

function OrderCentre({ view, table, views }: { view: View; table: Table; views: View[] }) {
  const { query } = usePlace();
  const who = useStore(me), why = useStore(reason);
  const question = questionOf(view, query);
  const asksFor = (rows: number, token = ""): string => withQuery(view.path, [...question, ["page_size", String(rows)], ["page_token", token]]);
  const asks = asksFor(pageSize);
  const lacks = view.parameters.some((p) => p.required && !question.some(([name]) => name.split(".")[0] === p.name));
  const reasoned = !view.reason || why.trim() !== "";
  const ready = !lacks && reasoned;

  const [rows, setRows] = useState<Row[]>([]);
  const [next, setNext] = useState<string | null>(null); // null: not asked yet; empty: the end
  const [err, setErr] = useState<unknown>(null);
  const [loading, setLoading] = useState(false);
  const turn = useRef<AbortController | null>(null);

  const load = async (token: string, before: Row[]): Promise<void> => {
    turn.current?.abort();
    const stop = turn.current = new AbortController();
    setLoading(true);
    setErr(null);
    try {
      const page = await ask<Page>(asksFor(pageSize, token), { reason: view.reason ? why : undefined, signal: stop.signal });
      setRows([...before, ...page.rows]);
      setNext(page.next_page_token);
    } catch (e) {
      if (!stop.signal.aborted) setErr(e);
    } finally {
      if (turn.current === stop) setLoading(false);
    }
  };
  useEffect(() => {
    setRows([]);
    setNext(null);
    if (ready) void load("", []);
    return () => turn.current?.abort();
  }, [asks, ready, who]);

  const open = query.get("row");
  const address = (row: string | null): string => {
    const to = new URLSearchParams(query);
    if (row === null) to.delete("row");
    else to.set("row", row);
    return withQuery("/orders", [...to]);
  };
  const put = (key: string, row: Row | null): void => {
    setRows((list) => row === null ? list.filter((one) => one.row !== key)
      : list.map((one) => one.row === key ? { ...one, ...row, fields: { ...one.fields, ...row.fields } } : one));
  };
  const state = table.state ?? "";
  const rest: Paging<Row> = async (token, signal) => {
    const page = await ask<Page>(asksFor(pageInFile, token), { reason: view.reason ? why : undefined, signal });
    return { rows: page.rows, next: page.next_page_token };
  };
  return <div class={open ? "orders opened" : "orders"}>
    <h1>{t("orders")}</h1>
    <Filters view={view} table={table} views={views} />
    {reasoned || <p class="hint">{t("reasonNeeded")}</p>}
    <div class="split">
      <section class="list" aria-label={t("orders")} aria-busy={loading}>
        {err !== null && <Failure err={err} again={() => { void load(next ?? "", next ? rows : []); }} />}
        <List rows={rows} state={state} open={open} address={address} title={titleField(table)} />
        {next === "" && rows.length === 0 && <p class="empty">{t("noOrders")}</p>}
        <p class="foot">
          {loading && <span>{t("loading")}</span>}
          {!loading && next && <More load={() => { void load(next, rows); }} />}
          {next === "" && rows.length > 0 && <span>{allText(rows.length)}</span>}
          {rows.length > 0 && <Download file="orders.csv" rows={rows} rest={next === "" ? undefined : rest} table={(all) => {
            const columns = [...new Set(all.flatMap((row) => Object.keys(row.fields)))];
            return [["row", ...columns], all.map((row) => [row.row, ...columns.map((c) => row.fields[c])])];
          }} />}
        </p>
      </section>
      {open && <Detail key={open} rowKey={open} table={table} close={address(null)} put={put} again={() => { void load("", []); }} />}
    </div>
  </div>;
}

/** The field that names a row: what is last in its key. */
function titleField(table: Table): string {
  return table.key.findLast((f) => f.type === "text")?.name ?? "";
}

/** Goes on by itself when its end comes into sight; the button is for who has no wheel. */
function More({ load }: { load: () => void }) {
  const at = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver((all) => { if (all.some((one) => one.isIntersecting)) load(); }, { rootMargin: "300px" });
    if (at.current) seen.observe(at.current);
    return () => seen.disconnect();
  }, [load]);
  return <button type="button" ref={at} onClick={load}>{t("more")}</button>;
}

/** The rows that are in sight, and room for the others. */
function List({ rows, state, open, address, title }: {
  rows: Row[]; state: string; open: string | null; address: (row: string) => string; title: string;
}) {
  const at = useRef<HTMLUListElement>(null);
  const [from, setFrom] = useState(0);
  const most = 60;
  useEffect(() => {
    const look = (): void => {
      const top = at.current?.getBoundingClientRect().top ?? 0;
      setFrom(Math.max(0, Math.floor(-top / rowHeight / 10) * 10 - 20));
    };
    addEventListener("scroll", look, { passive: true });
    look();
    return () => removeEventListener("scroll", look);
  }, [rows.length]);
  const start = Math.min(from, Math.max(0, rows.length - most)), end = Math.min(rows.length, start + most);
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !(event.target instanceof Element)) return;
    const item = event.target.closest("li");
    const to = step > 0 ? item?.nextElementSibling : item?.previousElementSibling;
    const link = to?.querySelector("a");
    if (link) { event.preventDefault(); link.focus(); }
  };
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => { // the policy takes no style of markup, but what scripts set; before the frame is drawn, or it is laid out twice
    if (!list.current) return;
    list.current.style.paddingTop = `${start * rowHeight}px`;
    list.current.style.paddingBottom = `${(rows.length - end) * rowHeight}px`;
  }, [start, end, rows.length]);
  return <ul class="rows" ref={(e) => { at.current = e; list.current = e; }} onKeyDown={keys}>
    {rows.slice(start, end).map((row) => <Item key={row.row} row={row} state={state} open={open === row.row} address={address} title={title}
      language={language.value} />)}
  </ul>;
}

interface Shows { row: Row; state: string; open: boolean; address: (row: string) => string; title: string; language: string }

/** A row of the list, which is made again only when it is another one: those that stay in sight are not, while the list is scrolled. */
class Item extends Component<Shows> {
  override shouldComponentUpdate(to: Shows): boolean {
    const now = this.props;
    return to.row !== now.row || to.open !== now.open || to.state !== now.state || to.title !== now.title || to.language !== now.language || to.address !== now.address;
  }
  render() {
    const { row, state, open, address, title } = this.props;
    const brief = Object.entries(row.fields).filter(([name, value]) => name !== title && name !== state && name !== "deleted" && name !== "created"
      && name !== "at" && value !== null && (typeof value !== "object" || isNumber(value)));
    return <li>
      <a href={address(row.row)} aria-current={open ? "true" : undefined}>
        <span class="id" dir="auto">{shown(row.fields[title]) || row.row}</span>
        <Badge2 state={row.fields[state]} />
        <span class="when">{shown(row.fields["created"])}</span>
        <span class="brief" dir="auto">{brief.map(([name, value]) => `${term(name)} ${shown(value)}`).join(" · ")}</span>
      </a>
    </li>;
  }
}

function Badge2({ state }: { state: unknown }) {
  return typeof state === "string" ? <Badge state={state} /> : <span />;
}

/** What the view may be asked by; the address holds it. */
function Filters({ view, table, views }: { view: View; table: Table; views: View[] }) {
  const { query } = usePlace();
  const why = useStore(reason);
  const asked = new URLSearchParams(query);
  asked.delete("row"); // an order that is opened leaves what has been typed
  const given = asked.toString(), typed = `orders ${view.view} ${given}`;
  const form = useDraft(typed);
  const apply = (): void => {
    if (!form.current) return;
    dropDraft(typed);
    const to: [string, string][] = query.get("view") ? [["view", query.get("view")!]] : [];
    for (const [name, value] of new FormData(form.current)) if (typeof value === "string" && name !== "why") to.push([name, value.trim()]);
    const wanted = new FormData(form.current).get("why");
    if (typeof wanted === "string") reason.value = wanted.trim();
    go(withQuery("/orders", to));
  };
  const rank = (p: Parameter): number => p.required ? 0 : p.name === table.state ? 3 : p.range ? 2 : 1; // what takes most room comes last
  return <form key={given + view.view} ref={form} class="filters" role="search" aria-label={t("filters")}
    onSubmit={(e) => { e.preventDefault(); apply(); }}>
    {views.length > 1 && <label>{t("view")}
      <select value={view.view} onChange={(e) => go(withQuery("/orders", [["view", e.currentTarget.value]]))}>
        {views.map((one) => <option key={one.view} value={one.view}>{term(one.view)}</option>)}
      </select></label>}
    {view.reason && <label class="wide">{t("reason")}
      <input name="why" defaultValue={why} required maxLength={300} aria-describedby="why" /><small id="why">{t("reasonHelp")}</small></label>}
    {[...view.parameters].sort((a, b) => rank(a) - rank(b)).map((p) => {
      const values = query.getAll(p.name);
      if (p.name === table.state && table.states.length > 0 && !p.required) {
        return <fieldset key={p.name} class="chips"><legend>{term(p.name)}</legend>
          {table.states.filter((s) => s !== "deleted").map((s) => <label key={s} class="chip">
            <input type="checkbox" name={p.name} value={s} defaultChecked={values.includes(s)} onChange={apply} /><span>{stateName(s)}</span></label>)}
        </fieldset>;
      }
      if (p.name === table.state && table.states.length > 0) {
        return <label key={p.name}>{term(p.name)}<select name={p.name} onChange={apply} required>
          <option value="" />{table.states.map((s) => <option key={s} value={s} selected={s === values[0]}>{stateName(s)}</option>)}</select></label>;
      }
      if (p.type === "time" && p.range) {
        return <fieldset key={p.name} class="range"><legend>{term(p.name)}</legend>
          <label>{t("from")}<input type="date" name={p.name + ".from"} defaultValue={query.get(p.name + ".from") ?? ""} /></label>
          <label>{t("to")}<input type="date" name={p.name + ".to"} defaultValue={query.get(p.name + ".to") ?? ""} /></label>
        </fieldset>;
      }
      return <label key={p.name}>{term(p.name)}
        <input name={p.name} type="text" enterkeyhint="search" defaultValue={values[0] ?? ""} required={p.required} spellcheck={false} /></label>;
    })}
    <div class="buttons">
      <button class="main">{t("search")}</button>
      <a class="button" href={query.get("view") ? withQuery("/orders", [["view", query.get("view")!]]) : "/orders"}>{t("clear")}</a>
    </div>
  </form>;
}

interface Seen { row: Row | null }

/** One order, whole, and what may be done about it. */
function Detail({ rowKey, table, close, put, again }: {
  rowKey: string; table: Table; close: string; put: (key: string, row: Row | null) => void; again: () => void;
}) {
  const why = useStore(reason), who = useStore(me);
  const path = `${table.path}/rows/${encodeURIComponent(rowKey)}`;
  const because = table.reason ? why : undefined;
  const { answer, err, loading, again: reload, put: set } = useAnswer<Seen>(
    table.reason && !why ? null : async (signal) => ({ row: await jsonOf<Row>(await send(path, { reason: because, signal })) }), [path, why, who]);
  const [busy, setBusy] = useState("");
  const [asking, setAsking] = useState<Transition | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const at = useRef<HTMLElement>(null);
  useEffect(() => { at.current?.focus({ preventScroll: true }); at.current?.scrollIntoView({ block: "nearest" }); }, []);

  const before = useRef<Row | null>(null); // as it was when it could be read: a dialog about it stays open over a question that fails
  if (answer) before.current = answer.row;
  else if (err instanceof Fault && (err.status === 403 || err.status === 404)) before.current = null;
  const row = answer ? answer.row : before.current;
  const state = row && table.state ? row.fields[table.state] : undefined;
  const allowed = useMemo(() => table.commands.filter((c) => typeof state === "string" && c.from.includes(state)), [table, state]);
  const title = row ? shown(row.fields[titleField(table)]) || rowKey : rowKey;

  const run = async (of: Transition, upon: Row, fields: Record<string, string>): Promise<void> => {
    setBusy(of.command);
    setFailed(null);
    const by = userName();
    try {
      const { command, row: now, stale } = await give(table, upon, of.command, fields, because, owned(by));
      if (userName() !== by) return; // the way back would be under the reason of who has signed out
      const shownRow = now ?? null;
      setAsking(null);
      dropDraft(draftOf(of, upon));
      if (!stale) {
        set({ row: shownRow });
        put(rowKey, shownRow);
      }
      const ways = table.commands.filter((c) => c.from.includes(command.to));
      const back = ways.find((c) => c.to === state) ?? (shownRow === null && ways.length === 1 ? ways[0] : undefined);
      note.value = command.state === "overtaken" ? { text: t("overtaken", { detail: command.detail ?? "" }), bad: true }
        : command.state === "failed" || command.state === "unanswered" ? { text: t("failed", { detail: command.detail ?? "" }), bad: true }
        : stale ? { text: t("stale") }
        : {
          text: shownRow === null ? t("removed") : t("done", { state: stateName(command.to) }),
          ...(back ? { action: { name: t("undo"), run: () => { void run(back, { ...upon, state_version: command.version }, {}).then(again); } } } : {}),
        };
    } catch (e) {
      setFailed(e);
      if (e instanceof Fault && (e.status === 412 || e.status === 409)) { // how it is now is shown before it is decided again
        setAsking(null);
        reload();
      }
    } finally {
      setBusy("");
    }
  };
  const begin = (of: Transition): void => {
    if (!row) return;
    setFailed(null);
    if (of.take.length > 0 || of.command === "delete") setAsking(of);
    else void run(of, row, {});
  };
  const fields = row ? Object.entries(row.fields).filter(([, value]) => value !== null && value !== "" && value !== false) : [];
  return <section class="detail" tabIndex={-1} ref={at} aria-labelledby="detail-title">
    <div class="bar"><h2 id="detail-title" dir="auto">{t("orderDetail", { id: title })}</h2><a class="button" href={close}>{t("close")}</a></div>
    {loading && !row && <p>{t("loading")}</p>}
    {err !== undefined && (err instanceof Fault && err.status === 404 ? <p class="empty">{t("gone")}</p> : <Failure err={err} again={reload} />)}
    {answer && !row && <p class="empty">{t("removed")}</p>}
    {failed !== null && !asking && <p class="failure" role="alert">{faultText(failed)}</p>}
    {row && <>
      <dl>{fields.map(([name, value]) => <div key={name}>
        <dt>{term(name)}</dt>
        <dd dir="auto">{name === table.state && typeof value === "string" ? <Badge state={value} /> : <Shown value={value} />}</dd>
      </div>)}</dl>
      {allowed.length > 0 && <div class="buttons">{allowed.map((of) => <button type="button" key={of.command} disabled={busy !== ""}
        class={of.command === "delete" || of.command === "cancel" ? "danger" : "main"} aria-busy={busy === of.command}
        onClick={() => begin(of)}>{term(of.command)}</button>)}</div>}
    </>}
    {asking && row && <Ask of={asking} row={row} failed={failed} busy={busy !== ""} run={(fields) => { void run(asking, row, fields); }}
      close={() => { setAsking(null); setFailed(null); }} />}
  </section>;
}

const draftOf = (of: Transition, row: Row): string => `command ${of.command} ${row.row}`;

/** Asks for what a command takes, or whether it is meant. What is typed stays until the command is accepted, however the dialog is closed. */
function Ask({ of, row, failed, busy, run, close }: {
  of: Transition; row: Row; failed: unknown; busy: boolean; run: (fields: Record<string, string>) => void; close: () => void;
}) {
  const form = useDraft(draftOf(of, row));
  return <Dialog title={of.take.length > 0 ? t("askFields", { command: term(of.command) }) : t("sure")} close={close}>
    <form ref={form} class="stack" onSubmit={(e) => {
      e.preventDefault();
      const fields: Record<string, string> = {};
      for (const [name, value] of new FormData(e.currentTarget)) if (typeof value === "string" && value !== "") fields[name] = value;
      run(fields);
    }}>
      {of.take.map((name) => <label key={name}>{term(name)}<input name={name} maxLength={500} /></label>)}
      {failed !== null && <p class="failure" role="alert">{faultText(failed)}</p>}
      <div class="buttons">
        <button class="danger" disabled={busy}>{term(of.command)}</button>
        <button type="button" onClick={close}>{t("cancelAction")}</button>
      </div>
    </form>
  </Dialog>;
}

/** A value of a row; a list of items is a list. */
function Shown({ value }: { value: unknown }) {
  if (typeof value === "string" && value.includes("; ")) return <ul class="items" tabIndex={0} aria-label={term("items")}>{value.split("; ").map((one, i) => <li key={i}>{one}</li>)}</ul>;
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return <time dateTime={value}>{timeText(value)}</time>;
  return <>{shown(value)}</>;
}
