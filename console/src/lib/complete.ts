// What may be written next in a statement.

export interface Names { tables: { table: string; columns: { name: string; type: string }[] }[]; words: string[] }
export interface Completion { from: number; words: string[] }

const most = 8;

/** The words that the one before the cursor may become, those that fit best first; none where it is whole already. */
export function complete(names: Names, text: string, at: number): Completion {
  const before = text.slice(0, at);
  const typed = /[\w:]*$/.exec(before)![0], from = at - typed.length;
  if (typed === "" || /^\d/.test(typed) || quoted(before)) return { from, words: [] };
  const tables = names.tables.map((one) => one.table);
  const last = /(\w+)\s+$/.exec(before.slice(0, from))?.[1]?.toUpperCase();
  const named = /\bfrom\s+([\w:]+)/i.exec(text)?.[1]?.toLowerCase();
  const of = names.tables.filter((one) => !named || one.table.toLowerCase() === named || one.table.toLowerCase().endsWith(":" + named));
  const columns = of.flatMap((one) => one.columns.map((c) => c.name));
  const all = last === "FROM" ? tables : [...columns, ...names.words];
  const begins = typed.toLowerCase();
  const fit = [...new Set(all)].filter((word) => word.toLowerCase().startsWith(begins) || last === "FROM" && word.toLowerCase().includes(":" + begins));
  if (fit.some((word) => word.toLowerCase() === begins)) return { from, words: [] };
  return { from, words: fit.slice(0, most) };
}

/** Whether a text that is not closed begins before the cursor. */
function quoted(before: string): boolean { return (before.match(/'/g)?.length ?? 0) % 2 === 1; }
