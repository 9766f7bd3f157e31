// The console in a real Chromium, on a brine dev of its own. What fails leaves a picture in console/shots.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdir, readFile, readdir, stat } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { publish, startCompany, startDev, startRun, writeElsewhere } from "./dev.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = Number(process.env.PATIENCE ?? 60_000); // ms, of one step: the machine may be busy
const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;
const waybill = "YD310000000000";

let dev, browser, sessions = {};
const strays = []; // requests to elsewhere, errors of pages, and what the policy refused

before(async () => {
  [dev, browser] = await Promise.all([startDev("--hbase-nodes", "2"), chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"],
  })]);
  const at = Date.UTC(2026, 5, 1);
  const order = (order, status, n, more = {}) => ({ order, user: "u00042", created: at + n, at: at + n, status, items: "green tea x1 9.00", brand: "brand", lines: 1, total: 9, ...more });
  await publish(dev, "shop.orders", "order", [
    order("C-CONFIRM", "shipped", 5, { items: `${evil}; مرحبا بالعالم x2 1.00; 绿茶 🍵 x1 2.00`, brand: evil, note: evil }),
    order("C-STALE", "paid", 4), order("C-CANCEL", "paid", 3, { items: Array.from({ length: 500 }, (_, i) => `item ${i} x1 1.00`).join("; "), lines: 500 }),
  ]);
  for (const name of ["customer", "support", "admin"]) sessions[name] = await signIn(name);
  const added = await as("admin", "/api/v1/ops/accounts", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "operator", role: "operator", password: dev.passwords.operator }) }, dev.operators);
  assert.equal(added.name, "operator");
  sessions.operator = await signIn("operator");
  // records that cannot be written, for the pages about dead letters
  await publish(dev, "courier.scans", "waybill", [1, 2].map((n) => ({ waybill: `BAD-${n}`, action: evil, station: evil, at: evil, courier: "C1" })));
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-CANCEL")).rows.length === 1, "the orders are written");
  await until(async () => (await as("admin", "/api/v1/ops/dead-letters/summary", {}, dev.operators)).sums?.some((sum) => sum.letters === 2), "the dead letters are written");
}, { timeout: 180_000 });

after(async () => {
  await browser?.close();
  await dev?.stop();
});

async function until(holds, what) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail(`not in time: ${what}`);
}

/** The cookie of a new session. */
async function signIn(name) {
  const response = await fetch(dev.users + "/api/v1/session", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name, password: dev.passwords[name] }),
  });
  assert.equal(response.status, 200);
  return response.headers.get("set-cookie").split(";")[0].split("=");
}

async function as(name, path, init = {}, base = dev.users) {
  const response = await fetch(base + path, { ...init, headers: { ...init.headers, Cookie: sessions[name].join("=") } });
  return { status: response.status, ...await response.json() };
}

/** The part of a map's picture that is as hot as can be. */
function hottestPart(page) {
  return page.evaluate(() => {
    const canvas = document.querySelector(".heat canvas"), { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let [left, top, right, bottom] = [width, height, 0, 0];
    for (let i = 0; i < data.length; i += 4) {
      if (data[i] !== 253 || data[i + 1] !== 231 || data[i + 2] !== 37) continue;
      const x = i / 4 % width, y = Math.floor(i / 4 / width);
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), Math.max(bottom, y + 1)];
    }
    return { left: left / width, top: top / height, right: right / width, bottom: bottom / height };
  });
}

/** Opens a page in a browser profile of its own, as somebody or nobody. */
async function open(t, who, address, { language = "en", theme = "light", width = 1100, elsewhere = [] } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 800 }, locale: language === "zh" ? "zh-CN" : "en-GB", colorScheme: theme, timezoneId: "Asia/Shanghai",
    reducedMotion: "reduce", deviceScaleFactor: 1,
  });
  context.setDefaultTimeout(patience);
  const base = new URL(address).origin;
  const page = await context.newPage();
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "blob:" && !elsewhere.includes(url.origin) && (url.origin !== base || request.resourceType() === "fetch" && !url.pathname.startsWith("/api/v1/"))) strays.push(`asks ${url}`);
  });
  page.on("pageerror", (err) => strays.push(`${address}: ${err}`));
  page.on("console", (message) => { if (/Content Security|Trusted/.test(message.text())) strays.push(`${address}: ${message.text()}`); });
  let finished = false;
  page.finish = async () => {
    if (finished) return;
    finished = true;
    if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" }); // an answer that is still on its way would fail the test
    if (who) await context.request.delete(base + "/api/v1/session"); // an account has fifty sessions, and those of as are the oldest
    await context.close();
  };
  t.after(page.finish);
  if (who) { // browsers take the cookie from the server alone, which a page without the console asks for
    await page.route(base + "/blank", (route) => route.fulfill({ contentType: "text/html", body: "" }), { times: 1 });
    await page.goto(base + "/blank");
    const status = await page.evaluate(async (body) => (await fetch("/api/v1/session",
      { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).status, { name: who, password: dev.passwords[who] });
    assert.equal(status, 200);
  }
  await page.goto(address);
  return page;
}

/** A test whose failure leaves a picture of each page that it has opened. */
function shows(name, body) {
  test(name, { timeout: 150_000 }, async (t) => {
    try {
      await body(t);
    } catch (err) {
      await mkdir("shots", { recursive: true });
      let n = 0;
      for (const context of browser?.contexts() ?? []) {
        for (const page of context.pages()) await page.screenshot({ path: `shots/${name.replace(/\W+/g, "-")}-${++n}.png` }).catch(() => {});
      }
      throw err;
    }
  });
}

const text = (page, selector) => page.locator(selector).first().innerText();

shows("a parcel is followed by anybody, live", async (t) => {
  const page = await open(t, null, dev.users + "/");
  await page.waitForURL("**/track");
  await page.fill("textarea", waybill);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/track?waybill=${waybill}`);
  await page.locator(".live.on").waitFor();
  assert.equal(await page.locator(".stations > li").count(), 6);
  assert.match(await text(page, ".stations > li"), /Signed for/);
  assert.match(await text(page, ".stations > li:nth-child(2)"), /scanned again/);
  await publish(dev, "courier.scans", "waybill", [{ waybill, action: "RETURNED", station: evil, at: Date.UTC(2025, 5, 9), courier: "C1" }]);
  await page.locator(".stations > li:nth-child(7)").waitFor();
  assert.match(await text(page, ".stations > li"), /Returned\s*<img src=x/);
  assert.match(await text(page, ".stations > li .gap"), /6 d 9 h\s*more than a day/);
  await publish(dev, "courier.scans", "waybill", [{ waybill, action: "LOADED", station: "S-LATE", at: Date.UTC(2025, 5, 8), courier: "C1" }]);
  await page.locator(".stations > li:nth-child(2):has-text('S-LATE') >> text=recorded late").waitFor();
  assert.equal(await page.locator(".stations >> text=recorded late").count(), 1, "what came in its order is not late");
});

shows("of a parcel with more scans than a page, those that are deleted go, and the oldest ones are not kept for ever", async (t) => {
  const page = await open(t, null, dev.users + "/");
  const scan = (n) => ({ row: `r|${String(9_999 - n).padStart(5, "0")}`, version: 1, fields: { waybill: "LONG-1", at: new Date(Date.UTC(2026, 4, 1) + n * 60_000).toISOString().replace(".000", ""), station: `S${n}`, action: "LOADED" } });
  const pageOf = (newest, ...gone) => ({ rows: Array.from({ length: 100 + gone.length }, (_, i) => newest - i).filter((n) => !gone.includes(n)).map(scan), next_page_token: "more" });
  let pages = [pageOf(2_000)], given = 0;
  await page.route("**/views/waybill/events?*", async (route) => {
    while (given >= pages.length && !page.isClosed()) await new Promise((resolve) => setTimeout(resolve, 50));
    if (page.isClosed()) return;
    const from = given;
    given = pages.length;
    await route.fulfill({ contentType: "text/event-stream", body: pages.slice(from).map((one, i) => `id: ${from + i}\nevent: page\ndata: ${JSON.stringify(one)}\n\n`).join("") });
  });
  await page.route("**/views/waybill?*", (route) => route.fulfill({ json: { ...pageOf(1_900), next_page_token: "more still" } }));
  const stations = () => page.locator(".stations .what span").allInnerTexts();
  const down = (from, n, ...gone) => Array.from({ length: n }, (_, i) => from - i).filter((one) => !gone.includes(one)).map((one) => `S${one}`);
  await page.goto(dev.users + "/track?waybill=LONG-1");
  await page.locator(".stations > li").nth(99).waitFor();
  await page.click("text=Load more");
  await page.locator(".stations > li").nth(199).waitFor();
  assert.deepEqual(await stations(), down(2_000, 200));
  pages.push(pageOf(2_000, 1_990, 1_980)); // two are deleted
  await until(async () => (await stations()).length < 200, "two are gone");
  assert.deepEqual(await stations(), down(2_000, 200, 1_990, 1_980));
  pages.push(pageOf(2_001, 1_990, 1_980)); // one is new: the page's last is behind it now
  await page.locator(".stations >> text=S2001").waitFor();
  assert.deepEqual(await stations(), down(2_001, 201, 1_990, 1_980));
  for (let newest = 2_100; newest <= 3_000; newest += 100) pages.push(pageOf(newest));
  await page.locator(".stations >> text=S3000").waitFor();
  await until(async () => (await stations()).length === 1_000, "a thousand are left");
  assert.equal((await stations()).at(-1), "S2001");
  assert.equal(await page.locator("text=Load more").count(), 0);
  await page.close(); // its last question has no answer
});

shows("scans are late that were recorded after one of a later time, where rows hold when that was", async (t) => {
  const page = await open(t, null, dev.users + "/");
  const scan = (station, at, recorded) => ({ row: station, version: 1, fields: { waybill: "LATE-1", at: `2026-05-01T${at}:00Z`, station, action: "LOADED", courier: "C1", ...recorded && { recorded: `2026-05-01T${recorded}:00Z` } } });
  const rows = [scan("S6", "16:00", "16:01"), scan("S5", "15:00", "16:01"), scan("S4", "14:00", "17:00"), scan("S3", "13:00", "16:30"), scan("S2", "12:00"), scan("S1", "11:00", "11:01")];
  await page.route("**/views/waybill/events?*", (route) => route.fulfill({ contentType: "text/event-stream",
    body: `id: 1\nevent: page\ndata: ${JSON.stringify({ rows, next_page_token: "" })}\n\n` }));
  await page.goto(dev.users + "/track?waybill=LATE-1");
  await page.locator(".stations > li >> nth=5").waitFor();
  const late = await page.locator(".stations > li").evaluateAll((all) => all.filter((li) => li.innerText.includes("recorded late")).map((li) => li.querySelector(".what span").innerText));
  assert.deepEqual(late, ["S4", "S3"]);
});

shows("a parcel with more scans than a page is shown whole", async (t) => {
  const long = "LONG-777", at = Date.UTC(2026, 4, 1), scan = (n) => ({ waybill: long, action: "ARRIVED_AT", station: `S${n}`, at: at + n * 60_000, courier: "C1" });
  await publish(dev, "courier.scans", "waybill", Array.from({ length: 250 }, (_, n) => scan(n)));
  await until(async () => (await as("customer", `/api/v1/views/waybill?waybill=${long}&page_size=250`)).rows?.length === 250, "all are written");
  const page = await open(t, null, dev.users + `/track?waybill=${long}`);
  await page.locator("text=100 shown so far").waitFor();
  await page.click("button:text('Load more')");
  await page.locator("text=200 shown so far").waitFor();
  await publish(dev, "courier.scans", "waybill", [scan(250), scan(251)]); // they push two out of the first page, which stay
  await page.locator("text=202 shown so far").waitFor();
  await page.click("button:text('Load more')");
  await until(async () => await page.locator(".stations > li").count() === 252, "all are shown");
  assert.equal(await page.locator("button:text('Load more')").count(), 0);
  const stations = await page.locator(".stations .what span").allInnerTexts();
  assert.deepEqual(stations, Array.from({ length: 252 }, (_, n) => `S${251 - n}`));
});

shows("many parcels are pasted", async (t) => {
  for (const [who, reason] of [["customer", ""], ["support", "案件 4711"]]) {
    const page = await open(t, who, dev.users + "/track");
    if (reason) await page.fill("[name=why]", reason);
    await page.fill("textarea", `${waybill}, UA-1545-20130101-EWR\nnowhere`);
    await page.click("button:text-is('Track')");
    await page.locator("tbody tr:nth-child(3)").waitFor();
    assert.match(await text(page, "tbody tr:nth-child(2)"), /UA-1545-20130101-EWR\s+Arrived\s+IAH/);
    assert.match(await text(page, "tbody tr:nth-child(3)"), /Nothing found/);
    await page.click("tbody a >> nth=0");
    await page.locator(".stations > li").first().waitFor();
    await page.goBack();
    await page.locator("tbody tr:nth-child(3)").waitFor();
    await page.setInputFiles("input[type=file]", { name: "waybills.csv", mimeType: "text/csv", buffer: Buffer.from(`"elsewhere"\r\n"${waybill}"\r\n`) });
    await page.locator("tbody tr:nth-child(1):has-text('elsewhere')").waitFor();
    assert.equal(await page.locator("tbody tr").count(), 2);
    await page.finish();
  }
});

shows("as many parcels as are pasted have an address, and of a CSV file the column of numbers is taken", async (t) => {
  const page = await open(t, "customer", dev.users + "/me"), numbers = Array.from({ length: 60 }, (_, n) => `MANY-${n}`), told = [];
  await page.route("**/api/v1/views/waybill?*", (route) => route.fulfill({ json: { rows: [], next_page_token: "" } }));
  page.on("request", (request) => { if (!request.url().includes("/api/")) told.push(request.url(), request.headers()["referer"] ?? ""); });
  await page.goto(dev.users + "/track");
  await page.fill("textarea", numbers.join("\n"));
  await page.click("button:text-is('Track')");
  const rows = async (page) => {
    await page.locator("tbody tr:nth-child(60)").waitFor();
    assert.deepEqual(await page.locator("tbody th").allInnerTexts(), numbers);
    assert.equal(new URL(page.url()).hash, "#" + numbers.join());
  };
  await rows(page);
  await page.reload();
  await rows(page);
  assert.equal(await page.inputValue("textarea"), numbers.join("\n"));
  await page.click("tbody a >> nth=0");
  await page.waitForURL("**/track?waybill=MANY-0");
  await page.goBack();
  await rows(page);
  const other = await open(t, "customer", dev.users + "/me");
  await other.route("**/api/v1/views/waybill?*", (route) => route.fulfill({ json: { rows: [], next_page_token: "" } }));
  await other.goto(page.url());
  await rows(other);
  assert.ok(!told.some((text) => text.includes("MANY-1")), "browsers send no fragment");

  for (const [name, content, taken] of [
    ["orders.csv", `\ufeffno,"Waybill",note\r\n1,"X-1","a, ""b"", ${waybill}\nc"\r\n\r\n2, X-2 ,\r\n`, ["X-1", "X-2"]],
    ["semicolons.CSV", "a;waybill\n5\" X-1,0;X-3\n", ["X-3"]],
    ["tabs.csv", "X-4\tLOADED\nX-5\tSIGNED\nX-4\tSIGNED", ["X-4", "X-5"]],
    ["list.txt", "X-6 X-7,X-8\n", ["X-6", "X-7", "X-8"]],
    ["gbk.csv", Buffer.from("b1b8d7a22cd4cbb5a5bac50ad5c5c8fd2c582d390a", "hex"), ["X-9"]], // 备注,运单号 and 张三,X-9
    ["unicode.csv", Buffer.from("\ufeff备注\t运单号\n张三\tX-10\n", "utf16le"), ["X-10"]],
  ]) {
    await page.setInputFiles("input[type=file]", { name, mimeType: name.endsWith("txt") ? "text/plain" : "text/csv", buffer: Buffer.from(content) });
    await page.waitForURL((url) => url.searchParams.getAll("waybill").length === taken.length && url.hash === "" && url.searchParams.getAll("waybill").at(-1) === taken.at(-1));
    assert.deepEqual(new URL(page.url()).searchParams.getAll("waybill"), taken, name);
  }

  await other.click("text=Sign out"); // who signs in next does not find them on the way back
  await other.fill("[name=name]", "admin");
  await other.fill("[name=password]", dev.passwords.admin);
  await other.keyboard.press("Enter");
  await other.waitForURL("**/orders");
  await other.goBack();
  await other.waitForURL((url) => url.pathname === "/track" && url.hash === "");
  assert.equal(await other.inputValue("textarea"), "");
  assert.equal(await other.locator("table").count(), 0);
});

shows("a customer signs in, finds orders and signs out", async (t) => {
  const page = await open(t, null, dev.users + "/orders");
  await page.waitForURL("**/signin");
  await page.fill("[name=name]", "customer");
  await page.fill("[name=password]", "this is not the password");
  await page.click("main >> button:text('Sign in')");
  assert.match(await text(page, "[role=alert]"), /Wrong/);
  await page.fill("[name=password]", dev.passwords.customer);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/orders");
  await page.locator(".rows li").first().waitFor();
  await page.mouse.wheel(0, 20_000);
  await page.locator("text=All 18 shown").waitFor();
  assert.equal(await page.locator(".rows li").count(), 18);
  const times = await page.locator(".rows .id").allInnerTexts();
  assert.deepEqual(times.slice(0, 3), ["C-CONFIRM", "C-STALE", "C-CANCEL"], "newest first");

  await page.fill("[name=items]", "tea biscuits");
  await page.click("button:text('Search')");
  await page.waitForURL("**/orders?items=tea+biscuits");
  await page.locator("text=/All \\d shown|1 in total/").waitFor();
  await page.goBack();
  await page.waitForURL("**/orders");
  await page.locator(".chip:has-text('Cancelled')").click();
  await page.waitForURL("**/orders?status=cancelled");
  await page.locator("text=All 2 shown").waitFor();
  assert.deepEqual(await page.locator(".rows .badge").allInnerTexts(), ["Cancelled", "Cancelled"]);
  await page.reload();
  await page.locator("text=All 2 shown").waitFor();
  assert.ok(await page.locator(".chip input[value=cancelled]").isChecked());
  await page.click("a:text('Clear')");
  await page.fill("[name=order]", "C-STALE");
  await page.keyboard.press("Enter");
  await page.locator("text=1 in total").waitFor();
  const asked = page.waitForRequest((request) => request.url().includes("/api/v1/views/user-orders?created.from"));
  await page.goto(dev.users + "/orders?created.from=2026-06-01&created.to=2026-06-01");
  const query = new URL((await asked).url()).searchParams; // the day is the one of who looks, as the times of the list are
  assert.deepEqual([query.get("created.from"), query.get("created.to")], ["2026-05-31T16:00:00.000Z", "2026-06-01T16:00:00.000Z"]);
  await page.locator("text=All 3 shown").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assert.match(await readFile(await download.path(), "utf8"), /^\ufeffrow,[^\n]*\r\n[^\n]*C-CONFIRM/);
  await page.click("text=Sign out");
  await page.waitForURL("**/signin");
  assert.deepEqual(await page.context().cookies(), []);
});

shows("a command's result is seen at once, and texts stay texts", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.click("text=C-CONFIRM");
  await page.locator(".detail dl").waitFor();
  const detail = await page.locator(".detail dl").innerText();
  assert.ok(detail.includes(evil) && detail.includes("مرحبا بالعالم") && detail.includes("🍵"), detail);
  await page.click("button:text('Confirm receipt')");
  await page.locator(".note:has-text('Done: Received')").waitFor();
  assert.equal(await text(page, ".detail .badge"), "Received");
  assert.equal(await text(page, ".rows li:first-child .badge"), "Received");
  await page.click(".detail >> button:text('Delete')");
  await page.click("dialog >> button:text('Back')");
  await page.click(".detail >> button:text('Delete')");
  await page.click("dialog >> button:text('Delete')");
  await page.locator(".note:has-text('Deleted')").waitFor();
  assert.ok(!(await page.locator(".rows .id").allInnerTexts()).includes("C-CONFIRM"));
  assert.equal((await as("customer", "/api/v1/views/user-orders?order=C-STALE")).rows.length, 1);
  await page.goto(dev.users + "/orders?order=C-CANCEL");
  await page.click(".rows a");
  await page.locator(".items li:nth-child(500)").waitFor({ state: "attached" });
  await page.click(".detail >> button:text('Cancel order')");
  await page.fill("dialog >> [name=reason]", "too many items");
  let given = 0;
  await page.route("**/commands/cancel", async (route) => {
    if (given++ > 0) return route.fallback();
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).slice(0, 10) }); // accepted, and half an answer
  });
  await page.click("dialog >> button:text('Cancel order')");
  await page.locator(".note:has-text('Done: Cancelled')").waitFor();
  assert.equal(given, 2, "half an answer is none");
  assert.match(await text(page, ".detail dl"), /too many items/);
  assert.ok(!await page.evaluate(() => JSON.stringify(sessionStorage).includes("too many items")), "what was sent is kept no longer");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

shows("what was typed stays, when an order is opened and when its command is refused", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.locator("text=C-STALE").waitFor();
  await page.fill("[name=items]", "biscuits");
  await page.click("text=C-STALE");
  await page.locator(".detail dl").waitFor();
  assert.equal(await page.inputValue("[name=items]"), "biscuits");
  await page.route("**/commands/cancel", (route) => route.fulfill({ status: 429, headers: { "Retry-After": "60" }, contentType: "application/problem+json",
    body: `{"type":"","title":"Too many requests","status":429,"detail":"come back later"}` }));
  await page.click(".detail button:text('Cancel')");
  await page.fill("dialog [name=reason]", "a long story");
  await page.click("dialog button.danger");
  await page.locator("dialog .failure:has-text('Too many requests')").waitFor();
  assert.equal(await page.inputValue("dialog [name=reason]"), "a long story");

  for (const status of [412, 409]) { // the order is shown as it is now; what was typed is there for the next try
    await page.unroute("**/commands/cancel");
    await page.route("**/commands/cancel", (route) => route.fulfill({ status, contentType: "application/problem+json",
      body: JSON.stringify({ type: "", title: "changed", status, detail: "changed" }) }));
    await page.click("dialog button.danger");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.locator(".detail [role=alert]:has-text('changed in the meantime')").waitFor();
    await page.click(".detail button:text('Cancel')");
    assert.equal(await page.inputValue("dialog [name=reason]"), "a long story", `after ${status}`);
  }

  await page.unroute("**/commands/cancel"); // the session ends, and after the next sign-in the order cannot be read
  const [session] = await page.context().cookies(), row = /\/rows\/[^/]*$/;
  await fetch(dev.users + "/api/v1/session", { method: "DELETE", headers: { Cookie: `${session.name}=${session.value}` } });
  await page.click("dialog button.danger");
  const signIn = page.locator("dialog:has([name=password])");
  await signIn.waitFor();
  await page.route(row, (route) => route.fulfill({ status: 500, contentType: "application/problem+json", body: `{"type":"","title":"broken","status":500,"detail":"broken"}` }));
  await signIn.locator("[name=name]").fill("customer");
  await signIn.locator("[name=password]").fill(dev.passwords.customer);
  await page.keyboard.press("Enter");
  await signIn.waitFor({ state: "detached" });
  await page.locator(".detail > .failure:has-text('broken')").first().waitFor();
  assert.equal(await page.inputValue("dialog [name=reason]"), "a long story", "after a question that failed");
});

shows("a command that got no answer is given again as the same one, and is done once", async (t) => {
  const at = Date.UTC(2026, 5, 2);
  await publish(dev, "shop.orders", "order", [{ order: "C-ONCE", user: "u00042", created: at, at, status: "paid", items: "green tea x1 9.00", brand: "brand", lines: 1, total: 9 }]);
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-ONCE")).rows.length === 1, "the order is written");
  const page = await open(t, "customer", dev.users + "/orders?order=C-ONCE"), keys = [], done = new Set();
  let reached = false;
  await page.route("**/commands/cancel", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (reached) done.add((await (await route.fetch()).json()).id); // the answer is lost
    await route.abort();
  });
  const cancel = async () => {
    await page.click(".detail >> button:text('Cancel order')");
    await page.fill("dialog >> [name=reason]", "once");
    await page.click("dialog >> button:text('Cancel order')");
  };
  await page.click(".rows a");
  await cancel();
  await page.locator("dialog .failure").waitFor();
  await page.reload();
  await page.locator(".detail dl").waitFor();
  reached = true;
  await cancel();
  await page.locator("dialog .failure").waitFor();
  await page.unroute("**/commands/cancel");
  const [last] = await Promise.all([page.waitForResponse("**/commands/cancel"), page.click("dialog >> button:text('Cancel order')")]);
  await page.locator(".note:has-text('Done: Cancelled')").waitFor();
  assert.ok(keys.length > 2, "it is asked again by itself, too");
  assert.deepEqual([...new Set(keys)], [last.request().headers()["idempotency-key"]]);
  assert.deepEqual([...done], [(await last.json()).id]);
  assert.ok(!await page.evaluate((key) => JSON.stringify(sessionStorage).includes(key), keys[0]), "what has its answer is kept no longer");
});

shows("a statement is run once, unless the server has not begun with it", async (t) => {
  const page = await open(t, "support", dev.users + "/sql"), statement = `SELECT at, action FROM scans WHERE waybill = '${waybill}' LIMIT 3`;
  let asked = 0, next;
  await page.route("**/api/v1/sql", (route) => route.request().method() === "POST" ? (asked++, next(route)) : route.fallback());
  const run = async (answer) => {
    [asked, next] = [0, answer];
    await page.click("button.main");
  };
  const refusal = (kind) => ({ status: 503, headers: { "Retry-After": "1" }, contentType: "application/problem+json",
    body: JSON.stringify({ type: `/api/v1/docs#${kind}`, title: kind, status: 503, detail: kind }) });
  await page.fill("input[aria-describedby=why]", "case 4714");
  await page.fill("textarea", statement);
  for (const answer of [async (route) => { // what breaks off is not read again at the stores' cost
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).slice(0, 20) });
  }, (route) => route.fulfill(refusal("unavailable")), (route) => route.abort()]) {
    await run(answer);
    await until(() => asked > 0, "it is asked");
    await page.locator("button.main:not([disabled])").waitFor();
    await page.locator(".failure").waitFor(); // once nothing is asked any more
    assert.equal(asked, 1);
  }
  await run((route) => asked === 1 ? route.fulfill(refusal("overloaded")) : route.continue());
  await page.locator("td:text-is('SIGNED')").first().waitFor();
  assert.equal(asked, 2);
  const { entries } = await as("admin", "/api/v1/ops/audit?account=support", {}, dev.operators);
  assert.equal(entries.filter((e) => e.action === "sql" && e.reason === "case 4714").length, 2);
});

shows("an order that has changed meanwhile is shown as it is", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.click("text=C-STALE");
  await page.locator(".detail dl").waitFor();
  const { rows: [row] } = await as("customer", "/api/v1/views/user-orders?order=C-STALE");
  const given = await as("customer", `/api/v1/tables/shop:orders/rows/${encodeURIComponent(row.row)}/commands/cancel`,
    { method: "POST", headers: { "If-Match": `"${row.state_version}"`, "Idempotency-Key": "another tab" } });
  assert.equal(given.to, "cancelled");
  await until(async () => (await as("customer", given.row && `/api/v1/tables/shop:orders/commands/${given.id}`)).state === "applied", "it is applied");
  await page.click(".detail >> button:text('Cancel order')");
  await page.click("dialog >> button:text('Cancel order')");
  await page.locator(".detail [role=alert]:has-text('changed in the meantime')").waitFor();
  await page.locator(".detail .badge:text('Cancelled')").waitFor();
});

shows("a session that ends leaves the page as it is", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  const [session] = await page.context().cookies();
  await page.locator(".rows li").first().waitFor();
  await page.fill("[name=items]", "biscuits");
  await fetch(dev.users + "/api/v1/session", { method: "DELETE", headers: { Cookie: `${session.name}=${session.value}` } });
  await page.locator("button:text('Search')").evaluate((button) => button.click()); // also if the dialog is there already, by what the page asked itself
  await page.locator("dialog").waitFor();
  assert.equal(await page.inputValue("[name=items]"), "biscuits");
  await page.fill("dialog >> [name=name]", "customer");
  await page.fill("dialog >> [name=password]", dev.passwords.customer);
  await page.keyboard.press("Enter");
  await page.locator("text=/All \\d shown|1 in total/").waitFor();
  assert.equal(await page.locator("dialog").count(), 0);
});

shows("one signs in by a company where there is one, and by a password where the ways are not known", async (t) => {
  const page = await open(t, "", dev.users);
  let answer = { status: 200, contentType: "application/json", body: JSON.stringify({ password: true, companies: [{ name: "<b>Example</b> Ltd", path: "/api/v1/session/oidc" }] }) };
  await page.route("**/api/v1/session", (route) => route.fulfill(answer));
  await page.goto(dev.users + "/orders");
  const link = page.locator("a.button:has-text('Sign in with <b>Example</b> Ltd')");
  await link.waitFor();
  assert.equal(await link.getAttribute("href"), "/api/v1/session/oidc");
  answer = { status: 503, contentType: "application/problem+json", body: "{}" };
  await page.reload();
  await page.locator("[name=password]").first().waitFor();
  assert.equal(await link.count(), 0);
});

shows("a sign-in by a company leads back to where one was, with what was typed, and nowhere else", async (t) => {
  const company = await startCompany(), nowhere = "http://127.0.0.1:9"; // as brine is told: it is not there
  t.after(() => company.stop());
  const run = await startRun(dev, "", { company, url: nowhere });
  t.after(() => run.stop());
  company.back = run.users;
  const statement = `SELECT at FROM scans WHERE waybill = '${waybill}'`, page = await open(t, null, run.users + "/track", { elsewhere: [company.issuer] });
  const sure = async (path, hash) => {
    await page.waitForURL((url) => url.origin === run.users && url.pathname === path && decodeURIComponent(url.hash) === hash);
    await page.locator("a.who:text-is('zoe')").waitFor();
  };
  await page.goto(`${run.users}/sql#${encodeURIComponent(statement)}`); // a link, which somebody follows who is not signed in
  await page.waitForURL("**/signin");
  await page.click("text=Sign in with Example Ltd");
  await sure("/sql", "#" + statement);
  await page.waitForFunction((wanted) => document.querySelector("textarea")?.value === wanted, statement);

  await page.fill("textarea", statement + " LIMIT 1"); // a session that ends
  await page.fill("input[aria-describedby=why]", "case 4715");
  const [session] = await page.context().cookies();
  await fetch(run.users + "/api/v1/session", { method: "DELETE", headers: { Cookie: `${session.name}=${session.value}` } });
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await page.locator("dialog:has([name=password])").waitFor();
  await page.click("dialog >> text=Sign in with Example Ltd");
  await sure("/sql", "#" + statement);
  assert.equal(await page.inputValue("textarea"), statement + " LIMIT 1");
  assert.equal(await page.inputValue("input[aria-describedby=why]"), "case 4715");
  assert.equal(await page.locator("dialog").count(), 0);

  const again = async () => {
    await page.goto(`${run.users}/api/v1/session/oidc`);
    await page.locator("a.who").waitFor();
  };
  for (const at of ["https://example.org/x", "//example.org/x", "/\\example.org/x", "/.//example.org/x", "javascript:window.pwned=1", "no address"]) {
    await page.evaluate(([name, text]) => sessionStorage.setItem(name, text), [`of "zoe" way back`, at === "no address" ? at : JSON.stringify({ at, state: null, reason: "" })]);
    await again();
    assert.equal(new URL(page.url()).origin, run.users, at);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  }

  await page.goto(`${run.users}/sql`); // another person
  await page.fill("textarea", statement);
  await page.evaluate(() => fetch("/api/v1/session", { method: "DELETE" }));
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  company.person = "yan";
  await page.click("dialog >> text=Sign in with Example Ltd");
  await page.locator("a.who:text-is('yan')").waitFor();
  await page.waitForURL("**/orders");
  assert.ok(!await page.evaluate((number) => JSON.stringify(sessionStorage).includes(number), waybill));

  const operators = await open(t, null, run.operators + "/offsets?half=rows"); // the company knows the users' console alone
  await operators.context().route(nowhere + "/**", (route) => route.fulfill({ status: 302, headers: { Location: run.users + new URL(route.request().url()).pathname } }));
  company.person = "ops";
  company.group = "ops";
  const link = operators.locator("a.button:has-text('Sign in with Example Ltd')");
  await link.waitFor();
  assert.match(await text(operators, "form.stack"), /in a new tab/);
  const [tab] = await Promise.all([operators.waitForEvent("popup"), link.click()]);
  await tab.locator("a.who:text-is('ops')").waitFor();
  await tab.close();
  await operators.evaluate(() => dispatchEvent(new Event("focus")));
  await operators.locator("a.who:text-is('ops')").waitFor();
  await operators.locator("h1:text-is('Offsets')").waitFor();
  assert.equal(new URL(operators.url()).search, "?half=rows");
  assert.deepEqual(await wrongIn(operators), []);
});

shows("what the API refuses, and an answer that is slow, are said in place", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders"), orders = "**/api/v1/views/user-orders?*";
  await page.locator(".rows li").first().waitFor();
  await page.fill("[name=items]", "tea");
  const refuse = async (status, headers, says, button) => {
    await page.route(orders, (route) => route.fulfill({ status, headers, contentType: "application/problem+json", body: JSON.stringify({ status, title: "refused", type: "/docs/problems#x" }) }));
    await page.click(`button:text-is('${button}')`);
    await page.locator(`.failure:has-text('${says}')`).waitFor();
    assert.equal(await page.inputValue("[name=items]"), "tea");
    await page.unroute(orders);
  };
  await refuse(429, { "Retry-After": "60" }, "Too many requests. Try again in 60 s.", "Search");
  await refuse(403, {}, "does not allow this", "Try again");
  let asked = 0, release;
  await page.route(orders, async (route) => {
    if (++asked === 1) return route.fulfill({ status: 429, headers: { "Retry-After": "1" }, body: "" });
    await new Promise((resolve) => { release = resolve; });
    await route.continue();
  });
  await page.click("button:text('Try again')");
  await until(() => release, "a read is asked again after the time that the API names");
  await page.locator(".foot:has-text('Loading')").waitFor();
  release();
  await page.locator("text=/All \\d+ shown|1 in total/").waitFor();
});

shows("a stream that breaks or falls silent is not live, and is opened again", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me");
  await page.clock.install();
  await page.addInitScript(() => {
    const ask = window.fetch;
    window.streams = 0;
    window.said = [];
    new MutationObserver(() => { window.said.push(document.querySelector(".live")?.textContent ?? ""); }).observe(document, { subtree: true, childList: true, characterData: true });
    window.fetch = (path, init) => !String(path).endsWith("/pipelines/events") ? ask(path, init) : Promise.resolve(new Response(new ReadableStream({ start(to) {
      window.streams++;
      window.send = (text) => to.enqueue(new TextEncoder().encode(text));
      window.fail = () => to.error(new TypeError("the connection was reset"));
      window.send('id: 1\nevent: state\ndata: {"pipelines": []}\n\n');
    } })));
  });
  await page.goto(dev.operators + "/overview");
  const live = page.locator(".live.on");
  const again = async (n) => { // it is said for a second, then the stream is opened again
    await page.waitForFunction((wanted) => window.streams === wanted && window.said.splice(0).some((text) => text.startsWith("Not live")), n);
    await live.waitFor();
  };
  await live.waitFor();
  await page.evaluate(() => window.fail());
  await again(2);
  for (let n = 0; n < 3; n++) { // as long as anything comes it is alive
    await page.clock.fastForward(30_000);
    await page.evaluate(() => window.send(": still here\n\n"));
    assert.ok(await live.isVisible());
  }
  assert.equal(await page.evaluate(() => window.streams), 2);
  await page.clock.fastForward(46_000);
  await again(3);
});

shows("whoever signs out leaves no reason and no statement to the next one", async (t) => {
  const page = await open(t, "support", dev.users + "/sql");
  await page.fill("input[aria-describedby=why]", "case 4711");
  await page.fill("textarea", `SELECT at FROM scans WHERE waybill = '${waybill}'`);
  await page.click("button.main");
  await page.locator("select[aria-label=History]").waitFor();
  await page.reload();
  await page.locator(`select[aria-label=History] option:has-text("SELECT at FROM scans WHERE waybill = '${waybill}'")`).waitFor({ state: "attached" });
  const next = async (name) => {
    await page.fill("[name=name]", name);
    await page.fill("[name=password]", dev.passwords[name]);
    await page.keyboard.press("Enter");
  };
  const left = async (form) => {
    await page.locator("textarea").waitFor();
    assert.equal(await page.inputValue("input[aria-describedby=why]"), "", form);
    assert.equal(await page.inputValue("textarea"), "", form);
    assert.equal(await page.locator("select[aria-label=History], table").count(), 0, form);
    assert.ok(!await page.evaluate((number) => JSON.stringify(sessionStorage).includes(number), waybill), form);
  };
  await page.click("text=Sign out");
  await next("admin");
  await page.click("nav >> text=SQL");
  await left("after a sign-out");
  await page.goBack();
  await page.waitForURL("**/orders");
  await page.goBack(); // to the address of the statement
  await page.waitForURL((url) => url.pathname === "/sql" && url.hash === "");
  await left("on the way back");

  await page.fill("input[aria-describedby=why]", "case 4712");
  await page.fill("textarea", `SELECT at FROM scans WHERE waybill = '${waybill}'`);
  await page.click("button.main");
  await page.locator("select[aria-label=History]").waitFor();
  const [session] = await page.context().cookies();
  await fetch(dev.users + "/api/v1/session", { method: "DELETE", headers: { Cookie: `${session.name}=${session.value}` } });
  await page.click("button.main");
  await page.locator("dialog").waitFor();
  await next("support");
  await page.locator("dialog").waitFor({ state: "detached" });
  await left("after another one has signed in where a session has ended");

  const customer = await open(t, "customer", dev.users + "/sql");
  await customer.locator("text=does not allow this").waitFor();
});

/** A session of somebody else in the same browser, which the page's own script does not see: as from the console on another port. */
const signInUnseen = (page, name) => page.evaluate(async (body) => {
  await fetch("/api/v1/session", { method: "DELETE" });
  return (await fetch("/api/v1/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).status;
}, { name, password: dev.passwords[name] });

shows("nothing is asked, and nothing stays, for whoever was signed in before another tab signed in somebody else", async (t) => {
  const page = await open(t, "support", dev.users + "/sql"), because = `case ${Date.now()}`;
  const statement = `SELECT at FROM scans WHERE waybill = '${waybill}'`;
  const work = async (name) => {
    await page.goto(dev.users + "/sql");
    await page.locator(`a.who:text-is('${name}')`).waitFor();
    await page.fill("input[aria-describedby=why]", because);
    await page.fill("textarea", statement);
    await page.click("button.main");
    await page.locator("td").first().waitFor();
  };
  const left = async (name, how) => {
    await page.locator(`a.who:text-is('${name}')`).waitFor();
    await page.locator("textarea").waitFor();
    assert.equal(await page.inputValue("input[aria-describedby=why]"), "", how);
    assert.equal(await page.inputValue("textarea"), "", how);
    assert.equal(await page.locator("td, dialog").count(), 0, how);
    assert.ok(!await page.evaluate((number) => JSON.stringify(sessionStorage).includes(number), waybill), how);
  };
  await work("support");
  assert.equal(await signInUnseen(page, "admin"), 200);
  const [refused] = await Promise.all([page.waitForResponse((r) => r.url().endsWith("/api/v1/sql") && r.request().method() === "POST"), page.click("button.main")]);
  assert.equal(refused.status(), 409);
  await left("admin", "after a request");
  const audit = await as("admin", "/api/v1/ops/audit?account=admin", {}, dev.operators);
  assert.ok(audit.entries.length > 0 && !JSON.stringify(audit.entries).includes(because), "the next one has asked nothing under the reason of the one before");

  await work("admin");
  assert.equal(await signInUnseen(page, "support"), 200);
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await left("support", "when the tab is looked at again");

  await work("support");
  const tab = await page.context().newPage();
  await tab.goto(dev.users + "/me");
  await tab.click("text=Sign out");
  await page.waitForFunction(() => !document.querySelector("a.who, td"));
  assert.ok(!await page.evaluate((number) => JSON.stringify(sessionStorage).includes(number), waybill), "after a sign-out in another tab");
  await tab.fill("[name=name]", "admin");
  await tab.fill("[name=password]", dev.passwords.admin);
  await tab.keyboard.press("Enter");
  await left("admin", "after a sign-in in another tab");
  await page.locator("input[aria-describedby=why]").fill("stays");
  await signInUnseen(page, "admin");
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await page.waitForTimeout(500);
  assert.equal(await page.inputValue("input[aria-describedby=why]"), "stays", "the same user is signed in again");
});

shows("what one has typed is not kept in the tab for the next one, whichever way that one signs in", async (t) => {
  for (const operators of [false, true]) {
    const base = operators ? dev.operators : dev.users, page = await open(t, "admin", base + "/sql");
    const work = async () => {
      await page.locator("a.who:text-is('admin')").waitFor();
      await page.fill("input[aria-describedby=why]", "case 4711");
      await page.fill("textarea", `SELECT at FROM scans WHERE waybill = '${waybill}'`);
      await page.click("button.main");
      await page.locator("td").first().waitFor();
    };
    const kept = () => page.evaluate((number) => JSON.stringify(sessionStorage).includes(number), waybill);
    await work();
    assert.ok(await kept());
    await page.evaluate(() => fetch("/api/v1/session", { method: "DELETE" })); // the session has ended
    await page.goto(base + "/signin");
    await page.locator("[name=name]").waitFor();
    assert.ok(await kept(), "the user may come back");
    await page.fill("[name=name]", "support");
    await page.fill("[name=password]", dev.passwords.support);
    await page.keyboard.press("Enter");
    await page.locator("a.who:text-is('support')").waitFor();
    assert.ok(!await kept(), "after a sign-in on its page");

    await signInUnseen(page, "admin");
    await page.goto(base + "/sql");
    await work();
    await signInUnseen(page, "support");
    await page.goto(base + "/me"); // as a company's provider leads back
    await page.locator("a.who:text-is('support')").waitFor();
    assert.ok(!await kept(), "after a sign-in elsewhere");
    await page.finish();
  }
});

shows("what is wrong leads to its item", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview");
  await page.click(".sheet:has(#pipeline-scans) dd a >> nth=0");
  await page.waitForURL("**/dead-letters?pipeline=scans&half=rows");
  await page.locator("section:has(#which) tbody tr").first().waitFor();
  const pipeline = await as("admin", "/api/v1/ops/pipelines/scans", {}, dev.operators), rows = pipeline.halves.find((half) => half.kind === "rows");
  const why = "a record that nobody expected";
  Object.assign(rows, { state: "halted", detail: why, counts: undefined });
  Object.assign(rows.partitions[1], { state: "halted", detail: why, watermark: 17 });
  await page.route("**/ops/pipelines/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `id: 1\nevent: state\ndata: ${JSON.stringify({ pipelines: [pipeline] })}\n\n` }));
  await page.route("**/ops/pipelines/scans", (route) => route.fulfill({ json: pipeline }));
  await page.goto(dev.operators + "/overview");
  await page.click(`.cause:has-text('${why}') >> button`);
  await page.locator(`text=Members: ${rows.members[0]}`).first().waitFor();
  assert.equal(await page.locator("td a:text('Explain the record')").count(), 1, "those that go on are not explained");
  await page.click("td a:text('Explain the record')");
  const { topic, partition } = rows.partitions[1];
  await page.waitForURL((url) => url.pathname === "/records" && url.searchParams.get("topic") === topic && url.searchParams.get("offset") === "17");
  assert.equal(await page.inputValue("[name=partition]"), String(partition));
});

shows("versions of members are shown, and where they differ", async (t) => {
  const pipelines = () => as("admin", "/api/v1/ops/pipelines/scans", {}, dev.operators);
  await until(async () => (await pipelines()).halves[0].versions[0]?.version, "the member has reported its version");
  const pipeline = await pipelines(), rows = pipeline.halves[0], [own] = rows.versions;
  const page = await open(t, "admin", dev.operators + "/overview"), hint = page.locator(".reading .hint");
  await page.locator(`.sheet:has(#pipeline-scans) .figures div:has(dt:text-is('Version')) dd:text-is('${own.version}')`).waitFor();
  assert.equal(await hint.count(), 0, "one version does not differ");
  await page.route("**/ops/pipelines/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `id: 1\nevent: state\ndata: ${JSON.stringify({ pipelines: [pipeline] })}\n\n` }));
  await page.route("**/ops/pipelines/scans", (route) => route.fulfill({ json: pipeline }));
  rows.versions.push({ member: "m-2", version: evil }, { member: "m-3" }, { member: "m-4" });
  await page.goto(dev.operators + "/overview?open=scans");
  await hint.waitFor();
  const differ = await hint.innerText();
  for (const one of [`${own.version} × 1`, `${evil} × 1`, "not reported × 2"]) assert.ok(differ.includes(one), `${one} is not in ${differ}`);
  await page.locator(`text=${own.member}`).and(page.locator(`text=Version ${own.version} (${own.host}, ${own.pid})`)).waitFor();
  rows.versions.splice(1, 2); // the own one, and one that may just have joined
  await page.reload();
  await page.locator(".reading .small:has-text('Members that have not reported a version: 1.')").waitFor();
  assert.equal(await hint.count(), 0, "a member that joins is no other version");
});

shows("an API that is away is said in place, and asked again", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.locator(".rows li").first().waitFor();
  let asked = 0;
  await page.route("**/api/v1/views/user-orders?*", (route) => { asked++; return route.abort(); });
  await page.fill("[name=items]", "tea");
  await page.click("button:text('Search')");
  await page.locator(".failure:has-text('not responding')").waitFor();
  assert.ok(asked > 1, "reads are asked again by themselves");
  assert.equal(await page.inputValue("[name=items]"), "tea");
  await page.unroute("**/api/v1/views/user-orders?*");
  let halves = 0;
  await page.route("**/api/v1/views/user-orders?*", (route) => { halves++; return route.fulfill({ status: 200, contentType: "application/json", body: `{"rows": [` }); });
  await page.click("button:text('Try again')");
  await until(() => halves > 1, "half an answer is asked for again by itself");
  await page.locator(".failure:has-text('not responding')").waitFor();
  await page.unroute("**/api/v1/views/user-orders?*");
  for (const [status, body] of [[503, `{"error": "x"}`], [409, `{"status": 409}`], [404, `[]`], [502, `<html>`], [400, `null`], [500, `{"type": 1, "detail": {}}`]]) {
    await page.route("**/api/v1/views/user-orders?*", (route) => route.fulfill({ status, headers: { "Retry-After": "60" }, contentType: "application/json", body })); // of what is between
    const answered = page.waitForResponse((response) => response.status() === status);
    await page.click("button:text('Try again')");
    await answered;
    await page.locator(".failure").waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /undefined|TypeError|\[object/);
    await page.unroute("**/api/v1/views/user-orders?*");
  }
  await page.click("button:text('Try again')");
  await page.locator("text=/All \\d+ shown|1 in total/").waitFor();
});

shows("a page loads the texts of its language before it is drawn, and those of the other once it is chosen", async (t) => {
  for (const [language, other, mine, theirs] of [["en", "zh", "Track", "查快递"], ["zh", "en", "查快递", "Track"]]) {
    const page = await open(t, null, dev.users + "/track", { language }), loaded = [];
    await page.locator("textarea").waitFor();
    page.on("request", (request) => { loaded.push(.../\/assets\/(en|zh)-/.exec(request.url())?.slice(1) ?? []); });
    let answer;
    const held = new Promise((resolve) => { answer = resolve; });
    await page.route(`**/assets/${language}-*.js`, async (route) => { await held; await route.continue(); });
    await page.reload({ waitUntil: "commit" });
    await until(() => loaded.length > 0, "the texts are asked for");
    await page.waitForTimeout(500);
    assert.equal(await page.locator("body").innerText(), "", "nothing is drawn in another language, or in none");
    answer();
    await page.locator(`h1:text-is('${mine}')`).waitFor();
    assert.deepEqual(loaded, [language]);

    await page.route(`**/assets/${other}-*.js`, (route) => route.abort());
    await page.fill("textarea", "typed");
    await page.selectOption("header select >> nth=0", other);
    await page.locator(".note.bad").waitFor();
    assert.equal(await page.inputValue("header select >> nth=0"), language, "the texts are not there");
    await page.unroute(`**/assets/${other}-*.js`);
    await page.reload();
    await page.fill("textarea", "typed");
    await page.selectOption("header select >> nth=0", other);
    await page.locator(`h1:text-is('${theirs}')`).waitFor();
    assert.equal(await page.inputValue("textarea"), "typed");
    loaded.length = 0;
    await page.reload();
    await page.locator(`h1:text-is('${theirs}')`).waitFor();
    assert.deepEqual(loaded, [other], "it is remembered");

    await page.route(`**/assets/${other}-*.js`, (route) => route.abort());
    await page.reload();
    await page.locator(`h1:text-is('${mine}')`).waitFor();
    await page.unroute(`**/assets/${other}-*.js`);
    await page.reload();
    await page.locator(`h1:text-is('${theirs}')`).waitFor();
    await page.finish();
  }
});

shows("support says why, and the audit has it", async (t) => {
  const page = await open(t, "support", dev.users + "/orders", { language: "zh" });
  await page.locator("text=请先填写查看原因").waitFor();
  await page.fill("[name=why]", "工单 4711");
  await page.fill("[name=user]", "u00042");
  await page.keyboard.press("Enter");
  await page.locator(".rows li").first().waitFor();
  const audit = await open(t, "admin", dev.operators + "/audit?account=support");
  await audit.locator("tbody tr").first().waitFor();
  assert.match(await text(audit, "table"), /user=u00042\s+工单 4711/);
});

shows("operators see pipelines, accounts and the audit; customers do not", async (t) => {
  const none = await open(t, "customer", dev.operators + "/overview");
  await none.locator("text=does not allow this").waitFor();
  assert.equal(await none.locator("nav >> text=SQL").count(), 0, "what is refused to customers is not offered to them");
  await none.finish();
  for (const path of ["/accounts", "/audit", "/overview"]) assert.equal((await fetch(dev.users + path)).status, 404);
  const page = await open(t, "admin", dev.operators + "/");
  await page.waitForURL("**/overview");
  await page.locator(".sheet:has-text('courier.scans') >> text=running").first().waitFor();
  await page.click("text=Show partitions");
  await page.locator("h3:has-text('.rows')").first().waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assert.match(await readFile(await file.path(), "utf8"), /^\ufefftopic,partition,lag,[^\n]*\r\n\S+,0,/);
  await page.click("nav >> text=Accounts");
  await page.click("text=New account");
  await page.fill("dialog >> [name=name]", "zoe");
  await page.fill("dialog >> [name=owner]", "u00007");
  await page.fill("dialog >> [name=password]", "short");
  await page.click("dialog >> text=Save");
  await page.locator("dialog [role=alert]:has-text('password')").waitFor();
  await page.fill("dialog >> [name=password]", "correct horse battery");
  await page.click("dialog >> text=Save");
  await page.click("[aria-label='Change: zoe']");
  await page.uncheck("dialog >> [name=enabled]");
  await page.click("dialog >> text=Save");
  await page.locator("tr:has-text('zoe'):has-text('Disabled')").waitFor();
  await page.fill("[name=find]", "zoe");
  await page.click("main >> text=Search");
  await page.waitForURL("**/accounts?name=zoe");
  await page.locator("text=1 in total").waitFor();
  await page.goto(dev.operators + "/accounts?name=nobody");
  await page.locator("text=No account has this name").waitFor();
  await page.route(/ops\/accounts(\?|$)/, (route) => route.fulfill({ json: { next_page_token: "more", accounts: Array.from({ length: 500 }, (_, n) =>
    ({ name: `u${n}-${route.request().url().length}`, role: "customer", enabled: true, created: "2026-01-01T00:00:00Z", changed: "2026-01-01T00:00:00Z" })) } }));
  await page.click("main >> text=Clear");
  await page.locator("text=1,000 shown so far").waitFor();
  await page.unroute(/ops\/accounts(\?|$)/);
  await page.click("nav >> text=Audit");
  await page.locator("td:text('account.change')").first().waitFor();
  await page.click("nav >> text=SQL");
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", `SELECT at, action FROM scans\nWHERE waybil = '${waybill}'`);
  await page.keyboard.press("Control+Enter");
  await page.locator("text=Line 2").waitFor();
  await page.fill("textarea", `SELECT at, action FROM scans WHERE waybill = '${waybill}'`);
  await page.keyboard.press("Control+Enter");
  await page.locator("td:text('SIGNED')").waitFor();
  await page.click("button:text('Explain')");
  await page.locator(".plan li:has-text('scans')").first().waitFor();
});

shows("dead letters are counted by kind, listed, and shown whole; their texts stay texts", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview");
  await page.click("nav >> text=Dead letters");
  await page.locator("#kinds").waitFor();
  const kind = page.locator("section:has(#kinds) tbody tr:has-text('scans.rows')").first();
  assert.match(await kind.innerText(), /wrong_type\s+at\s+2\s/);
  await kind.locator("a").first().click();
  await page.waitForURL("**/dead-letters?pipeline=scans&half=rows&reason=wrong_type");
  await page.locator("section:has(#which) tbody tr >> nth=1").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("section:has(#which) >> text=Download CSV")]);
  assert.match(await readFile(await file.path(), "utf8"), /^\ufeffrecord,[^\n]*\r\ncourier.scans\/\d+:\d+,scans.rows,wrong_type,at,/);
  await page.route("**/dead-letters/records/*", async (route) => {
    const response = await route.fetch(), json = await response.json();
    json.dead_letters[0].headers = [{ name: evil, value: evil }];
    await route.fulfill({ response, json });
  });
  await page.click("section:has(#which) tbody a >> nth=0");
  await page.locator(".letter dl").first().waitFor();
  const letter = await text(page, ".letter");
  assert.ok(letter.includes("What to do") && letter.includes(JSON.stringify(evil)), letter);
  assert.equal(await page.locator(".letter h3:text('Headers') ~ dl dt").first().innerText(), evil);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.goBack();
  await page.locator("#which").waitFor();
  await page.fill("[name=text]", "BAD-2");
  await page.keyboard.press("Enter");
  await page.waitForURL(/text=BAD-2/);
  await page.locator("section:has(#which) >> text=1 in total").waitFor();
  await page.fill("[name=since]", "yesterday or so");
  await page.keyboard.press("Enter");
  await page.locator(".failure:has-text('since')").first().waitFor();
  await page.goto(dev.operators + "/dead-letters?reason=too_large");
  await page.locator("text=No dead letters match").waitFor();
});

shows("offsets are shown, and previewed before they are set", async (t) => {
  const page = await open(t, "admin", dev.operators + "/offsets");
  await page.locator("tbody tr").first().waitFor();
  await page.selectOption("[name=pipeline]", "scans");
  await page.waitForURL("**/offsets?pipeline=scans");
  await page.locator("tbody td:text-is('courier.scans')").first().waitFor();
  const { positions } = await as("admin", "/api/v1/ops/offsets?pipeline=scans", {}, dev.operators);
  await until(async () => await page.locator("tbody tr").count() === positions.length, "only that pipeline's are shown");
  await page.click("text=Set offsets…");
  await page.fill("dialog >> [name=to]", "the day before");
  await page.click("dialog >> text=Preview");
  await page.locator("dialog [role=alert]").waitFor();
  await page.fill("dialog >> [name=to]", "earliest");
  await page.fill("dialog >> [name=partitions]", "0, 1");
  await page.click("dialog >> text=Preview");
  await page.locator("dialog tbody tr").first().waitFor();
  assert.deepEqual([...new Set(await page.locator("dialog tbody td:nth-child(3)").allInnerTexts())].filter((n) => n !== "0" && n !== "1"), [], "only those partitions");
  await page.locator("dialog .hint:has-text('in use')").waitFor(); // it runs: what is refused is not offered
  assert.equal(await page.locator("dialog >> text=Set them").count(), 0);
  await page.click("dialog >> text=Back");
  assert.equal(await page.locator("dialog").count(), 0);
});

shows("a key is tried as one writes it", async (t) => {
  const page = await open(t, "admin", dev.operators + "/keys");
  await page.locator(".rowkey:has-text('UA-1545')").waitFor();
  /** What the page shows is what the API answers to its address. */
  const asAnswered = async () => {
    const url = new URL(page.url()), answer = await as("admin", `/api/v1/ops/keys${url.search}`, {}, dev.operators);
    assert.equal(answer.status, 200);
    const splits = () => page.locator(".splits code").allInnerTexts();
    await until(async () => (await splits()).join() === answer.splits.join(), "the splits of the address"); // it may be newer than what is drawn
    assert.deepEqual(await page.locator(".findings li > p:first-of-type").allInnerTexts(), answer.findings.map((f) => f.message));
    const ranges = await page.locator("h2:has-text('Ranges read') ~ *").locator("code").allInnerTexts();
    assert.deepEqual(ranges.slice(0, 2 * answer.scans.length), answer.scans.flatMap((s) => [s.start || "the first key", s.stop || "end of table"]));
    return answer;
  };
  await page.waitForURL(/key=/);
  const good = await asAnswered();
  assert.equal(good.splits.length, 15);
  assert.deepEqual(good.splits, good.splits.toSorted());
  assert.ok(good.scans.length >= 1 && good.row.includes("UA-1545"), JSON.stringify(good));
  await page.fill("textarea >> nth=0", `desc(at, ms) + waybill`);
  await page.locator(".findings .warning").first().waitFor();
  await page.waitForURL(/key=desc/);
  const bad = await asAnswered();
  assert.ok(bad.findings.some((f) => f.severity === "warning" && /time|grow|region/.test(f.message)), JSON.stringify(bad.findings));
  assert.notDeepEqual(bad.splits, good.splits);
  await page.fill("textarea >> nth=0", `md5(waybil, 4) + waybill`);
  await page.locator(".findings .error:has-text('Line 1, column 5')").waitFor();
  await page.fill("textarea >> nth=0", `salt(4, at) + waybill + "|" + asc(at, ms)`);
  await page.fill("[aria-label='Condition: at']", "");
  await page.locator("h2:text('Ranges read: 4')").waitFor();
  await page.fill("[aria-label='Value: waybill']", evil);
  await page.locator(".rowkey:has-text('onerror')").waitFor();
  const address = page.url();
  await page.goto("about:blank");
  await page.goto(address);
  await page.locator(".rowkey:has-text('onerror')").waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.selectOption("select >> nth=2", "logistics:scans");
  await page.locator("td:text-is('md5(waybill, 4)')").waitFor();
  await page.fill("[aria-label='Value: waybill']", "W1");
  await page.locator(".hint:has-text('at')").waitFor(); // fields are missing
  await page.fill("input[aria-describedby=apart-help]", "0000none");
  await page.waitForURL(/0000none/);
  await asAnswered();
});

shows("long work is looked at first, goes on in another tab, and its outcome stays", async (t) => {
  const page = await open(t, "admin", dev.operators + "/replay");
  await page.fill("[name=from]", "whenever it was");
  await page.click("text=Show the plan");
  await page.locator("form [role=alert]").waitFor();
  assert.equal(await page.inputValue("[name=from]"), "whenever it was");
  await page.selectOption("[name=pipeline]", "scans");
  await page.fill("[name=from]", "earliest");
  await page.fill("[name=partitions]", "0");
  await page.fill("[name=keys]", " a key\nanother");
  await page.check("[name=skip_missing]");
  await page.click("text=Show the plan");
  await page.waitForURL("**/jobs?job=*");
  await page.goBack();
  const typed = async () => {
    await until(async () => await page.inputValue("[name=pipeline]") === "scans", "the pipelines to choose from are known");
    assert.deepEqual([await page.inputValue("[name=from]"), await page.inputValue("[name=keys]"), await page.isChecked("[name=skip_missing]")],
      ["earliest", " a key\nanother", true]);
  };
  await typed();
  await page.reload();
  await typed();
  await page.click("button:text-is('Clear')");
  assert.equal(await page.inputValue("[name=keys]"), "");
  await page.reload();
  assert.equal(await page.inputValue("[name=from]"), "");
  const box = await page.locator("[name=skip_missing]").boundingBox();
  assert.deepEqual([box.width, box.height], [20, 20], "a box is as wide as it is high");
  await page.selectOption("[name=pipeline]", "scans");
  await page.fill("[name=from]", "earliest");
  await page.fill("[name=partitions]", "0");
  await page.click("text=Show the plan");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.locator("[data-what=plan]").waitFor();
  await page.click("text=Start the replay");
  await page.locator("dialog:has-text('earliest')").waitFor();
  const looked = page.url();
  await page.click("dialog >> button:text('Start the replay')");
  await page.waitForURL((url) => url.href.includes("/jobs?job=") && url.href !== looked);
  const address = page.url();
  await page.finish(); // the tab is closed
  const other = await open(t, "admin", address);
  await other.locator(".job .badge:text('done')").waitFor();
  await other.locator("[data-what=result]").waitFor();
  const done = await as("admin", `/api/v1/ops/jobs/${new URL(address).searchParams.get("job")}`, {}, dev.operators), result = done.results.find((one) => one.what === "result").value;
  assert.ok(result.finished && result.replayed > 0, JSON.stringify(result));
  const progress = await text(other, ".progress");
  assert.match(progress, /scans.rows\s+([\d,]+) of \1/);
  await other.click("text=Show list");
  await other.locator("tbody tr >> nth=1").waitFor();
});

shows("rows are verified, and a verification is canceled", async (t) => {
  const page = await open(t, "admin", dev.operators + "/verify");
  await page.selectOption("[name=pipeline]", "scans");
  await page.fill("[name=rate]", "50");
  await page.click("main >> button:text-is('Verify')");
  await page.waitForURL("**/jobs?job=*");
  await page.click("text=Cancel");
  await page.click("dialog >> button:text('Cancel')");
  await page.locator(".job .badge:text('canceled')").waitFor();
  await page.goto(dev.operators + "/verify");
  await page.selectOption("[name=pipeline]", "scans");
  await page.fill("[name=sample]", "10%");
  await page.fill("[name=partitions]", "0, 1");
  await page.click("main >> button:text-is('Verify')");
  await page.locator(".job:has-text('partitions [0,1]')").waitFor();
  await page.locator(".job .badge:text('done'), .job .badge:text('failed')").waitFor();
  await page.locator("[data-what=report]").waitFor();
});

shows("dead letters are looked at before they are replayed, and purged by administrators alone", async (t) => {
  const page = await open(t, "admin", dev.operators + "/dead-letters?pipeline=scans&half=rows&reason=wrong_type");
  await page.locator("#which").waitFor();
  await page.click("text=Replay dead letters…");
  await page.click("dialog >> text=Preview");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done'), .job .badge:text('failed')").waitFor();
  await page.locator("[data-what] dl, [data-what] table").first().waitFor();
  await page.goto(dev.operators + "/dead-letters");
  await page.click("text=Purge dead letters…");
  await page.fill("dialog >> [name=older_than]", "30d");
  await page.click("dialog >> text=Preview");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.locator("[data-what=topic]").waitFor();
  assert.match(await text(page, ".job"), /nothing to delete/);
  assert.equal(await page.locator("text=Delete these").count(), 0, "what would delete nothing is not offered");
  await page.goto(dev.operators + "/dead-letters?all=true");
  await page.click("text=Replay dead letters…");
  await page.locator("dialog .hint:has-text('not replayed again')").waitFor();
  await page.click("dialog >> text=Back");
  await page.click("text=Purge dead letters…");
  await page.fill("dialog >> [name=older_than]", "1s");
  await page.uncheck("dialog >> [name=keep_open]");
  await page.click("dialog >> text=Preview");
  await page.waitForURL("**/jobs?job=*");
  const button = page.locator("button:text-is('Delete these')");
  await button.waitFor();
  const id = new URL(page.url()).searchParams.get("job"), job = await as("admin", `/api/v1/ops/jobs/${id}`, {}, dev.operators), sent = [];
  await page.route("**/ops/jobs/dead-letter-purge", (route) => {
    sent.push([route.request().postDataJSON(), route.request().headers()["idempotency-key"]]);
    return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: "not now" }) });
  });
  await button.click();
  const records = job.results.reduce((n, result) => n + result.value.records, 0);
  await page.locator(`dialog:has-text('${records} records')`).waitFor();
  for (let n = 1; n < 3; n++) {
    await page.click("dialog >> button:text-is('Delete these')");
    await until(() => sent.length === n, "the purge is asked for");
    await page.locator("dialog [role=alert]:has-text('not now')").waitFor();
  }
  assert.deepEqual(sent[0][0], { older_than: "1s", shown: id }, "it deletes what was shown");
  assert.equal(sent[0][1], sent[1][1], "a second click is the same request");
  const old = { ...job, ended: new Date(Date.now() - 3_700_000).toISOString() };
  await page.route(`**/ops/jobs/${id}`, (route) => route.fulfill({ json: old }));
  await page.route(`**/ops/jobs/${id}/events`, (route) => route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(old)}\n\n` }));
  await page.reload();
  await page.locator(".hint:has-text('more than an hour old')").waitFor();
  assert.equal(await button.count(), 0);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

shows("dead letters that take longer to count than an answer may are counted by a job, in the place of the answer", async (t) => {
  const page = await open(t, "operator", dev.operators + "/me"), asked = "pipeline=scans&half=rows&reason=wrong_type";
  const { sums } = await as("operator", `/api/v1/ops/dead-letters/summary?${asked}`, {}, dev.operators), all = sums.reduce((n, sum) => n + sum.letters, 0);
  assert.ok(all > 1, JSON.stringify(sums));
  let counted = 0, running = true;
  await page.route("**/dead-letters/summary?*", (route) => {
    counted++;
    return route.fulfill({ status: 503, contentType: "application/problem+json", body: JSON.stringify({ type: "/api/v1/docs#unavailable", title: "unavailable", status: 503, detail: "the stores did not answer" }) });
  });
  await page.route("**/ops/jobs/*/events", (route) => {
    if (!running) return route.continue();
    const job = { id: "x", kind: "dead-letter-scan", state: "running", account: "operator", created: new Date().toISOString(), asked: {}, progress: [{ of: "dead letters", done: 40, total: 100, per_second: 10, eta_seconds: 6 }] };
    return route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(job)}\n\n` });
  });
  await page.goto(`${dev.operators}/dead-letters?${asked}`);
  await page.locator(".hint:has-text('counted in the background') >> button").click();
  assert.equal(counted, 1, "what has taken too long is not asked again by itself");
  await page.fill("dialog >> [name=list]", "501"); // more than the API takes
  await page.locator("dialog >> [name=list]").evaluate((input) => input.removeAttribute("max"));
  await page.click("dialog >> text=Start counting");
  await page.locator("dialog [role=alert]:has-text('501')").waitFor();
  await page.fill("dialog >> [name=list]", "1");
  await page.click("dialog >> text=Start counting");
  await page.waitForURL((url) => url.pathname === "/dead-letters" && url.search.startsWith(`?${asked}&scan=`));
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator(".job .progress:has-text('40 of 100')").waitFor();
  assert.equal(await page.locator("#kinds").count(), 0, "what is not counted yet is not shown");
  running = false;
  await page.locator(".job .badge:text-is('done')").waitFor();
  const kinds = page.locator("section:has(#kinds) tbody tr");
  await kinds.first().waitFor();
  assert.deepEqual(await kinds.locator("td:nth-child(5)").allInnerTexts(), sums.map((sum) => String(sum.letters)));
  assert.deepEqual(await kinds.locator("td:nth-child(8)").allInnerTexts(), sums.map((sum) => sum.example));
  assert.equal(await page.locator("section:has(#which) tbody tr").count(), 1);
  await page.locator("section:has(#which) >> text=Only the first 1 are listed").waitFor();
  assert.deepEqual(await wrongIn(page), []);
  const address = page.url();
  await page.click("section:has(#which) tbody a");
  await page.locator(".letter dl").first().waitFor();
  await page.click("text=Show list");
  await kinds.first().waitFor();
  assert.equal(page.url(), address);
  await page.goto(`${dev.operators}/jobs?job=${new URL(address).searchParams.get("scan")}`);
  await page.locator("[data-what=sum], [data-what=dead_letter]").first().waitFor();
  await page.click("text=Show on the page of dead letters");
  await kinds.first().waitFor();
  assert.equal(page.url(), address);
  await page.click("text=Show them as they are now");
  await page.waitForURL(`**/dead-letters?${asked}`);
  assert.equal(counted, 2);
});

shows("a look at the replay of several dead letters is read as tables, which say what belongs to which", async (t) => {
  const page = await open(t, "operator", dev.operators + "/me"), change = (row, column, then, now) => ({ in: "logistics:scans", row, column, action: now ? "replaces" : "adds", ...now ? { now, now_version: 7 } : {}, then, version: 8 });
  const effect = (record, changes, more = {}) => ({ pipeline: "scans.rows", record, reason: "wrong_type", field: "at", version: 8, changes, ...more });
  const job = { id: "look", kind: "dead-letter-replay", state: "done", account: "operator", created: new Date().toISOString(), progress: [], asked: { pipeline: "scans", preview: 10 }, results: [
    effect("courier.scans/0:1", [change("r1", "e:s", "EWR"), change("r1", "e:a", evil, "LOADED")], { fixed: [{ field: "at", before: "soon", after: "2026-01-01T00:00:00Z" }] }),
    effect("courier.scans/0:2", [change("r2", "e:s", "IAH")]), effect("courier.scans/1:1", [], { rejected: "at: not a time" }),
  ].map((value) => ({ what: "effect", value })).concat([{ what: "preview", value: { pipeline: "scans.rows", letters: 3, writable: 2, rejected: { wrong_type: 1 } } }]) };
  await page.route("**/ops/jobs/look", (route) => route.fulfill({ json: job }));
  await page.route("**/ops/jobs/look/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(job)}\n\n` }));
  const table = async (nth) => (await page.locator("[data-what=effect] table").nth(nth).locator("tr").allInnerTexts()).map((line) => line.split("\t"));
  await page.goto(dev.operators + "/jobs?job=look");
  await page.locator("[data-what=effect] table").first().waitFor();
  assert.deepEqual(await table(0), [["pipeline", "record", "reason", "field", "version", "rejected"], ["scans.rows", "courier.scans/0:1", "wrong_type", "at", "8", ""],
    ["scans.rows", "courier.scans/0:2", "wrong_type", "at", "8", ""], ["scans.rows", "courier.scans/1:1", "wrong_type", "at", "8", "at: not a time"]]);
  assert.deepEqual(await page.locator("[data-what=effect] h3").allInnerTexts(), ["changes", "fixed"]);
  assert.deepEqual(await table(1), [["record", "in", "row", "column", "action", "then", "version", "now", "now version"], ["courier.scans/0:1", "logistics:scans", "r1", "e:s", "adds", "EWR", "8", "", ""],
    ["courier.scans/0:1", "logistics:scans", "r1", "e:a", "replaces", evil, "8", "LOADED", "7"], ["courier.scans/0:2", "logistics:scans", "r2", "e:s", "adds", "IAH", "8", "", ""]]);
  assert.deepEqual(await table(2), [["record", "field", "before", "after"], ["courier.scans/0:1", "at", "soon", "2026-01-01T00:00:00Z"].map((text, i) => i === 3 ? "1 Jan 2026, 08:00" : text)]);
  assert.doesNotMatch(await text(page, "[data-what=effect]"), /[{}[\]]/);
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("[data-what=effect] >> text=Download CSV").nth(1).click()]);
  assert.equal(file.suggestedFilename(), "effect-changes.csv");
  assert.equal((await readFile(await file.path(), "utf8")).split("\r\n")[1], "courier.scans/0:1,logistics:scans,r1,e:s,adds,EWR,8,,");
  for (const result of job.results) if (result.what === "effect") result.value.record = "courier.scans/0:1"; // of two halves, or of what a scan has met twice
  await page.reload();
  await page.locator("[data-what=effect] table").first().waitFor();
  assert.deepEqual((await table(1)).map((line) => line[0]), ["number", "1", "1", "2"]);
  assert.deepEqual(await wrongIn(page), []);
});

shows("dead letters of a group that is not in the configuration are found by a link all the same", async (t) => {
  const page = await open(t, "operator", dev.operators + "/me"), seen = { reason: "wrong_type", letters: 1, first: "2026-06-01T00:00:00Z", last: "2026-06-01T00:00:00Z" };
  await page.route("**/dead-letters/summary?*", (route) => route.fulfill({ json: { sums: ["scans.rows", "brine-2025.scans.rows", "gone.documents", "nodots"].map((pipeline, n) => ({ pipeline, ...seen, example: `0:${n}` })) } }));
  await page.goto(dev.operators + "/dead-letters?since=2h");
  const links = page.locator("section:has(#kinds) tbody a");
  await links.nth(7).waitFor();
  const hrefs = await links.evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.deepEqual(hrefs.slice(0, 2), ["/dead-letters?pipeline=scans&half=rows&reason=wrong_type&since=2h", "/dead-letters?pipeline=scans&record=0%3A0"]);
  for (const [n, group] of ["brine-2025.scans.rows", "gone.documents", "nodots"].entries()) {
    assert.deepEqual(hrefs.slice(2 + 2 * n, 4 + 2 * n), ["/dead-letters?reason=wrong_type&since=2h", `/dead-letters?record=0%3A${n + 1}`], group);
  }
  const [answer] = await Promise.all([page.waitForResponse(/ops\/dead-letters\?/), links.nth(2).click()]);
  assert.equal(answer.status(), 200, "what the link asks for is known to the API");
});

shows("a statement that runs is canceled by a button that says so, and a statement that was answered stays", async (t) => {
  const page = await open(t, "support", dev.users + "/sql"), given = `SELECT at, action FROM scans WHERE waybill = '${waybill}'`;
  await page.fill("input[aria-describedby=why]", "case 4716");
  await page.fill("textarea", given);
  await page.click("button.main");
  await page.locator("td:text-is('SIGNED')").first().waitFor();
  let failed = 0;
  page.on("requestfailed", (request) => { if (request.url().endsWith("/api/v1/sql")) failed++; });
  await page.route("**/api/v1/sql", (route) => route.request().method() === "POST" ? undefined : route.fallback()); // it has no answer
  await page.click("button.main");
  const buttons = page.locator("form .buttons button");
  await until(async () => await buttons.count() === 3, "the statement runs");
  assert.equal(await buttons.last().innerText(), "Cancel");
  await buttons.last().click();
  await until(() => failed === 1, "the request has ended");
  await page.locator("button.main:not([disabled])").waitFor();
  assert.equal(await buttons.count(), 2);
  assert.equal(await page.inputValue("textarea"), given);
  assert.equal(await page.locator(".failure").count(), 0);
  assert.equal(await page.locator("td:text-is('SIGNED')").count() > 0, true, "the answer from before stays");
});

shows("the same form starts one job, until something in it changes", async (t) => {
  const page = await open(t, "admin", dev.operators + "/verify"), keys = [];
  await page.route("**/ops/jobs/verify", (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: `refused ${keys.length}` }) });
  });
  const send = async (n) => {
    await page.locator("form button.main").click();
    await page.locator(`[role=alert]:has-text('refused ${n}')`).waitFor();
  };
  await page.fill("[name=sample]", "1%");
  await send(1);
  await send(2);
  await page.fill("[name=sample]", "2%");
  await send(3);
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
});

shows("the offsets that are set are those that were shown", async (t) => {
  const page = await open(t, "admin", dev.operators + "/offsets"), moves = [{ pipeline: "scans.rows", topic: "courier.scans", partition: 0, now: 10, then: 15, again: 0, skipped: 5 }];
  const sent = [];
  await page.route("**/api/v1/ops/offsets", (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const body = route.request().postDataJSON();
    sent.push(body);
    if (body.dry_run) return route.fulfill({ json: { moves, done: false } });
    if (sent.length === 2) return route.abort(); // the answer is lost
    if (sent.length === 3) return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: "offset 12 is now" }) });
    return route.fulfill({ json: { moves: [], done: true } });
  });
  await page.click("text=Set offsets…");
  await page.fill("dialog >> [name=to]", "+5");
  await page.click("dialog >> text=Preview");
  await page.click("dialog >> text=Set them");
  await page.locator("dialog [role=alert]:has-text('offset 12 is now')").waitFor();
  assert.equal(await page.locator("dialog >> text=Set them").count(), 0, "what has changed is previewed again");
  await page.click("dialog >> text=Preview");
  await page.click("dialog >> text=Set them");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(sent.filter((body) => !body.dry_run), [{ moves }, { moves }, { moves }]);
});

shows("dead letters are those of a partition, in the list and in a replay", async (t) => {
  const page = await open(t, "admin", dev.operators + "/dead-letters?pipeline=scans&half=rows&reason=wrong_type");
  await page.locator("#which").waitFor();
  const { dead_letters: letters } = await as("admin", "/api/v1/ops/dead-letters?pipeline=scans&half=rows&reason=wrong_type", {}, dev.operators);
  const of = letters[0].partition, other = of === 0 ? 1 : 0, n = letters.filter((letter) => letter.partition === of || letter.partition === other).length;
  await page.fill("[name=partition]", `${of}, ${other}`);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("partition") === `${of}, ${other}`);
  await page.locator(n === 1 ? "section:has(#which) >> text=1 in total" : `text=All ${n} shown`).waitFor();
  let sent;
  await page.route("**/ops/jobs/dead-letter-replay", (route) => {
    sent = route.request().postDataJSON();
    return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: "not now" }) });
  });
  await page.click("text=Replay dead letters…");
  await page.click("dialog >> text=Preview");
  await page.locator("dialog [role=alert]").waitFor();
  assert.deepEqual(sent, { pipeline: "scans", half: "rows", reasons: ["wrong_type"], partitions: [of, other], preview: 10 });
  await page.goto(dev.operators + "/dead-letters?partition=x");
  await page.locator(".failure:has-text('partition')").first().waitFor();
});

shows("what is extra is deleted by administrators, once all rows were verified", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me");
  const job = (asked, extra) => ({ id: "look", kind: "verify", state: "failed", account: "admin", created: new Date().toISOString(), progress: [], asked,
    results: [{ what: "report", value: { result: "differs", problems: extra, tables: [{ table: "logistics:scans", found: { missing: 0, extra } }, { index: "orders", found: { extra: 0 } }] } }] });
  let now, sent;
  await page.route("**/ops/jobs/look", (route) => route.fulfill({ json: now }));
  await page.route("**/ops/jobs/look/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(now)}\n\n` }));
  await page.route("**/ops/jobs/verify", (route) => {
    sent = route.request().postDataJSON();
    return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: "an earlier filter" }) });
  });
  const button = page.locator("button:text-is('Delete what is extra')");
  for (const [asked, extra] of [[{ pipeline: "scans" }, 3], [{ full: true, sample: "10%" }, 3], [{ full: true }, 0], [{ full: true, delete_extra: true }, 3]]) {
    now = job(asked, extra);
    await page.goto(dev.operators + "/jobs?job=look");
    await page.locator("[data-what=report]").waitFor();
    assert.equal(await button.count(), 0, JSON.stringify(asked));
  }
  now = job({ pipeline: "scans" }, 3);
  now.results[0].value.sources = [{ pipeline: "scans.rows", topic: "courier.scans", records: 1200, left_out_by_reason: { empty: 7 } }];
  await page.reload();
  await page.locator("[data-what=report] [aria-label=tables]").waitFor();
  const table = async (name) => (await page.locator(`[data-what=report] [aria-label=${name}] tr`).allInnerTexts()).map((line) => line.split("\t"));
  assert.deepEqual(await table("tables"), [["table", "found: missing", "found: extra", "index"], ["logistics:scans", "0", "3", ""], ["", "", "0", "orders"]]);
  assert.deepEqual(await table("sources"), [["pipeline", "topic", "records", "left out by reason: empty"], ["scans.rows", "courier.scans", "1,200", "7"]]);
  assert.doesNotMatch(await text(page, "[data-what=report]"), /[{}]/);
  assert.deepEqual(await wrongIn(page), []);
  now = job({ pipeline: "scans" }, 0);
  now.results[0].value.result = "equal";
  await page.reload();
  await page.locator("[data-what=report]").waitFor();
  assert.equal(await page.locator("button:text-is('Repair findings')").count(), 0, "there is nothing to repair");
  now = job({ pipeline: "scans", full: true }, 3);
  await page.reload();
  await button.click();
  await page.locator("dialog:has-text('has found 3')").waitFor();
  await page.click("dialog >> button:text-is('Back')");
  assert.equal(sent, undefined, "nothing is deleted that was not confirmed");
  await button.click();
  await page.click("dialog >> button:text-is('Delete what is extra')");
  await page.locator("dialog [role=alert]:has-text('an earlier filter')").waitFor();
  assert.deepEqual(sent, { pipeline: "scans", full: true, delete_extra: true, most_extra: 3 });
  await page.route("**/api/v1/me", (route) => route.fulfill({ json: { name: "admin", role: "operator" } }));
  await page.reload();
  await page.locator("button:text-is('Repair findings')").waitFor();
  assert.equal(await button.count(), 0, "operators do not delete");
});

shows("a pipeline is paused, limited and resumed", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview");
  const orders = page.locator(".sheet:has(#pipeline-orders)");
  await orders.locator("text=running").first().waitFor();
  await page.click("[aria-label='Pause: orders']");
  await page.click("dialog >> text=Back");
  await page.click("[aria-label='Pause: orders']");
  await page.selectOption("dialog >> [name=half]", "documents");
  await page.click("dialog >> button:text('Pause')");
  await orders.locator(".badge:text('paused')").waitFor();
  await orders.locator("text=requested by admin").waitFor();
  await page.click("[aria-label='Resume: orders']");
  await page.click("dialog >> button:text('Resume')");
  await orders.locator(".badge:text('paused')").waitFor({ state: "detached" });
  await page.click("[aria-label='Limit: orders']");
  await page.fill("dialog >> [name=limit]", "5000");
  await page.click("dialog >> button:text('Limit')");
  await orders.locator("text=Limited to").first().waitFor();
  await page.click("[aria-label='Limit: orders']");
  await page.fill("dialog >> [name=limit]", "0");
  await page.click("dialog >> button:text('Limit')");
  await orders.locator("text=Limited to").first().waitFor({ state: "detached" });
});

shows("tables and the configuration are as they run", async (t) => {
  const page = await open(t, "admin", dev.operators + "/tables");
  await page.click("tbody >> text=logistics:scans");
  await page.locator("tr:has-text('BLOOMFILTER')").first().waitFor();
  await page.click("a:has-text('Regions of logistics:scans (16)')");
  await page.waitForURL("**/regions?table=logistics*");
  await page.click("nav >> text=Configuration");
  await page.locator("pre:has-text('md5(waybill, 4)')").waitFor();
  for (const secret of Object.values(dev.passwords)) assert.ok(!(await text(page, "pre")).includes(secret));
});

shows("one's own password and tokens", async (t) => {
  dev.passwords.mia = "the first one of mia";
  await as("admin", "/api/v1/ops/accounts", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "mia", role: "support", owner: "", password: dev.passwords.mia }) }, dev.operators);
  const page = await open(t, "mia", dev.users + "/track");
  await page.click("header >> text=mia");
  await page.waitForURL("**/me");
  await page.click("text=New token");
  await page.fill("dialog >> [name=name]", evil);
  assert.deepEqual(await page.locator("dialog >> [name=role] option").allInnerTexts(), ["customer", "support"]);
  await page.click("dialog >> button:text-is('Create')");
  const token = await text(page, ".token");
  const asked = async () => (await fetch(dev.users + "/api/v1/me", { headers: { Authorization: `Bearer ${token}` } })).status;
  assert.equal(await asked(), 200);
  await page.click("dialog >> text=Close");
  await page.locator("td:has-text('onerror')").waitFor();
  assert.ok(!(await page.content()).includes(token), "it is shown once");
  await page.click("td >> text=Revoke");
  await page.click("dialog >> button:text('Revoke')");
  await page.locator("text=The token has been revoked").waitFor();
  assert.equal(await asked(), 401);
  await page.fill("[name=old]", "something else it was");
  await page.fill("[name=password]", "the second one of mia");
  await page.click("text=Save");
  await page.locator("[role=alert]:has-text('is not the password')").waitFor();
  await page.fill("[name=old]", dev.passwords.mia);
  await page.click("text=Save");
  await page.locator("text=Your password has been changed").waitFor();
  assert.equal(await page.inputValue("[name=old]"), "");
  dev.passwords.mia = "the second one of mia";
  await signIn("mia");
  await page.reload();
  await page.locator("#tokens-title").waitFor(); // the session goes on
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds wrong with a page. */
async function wrongIn(page) {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(axe);
  const found = await page.evaluate((runOnly) => window.axe.run({ runOnly, resultTypes: ["violations"] }), axeTags); // what is right is not described
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
}

/** Headings and labels that are seen or read aloud and have no Chinese: those that name what users have named are marked, for translators too. */
const englishIn = (page) => page.evaluate(() => {
  const found = [], same = new Set(["SQL", "MB"]); // in both languages
  const look = (text, parts) => {
    for (const one of parts ? text.split(": ") : [text]) if (/[A-Za-z]{2}/.test(one) && !/\p{Script=Han}/u.test(one) && !same.has(one.trim())) found.push(text.trim());
  };
  for (const one of document.querySelectorAll("h1, h2, h3, h4, th, dt, legend, figcaption, [aria-label]")) {
    if (!one.checkVisibility() || one.closest("[translate=no]")) continue;
    if (one.hasAttribute("aria-label")) look(one.getAttribute("aria-label"), false);
    if (/^(H\d|TH|DT|LEGEND|FIGCAPTION)$/.test(one.tagName)) look(one.innerText, /^(TH|DT)$/.test(one.tagName));
  }
  return found;
});

shows("a reload is planned, confirmed and applied; what cannot be is said, and nothing is done", async (t) => {
  const run = await startRun(dev);
  t.after(() => run.stop());
  const words = {
    en: { plan: "Reload plan", changes: "drains and continues with the change", apply: "Apply", applied: "Applied: configuration", again: "Refresh", refused: "goes on with its current configuration" },
    zh: { plan: "重新加载的计划", changes: "收尾后按新配置继续", apply: "应用", applied: "已应用", again: "刷新", refused: "目前不能执行" },
  };
  let n = 1;
  for (const language of ["en", "zh"]) {
    const say = words[language], window = (size) => run.write(`    read: { window: ${size} }\n`);
    await window(++n);
    const page = await open(t, "admin", run.operators + "/configuration", { language, width: language === "zh" ? 360 : 1100 });
    await page.locator("pre").waitFor();
    assert.ok(!(await text(page, "pre")).includes(`window: ${n}`));
    await page.click(`a:text-is('${say.plan}')`);
    await page.waitForURL("**/configuration?plan=");
    await page.locator("td:text-is('pipelines.scans.read.window')").first().waitFor();
    await page.locator(`tr:has-text('scans.rows') >> text=${say.changes}`).waitFor();
    assert.deepEqual(await wrongIn(page), []);

    await page.click(`section >> button:text-is('${say.apply}')`);
    await window(++n); // somebody saves another file meanwhile
    await page.click(`dialog >> button:text-is('${say.apply}')`);
    await page.locator("dialog [role=alert]:has-text('has changed since it was shown')").waitFor();
    await page.click("dialog >> button >> nth=-1");
    await page.click(`button:text-is('${say.again}')`);
    await page.locator(`tr:has-text('pipelines.scans.read.window') >> td:text-is('${n}')`).first().waitFor();
    await page.click(`section >> button:text-is('${say.apply}')`);
    await page.click(`dialog >> button:text-is('${say.apply}')`);
    await page.locator(`section [role=status]:has-text('${say.applied}')`).waitFor();
    await page.locator(`pre:has-text('window: ${n}')`).waitFor();

    await run.write(`    read: { window: ${n} }\n`, "md5(waybill, 6)");
    await page.click(`button:text-is('${say.again}')`);
    await page.locator(`.failure:has-text('${say.refused}') li:has-text('tables.logistics:scans.key')`).waitFor();
    assert.equal(await page.locator(`section >> button:text-is('${say.apply}')`).count(), 0);
    assert.deepEqual(await wrongIn(page), []);
    await page.finish();
  }
});

shows("a reload says up to which offset both configurations may have written", async (t) => {
  for (const [language, label] of [["en", "Both before"], ["zh", "两种写法的终点"]]) {
    const page = await open(t, "admin", dev.operators + "/configuration", { language });
    const at = { pipeline: "scans.rows", topic: "scans", partition: 0, offset: 100 };
    const answer = (onward) => page.route("**/api/v1/ops/reload", (route) => route.fulfill({ json: {
      result: "applied", before: "a", after: "b", pipelines: [], settings: [], onward } }));
    await answer([at, { ...at, partition: 1, until: 150 }]);
    await page.goto(dev.operators + "/configuration?plan=");
    await page.locator(`th:text-is('${label}')`).waitFor();
    await page.locator("tr:has(td:text-is('1')) >> td:text-is('150')").waitFor();
    assert.deepEqual(await wrongIn(page), []);
    if (language === "zh") assert.deepEqual(await englishIn(page), []);
    await page.unroute("**/api/v1/ops/reload");
    await answer([at]);
    await page.reload();
    await page.locator("td:text-is('100')").waitFor();
    assert.equal(await page.locator(`th:text-is('${label}')`).count(), 0);
    await page.finish();
  }
});

shows("where brine cannot be reloaded, the page says so", async (t) => {
  const page = await open(t, "admin", dev.operators + "/configuration?plan=");
  await page.locator(".failure:has-text('no file to reload')").waitFor();
  await page.locator("pre").waitFor();
});

shows("a sign-in that a company's provider refuses is explained, and can be tried again", async (t) => {
  for (const [language, title] of [["en", "The sign-in was refused"], ["zh", "登录被拒绝"]]) {
    const page = await open(t, null, dev.users + "/track", { language });
    await page.route("**/api/v1/session", (route) => route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify({
      password: true, companies: [{ name: "Example Ltd", path: "/api/v1/session/oidc" }],
      refused: { status: 401, detail: `its account is disabled ${evil}`, request_id: "R-1" } }) }));
    let left = "";
    await page.route("**/api/v1/session/oidc", (route) => { left = route.request().url(); return route.fulfill({ status: 200, contentType: "text/html", body: "the provider" }); });
    await page.goto(dev.users + "/signin");
    await page.locator(`.failure:has-text('${title}')`).waitFor();
    const said = await text(page, ".failure");
    assert.ok(said.includes("its account is disabled") && said.includes(evil) && said.includes("R-1"), said);
    assert.deepEqual(await wrongIn(page), []);
    await page.click("a:has-text('Example Ltd')");
    await page.locator("text=the provider").waitFor();
    assert.equal(new URL(left).pathname, "/api/v1/session/oidc", "the browser itself goes to the provider");
    await page.finish();
  }
});

/** Answers a statement on a page, as support does. */
const answered = (statement, button = "form button.main") => async (page) => {
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", statement);
  await page.locator(button).click();
};

/** Verifies a little, for a page that shows a job with its outcome. */
async function aJob() {
  const { id } = await as("admin", "/api/v1/ops/jobs/verify", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ sample: "1%" }) }, dev.operators);
  await until(async () => (await as("admin", `/api/v1/ops/jobs/${id}`, {}, dev.operators)).state === "done", "the job is done");
}

// Every page, for who may see it, in both languages and themes, wide and narrow. Its picture is taken behind the click, unless it says before.
const pages = [
  { name: "signin", who: null, on: "users", path: "/signin", ready: "form" },
  { name: "signin-wrong", who: null, on: "users", path: "/signin", ready: "form", act: async (page) => {
    await page.route("**/api/v1/session", (route) => route.request().method() !== "POST" ? route.continue()
      : route.fulfill({ status: 401, contentType: "application/problem+json", body: JSON.stringify({ type: "", title: "", status: 401, detail: "wrong" }) }));
    await page.fill("[name=name]", "nobody");
    await page.fill("[type=password]", "wrong password");
    await page.locator("form button.main, form button[type=submit], form button").first().click();
  }, then: "[role=alert]" },
  { name: "signin-operators", who: null, on: "operators", path: "/signin", ready: "form" },
  { name: "track", who: null, on: "users", path: `/track?waybill=${waybill}`, ready: ".stations li", picture: true },
  { name: "track-many", who: "customer", on: "users", path: `/track?waybill=${waybill}&waybill=nowhere`, ready: "tbody tr" },
  { name: "orders", who: "customer", on: "users", path: "/orders", ready: ".rows li", click: ".rows li:nth-child(2) a", then: ".detail dl", picture: true },
  { name: "orders-support", who: "support", on: "users", path: "/orders", ready: "form.filters" },
  { name: "sql", who: "support", on: "users", path: "/sql", ready: "textarea" },
  { name: "sql-words", who: "support", on: "users", path: "/sql", ready: "textarea", 
    act: async (page) => { await page.fill("textarea", ""); await page.locator("textarea").pressSequentially("SEL"); }, then: "[role=option]" }, // what was typed before is still there
  { name: "sql-table", who: "support", on: "users", path: "/sql", ready: "textarea", act: answered(`SELECT * FROM scans WHERE waybill = '${waybill}'`), then: "main section table tbody tr" },
  { name: "sql-plan", who: "support", on: "users", path: "/sql", ready: "textarea",
    act: answered(`SELECT at FROM scans WHERE waybill = '${waybill}'`, "form .buttons button:nth-child(2)"), then: ".plan svg rect" },
  { name: "sql-bars", who: "support", on: "users", path: "/sql", ready: "textarea",
    act: answered("SELECT action, COUNT(*) FROM scans GROUP BY action ALLOW FULL SCAN"), then: ".chart li rect" },
  { name: "sql-line", who: "support", on: "users", path: "/sql", ready: "textarea",
    act: answered("SELECT waybill, COUNT(*) FROM scans GROUP BY waybill LIMIT 40 ALLOW FULL SCAN"), then: ".chart polyline" },
  { name: "sql-wrong", who: "support", on: "users", path: "/sql", ready: "textarea", act: answered("SELECT nothing FROM nowhere"), then: ".failure" },
  { name: "overview", who: "admin", on: "operators", path: "/overview", ready: ".sheet .reading", click: "text=/Show partitions|显示分区/", then: "table", picture: true },
  { name: "regions", who: "admin", on: "operators", path: "/regions?minutes=15", ready: ".heat canvas, main > p:not([role])" },
  { name: "dead-letters", who: "admin", on: "operators", path: "/dead-letters", ready: "#which", picture: true },
  { name: "dead-letter", who: "admin", on: "operators", path: "/dead-letters?reason=wrong_type", ready: "#which", click: "section:has(#which) tbody a", then: ".letter dl" },
  { name: "offsets", who: "admin", on: "operators", path: "/offsets", ready: "tbody tr", click: ".bar button", then: "dialog", picture: "before" },
  { name: "records", who: "admin", on: "operators", path: "/records", ready: "form select" },
  { name: "replay", who: "admin", on: "operators", path: "/replay", ready: "tbody tr, .empty" },
  { name: "verify", who: "admin", on: "operators", path: "/verify", ready: "tbody tr, .empty" },
  { name: "jobs", who: "admin", on: "operators", path: "/jobs", has: aJob, ready: "tbody tr", click: "tbody a", then: ".job", picture: "before" },
  { name: "tables", who: "admin", on: "operators", path: "/tables?table=logistics%3Ascans", ready: "#servers-title ~ .scroll", picture: true },
  { name: "keys", who: "admin", on: "operators", path: "/keys", ready: ".splits", picture: true },
  { name: "configuration", who: "admin", on: "operators", path: "/configuration", ready: "pre", picture: true },
  { name: "own", who: "customer", on: "users", path: "/me", ready: "#tokens-title", click: "section:has(#tokens-title) button", then: "dialog", picture: "before" },
  { name: "own-page", who: "customer", on: "users", path: "/me", ready: "#tokens-title" },
  { name: "own-page-operators", who: "admin", on: "operators", path: "/me", ready: "#tokens-title" },
  { name: "accounts", who: "admin", on: "operators", path: "/accounts", ready: "tbody tr", click: "tbody button", then: "dialog", picture: "before" },
  { name: "audit", who: "admin", on: "operators", path: "/audit", ready: "tbody tr", picture: true },
];

// They change nothing, so that two are looked at side by side.
describe("pages", { concurrency: 2 }, () => {
  for (const one of pages) shows(`${one.name} is for everybody: axe, both languages and themes, 360 px`, async (t) => {
    await one.has?.();
    const page = await open(t, one.who, dev[one.on] + one.path);
    for (const [language, ...looks] of [["en", ["light", 1100], ["dark", 360]], ["zh", ["dark", 360], ["light", 1100]]]) {
      for (const [n, [theme, width]] of looks.entries()) { // a page is loaded once in each language
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        if (n === 0) await loadIn(page, one, language);
        const at = `${one.name} in ${language}, ${theme}, ${width} px`;
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(over, 0, `${at} is wider than the window`);
        assert.equal(await page.evaluate(() => document.documentElement.lang), language === "zh" ? "zh-CN" : "en");
        assert.deepEqual(await wrongIn(page), [], at);
        if (language === "zh") assert.deepEqual(await englishIn(page), [], at);
        else assert.notDeepEqual(await englishIn(page), [], `${at}: where everything is English it is found`);
      }
    }
  });
});

/** Has one of the pages in a language, which is English as it is opened, does what is done on it, and takes its picture. */
async function loadIn(page, one, language) {
  const pictured = language === "en" && one.picture;
  if (language !== "en") {
    await page.evaluate((chosen) => localStorage.setItem("language", chosen), language);
    await page.goto(dev[one.on] + one.path);
  }
  await page.locator(one.ready).first().waitFor();
  if (pictured && (!one.click || one.picture === "before")) await picture(page, one.name);
  if (one.click) {
    await page.locator(one.click).first().click();
    await page.locator(one.then).first().waitFor();
    if (pictured && one.picture === true) await picture(page, one.name);
  }
  if (one.act) {
    await one.act(page);
    await page.locator(one.then).first().waitFor();
  }
}

shows("what came of a job of each kind has Chinese headings, and is in tables however deep it is", async (t) => {
  const start = async (kind, body) => {
    const job = await as("admin", `/api/v1/ops/jobs/${kind}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, dev.operators);
    assert.ok(job.id, `${kind}: ${JSON.stringify(job)}`);
    return job.id;
  };
  const { dead_letters: [letter] } = await as("admin", "/api/v1/ops/dead-letters?pipeline=scans&half=rows&reason=wrong_type", {}, dev.operators);
  const { regions } = await as("admin", "/api/v1/ops/tables/logistics%3Ascans/regions", {}, dev.operators);
  const { rows: [[row, version]] } = await as("admin", "/api/v1/sql", { method: "POST", headers: { "Content-Type": "application/json", "Brine-Reason": "a look" },
    body: JSON.stringify({ statement: `SELECT _key, _time(station) FROM logistics:scans WHERE waybill = '${waybill}' LIMIT 1` }) });
  const page = await open(t, "admin", dev.operators + "/me", { language: "zh" }), whats = new Set(), jobs = [];
  for (const [kind, body] of [
    ["verify", { full: true }], ["replay", { pipeline: "scans", from: "earliest", dry_run: true }], ["replay", { pipeline: "scans", from: "earliest", diff: 5 }],
    ["dead-letter-scan", { list: 2 }], ["dead-letter-replay", { pipeline: "scans", half: "rows", preview: 3, let: ['at = "1700000000000"'], alter_identity: true }],
    ["dead-letter-purge", { older_than: "1ms", dry_run: true }], ["reindex", { index: "orders", from: "hbase", dry_run: true }],
    ["region-split", { table: "logistics:scans", region: regions.at(-1).name, dry_run: true }],
    ["explain", { topic: letter.topic, partition: letter.partition, offset: letter.offset }], ["explain", { topic: "courier.scans", partition: 0, offset: 0 }],
    ["seek", { table: "logistics:scans", row, version: String(version) }],
  ]) {
    jobs.push([`${kind} of ${JSON.stringify(body)}`, await start(kind, body)]);
  }
  for (const [said, id] of jobs) {
    await page.goto(`${dev.operators}/jobs?job=${id}`);
    await page.locator("[data-what]").first().waitFor();
    assert.deepEqual(await englishIn(page), [], said);
    assert.doesNotMatch((await page.locator("[data-what] td").allInnerTexts()).join("\n"), /^\{"/m, said);
    for (const what of await page.locator("[data-what]").evaluateAll((all) => all.map((one) => one.dataset.what))) whats.add(what);
  }
  for (const what of ["report", "plan", "diff", "sum", "dead_letter", "effect", "preview", "topic", "region", "record", "outcome", "row"]) assert.ok(whats.has(what), `${what} is not among ${[...whats]}`);
});

shows("each dialog is for everybody, and is Chinese in Chinese", async (t) => {
  const order = { order: "C-DIALOG", user: "u00042", created: Date.UTC(2026, 5, 2), at: Date.UTC(2026, 5, 2), status: "paid", items: "tea x1 9.00", brand: "brand", lines: 1, total: 9 };
  await publish(dev, "shop.orders", "order", [order]);
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-DIALOG")).rows.length === 1, "the order is written");
  const dialogs = { // by the clicks that open them
    operator: { "/dead-letters": [0, 1, 2].map((n) => [`.bar .buttons button >> nth=${n}`]), "/overview": [0, 1].map((n) => [`.sheet:has(#pipeline-orders) .bar button >> nth=${n}`]), "/regions": [0, 1].map((n) => [`#regions-title ~ .scroll tbody button >> nth=${n}`]) },
    admin: { "/accounts": [["main .bar button"]] },
    customer: { "/orders?order=C-DIALOG": [[".rows a", ".detail .buttons button"]], "/me": [["section:has(#tokens-title) button"]] },
  };
  for (const [who, opens] of Object.entries(dialogs)) {
    const base = who === "customer" ? dev.users : dev.operators, page = await open(t, who, base + "/me", { language: "zh", width: 360 });
    for (const [path, each] of Object.entries(opens)) {
      await page.goto(base + path);
      for (const clicks of each) {
        for (const one of clicks) await page.locator(one).first().click();
        await page.locator("dialog[open] h2").waitFor();
        const at = `${who} at ${path}, ${clicks.at(-1)}`;
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          assert.deepEqual(await wrongIn(page), [], `${at}, ${colorScheme}`);
        }
        assert.deepEqual(await englishIn(page), [], at);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${at} is wider than the window`);
        await page.keyboard.press("Escape");
        await page.locator("dialog").waitFor({ state: "detached" });
      }
    }
    await page.finish();
  }
});

shows("findings about a key are said in Chinese, for each rule", async (t) => {
  const { kinds } = await moduleOf("../i18n/results.zh.ts"), seen = new Set(), fields = ["waybill:text", "at:time", "n:int", "user:text"];
  const asked = (key, more) => new URLSearchParams([["key", key], ...fields.map((field) => ["field", field]), ...more]);
  for (const [key, ...more] of [
    [`desc(at, ms) + waybill`], [`waybill + "|" + desc(at, ms)`, ["servers", "9"]], [`md5(waybill, at, 4) + waybill`], [`md5(user, 4) + waybill`],
    [`salt(3, waybill) + waybill + "a" + desc(at, s, 32)`, ["servers", "9"], ["regions", "16"], ["query", "user"], ["query", "at.."]], [`salt(3, waybill) + waybill + "|" + desc(at, ms)`, ["regions", "16"]],
    [`md5(waybill, 1) + waybill + "|" + desc(at, ms)`, ["servers", "90"], ["regions", "2"]], [`md5(waybill, 4) + asc(n, 32) + desc(at, ms)`], [`md5(waybil, 4)`], [`md5(n, 1) + asc(n, 64)`],
    [`md5(n, 4) + asc(n, 64) + desc(at, ms)`], [`salt(16, at) + desc(at, ms) + waybill`, ["query", "at.."]],
  ]) {
    const { findings, status } = await as("admin", `/api/v1/ops/keys?${asked(key, more)}`, {}, dev.operators);
    assert.equal(status, 200, key);
    for (const { rule } of findings) {
      seen.add(rule);
      for (const text of [kinds[`key.${rule}`], ...rule === "key-syntax" ? [] : [kinds[`key.fix.${rule}`]]]) assert.match(text ?? "", /\p{Script=Han}/u, rule);
    }
  }
  const rowkey = new URL("../../rowkey/", import.meta.url), rules = new Set(["key-syntax"]);
  for (const name of await readdir(rowkey)) {
    if (/^lint(?!.*_test).*\.go$/.test(name)) for (const [, rule] of (await readFile(new URL(name, rowkey), "utf8")).matchAll(/Finding\{+"([\w-]+)"/g)) rules.add(`key-${rule}`);
  }
  assert.ok(rules.size > 10);
  assert.deepEqual([...seen].toSorted(), [...rules].toSorted(), "each rule that brine has is broken here");

  const query = asked(`salt(3, waybill) + waybill + "a" + desc(at, s, 32)`, [["servers", "9"], ["query", "user"]]);
  const { findings } = await as("admin", `/api/v1/ops/keys?${query}`, {}, dev.operators), page = await open(t, "admin", `${dev.operators}/keys?${query}`, { language: "zh" });
  await page.locator(".findings li").nth(findings.length - 1).waitFor();
  assert.ok(findings.length > 3);
  assert.deepEqual(await page.locator(".findings li").evaluateAll((all) => all.map((li) => [...li.querySelectorAll("p")].map((p) => [p.lang, p.innerText]))),
    findings.map(({ rule, message, fix }) => [["", kinds[`key.${rule}`]], ["", kinds[`key.fix.${rule}`]], ["en", `${message}; ${fix}`]]), "the rule in Chinese, and the API's own text, which has the expressions");
  assert.deepEqual([await englishIn(page), await wrongIn(page)], [[], []]);
});

/** With PICTURES, the pictures of the documentation are made of what is tested. */
async function picture(page, name) {
  if (!process.env.PICTURES) return;
  const path = `../docs/images/console-${name}.png`;
  await page.screenshot({ path });
  assert.ok((await stat(path)).size <= 150_000, `${path} is too large`);
}

/** Pictures of what came of long work, which is what its pages are for. */
if (process.env.PICTURES) shows("pictures of a replay, a verification, a search and an explanation", async (t) => {
  const { rows: [[row, version]] } = await as("admin", "/api/v1/sql", { method: "POST", headers: { "Content-Type": "application/json", "Brine-Reason": "a look" },
    body: JSON.stringify({ statement: `SELECT _key, _time(station) FROM logistics:scans WHERE waybill = '${waybill}' LIMIT 1` }) });
  const page = await open(t, "admin", dev.operators + "/replay");
  await page.setViewportSize({ width: 1100, height: 1300 });
  const outcome = async (name) => {
    await page.waitForURL("**/jobs?job=*");
    await page.locator(".job .badge:text-is('done')").waitFor();
    await page.locator("[data-what]").first().waitFor();
    await picture(page, name);
  };
  await page.selectOption("[name=pipeline]", "scans");
  await page.fill("[name=from]", "earliest");
  await page.click("button:text('Show the plan')");
  await outcome("replay");
  await page.goto(dev.operators + "/verify");
  await page.selectOption("[name=pipeline]", "scans");
  await page.check("[name=full]");
  await page.click("main >> button:text-is('Verify')");
  await outcome("verify");
  await page.goto(`${dev.operators}/records?${new URLSearchParams({ table: "logistics:scans", row, version: String(version) })}`);
  await page.click("button:text('Find the record')");
  await outcome("records");
  await page.click("a:has-text('Explain the record')");
  await page.waitForURL("**/records?topic=*");
  await page.click("button:text('Explain the record')");
  await outcome("explain");
});

shows("a heat map is read by keys, and its figures are the API's", async (t) => {
  const page = await open(t, "admin", dev.operators + "/regions?minutes=15&table=logistics%3Ascans");
  if (await page.evaluate(async () => (await fetch("/api/v1/ops/tables")).status) === 404) { // what the API does not say, the console does not either
    await page.locator("text=does not report its tables' regions").waitFor();
    return;
  }
  await page.locator(".heat canvas").waitFor();
  const heat = await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/heat?minutes=15")).json());
  assert.ok(heat.starts.length > 1 && heat.times.length > 0, JSON.stringify(heat).slice(0, 200));
  // From here on the map stays the same: the page asks for it every few seconds, and its axis goes on.
  await page.route("**/tables/logistics%3Ascans/heat?*", (route) => route.fulfill({ json: heat }));
  await page.reload();
  await page.locator(".heat canvas").waitFor();
  await page.locator(".heat").focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const info = await text(page, ".cellinfo");
  assert.ok(info.startsWith("Pinned") && info.includes(heat.starts[3]), info);
  const shownAs = await page.evaluate(({ ranges, columns }) => {
    const canvas = document.querySelector(".heat canvas"), { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: ranges }, (_, r) => Array.from({ length: columns }, (_, c) => {
      const i = 4 * (Math.floor((r + .5) * height / ranges) * width + Math.floor((c + .5) * width / columns));
      return data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    }));
  }, { ranges: heat.starts.length, columns: heat.times.length });
  assert.ok(heat.most > 0, "something was written");
  heat.rows.forEach((line, r) => line.forEach((n, c) => {
    assert.equal(shownAs[r][c] === 0x440154, n === 0, `range ${r}, column ${c}: ${n} rows/s are drawn as ${shownAs[r][c].toString(16)}`);
    if (n === heat.most) assert.equal(shownAs[r][c], 0xfde725, `range ${r}, column ${c}: the hottest is drawn as ${shownAs[r][c].toString(16)}`);
  }));
  const light = (canvas) => page.locator(canvas).evaluate((one) => one.getContext("2d").getImageData(0, 0, one.width, one.height).data.reduce((sum, n) => sum + n, 0));
  const before = await light(".heat canvas");
  await page.getByLabel("Brightness").fill("4");
  await until(async () => await light(".heat canvas") > before, "the map is brighter");
  for (const strip of ["beside", "below"]) assert.ok(await light(`.strip.${strip}`) > 0, `the sums ${strip} the map are drawn`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click("button:text('Copy key')");
  await page.locator(".note:has-text('Copied')").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), heat.starts[3]);
  await page.locator(".heat").focus();
  await page.locator("table").nth(1).waitFor();

  // a frame around the upper left quarter, then keys: what is seen is what the axis says
  await page.keyboard.press("Escape");
  const box = await page.locator(".heat canvas").boundingBox(), axis = () => page.locator(".axis").first().innerText();
  const all = await axis();
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await page.locator(".heat canvas.zoomed").waitFor();
  await page.mouse.move(box.x + 20, box.y + box.height - 5);
  assert.ok(!(await text(page, ".cellinfo")).includes(`from ${heat.starts.at(-1)},`), "the last range is not in sight");
  await page.locator(".heat").focus();
  await page.keyboard.press("0");
  await page.locator(".heat canvas:not(.zoomed)").waitFor();
  assert.equal(await axis(), all);
  await page.mouse.wheel(0, -400);
  await page.locator(".heat canvas.zoomed").waitFor();
  await page.click("text=Show all");
  await page.locator(".heat canvas:not(.zoomed)").waitFor();
});

shows("a colour stands for a number with its unit, and a hot range lies where its keys do", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me"), ranges = 16, columns = 12, hot = 5, from = 8;
  const cells = Array.from({ length: ranges }, (_, r) => Array.from({ length: columns }, (_, c) => r === 0 ? 0 : r === hot && c >= from ? 1000 : 10));
  await page.route("**/tables/logistics%3Ascans/heat?*", (route) => {
    const metric = new URL(route.request().url()).searchParams.get("metric") ?? "";
    const end = Date.UTC(2026, 0, 1);
    return route.fulfill({ json: { table: "logistics:scans", most: 1000, kept_minutes: 44640, rows: [], bytes: [], ...metric ? { [metric]: cells } : { rows: cells, bytes: cells },
      starts: cells.map((_, r) => r === 0 ? "" : `key-${r}`), times: Array.from({ length: columns }, (_, c) => new Date(end + c * 60_000).toISOString()) } });
  });
  const pixels = (canvas, at) => page.locator(canvas).first().evaluate((one, at) => {
    const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
    return at.map(([x, y]) => { const i = 4 * (Math.floor(y * one.height) * one.width + Math.floor(x * one.width)); return data[i] << 16 | data[i + 1] << 8 | data[i + 2]; });
  }, at);
  const place = (r, c) => [(c + .5) / columns, (r + .5) / ranges];
  const unknown = 0x808080, nothing = 0x440154, hottest = 0xfde725;
  for (const [metric, unit, none] of [["rows", "Rows/s"], ["bytes", "Bytes/s"], ["requests", "requests/s", "not known"], ["latency", "ms", "no call"], ["read_latency", "ms", "no call"]]) {
    await page.goto(`${dev.operators}/regions?table=logistics%3Ascans&minutes=15&until=2026-01-01T00:11:00Z&metric=${metric}`);
    await page.locator(".heat canvas").waitFor();
    assert.equal(await text(page, ".legend figcaption"), `Colours on a logarithmic scale, in ${unit}`);
    assert.deepEqual(await page.locator(".legend li").allInnerTexts(), ["0", "4.6", "31", "180", "1,000"], metric);
    assert.equal(await page.locator(".legend p").count(), none ? 1 : 0);
    if (none) assert.deepEqual([(await text(page, ".legend p")).trim(), await pixels(".legend p canvas", [[0, 0]])], [none, [unknown]]);
    const ten = await pixels(".legend div canvas", [[Math.round(Math.log1p(10) / Math.log1p(1000) * 254) / 255 + .5 / 255, 0]]);
    assert.deepEqual(await pixels(".legend div canvas", [[0, 0], [.999, 0]]), [nothing, hottest]);
    for (let r = 0; r < ranges; r++) {
      const line = await pixels(".heat canvas", Array.from({ length: columns }, (_, c) => place(r, c)));
      line.forEach((colour, c) => assert.equal(colour, r === 0 ? metric.endsWith("latency") ? unknown : nothing : r === hot && c >= from ? hottest : ten[0], `${metric}: range ${r}, column ${c}`));
    }
    const box = await page.locator(".heat canvas").boundingBox(), [x, y] = place(hot, from);
    await page.locator(".heat canvas").click({ position: { x: box.width * x, y: box.height * y } });
    assert.match(await text(page, ".cellinfo"), new RegExp(`^Pinned: 1,000 .* from key-${hot},`));
  }
  const low = async () => (await pixels(".heat canvas", [place(1, 0)]))[0], before = await low();
  await page.getByLabel("Brightness").fill("4"); // changes which colour a number has, and the legend with it
  await until(async () => {
    const [legend] = await pixels(".legend div canvas", [[Math.round(Math.log1p(10) / Math.log1p(1000) * 254) / 255 + .5 / 255, 0]]), map = await low();
    return map !== before && map === legend;
  }, "the map and its legend in other colours");
});

shows("maps go back a month, and say which keys they show", async (t) => {
  const page = await open(t, "admin", dev.operators + "/regions?minutes=43200&table=logistics%3Ascans");
  await page.locator(".heat canvas").waitFor();
  const heat = await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/heat?minutes=43200")).json());
  assert.deepEqual(heat.buckets, [{ minutes: 1440, seconds: 60 }, { minutes: 10080, seconds: 900 }, { minutes: 44640, seconds: 3600 }]);
  assert.ok(heat.kept_minutes >= 43200 && heat.starts.length > 1 && heat.labels.length === heat.starts.length, JSON.stringify(heat).slice(0, 200));
  assert.equal(await page.locator(".labels li").count(), Math.min(16, heat.starts.length));
  await page.click("text=Earlier"); // than anything was written
  await page.waitForURL(/until=/);
  await page.locator("text=has written nothing").waitFor();
  await page.click("text=Later");
  await page.locator(".heat canvas").waitFor();
});

shows("the map shows each metric with its unit, and one server's ranges, under addresses of their own", async (t) => {
  const at = dev.operators + "/regions?minutes=15&table=logistics%3Ascans", api = "/api/v1/ops/tables/logistics%3Ascans";
  const most = async (metric) => (await as("admin", `${api}/heat?minutes=15&metric=${metric}`, {}, dev.operators)).most;
  let turn = 0;
  await until(async () => { // the regions' loads are asked for every 15 seconds
    const began = Date.UTC(2025, 6, ++turn);
    await publish(dev, "courier.scans", "waybill", Array.from({ length: 200 }, (_, n) => ({ waybill: `MAP-${n}`, action: "ARRIVED_AT", station: "S1", at: began + n, courier: "C1" })));
    await as("support", `/api/v1/tables/logistics%3Ascans/rows?waybill=MAP-${turn}&action=ARRIVED_AT&at=${new Date(began + turn).toISOString()}`);
    return await most("requests") > 0 && await most("latency") > 0 && await most("read_latency") > 0;
  }, "the map knows requests and latencies");

  const page = await open(t, "admin", at);
  const bright = () => page.waitForFunction(() => { // besides grey, for what is unknown, and the darkest colour, for nothing
    const canvas = document.querySelector(".heat canvas");
    const data = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && !(data[i] === 128 && data[i + 1] === 128) && !(data[i] === 68 && data[i + 1] === 1)) return true;
    return false;
  });
  for (const [metric, unit, cell] of [["rows", "Rows/s", "rows/s"], ["bytes", "Bytes/s", "bytes/s"], ["requests", "requests/s", "requests/s of all clients"], ["latency", "ms", "ms per write call"], ["read_latency", "ms", "ms per read"]]) {
    await page.getByLabel("Metric").selectOption(metric);
    await page.waitForURL(new RegExp(`[?&]metric=${metric}(&|$)`));
    await page.locator("#heat-help", { hasText: new RegExp(`brightest colour is [^ ]+ ${unit}\\.`) }).waitFor();
    await bright();
    const asked = metric === "rows" || metric === "bytes" ? "" : `&metric=${metric}`; // those two come together
    const heat = await as("admin", `${api}/heat?minutes=15${asked}`, {}, dev.operators);
    const range = heat[metric].findIndex((line) => line.some((n) => n > 0)), column = heat[metric][range].findLastIndex((n) => n > 0);
    await page.route("**/heat?*", (route) => route.fulfill({ json: heat })); // the map stays as it is while its cells are looked at
    await page.reload();
    await bright();
    await page.locator(".heat").focus();
    await page.keyboard.press("ArrowLeft");
    for (let n = 0; n < range; n++) await page.keyboard.press("ArrowDown");
    for (let n = heat.times.length - 1; n > column; n--) await page.keyboard.press("ArrowLeft");
    await page.locator(".cellinfo", { hasText: cell }).waitFor();
    await page.unroute("**/heat?*");
  }
  await page.getByLabel("Metric").selectOption("requests");
  await page.waitForURL(/metric=requests/);
  await bright();
  await picture(page, "regions");
  await page.getByLabel("Metric").selectOption("latency");
  await page.waitForURL(/metric=latency/);
  await bright();

  const servers = () => page.locator("form.filters label:has-text('All servers') select");
  const { regions } = await as("admin", `${api}/regions`, {}, dev.operators), server = regions[0].server;
  await servers().selectOption(server);
  await page.waitForURL((url) => url.searchParams.get("server") === server && url.searchParams.get("metric") === "latency");
  await page.locator(`text=Only the key ranges of the regions that are on ${server} now`).waitFor();
  await bright();
  const heat = await as("admin", `${api}/heat?minutes=15&metric=requests&server=${server}`, {}, dev.operators);
  assert.equal(heat.starts.length, regions.filter((one) => one.server === server).length);
  await page.goto(at + "&server=nowhere.example:16020");
  await page.locator("text=No region of this table is on nowhere.example:16020 now").waitFor();
  assert.equal(await servers().inputValue(), "nowhere.example:16020");

  // while no master answers, requests are grey, and the page says why
  await page.route("**/heat?*", (route) => route.fulfill({ json: { ...heat, starts: ["", "8000"], labels: ["", ""], times: ["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"],
    requests: [[0, 0], [0, 0]], unknown: [0, 1], loads: "the master is away" } }));
  await page.goto(at + "&metric=requests");
  await page.locator("[role=alert]:has-text('the master is away')").waitFor();
  await page.locator("text=Requests are unknown in 1 of 2 columns").waitFor();
  await page.locator(".heat").focus();
  await page.keyboard.press("ArrowDown");
  await page.locator(".cellinfo", { hasText: "Requests are unknown from" }).waitFor();
});

// The map has more ranges and times than the picture has pixels: a cell that is not the first of its pixel is seen all the same.
shows("ten thousand regions of a table with a long name, and one hot cell among two millions", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me", { width: 360 });
  const name = `${"n".repeat(100)}:${"مرحبا".repeat(10)}${"t".repeat(49)}`, ranges = 1536, columns = 1440, cold = Array(columns).fill(1);
  assert.equal(name.length, 200);
  const hex = (n) => n === 0 ? "" : n.toString(16).padStart(4, "0");
  const regions = Array.from({ length: 10_000 }, (_, n) => ({ name: `r${n}`, start: hex(n), server: `s${n % 9}.example:16020`, files_mb: 1, memstore_mb: 0, files: 1, reads: 1, writes: 1, locality: 1 }));
  await page.route("**/ops/tables", (route) => route.fulfill({ json: { tables: [{ name, pipelines: [], regions: regions.length, servers: 9, mb: 1, families: [], settings: {} }] } }));
  await page.route("**/ops/tables/*/regions", (route) => route.fulfill({ json: { table: name, regions } }));
  await page.route("**/ops/tables/*/skew", (route) => route.fulfill({ json: { here: true, hot: [], tables: [{ table: name, heavy_keys: [], writers: [],
    regions: regions.map((one) => ({ name: one.name, server: one.server, rows_per_second: 1 })) }] } }));
  await page.route("**/ops/tables/*/heat?*", (route) => route.fulfill({ json: { table: name, most: 1_000_000, kept_minutes: 43200, bytes: [],
    starts: Array.from({ length: ranges }, (_, n) => hex(n)), times: Array.from({ length: columns }, (_, n) => new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()),
    rows: Array.from({ length: ranges }, (_, n) => n === 2 ? cold.with(2, 1_000_000) : cold) } }));
  await page.goto(dev.operators + "/regions?minutes=1440&until=2026-01-02T00:00:00Z");
  await page.locator(".heat canvas").waitFor();
  await page.waitForFunction(() => {
    const canvas = document.querySelector(".heat canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4) if (data[i] === 253 && data[i + 1] === 231 && data[i + 2] === 37) return true;
    return false;
  });
  await page.locator("text=1,000 shown so far").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#regions-title ~ .foot >> text=Download CSV").click()]);
  assert.equal((await readFile(await file.path(), "utf8")).split("\r\n").length, 1 + regions.length + 1);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, "the page is as wide as the window");
});

shows("from a cell to its record, and from there to its row", async (t) => {
  const page = await open(t, "admin", dev.operators + "/sql");
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", "SELECT _key, _time(station) FROM logistics:scans WHERE waybill = '" + waybill + "' LIMIT 1");
  await page.click("button.main");
  await page.click("a:text('Find its record')");
  await page.waitForURL("**/records?*");
  await page.click("button:text('Find the record')");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.click("a:has-text('Explain the record')");
  await page.waitForURL("**/records?topic=*");
  await page.click("button:text('Explain the record')");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.locator("[data-what=row] dd:has-text('logistics:scans')").waitFor();

  await page.click("nav >> text=SQL"); // by a table's short name too
  await page.fill("textarea", "SELECT _key FROM orders WHERE user = 'u00042' LIMIT 1");
  await page.click("button.main");
  await page.click("a:text('Find its record')");
  await page.locator("[name=table] option:text-is('shop:orders')").waitFor({ state: "attached" });
  assert.notEqual(await page.locator("[name=table] option").first().innerText(), "shop:orders");
  assert.equal(await page.inputValue("[name=table]"), "shop:orders");
  await page.goto(dev.operators + "/records?table=none");
  await page.locator("[name=table] option:text-is('shop:orders')").waitFor({ state: "attached" });
  assert.equal(await page.inputValue("[name=table]"), "", "no other table is taken for it");
});

shows("SQL is completed, its plan is drawn, and so are names with numbers", async (t) => {
  const page = await open(t, "support", dev.users + "/sql");
  await page.fill("input[aria-describedby=why]", "a look");
  await page.locator("textarea").pressSequentially("SEL");
  await page.locator("[role=option]:text-is('SELECT')").waitFor();
  await page.keyboard.press("Tab");
  await page.locator("textarea").pressSequentially("action, COUNT(*) FROM sca");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("textarea").pressSequentially("GROUP BY acti");
  await page.locator("[role=option]:text-is('action')").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=option]").count(), 0);
  assert.equal(await page.inputValue("textarea"), "SELECT action, COUNT(*) FROM logistics:scans GROUP BY acti");
  await page.fill("textarea", "SELECT action, COUNT(*) FROM logistics:scans GROUP BY action ALLOW FULL SCAN");
  await page.keyboard.press("Control+Enter");
  await page.locator(".chart li rect").nth(1).waitFor();
  await picture(page, "sql");
  await page.fill("textarea", `SELECT at FROM scans WHERE waybill = '${waybill}'`);
  await page.click("button:text('Explain')");
  await page.locator(".plan li:has-text('range') svg rect").nth(1).waitFor();
  await page.locator(".plan li:has-text('bounds')").waitFor();
});

shows("what became of a command is said, when it has not done what was asked", async (t) => {
  const at = Date.UTC(2026, 5, 2);
  await publish(dev, "shop.orders", "order", [{ order: "C-OUTCOME", user: "u00042", created: at, at, status: "paid", items: "tea x1 9.00", brand: "brand", lines: 1, total: 9 }]);
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-OUTCOME")).rows.length === 1, "the order is written");
  const page = await open(t, "customer", dev.users + "/orders?order=C-OUTCOME"), { rows: [row] } = await as("customer", "/api/v1/views/user-orders?order=C-OUTCOME");
  const location = "/api/v1/tables/shop%3Aorders/commands/outcome", badges = () => page.locator(".rows .badge, .detail .badge").allInnerTexts();
  let outcome, read = [], asked = 0;
  const command = (of) => ({ id: "outcome", command: "cancel", row: row.row, to: "cancelled", version: row.version + 1, token: "t", ...of });
  await page.route("**/commands/cancel", (route) => route.fulfill({ status: 202, headers: { Location: location }, json: command({ state: "published" }) }));
  await page.route("**" + location, (route) => route.fulfill({ json: command(outcome) }));
  await page.route(/\/rows\/[^/]*$/, (route) => {
    if (!route.request().headers()["brine-after"]) return route.fallback();
    return route.fulfill({ headers: { "Brine-Stale": String(read[Math.min(asked++, read.length - 1)]) }, json: { ...row, version: row.version + 2, fields: { ...row.fields, status: outcome.status ?? "paid" } } });
  });
  await page.click(".rows a");
  for (const [of, stale, says, bad, now] of [
    [{ state: "failed", detail: `refused by the shop ${evil}` }, [false], `The command had no effect: refused by the shop ${evil}`, true, "Paid"],
    [{ state: "unanswered", detail: "nothing within 1 h" }, [false], "The command had no effect: nothing within 1 h", true, "Paid"],
    [{ state: "published", status: "cancelled" }, [true], "Accepted. The change will appear here in a moment.", false, "Paid"], // and is not shown as done
    [{ state: "applied", status: "cancelled" }, [true, true, false], "Done: Cancelled", false, "Cancelled"], // the read is asked again until it has seen it
    [{ state: "overtaken", detail: "shipped first", status: "shipped" }, [false], "The shop was faster: shipped first", true, "Shipped"],
  ]) {
    [outcome, read, asked] = [of, stale, 0];
    await page.reload();
    await page.locator(".detail dl").waitFor();
    assert.deepEqual(await badges(), ["Paid", "Paid"]);
    await page.click(".detail >> button:text('Cancel order')");
    await page.click("dialog >> button:text('Cancel order')");
    const note = page.locator(".note");
    await note.waitFor();
    assert.equal(await note.locator("span").innerText(), says, of.state);
    assert.equal(await page.locator(".note.bad").count(), bad ? 1 : 0, of.state);
    assert.deepEqual(await badges(), [now, now], of.state);
    assert.equal(await note.locator("button").count(), 0, "what was not done cannot be undone, and what the machine has no way back from neither");
    assert.equal(asked, stale.at(-1) ? 5 : stale.length, of.state);
    assert.equal(await page.locator("dialog").count(), 0);
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined);
});

shows("what was deleted is undone", async (t) => {
  dev.passwords.olga = "the first one of olga";
  await as("admin", "/api/v1/ops/accounts", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "olga", role: "operator", owner: "", password: dev.passwords.olga }) }, dev.operators);
  await publish(dev, "shop.orders", "order", [{ order: "C-UNDO", user: "u00777", created: Date.UTC(2026, 5, 2), at: Date.UTC(2026, 5, 2), status: "received",
    items: "tea x1 9.00", brand: "brand", lines: 1, total: 9 }]);
  await until(async () => (await as("admin", "/api/v1/views/user-orders?user=u00777", { headers: { "Brine-Reason": "a test" } })).rows?.length === 1, "the order is written");
  const page = await open(t, "olga", dev.users + "/orders");
  await page.fill("[name=why]", "case 12");
  await page.fill("[name=user]", "u00777");
  await page.keyboard.press("Enter");
  await page.click("text=C-UNDO");
  await page.click(".detail >> button:text('Delete')");
  await page.click("dialog >> button:text('Delete')");
  await page.locator(".note:has-text('Deleted')").waitFor();
  assert.equal(await page.locator(".rows li").count(), 0);
  await page.click(".note >> text=Undo");
  await page.locator(".rows .badge:text('Restored')").waitFor();
  await page.locator(".detail .badge:text('Restored')").waitFor();

  await page.click(".detail >> button:text('Delete')"); // the way back is under the user's own reason, so it is gone with the user
  await page.click("dialog >> button:text('Delete')");
  await page.locator(".note button:text('Undo')").waitFor();
  await page.click("text=Sign out");
  await page.waitForURL("**/signin");
  await page.locator("[name=password]").waitFor();
  await page.locator(".note").waitFor({ state: "detached", timeout: 4_000 });
});

// From what `make run` prints to a confirmed order and a parcel's row, by what is on the pages alone. What made somebody hesitate is in
// docs/console.md, with what was done about it.
shows("as a new user would", async (t) => {
  const page = await open(t, null, dev.users);
  await page.locator("header >> text=Sign in").click();
  await page.fill("[name=name]", "customer");
  await page.fill("[name=password]", dev.passwords.customer);
  await page.keyboard.press("Enter");
  await page.locator(".rows li").first().waitFor();
  await page.locator(".chip:has-text('Shipped')").click();
  await page.locator(".rows li:has(.badge:text('Shipped')) a").first().click();
  await page.click("button:text('Confirm receipt')");
  await page.locator(".note:has-text('Done: Received')").waitFor();
  await page.click("nav >> text=Track");
  await page.fill("textarea", "UA-1545-20130101-EWR");
  await page.click("button:text-is('Track')");
  await page.locator(".stations li:has-text('IAH')").first().waitFor();
  await page.click("text=Sign out");
  await page.fill("[name=name]", "support");
  await page.fill("[name=password]", dev.passwords.support);
  await page.keyboard.press("Enter");
  await page.click("nav >> text=SQL");
  await page.fill("input[aria-describedby=why]", "the parcel's row");
  await page.fill("textarea", "SELECT * FROM scans WHERE waybill = 'UA-1545-20130101-EWR'");
  await page.click("button:text('Run')");
  await page.locator("td:text('IAH')").first().waitFor();
});

shows("what is empty says what would be there, and one is not all", async (t) => {
  const empty = [
    ["admin", "operators", "/jobs", /ops\/jobs(\?|$)/, { jobs: [], next_page_token: "" }, /Replays, verifications.*once they are started/, /重放、核对.*启动后显示/],
    ["admin", "operators", "/replay", /ops\/jobs(\?|$)/, { jobs: [], next_page_token: "" }, /What you start here/, /在此启动的任务/],
    ["admin", "operators", "/regions?minutes=15&table=logistics%3Ascans", /\/skew$/, { here: true, hot: [], tables: [{ table: "logistics:scans", heavy_keys: [], writers: [], regions: [] }] },
      /No key has 1% of the rows.*No writer has 1% of the records/s, /没有哪个键达到 1%.*没有哪个写入者达到 1%/s],
    ["admin", "operators", "/offsets?topic=none", /ops\/offsets/, { positions: [] }, /Each partition of the pipelines' topics/, /各管道主题的每个分区/],
    ["admin", "operators", "/dead-letters", /dead-letters\/summary/, { sums: [] }, /Records that cannot be decoded/, /无法解码或写入的记录/],
    ["admin", "operators", "/tables", /ops\/tables$/, { tables: [] }, /No pipeline of the running configuration/, /没有管道写表/],
    ["admin", "operators", "/audit?account=nobody", null, null, /No entries match\. Sign-ins/, /没有符合条件的条目/],
    ["admin", "operators", "/accounts?name=nobody", null, null, /No account has this name/, /没有这个名称的账户/],
    ["customer", "users", "/me", /me\/tokens/, { tokens: [] }, /Create one for each program/, /为每个程序各建一个/],
  ];
  for (const who of ["admin", "customer"]) {
    const page = await open(t, who, dev[who === "admin" ? "operators" : "users"] + "/me");
    for (const [, on, path, route, json, en, zh] of empty.filter(([of]) => of === who)) {
      if (route) await page.route(route, (of) => of.request().method() === "GET" ? of.fulfill({ json }) : of.continue());
      await page.goto(dev[on] + path);
      for (const [language, lang, what] of [["zh", "zh-CN", zh], ["en", "en", en]]) { // chosen in the page, which stays
        await page.locator("header select").first().selectOption(language);
        await page.locator(`html[lang=${lang}]`).waitFor();
        await page.locator(".empty").first().waitFor();
        await until(async () => what.test((await page.locator(".empty").allInnerTexts()).join("\n")), `${path} says so in ${language}`);
        assert.doesNotMatch(await page.locator("main").innerText(), /Nothing found|没有找到|All [01] shown/, path);
      }
      if (route) await page.unroute(route);
    }
    await page.finish();
  }
  const page = await open(t, "customer", dev.users + "/orders?order=C-STALE");
  await page.locator(".rows li").first().waitFor();
  assert.equal(await text(page, ".foot span"), "1 in total");
});

shows("decimals of an answer keep their scale, and are figures", async (t) => {
  const page = await open(t, "support", dev.users + "/sql");
  const decimals = [["634.60", "634.60"], ["-1234567.500", "-1,234,567.500"], ["12345678901234567890123456789012345.678", "12,345,678,901,234,567,890,123,456,789,012,345.678"], ["-0.10", "-0.10"], ["7", "7"]];
  await page.route("**/api/v1/sql", (route) => route.request().method() !== "POST" ? route.continue() : route.fulfill({ json: {
    columns: [{ name: "t", type: "text" }, { name: "d", type: "decimal" }], rows: [...decimals.map(([digits]) => [digits, digits]), ["none", null]],
    stats: { hbase_ms: 1, total_ms: 1, rows_read: 1, rows_returned: 1, regions: 1 } } }));
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", "SELECT t, d FROM b");
  await page.click("button.main");
  await page.locator("td").first().waitFor();
  assert.deepEqual(await page.locator("td:nth-child(2)").allInnerTexts(), [...decimals.map(([, shown]) => shown), ""]);
  assert.equal(await page.locator("td.number").count(), decimals.length);
  assert.equal(await text(page, "td >> nth=2"), "-1234567.500", "a text is none");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assert.match(await readFile(await file.path(), "utf8"), /\r\n634\.60,634\.60\r\n/);
});

shows("the menu is one line at every width, and shows the page that is open", async (t) => {
  for (const language of ["en", "zh"]) {
    const page = await open(t, "admin", dev.operators + "/audit", { language });
    for (const width of [360, 768, 1024, 1100, 1280, 1920]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ["/overview", "/audit"]) {
        if (width < 1000) await page.goto(dev.operators + path); // a click would bring into sight what it is on
        else await page.click(`nav a[href='${path}']`);
        await page.locator(`nav a[href='${path}'][aria-current]`).waitFor();
        const menu = await page.evaluate(() => {
          const nav = document.querySelector("nav"), of = nav.getBoundingClientRect(), open = nav.querySelector("[aria-current]").getBoundingClientRect();
          return { lines: new Set([...nav.querySelectorAll("a")].map((a) => Math.round(a.getBoundingClientRect().top))).size, whole: nav.scrollWidth === nav.clientWidth,
            open: open.left >= of.left - 1 && open.right <= of.right + 1, over: document.documentElement.scrollWidth - document.documentElement.clientWidth };
        });
        assert.deepEqual({ ...menu, whole: menu.whole || width < 1000 }, { lines: 1, whole: true, open: true, over: 0 }, `${path} in ${language}, ${width} px`);
      }
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator("nav a").first().focus();
    await page.waitForFunction(() => document.querySelector("nav a").getBoundingClientRect().left >= 0, null, { timeout: patience });
    await page.finish();
  }
});

shows("the keyboard reaches everything", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.locator(".rows li").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main", "the first link skips to the content");
  await page.locator(".rows a").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".detail dl").waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.classList.contains("detail")), "the order that was opened has the focus");
});

shows("the heaviest keys and who writes them stand below the map", async (t) => {
  const page = await open(t, "admin", dev.operators + "/regions?minutes=15&table=logistics%3Ascans");
  await page.locator(".heat canvas").waitFor(); // the page is there before the records, as it shows the keys of the last minute alone
  const heavy = page.locator("section[aria-labelledby=heavy-title] td:has-text('WRITER-1')").first();
  let turn = 0;
  await until(async () => { // what brine dev has written of its sample a minute ago may still be most
    const at = Date.UTC(2025, 5, 20) + 1000 * turn++;
    await publish(dev, "courier.scans", "waybill", Array.from({ length: 1000 }, (_, n) => ({ waybill: "WRITER-1", action: "ARRIVED_AT", station: `S${n}`, at: at + n, courier: "C1" })));
    return heavy.isVisible();
  }, "the busy waybill is among the heaviest keys");
  const row = page.locator("section[aria-labelledby=writers-title] tbody tr:has-text('courier.scans')")
    .filter({ has: page.locator("td:nth-of-type(4)", { hasText: /^\d+$/ }) }).first(); // brine publishes in transactions, whose batches carry a producer's id
  await row.waitFor();
  const cells = await row.locator("td").allInnerTexts();
  assert.equal(cells[0], "scans");
  assert.match(cells[2], /^\d+$/, "the partition");
  await page.locator("section[aria-labelledby=servers-title] tbody tr").first().waitFor();
});

shows("a row key is sent as it was written, and a look is followed by the same region", async (t) => {
  const page = await open(t, "admin", dev.operators + "/records");
  const sent = [];
  await page.route("**/ops/jobs/*", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    sent.push(route.request().postDataJSON());
    return route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "refused", type: "/docs/problems#refused", detail: "not now" }) });
  });
  await page.locator("form select option").first().waitFor({ state: "attached" });
  const key = "  a \\x00| ";
  await page.fill("[name=row]", key);
  await page.fill("[name=version]", " 1767225600000 ");
  await page.click("button:text('Find the record')");
  await page.locator("form [role=alert]").waitFor();
  assert.equal(sent[0].row, key);
  assert.equal(sent[0].version, "1767225600000");
  assert.equal(await page.inputValue("[name=row]"), key, "nothing is lost");
  await page.fill("[name=most]", "1000");
  await page.click("button:text('Find the record')");
  await until(() => sent.length === 2, "the search is asked for");
  assert.equal(sent.pop().most, 1000);
  await page.fill("[name=topic]", "courier.scans");
  await page.fill("[name=partition]", "0");
  await page.fill("[name=offset]", "7");
  await page.selectOption("[name=pipeline]", "scans");
  await page.click("button:text('Explain the record')");
  await until(() => sent.length === 2, "the explanation is asked for");
  assert.deepEqual(sent.pop(), { topic: "courier.scans", partition: 0, offset: 7, pipeline: "scans" });
  await page.goto(dev.operators + "/replay");
  await page.fill("[name=from]", "2h");
  await page.fill("[name=keys]", " first \nsecond\n");
  await page.fill("[name=name]", "after the fix");
  await page.check("[name=as_configured]");
  await page.locator("[name=pipeline] option").first().waitFor({ state: "attached" });
  await page.click("button:text('Show the plan')");
  await page.locator("form [role=alert]").waitFor();
  assert.deepEqual({ ...sent[1], pipeline: "" }, { pipeline: "", from: "2h", name: "after the fix", keys: [" first ", "second"], as_configured: true, dry_run: true });
  await page.goto(dev.operators + "/verify");
  await page.check("[name=as_configured]");
  await page.click("main >> button:text-is('Verify')");
  await page.locator("form [role=alert]").waitFor();
  assert.deepEqual(sent.splice(2, 1), [{ as_configured: true }]);

  const job = { id: "look", kind: "region-split", state: "done", account: "admin", created: new Date().toISOString(), progress: [],
    asked: { table: "logistics:scans", region: "key:a", at: "f8", dry_run: true },
    results: [{ what: "region", value: { table: "logistics:scans", region: "0123456789abcdef0123456789abcdef", what: "split at f8", done: false } }] };
  await page.route("**/ops/jobs/look", (route) => route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(job) }));
  await page.route("**/ops/jobs/look/events", (route) => route.fulfill({ status: 200, contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(job)}\n\n` }));
  await page.goto(dev.operators + "/jobs?job=look");
  await page.click("button:text('Split the region')");
  await page.click("dialog >> button:text('Split the region')");
  await page.locator("dialog [role=alert]").waitFor();
  assert.deepEqual(sent[2], { table: "logistics:scans", region: job.results[0].value.region, at: "f8" });
});

shows("what is advised against a hot region is done from its map, once it is confirmed", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me");
  const regions = (await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/regions")).json())).regions;
  const last = regions.at(-1), advice = "split the region at f8: max/mean of regions from 4.00 to 2.10";
  await page.route("**/tables/logistics%3Ascans/skew", (route) => route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify({
    tables: [], here: true, hot: [{ table: "logistics:scans", region: last.name, server: last.server, since: new Date().toISOString(), severity: "critical",
      rows_per_second: 900, times_mean: 4, share: .25, cause: "uneven splits", why: "its range holds more of the keys", advice: [advice],
      actions: [{ job: "region-split", text: advice, table: "logistics:scans", region: last.name, at: "f8" }] }] }) }));
  let masked = false;
  await page.route("**/tables/logistics%3Ascans/heat?*", async (route) => {
    const response = await route.fetch(), heat = await response.json();
    heat.hot = [{ region: last.name, from: heat.starts.length - 1, to: heat.starts.length }];
    if (masked) heat.starts = heat.starts.map((start) => start && "***");
    await route.fulfill({ response, json: heat });
  });
  await page.goto(dev.operators + "/regions?minutes=15&table=logistics%3Ascans");
  const spot = () => page.locator(".heat .spot.critical").evaluate((one) =>
    one.getBoundingClientRect().y - document.querySelector(".heat canvas").getBoundingClientRect().y);
  const at = await spot();
  assert.ok(at > 200, `the last of the regions is marked ${at} px below the first`);
  masked = true;
  await page.reload();
  assert.equal(await spot(), at, "where keys are masked the mark is where it was");
  masked = false;
  await page.reload();
  await page.click("button:text('Split the region')");
  await page.locator("dialog:has-text('from 4.00 to 2.10')").waitFor();
  await page.click("dialog >> button:text('Back')");
  const count = async () => (await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/regions")).json())).regions.length;
  assert.equal(await count(), regions.length, "nothing is done that was not confirmed");
  await page.click("button:text('Split the region')");
  await page.click("dialog >> button:text('Split the region')");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done')").waitFor();
  assert.equal(await count(), regions.length + 1);
});

shows("a region of one's choice is split and moved by an operator, once that was previewed", async (t) => {
  const page = await open(t, "operator", dev.operators + "/regions?minutes=15&table=shop%3Aorders");
  const regions = async () => (await as("operator", "/api/v1/ops/tables/shop%3Aorders/regions", {}, dev.operators)).regions;
  const before = await regions(), one = before.at(-1), at = one.start + " ~ ", server = before.find((of) => of.server !== one.server).server;
  const button = (name, of) => page.getByRole("button", { name: `${name} the region: ${of}`, exact: true });
  const previewed = async (what) => {
    await page.click("dialog >> button:text-is('Preview')");
    await page.waitForURL("**/jobs?job=*");
    await page.locator(".job .badge:text-is('done')").waitFor();
    await page.locator("[data-what=region] dd").getByText(what, { exact: true }).waitFor();
  };
  const confirmed = async (name) => {
    const preview = page.url();
    await page.click(`.job >> button:text-is('${name} the region')`);
    await page.click(`dialog >> button:text-is('${name} the region')`);
    await page.waitForURL((url) => url.href !== preview);
    await page.locator(".job .badge:text-is('done')").waitFor();
  };

  await button("Split", one.start).click();
  await page.fill("dialog >> [name=at]", "\\x0");
  await page.click("dialog >> button:text-is('Preview')");
  await page.locator("dialog [role=alert]:has-text('at:')").waitFor();
  assert.equal(await page.inputValue("dialog >> [name=at]"), "\\x0", "nothing is lost");
  await page.fill("dialog >> [name=at]", at);
  await previewed(`split at ${at}`);
  assert.deepEqual((await regions()).map((of) => of.name), before.map((of) => of.name), "a preview changes nothing");
  await confirmed("Split");
  assert.deepEqual((await regions()).map((of) => of.start), [...before.map((of) => of.start), at], "at this row, to the byte");

  await page.goto(dev.operators + "/regions?minutes=15&table=shop%3Aorders");
  await button("Move", before[0].start || "the first key").click();
  await page.click("dialog >> button:text-is('Back')");
  await button("Move", at).click();
  await page.locator(`dialog datalist option[value='${server}']`).waitFor({ state: "attached" });
  await page.fill("dialog >> [name=to]", ` ${server} `);
  await previewed(`move to ${server}`);
  assert.equal((await regions()).at(-1).server, one.server);
  await confirmed("Move");
  assert.equal((await regions()).at(-1).server, server);
  const { entries } = await as("admin", "/api/v1/ops/audit", {}, dev.operators);
  const done = entries.filter((of) => of.account === "operator").map((of) => of.action);
  for (const action of ["jobs.region-split", "jobs.region-move"]) assert.ok(done.filter((of) => of === action).length >= 2, `${action} is not twice among ${done}`);
});

// The API's texts are English; what it gives kinds and values of is said in the language of the page.
shows("causes, advice, findings and reasons are Chinese in Chinese, and English where a kind is not known", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me", { language: "zh" });
  const last = (await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/regions")).json())).regions.at(-1);
  const effect = { before_max_mean: 4, after_max_mean: 2.1, before_largest_share: .25, after_largest_share: .125 };
  const hot = (cause, why, values, remedies, key) => ({ table: "logistics:scans", region: cause, server: last.server, since: new Date().toISOString(), severity: "critical",
    rows_per_second: 900, times_mean: 4, share: .25, cause, why, values, key, advice: remedies.map((one) => `ENGLISH ${one.kind}`), remedies: remedies.map((one) => ({ table: "logistics:scans", effect, ...one })),
    actions: remedies.filter((one) => one.kind === "split").map((one) => ({ job: "region-split", text: "ENGLISH split", table: "logistics:scans", region: last.name, at: one.at })) });
  await page.route("**/tables/logistics%3Ascans/skew", (route) => route.fulfill({ json: { tables: [], here: true, hot: [
    hot("monotonic key", "ENGLISH", { before: 97.4 }, [{ kind: "salt", buckets: 16, fields: ["waybill", "at"] }]),
    hot("one heavy key", "ENGLISH", { percent: 81.2, of_table: 40 }, [{ kind: "own table" }, { kind: "salt", buckets: 32 }], "courier=C1"),
    hot("uneven splits", "ENGLISH", { times: 3.26 }, [{ kind: "split", at: "f8", at_text: "waybill=W1" }]),
    hot("loaded server", "ENGLISH", { regions: 4, times: 2 }, [{ kind: "move", region: "r1", to: "s2:16020" }]),
    hot("a new cause", "ENGLISH why", { rows: 7 }, [{ kind: "a new kind" }]),
    hot("too few buckets", "ENGLISH few", { used: 2 }, []), // without all of its values
  ] } }));
  await page.goto(dev.operators + "/regions?minutes=15&table=logistics%3Ascans");
  await page.locator(".hotspot >> nth=5").waitFor();
  const said = (await page.locator(".hotspot").allInnerTexts()).map((one) => one.split("\n").map((line) => line.trim()).filter((line) => line));
  const change = "：各区域最大值与均值之比从 4.00 变为 2.10，最大占比从 25.0% 变为 12.5%";
  assert.ok(said[0][0].startsWith("行键单调变化"), said[0][0]);
  assert.deepEqual(said[0].slice(1), ["较新的行有 97% 排在较早的行之前：行键随时间减小，所有写入都落在开头", "建一张新表，行键以 salt(16, waybill, at) 开头，并按桶预分区" + change]);
  assert.deepEqual(said[1].slice(1), ["该区域 81% 的行（全表的 40%）以 courier=C1 开头", "将 courier=C1 的行写入单独的表；除非它们有自己的主题，目前没有管道能做到" + change,
    "建一张新表，行键以 salt(32, 键的全部字段) 开头，并按桶预分区；之后读取这样一个值要查询每个桶" + change]);
  assert.ok(said[2].join(" ").includes("在 f8（waybill=W1） 处拆分该区域" + change), said[2].join(" "));
  assert.ok(said[3].join(" ").includes("将表 logistics:scans 的区域 r1 移到 s2:16020：各服务器最大值与均值之比"), said[3].join(" "));
  assert.ok(said[4][0].startsWith("a new cause"), said[4][0]);
  assert.deepEqual(said[4].slice(1), ["ENGLISH why", "ENGLISH a new kind"]);
  assert.equal(said[5][1], "ENGLISH few");
  await page.locator(".hotspot button").click();
  await page.locator("dialog:has-text('在 f8')").waitFor(); // what is confirmed is what was read

  const job = { id: "look", kind: "verify", state: "done", account: "admin", created: new Date().toISOString(), progress: [], asked: {},
    results: [["missing", "it is missing"], ["stale", "a newer change is missing"], ["wrong", "something new"], ["lost", "something new"]].map(([finding, reason]) => ({ what: "finding", value: { finding, table: "logistics:scans", row: "missing", reason } })) };
  await page.route("**/ops/jobs/look", (route) => route.fulfill({ json: job }));
  await page.route("**/ops/jobs/look/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(job)}\n\n` }));
  await page.goto(dev.operators + "/jobs?job=look");
  await page.locator("[data-what=finding] tbody tr >> nth=3").waitFor();
  assert.deepEqual(await page.locator("[data-what=finding] tbody tr").allInnerTexts(), ["缺失\tlogistics:scans\tmissing\t它不存在", "过时\tlogistics:scans\tmissing\t缺少一次较新的更改", "wrong\tlogistics:scans\tmissing\tsomething new",
    "丢失\tlogistics:scans\tmissing\t记录无法写入，却没有对应的死信（something new）"]);
  await page.goto(dev.operators + "/dead-letters");
  await page.locator("section:has(#kinds) td:has-text('类型不符')").first().waitFor();
  assert.equal(await page.locator("main >> text=wrong_type").count(), 0);
});

shows("the partitions that are shown are in the address", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview"), partitions = page.locator(".sheet:has(#pipeline-scans) h3:has-text('scans.rows')");
  await page.locator(".sheet:has(#pipeline-scans) >> text=Show partitions").first().click();
  await page.waitForURL("**/overview?open=scans");
  await partitions.waitFor();
  await page.locator(".sheet:has(#pipeline-orders) >> text=Show partitions").first().click();
  await page.waitForURL("**/overview?open=scans&open=orders");
  await page.reload();
  await partitions.waitFor();
  await page.locator(".sheet:has(#pipeline-orders) h3").first().waitFor();
  await page.locator(".sheet:has(#pipeline-scans) >> text=Hide partitions").click();
  await page.waitForURL("**/overview?open=orders");
  await partitions.waitFor({ state: "detached" });
  await page.goBack();
  await partitions.waitFor();
  await page.goBack();
  await page.goBack();
  await page.waitForURL("**/overview");
  await page.locator(".sheet h3").first().waitFor({ state: "detached" });
});

// A week of 15 min columns has one hot minute, in one of 64 ranges. What the store has finer is asked for when a zoom shows it.
shows("a zoomed map is drawn from finer buckets where there are any, and stays as it was until they arrive", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me"), asked = [], failed = [], min = 60_000;
  const end = Math.floor(Date.now() / (30 * min)) * 30 * min, hotRange = 20, hotMinute = end - 120 * min;
  const starts = Array.from({ length: 64 }, (_, n) => n === 0 ? "" : `k${n + 100}`);
  const table = { table: "logistics:scans", most: 100, kept_minutes: 44640, buckets: [{ minutes: 1440, seconds: 60 }, { minutes: 10080, seconds: 900 }, { minutes: 44640, seconds: 3600 }], bytes: [] };
  const drawn = (from, until, step, starts) => {
    const n = Math.ceil((until - from) / step), ends = Array.from({ length: n }, (_, c) => from + (c + 1) * step);
    const hot = ends.findIndex((at) => at - step <= hotMinute && hotMinute < at);
    return { ...table, starts, times: ends.map((at) => new Date(Math.min(at, until)).toISOString()),
      rows: starts.map((start) => Array.from({ length: n }, (_, c) => start === `k${hotRange + 100}` && c === hot ? 100 : 1)) };
  };
  let answer = () => {}, held = Promise.resolve();
  const hold = () => { held = new Promise((resolve) => { answer = resolve; }); };
  page.on("requestfailed", (request) => { if (request.url().includes("/heat?")) failed.push(new URL(request.url()).searchParams.get("until")); });
  await page.route("**/tables/logistics%3Ascans/heat?*", async (route) => {
    const of = new URL(route.request().url()).searchParams;
    if (of.get("columns") === null) return route.fulfill({ json: drawn(end - 7 * 24 * 60 * min, end, 30 * min, starts) });
    asked.push(of);
    await held;
    const until = Date.parse(of.get("until")), step = until - of.get("minutes") * min < Date.now() - 1440 * min ? 15 * min : min;
    // nothing was written before a time within the part, and half of the ranges were not apart then
    const from = Math.floor((until - of.get("minutes") * min) / step) * step, first = from + Math.floor((hotMinute - from) / 2 / step) * step;
    return route.fulfill({ json: drawn(first, until, step, starts.filter((_, n) => n % 2 === 0)) }).catch(() => {});
  });
  const address = `${dev.operators}/regions?table=logistics%3Ascans&minutes=10080&until=${new Date(end).toISOString()}`;
  const near = (a, b) => Math.abs(a - b) < 0.006;
  const zoomOf = (from, until, top = 0, bottom = 1) => `&zoom=${top}~${bottom}~${new Date(from).toISOString()}~${new Date(until).toISOString()}`;
  hold();
  await page.goto(address + zoomOf(end - 240 * min, end));
  await page.locator(".heat canvas.zoomed").waitFor();
  await until(() => asked.length === 1, "the part is asked for");
  let at = await hottestPart(page);
  assert.ok(near(at.left, 0.5) && near(at.right, 0.625) && near(at.top, hotRange / 64) && near(at.bottom, (hotRange + 1) / 64), `as the whole has it: ${JSON.stringify(at)}`);
  assert.deepEqual([asked[0].get("minutes"), asked[0].get("until"), asked[0].get("columns")], ["300", new Date(end).toISOString(), "720"]);
  answer();
  await until(async () => near((await hottestPart(page)).right, 0.5 + 1 / 240), "the minute is drawn");
  at = await hottestPart(page);
  assert.ok(near(at.left, 0.5) && near(at.top, hotRange / 64) && near(at.bottom, (hotRange + 2) / 64), `where it is: ${JSON.stringify(at)}`);
  await page.locator(".heat").focus();
  const box = await page.locator(".heat canvas").boundingBox();
  await page.mouse.click(box.x + box.width * (at.left + at.right) / 2, box.y + box.height * (at.top + at.bottom) / 2);
  assert.match(await text(page, ".cellinfo"), /^Pinned: 100 rows\/s .* from k120,/);

  // what lies within needs no other answer; what does not is asked for once the view rests, and a question that is superseded is dropped
  await page.click("text=Zoom in");
  await page.waitForURL((url) => !url.searchParams.get("zoom").startsWith("0~1~"));
  assert.equal(asked.length, 1);
  hold();
  await page.click("text=Show all");
  await page.waitForURL((url) => !url.search.includes("zoom="));
  at = await hottestPart(page);
  assert.ok(near(at.left, (7 * 1440 - 120) / 10080), `the whole again: ${JSON.stringify(at)}`);
  await page.locator(".heatbox").evaluate((one) => one.scrollIntoView());
  const canvas = await page.locator(".heat canvas").boundingBox();
  await page.mouse.move(canvas.x + canvas.width * 0.4, canvas.y + 10);
  await page.mouse.down();
  await page.mouse.move(canvas.x + canvas.width * 0.6, canvas.y + canvas.height - 10, { steps: 4 });
  await page.mouse.up();
  await until(() => asked.length === 2, "days ago there are buckets of 15 min");
  await page.goBack();
  await page.locator(".heat canvas:not(.zoomed)").waitFor();
  await until(() => failed.includes(asked[1].get("until")), "nobody waits for it any more");
  answer();
  assert.equal(asked.length, 2);
});

shows("partitions that are shown follow the stream", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview?open=scans");
  const rows = page.locator(".sheet:has(#pipeline-scans) h3:text-is('scans.rows') + p + .scroll tbody tr");
  await rows.first().waitFor();
  const latest = async () => (await rows.locator("td:nth-child(6)").allInnerTexts()).reduce((n, text) => n + Number(text.replaceAll(",", "")), 0);
  const before = await latest();
  await publish(dev, "courier.scans", "waybill", [1, 2, 3].map((n) => ({ waybill: `OPEN-${n}`, action: "LOADED", station: "S", at: Date.UTC(2025, 5, n), courier: "C1" })));
  await until(async () => await latest() >= before + 3, "the records are counted where nobody has asked again");
});

shows("a part of a map has its address, which goes back to its time and names no key", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me"), asked = [];
  const starts = Array.from({ length: 64 }, (_, n) => n === 0 ? "" : `secret-${n}`), begin = Date.UTC(2026, 0, 1);
  await page.route("**/tables/logistics%3Ascans/heat?*", (route) => {
    const until = new URL(route.request().url()).searchParams.get("until") ?? "";
    asked.push(until);
    const end = until === "" ? begin + 64 * 60_000 : Date.parse(until);
    return route.fulfill({ json: { table: "logistics:scans", most: 9, kept_minutes: 43200, starts, bytes: starts.map(() => []), rows: starts.map((_, n) => Array(64).fill(n % 10)),
      times: Array.from({ length: 64 }, (_, n) => new Date(end - (63 - n) * 60_000).toISOString()) } });
  });
  const address = `${dev.operators}/regions?table=logistics%3Ascans&minutes=60&until=2026-01-01T01:04:00.000Z`;
  await page.goto(address);
  await page.locator(".heat canvas").waitFor();
  const axis = () => page.locator(".axis").first().innerText(), labels = () => page.locator(".labels li").allInnerTexts();
  const all = await axis();
  await page.click("text=Zoom in");
  await page.waitForURL(/[&?]zoom=/);
  const [once, first] = [await axis(), await labels()];
  assert.notEqual(once, all);
  await page.click("text=Zoom in");
  await page.waitForURL((url) => url.searchParams.get("zoom") === "0.375~0.625~2026-01-01T00:24:00.000Z~2026-01-01T00:40:00.000Z");
  const zoomed = page.url(), twice = [await axis(), await labels()];
  assert.ok(!zoomed.includes("secret"), zoomed);
  await page.goBack();
  await page.waitForFunction((axis) => document.querySelector(".axis").innerText === axis, once);
  assert.deepEqual(await labels(), first);
  await page.goBack();
  await page.locator(".heat canvas:not(.zoomed)").waitFor();
  assert.equal(await axis(), all);
  await page.goForward();
  await page.locator(".heat canvas.zoomed").waitFor();

  await page.goto("about:blank");
  for (const link of [zoomed, zoomed.replace(/until=[^&]*&/, "")]) { // without an end of its own the map ends with what is looked at
    asked.length = 0;
    await page.goto(link);
    await page.locator(".heat canvas.zoomed").waitFor();
    assert.deepEqual([await axis(), await labels()], twice, link);
    assert.ok(asked.length > 0 && asked.every((until) => until === (link === zoomed ? "2026-01-01T01:04:00.000Z" : "2026-01-01T00:40:00.000Z")), String(asked));
  }
  for (const zoom of ["", "x", "0~2~a~b", "0~1~2020-01-01T00:00:00Z~2020-01-01T01:00:00Z", "0.5~0.1~2026-01-01T00:10:00Z~2026-01-01T00:20:00Z"]) { // of no part of it
    await page.goto(`${address}&zoom=${zoom}`);
    await page.locator(".heat canvas:not(.zoomed)").waitFor();
  }
});

shows("a map is zoomed by keys, and what is dragged comes along, with its labels and times", async (t) => {
  const page = await open(t, "operator", dev.operators + "/me"), n = 64, begin = Date.UTC(2026, 0, 1), spot = [30, 29]; // the one cell that is hot
  await page.route("**/tables/logistics%3Ascans/heat?*", (route) => route.fulfill({ json: { table: "logistics:scans", most: 9, kept_minutes: 43200, bytes: [],
    starts: Array.from({ length: n }, (_, r) => r === 0 ? "" : `key-${r}`), times: Array.from({ length: n }, (_, c) => new Date(begin + (c + 1) * 60_000).toISOString()),
    rows: Array.from({ length: n }, (_, r) => Array.from({ length: n }, (_, c) => r === spot[0] && c === spot[1] ? 9 : 0)) } }));
  await page.goto(`${dev.operators}/regions?table=logistics%3Ascans&minutes=60&until=2026-01-01T01:04:00.000Z`);
  await page.locator(".heat canvas").waitFor();
  /** The hot cell is where a view of so many cells from there shows it, and the address, the labels and the times are of that view. */
  const seen = async (top, left, size) => {
    const minute = (c) => new Date(begin + c * 60_000).toISOString();
    await page.waitForURL((url) => (url.searchParams.get("zoom") ?? "") === (size === n ? "" : `${top / n}~${(top + size) / n}~${minute(left)}~${minute(left + size)}`));
    const want = [(spot[1] - left) / size, (spot[0] - top) / size, (spot[1] + 1 - left) / size, (spot[0] + 1 - top) / size];
    let at;
    await until(async () => (at = Object.values(await hottestPart(page))).every((part, i) => Math.abs(part - want[i]) < .006), `the cell is drawn at ${want}`).catch((err) => { throw new Error(`${err.message}, not at ${at}`); });
    const labels = await page.locator(".labels li").allInnerTexts(), lines = Math.min(16, size);
    assert.deepEqual(labels, Array.from({ length: lines }, (_, i) => Math.floor(top + (i + .5) * size / lines)).map((r) => r === 0 ? "the first key" : `key-${r}`));
    const clock = (c) => `08:${String(c + 1).padStart(2, "0")}`; // in Shanghai
    assert.deepEqual((await page.locator(".axis span").allInnerTexts()).map((text) => text.slice(-5)), [clock(left), clock(left + size - 1)].map((text) => text === "08:60" ? "09:00" : text > "08:60" ? "09:0" + text.at(-1) : text));
  };
  await seen(0, 0, n);
  await page.locator(".heat").focus();
  await page.keyboard.press("+");
  await seen(16, 16, 32);
  await page.keyboard.press("="); // the same key without Shift
  await seen(24, 24, 16);
  await page.keyboard.press("-");
  await seen(16, 16, 32);
  const box = await page.locator(".heat canvas").boundingBox(), cell = [box.width / 32, box.height / 32];
  const drag = async (columns, rows) => { // what is under the pointer stays under it
    const from = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(from[0] + columns * cell[0], from[1] + rows * cell[1], { steps: 5 });
    await page.mouse.up();
  };
  await drag(8, 4);
  await seen(12, 8, 32);
  await drag(-4, -6);
  await seen(18, 12, 32);
  await drag(-15, 15); // not beyond the map
  await drag(-15, 15);
  await page.waitForURL((url) => url.searchParams.get("zoom")?.startsWith("0~0.5~2026-01-01T00:32:00.000Z~"));
  await page.keyboard.press("Escape");
  await page.locator(".heat").focus();
  await page.keyboard.press("0");
  await seen(0, 0, n);
  await page.keyboard.press("-"); // there is no more to see
  await seen(0, 0, n);
});

shows("a statement has its address, in a link that runs nothing and is sent to nobody", async (t) => {
  const page = await open(t, "support", dev.users + "/me"), secret = "p@ss #1 100 %", sent = [], told = [];
  page.on("request", (request) => { // what a server is told: browsers keep the fragment
    const { pathname, search } = new URL(request.url());
    told.push(pathname + search + (request.headers()["referer"] ?? ""));
    if (request.method() === "POST" && request.url().endsWith("/api/v1/sql")) sent.push(request.postDataJSON().statement);
  });
  const first = `SELECT at FROM scans WHERE waybill = '${secret}'`, second = `SELECT at, action\nFROM scans WHERE waybill = '${waybill}'`;
  const shown = (statement) => page.waitForFunction((wanted) => document.querySelector("textarea")?.value === wanted, statement);
  await page.goto(`${dev.users}/sql#${encodeURIComponent(first)}`);
  await shown(first);
  await page.locator("text=Nothing has been run yet").waitFor();
  await page.fill("input[aria-describedby=why]", "case 4713");
  assert.deepEqual(sent, []);
  await page.click("button.main");
  await page.locator("text=Nothing has been run yet").waitFor({ state: "detached" });
  await page.locator("text=No row matches the statement").waitFor();
  await page.fill("textarea", second);
  await page.keyboard.press("Control+Enter");
  await page.locator("td:text-is('SIGNED')").first().waitFor();
  assert.equal(decodeURIComponent(new URL(page.url()).hash.slice(1)), second);
  await page.goBack();
  await shown(first);
  await page.locator("text=Nothing has been run yet").waitFor();
  assert.equal(await page.locator("td").count(), 0, "an answer stands below its own statement alone");
  await page.goForward();
  await shown(second);
  await page.reload();
  await shown(second);
  await page.locator("text=Nothing has been run yet").waitFor();
  assert.deepEqual(sent, [first, second]);
  assert.ok(told.length > 3 && !told.some((text) => decodeURIComponent(text).includes(secret) || text.includes("SELECT")), told.join("\n"));
  for (const broken of ["%", "%E0%A4%A"]) {
    await page.goto("about:blank");
    await page.goto(`${dev.users}/sql#${broken}`);
    await page.locator("textarea").waitFor();
    assert.equal(await page.inputValue("textarea"), second, "as without a statement in the address: the last one that was run");
  }
});

shows("a tab has one stream at a time, and none where nothing is live", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me");
  const count = () => { // the streams that are asked for, each until it is given up
    const ask = window.fetch, live = new Set();
    window.most = 0;
    window.live = () => live.size;
    window.fetch = (path, init) => {
      if (init?.headers?.Accept === "text/event-stream") {
        live.add(init.signal);
        init.signal.addEventListener("abort", () => live.delete(init.signal));
        window.most = Math.max(window.most, live.size);
      }
      return ask(path, init);
    };
  };
  const lives = (page, n) => page.waitForFunction((wanted) => window.live() === wanted, n);
  await page.addInitScript(count);
  const job = await as("admin", "/api/v1/ops/jobs/replay", { method: "POST", headers: { "Content-Type": "application/json", "Idempotency-Key": "one stream" },
    body: JSON.stringify({ pipeline: "scans", from: "earliest", dry_run: true }) }, dev.operators);
  assert.ok(job.id, JSON.stringify(job));
  await page.goto(dev.operators + "/overview");
  await page.locator(".live.on").waitFor();
  await lives(page, 1);
  await page.locator("text=Show partitions").first().click();
  await page.locator("h3:has-text('.rows')").first().waitFor();
  await page.click("nav >> text=Jobs");
  await lives(page, 0);
  await page.click("tbody a >> nth=0");
  await page.locator(".job").waitFor();
  await page.click("nav >> text=Overview");
  await page.locator(".live.on").waitFor();
  await lives(page, 1);
  assert.equal(await page.evaluate(() => window.most), 1);

  const users = await open(t, "customer", dev.users + "/me");
  await users.addInitScript(count);
  await users.goto(dev.users + `/track?waybill=${waybill}`);
  for (const number of ["UA-1545-20130101-EWR", waybill]) {
    await users.locator(".live.on").waitFor();
    await lives(users, 1);
    await users.fill("textarea", number);
    await users.keyboard.press("Enter");
    await users.waitForURL(`**/track?waybill=${number}`);
  }
  await users.click("nav >> text=Orders");
  await lives(users, 0);
  assert.equal(await users.evaluate(() => window.most), 1);
});

shows("a page that is left open asks for nothing while nothing happens; the regions are looked at now and then", async (t) => {
  const looks = async (who, base, paths) => {
    const page = await open(t, who, base + "/me"), asked = [];
    await page.clock.install();
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/api/") && !pathname.endsWith("/events")) asked.push(pathname);
    });
    for (const [path, there, most] of paths) {
      await page.goto(base + path);
      await page.locator(there).first().waitFor();
      await page.waitForFunction(() => ![...document.querySelectorAll("main [role=status]")].some((one) => one.textContent.startsWith("Loading")));
      await page.evaluate(() => fetch("/api/v1/me")); // what was asked before it has been seen
      asked.length = 0;
      await page.clock.runFor(60_000);
      await page.evaluate(() => fetch("/api/v1/me"));
      assert.equal(asked.pop(), "/api/v1/me");
      assert.ok(most === 0 ? asked.length === 0 : asked.length > 0 && asked.length <= most, `${path}: ${asked}`);
    }
    await page.finish();
  };
  const { jobs: [job] } = await as("admin", "/api/v1/ops/jobs", {}, dev.operators);
  await looks("admin", dev.operators, [
    ["/overview", ".live.on", 0], ["/dead-letters", "#kinds", 0], ["/offsets", "tbody tr", 0], ["/records", "main form", 0], ["/replay", "main form", 0], ["/verify", "main form", 0], ["/jobs", "main h1", 0],
    ...job ? [[`/jobs?job=${job.id}`, ".job .badge", 0]] : [], ["/tables", "tbody tr", 0], ["/keys", "main form", 0], ["/sql", "textarea", 0], ["/configuration", "pre", 0], ["/accounts", "tbody tr", 0],
    ["/audit", "tbody tr", 0], ["/me", "#tokens-title", 0], ["/regions?minutes=15&table=logistics%3Ascans", ".heat canvas", 15],
  ]);
  await looks("customer", dev.users, [["/orders", ".rows li", 0], [`/track?waybill=${waybill}`, ".stations li", 0], ["/me", "#tokens-title", 0]]);
});

shows("the map follows what the pipelines do, and asks no sooner than it must", async (t) => {
  const page = await open(t, "operator", dev.operators + "/me");
  await page.clock.install();
  await page.addInitScript(() => {
    const ask = window.fetch;
    window.looks = 0;
    window.fetch = (path, init) => {
      if (String(path).includes("/heat?")) window.looks++;
      return !String(path).endsWith("/pipelines/events") ? ask(path, init) : Promise.resolve(new Response(new ReadableStream({ start(to) {
        window.changed = () => to.enqueue(new TextEncoder().encode('id: 1\nevent: state\ndata: {"pipelines": []}\n\n'));
        window.changed();
      } })));
    };
  });
  await page.goto(dev.operators + "/regions?minutes=15&table=logistics%3Ascans");
  await page.locator(".heat canvas").waitFor();
  await page.waitForFunction(() => window.changed);
  assert.equal(await page.evaluate(() => window.looks), 1, "what is there already is not asked for again");
  await page.clock.pauseAt(await page.evaluate(() => Date.now()) + 1_000); // from here on it is not the machine that takes time
  await page.evaluate(() => window.changed());
  for (let ms = 0; ms < 3_000 && await page.evaluate(() => window.looks) === 1; ms += 100) await page.clock.runFor(100);
  await page.waitForFunction(() => window.looks === 2);
  for (let n = 0; n < 5; n++) await page.evaluate(() => window.changed());
  await page.clock.runFor(2_000);
  assert.equal(await page.evaluate(() => window.looks), 2, "as often as it changes");
  await page.clock.runFor(1_500);
  await page.waitForFunction(() => window.looks === 3);
  await page.clock.runFor(14_000);
  assert.equal(await page.evaluate(() => window.looks), 3);
  await page.clock.runFor(1_500);
  await page.waitForFunction(() => window.looks === 4);
});

shows("what is masked from support is in no place of its pages, nor in what they are answered", async (t) => {
  const secret = "COURIER-4711", number = "MASKED-1";
  await publish(dev, "courier.scans", "waybill", [{ waybill: number, action: "ARRIVED_AT", station: "S-SEEN", at: Date.UTC(2026, 5, 3), courier: secret }]);
  const run = await startRun(dev, `    mask: [{ field: courier, shown_to: [admin] }]
views:
  waybill: { table: logistics:scans, where: [waybill], optional: [at..], order: newest }
`);
  t.after(() => run.stop());
  for (const who of ["admin", "support"]) {
    const page = await open(t, who, run.users + "/me"), answers = [];
    page.on("response", (response) => {
      if (new URL(response.url()).pathname.startsWith("/api/") && !response.url().includes("/events")) answers.push(response.text().catch(() => ""));
    });
    const seen = async () => await page.content() + await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, history.state, location.href,
      [...document.querySelectorAll("input, textarea")].map((one) => one.value)]));
    const places = {};
    await page.goto(run.users + "/track");
    await page.locator("textarea").waitFor();
    if (await page.locator("[name=why]").count() > 0) await page.fill("[name=why]", "case 4714");
    await page.fill("textarea", number);
    await page.keyboard.press("Enter");
    await page.locator(".stations > li:has-text('S-SEEN')").waitFor();
    places.track = await seen();
    await page.click("nav >> text=SQL");
    await page.fill("input[aria-describedby=why]", "case 4714");
    await page.fill("textarea", `SELECT * FROM logistics:scans WHERE waybill = '${number}'`);
    await page.click("button.main");
    await page.locator("td:text-is('S-SEEN')").waitFor();
    places.sql = await seen();
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
    places.csv = await readFile(await file.path(), "utf8");
    places.answers = (await Promise.all(answers)).join("\n");
    for (const [place, text] of Object.entries(places)) {
      assert.ok(text.length > 20, place);
      assert.equal(text.includes(secret), who === "admin", `${place} of ${who}: ${text}`);
    }
    await page.finish();
  }
});

shows("the overview's rates are the API's, and what they foretell", async (t) => {
  const page = await open(t, "admin", dev.operators + "/overview"), figure = (name) => page.locator(`.sheet:has(#pipeline-scans) .figures div:has(dt:text-is('${name}')) dd`).first();
  let turn = 0;
  await until(async () => { // of what is really written
    const at = Date.UTC(2025, 8, 1) + 1000 * turn++;
    await publish(dev, "courier.scans", "waybill", Array.from({ length: 200 }, (_, n) => ({ waybill: `RATE-${n}`, action: "ARRIVED_AT", station: "S1", at: at + n, courier: "C1" })));
    const shown = [figure("Offsets/s"), figure("Arriving/s")];
    return (await Promise.all(shown.map(async (one) => await one.isVisible() ? Number((await one.innerText()).replaceAll(",", "")) : 0))).every((n) => n > 0);
  }, "both rates are more than 0");
  const pipeline = await as("admin", "/api/v1/ops/pipelines/scans", {}, dev.operators), rows = pipeline.halves.find((half) => half.kind === "rows");
  await page.route("**/ops/pipelines/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `id: 1\nevent: state\ndata: ${JSON.stringify({ pipelines: [pipeline] })}\n\n` }));
  for (const [rates, settled, arriving, drain] of [
    [{ offsets_per_second: 1234.4, arriving_per_second: 234.4 }, "1,234", "234", "1 min"],
    [{ offsets_per_second: 100, arriving_per_second: 234.6 }, "100", "235", "never at this rate"],
    [{ offsets_per_second: 0.2, arriving_per_second: 0, drain_seconds: 7200 }, "0", "0", "2 h"],
    [{ offsets_per_second: 9, drain_seconds: -1 }, "9", null, "never at this rate"],
    [{}, null, null, null],
  ]) {
    for (const name of ["offsets_per_second", "arriving_per_second", "drain_seconds"]) delete rows[name];
    Object.assign(rows, { lag: 60_000, paused: false, ...rates });
    await page.goto(dev.operators + "/overview");
    await figure("Lag in offsets").waitFor();
    for (const [name, want] of [["Offsets/s", settled], ["Arriving/s", arriving], ["Time to catch up", drain]]) {
      if (want === null) assert.equal(await figure(name).count(), 0, `${name} of ${JSON.stringify(rates)}`);
      else assert.equal(await figure(name).innerText(), want, `${name} of ${JSON.stringify(rates)}`);
    }
  }
});

shows("the overview says which step holds up the others, as the API does", async (t) => {
  const steps = {
    en: { fetch: "waiting for records", decode: "decoding", room: "waiting for room", submit: "building rows", lane: "region queues", server: "the store", settle: "retrying", commit: "committing" },
    zh: { fetch: "等待记录", decode: "解码", room: "等待空间", submit: "生成行", lane: "分区队列", server: "存储", settle: "重试", commit: "提交" },
  };
  const limit = (n) => as("operator", "/api/v1/ops/pipelines/scans/limit", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ limit: n }) }, dev.operators);
  const of = (page, name) => page.locator(`.sheet:has(#pipeline-scans) .figures div:has(dt:text-is('${name}')) dd`).first();
  const page = await open(t, "operator", dev.operators + "/overview");
  const rows = async () => (await as("operator", "/api/v1/ops/pipelines/scans", {}, dev.operators)).halves.find((half) => half.kind === "rows");
  await limit(1); // of what really runs
  t.after(() => limit(0));
  let turn = 0;
  await until(async () => { // what comes first is taken at once, and what comes then has to wait
    const { lag, limiting_step: step } = await rows();
    if (lag === 0) {
      await publish(dev, "courier.scans", "waybill", Array.from({ length: 50 }, (_, n) => ({ waybill: `STEP-${n}`, action: "ARRIVED_AT", station: "S1", at: Date.UTC(2025, 9, 1) + 1000 * turn + n, courier: "C1" })));
      turn++;
      return false;
    }
    return step && await of(page, "Limiting step").isVisible() && await of(page, "Limiting step").innerText() === steps.en[step];
  }, "it is named");
  await limit(0);
  await until(async () => (await rows()).lag === 0, "it has caught up");

  const pipeline = await as("operator", "/api/v1/ops/pipelines/scans", {}, dev.operators), half = pipeline.halves.find((half) => half.kind === "rows");
  for (const language of ["en", "zh"]) {
    const page = await open(t, "operator", dev.operators + "/me", { language });
    await page.route("**/ops/pipelines/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `id: 1\nevent: state\ndata: ${JSON.stringify({ pipelines: [pipeline] })}\n\n` }));
    for (const [step, lag, want] of [...Object.entries(steps[language]).map(([step, text]) => [step, 5, text]), ["fetch", 0, null], ["server", 0, steps[language].server], ["another", 5, "another"], [undefined, 5, null]]) {
      Object.assign(half, { limiting_step: step, lag });
      await page.goto(dev.operators + "/overview");
      const name = language === "en" ? "Limiting step" : "瓶颈";
      await page.locator(".sheet:has(#pipeline-scans) .figures").first().waitFor();
      if (want === null) assert.equal(await of(page, name).count(), 0, String(step));
      else assert.equal(await of(page, name).innerText(), want);
    }
    await page.finish();
  }
});

shows("orders are found by their brand", async (t) => {
  const order = (order, brand, n) => ({ order, user: "u00042", created: Date.UTC(2026, 5, 4) + n, at: Date.UTC(2026, 5, 4) + n, status: "paid", items: "lamp x1 9.00", brand, lines: 1, total: 9 });
  await publish(dev, "shop.orders", "order", [order("C-ZEPHYR-1", "Zephyr & Co", 1), order("C-OTHER", "Zephyr", 2), order("C-ZEPHYR-2", "Zephyr & Co", 3)]);
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-ZEPHYR-2")).rows.length === 1 &&
    (await as("customer", "/api/v1/views/user-orders?brand=Zephyr+%26+Co")).rows.length === 2, "the orders are written and indexed");
  const page = await open(t, "customer", dev.users + "/orders");
  await page.fill("[name=brand]", "Zephyr & Co");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/orders?brand=Zephyr+%26+Co");
  await page.locator("text=All 2 shown").waitFor();
  assert.deepEqual(await page.locator(".rows .id").allInnerTexts(), ["C-ZEPHYR-2", "C-ZEPHYR-1"]);
  await page.click(".rows a >> nth=1");
  await page.locator(".detail dl:has-text('Zephyr & Co')").waitFor();
  assert.match(page.url(), /brand=Zephyr\+%26\+Co&row=/, "the search stays while an order is open");
  await page.click("a:text('Clear')");
  await page.locator(".rows .id:text-is('C-OTHER')").waitFor();
});

shows("a table's growth is drawn, as long as it is known", async (t) => {
  const page = await open(t, "admin", dev.operators + "/me"), at = dev.operators + "/tables?table=logistics%3Ascans";
  // What is drawn below is what the API describes. brine dev's own regions are smaller than a megabyte, of which nothing is kept.
  const { components: { schemas } } = await as("admin", "/api/v1/openapi.json", {}, dev.operators), { items } = schemas.TableSizes.properties.sizes;
  assert.equal(items.$ref, "#/components/schemas/TableSize");
  assert.deepEqual(Object.entries(schemas.TableSize.properties).map(([name, of]) => `${name} ${of.type}`).toSorted(), ["at string", "mb integer"]);
  const answer = await as("admin", "/api/v1/ops/tables/logistics%3Ascans/sizes?minutes=10080", {}, dev.operators);
  assert.deepEqual([answer.status, answer.table, Array.isArray(answer.sizes)], [200, "logistics:scans", true]);
  let known = [], asked = "";
  await page.route("**/tables/logistics%3Ascans/sizes?*", (route) => { asked = route.request().url(); return route.fulfill({ json: { table: "logistics:scans", sizes: known } }); });
  const grown = (n) => Array.from({ length: n }, (_, i) => ({ at: new Date(Date.UTC(2026, 0, 1, i)).toISOString(), mb: i === n - 1 ? 400 : 100 }));
  known = grown(48);
  await page.goto(at);
  const chart = page.locator("section:has(#growth-title)");
  await chart.locator("figcaption:has-text('up to 400')").waitFor();
  assert.match(asked, /minutes=10080/);
  const points = (await chart.locator("polyline").getAttribute("points")).split(" ");
  assert.deepEqual([points.length, points[0], points.at(-1)], [48, "0,152.5", "1000,10"]);
  const [file] = await Promise.all([page.waitForEvent("download"), chart.locator("text=Download CSV").click()]);
  assert.equal(await readFile(await file.path(), "utf8"), "\ufeffat,mb\r\n" + known.map((one) => `${one.at},${one.mb}\r\n`).join(""));
  assert.deepEqual(await wrongIn(page), []);
  known = grown(3);
  await page.goto(at);
  await chart.locator("figure li").nth(2).waitFor();
  assert.deepEqual(await chart.locator("figure li .number").allInnerTexts(), ["100", "100", "400"]);
  known = grown(1);
  await Promise.all([page.waitForResponse(/sizes\?/), page.goto(at)]);
  await page.locator("#servers-title ~ .scroll").first().waitFor();
  assert.equal(await chart.count(), 0, "of one size there is no growth");
});

// What a spreadsheet would take for a formula. Numbers are numbers, and an array or an object begins with a bracket.
const formulas = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "＝1+1", "＋1", "－1", "＠SUM(1)"];

test("no cell of a CSV file is a formula, and numbers stay numbers, in each file that is downloaded", async () => {
  const { csv } = await moduleOf("csv.ts");
  for (const formula of formulas) {
    const quoted = `'${formula}`.includes("\r") ? `"'${formula}"` : `'${formula}`;
    assert.equal(csv([formula], [[formula]]), `${quoted}\r\n${quoted}\r\n`, JSON.stringify(formula));
    for (const value of [[formula], { [formula]: formula }]) {
      const text = csv(["a"], [[value]]).split("\r\n")[1];
      assert.match(text, /^"?[[{]/, JSON.stringify(value));
      assert.deepEqual(JSON.parse(text.startsWith(`"`) ? text.slice(1, -1).replaceAll(`""`, `"`) : text), value);
    }
  }
  assert.equal(csv(["a", "b", "c", "d", "e"], [[-5, 1e21, null, true, "5"]]), "a,b,c,d,e\r\n-5,1e+21,,true,5\r\n");
  const src = new URL("../src/", import.meta.url);
  for (const name of await readdir(src, { recursive: true })) {
    if (!/\.tsx?$/.test(name) || name.endsWith("csv.ts")) continue;
    const source = await readFile(new URL(name, src), "utf8");
    assert.equal(source.match(/\bdownload\(/g)?.length ?? 0, source.match(/\bdownload\([^;]*?,\s*csv\(/g)?.length ?? 0, `${name} hands out a file that csv() has not made`);
    assert.doesNotMatch(source, /createObjectURL|\.download\s*=/, `${name} hands out a file by itself`);
  }
});

shows("formulas in an answer of SQL, and in what came of a job, are texts in their files", async (t) => {
  const page = await open(t, "admin", dev.operators + "/sql");
  const saved = async (click) => {
    const [file] = await Promise.all([page.waitForEvent("download"), click()]);
    return readFile(await file.path(), "utf8");
  };
  await page.route("**/api/v1/sql", (route) => route.request().method() !== "POST" ? route.continue() : route.fulfill({ json: {
    columns: ["a", "b", "=c"].map((name) => ({ name, type: "text" })), rows: formulas.map((one) => [one, [one], -7]),
    stats: { hbase_ms: 1, total_ms: 1, rows_read: 1, rows_returned: 1, regions: 1 } } }));
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", "SELECT a FROM b");
  await page.click("button.main");
  await page.locator("td:text-is('=1+1')").waitFor();
  const cell = (text) => /[",\r]/.test(text) ? `"${text.replaceAll(`"`, `""`)}"` : text;
  assert.equal(await saved(() => page.click("text=Download CSV")), "\ufeffa,b,'=c\r\n" + formulas.map((one) => `${cell("'" + one)},${cell(JSON.stringify([one]))},-7\r\n`).join(""));

  const job = { id: "look", kind: "verify", state: "done", account: "admin", created: new Date().toISOString(), progress: [], asked: {},
    results: formulas.map((one) => ({ what: "finding", value: { row: one, records: [one, "b"], found: -7 } })) };
  await page.route("**/ops/jobs/look", (route) => route.fulfill({ json: job }));
  await page.route("**/ops/jobs/look/events", (route) => route.fulfill({ contentType: "text/event-stream", body: `event: state\ndata: ${JSON.stringify(job)}\n\n` }));
  await page.goto(dev.operators + "/jobs?job=look");
  await page.locator("[data-what=finding]").first().waitFor();
  assert.equal(await saved(() => page.click("[data-what=finding] >> text=Download CSV")),
    "\ufeffrow,records,found\r\n" + formulas.map((one) => `${cell("'" + one)},"'${one}\nb",-7\r\n`).join(""));
});

/** What a module of the console exports. */
async function moduleOf(file) {
  const [{ output: [{ code }] }] = await build({
    configFile: false, logLevel: "error", build: { write: false, lib: { entry: fileURLToPath(new URL(`../src/lib/${file}`, import.meta.url)), formats: ["es"] } },
  });
  return import("data:text/javascript," + encodeURIComponent(code));
}

shows("a file has all of a list, however much of it is loaded, or says that it has not", async (t) => {
  const page = await open(t, "customer", dev.users + "/me"), asked = [], file = () => page.waitForEvent("download");
  let pages, sizes = 3;
  const row = (n) => ({ row: `r${n}`, version: 1, state_version: 1, state: "paid", fields: { order: `G${n}`, status: "paid", ...n === 2_000 ? { note: "late" } : {} } });
  await page.route("**/views/user-orders?*", (route) => {
    const query = new URL(route.request().url()).searchParams, at = Number(query.get("page_token") ?? 0), size = Number(query.get("page_size"));
    asked.push(size);
    return pages(route, Array.from({ length: Math.min(size, 1000) }, (_, n) => row(at + n)), at + size < sizes * 1000 ? String(at + size) : "");
  });
  const give = (route, rows, next) => route.fulfill({ json: { rows, next_page_token: next } });
  pages = give;
  await page.goto(dev.users + "/orders");
  const button = page.locator(".list button:text-is('Download CSV')");
  const [whole] = await Promise.all([file(), button.click()]);
  const lines = (await readFile(await whole.path(), "utf8")).trimEnd().split("\r\n");
  assert.equal(lines.length, 3001);
  assert.deepEqual([lines[0], lines[1], lines[2001], lines[3000]], ["\ufeffrow,order,status,note", "r0,G0,paid,", "r2000,G2000,paid,late", "r2999,G2999,paid,"]);
  assert.equal(asked.filter((size) => size === 1000).length, 3);
  assert.ok(await page.locator(".rows li").count() < 100, "the page has no more of them for that");

  let release;
  pages = async (route, rows, next) => { // it says how far it is, and is canceled
    if (rows[0].row === "r1000") await new Promise((resolve) => { release = resolve; });
    return give(route, rows, next).catch(() => {});
  };
  await button.click();
  await page.locator(".list [role=status]:has-text('1,000 so far')").waitFor();
  await page.click(".list button:text-is('Cancel')");
  await button.waitFor();
  release();
  pages = (route, rows, next) => rows[0].row === "r2000" ? route.fulfill({ status: 403, contentType: "application/problem+json", body: `{"status":403,"title":"no","type":""}` }) : give(route, rows, next);
  await button.click();
  await page.locator(".note.bad:has-text('The file could not be made')").waitFor();
  pages = give;
  sizes = 101;
  const [cut] = await Promise.all([file(), button.click()]);
  assert.equal(cut.suggestedFilename(), "orders-first-100000.csv");
  await page.locator(".note.bad:has-text('only the first 100,000')").waitFor();
  assert.equal((await readFile(await cut.path(), "utf8")).trimEnd().split("\r\n").length, 100_001);

  const admin = await open(t, "admin", dev.operators + "/me");
  const entry = (id) => ({ id, at: "2026-06-01T00:00:00Z", account: "a", role: "admin", action: "sign-in", object: `entry ${id}`, reason: "", address: "", request_id: "" });
  const letter = (offset) => ({ pipeline: "scans.rows", topic: "courier.scans", partition: 0, offset, time: "2026-06-01T00:00:00Z", reason: "wrong_type", written: "2026-06-01T00:00:00Z" });
  const paged = (name, of) => (route) => {
    const at = Number(new URL(route.request().url()).searchParams.get("page_token") ?? 0);
    return route.fulfill({ json: { [name]: [of(at), of(at + 1)], next_page_token: at < 4 ? String(at + 2) : "" } });
  };
  await admin.route(/ops\/audit(\?|$)/, paged("entries", entry));
  await admin.route(/ops\/dead-letters(\?|$)/, paged("dead_letters", letter));
  for (const [path, at, last] of [["/audit", "main .foot", "entry 5"], ["/dead-letters", "section:has(#which) .foot", "courier.scans/0:5"]]) {
    await admin.goto(dev.operators + path);
    const [all] = await Promise.all([admin.waitForEvent("download"), admin.click(`${at} >> button:text-is('Download CSV')`)]);
    const text = await readFile(await all.path(), "utf8");
    assert.equal(text.trimEnd().split("\r\n").length, 7, path);
    assert.ok(text.includes(last), text);
  }
});

test("numbers of any size are read and written as they are", async () => {
  const { Decimal, parseJSON, jsonText } = await moduleOf("json.ts");
  for (const [text, value] of [
    ["9007199254740991", 9007199254740991], ["9007199254740993", 9007199254740993n], ["-9223372036854775808", -9223372036854775808n],
    ["[1234567890123456789,-9007199254740991]", [1234567890123456789n, -9007199254740991]],
    ['{"a":{"b":[18446744073709551615,"1234567890123456789",null]}}', { a: { b: [18446744073709551615n, "1234567890123456789", null] } }],
    [String.raw`["\\\"1234567890123456789","\\",1234567890123456789]`, ['\\"1234567890123456789', "\\", 1234567890123456789n]],
    ["634.60", new Decimal("634.60")], ["[0.12345678901234567890,1.50]", [new Decimal("0.12345678901234567890"), new Decimal("1.50")]],
    ['{"a":1.0,"b":-0.10,"c":["0.10",",1.0,",2.5,0.30000000000000004]}', { a: new Decimal("1.0"), b: new Decimal("-0.10"), c: ["0.10", ",1.0,", 2.5, 0.30000000000000004] }],
    ["[1.2345678901234567e+30,1e-9,1E2,-1234567890123456.5]", [1.2345678901234567e+30, 1e-9, new Decimal("1E2"), -1234567890123456.5]],
    ["1234567890123456789e2", new Decimal("1234567890123456789e2")],
    [String.raw`{"\"1234567890123456789":1,"__proto__":1234567890123456789}`, JSON.parse(String.raw`{"\"1234567890123456789":1,"__proto__":0}`, (k, v) => k === "__proto__" ? 1234567890123456789n : v)],
  ]) {
    assert.deepEqual(parseJSON(text), value, text);
    assert.equal(jsonText(value), text);
  }
  for (const wrong of ["12345678901234567 ", "01234567890123456789", '"1234567890123456', "[1234567890123456789"]) {
    if (wrong.endsWith(" ")) assert.equal(parseJSON(wrong), 12345678901234567n);
    else assert.throws(() => parseJSON(wrong), SyntaxError, wrong);
  }
  assert.equal(jsonText(undefined), undefined);
  assert.equal(jsonText({ a: undefined, b: '5 "-12"' }), JSON.stringify({ b: '5 "-12"' }));
});

shows("whole numbers beyond 2^53 and small fractions are shown, linked and downloaded with all their digits", async (t) => {
  const page = await open(t, "admin", dev.operators + "/sql");
  const answer = `{"columns":[{"name":"_key","type":"text"},{"name":"id","type":"int"},{"name":"share","type":"float"},{"name":"doc","type":"json"},{"name":"_time(e:s)","type":"int"}],
    "rows":[["k",1234567890123456789,0.0004,{"id":1234567890123456789},9007199254740993],["l",-9223372036854775808,12345.678901,[1e-9],7]],
    "stats":{"hbase_ms":1,"total_ms":1,"rows_read":2,"rows_returned":2,"regions":1}}`;
  await page.route("**/api/v1/sql", (route) => route.request().method() !== "POST" ? route.continue() : route.fulfill({ contentType: "application/json", body: answer }));
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", "SELECT _key, id, share, doc, _time(e:s) FROM logistics:scans");
  await page.click("button.main");
  await page.locator("td:text-is('k')").waitFor();
  assert.deepEqual(await page.locator("tbody tr").first().locator("td").allInnerTexts(),
    ["k", "1,234,567,890,123,456,789", "0.0004", '{"id":1234567890123456789}', "9,007,199,254,740,993", "Find its record…"]);
  assert.deepEqual((await page.locator("tbody tr >> nth=1").locator("td").allInnerTexts()).slice(1, 4), ["-9,223,372,036,854,775,808", "12,345.678901", "[1e-9]"]);
  assert.deepEqual(await page.locator("tbody td.number").count(), 6);
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("text=Download CSV")]);
  assert.equal(await readFile(await file.path(), "utf8"), "\ufeff_key,id,share,doc,_time(e:s)\r\n" +
    'k,1234567890123456789,0.0004,"{""id"":1234567890123456789}",9007199254740993\r\nl,-9223372036854775808,12345.678901,[1e-9],7\r\n');
  await page.click("tbody tr >> nth=0 >> text=Find its record");
  await page.locator("[name=version]").waitFor();
  assert.equal(await page.inputValue("[name=version]"), "9007199254740993");
});

test("a value that changes between the first render and its effects is not lost", async (t) => {
  const [{ output: [{ code }] }] = await build({
    configFile: false, logLevel: "error",
    build: { write: false, lib: { entry: fileURLToPath(new URL("store.mjs", import.meta.url)), formats: ["iife"], name: "store" } },
  });
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.addScriptTag({ content: code });
  await page.locator("p:text-is('second')").waitFor({ timeout: patience });
});

shows("an operator sees each page of theirs, neither accounts nor the audit, and is offered nothing that administrators alone may do", async (t) => {
  const page = await open(t, "operator", dev.operators + "/"), refused = [];
  page.on("response", (response) => { if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`); });
  await page.waitForURL("**/overview");
  await page.locator("nav a").first().waitFor();
  const pages = await page.locator("nav a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  assert.deepEqual(pages.toSorted(), ["/configuration", "/dead-letters", "/jobs", "/keys", "/offsets", "/overview", "/records", "/regions", "/replay", "/sql", "/tables", "/verify"]);
  const offers = { // what each page is for
    "/overview": "button:text-is('Pause')", "/dead-letters": "button:has-text('Replay dead letters')", "/offsets": "button:has-text('Set offsets')", "/replay": "button:text-is('Show the plan')",
    "/verify": "main button:text-is('Verify')", "/configuration": "a:text-is('Reload plan')", "/regions": ".heat canvas", "/tables": "tbody tr", "/keys": "main form", "/records": "main form", "/sql": "textarea",
    "/jobs": "main h1",
  };
  for (const path of pages) {
    await page.goto(dev.operators + path);
    await page.locator(offers[path]).first().waitFor();
    await page.waitForFunction(() => ![...document.querySelectorAll("main [role=status]")].some((one) => one.textContent.startsWith("Loading")));
    assert.equal(await page.locator("main .failure").count(), 0, path);
    assert.deepEqual(await wrongIn(page), [], path);
  }
  for (const path of ["/accounts", "/audit"]) {
    await page.goto(dev.operators + path);
    await page.locator("main >> text=Only administrators").waitFor();
  }
  assert.deepEqual(refused, [], "nothing is asked for that an operator may not have");
  const send = async (method, path, body) => (await as("operator", path, { method, ...body ? { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {} }, dev.operators)).status;
  for (const [method, path, body] of [
    ["GET", "/api/v1/ops/accounts"], ["GET", "/api/v1/ops/audit"], ["GET", "/api/v1/ops/accounts/customer"], ["PATCH", "/api/v1/ops/accounts/operator", { role: "admin" }],
    ["POST", "/api/v1/ops/accounts", { name: "more", role: "admin", password: dev.passwords.operator }], ["POST", "/api/v1/ops/accounts/admin/password", { password: dev.passwords.operator }],
    ["POST", "/api/v1/ops/jobs/dead-letter-purge", { older_than: "1s", yes: true }], ["POST", "/api/v1/ops/jobs/verify", { full: true, delete_extra: true, yes: true }],
    ["POST", "/api/v1/ops/jobs/reindex", { index: "orders", from: "hbase", drop_old: true }],
  ]) assert.equal(await send(method, path, body), 403, `${method} ${path}`);

  await page.goto(dev.operators + "/overview"); // what an operator asks of a pipeline is done, in their name
  const orders = page.locator(".sheet:has(#pipeline-orders)");
  await page.click("[aria-label='Pause: orders']");
  await page.click("dialog >> button:text('Pause')");
  await orders.locator("text=requested by operator").first().waitFor();
  const halves = async () => (await as("operator", "/api/v1/ops/pipelines/orders", {}, dev.operators)).halves;
  await until(async () => (await halves()).every((half) => half.paused && half.asked_by === "operator"), "it is paused");
  await page.click("[aria-label='Resume: orders']");
  await page.click("dialog >> button:text('Resume')");
  await until(async () => !(await halves()).some((half) => half.paused), "it goes on");
  const users = await open(t, "operator", dev.users + "/orders");
  await users.locator("[name=why]").waitFor(); // as support does
});

shows("offsets are set, and what came behind the preview is still read", async (t) => {
  const run = await startRun(dev, "", { runs: false, group: "console-moves" });
  t.after(() => run.stop());
  const page = await open(t, "operator", run.operators + "/offsets");
  await page.click("text=Set offsets…");
  await page.fill("dialog >> [name=to]", "latest");
  await page.click("dialog >> text=Preview");
  await page.locator("dialog tbody tr").first().waitFor();
  const then = (await page.locator("dialog tbody td:nth-child(5)").allInnerTexts()).map((n) => Number(n.replaceAll(",", "")));
  const positions = () => page.evaluate(async () => (await (await fetch("/api/v1/ops/offsets")).json()).positions);
  assert.ok((await positions()).every((at) => at.committed === undefined), "nothing is done that was not confirmed");
  await publish(dev, "courier.scans", "waybill", [{ waybill: "MOVED-1", action: "SIGNED", station: "S1", at: Date.UTC(2026, 5, 4), courier: "C1" }]);
  await page.click("dialog >> text=Set them");
  await page.locator("dialog").waitFor({ state: "detached" });
  const now = await positions();
  assert.deepEqual(now.map((at) => at.committed), then);
  assert.ok(now.some((at) => at.lag > 0));
  await page.finish(); // before what it is signed in at
});

// What is purged here, other tests look at: this one is the last of them.
shows("what was looked at is done once it is confirmed: dead letters are replayed and purged, and what is extra is deleted", async (t) => {
  const scan = (waybill, at) => ({ waybill, action: "SIGNED", station: "S1", at, courier: "C1" }), rows = async (waybill) => (await (await fetch(`${dev.users}/api/v1/views/waybill?waybill=${waybill}`)).json()).rows;
  const letters = async (query) => (await as("operator", `/api/v1/ops/dead-letters?pipeline=scans&half=rows${query}`, {}, dev.operators)).dead_letters;
  await publish(dev, "courier.scans", "waybill", [scan("FIXED-1", "soon"), scan("PURGED-1", "soon")]);
  await writeElsewhere(dev, [scan("EXTRA-1", Date.UTC(2026, 5, 5)), scan("EXTRA-2", Date.UTC(2026, 5, 5))]);
  await until(async () => (await letters("&key=FIXED-1")).length + (await letters("&key=PURGED-1")).length === 2, "the dead letters are written");
  assert.equal((await rows("EXTRA-1")).length, 1);
  const page = await open(t, "operator", dev.operators + "/dead-letters?pipeline=scans&half=rows&key=FIXED-1"), admin = await open(t, "admin", dev.operators + "/me");
  const looked = async (of = page) => {
    await of.waitForURL("**/jobs?job=*");
    await of.locator(".job .badge:text-is('done')").waitFor();
    return of.url();
  };
  const confirmed = async (of, name) => {
    const before = await looked(of);
    await of.click(`.job >> button:text-is('${name}')`);
    await of.click(`dialog >> button:text-is('${name}')`);
    await of.waitForURL((url) => url.href.includes("/jobs?job=") && url.href !== before);
    await looked(of);
  };

  await page.click("text=Replay dead letters…");
  await page.fill("dialog >> [name=let]", 'at = "1700000000000"');
  await page.check("dialog >> [name=alter_identity]");
  await page.click("dialog >> text=Preview");
  await page.locator("[data-what=effect]").waitFor();
  assert.deepEqual(await rows("FIXED-1"), [], "a look writes nothing");
  await confirmed(page, "Start the replay");
  assert.equal((await rows("FIXED-1"))[0].fields.at, "2023-11-14T22:13:20.000Z");
  assert.deepEqual(await letters("&key=FIXED-1"), []);

  await page.goto(dev.operators + "/verify");
  await page.selectOption("[name=pipeline]", "scans");
  await page.check("[name=full]");
  await page.click("main >> button:text-is('Verify')");
  await looked();
  await page.locator("[data-what=report]").waitFor();
  assert.equal(await page.locator("button:text-is('Delete what is extra')").count(), 0);
  await admin.goto(page.url());
  await admin.click(".job >> button:text-is('Delete what is extra')");
  await admin.locator("dialog:has-text('has found 2')").waitFor();
  await admin.click("dialog >> button:text-is('Back')");
  assert.equal((await rows("EXTRA-2")).length, 1, "nothing is done that was not confirmed");
  await confirmed(admin, "Delete what is extra");
  await admin.locator("[data-what=deleted_extra]").waitFor();
  assert.deepEqual([...await rows("EXTRA-1"), ...await rows("EXTRA-2")], []);
  assert.equal((await rows("FIXED-1")).length, 1, "what a fix has written is accounted for");

  const { written } = (await letters("&key=PURGED-1"))[0];
  await until(() => Date.now() - Date.parse(written) > 2000, "it is older than a second");
  await page.goto(dev.operators + "/dead-letters");
  await page.click("text=Purge dead letters…");
  await page.fill("dialog >> [name=older_than]", "1s");
  await page.uncheck("dialog >> [name=keep_open]");
  await page.click("dialog >> text=Preview");
  await looked();
  await page.locator("[data-what=topic]").waitFor();
  assert.equal(await page.locator(".job .danger").count(), 0, "an operator looks alone");
  assert.equal((await letters("&key=PURGED-1")).length, 1);
  await admin.goto(page.url());
  await confirmed(admin, "Delete these");
  assert.deepEqual(await letters(""), []);
});

test("the console asks its own API alone, and its policy was never broken", () => {
  assert.deepEqual(strays, []);
});
