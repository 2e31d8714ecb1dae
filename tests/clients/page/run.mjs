// node run.mjs SCRATCH: see run.sh. Every test has its own page; all share a server and a browser.
import assert from "node:assert/strict";
import {mkdirSync, readFileSync, rmSync, statSync} from "node:fs";
import {createRequire} from "node:module";
import {gateTests} from "./gate.mjs";
import {PAYLOADS} from "./hostile.mjs";
import {runsTests} from "./runs.mjs";
import {finish, makeDatabase, openPage, sql, startBrowser, startServe, test} from "./world.mjs";

const scratch = process.argv[2], root = `${scratch}/databases`, repository = process.env.ASSAY_TEST_ROOT;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// --- databases ---

rmSync(root, {recursive: true, force: true});
for (const name of ["ferries", "podcasts"]) makeDatabase(root, name,
  readFileSync(`${repository}/deploy/samples/${name}.sql`, "utf8"));
makeDatabase(root, "shops",
  `CREATE TABLE shop(id INTEGER PRIMARY KEY, name TEXT, district TEXT);
   CREATE TABLE hiring(shop_id INTEGER REFERENCES shop(id), employee_id INTEGER PRIMARY KEY, start_from TEXT);
   INSERT INTO shop VALUES(1,'FC Haka','Valkeakoski'),(2,'HJK','Helsinki'),(3,'FC Inter','Turku'),(4,'FF Jaro','Jakobstad'),(5,'FC Honka','Espoo');
   INSERT INTO hiring VALUES(1,1,'2009'),(1,2,'2003'),(2,3,'2011'),(3,4,'2012'),(3,5,'2013');`);
makeDatabase(root, "cafés",
  "CREATE TABLE café(id INTEGER PRIMARY KEY, größe TEXT, \"\u{1F600}\" TEXT); INSERT INTO café VALUES(1,'groß','\u{1F600}'),(2,'klein','x');");
const HOSTILE_NAMES = PAYLOADS.filter((text) => !/[/\\\u0000-\u001f]/.test(text) && !text.startsWith(".")
  && Buffer.byteLength(text) < 200);
for (const name of HOSTILE_NAMES.slice(0, 20)) makeDatabase(root, name, "CREATE TABLE t(x); INSERT INTO t VALUES(1);");
makeDatabase(root, "hostile", [
  ...PAYLOADS.slice(0, 30)
    .map((text, i) => `CREATE TABLE ${sql.name(text)}(id INTEGER PRIMARY KEY, ${sql.name(PAYLOADS[i + 30])} TEXT);`),
  "CREATE TABLE item(id INTEGER PRIMARY KEY, label TEXT);",
  ...PAYLOADS.map((text, i) => `INSERT INTO item VALUES(${i + 1}, ${sql.quote(text)});`)].join("\n"));

const serve = await startServe(process.env.ASSAY_TEST_PROGRAM, root, repository);
const browser = await startBrowser(process.env.ASSAY_TEST_BROWSER);
const open = (hash = "", options = {}) => openPage(browser, serve.url + hash, options);

// --- actions of users ---

const FERRIES = {
  db: "ferries",
  question: "How many sailings of the vessel Petrel were cancelled?",
  candidates: [
    "SELECT count(*) FROM sailing AS s JOIN vessel AS v ON s.sailing_id = v.vessel_id WHERE v.name = 'Petrell' AND s.status = 'cancelled'",
    "SELECT COUNT(*) FROM sailings",
    "SELECT count(*) FROM sailing AS s JOIN vessel AS v ON s.vessel_id = v.vessel_id WHERE v.name = 'Petrel' AND s.status = 'cancelled'"],
};
const SHOPS = {
  db: "shops",
  question: "Find the number of employees hired in each shop; show the shop name as well.",
  candidates: ["SELECT s.name, count(*) FROM hiring h JOIN shop s ON h.shop_id = s.id GROUP BY s.name",
    "SELECT s.name, count(h.employee_id) FROM shop s LEFT JOIN hiring h ON h.shop_id = s.id GROUP BY s.name"],
};
const LEEDS = {db: "podcasts", question: "How many hosts live in Leeds?",
  candidates: ["SELECT count(*) FROM host WHERE city = 'leeds'"]};

async function fillIn(page, {db, question, candidates}) {
  await page.getByLabel("Database", {exact: true}).selectOption(db);
  await page.getByLabel("Question").fill(question);
  while (await page.locator(".editor-row").count() > 1) await page.locator(".editor-row button").first().click();
  await page.getByLabel("SQL of candidate 1").fill(candidates[0]);
  for (let i = 1; i < candidates.length; i++) {
    await page.getByText("Add a candidate").click();
    await page.getByLabel(`SQL of candidate ${i + 1}`).fill(candidates[i]);
  }
}

async function judge(page, request) {
  await fillIn(page, request);
  const answered = page.waitForResponse((response) => response.url().includes("/v1/judge"));
  await page.getByRole("button", {name: "Judge", exact: true}).click();
  const response = await answered;
  await page.waitForSelector(".verdict, .problem");
  return response.status() === 200 ? response.json() : null;
}

// Returns the text of a suspect clause without the numbers after it.
const marked = (locator) => locator.evaluate((element) =>
  [...element.childNodes].filter((node) => node.nodeName !== "SUP").map((node) => node.textContent).join(""));

const noneOf = (seen) => assert.deepEqual(seen, {violations: [], errors: [], elsewhere: [], dialogs: 0});

async function isFree(page, what) {
  assert.equal(await page.evaluate(() => window.hit), undefined, `a script ran: ${what}`);
  const alive = await page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "script, img, iframe, object, embed, video, audio, base, meta, style, link, form[action], [onerror], [onload], [onfocus], a[href^='javascript']")]
    .filter((element) => !element.closest("head")).map((element) => element.outerHTML.slice(0, 80)));
  assert.deepEqual(alive, [], `texts became elements: ${what}`);
}

async function accessible(page, what) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .map((one) =>
      `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`));
  assert.deepEqual(found, [], what);
}

const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// --- tests ---

await test("files come with the policy, and once", async () => {
  for (const path of ["", "page/app.js", "page/style.css", "page/icon.svg"]) {
    const first = await fetch(serve.url + path);
    assert.equal(first.status, 200, path);
    assert.match(first.headers.get("content-security-policy"),
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/);
    assert.equal(first.headers.get("x-content-type-options"), "nosniff");
    assert.equal(first.headers.get("referrer-policy"), "no-referrer");
    const again = await fetch(serve.url + path, {headers: {"If-None-Match": first.headers.get("etag")}});
    assert.equal(again.status, 304, path);
    assert.equal((await again.text()).length, 0);
  }
  assert.equal((await fetch(serve.url + "page/none.js")).status, 404);
  assert.equal((await fetch(serve.url + "page/../etc/passwd")).status, 404);
});

await test("bytes become places in the text", async () => {
  const {page, close} = await open();
  const wrong = await page.evaluate(async () => {
    const {unitsOf} = await import("/page/sql.js"), wrong = [];
    for (const text of ["", "abc", "größe = 'ß'", "x \u{1F600} y", "日本 = '語'", "e\u0301\u{1F469}\u200d\u{1F680}"]) {
      const unit = unitsOf(text), bytes = new TextEncoder();
      for (let i = 0; i <= text.length; i++) {
        const inside = i > 0 && /[\ud800-\udbff]/.test(text[i - 1]) && /[\udc00-\udfff]/.test(text[i] ?? "");
        if (!inside && unit(bytes.encode(text.slice(0, i)).length) !== i) wrong.push([text, i]);
      }
      if (unit(10000) !== text.length) wrong.push([text, "past the end"]);
    }
    return wrong;
  });
  assert.deepEqual(wrong, []);
  await close();
});

await test("texts are parted, compared and shown as they are", async () => {
  const {page, close} = await open();
  const got = await page.evaluate(async () => {
    const {queriesOf, difference, tokens} = await import("/page/sql.js"),
    {legible, sentence, probability} = await import("/page/lib.js"), {sentences} = await import("/page/verdict.js");
    const was = "SELECT a, b FROM t WHERE x = 'a;b' -- why", now = "SELECT a FROM t AS u WHERE x <> 'a;b' -- why",
    parts = difference(was, now);
    const side = (name) => parts.filter((part) => part.side === "both" || part.side === name).map((part) => part.text)
      .join("");
    return {
      semicolons: queriesOf("SELECT ';' ; SELECT 2;\n"), lines: queriesOf("SELECT 1\nFROM a\n\n  \nSELECT 2"),
      json: queriesOf('["SELECT 1", {"sql": "SELECT 2"}]'), one: queriesOf("[a]"),
      back: [side("was") === was, side("now") === now], changed: parts.filter((part) => part.side !== "both").length,
      whole: ["", "'open", "/* open", "\"x\"\"y\" `z` [q] 1.5e3 \u{1F600}"].every((text) => tokens(text)
        .map((token) => token.text).join("") === text),
      legible: legible("a\u202eb\u200bc\u{e0041}\n"), sentence: [sentence("no such table"), sentence("s.status is 1"),
        sentence("`x` is")], p: [probability(0.999), probability(1), probability(null), probability(0.001)],
      sentences: sentences("The name is 'A. B'. It has 1.5 rows. End."),
    };
  });
  assert.deepEqual(got, {
    semicolons: ["SELECT ';'", "SELECT 2"], lines: ["SELECT 1\nFROM a", "SELECT 2"], json: ["SELECT 1", "SELECT 2"],
    one: ["[a]"], back: [true, true], changed: got.changed, whole: true,
    legible: "a\\u202eb\\u200bc\\U000e0041\n", sentence: ["No such table", "s.status is 1", "`x` is"],
    p: ["> 0.99", "1.00", "–", "< 0.01"],
    sentences: ["The name is 'A. B'.", "It has 1.5 rows.", "End."],
  });
  assert.ok(got.changed > 2);
  await close();
});

await test("a schema is a tree with keys, references and values", async () => {
  const {page, seen, close} = await open();
  await page.getByLabel("Database", {exact: true}).selectOption("shops");
  const hiring = page.locator(".tree-table", {hasText: "hiring"});
  await hiring.waitFor();
  assert.match(await hiring.textContent(), /shop_id.*→ shop\.id/s);
  assert.match(await page.locator(".tree-table").first().textContent(), /shop.*5 rows.*key.*FC Haka/s);
  noneOf(seen);
  await close();
});

await test("a verdict stands side by side, with its clauses marked", async () => {
  const {page, seen, close} = await open();
  const verdict = await judge(page, FERRIES);
  assert.equal(verdict.status, "validated");
  assert.equal(await page.locator("#verdict-title").textContent(), "Candidate 3 is probably correct");
  assert.equal(await page.locator(".candidate").count(), 3);
  assert.match(await page.locator(".candidate.is-chosen h4").textContent(), /Candidate 3/);
  const texts = await Promise.all((await page.locator(".candidate", {hasText: "Candidate 1"}).locator(".suspect").all())
    .map(marked));
  const clauses = verdict.candidates[0].findings.flatMap((finding) => finding.clauses.map((clause) => clause.text));
  assert.ok(texts.includes("s.sailing_id = v.vessel_id") && clauses.includes("s.sailing_id = v.vessel_id"),
    JSON.stringify(texts));
  assert.match(await page.locator(".candidate.is-chosen .scroll td").textContent(), /^\d+$/);
  assert.match(await page.locator(".candidate.is-chosen").textContent(), /Why this result.*This row is computed from/s);
  assert.equal(await page.locator(".candidate.is-chosen .meter").getAttribute("aria-valuenow"),
    String(verdict.p_correct));
  noneOf(seen);
  await close();
});

await test("a finding shows at its clause by pointer, focus and click", async () => {
  const {page, close} = await open();
  await judge(page, FERRIES);
  const clause = page.locator(".suspect").first(), note = page.locator("#note");
  await clause.hover();
  await note.waitFor();
  assert.match(await note.textContent(), /do not refer to each other/);
  await page.mouse.move(2, 300);
  await note.waitFor({state: "hidden"});
  await clause.click();
  await page.mouse.move(2, 300);
  await page.waitForTimeout(400);
  assert.ok(await note.isVisible(), "a click pins it");
  assert.equal(await clause.getAttribute("aria-describedby"), "note");
  await page.keyboard.press("Escape");
  assert.ok(await note.isHidden());
  await close();
});

await test("spans of bytes mark the right letters", async () => {
  const {page, close} = await open();
  const verdict = await judge(page, {db: "cafés", question: "Which cafés are groß?",
    candidates: ["SELECT id /* größe \u{1F600} */ FROM café WHERE größe = 'großß' AND \"\u{1F600}\" = 'ÿ'"]});
  const clauses = verdict.candidates[0].findings.flatMap((finding) => finding.clauses.map((clause) => clause.text));
  const whole = await page.locator(".sql-marked").evaluate((pre) => [...pre.querySelectorAll(".suspect")].map((one) =>
    [...one.childNodes].filter((node) => node.nodeName !== "SUP").map((node) => node.textContent).join("")));
  assert.ok(clauses.length && whole.length, "something is marked");
  for (const text of whole) assert.ok(clauses.some((clause) => clause.includes(text)),
    `${text} is in none of ${clauses}`);
  assert.ok(clauses.every((clause) => clause.includes("'") ? whole.join("").includes(clause)
    || whole.includes(clause) : true), `${clauses} against ${whole}`);
  await close();
});

await test("a question is answered by a click", async () => {
  const {page, seen, close} = await open();
  const verdict = await judge(page, SHOPS);
  assert.equal(verdict.status, "ask");
  assert.equal(await page.locator(".asked-question").textContent(), verdict.clarification.question);
  await page.getByRole("button", {name: "Yes, those too"}).click();
  await page.waitForFunction(() =>
    document.querySelector("#verdict-title")?.textContent === "Candidate 2 is probably correct");
  noneOf(seen);
  await close();
});

await test("a repair is a difference, and can be a candidate", async () => {
  const {page, close} = await open();
  const verdict = await judge(page, LEEDS);
  assert.equal(verdict.repair.applied, false);
  assert.match(await page.locator("pre del").textContent(), /'leeds'/);
  assert.match(await page.locator("pre ins").textContent(), /'Leeds'/);
  await page.getByText("Use as a candidate").click();
  assert.equal(await page.getByLabel("SQL of candidate 2").inputValue(), verdict.repair.sql);
  await page.getByText("Evidence and options").click();
  await page.getByLabel("Repairs").selectOption("apply");
  const applied = await judge(page, LEEDS);
  assert.equal(applied.status, "repaired");
  assert.equal(await page.locator("#verdict-title").textContent(), "The corrected query is probably correct");
  await close();
});

await test("what may be shown is what was asked for", async () => {
  const {page, close} = await open();
  await page.getByText("Evidence and options").click();
  await page.getByLabel("What may be shown").selectOption("none");
  await judge(page, FERRIES);
  assert.equal(await page.locator(".candidate table").count(), 0);
  assert.doesNotMatch(await page.locator(".candidates").textContent(), /nearest/);
  await close();
});

await test("a link leads to a verdict and its question", async () => {
  const {page, close} = await open();
  const verdict = await judge(page, FERRIES);
  const url = page.url();
  assert.ok(url.endsWith(`#judge/${encodeURIComponent(verdict.id)}`), url);
  await close();
  const other = await open(url.slice(serve.url.length));
  await other.page.waitForSelector(".verdict");
  assert.equal(await other.page.getByLabel("Question").inputValue(), FERRIES.question);
  assert.equal(await other.page.getByLabel("SQL of candidate 2").inputValue(), FERRIES.candidates[1]);
  assert.equal(await other.page.locator("#verdict-title").textContent(), "Candidate 3 is probably correct");
  await other.close();
});

await test("errors say what, where and what to do", async () => {
  const {page, close} = await open("#judge/nobody");
  const problem = page.locator(".problem");
  await problem.waitFor();
  assert.match(await problem.textContent(), /Verdict not found.*Judge again.*GET \/v1\/verdicts\/nobody.*404/s);
  await page.getByRole("button", {name: "Judge", exact: true}).click();
  await page.waitForFunction(() => /no candidate/i.test(document.querySelector(".problem")?.textContent ?? ""));
  await page.route("**/v1/judge*", (route) => route.abort());
  await fillIn(page, LEEDS);
  await page.getByRole("button", {name: "Judge", exact: true}).click();
  await page.waitForFunction(() =>
    /does not answer.*still running/is.test(document.querySelector(".problem")?.textContent ?? ""));
  await page.unroute("**/v1/judge*");
  await page.route("**/v1/judge*", (route) => route.fulfill({status: 503, contentType: "application/problem+json",
    body: JSON.stringify({title: "too many requests wait", status: 503, code: "full"})}));
  await page.getByRole("button", {name: "Judge", exact: true}).click();
  await page.waitForFunction(() =>
    /Too many requests wait.*Wait a moment.*full/is.test(document.querySelector(".problem")?.textContent ?? ""));
  await close();
});

await test("a verdict that takes long is waited for", async () => {
  const {page, close} = await open();
  let asked = 0, verdict = null;
  await page.route("**/v1/judge*", async (route) => {
    verdict = await (await route.fetch()).json();
    await route.fulfill({status: 202, contentType: "application/json",
      body: JSON.stringify({id: verdict.id, location: `/v1/verdicts/${verdict.id}`})});
  });
  await page.route("**/v1/verdicts/*",
    (route) => (asked++ ? route.continue() : route.fulfill({status: 404, contentType: "application/problem+json",
      body: JSON.stringify({title: "verdict not found", status: 404, code: "unknown_id"})})));
  await fillIn(page, FERRIES);
  await page.getByRole("button", {name: "Judge", exact: true}).click();
  await page.waitForSelector(".verdict", {timeout: 15000});
  assert.equal(asked, 2);
  await close();
});

await test("a token is asked for, sent, and kept in the tab alone", async () => {
  const {page, close} = await open("#fleet");
  const sent = [];
  await page.route("**/v1/**", (route) => {
    sent.push(route.request().headers().authorization);
    return sent.at(-1) === "Bearer secret-token"
      ? route.continue() : route.fulfill({status: 401, contentType: "application/problem+json",
        body: JSON.stringify({title: "unauthorized", status: 401, code: "refused"})});
  });
  await page.goto(serve.url + "#judge");
  await page.getByLabel("Token", {exact: true}).fill("secret-token");
  await page.getByRole("button", {name: "Use token"}).click();
  await page.getByLabel("Database", {exact: true}).waitFor();
  assert.equal(sent[0], undefined);
  assert.equal(sent.at(-1), "Bearer secret-token");
  const kept = await page.evaluate(() => [JSON.stringify(sessionStorage), JSON.stringify(localStorage), document.cookie,
    location.href].map((text) => text.includes("secret-token")));
  assert.deepEqual(kept, [true, false, false, false]);
  await close();
});

await test("the theme follows the system until one is chosen", async () => {
  const {page, close} = await open("", {colorScheme: "dark"});
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.emulateMedia({colorScheme: "light"});
  await page.waitForFunction(() => document.documentElement.dataset.theme === "light");
  await page.getByRole("button", {name: "Dark theme"}).click();
  assert.equal(await theme(), "dark");
  await page.reload();
  assert.equal(await theme(), "dark");
  await close();
});

await test("the keyboard alone does it all", async () => {
  const {page, close} = await open();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label")
    ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? "");
  await page.locator(".tree-table").first().waitFor();
  async function tabTo(wanted, most = 60) {
    for (let i = 0; i < most; i++) {
      await page.keyboard.press("Tab");
      if (wanted.test(await focused())) return;
    }
    assert.fail(`Tab does not reach ${wanted}`);
  }
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the content/);
  await page.keyboard.press("Enter");
  await tabTo(/^Database$/);
  await page.keyboard.type("ferr");
  await tabTo(/^Question$/);
  await page.keyboard.type(FERRIES.question);
  await tabTo(/SQL of candidate 1/);
  await page.keyboard.type(FERRIES.candidates[0]);
  await tabTo(/Add a candidate/);
  await page.keyboard.press("Enter");
  assert.match(await focused(), /SQL of candidate 2/);
  await page.keyboard.type(FERRIES.candidates[2]);
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".verdict");
  assert.match(await focused(), /Candidate 2 is probably correct/);
  await tabTo(/s\.sailing_id/);
  const note = page.locator("#note");
  await note.waitFor();
  await page.keyboard.press("Escape");
  assert.ok(await note.isHidden());
  await page.keyboard.press("Enter");
  assert.ok(await note.isVisible());
  await close();
});

for (const width of [360, 768])
  await test(`nothing is wider than a window of ${width}`, async () => {
    const {page, close} = await open("", {viewport: {width, height: 740}});
    await judge(page, {...FERRIES, candidates: [...FERRIES.candidates, `SELECT '${"x".repeat(400)}'`]});
    assert.equal(await overflow(page), 0, "judge");
    await page.locator(".suspect").first().click();
    assert.equal(await overflow(page), 0, "with a finding");
    for (const screen of ["#runs", "#fleet"]) {
      await page.goto(serve.url + screen);
      await page.waitForTimeout(400);
      assert.equal(await overflow(page), 0, screen);
    }
    await close();
  });

for (const colorScheme of ["light", "dark"])
  await test(`axe finds nothing in the ${colorScheme} theme`, async () => {
    const {page, close} = await open("", {colorScheme});
    await page.locator(".tree-table").first().waitFor();
    await accessible(page, "empty");
    await page.getByText("Evidence and options").click();
    for (const request of [FERRIES, SHOPS, LEEDS]) {
      await judge(page, request);
      await accessible(page, request.question);
    }
    await page.locator(".suspect").first().click();
    await accessible(page, "a finding at its clause");
    await page.goto(serve.url + "#judge/nobody");
    await page.locator(".problem").waitFor();
    await accessible(page, "a problem");
    await page.getByRole("button", {name: "Paste several"}).click();
    await accessible(page, "a dialog");
    for (const screen of ["#runs", "#fleet"]) {
      await page.goto(serve.url + screen);
      await page.waitForTimeout(600);
      await accessible(page, screen);
    }
    await close();
  });

// --- hostile texts ---

await test("hostile names and values of databases are text", async () => {
  const {page, seen, close} = await open();
  const listed = await page.getByLabel("Database", {exact: true}).evaluate((select) => select.options.length);
  assert.ok(listed > 20, `${listed} databases`);
  for (const name of HOSTILE_NAMES.slice(0, 5)) {
    await page.getByLabel("Database", {exact: true}).selectOption(name);
    await page.locator(".tree-name", {hasText: "t"}).waitFor();
  }
  await page.getByLabel("Database", {exact: true}).selectOption("hostile");
  await page.locator(".tree-name", {hasText: "item"}).waitFor();
  assert.ok(await page.locator(".tree-table").count() >= 30, "all tables");
  await isFree(page, "the schema");
  noneOf(seen);
  await close();
});

await test("hostile questions, evidence and SQL are text", async () => {
  const {page, seen, close} = await open();
  await page.getByText("Evidence and options").click();
  for (let i = 0; i < PAYLOADS.length; i += 10) {
    const some = PAYLOADS.slice(i, i + 10);
    await page.getByLabel("Evidence", {exact: true}).fill(some[1]);
    const verdict = await judge(page,
      {db: "hostile", question: some[0],
        candidates: some.map((text, j) =>
          (j % 2
            ? `SELECT label FROM item WHERE label = ${sql.quote(text + "x")}` : `SELECT ${sql.name(text)} FROM item -- ${text.replace(/\n/g, " ")}`))});
    assert.ok(verdict, `${i}: judged`);
    await isFree(page, `payloads from ${i}`);
  }
  noneOf(seen);
  await close();
});

// Replaces each text of a verdict by a payload, one after the other. Also replaces keys of objects that the page shows.
function poison(value, next, key) {
  if (typeof value === "string") return key === "status" || key === "severity" || key === "id" ? value : next();
  if (Array.isArray(value)) return value.map((one) => poison(one, next, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value)
    .map(([name, one]) => [["data", "signals", "versions"].includes(key) ? next() : name, poison(one, next, name)]));
}

await test("hostile texts anywhere in a verdict are text", async () => {
  const {page, seen, close} = await open();
  let at = 0;
  for (const request of [FERRIES, SHOPS, LEEDS])
    for (let round = 0; round < 8; round++) {
      await page.unroute("**/v1/judge*");
      await page.route("**/v1/judge*", async (route) => {
        const verdict = await (await route.fetch()).json();
        const extra = {notes: ["a"], unavailable: ["b"], guarantee: {status: "withdrawn", why: "c", alpha: 0.1,
          records: 3}, llm: {source: "d", calls: 1}, questions: ["e"], reason: "f"};
        await route.fulfill({status: 200, contentType: "application/json",
          body: JSON.stringify(poison({...extra, ...verdict}, () => PAYLOADS[at++ % PAYLOADS.length]))});
      });
      assert.ok(await judge(page, request));
      await isFree(page, `${request.db}, round ${round}`);
      for (const clause of await page.locator(".suspect").all()) await clause.dispatchEvent("click");
      for (const button of await page.locator(".choice button").all()) assert.ok(await button.isVisible());
    }
  assert.ok(at > 8 * PAYLOADS.length, `${at} texts`);
  await isFree(page, "the end");
  noneOf(seen);
  await close();
});

await test("hostile problems and figures are text", async () => {
  const {page, seen, close} = await open();
  for (const text of PAYLOADS) {
    await page.unroute("**/v1/judge*");
    await page.route("**/v1/judge*", (route) => route.fulfill({status: 400, contentType: "application/problem+json",
      body: JSON.stringify({title: text, detail: text, code: text, status: 400})}));
    await judge(page, LEEDS);
  }
  await isFree(page, "problems");
  await page.route("**/v1/metrics", (route) => route.fulfill({status: 200, contentType: "text/plain",
    body: PAYLOADS.map((text) => `assay_verdicts_total{decision="${text.replace(/["\\\n]/g, "")}"} 1`).join("\n")}));
  await page.goto(serve.url + "#fleet");
  await page.waitForSelector(".bars li");
  await isFree(page, "figures");
  noneOf(seen);
  await close();
});

await test("hostile places in the address are text", async () => {
  for (const text of PAYLOADS.filter((_, i) => i % 10 === 0)) {
    const {page, seen, close} = await open(`#judge/${encodeURIComponent(text.slice(0, 200))}`);
    await page.locator(".problem").waitFor();
    await isFree(page, text);
    noneOf(seen);
    await close();
  }
});

// Checks that the tests above can fail.
await test("a text that is parsed would be noticed", async () => {
  const {page, seen, close} = await open();
  await page.evaluate(() => (document.querySelector("main").innerHTML = "<img src=x onerror='window.hit=1'>"));
  await page.waitForTimeout(300);
  await assert.rejects(isFree(page, "parsed"));
  assert.ok(seen.violations.length, "the policy reports it");
  assert.equal(await page.evaluate(() => window.hit), undefined, "and holds it back");
  await close();
});

await gateTests({browser, root, repository});
await runsTests({browser, scratch, root, repository, accessible, isFree, noneOf, overflow});

// --- pictures ---

if (process.env.ASSAY_TEST_PICTURES === "1")
  await test("pictures are taken, and small", async () => {
    const folder = `${repository}/docs/pictures`;
    mkdirSync(folder, {recursive: true});
    async function take(name, options, body) {
      const {page, close} = await open("", options);
      await body(page);
      const path = `${folder}/${name}.png`;
      await page.screenshot({path});
      assert.ok(statSync(path).size < 150 << 10, `${name}: ${statSync(path).size} bytes`);
      await close();
    }
    const clean = (page) => page.getByLabel("Database", {exact: true}).evaluate((select) =>
      [...select.options].filter((one) => /[<>'"#$%&{}`;:+-]|A{99}/.test(one.value)).forEach((one) => one.remove()));
    await take("page-judge", {viewport: {width: 1120, height: 720}}, async (page) => {
      await clean(page);
      await fillIn(page, FERRIES);
      await page.locator(".tree-table").first().waitFor();
    });
    await take("page-verdict", {viewport: {width: 1120, height: 760}}, async (page) => {
      await judge(page, FERRIES);
      await page.locator(".suspect").first().hover();
      await page.locator("#note").waitFor();
    });
    await take("page-ask", {viewport: {width: 1120, height: 680}, colorScheme: "dark"}, (page) => judge(page, SHOPS));
    await take("page-fleet", {viewport: {width: 1120, height: 720}}, async (page) => {
      await page.goto(serve.url + "#fleet");
      await page.waitForTimeout(3600);
    });
    await take("page-narrow", {viewport: {width: 390, height: 780}, deviceScaleFactor: 1.5},
      (page) => judge(page, FERRIES));
  });

await browser.close();
await serve.stop();
process.exit(finish());
