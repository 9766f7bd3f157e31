// What the console knows of brine: the HTTP API, and nothing else.
import { jsonText, parseJSON, type Decimal } from "./json";

/** Why there is no answer (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: { location: string; message: string; fix?: string; line?: number; column?: number }[];
  request_id?: string;
  current?: { state: string; state_version: number; deleted: boolean };
}

/** A request that has no answer; status 0: nothing came back. */
export class Fault extends Error {
  constructor(readonly problem: Problem, readonly retryAfter = 0) {
    super(problem.detail || problem.title);
  }
  get status(): number { return this.problem.status; }
  /** The kind of problem, as the documentation names it. */
  get kind(): string { return this.problem.type.split("#")[1] ?? ""; }
}

export type Value = string | number | bigint | Decimal | boolean | null | Value[] | { [name: string]: Value };

export interface Row {
  row: string;
  version: number | bigint;
  state_version?: number | bigint;
  state?: string;
  fields: Record<string, Value>;
}
export interface Page { rows: Row[]; next_page_token: string }
export interface Parameter { name: string; type: string; required: boolean; range: boolean; list: boolean }
export interface View {
  view: string; path: string; table: string; order?: string; page_size: number; parameters: Parameter[]; batch: boolean; reason: boolean;
}
export interface Transition { command: string; from: string[]; to: string; take: string[] }
export interface Table {
  table: string; path: string; key: { name: string; type: string }[]; reason: boolean; state?: string; states: string[]; commands: Transition[];
}
export interface Me { name: string; role: "customer" | "support" | "operator" | "admin"; owner?: string }
/** Why the last sign-in by a company's provider has failed in this browser. */
export interface RefusedSignIn { status: number; detail: string; request_id?: string }
/** An OpenID provider, and where a browser goes to sign in by it. */
export interface Company { name: string; path: string }
export interface Command {
  id: string; command: string; row: string; to: string; version: number | bigint; state: string; detail?: string; token?: string;
}

export interface Asked {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  reason?: string | undefined;
  signal?: AbortSignal;
  /** Asked again when nothing came back: reads, and commands, whose key makes them safe. "unbegun": only where the server has not begun with it. */
  again?: boolean | "unbegun";
}

/** Called when a session that was there is not any more. */
let signedOut = (): void => {};
export function onSignedOut(f: () => void): void { signedOut = f; }

/** Called when the session is another account's than the requests are meant for. */
let otherAccount = (): void => {};
export function onOtherAccount(f: () => void): void { otherAccount = f; }

let account = ""; // that requests are meant for; empty: of whoever is signed in
export function askFor(name: string): void { account = name; }

const mePath = "/api/v1/me";

/** Who is signed in, whoever it is meant to be. */
export const whoIs = (): Promise<Me> => ask<Me>(mePath);

const maxAttempts = 4;

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => { clearTimeout(timer); reject(signal?.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Headers are bytes, which fetch takes as characters up to 255: these are the text's, in UTF-8. */
function headerText(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text.replace(/\s+/g, " ").trim()));
}

export async function send(path: string, asked: Asked = {}): Promise<Response> {
  return sent(path, asked, async (response) => response);
}

/** Sends a request until it has an answer that can be read, or will have none. */
async function sent<T>(path: string, asked: Asked, read: (response: Response) => Promise<T>): Promise<T> {
  const method = asked.method ?? "GET";
  const headers: Record<string, string> = { ...asked.headers };
  if (asked.body !== undefined) headers["Content-Type"] = "application/json";
  if (asked.reason) headers["Brine-Reason"] = headerText(asked.reason);
  if (account && path !== mePath) headers["Brine-Account"] = headerText(account); // the browser's tabs share a session
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (asked.body !== undefined) init.body = jsonText(asked.body)!;
  if (asked.signal) init.signal = asked.signal;
  const again = asked.again ?? method === "GET";
  for (let n = 1; ; n++) {
    let fault: Fault;
    try {
      const response = await fetch(path, init);
      if (response.ok) return await read(response); // half an answer is none
      fault = await faultOf(response);
    } catch (err) {
      if (asked.signal?.aborted) throw err;
      fault = new Fault({ type: "", title: "", status: 0, detail: "" });
    }
    if (fault.status === 401 && path !== "/api/v1/session" && path !== mePath) signedOut();
    if (fault.kind === "other-account") otherAccount();
    const passing = again === "unbegun" ? unbegun(fault) : [0, 429, 502, 503, 504].includes(fault.status) || fault.kind === "running";
    if (!again || !passing || n >= maxAttempts || fault.retryAfter > 10) throw fault;
    await pause(Math.max(fault.retryAfter * 1000, 150 * 2 ** n), asked.signal);
  }
}

/** Whether brine itself has said that it has not begun with a request, and when to ask again. */
const unbegun = (fault: Fault): boolean => fault.retryAfter > 0 && /^(too-many|overloaded|no-accounts)$/.test(fault.kind);

async function faultOf(response: Response): Promise<Fault> {
  const after = Number(response.headers.get("Retry-After")) || 0;
  const problem: Problem = { type: "", title: response.statusText, status: response.status, detail: "" };
  try {
    const given = await jsonOf<Partial<Problem> | null>(response);
    for (const name of ["type", "title", "detail", "request_id"] as const) if (typeof given?.[name] === "string") problem[name] = given[name];
    if (Array.isArray(given?.errors)) problem.errors = given.errors;
    if (given?.current) problem.current = given.current;
  } catch { /* what is between here and brine has answered, with something else */ }
  return new Fault(problem, after);
}

/** The JSON of an answer. */
export async function jsonOf<T>(response: Response): Promise<T> { return parseJSON(await response.text()) as T; }

export async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
  return sent(path, asked, jsonOf<T>);
}

/** A path with parameters; those without a value are left out. */
export function withQuery(path: string, parameters: [string, string][]): string {
  const query = new URLSearchParams(parameters.filter(([, value]) => value !== ""));
  const text = query.toString();
  return text === "" ? path : path + "?" + text;
}

export interface Watching<T> {
  page: (page: T) => void;
  /** The page is shown as it was: the stores or the server do not answer. */
  stale: (fault: Fault | null) => void;
}

/**
 * Follows what a route of events sends until the signal. It reads the events with fetch, as EventSource sends no headers and hides why a stream ended.
 */
export async function watch<T>(path: string, reason: string | undefined, on: Watching<T>, signal: AbortSignal): Promise<void> {
  let last = "";
  for (let failed = 0; !signal.aborted; failed++) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const response = await send(path, { headers, reason, signal, again: false });
      failed = 0;
      for await (const event of events(response, signal)) {
        if (event.name === "page" || event.name === "state") {
          on.page(parseJSON(event.data) as T);
          last = event.id;
        } else if (event.name === "problem") {
          last = "";
          on.stale(new Fault(parseJSON(event.data) as Problem));
        }
      }
    } catch (err) {
      if (signal.aborted) return;
      const fault = err instanceof Fault ? err : null;
      on.stale(fault);
      if (fault && fault.status >= 400 && fault.status < 500 && fault.status !== 429) return; // the same question fails again
    }
    await pause(Math.min(1000 * 2 ** failed, 15_000), signal).catch(() => {});
  }
}

interface Event { id: string; name: string; data: string }

const silence = 45_000; // ms without a byte, after which a stream counts as broken: the server sends something every 15 s

async function* events(response: Response, signal: AbortSignal): AsyncGenerator<Event> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (!signal.aborted) {
      let silent = false;
      const timer = setTimeout(() => { silent = true; reader.cancel().catch(() => {}); }, silence);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (silent) throw new Fault({ type: "", title: "", status: 0, detail: "" });
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const event: Event = { id: "", name: "", data: "" };
        for (const line of rest.slice(0, end).split("\n")) {
          if (line.startsWith("id: ")) event.id = line.slice(4);
          if (line.startsWith("event: ")) event.name = line.slice(7);
          if (line.startsWith("data: ")) event.data += line.slice(6);
        }
        rest = rest.slice(end + 2);
        if (event.name) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** A name that nobody else has: the browser has randomUUID only for pages that come by TLS. */
export const freshName = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join("-");

/** Accepted, and applied or not: what became of a command. */
export interface Outcome { command: Command; row: Row | null; stale: boolean }

/** The keys of commands that have no answer yet. */
export interface Keys { get: (command: string) => string; set: (command: string, key: string) => void }

/**
 * Gives a command upon a row as it was seen, and reads the row as it is then; null: it is not there any more. Until that has an answer, the same
 * command is given under the same key, and so done once however often somebody gives it.
 */
export async function give(table: Table, row: Row, name: string, fields: Record<string, string>, reason: string | undefined, keys: Keys): Promise<Outcome> {
  const path = `${table.path}/rows/${encodeURIComponent(row.row)}`, to = `${path}/commands/${encodeURIComponent(name)}`, match = `"${row.state_version ?? row.version}"`;
  const same = JSON.stringify([to, match, fields]), key = keys.get(same) || freshName();
  keys.set(same, key);
  const asked: Asked = { method: "POST", again: true, reason, headers: { "If-Match": match, "Idempotency-Key": key } };
  if (Object.keys(fields).length > 0) asked.body = { fields };
  let command: Command, location: string;
  try {
    ({ command, location } = await sent(to, asked, async (accepted) =>
      ({ command: await jsonOf<Command>(accepted), location: accepted.headers.get("Location") ?? "" })));
  } catch (err) {
    if (err instanceof Fault && isRefusal(err)) keys.set(same, "");
    throw err;
  }
  for (let n = 0; !command.token && command.state === "accepted" && n < 40; n++) {
    await pause(50 + 25 * n);
    command = await ask<Command>(location);
  }
  const headers: Record<string, string> = command.token ? { "Brine-After": command.token } : {};
  let read: { row: Row | null; stale: boolean } = { row: null, stale: true };
  for (let n = 0; read.stale && n < (command.token ? 5 : 1); n++) { // each waits for some seconds
    try {
      read = await sent(path, { headers, reason }, async (response) =>
        ({ row: await jsonOf<Row>(response), stale: !command.token || response.headers.get("Brine-Stale") === "true" }));
    } catch (err) {
      if (!(err instanceof Fault) || err.status !== 404) throw err;
      read = { row: null, stale: false };
    }
  }
  if (command.token) command = await ask<Command>(location);
  keys.set(same, "");
  return { command, ...read };
}

/** Whether a command was refused for good: it is not done, and given again it is another one. */
const isRefusal = (fault: Fault): boolean => fault.status >= 400 && fault.status < 500 && ![401, 408, 429].includes(fault.status) && fault.kind !== "running"
  && fault.kind !== "other-account";
