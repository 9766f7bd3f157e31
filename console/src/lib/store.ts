import { useEffect, useState } from "preact/hooks";
import type { Key } from "../i18n/en";
import { askFor, type Me } from "./api";
import { isNumber, jsonText, type Decimal } from "./json";
import { first, kept, textsOf, type Language, type Texts } from "./language";

export type { Key, Language };

/** A value that components follow. */
export class Store<T> {
  private readonly followers = new Set<() => void>();
  constructor(private current: T) {}
  get value(): T { return this.current; }
  set value(next: T) {
    if (next === this.current) return;
    this.current = next;
    for (const f of [...this.followers]) f();
  }
  follow(f: () => void): () => void {
    this.followers.add(f);
    return () => { this.followers.delete(f); };
  }
}

export function useStore<T>(store: Store<T>): T {
  const value = store.value;
  const [, turn] = useState(0);
  useEffect(() => {
    const again = (): void => turn((n) => n + 1);
    if (store.value !== value) again(); // it changed after it was drawn, while nobody followed it yet
    return store.follow(again);
  }, [store]);
  return value;
}

export function keep(name: string, value: string): void {
  try { localStorage.setItem(name, value); } catch { /* it is not remembered then */ }
}

export type Theme = "auto" | "light" | "dark";

export const language = new Store<Language>(first);
let texts: Texts; // of the language, there before anything is drawn
let wanted: Language = first;

/** Changes the language once its texts are there. */
async function speak(next: Language): Promise<void> {
  wanted = next;
  const loaded = await textsOf(next);
  if (wanted !== next) return; // another one was chosen meanwhile
  texts = loaded;
  language.value = next;
}

export async function choose(next: Language): Promise<void> {
  await speak(next);
  if (language.value === next) keep("language", next);
}

/** Begins the console in the language of the reader; in the other one where its texts cannot be had. */
export function begin(draw: () => void): void {
  speak(first).catch(() => speak(first === "zh" ? "en" : "zh")).then(draw, () => { document.body.textContent = "brine: reload this page. 请刷新页面。"; });
}

const look = kept("theme");
export const theme = new Store<Theme>(look === "light" || look === "dark" ? look : "auto");

function applyLook(): void {
  document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
  document.documentElement.dataset["theme"] = theme.value;
}
applyLook();
language.follow(applyLook);
theme.follow(() => { keep("theme", theme.value); applyLook(); });

/** Who is signed in: null is nobody, "open" a brine without accounts, undefined not known yet. */
export const me = new Store<Me | null | "open" | undefined>(undefined);
/** A session that was there has ended: the page stays, and a dialog asks to sign in again. */
export const expired = new Store(false);
/** Why rows of others are read; it lives until the user signs out. */
export const reason = new Store("");

const mine = "of "; // what names of a user's texts begin with

/** Texts of a user that this tab keeps over a reload. The browser removes them with the tab, a sign-out before that. */
export function owned(user: string): { get: (name: string) => string; set: (name: string, value: string) => void } {
  const at = (name: string): string => `${mine}${JSON.stringify(user)} ${name}`;
  return {
    get: (name) => { try { return sessionStorage.getItem(at(name)) ?? ""; } catch { return ""; } },
    set: (name, value) => {
      try {
        if (value === "") sessionStorage.removeItem(at(name));
        else sessionStorage.setItem(at(name), value);
      } catch { /* it is not kept then */ }
    },
  };
}

/** The name of who is signed in, as what is kept for a user names it: empty where nobody is. */
export const userName = (): string => me.value && me.value !== "open" ? me.value.name : "";

const mostStatements = 20;

/** Statements that the user has run in this tab, newest first. */
export function statements(): string[] {
  try { return JSON.parse(owned(userName()).get("statements") || "[]") as string[]; } catch { return []; }
}

export function keepStatement(statement: string): void {
  owned(userName()).set("statements", JSON.stringify([statement, ...statements().filter((one) => one !== statement)].slice(0, mostStatements)));
}

/** Forgets the reason and what users keep in this tab, so that the next user does not see it. With except, the texts of that user stay, and those typed while nobody was signed in. */
export function forget(except = ""): void {
  reason.value = "";
  try {
    const stays = [except, ""].map((user) => `${mine}${JSON.stringify(user)} `);
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(mine) && (except === "" || !stays.some((of) => name.startsWith(of)))) sessionStorage.removeItem(name);
  } catch { /* nothing was kept */ }
}

let last = ""; // who was signed in
me.follow(() => {
  const name = userName();
  askFor(name);
  if (name === "" || name === last) return; // nobody is yet: the user may come back to what was typed
  last = name;
  forget(name);
});

/** A text of the dictionary. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return texts.words[key].replace(/\{(\w+)\}/g, (all, name: string) => name in values ? String(values[name]) : all);
}

/** A name of the configuration, translated where it is known. */
export function term(name: string): string {
  return Object.hasOwn(texts.terms, name) ? texts.terms[name]! : name;
}

/** What a name of the configuration, and a text of the dictionary, are called in each language whose texts can be had. */
export async function namesOf(name: string, key: Key): Promise<string[]> {
  const all = await Promise.allSettled([textsOf("en"), textsOf("zh")]);
  return all.flatMap((of) => of.status === "rejected" ? [] : [...Object.hasOwn(of.value.terms, name) ? [of.value.terms[name]!] : [], of.value.words[key]]);
}

export function stateName(name: string): string {
  return Object.hasOwn(texts.states, name) ? texts.states[name]! : term(name);
}

/** Kinds that only some pages have, in Chinese: null until one of these is opened. */
const more = new Store<Record<string, string> | null>(null);

/** Loads the kinds of results and findings, and says whether they are there; without them the API's own names are shown. */
export function useResultKinds(): boolean {
  const loaded = useStore(more), needed = useStore(language) === "zh";
  useEffect(() => {
    if (needed && !more.value) void import("../i18n/results.zh").then(({ kinds }) => { more.value = kinds; }, () => { more.value = {}; });
  }, [needed]);
  return !needed || loaded !== null;
}

/** A text of what the API gives kinds and values of; the API's own, which is English, where there is none, or a value is missing. */
export function kindText(kind: string, own: string, values: Record<string, string | number | undefined> = {}): string {
  const all = !Object.hasOwn(texts.kinds, kind) && language.value === "zh" && more.value || texts.kinds, text = Object.hasOwn(all, kind) ? all[kind]! : null;
  if (text === null || [...text.matchAll(/\{(\w+)\}/g)].some(([, name]) => values[name!] === undefined || values[name!] === "")) return own;
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

const locale = (): string => language.value === "zh" ? "zh-CN" : "en-GB";

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Formats of both languages, made once: to make one takes longer than to draw the row that it is for. */
function formats<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const of = locale();
    let format = made.get(of);
    if (!format) made.set(of, format = make(of));
    return format;
  };
}
const times = formats((of) => new Intl.DateTimeFormat(of, { dateStyle: "medium", timeStyle: "short" }));
const numbers = formats((of) => new Intl.NumberFormat(of));

export function timeText(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : times().format(at);
}

/** A number in digits, grouped before the point: those after it stay as they are. */
export const decimalText = (digits: string): string => digits.replace(/^(-?)(\d+)(?=\.\d+$|$)/, (_, sign: string, whole: string) => sign + numbers().format(BigInt(whole)));

/** A number with all digits that it has, as JSON writes it. */
export const numberText = (n: number | bigint | Decimal): string => decimalText(String(n));

/** Says that nothing follows. */
export const allText = (n: number): string => t(n === 1 ? "inAll" : "end", { n: numberText(n) });

/** A value as people read it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (isNumber(value)) return numberText(value);
  if (typeof value === "string") return isTime.test(value) ? timeText(value) : value;
  if (typeof value === "boolean") return value ? "✓" : "✗";
  return jsonText(value)!;
}

/** How long something took, in its two largest units. */
export function spanText(ms: number): string {
  const s = Math.round(Math.abs(ms) / 1000);
  const units: [Key, number][] = [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];
  const parts: string[] = [];
  let rest = s;
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(t(unit, { n }));
    if (parts.length === 2) break;
  }
  return parts.join(" ") || t("seconds", { n: 0 });
}
