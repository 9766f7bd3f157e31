// The console in a real Chromium, on a brine dev of its own. What fails leaves a picture in console/shots.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdir, readFile, stat } from "node:fs/promises";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { publish, startDev, startRun } from "./dev.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = Number(process.env.PATIENCE ?? 60_000); // ms, of one step: the machine may be busy
const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;
const waybill = "YD310000000000";

let dev, browser, sessions = {};
const strays = []; // requests to elsewhere, errors of pages, and what the policy refused

before(async () => {
  [dev, browser] = await Promise.all([startDev(), chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage", "--font-render-hinting=none"],
  })]);
  const at = Date.UTC(2026, 5, 1);
  const order = (order, status, n, more = {}) => ({ order, user: "u00042", created: at + n, at: at + n, status, items: "green tea x1 9.00", brand: "brand", lines: 1, total: 9, ...more });
  await publish(dev, "shop.orders", "order", [
    order("C-CONFIRM", "shipped", 5, { items: `${evil}; مرحبا بالعالم x2 1.00; 绿茶 🍵 x1 2.00`, brand: evil, note: evil }),
    order("C-STALE", "paid", 4), order("C-CANCEL", "paid", 3, { items: Array.from({ length: 500 }, (_, i) => `item ${i} x1 1.00`).join("; "), lines: 500 }),
  ]);
  for (const name of ["customer", "support", "admin"]) sessions[name] = await signIn(name);
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

/** Opens a page in a browser profile of its own, as somebody or nobody. */
async function open(t, who, address, { language = "en", theme = "light", width = 1100 } = {}) {
  const context = await browser.newContext({
    viewport: { width, height: 800 }, locale: language === "zh" ? "zh-CN" : "en-GB", colorScheme: theme, timezoneId: "Asia/Shanghai",
    reducedMotion: "reduce", deviceScaleFactor: 1,
  });
  context.setDefaultTimeout(patience);
  const base = new URL(address).origin;
  const page = await context.newPage();
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "blob:" && (url.origin !== base || request.resourceType() === "fetch" && !url.pathname.startsWith("/api/v1/"))) strays.push(`asks ${url}`);
  });
  page.on("pageerror", (err) => strays.push(`${address}: ${err}`));
  page.on("console", (message) => { if (/Content Security|Trusted/.test(message.text())) strays.push(`${address}: ${message.text()}`); });
  page.finish = async () => {
    if (!page.isClosed()) await page.unrouteAll({ behavior: "ignoreErrors" }); // an answer that is still on its way would fail the test
    await context.close();
  };
  t.after(page.finish);
  if (who) { // browsers take the cookie from the server alone
    await page.goto(base + "/signin");
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
    await page.finish();
  }
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
  await page.locator("text=/All \\d shown/").waitFor();
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
  await page.locator("text=All 1 shown").waitFor();
  await page.goto(dev.users + "/orders?created.from=2026-06-01&created.to=2026-06-01");
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
  await page.click("dialog >> button:text('Cancel order')");
  await page.locator(".note:has-text('Done: Cancelled')").waitFor();
  assert.match(await text(page, ".detail dl"), /too many items/);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
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
  await page.click("button:text('Search')");
  await page.locator("dialog").waitFor();
  assert.equal(await page.inputValue("[name=items]"), "biscuits");
  await page.fill("dialog >> [name=name]", "customer");
  await page.fill("dialog >> [name=password]", dev.passwords.customer);
  await page.keyboard.press("Enter");
  await page.locator("text=/All \\d shown/").waitFor();
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
  await until(() => halves === 1, "it is asked again");
  await page.locator(".failure:has-text('not responding')").waitFor();
  await page.unroute("**/api/v1/views/user-orders?*");
  await page.click("button:text('Try again')");
  await page.locator("text=/All \\d+ shown/").waitFor();
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
  await none.finish();
  for (const path of ["/accounts", "/audit", "/overview"]) assert.equal((await fetch(dev.users + path)).status, 404);
  const page = await open(t, "admin", dev.operators + "/");
  await page.waitForURL("**/overview");
  await page.locator(".sheet:has-text('courier.scans') >> text=running").first().waitFor();
  await page.click("text=Show partitions");
  await page.locator("caption:has-text('.rows')").first().waitFor();
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
  await page.click("section:has(#which) tbody a >> nth=0");
  await page.locator(".letter dl").first().waitFor();
  const letter = await text(page, ".letter");
  assert.ok(letter.includes("What to do") && letter.includes(JSON.stringify(evil)), letter);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.goBack();
  await page.locator("#which").waitFor();
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
  await page.click("dialog >> text=Preview");
  await page.locator("dialog tbody tr").first().waitFor();
  await page.locator("dialog .hint:has-text('in use')").waitFor(); // it runs: what is refused is not offered
  assert.equal(await page.locator("dialog >> text=Set them").count(), 0);
  await page.click("dialog >> text=Back");
  assert.equal(await page.locator("dialog").count(), 0);
});

shows("a key is tried as one writes it", async (t) => {
  const page = await open(t, "admin", dev.operators + "/keys");
  await page.locator(".rowkey:has-text('UA-1545')").waitFor();
  assert.equal(await page.locator(".splits code").count(), 15);
  await page.fill("textarea >> nth=0", `desc(at, ms) + waybill`);
  await page.locator(".findings .warning").first().waitFor();
  await page.waitForURL(/key=desc/);
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
  await page.locator(".hint").waitFor();
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
  await page.click("text=Show the plan");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.locator("[aria-label=plan]").waitFor();
  await page.click("text=Start the replay");
  await page.locator("dialog:has-text('earliest')").waitFor();
  const looked = page.url();
  await page.click("dialog >> button:text('Start the replay')");
  await page.waitForURL((url) => url.href.includes("/jobs?job=") && url.href !== looked);
  const address = page.url();
  await page.finish(); // the tab is closed
  const other = await open(t, "admin", address);
  await other.locator(".job .badge:text('done')").waitFor();
  await other.locator("[aria-label=result]").waitFor();
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
  await page.click("main >> button:text-is('Verify')");
  await page.locator(".job .badge:text('done'), .job .badge:text('failed')").waitFor();
  await page.locator("[aria-label=report]").waitFor();
});

shows("dead letters are looked at before they are replayed, and purged by administrators alone", async (t) => {
  const page = await open(t, "admin", dev.operators + "/dead-letters?pipeline=scans&half=rows&reason=wrong_type");
  await page.locator("#which").waitFor();
  await page.click("text=Replay dead letters…");
  await page.click("dialog >> text=Preview");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done'), .job .badge:text('failed')").waitFor();
  await page.locator("section[aria-label] dl, section[aria-label] table").first().waitFor();
  await page.goto(dev.operators + "/dead-letters");
  await page.click("text=Purge dead letters…");
  await page.fill("dialog >> [name=older_than]", "30d");
  await page.click("dialog >> text=Preview");
  await page.waitForURL("**/jobs?job=*");
  await page.locator(".job .badge:text('done')").waitFor();
  await page.locator("text=Delete these").waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
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
  await page.evaluate(axe);
  const found = await page.evaluate((runOnly) => window.axe.run({ runOnly }), axeTags);
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
}

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
    await page.locator("dialog [role=alert]:has-text('says something else')").waitFor();
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

shows("where brine cannot be reloaded, the page says so", async (t) => {
  const page = await open(t, "admin", dev.operators + "/configuration?plan=");
  await page.locator(".failure:has-text('no file to load')").waitFor();
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

// Every page, for who may see it, in both languages and themes, wide and narrow.
const pages = [
  { name: "signin", who: null, on: "users", path: "/signin", ready: "form" },
  { name: "track", who: null, on: "users", path: `/track?waybill=${waybill}`, ready: ".stations li", picture: true },
  { name: "track-many", who: "customer", on: "users", path: `/track?waybill=${waybill}&waybill=nowhere`, ready: "tbody tr" },
  { name: "orders", who: "customer", on: "users", path: "/orders", ready: ".rows li", click: ".rows li:nth-child(2) a", then: ".detail dl", picture: true },
  { name: "orders-support", who: "support", on: "users", path: "/orders", ready: "form.filters" },
  { name: "sql", who: "support", on: "users", path: "/sql", ready: "textarea" },
  { name: "overview", who: "admin", on: "operators", path: "/overview", ready: ".sheet .reading", click: "text=/Show partitions|显示分区/", then: "table", picture: true },
  { name: "regions", who: "admin", on: "operators", path: "/regions?minutes=15", ready: ".heat canvas, main > p:not([role])" },
  { name: "dead-letters", who: "admin", on: "operators", path: "/dead-letters", ready: "#which", picture: true },
  { name: "dead-letter", who: "admin", on: "operators", path: "/dead-letters?reason=wrong_type", ready: "#which", click: "section:has(#which) tbody a", then: ".letter dl" },
  { name: "offsets", who: "admin", on: "operators", path: "/offsets", ready: "tbody tr", click: ".bar button", then: "dialog" },
  { name: "records", who: "admin", on: "operators", path: "/records", ready: "form select" },
  { name: "replay", who: "admin", on: "operators", path: "/replay", ready: "tbody tr, .empty" },
  { name: "verify", who: "admin", on: "operators", path: "/verify", ready: "tbody tr, .empty" },
  { name: "jobs", who: "admin", on: "operators", path: "/jobs", ready: "tbody tr", click: "tbody a", then: ".job", picture: true },
  { name: "tables", who: "admin", on: "operators", path: "/tables?table=logistics%3Ascans", ready: "#servers-title ~ .scroll", picture: true },
  { name: "keys", who: "admin", on: "operators", path: "/keys", ready: ".splits", picture: true },
  { name: "configuration", who: "admin", on: "operators", path: "/configuration", ready: "pre" },
  { name: "own", who: "customer", on: "users", path: "/me", ready: "#tokens-title", click: "section:has(#tokens-title) button", then: "dialog" },
  { name: "accounts", who: "admin", on: "operators", path: "/accounts", ready: "tbody tr", click: "tbody button", then: "dialog" },
  { name: "audit", who: "admin", on: "operators", path: "/audit", ready: "tbody tr" },
];

for (const one of pages) {
  shows(`${one.name} is for everybody: axe, both languages and themes, 360 px`, async (t) => {
    const page = await open(t, one.who, dev[one.on] + one.path);
    for (const [language, theme, width] of [["en", "light", 1100], ["zh", "dark", 360], ["en", "dark", 360], ["zh", "light", 1100]]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.evaluate((chosen) => localStorage.setItem("language", chosen), language);
      await page.goto(dev[one.on] + one.path);
      await page.locator(one.ready).first().waitFor();
      if (one.picture && language === "en" && theme === "light" && !one.click) await picture(page, one.name);
      if (one.click) {
        await page.locator(one.click).first().click();
        await page.locator(one.then).first().waitFor();
        if (one.picture && language === "en" && theme === "light") await picture(page, one.name);
      }
      const at = `${one.name} in ${language}, ${theme}, ${width} px`;
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${at} is wider than the window`);
      assert.equal(await page.evaluate(() => document.documentElement.lang), language === "zh" ? "zh-CN" : "en");
      assert.deepEqual(await wrongIn(page), [], at);
    }
  });
}

/** With PICTURES, the pictures of the documentation are made of what is tested. */
async function picture(page, name) {
  if (!process.env.PICTURES) return;
  const path = `../docs/images/console-${name}.png`;
  await page.screenshot({ path });
  assert.ok((await stat(path)).size <= 150_000, `${path} is too large`);
}

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
  const painted = await page.evaluate(() => {
    const canvas = document.querySelector("canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return seen.size;
  });
  assert.ok(painted > 1, "what was written is brighter than what was not");
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

shows("maps go back a month, and say which keys they show", async (t) => {
  const page = await open(t, "admin", dev.operators + "/regions?minutes=43200&table=logistics%3Ascans");
  await page.locator(".heat canvas").waitFor();
  const heat = await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/heat?minutes=43200")).json());
  assert.ok(heat.kept_minutes >= 43200 && heat.starts.length > 1 && heat.labels.length === heat.starts.length, JSON.stringify(heat).slice(0, 200));
  assert.equal(await page.locator(".labels li").count(), Math.min(16, heat.starts.length));
  await page.click("text=Earlier"); // than anything was written
  await page.waitForURL(/until=/);
  await page.locator("text=has written nothing").waitFor();
  await page.click("text=Later");
  await page.locator(".heat canvas").waitFor();
});

shows("from a cell to its record, and from there to its row", async (t) => {
  const page = await open(t, "admin", dev.operators + "/sql");
  await page.fill("input[aria-describedby=why]", "a look");
  await page.fill("textarea", "SELECT _key, _time(station) FROM logistics:scans WHERE waybill = '" + waybill + "' LIMIT 1");
  await page.click("button.main");
  await page.click("a:text('Find its record')");
  await page.waitForURL("**/records?*");
  await page.click("button:text('Find the record')");
  await page.locator(".badge:text('done')").waitFor();
  await page.click("a:has-text('Explain the record')");
  await page.waitForURL("**/records?topic=*");
  await page.click("button:text('Explain the record')");
  await page.locator(".badge:text('done')").waitFor();
  await page.locator("section[aria-label='row'] dd:has-text('logistics:scans')").waitFor();
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
  await page.fill("textarea", `SELECT at FROM scans WHERE waybill = '${waybill}'`);
  await page.click("button:text('Explain')");
  await page.locator(".plan li:has-text('range') svg rect").nth(1).waitFor();
  await page.locator(".plan li:has-text('bounds')").waitFor();
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
  const at = Date.UTC(2025, 5, 20);
  await publish(dev, "courier.scans", "waybill", Array.from({ length: 300 }, (_, n) => ({ waybill: "WRITER-1", action: "ARRIVED_AT", station: `S${n}`, at: at + n, courier: "C1" })));
  const row = page.locator("section[aria-labelledby=writers-title] tbody tr:has-text('courier.scans')")
    .filter({ has: page.locator("td:nth-of-type(4)", { hasText: /^\d+$/ }) }).first(); // brine publishes in transactions, whose batches carry a producer's id
  await row.waitFor();
  const cells = await row.locator("td").allInnerTexts();
  assert.equal(cells[0], "scans");
  assert.match(cells[2], /^\d+$/, "the partition");
  await page.locator("section[aria-labelledby=heavy-title] td:has-text('WRITER-1')").first().waitFor();
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
  await page.goto(dev.operators + "/replay");
  await page.fill("[name=from]", "2h");
  await page.fill("[name=keys]", " first \nsecond\n");
  await page.locator("[name=pipeline] option").first().waitFor({ state: "attached" });
  await page.click("button:text('Show the plan')");
  await page.locator("form [role=alert]").waitFor();
  assert.deepEqual(sent[1].keys, [" first ", "second"]);

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
  await page.locator(".badge:text('done')").waitFor();
  assert.equal(await count(), regions.length + 1);
});

test("the console asks its own API alone, and its policy was never broken", () => {
  assert.deepEqual(strays, []);
});
