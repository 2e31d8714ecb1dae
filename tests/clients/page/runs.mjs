// Runs in a browser: a folder of runs, a single run, its verdicts, a comparison of two, a dropped file, and the page of
// `assay report --html`, which has no server. Called by run.mjs, which passes its page checks.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdirSync, rmSync, statSync, utimesSync, writeFileSync} from "node:fs";
import {PAYLOADS} from "./hostile.mjs";
import {openPage, startServe, test} from "./world.mjs";

const RIGHT = "SELECT count(*) FROM shop", WRONG = "SELECT count(*) FROM hiring WHERE start_from = '2009'";
const SIGNALS = ["fan_out", "empty_predicate", "projection_mismatch", "rival_column"];

// Returns pseudo-random numbers that are the same in each run.
function drawn(i) {
  let x = Math.imul(i + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

function verdict(i, more = {}) {
  const p = Math.round(1e6 * drawn(i + 1) ** 0.35) / 1e6, right = drawn(i + 5000) < p ** 1.4,
  sql = right ? RIGHT : WRONG;
  const signals =
    Object.fromEntries(SIGNALS.map((name, k) => [name, drawn(i * 7 + k) < (right ? 0.02 : 0.15) ? "fired" : "silent"]));
  const none = i % 40 === 39;
  return {
    schema_version: 2, id: `q-${i}`, db: "shops", status: none ? "abstained" : p >= 0.5 ? "validated" : "best_effort",
    ...(none ? {reason: "invalid_sql"} : {}), sql: none ? null : sql, chosen: none ? null : 0,
    p_correct: none ? null : p, threshold: 0.5,
    candidates: [{sql, p_correct: none ? 0 : p, signals, findings: [], explanation: null, execution: null, why: null}],
    report: [], questions: [], iterations: 1, timings: {total_ms: Math.round(4000 * drawn(i + 9000) ** 4) / 100},
    gold: RIGHT, ...more,
  };
}

const lines = (verdicts) => verdicts.map((one) => JSON.stringify(one) + "\n").join("");

function writeOld(path, text) {
  writeFileSync(path, text);
  utimesSync(path, 1700000000, 1700000000);
}

function makeRuns(folder, root) {
  rmSync(folder, {recursive: true, force: true});
  mkdirSync(folder, {recursive: true});
  const all = Array.from({length: 600}, (_, i) => verdict(i));
  writeOld(`${folder}/before.jsonl`, lines(all));
  writeOld(`${folder}/after.jsonl`,
    lines(all.map((one, i) => (i % 9 ? one : {...one, status: "abstained", sql: null, chosen: null,
      p_correct: null}))));
  writeOld(`${folder}/hostile.jsonl`,
    lines(PAYLOADS.map((text, i) => verdict(i, {id: text, db: text, reason: text, message: text,
    candidates: [{sql: text, p_correct: 0.4, signals: {[text]: "fired"},
      findings: [{signal: text, severity: "error", message: text, clauses: [{label: text, text, start: 0, end: 3}],
        data: {[text]: text}}], explanation: text, why: text}], sql: text}))));
  writeFileSync(`${folder}/log`,
    all.map((one, i) => JSON.stringify({id: one.id, db: "shops", question: `How many shops are there in district ${i}?`,
      candidates: []}) + "\n").join(""));
  report("--quiet", `${folder}/before.jsonl`, "--log", `${folder}/log`, "--gold", "--db-root", root);
}

function report(...args) {
  const done = spawnSync(process.env.ASSAY_TEST_PROGRAM, ["report", ...args]);
  assert.equal(done.status, 0, String(done.stderr));
}

export async function runsTests({browser, scratch, root, repository, accessible, isFree, noneOf, overflow}) {
  const folder = `${scratch}/runs`;
  makeRuns(folder, root);
  const serve = await startServe(process.env.ASSAY_TEST_PROGRAM, root, repository, ["--runs", folder]);
  const open = (hash, options) => openPage(browser, serve.url + hash, options);
  const shown = (page) => page.locator("#verdicts table").waitFor();
  const pageUrl = (name, rows = 1000) => {
    report(`${folder}/${name}`, "--html", `${scratch}/${name}.html`, "--rows", String(rows));
    return `file://${scratch}/${name}.html`;
  };

  await test("runs: a folder, a run, its charts and tables", async () => {
    const {page, seen, close} = await open("#runs");
    await page.getByRole("link", {name: "before.jsonl"}).click();
    await shown(page);
    assert.match(await page.locator(".figures").innerText(), /600/);
    for (const title of ["Confidence", "Calibration of P(correct)", "Risk against coverage"]) assert.ok(
      await page.getByRole("figure", {name: title}).count(), title);
    assert.match(await page.locator(".promise").innerText(),
      /At most 5.0 % of the answers wrong, with confidence 90 %/);
    await page.getByLabel("Acceptable share of wrong answers").press("End");
    assert.match(await page.locator(".promise").innerText(),
      /At most 30.0 % of the answers wrong, with confidence 90 %: holds from P 0\.\d+/);
    await accessible(page, "a run");
    noneOf(seen);
    await close();
  });

  await test("runs: filters find, the pager turns, and a verdict has an address", async () => {
    const {page, seen, close} = await open("#runs/before.jsonl");
    await shown(page);
    const says = () => page.locator("#verdicts .row .number").innerText();
    assert.equal(await says(), "1 to 25 of 600 verdicts");
    await page.getByRole("button", {name: "Next"}).click();
    await page.getByText("26 to 50 of 600 verdicts", {exact: true}).first().waitFor();
    await page.getByLabel("Status", {exact: true}).selectOption("abstained");
    await page.getByText("1 to 15 of 15 verdicts", {exact: true}).first().waitFor();
    await page.getByRole("button", {name: "Show all"}).click();
    await page.getByLabel("Text in id or question").fill("district 77?");
    await page.getByLabel("Text in id or question").press("Enter");
    await page.getByText("1 to 1 of 1 verdict", {exact: true}).first().waitFor();
    await page.locator("#verdicts").getByRole("link", {name: "q-77"}).click();
    await page.getByRole("heading", {name: "q-77"}).waitFor();
    assert.match(page.url(), /#runs\/before.jsonl\/verdicts\/78$/);
    await accessible(page, "a verdict of a run");
    await page.getByRole("link", {name: "before.jsonl"}).click();
    await shown(page);
    assert.equal(await page.getByLabel("Text in id or question").inputValue(), "district 77?", "the filter is kept");
    noneOf(seen);
    await close();
  });

  await test("runs: one without labels says what is missing", async () => {
    const {page, close} = await open("#runs/after.jsonl");
    await shown(page);
    await page.getByText("assay report after.jsonl --log LOG --gold --db-root DIR").waitFor();
    assert.equal(await page.getByRole("figure", {name: "Risk against coverage"}).count(), 0);
    await close();
  });

  await test("runs: two compared", async () => {
    const {page, seen, close} = await open("#runs");
    await page.getByLabel("Before").selectOption("before.jsonl");
    await page.getByLabel("After").selectOption("after.jsonl");
    await page.getByRole("button", {name: "Compare"}).click();
    await page.getByRole("heading", {name: "before.jsonl → after.jsonl"}).waitFor();
    assert.match(await page.locator(".figures").innerText(), /requests in both\s+600\s/);
    assert.ok(await page.getByText("validated → abstained").count());
    await accessible(page, "two runs");
    noneOf(seen);
    await close();
  });

  await test("runs: a file that is dropped", async () => {
    const {page, seen, close} = await open("#runs");
    await page.getByLabel("Drop a file of verdicts here")
      .setInputFiles({name: "mine.jsonl", mimeType: "application/json",
        buffer: Buffer.from(lines([verdict(1), verdict(2)]))});
    await page.getByRole("heading", {name: "mine.jsonl"}).waitFor();
    await shown(page);
    await page.locator("#verdicts").getByRole("link", {name: "q-2"}).click();
    await page.getByRole("heading", {name: "q-2"}).waitFor();
    await page.goto(serve.url + "#runs");
    await page.getByLabel("Drop a file of verdicts here")
      .setInputFiles({name: "none.jsonl", mimeType: "application/json", buffer: Buffer.from("nothing\n")});
    await page.locator(".problem").waitFor();
    noneOf(seen);
    await close();
  });

  await test("runs: hostile ids, names and findings are text", async () => {
    const {page, seen, close} = await open("#runs/hostile.jsonl");
    await shown(page);
    for (let i = 0; i < 4; i++) {
      await isFree(page, `page ${i}`);
      if (i < 3) await page.getByRole("button", {name: "Next"}).click();
      await page.getByText(`${25 * Math.min(i + 1, 3) + 1} to`).first().waitFor();
    }
    assert.equal(await overflow(page), 0);
    for (const number of [1, 30, 60, 90]) {
      await page.goto(`${serve.url}#runs/hostile.jsonl/verdicts/${number}`);
      await page.locator(".verdict").waitFor();
      await isFree(page, `verdict ${number}`);
    }
    noneOf(seen);
    await close();
  });

  await test("runs: 360 pixels are enough", async () => {
    for (const hash of ["#runs", "#runs/before.jsonl", "#runs/before.jsonl/verdicts/3",
        "#runs/before.jsonl/diff/after.jsonl", "#runs/hostile.jsonl"]) {
      const {page, close} = await open(hash, {viewport: {width: 360, height: 740}});
      await page.waitForSelector(".sheet");
      await page.waitForTimeout(300);
      assert.equal(await overflow(page), 0, hash);
      await close();
    }
  });

  await test("runs: the page of a report needs nobody", async () => {
    for (const name of ["before.jsonl", "hostile.jsonl"]) {
      const context = await browser.newContext({viewport: {width: 1280, height: 900}}), page = await context.newPage(),
      url = pageUrl(name);
      const seen = {violations: [], errors: [], elsewhere: [], dialogs: 0};
      await page.exposeFunction("sawViolation", (text) => seen.violations.push(text));
      await page.addInitScript(() => document.addEventListener("securitypolicyviolation",
        (event) => window.sawViolation(event.violatedDirective)));
      page.on("pageerror", (error) => seen.errors.push(error.message));
      page.on("request", (request) => request.url().split("#")[0] !== url && seen.elsewhere.push(request.url()));
      await page.goto(url);
      await shown(page);
      await page.locator("#verdicts tbody a").first().click();
      await page.locator(".verdict").waitFor();
      await page.goBack();
      await shown(page);
      assert.equal(await page.evaluate(() => window.hit), undefined);
      if (name === "before.jsonl") {
        await page.getByLabel("Truth").selectOption("wrong");
        await page.getByText(/^1 to 25 of \d+ verdicts$/).first().waitFor();
        await accessible(page, "a report");
      }
      noneOf(seen);
      await context.close();
    }
  });

  await test("runs: a report of few rows says so", async () => {
    const context = await browser.newContext(), page = await context.newPage();
    await page.goto(pageUrl("before.jsonl", 10));
    await page.getByText("The 10 most informative of 600 verdicts").waitFor();
    assert.equal(await page.locator("#verdicts tbody tr").count(), 10);
    await context.close();
  });

  if (process.env.ASSAY_TEST_PICTURES === "1")
    await test("runs: pictures are taken, and small", async () => {
      async function take(name, hash, options, body) {
        const {page, close} = await open(hash, options);
        await page.waitForSelector(".figures, table");
        if (hash.includes("jsonl")) await page.waitForTimeout(500);
        await body?.(page);
        const path = `${repository}/docs/pictures/runs-${name}.png`;
        await page.screenshot({path});
        assert.ok(statSync(path).size < 150 << 10, `${name}: ${statSync(path).size} bytes`);
        await close();
      }
      await take("one", "#runs/before.jsonl", {viewport: {width: 1280, height: 960}});
      await take("verdicts", "#runs/before.jsonl", {viewport: {width: 1120, height: 720}, colorScheme: "dark"},
          async (page) => {
        await page.getByLabel("Truth").selectOption("wrong");
        await page.getByLabel("Order").selectOption("-p");
        await page.waitForTimeout(500);
        await page.locator("#verdicts").scrollIntoViewIfNeeded();
        await page.evaluate(() => scrollTo(0, document.getElementById("verdicts").offsetTop - 70));
      });
      await take("compared", "#runs/before.jsonl/diff/after.jsonl", {viewport: {width: 1120, height: 720}});
      await take("narrow", "#runs/before.jsonl", {viewport: {width: 390, height: 780}, deviceScaleFactor: 1.5},
        (page) => page.evaluate(() => scrollTo(0, 1250)));
    });
  await serve.stop();
}
