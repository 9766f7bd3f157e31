// A brine dev of its own, on free ports, and what tests do with it beside the browser.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const brine = process.env.BRINE ?? "../bin/brine";

/** Starts brine dev, and returns when all of its sample is written. */
export async function startDev() {
  const child = spawn(brine, ["dev"], { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  const find = (pattern) => {
    const found = pattern.exec(out);
    if (!found) throw new Error(`brine dev has not printed ${pattern}:\n${out}`);
    return found[1];
  };
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("brine dev has not written its sample in time:\n" + out)), 120_000);
    child.on("exit", (code) => reject(new Error(`brine dev has ended with ${code}:\n${out}`)));
    child.stdout.on("data", (text) => {
      out += text;
      if (out.includes("Ctrl-C stops.")) { clearTimeout(late); resolve(); }
    });
  });
  child.removeAllListeners("exit");
  const passwords = Object.fromEntries(["customer", "support", "admin"].map((name) => [name, find(new RegExp(`^  ${name} +(\\S+)`, "m"))]));
  return {
    users: find(/[;,] console on (http:\/\/[^\s;,]+)/), operators: find(/operators' console on (http:\/\/[^\s;,]+)/),
    pid: child.pid, passwords, brokers: find(/^Kafka on ([^\s,]+)/m), hbase: find(/HBase on (rpc:\/\/[^\s,]+)/),
    stop: () => new Promise((resolve) => {
      if (child.exitCode !== null) { resolve(); return; }
      child.on("exit", resolve);
      child.kill("SIGTERM");
    }),
  };
}

/** A brine run on the servers of a dev, with a file of its own: its scans as the dev's, and whatever stands behind each pipeline's topic. */
export async function startRun(dev, more = "") {
  const dir = await mkdtemp(join(tmpdir(), "console-run-")), file = join(dir, "brine.yaml");
  const write = (more, key = "md5(waybill, 4)") => writeFile(file, `
kafka: { brokers: ["${dev.brokers}"], group: console-run }
hbase: { connect: "${dev.hbase}" }
http: { listen: "127.0.0.1:0" }
serve: { listen: "127.0.0.1:0", ops: { listen: "127.0.0.1:0" } }
accounts: { connect: "embedded:${join(dir, "accounts")}" }
memory: 48MiB
tables:
  logistics:scans:
    row: event
    key: ${key} + waybill + "|" + desc(at, ms) + "|" + action
    families: { e: { versions: 1, bloom: row } }
    regions: 16
pipelines:
  scans:
    topic: courier.scans
    fields: { waybill: text, action: text, station: text, at: time_ms, courier: text }
    version: at
    rows: [ { table: logistics:scans, set: { "e:s": station, "e:a": action, "e:c": courier } } ]
${more}`);
  await write(more);
  for (const name of ["support", "admin"]) {
    const added = spawnSync(brine, ["account", "add", name, "--role", name, "-c", file], { input: dev.passwords[name] + "\n", encoding: "utf8" });
    if (added.status !== 0) throw new Error(`brine account add: ${added.status} ${added.stderr}`);
  }
  const child = spawn(brine, ["run", "-c", file, "--serve", "--quiet"], { stdio: ["ignore", "ignore", "pipe"] });
  let err = "";
  const [operators, users] = await new Promise((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`brine run has ended with ${code}:\n${err}`)));
    child.stderr.on("data", (text) => {
      err += text;
      const found = /operators' port on (\S+)\nbrine: serving (\S+)\/api\/v1\/docs/.exec(err);
      if (found) resolve(found.slice(1));
    });
  });
  child.removeAllListeners("exit");
  return {
    operators, users, write,
    stop: async () => {
      if (child.exitCode === null) await new Promise((resolve) => { child.on("exit", resolve); child.kill("SIGTERM"); });
      await rm(dir, { recursive: true });
    },
  };
}

let files = 0;

/** Publishes records, as the shop and its couriers do. */
export async function publish(dev, topic, key, records) {
  const dir = await mkdtemp(join(tmpdir(), "console-"));
  try {
    const file = join(dir, `${++files}.jsonl`);
    await writeFile(file, records.map((r) => JSON.stringify(r)).join("\n") + "\n");
    await new Promise((resolve, reject) => {
      const child = spawn(brine, ["publish", "--brokers", dev.brokers, "--topic", topic, "--key", key, "--name", `console-${process.pid}-${files}`, file],
        { stdio: ["ignore", "ignore", "pipe"] });
      let err = "";
      child.stderr.on("data", (text) => { err += text; });
      child.on("exit", (code) => code === 0 ? resolve() : reject(new Error(`brine publish: ${code} ${err}`)));
    });
  } finally {
    await rm(dir, { recursive: true });
  }
}
