// The console in a real Chromium, on a brine dev of its own. What fails leaves a picture in console/shots.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdir, readFile, stat } from "node:fs/promises";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { publish, startDev } from "./dev.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = 60_000; // of one step: the machine may be busy
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
  await until(async () => (await as("customer", "/api/v1/views/user-orders?order=C-CANCEL")).rows.length === 1, "the orders are written");
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

async function as(name, path, init = {}) {
  const response = await fetch(dev.users + path, { ...init, headers: { ...init.headers, Cookie: sessions[name].join("=") } });
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
  page.finish = () => context.close();
  t.after(() => context.close());
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
    await page.click("text=Follow");
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
  assert.match(await text(page, "[role=alert]"), /wrong/);
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
  await page.locator(".detail [role=alert]:has-text('changed meanwhile')").waitFor();
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

shows("an API that is away is said in place, and asked again", async (t) => {
  const page = await open(t, "customer", dev.users + "/orders");
  await page.locator(".rows li").first().waitFor();
  let asked = 0;
  await page.route("**/api/v1/views/user-orders?*", (route) => { asked++; return route.abort(); });
  await page.fill("[name=items]", "tea");
  await page.click("button:text('Search')");
  await page.locator(".failure:has-text('does not answer')").waitFor();
  assert.ok(asked > 1, "reads are asked again by themselves");
  assert.equal(await page.inputValue("[name=items]"), "tea");
  await page.unroute("**/api/v1/views/user-orders?*");
  let halves = 0;
  await page.route("**/api/v1/views/user-orders?*", (route) => { halves++; return route.fulfill({ status: 200, contentType: "application/json", body: `{"rows": [` }); });
  await page.click("button:text('Try again')");
  await until(() => halves === 1, "it is asked again");
  await page.locator(".failure:has-text('does not answer')").waitFor();
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
  await none.locator("text=may not do this").waitFor();
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
  await page.locator("pre, td:has-text('scans')").first().waitFor();
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
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      const wrong = found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
      assert.deepEqual(wrong, [], at);
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
    await page.locator("text=does not say how its tables lie").waitFor();
    return;
  }
  await page.locator(".heat canvas").waitFor();
  const heat = await page.evaluate(async () => (await fetch("/api/v1/ops/tables/logistics%3Ascans/heat?minutes=15")).json());
  assert.ok(heat.starts.length > 1 && heat.times.length > 0, JSON.stringify(heat).slice(0, 200));
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

test("the console asks its own API alone, and its policy was never broken", () => {
  assert.deepEqual(strays, []);
});
