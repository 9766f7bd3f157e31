import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { withQuery } from "./api";
import { csv, download } from "./csv";
import { isNumber } from "./json";
import { go } from "./router";
import { numberText, shown, t } from "./store";
import { faultText, note } from "./ui";

/** A column of a list: what its cells hold, which is what CSV has, and how they look. */
export interface Column<T> {
  name: string; // in CSV
  label: string;
  of: (row: T) => unknown;
  show?: (row: T) => ComponentChildren;
  /** Of texts of any length: they break, and are as wide as they need. */
  long?: boolean;
}

export const mostShown = 1000;
export const mostInFile = 100_000; // rows

/** A page of a list that is loaded bit by bit, and what its next one is asked for with; empty: it is the last. */
export interface Further<T> { rows: T[]; next: string }

/** How a list is asked for from its beginning, with the token that the page before has named. */
export type Paging<T> = (token: string, signal: AbortSignal) => Promise<Further<T>>;

/**
 * Downloads a list as CSV, all of it: where only a part is loaded, the list is asked for page by page first. A file that holds less says so, in its
 * name too.
 */
export function Download<T>({ file, rows, rest, table }: { file: string; rows: T[]; rest?: Paging<T> | undefined; table: (rows: T[]) => [head: string[], rows: unknown[][]] }) {
  const [loaded, setLoaded] = useState<number | null>(null);
  const turn = useRef<AbortController | null>(null);
  useEffect(() => () => turn.current?.abort(), []);
  const all = async (page: Paging<T>): Promise<void> => {
    const stop = turn.current = new AbortController(), list: T[] = [];
    setLoaded(0);
    try {
      let next = "";
      do {
        const more = await page(next, stop.signal);
        if (stop.signal.aborted) return;
        for (const row of more.rows) list.push(row);
        setLoaded(list.length);
        next = more.next;
      } while (next !== "" && list.length < mostInFile);
      if (next === "") download(file, csv(...table(list)));
      else {
        download(file.replace(/(?=\.csv$)/, `-first-${mostInFile}`), csv(...table(list.slice(0, mostInFile))));
        note.value = { text: t("csvCut", { n: numberText(mostInFile) }), bad: true };
      }
    } catch (e) {
      if (!stop.signal.aborted) note.value = { text: t("csvFailed", { why: faultText(e) }), bad: true };
    } finally {
      setLoaded(null);
    }
  };
  if (loaded !== null) return <><span role="status">{t("csvLoading", { n: numberText(loaded) })}</span>
    <button type="button" class="quiet" onClick={() => { turn.current?.abort(); setLoaded(null); }}>{t("cancelNow")}</button></>;
  return <button type="button" class="quiet" onClick={() => { if (rest) void all(rest); else download(file, csv(...table(rows))); }}>{t("csv")}</button>;
}

/** A table of rows with its CSV, which has all of them however many are shown or loaded; where there are none, what would be there and how it comes to be. */
export function List<T>({ label, rows, rest, columns, file, empty, children }: {
  label: string; rows: T[]; rest?: Paging<T> | undefined; columns: Column<T>[]; file: string; empty: string; children?: ComponentChildren;
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return <>
    <div class="scroll" tabIndex={0} role="group" aria-label={label}><table>
      <thead><tr>{columns.map((c) => <th key={c.name} scope="col" class={isNumber(c.of(rows[0]!)) ? "number" : undefined}>{c.label}</th>)}</tr></thead>
      <tbody>{rows.slice(0, mostShown).map((row, i) => <tr key={i}>{columns.map((c) => {
        const value = c.of(row);
        return <td key={c.name} dir="auto" class={isNumber(value) ? "number" : c.long ? "cell" : undefined}>{c.show ? c.show(row) : shown(value)}</td>;
      })}</tr>)}</tbody>
    </table></div>
    <p class="foot">{children}
      {rows.length > mostShown && <span>{t("shownSoFar", { n: numberText(mostShown) })}</span>}
      <Download file={file} rows={rows} rest={rest} table={(all) => [columns.map((c) => c.name), all.map((row) => columns.map((c) => c.of(row)))]} /></p>
  </>;
}

/** Finds what a list shows by one text, which is a parameter of the page's address. */
export function Find({ path, name, label, value }: { path: string; name: string; label: string; value: string }) {
  return <form key={value} class="filters" role="search" aria-label={t("filters")} onSubmit={(e) => {
    e.preventDefault();
    go(withQuery(path, [[name, String(new FormData(e.currentTarget).get("find") ?? "").trim()]]));
  }}>
    <label>{label}<input name="find" defaultValue={value} autocapitalize="none" spellcheck={false} /></label>
    <div class="buttons"><button class="main">{t("search")}</button><a class="button" href={path}>{t("clear")}</a></div>
  </form>;
}
