import type { ComponentChildren } from "preact";
import { withQuery } from "./api";
import { csv, download } from "./csv";
import { isNumber } from "./json";
import { go } from "./router";
import { numberText, shown, t } from "./store";

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

/** A table of rows with its CSV, which has all of them however many are shown; where there are none, what would be there and how it comes to be. */
export function List<T>({ label, rows, columns, file, empty, children }: {
  label: string; rows: T[]; columns: Column<T>[]; file: string; empty: string; children?: ComponentChildren;
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
      <button type="button" class="quiet" onClick={() => download(file, csv(columns.map((c) => c.name), rows.map((row) => columns.map((c) => c.of(row)))))}>
        {t("csv")}</button></p>
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
