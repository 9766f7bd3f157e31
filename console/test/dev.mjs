// A brine dev of its own, on free ports, and what tests do with it beside the browser.
import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const brine = process.env.BRINE ?? "../bin/brine";
let files = 0;

/** Starts brine dev with these flags, and returns when all of its sample is written. */
export async function startDev(...flags) {
  const child = spawn(brine, ["dev", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
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
  passwords.operator = "an operator's long password";
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

/** An OpenID provider that takes everybody for the person that a test names, and leads back to the address that it names. */
export async function startCompany() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const company = { person: "zoe", group: "desk", back: "", asked: 0 };
  const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  let nonce;
  const server = createServer((request, response) => {
    const url = new URL(request.url, company.issuer), json = (value) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
    if (url.pathname === "/authorize") {
      company.asked++;
      nonce = url.searchParams.get("nonce");
      response.writeHead(302, { Location: `${company.back}/api/v1/session/oidc/return?code=x&state=${encodeURIComponent(url.searchParams.get("state"))}` }).end();
    } else if (url.pathname === "/keys") json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" }] });
    else if (url.pathname === "/token") {
      const now = Math.floor(Date.now() / 1000);
      const text = `${encoded({ alg: "RS256", kid: "k" })}.${encoded({ iss: company.issuer, aud: "brine", sub: company.person, iat: now, exp: now + 60, nonce,
        preferred_username: company.person, groups: company.group })}`;
      json({ access_token: "a", token_type: "Bearer", id_token: `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}` });
    } else json({ issuer: company.issuer, authorization_endpoint: company.issuer + "/authorize", token_endpoint: company.issuer + "/token", jwks_uri: company.issuer + "/keys" });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  company.issuer = `http://127.0.0.1:${server.address().port}`;
  company.stop = () => { server.closeAllConnections(); return new Promise((resolve) => server.close(resolve)); };
  return company;
}

/** The file of a brine on the servers of a dev: its scans as the dev's, of this topic, and whatever stands behind that. */
async function fileOn(dev, { topic = "courier.scans", group = "console-run", accounts = "" } = {}) {
  const dir = await mkdtemp(join(tmpdir(), "console-run-")), file = join(dir, "brine.yaml");
  const write = (more, key = "md5(waybill, 4)") => writeFile(file, `
kafka: { brokers: ["${dev.brokers}"], group: ${group} }
hbase: { connect: "${dev.hbase}" }
http: { listen: "127.0.0.1:0" }
serve: { listen: "127.0.0.1:0", ops: { listen: "127.0.0.1:0" } }
accounts:
  connect: "embedded:${join(dir, "accounts")}"
${accounts}
memory: 48MiB
tables:
  logistics:scans:
    row: event
    key: ${key} + waybill + "|" + desc(at, ms) + "|" + action
    families: { e: { versions: 1, bloom: row } }
    regions: 16
pipelines:
  scans:
    topic: ${topic}
    fields: { waybill: text, action: text, station: text, at: time_ms, courier: text }
    version: at
    rows: [ { table: logistics:scans, set: { "e:s": station, "e:a": action, "e:c": courier } } ]
${more}`);
  return { dir, file, write };
}

/** Writes records of a topic of their own into the table of scans: no record of its own topic accounts for them. */
export async function writeElsewhere(dev, records) {
  const topic = `console.elsewhere.${++files}`, { dir, file, write } = await fileOn(dev, { topic, group: topic });
  try {
    await publish(dev, topic, "waybill", records);
    await write("");
    const ran = spawnSync(brine, ["run", "-c", file, "--until-end", "--quiet"], { encoding: "utf8", timeout: 60_000 });
    if (ran.status !== 0) throw new Error(`brine run --until-end: ${ran.status} ${ran.stderr}`);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** A brine run that serves, or with runs: false a brine serve, on the servers of a dev; with a company, that signs people in at this address. */
export async function startRun(dev, more = "", { company, url, runs = true, group } = {}) {
  const accounts = company ? `  oidc: { issuer: "${company.issuer}", client_id: brine, client_secret: hush, url: "${url}", name: Example Ltd, roles: { desk: support, ops: operator } }` : "";
  const { dir, file, write } = await fileOn(dev, { group, accounts });
  await write(more);
  for (const name of ["support", "operator", "admin"]) {
    const added = spawnSync(brine, ["account", "add", name, "--role", name, "-c", file], { input: dev.passwords[name] + "\n", encoding: "utf8" });
    if (added.status !== 0) throw new Error(`brine account add: ${added.status} ${added.stderr}`);
  }
  const child = spawn(brine, runs ? ["run", "-c", file, "--serve", "--quiet"] : ["serve", "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
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
