import { jsonText } from "./json";

/** A cell of CSV. What a spreadsheet would take for a formula is led by an apostrophe. */
export function cell(value: unknown): string {
  let text = value === null || value === undefined ? "" : typeof value === "string" ? value : jsonText(value)!;
  if (typeof value === "string" && /^[=+\-@\t\r＝＋－＠]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(head: string[], rows: unknown[][]): string {
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** The text of a file as spreadsheets save it: in UTF-8, in UTF-16 with its mark, or in GB 18030, as Chinese ones save CSV. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const marked = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(marked, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("gb18030").decode(bytes);
  }
}

/** The rows of a CSV file, whose cells are apart by what its first line has most of: commas, semicolons or tabs. */
export function rowsOf(text: string): string[][] {
  const line = text.split("\n", 1)[0]!, count = (mark: string): number => line.split(mark).length;
  const apart = [",", ";", "\t"].reduce((best, mark) => count(mark) > count(best) ? mark : best);
  const rows: string[][] = [];
  let row: string[] = [], cell = "", quoted = false;
  const end = (): void => { row.push(cell.trim()); cell = ""; };
  const endRow = (): void => { end(); rows.push(row); row = []; };
  for (let i = text.startsWith("\ufeff") ? 1 : 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += c; i++; }
      else quoted = false;
    } else if (c === '"' && cell.trim() === "") { quoted = true; cell = ""; }
    else if (c === apart) end();
    else if (c === "\n") endRow();
    else cell += c;
  }
  endRow();
  return rows.filter((cells) => cells.some((one) => one !== ""));
}

/** The cells of the column that has one of these names in the first row; where none has, those of the first column. */
export function columnOf(rows: string[][], names: string[]): string[] {
  const wanted = names.map((name) => name.toLowerCase());
  const at = rows[0]?.findIndex((head) => wanted.includes(head.toLowerCase())) ?? -1;
  return (at < 0 ? rows.map((row) => row[0]!) : rows.slice(1).map((row) => row[at] ?? "")).filter((one) => one !== "");
}

/** Hands a text to the browser as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
