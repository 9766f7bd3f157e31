import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fault, ask, pause, watch, withQuery, type Page, type Row, type View } from "../lib/api";
import { columnOf, csv, download, rowsOf, textOf } from "../lib/csv";
import { dropDraft, useDraft } from "../lib/drafts";
import { Download, mostShown, type Paging } from "../lib/list";
import { go, goPrivately, takeFragment, usePlace } from "../lib/router";
import { me, namesOf, numberText, reason, shown, spanText, t, term, timeText, useStore } from "../lib/store";
import { Failure, faultText, note, useAnswer, useTitle } from "../lib/ui";
import type { Known } from "./orders";

const most = 1000; // of one request, as the API takes them
const inQuery = 50; // more of them make an address that is too long for servers: they are in its fragment, which browsers send to none
const mostBytes = 16 << 20; // of a file

/** The view of a parcel's timeline: asked by all of the key that is before its time, newest first. */
function trackView(known: Known): { view: View; field: string; time: string } | null {
  for (const view of known.views) {
    const table = known.tables.find((one) => one.table === view.table);
    const required = view.parameters.filter((p) => p.required);
    const at = table?.key.findIndex((f) => f.type === "time") ?? -1;
    if (!table || table.state || at !== 1 || required.length !== 1 || view.page_size < 2) continue;
    if (required[0]!.name === table.key[0]!.name) return { view, field: required[0]!.name, time: table.key[at]!.name };
  }
  return null;
}

export function Track({ known }: { known: Known }) {
  useTitle(t("track"));
  const { query, fragment } = usePlace();
  const found = trackView(known);
  const [many, setMany] = useState<string[]>([]); // those of the fragment
  useEffect(() => setMany(listOf(takeFragment())), [fragment]);
  const why = useStore(reason);
  if (!found) return <p>{t("noTrackView")}</p>;
  const named = query.getAll(found.field).filter((n) => n !== "");
  const numbers = named.length > 0 ? named : many;
  const ready = !found.view.reason || why !== "";
  return <div class="track">
    <h1>{t("track")}</h1>
    <Numbers key={numbers.join()} numbers={numbers} field={found.field} reasoned={found.view.reason} take={(list) => {
      if (list.length > inQuery) goPrivately("/track", list.join());
      else go(withQuery("/track", list.map((n) => [found.field, n])));
    }} />
    {!ready && numbers.length > 0 && <p class="hint">{t("reasonNeeded")}</p>}
    {ready && numbers.length === 1 && <Timeline key={numbers[0]} found={found} number={numbers[0]!} />}
    {numbers.length > most && <p class="hint">{t("tooMany", { n: most })}</p>}
    {ready && numbers.length > 1 && numbers.length <= most && <Many key={numbers.join()} found={found} numbers={numbers} />}
  </div>;
}

/** The numbers of a text, each once. */
const listOf = (text: string): string[] => [...new Set(text.split(/[\s,;，；]+/).filter((n) => n !== ""))];

/** The numbers of a file: of a CSV file its column of them, of any other all. */
async function fileOf(file: File, field: string): Promise<string[]> {
  const text = await textOf(file);
  return /\.csv$/i.test(file.name) || file.type === "text/csv" ? [...new Set(columnOf(rowsOf(text), [field, ...await namesOf(field, "waybills")]))] : listOf(text);
}

function Numbers({ numbers, field, reasoned, take }: { numbers: string[]; field: string; reasoned: boolean; take: (list: string[]) => void }) {
  const text = useRef<HTMLTextAreaElement>(null);
  const form = useDraft("track");
  const submit = (): void => {
    const list = listOf(text.current?.value ?? "");
    if (list.length > most) { note.value = { text: t("tooMany", { n: most }), bad: true }; return; }
    dropDraft("track");
    if (list.length > 0) take(list);
  };
  return <form ref={form} class="filters" role="search" aria-label={t("track")} onSubmit={(e) => {
    e.preventDefault();
    const why = new FormData(e.currentTarget).get("why");
    if (typeof why === "string") reason.value = why.trim();
    submit();
  }}>
    {reasoned && <label class="wide">{t("reason")}<input name="why" defaultValue={reason.value} required maxLength={300} aria-describedby="why" />
      <small id="why">{t("reasonHelp")}</small></label>}
    <label class="wide">{t("waybills")}
      <textarea ref={text} name={field} rows={Math.min(6, Math.max(1, numbers.length))} defaultValue={numbers.join("\n")} required spellcheck={false}
        autocapitalize="none" aria-describedby="numbers-help" onKeyDown={(e) => {
          if (e.key === "Enter" && !e.shiftKey && !e.isComposing) { e.preventDefault(); e.currentTarget.form?.requestSubmit(); }
        }} />
      <small id="numbers-help">{t("waybillsHelp", { name: term(field) })}</small></label>
    <div class="buttons">
      <button class="main">{t("follow")}</button>
      <label class="button file">{t("file")}<input type="file" accept=".txt,.csv,text/plain,text/csv" onChange={async (e) => {
        const file = e.currentTarget.files?.[0];
        if (!file || !text.current) return;
        if (file.size > mostBytes) { note.value = { text: t("tooMany", { n: most }), bad: true }; return; }
        text.current.value = (await fileOf(file, field)).join("\n");
        submit();
      }} /></label>
    </div>
  </form>;
}

interface Found { view: View; field: string; time: string }

/** A parcel's scans as a line of stations, live. */
function Timeline({ found, number }: { found: Found; number: string }) {
  const who = useStore(me);
  const [page, setPage] = useState<Page | null>(null);
  const [stale, setStale] = useState<unknown>(undefined); // undefined: live
  const [rest, setRest] = useState<Row[]>([]); // behind the page: loaded, or pushed out of it by newer ones
  const [behind, setBehind] = useState<string | null>(null); // where what follows rest begins; null: behind the page
  const [full, setFull] = useState(false);
  const [failed, setFailed] = useState<unknown>(undefined), [loading, setLoading] = useState(false);
  const all = useRef<Row[]>([]);
  const seen = useRef(new Set<string>());
  const [fresh, setFresh] = useState(new Set<string>()), [late, setLate] = useState(new Set<string>());
  useEffect(() => {
    const stop = new AbortController();
    void watch<Page>(withQuery(found.view.path + "/events", [[found.field, number]]), found.view.reason ? reason.value : undefined, {
      page: (next) => {
        const before = seen.current;
        const added = before.size > 0 ? next.rows.filter((r) => !before.has(r.row)).map((r) => r.row) : [];
        const newest = next.rows.findIndex((r) => before.has(r.row)); // of those that were here; what has come behind it is late
        setFresh(new Set(added));
        seen.current = new Set(next.rows.map((r) => r.row));
        const older = next.next_page_token === "" ? [] : all.current.filter((r) => !seen.current.has(r.row) && isBehind(r, next.rows, found));
        const stays = older.slice(0, Math.max(0, mostShown - next.rows.length)), here = new Set([...seen.current, ...stays.map((r) => r.row)]);
        setLate((all) => new Set([...all, ...added.filter((row) => newest >= 0 && next.rows.findIndex((r) => r.row === row) > newest)].filter((row) => here.has(row))));
        setRest(stays);
        if (next.next_page_token === "") setFull(false);
        else if (stays.length < older.length) setFull(true); // what would be loaded next is not known any more
        setPage(next);
        setStale(undefined);
      },
      stale: (fault) => setStale(fault),
    }, stop.signal);
    return () => stop.abort();
  }, [number, found.view.path, who]);

  const rows = useMemo(() => [...page?.rows ?? [], ...rest], [page, rest]);
  all.current = rows;
  const token = page?.next_page_token === "" ? "" : behind ?? page?.next_page_token ?? "";
  const pageOf = (of: string, signal?: AbortSignal): Promise<Page> => ask<Page>(withQuery(found.view.path, [[found.field, number], ["page_token", of]]),
    { reason: found.view.reason ? reason.value : undefined, ...(signal ? { signal } : {}) });
  const older: Paging<Row> = async (of, signal) => {
    const next = await pageOf(of, signal);
    return { rows: next.rows, next: next.next_page_token };
  };
  const more = async (): Promise<void> => {
    setLoading(true);
    setFailed(undefined);
    try {
      const next = await pageOf(token);
      setRest((before) => {
        const here = new Set(before.map((r) => r.row));
        return [...before, ...next.rows.filter((r) => !seen.current.has(r.row) && !here.has(r.row))];
      });
      setBehind(next.next_page_token);
    } catch (e) {
      setFailed(e);
    } finally {
      setLoading(false);
    }
  };
  const refused = stale instanceof Fault && stale.status >= 400 && stale.status < 500 && stale.status !== 429;
  const steps = useMemo(() => marked(rows, found), [rows]);
  return <section class="timeline" aria-labelledby="line-title">
    <div class="bar">
      <h2 id="line-title" dir="auto">{t("stations", { id: number })}</h2>
      <span class={page && stale === undefined ? "live on" : "live"} role="status">
        {stale !== undefined ? t("notLive", { why: stale === null ? t("reconnecting") : faultText(stale) }) : page ? t("live") : t("connecting")}</span>
    </div>
    {refused && !page && <Failure err={stale} />}
    {page && rows.length === 0 && <p class="empty">{t("noScans")}</p>}
    <ol class="stations">
      {steps.map((s) => <li key={s.row.row} class={fresh.has(s.row.row) ? "fresh" : undefined}>
        <div class="what"><strong dir="auto">{s.action}</strong>{s.place && <span dir="auto">{s.place}</span>}
          {s.repeated && <em class="mark-text">{t("repeated")}</em>}{(s.late || late.has(s.row.row)) && <em class="mark-text">{t("late")}</em>}</div>
        <div class="when"><time dateTime={s.at}>{timeText(s.at)}</time>{s.rest && <span dir="auto">{s.rest}</span>}</div>
        {s.gap !== null && <p class={s.gap > 86_400_000 ? "gap long" : "gap"}>{spanText(s.gap)}{s.gap > 86_400_000 && <em class="mark-text">{t("long")}</em>}</p>}
      </li>)}
    </ol>
    {failed !== undefined && <Failure err={failed} again={() => { void more(); }} />}
    {token !== "" && <p class="foot"><span>{t("shownSoFar", { n: numberText(rows.length) })}</span>
      {!full && rows.length < mostShown && <button type="button" disabled={loading} onClick={() => { void more(); }}>{t("more")}</button>}</p>}
    {rows.length > 0 && <div class="buttons">
      <button type="button" onClick={() => { navigator.clipboard.writeText(location.href).then(() => { note.value = { text: t("copied") }; }, () => {}); }}>
        {t("link")}</button>
      <Download file={`${found.field}.csv`} rows={rows} rest={token === "" ? undefined : older} table={(all) => {
        const columns = [...new Set(all.flatMap((r) => Object.keys(r.fields)))];
        return [columns, all.map((r) => columns.map((c) => r.fields[c]))];
      }} />
    </div>}
  </section>;
}

/** Whether a scan that was shown before is older than all of a page: one that is not, and not on the page, has been deleted or taken back. */
function isBehind(row: Row, page: Row[], found: Found): boolean {
  const last = page.at(-1);
  if (!last) return false;
  const before = Date.parse(text(last.fields[found.time])) - Date.parse(text(row.fields[found.time]));
  return before > 0 || before === 0 && row.row > last.row; // at one time the rest of the key orders them
}

interface Step { row: Row; at: string; action: string; place: string; rest: string; gap: number | null; repeated: boolean; late: boolean }

const text = (value: unknown): string => typeof value === "string" ? value : shown(value);

function parts(row: Row, found: Found): { action: string; place: string; rest: string; at: string } {
  const f = row.fields;
  const placeField = ["station", "place", "location"].find((n) => typeof f[n] === "string");
  const others = Object.keys(f).filter((n) => n !== found.field && n !== found.time && n !== "action" && n !== placeField && f[n] !== null && f[n] !== "");
  return {
    at: text(f[found.time]), action: typeof f["action"] === "string" ? term(f["action"]) : others.splice(0, 1).map((n) => text(f[n])).join(""),
    place: placeField ? text(f[placeField]) : "", rest: others.map((n) => `${term(n)} ${shown(f[n])}`).join(" · "),
  };
}

/** The scans, newest first, with the time since the one before, and those that say again what that said. Late are those that were recorded after one of a later time. */
function marked(rows: Row[], found: Found): Step[] {
  let earliest = Infinity; // when the first of those of a later time was recorded
  return rows.map((row, i) => {
    const now = parts(row, found), before = rows[i + 1] ? parts(rows[i + 1]!, found) : null;
    const recorded = Date.parse(text(row.fields["recorded"])), late = recorded > earliest;
    earliest = Math.min(earliest, recorded || earliest);
    return {
      row, ...now, gap: before ? Date.parse(now.at) - Date.parse(before.at) : null,
      repeated: before !== null && before.action === now.action && before.place === now.place, late,
    };
  });
}

/** Where many parcels are: by one request where the account may, else one after the other. */
function Many({ found, numbers }: { found: Found; numbers: string[] }) {
  const who = useStore(me);
  const [at, setAt] = useState(0);
  const { answer, err, again } = useAnswer<(Page | Fault)[]>(async (signal) => {
    const because = found.view.reason ? reason.value : undefined;
    if (found.view.batch) {
      const { answers } = await ask<{ answers: Page[] }>(found.view.path + ":batch",
        { method: "POST", again: true, body: { questions: numbers.map((n) => ({ [found.field]: n })), page_size: 1 }, reason: because, signal });
      return answers;
    }
    const out: (Page | Fault)[] = [];
    for (const n of numbers) {
      setAt(out.length);
      for (;;) {
        try {
          out.push(await ask<Page>(withQuery(found.view.path, [[found.field, n], ["page_size", "1"]]), { reason: because, signal, again: false }));
          break;
        } catch (e) {
          if (signal.aborted) throw e;
          if (!(e instanceof Fault)) throw e;
          if (e.status !== 429) { out.push(e); break; }
          await pause(Math.max(250, e.retryAfter * 1000), signal);
        }
      }
    }
    return out;
  }, [numbers.join(), who]);
  if (err !== undefined) return <Failure err={err} again={again} />;
  if (!answer) return <p role="status">{t("loading")} {at > 0 && `${at} / ${numbers.length}`}</p>;
  const lines = answer.map((page, i) => {
    const row = page instanceof Fault ? undefined : page.rows[0];
    return { number: numbers[i]!, step: row ? parts(row, found) : null, fault: page instanceof Fault ? page : null };
  });
  return <section class="many" aria-labelledby="many-title">
    <div class="bar"><h2 id="many-title">{t("latest")}</h2>
      <button type="button" class="quiet" onClick={() => download("latest.csv", csv([found.field, found.time, "action", "place"],
        lines.map((l) => [l.number, l.step?.at ?? "", l.step?.action ?? "", l.step?.place ?? ""])))}>{t("csv")}</button></div>
    <div class="scroll" tabIndex={0} role="group" aria-labelledby="many-title"><table>
      <thead><tr><th scope="col">{term(found.field)}</th><th scope="col">{term("action")}</th><th scope="col">{term("station")}</th><th scope="col">{t("at")}</th></tr></thead>
      <tbody>{lines.map((l) => <tr key={l.number}>
        <th scope="row" translate={false}><a href={withQuery("/track", [[found.field, l.number]])} dir="auto">{l.number}</a></th>
        {l.step ? <><td dir="auto">{l.step.action}</td><td dir="auto">{l.step.place}</td><td>{timeText(l.step.at)}</td></>
          : <td colSpan={3}>{l.fault ? faultText(l.fault) : t("none")}</td>}
      </tr>)}</tbody>
    </table></div>
  </section>;
}
