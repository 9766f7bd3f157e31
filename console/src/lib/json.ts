// JSON whose whole numbers are exact: those that a number of JavaScript would round are BigInt.

const mark = (): string => `${Math.random()} `; // what no text begins with, as nobody can foresee it

/** What a text of JSON says. */
export function parseJSON(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const exact = mark();
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${exact}${token}"` : token);
  return JSON.parse(marked, (_, value: unknown) => typeof value === "string" && value.startsWith(exact) ? BigInt(value.slice(exact.length)) : value);
}

/** A value as JSON; undefined where there is none. */
export function jsonText(value: unknown): string | undefined {
  const exact = mark();
  let found = false;
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== "bigint") return one;
    found = true;
    return exact + one;
  }) as string | undefined;
  return found ? text!.replace(new RegExp(`"${exact}(-?\\d+)"`, "g"), "$1") : text;
}

/** Whether a value is a number: exact where it is too large to be one of JavaScript. */
export const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
