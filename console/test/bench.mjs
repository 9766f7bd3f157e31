// What the console costs, measured in Chromium on a brine dev of its own; one line of JSON, in which whatever varies is a list of all that
// was measured. `make bench-console` runs it.
import { readFile, readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { startDev } from "./dev.mjs";

const patience = 60_000;
const visits = Number(process.env.VISITS ?? 10);
const drawn = 3_000, drawings = 5; // ms that frames are counted for, and how often
const map = { ranges: 1536, columns: 1440 };
const orders = 10_000;
const hour = 3600, hours = 5; // events of one: the server looks once a second
const idle = Number(process.env.IDLE ?? 15_000), idleTurns = 8; // ms with a console that is open, and twice without

const dev = await startDev();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"],
});
try {
  const out = { chromium: browser.version(), ...await sizes(), ...await paints(), ...await panning(), ...await scrolling(), ...await growth(), ...await resting() };
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
  await dev.stop();
}

function say(text) { console.error(`bench-console: ${text}`); }

/** What something gives, again and again. */
async function repeated(times, something) {
  const list = [];
  for (let n = 0; n < times; n++) list.push(await something());
  return list;
}

/** A browser profile in which somebody is signed in; the operators' files are not in its cache. */
async function profile(name) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, locale: "en-GB", reducedMotion: "reduce" });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  await page.goto(dev.users + "/signin");
  const status = await page.evaluate(async ([name, password]) => (await fetch("/api/v1/session",
    { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name, password }) })).status, [name, dev.passwords[name]]);
  if (status !== 200) throw new Error(`${name} cannot sign in: ${status}`);
  return { context, page };
}

/** Of gzip's bytes: the larger of the two shells, each with the larger of its languages, and all files. */
async function sizes() {
  let shell = 0, all = 0;
  for (const of of ["users", "operators"]) {
    const index = await readFile(`dist/${of}/index.html`);
    let own = gzipSync(index).length, texts = 0;
    all += own;
    for (const name of await readdir(`dist/${of}/assets`)) {
      const n = gzipSync(await readFile(`dist/${of}/assets/${name}`)).length;
      all += n;
      if (index.includes(name)) own += n;
      else if (/^(en|zh)-/.test(name)) texts = Math.max(texts, n);
    }
    shell = Math.max(shell, own + texts);
  }
  return { shell_kb: shell / 1024, all_kb: all / 1024 };
}

/** From the navigation until the frame in which the pipelines are seen. */
async function paint(page) {
  await page.addInitScript(() => {
    const seen = new MutationObserver(() => {
      if (!document.querySelector(".sheet .reading")) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
    });
    seen.observe(document, { childList: true, subtree: true });
  });
  await page.goto(dev.operators + "/overview");
  return (await page.waitForFunction(() => window.painted)).jsonValue();
}

async function paints() {
  const first = [], second = [];
  for (let n = 0; n < visits; n++) {
    const { context, page } = await profile("admin");
    await page.close();
    const one = await context.newPage(); // each visit is a new page
    first.push(await paint(one));
    await one.close();
    second.push(await paint(await context.newPage()));
    await context.close();
  }
  say(`first visits ${first.map(Math.round)} ms, second visits ${second.map(Math.round)} ms`);
  return { first_visits_ms: first, second_visits_ms: second };
}

/** Frames a second while a step, a statement of n, is done in each. */
function frames(page, step) {
  return page.evaluate(`new Promise((resolve) => {
    let n = 0, began = 0;
    const turn = (now) => {
      began ||= now;
      if (now - began >= ${drawn}) { resolve(n / (now - began) * 1000); return; }
      n++;
      ${step}
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  })`);
}

/** A map with a quarter of its cells in sight, dragged by some pixels in each frame. */
async function panning() {
  const { context, page } = await profile("admin");
  const line = (of) => "[" + Array.from({ length: map.ranges }, (_, r) => "[" + Array.from({ length: map.columns }, (_, c) => (r * 31 + c * 17) % 97 < of ? (r + c) % 50 : 0).join() + "]").join() + "]";
  const body = `{"table":"logistics:scans","most":50,"starts":${JSON.stringify(Array.from({ length: map.ranges }, (_, r) => r === 0 ? "" : r.toString(16).padStart(4, "0")))},`
    + `"times":${JSON.stringify(Array.from({ length: map.columns }, (_, c) => new Date(Date.UTC(2026, 0, 1) + c * 60_000).toISOString()))},"rows":${line(60)},"bytes":${line(40)}}`;
  await page.route("**/heat?*", (route) => route.fulfill({ status: 200, contentType: "application/json", body }));
  await page.goto(dev.operators + "/regions?table=logistics%3Ascans");
  const canvas = page.locator(".heat canvas");
  await canvas.waitFor();
  await page.click("text=Zoom in");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox(), x = box.x + box.width / 2, y = box.y + box.height / 2;
  await page.mouse.move(x, y);
  await page.mouse.down();
  const fps = await repeated(drawings, () => frames(page, `document.querySelector(".heat canvas").dispatchEvent(new PointerEvent("pointermove", { bubbles: true, pointerId: 1,
    clientX: ${x} + 200 * Math.sin(n / 20), clientY: ${y} + 100 * Math.cos(n / 30) }));`));
  await page.mouse.up();
  await context.close();
  say(`panning ${fps.map((f) => f.toFixed(1))} frames/s`);
  return { panning_fps: fps };
}

/** The list of many orders, scrolled by two of them in each frame. */
async function scrolling() {
  const { context, page } = await profile("customer");
  const rows = Array.from({ length: orders }, (_, i) => ({ row: `row${i}`, version: 1, state_version: 1, state: "paid",
    fields: { order: `G${i}`, user: "u00042", status: "paid", created: "2026-01-01T00:00:00Z", total: i, lines: 1 } }));
  await page.route("**/views/user-orders?*", (route) => route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify({ rows, next_page_token: "" }) }));
  await page.goto(dev.users + "/orders");
  await page.locator("text=All 10,000 shown").waitFor({ state: "attached" });
  const fps = await repeated(drawings, async () => {
    await page.evaluate("scrollTo(0, 0)");
    return frames(page, "scrollBy(0, 128); window.mostItems = Math.max(window.mostItems ?? 0, document.querySelectorAll('.rows li').length);");
  });
  const items = await page.evaluate(() => window.mostItems);
  await context.close();
  say(`scrolling ${fps.map((f) => f.toFixed(1))} frames/s, at most ${items} orders in the page`);
  return { scrolling_fps: fps, scrolling_items: items };
}

/** The pages that stay open: where a browser comes from, the stream, its nth event, how the page is opened, and what its last event shows. */
function staying() {
  return {
    grown_mib: {
      who: "admin", from: dev.operators + "/audit", there: "tbody tr", stream: "**/ops/pipelines/events", name: "state",
      events: async (page) => {
        const pipelines = await pipelinesOf(page);
        return (n) => {
          for (const p of pipelines.pipelines) for (const h of p.halves) h.lag = n;
          return pipelines;
        };
      },
      open: (page) => page.click("nav >> text=Overview"),
      last: `dd:text-is("${(hour - 1).toLocaleString("en-GB")}")`,
    },
    timeline_grown_mib: {
      who: "customer", from: dev.users + "/track", there: "textarea", stream: "**/views/*/events?*", name: "page",
      events: () => {
        const scan = (n) => ({ row: `row${n}`, version: n, fields: { waybill: "W1", action: `E${n}`, station: `S${n % 7}`, courier: "C1", at: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString() } });
        return (n) => ({ rows: Array.from({ length: 50 }, (_, i) => scan(n - i)), next_page_token: "" }); // each event brings a scan, and the oldest one goes
      },
      open: async (page) => {
        await page.fill("textarea", "W1");
        await page.press("textarea", "Enter");
      },
      last: `.stations strong:text-is("E${hour - 1}")`,
    },
  };
}

async function growth() {
  const out = {};
  for (const [name, page] of Object.entries(staying())) {
    out[name] = await repeated(hours, () => grownBy(page));
    say(`${hour} events: ${name} ${out[name].map((g) => g.toFixed(2))}`);
  }
  return out;
}

/** How much a page grows by an hour's events, in MiB. */
async function grownBy(of) {
  const { context, page } = await profile(of.who);
  const event = await of.events(page);
  let asked = 0;
  await page.route(of.stream, (route) => {
    if (asked++ > 0) return; // it stays open
    const events = Array.from({ length: hour }, (_, n) => `id: ${n}\nevent: ${of.name}\ndata: ${JSON.stringify(event(n))}\n\n`);
    return route.fulfill({ status: 200, contentType: "text/event-stream", body: events.join("") });
  });
  const devtools = await context.newCDPSession(page);
  const used = async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize;
  };
  await page.goto(of.from);
  await page.locator(of.there).first().waitFor();
  const before = await used();
  await of.open(page);
  await page.locator(of.last).first().waitFor();
  const grown = (await used() - before) / 2 ** 20;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.close();
  return grown;
}

async function pipelinesOf(page) {
  await page.goto(dev.operators + "/signin");
  return page.evaluate(async () => (await fetch("/api/v1/ops/pipelines")).json());
}

/** The pages that stay open: those that follow a stream one by one, and the others, of which none asks for anything, all at once. */
function pages() {
  return {
    open: [["admin", dev.operators, "/overview", ".live.on"]],
    regions: [["admin", dev.operators, "/regions?table=logistics%3Ascans", ".heat canvas"]],
    timeline: [["customer", dev.users, "/track?waybill=YD310000000000", ".live.on"]],
    others: [...["/tables", "/dead-letters", "/offsets", "/records", "/replay", "/verify", "/jobs", "/keys", "/sql", "/configuration", "/accounts", "/audit", "/me"]
      .map((path) => ["admin", dev.operators, path, "main h1"]), ["customer", dev.users, "/orders", ".rows li"]],
  };
}

/**
 * What the server takes of a core, in per cent, while pages are open and looked at, and without any, twice: what differs between those
 * two is the machine's. All are in another order in each turn.
 */
async function resting() {
  const spent = async () => { // ns: the ticks of stat would be a third of what is to be seen
    let ns = 0;
    for (const task of await readdir(`/proc/${dev.pid}/task`)) ns += Number((await readFile(`/proc/${dev.pid}/task/${task}/schedstat`, "utf8")).split(" ")[0]);
    return ns;
  };
  const rest = async () => {
    const before = await spent(), began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, idle));
    return (await spent() - before) / (performance.now() - began) / 1e6 * 100;
  };
  const withOpen = async (list) => {
    const profiles = new Map();
    for (const [who, base, path, there] of list) {
      if (!profiles.has(who)) profiles.set(who, await profile(who));
      const { context } = profiles.get(who), page = await context.newPage();
      await page.goto(base + path);
      await page.locator(there).first().waitFor();
    }
    await new Promise((resolve) => setTimeout(resolve, 2000)); // what opening them costs is not meant
    const cost = await rest();
    for (const { context } of profiles.values()) await context.close();
    await new Promise((resolve) => setTimeout(resolve, 2000)); // nor what closing them does
    return cost;
  };
  const turns = { ...Object.fromEntries(Object.entries(pages()).map(([name, list]) => [name, () => withOpen(list)])), without: rest, again: rest };
  const order = Object.keys(turns), cost = Object.fromEntries(order.map((name) => [name, []]));
  for (let n = 0; n < idleTurns; n++) {
    for (const name of order) cost[name].push(await turns[name]());
    order.push(order.shift());
  }
  for (const name of Object.keys(turns)) say(`of a core, ${name}: ${cost[name].map((c) => c.toFixed(2))} %`);
  return { idle_percent: cost };
}
