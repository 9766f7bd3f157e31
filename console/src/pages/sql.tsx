import { useEffect, useRef, useState } from "preact/hooks";
import { Fault, ask, withQuery, type Value } from "../lib/api";
import { complete, type Completion, type Names } from "../lib/complete";
import { csv, download } from "../lib/csv";
import { drafted, dropDraft, keepDraft } from "../lib/drafts";
import { isNumber } from "../lib/json";
import { mostShown } from "../lib/list";
import { goPrivately, takeFragment, usePlace } from "../lib/router";
import { decimalText, keepStatement, me, numberText, reason, shown, statements, t, userName, useStore } from "../lib/store";
import { Failure, note, useAnswer, useTitle } from "../lib/ui";
import { Chart, Plan, drawable } from "./sqlshown";

interface Answer {
  columns: { name: string; type: string }[];
  rows: Value[][];
  reached?: string;
  stats: { hbase_ms: number; total_ms: number; rows_read: number; rows_returned: number; regions: number };
}

/** Where the record is looked for that a row of an answer comes from: operators may, where the answer says which row it is. */
function recordOf(statement: string, answer: Answer): ((row: Value[]) => string) | null {
  const table = /\bFROM\s+([^\s,;]+)/i.exec(statement)?.[1] ?? "";
  const key = answer.columns.findIndex((c) => c.name === "_key"), version = answer.columns.findIndex((c) => c.name.startsWith("_time("));
  if (key < 0 || table === "") return null;
  return (row) => withQuery("/records", [["table", table], ["row", String(row[key] ?? "")], ["version", String(row[version] ?? "")]]);
}

export function SQL({ records }: { records?: boolean }) {
  useTitle(t("sql"));
  const answered = useRef(""); // the statement of the answer
  const { fragment } = usePlace();
  const addressed = useRef(""); // the statement of the address
  const [linked, setLinked] = useState(false); // the text is the address's, and was not run
  const who = useStore(me), why = useStore(reason);
  const [text, setText] = useState(() => drafted("sql", "statement") || statements()[0] || "");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [err, setErr] = useState<unknown>(null);
  const [busy, setBusy] = useState<AbortController | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const names = useAnswer<Names>((signal) => ask<Names>("/api/v1/sql", { signal }), [who]).answer; // without them nothing is completed
  const [offered, setOffered] = useState<Completion & { chosen: number } | null>(null);
  const reasoned = who !== "open";

  const run = async (statement: string): Promise<void> => {
    if (statement.trim() === "" || busy) return;
    if (reasoned && why.trim() === "") { note.value = { text: t("reasonNeeded"), bad: true }; return; }
    addressed.current = text;
    dropDraft("sql");
    goPrivately("/sql", text, fragment === "");
    setLinked(false);
    const stop = new AbortController();
    setBusy(stop);
    setErr(null);
    const by = userName();
    try {
      const got = await ask<Answer>("/api/v1/sql", { method: "POST", again: "unbegun", body: { statement }, reason: reasoned ? why : undefined, signal: stop.signal });
      if (stop.signal.aborted || userName() !== by) return;
      setAnswer(got);
      answered.current = statement;
      keepStatement(statement);
    } catch (e) {
      if (stop.signal.aborted) return;
      setErr(e);
      const at = e instanceof Fault ? e.problem.errors?.[0] : undefined;
      if (at?.line && at.column && area.current) { // where it is wrong
        const offset = statement.split("\n").slice(0, at.line - 1).reduce((n, line) => n + line.length + 1, 0) + at.column - 1;
        area.current.focus();
        area.current.setSelectionRange(offset, Math.min(statement.length, offset + 1));
      }
    } finally {
      setBusy((now) => now === stop ? null : now);
    }
  };
  useEffect(() => { // of a link, or of the way back: it is shown, and run only when the user says so
    const statement = takeFragment();
    if (statement === "" || statement === addressed.current) return;
    addressed.current = statement;
    busy?.abort();
    setBusy(null);
    const kept = drafted("sql", "statement");
    setText(kept || statement);
    setOffered(null);
    setAnswer(null);
    setErr(null);
    setLinked(kept === "");
  }, [fragment]);
  const edit = (now: string): void => {
    keepDraft("sql", { statement: now });
    setText(now);
    setLinked(false);
  };
  const typed = (at: HTMLTextAreaElement): void => {
    edit(at.value);
    const found = names && complete(names, at.value, at.selectionStart);
    setOffered(found && found.words.length > 0 ? { ...found, chosen: -1 } : null);
  };
  useEffect(() => { // what was typed before the names came
    if (area.current && area.current.value !== "" && area.current === document.activeElement) typed(area.current);
  }, [names]);
  const take = (word: string): void => {
    const at = area.current;
    if (!at || !offered) return;
    at.setRangeText(word + " ", offered.from, at.selectionStart, "end");
    edit(at.value);
    setOffered(null);
    at.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      setOffered(null);
      void run(text);
    } else if (offered) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], chosen = offered.words[Math.max(0, offered.chosen)]!;
      if (step) setOffered({ ...offered, chosen: Math.min(offered.words.length - 1, Math.max(-1, offered.chosen + step)) });
      else if (event.key === "Tab" && !event.shiftKey || event.key === "Enter" && offered.chosen >= 0) take(chosen);
      else if (event.key === "Escape") setOffered(null);
      else return;
      event.preventDefault();
    }
  };
  const explained = (): string => /^\s*explain\b/i.test(text) ? text : "EXPLAIN " + text;
  const record = records && answer ? recordOf(answered.current, answer) : null;
  const before = statements();
  const plan = answer?.columns.map((c) => c.name).join() === "what,plan";
  return <>
    <h1>{t("sql")}</h1>
    <form class="filters" onSubmit={(e) => { e.preventDefault(); void run(text); }}>
      {reasoned && <label class="wide">{t("reason")}
        <input value={why} onInput={(e) => { reason.value = e.currentTarget.value; }} required maxLength={300} aria-describedby="why" />
        <small id="why">{t("reasonHelp")}</small></label>}
      <label class="wide">{t("statement")}
        <textarea ref={area} rows={5} value={text} spellcheck={false} autocapitalize="none" maxLength={10_000} required aria-describedby="sql-help"
          aria-autocomplete="list" aria-controls={offered ? "sql-words" : undefined}
          aria-activedescendant={offered && offered.chosen >= 0 ? `sql-word-${offered.chosen}` : undefined}
          onInput={(e) => typed(e.currentTarget)} onKeyDown={keys} onBlur={() => setTimeout(() => setOffered(null), 200)} />
        <small id="sql-help">{t("sqlHelp")}</small></label>
      {offered && <ul class="words" id="sql-words" role="listbox" aria-label={t("completions")}>{offered.words.map((word, i) =>
        <li key={word} id={`sql-word-${i}`} role="option" aria-selected={i === offered.chosen} onPointerDown={(e) => { e.preventDefault(); take(word); }}>{word}</li>)}</ul>}
      <div class="buttons">
        <button class="main" disabled={busy !== null}>{t("run")}</button>
        <button type="button" disabled={busy !== null} onClick={() => { void run(explained()); }}>{t("explain")}</button>
        {busy && <button type="button" onClick={() => { busy.abort(); setBusy(null); }}>{t("cancelNow")}</button>}
        {before.length > 0 && <select aria-label={t("history")} value="" onChange={(e) => edit(e.currentTarget.value)}>
          <option value="">{t("history")}</option>{before.map((one) => <option key={one} value={one}>{one.slice(0, 80)}</option>)}</select>}
      </div>
    </form>
    {linked && <p class="hint" role="status">{t("sqlLinked")}</p>}
    {err !== null && <><Failure err={err} />{err instanceof Fault && err.problem.errors?.[0]?.line !== undefined &&
      <p class="hint">{t("at_line", { line: err.problem.errors[0].line, column: err.problem.errors[0].column ?? 1 })}</p>}</>}
    {answer && err === null && <section aria-live="polite">
      <p class="foot">{!plan && <span>{t("sqlStats", { returned: numberText(answer.stats.rows_returned), total: numberText(Math.round(answer.stats.total_ms)),
        hbase: numberText(Math.round(answer.stats.hbase_ms)), read: numberText(answer.stats.rows_read), regions: numberText(answer.stats.regions) })}</span>}
        <button type="button" class="quiet" onClick={() => download("answer.csv", csv(answer.columns.map((c) => c.name), answer.rows))}>{t("csv")}</button></p>
      {answer.reached && <p class="hint">{t("reached", { bound: answer.reached })}</p>}
      {answer.rows.length === 0 ? <p class="empty">{t("sqlNone")}</p>
        : plan ? <Plan rows={answer.rows} />
        : <>{drawable(answer.columns, answer.rows) && <Chart columns={answer.columns} rows={answer.rows} />}<div class="scroll" tabIndex={0} role="group" aria-label={t("sql")}><table>
          <thead><tr>{answer.columns.map((c) => <th key={c.name} scope="col" translate={false}>{c.name}</th>)}{record && <th scope="col">{t("record")}</th>}</tr></thead>
          <tbody>{answer.rows.slice(0, mostShown).map((row, i) => <tr key={i}>{row.map((value, j) => {
            const exact = answer.columns[j]?.type === "decimal" && typeof value === "string";
            return <td key={j} dir="auto" class={exact || isNumber(value) ? "number" : "cell"}>{exact ? decimalText(value) : shown(value)}</td>;
          })}
            {record && <td><a href={record(row)}>{t("recordOf")}</a></td>}</tr>)}</tbody>
        </table></div>
        {answer.rows.length > mostShown && <p class="hint">{t("shownSoFar", { n: numberText(mostShown) })}</p>}</>}
    </section>}
  </>;
}
