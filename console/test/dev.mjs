// A brine dev of its own, on free ports, and what tests do with it beside the browser.
import { spawn } from "node:child_process";
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
    pid: child.pid, passwords, brokers: find(/^Kafka on ([^\s,]+)/m),
    stop: () => new Promise((resolve) => {
      if (child.exitCode !== null) { resolve(); return; }
      child.on("exit", resolve);
      child.kill("SIGTERM");
    }),
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
