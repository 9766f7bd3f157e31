// A hot region on real servers, from the first write that makes it hot until it is calm again, seen in the console: `make console-film` runs
// it. It needs Kafka, HBase and Elasticsearch of deploy/devcluster, and starts a MariaDB of its own. What it sees it measures, and the
// pictures are those of docs/console.md.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { access, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const brine = process.env.BRINE ?? "../bin/brine";
const run = process.env.DEVCLUSTER_RUN ?? "../deploy/devcluster/run";
const out = process.env.FILM ?? "../docs/images";
const patience = 60_000; // ms, of one step
const soon = 10_000; // ms, within which a hot region is to be seen
const couriers = 40, hot = "C17", rate = 400, hotRate = 400; // scans a second of all couriers, and of the busy one besides
const listed = 1_000; // ms, after which the busy one's producer is listed among who writes most
const seconds = 600; // that the scans last at most
const actions = ["PICKED_UP", "LOADED", "ARRIVED_AT", "SIGNED"];
const tall = { width: 1100, height: 1250 };
const password = "the film's password";
const name = `film_${Date.now().toString(36)}`, table = name, topic = `${name}.scans`;

const ends = []; // what to end, the last first
const dir = await mkdtemp(join(tmpdir(), "console-film-"));
ends.push(() => rm(dir, { recursive: true }));
try {
  await film();
} finally {
  for (const end of ends.reverse()) await end();
}

function secondsOf(ms) { return `${(ms / 1000).toFixed(1)} s`; }

function say(text) { console.log(`console-film: ${text}`); }

async function film() {
  const servers = Object.fromEntries((await readFile(join(run, "env"), "utf8")).split("\n").filter(Boolean).map((line) => /^(\w+)='?(.*?)'?$/.exec(line).slice(1)));
  const accounts = await startMariaDB();
  const file = join(dir, "brine.yaml");
  await writeFile(file, configuration(servers, accounts));
  command("tables", "apply", "--yes", "-c", file);
  command("account", "add", "admin", "--role", "admin", "-c", file);
  await writeFile(join(dir, "first.jsonl"), scan("C00", 0, Date.now()) + "\n");
  command("publish", "--brokers", servers.BRINE_REAL_KAFKA, "--topic", topic, "--key", "waybill", join(dir, "first.jsonl")); // it makes the topic
  const operators = await startBrine(file);
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"] });
  ends.push(() => browser.close());
  await publish("all", rate, () => `C${String(Math.floor(Math.random() * couriers)).padStart(2, "0")}`);
  const page = await open(browser, operators);

  // calm: all regions take what they should
  await page.goto(`${operators}/regions?minutes=15&table=${encodeURIComponent(table)}`);
  await page.locator(".heat canvas").waitFor();
  await until(async () => (await loads(page)).every((load) => load > rate / 6), "every region is written");
  await page.locator("text=Nothing is hot now").waitFor();
  await picture(page, "1-calm");

  // a courier becomes busy
  let seen = 0;
  const bright = new Promise((found) => page.on("response", async (response) => {
    if (!response.url().includes("/heat?") || seen) return;
    const heat = await response.json().catch(() => null);
    const last = heat?.rows.map((line) => line.at(-1) ?? 0) ?? [];
    if (Math.max(...last) < 2 * Math.min(...last)) return;
    seen = Date.now();
    found();
  }));
  const calm = await producers(page);
  await publish("busy", hotRate, () => hot);
  // A producer is listed once it has a hundredth of the records of a minute: half a second of the busy one's.
  let began = 0;
  await until(async () => {
    const asked = Date.now();
    if ((await producers(page)).some((id) => !calm.includes(id))) began = asked - listed;
    return began > 0;
  }, "the busy courier is written");
  const marked = page.locator(".heat .spot").waitFor().then(() => Date.now());
  await Promise.race([marked, bright]);
  const first = Date.now() - began;
  say(`it is seen on the map ${secondsOf(first)} after the first hot write`);
  await bright;
  say(`its range is twice as bright as another ${secondsOf(seen - began)} after it`);
  say(`it is marked ${secondsOf(await marked - began)} after it`);
  const cause = await page.locator(".hotspot strong").first().innerText();
  say(`the cause: ${cause}`);
  assert.equal(cause, "one heavy key");
  assert.ok(first <= soon, `the map shows it after ${first} ms`);
  await page.locator("button:text('Split the region')").waitFor();
  await picture(page, "2-hot");

  // what is advised is done from the page
  const before = (await loads(page)).length;
  await page.click("button:text('Split the region')");
  await page.locator("dialog >> text=Both halves stay").waitFor();
  await picture(page, "3-preview");
  await page.click("dialog >> button:text('Split the region')");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".badge:text('done')").waitFor();
  await picture(page, "4-done");
  const applied = Date.now();

  // calm again, while the courier is as busy as before
  await page.goto(`${operators}/regions?minutes=15&table=${encodeURIComponent(table)}`);
  await until(async () => (await loads(page)).length === before + 1, "the region is split");
  await page.locator("text=Nothing is hot now").waitFor();
  await page.waitForTimeout(15_000); // and stays so
  await page.locator("text=Nothing is hot now").waitFor();
  say(`calm ${((Date.now() - applied) / 1000).toFixed(0)} s after it was split, with ${before + 1} regions instead of ${before}`);
  await picture(page, "5-calm");
}

/** What runs: rows in HBase, documents in Elasticsearch, accounts in MariaDB. */
function configuration(servers, accounts) {
  return `
kafka: { brokers: ["${servers.BRINE_REAL_KAFKA}"], group: ${name} }
hbase: { connect: "${servers.BRINE_REAL_HBASE}" }
search: { connect: "${servers.BRINE_REAL_ELASTICSEARCH}" }
accounts: { connect: "mysql://${accounts}/brine", user: root }
http: { listen: "127.0.0.1:0" }
serve: { listen: "127.0.0.1:0", ops: { listen: "127.0.0.1:0" } }
map: { history: ${name}_maps }
memory: 96MiB
tables:
  ${table}:
    row: event
    key: courier + "|" + waybill + "|" + action
    families: { e: { bloom: row } }
    splits: [C13, C26]
indexes:
  ${name}:
    fields: { waybill: keyword, courier: keyword, station: keyword, at: date }
pipelines:
  scans:
    topic: ${topic}
    fields: { waybill: text, action: text, station: text, at: time_ms, courier: text }
    version: at
    changes: whole
    rows: [ { table: "${table}", set: { "e:s": station } } ]
    documents: [ { index: ${name}, table: "${table}", set: { waybill: waybill, courier: courier, station: station, at: at } } ]
`;
}

/** Runs a command of brine to its end. */
function command(...args) {
  const done = spawnSync(brine, args, { input: password + "\n", encoding: "utf8" });
  if (done.status !== 0) throw new Error(`brine ${args.join(" ")}: ${done.status} ${done.stdout}${done.stderr}`);
}

/** Starts a process that ends with the film; done is when its output has what is looked for, which it returns. */
function start(program, args, find, env = process.env) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let text = "";
  const ended = new Promise((resolve) => { child.on("exit", resolve); });
  ends.push(async () => { child.kill("SIGTERM"); await ended; });
  return new Promise((found, failed) => {
    const late = setTimeout(() => failed(new Error(`${program} ${args[0]} is not ready in time:\n${text}`)), 3 * patience);
    const take = (part) => {
      text = (text + part).slice(-20_000);
      const match = find.exec(text);
      if (match) { clearTimeout(late); found(match[1]); }
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", failed);
    child.on("exit", (code) => {
      clearTimeout(late);
      if (code !== 0) say(`${program} ${args[0]} has ended with ${code}:\n${text}`);
      failed(new Error(`${program} ${args[0]} has ended with ${code}`));
    });
  });
}

function startBrine(file) { return start(brine, ["run", "-c", file, "--serve", "--quiet"], /operators' port on (\S+)/); }

/** A MariaDB of its own, from the machine's packages or those of deploy/devcluster. */
async function startMariaDB() {
  let root = "/";
  const own = resolve("../deploy/devcluster/lib/mariadb");
  if (await access("/usr/sbin/mariadbd").then(() => false, () => true)) root = own;
  const libraries = root === "/" ? [] : (await readdir(join(root, "usr/lib"))).filter((one) => one.endsWith("-linux-gnu")).map((one) => join(root, "usr/lib", one));
  const env = { ...process.env, PATH: `${join(root, "usr/bin")}:${join(root, "usr/sbin")}:${process.env.PATH}`, TMPDIR: dir,
    ...libraries.length > 0 ? { LD_LIBRARY_PATH: libraries[0] } : {} };
  const base = `--basedir=${join(root, "usr")}`, data = `--datadir=${join(dir, "accounts")}`, socket = `--socket=${join(dir, "s")}`;
  const made = spawnSync(join(root, "usr/bin/mariadb-install-db"), ["--no-defaults", base, data, "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db"],
    { env, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`mariadb-install-db: ${made.error ?? ""} ${made.stdout}${made.stderr}`);
  const port = await freePort();
  await start(join(root, "usr/sbin/mariadbd"), ["--no-defaults", base, `--lc-messages-dir=${join(root, "usr/share/mysql")}`, data, socket, "--user=root", `--port=${port}`,
    "--bind-address=127.0.0.1", `--pid-file=${join(dir, "accounts/pid")}`, "--innodb-buffer-pool-size=32M", "--skip-log-bin"], /(ready for connections)/, env);
  const created = spawnSync(join(root, "usr/bin/mariadb"), ["--no-defaults", socket, "--user=root", "--execute=CREATE DATABASE brine"], { env, encoding: "utf8" });
  if (created.status !== 0) throw new Error(`mariadb: ${created.stderr}`);
  return `127.0.0.1:${port}`;
}

function freePort() {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => { const { port } = server.address(); server.close(() => found(port)); });
  });
}

/** Publishes scans at a rate until the film ends; returned is a time before the first of them. */
async function publish(who, perSecond, courier) {
  const file = join(dir, `${who}.jsonl`), at = Date.now();
  await writeFile(file, Array.from({ length: perSecond * seconds }, (_, n) => scan(courier(), n, at + n)).join("\n") + "\n");
  const began = Date.now();
  const child = spawn(brine, ["publish", "--brokers", await brokers(), "--topic", topic, "--key", "waybill", "--rate", String(perSecond), "--name", `${name}-${who}`, file],
    { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => { child.on("exit", resolve); });
  ends.push(async () => { child.kill("SIGTERM"); await ended; });
  return began;
}

/** A courier's scan of some waybill. */
function scan(courier, n, at) {
  return JSON.stringify({ waybill: `YD${Math.random().toString(36).slice(2, 10).toUpperCase()}`, action: actions[n % actions.length], station: `S${n % 30}`, at, courier });
}

async function brokers() { return /BRINE_REAL_KAFKA=(\S+)/.exec(await readFile(join(run, "env"), "utf8"))[1]; }

/** A page of somebody who is signed in. */
async function open(browser, operators) {
  const context = await browser.newContext({ viewport: tall, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce" });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  await page.goto(operators + "/signin");
  await page.fill("[name=name]", "admin");
  await page.fill("[name=password]", password);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/signin"));
  return page;
}

/** Rows a second of the table's regions, as the API says them. */
function loads(page) {
  return page.evaluate(async (of) => (await (await fetch(`/api/v1/ops/tables/${encodeURIComponent(of)}/skew`)).json()).tables[0]?.regions.map((r) => r.rows_per_second) ?? [], table);
}

/** The producers that the API lists among who writes most. */
function producers(page) {
  return page.evaluate(async (of) => (await (await fetch(`/api/v1/ops/tables/${encodeURIComponent(of)}/skew`)).json()).tables[0].writers.map((one) => one.producer), table);
}

async function until(holds, what) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail(`not in time: ${what}`);
}

async function picture(page, of) {
  const path = join(out, `console-film-${of}.png`);
  await page.screenshot({ path });
  const { size } = await stat(path);
  assert.ok(size <= 150_000, `${path} is too large: ${size}`);
  say(`${path}: ${Math.round(size / 1024)} KiB`);
}
