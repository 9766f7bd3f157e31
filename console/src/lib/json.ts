// JSON whose numbers are exact. Those that a number of JavaScript would round, or write in another way, are BigInt or Decimal.

const mark = (): string => `${Math.random()} `; // what no text begins with, as nobody can foresee it

/** A number in the digits that it came in: 634.60 is an amount, and 634.6 is not how anybody writes it. */
export class Decimal {
  constructor(readonly text: string) {}
  toString(): string { return this.text; }
  valueOf(): number { return Number(this.text); }
}

/** What a text needs to have for a number of it not to be one of JavaScript: sixteen digits, a fraction that ends in 0, or an exponent. */
const unusual = /\d{16}|(?:^|[:,[])\s*-?\d+(?:\.\d*0|(?:\.\d+)?[eE][+-]?\d+)\s*(?:$|[,\]}])/;

/** What a text of JSON says. */
export function parseJSON(text: string): unknown {
  if (!unusual.test(text)) return JSON.parse(text);
  const exact = mark();
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
    /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(token) && !isUsual(token) ? `"${exact}${token}"` : token);
  return JSON.parse(marked, (_, value: unknown) => typeof value === "string" && value.startsWith(exact) ? exactly(value.slice(exact.length)) : value);
}

const isUsual = (token: string): boolean => /[.eE]/.test(token) ? String(Number(token)) === token : Number.isSafeInteger(Number(token));

const exactly = (digits: string): bigint | Decimal => /[.eE]/.test(digits) ? new Decimal(digits) : BigInt(digits);

/** A value as JSON; undefined where there is none. */
export function jsonText(value: unknown): string | undefined {
  const exact = mark();
  let found = false;
  const text = JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== "bigint" && !(one instanceof Decimal)) return one;
    found = true;
    return exact + String(one); // its value is a number
  }) as string | undefined;
  return found ? text!.replace(new RegExp(`"${exact}([^"]+)"`, "g"), "$1") : text;
}

/** Whether a value is a number: exact where it is not one of JavaScript. */
export const isNumber = (value: unknown): value is number | bigint | Decimal => typeof value === "number" || typeof value === "bigint" || value instanceof Decimal;
