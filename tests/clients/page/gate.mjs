// A hostile page from another port or host name, in a real browser, must neither store nor read data. Called by
// run.mjs.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import {connect, createServer as createRelay} from "node:net";
import {openPage, startBrowser, startServe, test} from "./world.mjs";

const QUESTION = {db: "shops", question: "How many shops are there?", candidates: ["SELECT count(*) FROM shop"]};
const POSTS = ["v1/judge", "v1/batch", "v1/verdicts/known/answers", "v1/linkings", "v1/runs", "mcp"];
const GETS = ["", "page/app.js", "openapi.json", "v1/databases", "v1/databases/shops", "v1/metrics",
  "v1/verdicts/known", "v1/runs"];
const TYPES = [null, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
  "application/json", "application/x-ndjson"];

// Serves an empty page to every request. Returns {port, stop}.
function startHostile() {
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html")
    .end("<!doctype html><title>elsewhere</title><body>"));
  return new Promise((resolve) =>
    server.listen(0, () => resolve({port: server.address().port, stop: () => server.close()})));
}

// Relays each connection and records its "STATUS METHOD URL", because a page cannot read the answers of the server.
// Returns {port, seen, stop}.
function startRelay(to) {
  const seen = [], relay = createRelay((client) => {
    const server = connect(to, "127.0.0.1");
    let asked = "", answered = false;
    client.on("data", (bytes) => (asked ||= bytes.toString("latin1").replace(/^(\S+) (\S+)[^]*?\r\nHost: (\S+)[^]*$/i,
      "$1 http://$3$2")));
    server.on("data", (bytes) => answered
      || ((answered = true), seen.push(`${bytes.toString("latin1", 9, 12)} ${asked}`)));
    for (const [one, other] of [[client, server], [server, client]]) one.on("error", () => other.destroy()),
    one.pipe(other);
  });
  return new Promise((resolve) =>
    relay.listen(0, () => resolve({port: relay.address().port, seen, stop: () => relay.close()})));
}

async function judge(serve, id) {
  const response = await fetch(`${serve.url}v1/judge`, {method: "POST", headers: {"Content-Type": "application/json"},
    body: JSON.stringify({...QUESTION, id})});
  assert.equal(response.status, 200, await response.text());
}

async function judged(serve) {
  const text = await (await fetch(`${serve.url}v1/metrics`)).text();
  return [...text.matchAll(/^assay_verdicts_total\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}

// Runs in the page and tries every way of sending a request. Returns the answers that it could read, by way.
async function attack({target, posts, gets, types, question}) {
  const read = [], waits = [], limit = 4000;
  let n = 0;
  const body = (way) => JSON.stringify({...question, id: `stolen-${way}-${n++}`});
  const attempt = (way, promise) =>
    waits.push(Promise.race([promise, new Promise((resolve) => setTimeout(resolve, limit))])
    .then((text) => text !== undefined && text !== "" && read.push(`${way}: ${String(text).slice(0, 60)}`), () => {}));
  const blobOf = (way, type) => (type ? new Blob([body(way)], {type}) : new Blob([body(way)]));
  const ended = (element, event = "load") => new Promise((resolve, reject) => {
    element.addEventListener(event, () => resolve("loaded"));
    element.addEventListener("error", reject);
    document.body.append(element);
  });

  for (const mode of ["no-cors", "cors"])
    for (const path of posts)
      for (const type of types)
        attempt(`fetch ${mode} POST ${path} ${type}`, fetch(target + path,
          {method: "POST", mode, body: blobOf("fetch", type)}).then((response) => response.text()));
  for (const path of posts) {
    for (const type of types.slice(0, 4)) navigator.sendBeacon(target + path, blobOf("beacon", type));
    for (const enctype of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const frame = Object.assign(document.createElement("iframe"), {name: `frame-${n}`});
      const form = Object.assign(document.createElement("form"), {method: "POST", action: target + path, enctype,
        target: frame.name});
      // A form of text/plain sends NAME=VALUE. The name is the start of a JSON text; its last string contains the "=".
      form.append(Object.assign(document.createElement("input"), {name: body("form").replace(/}$/, ',"meta":"'),
        value: '"}'}));
      document.body.append(frame, form);
      form.submit();
    }
  }
  for (const path of gets) {
    for (const mode of ["no-cors", "cors"]) attempt(`fetch ${mode} GET ${path}`, fetch(target + path, {mode})
      .then((response) => response.text()));
    attempt(`XMLHttpRequest ${path}`, new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.onload = () => resolve(request.responseText);
      request.onerror = reject;
      request.open("GET", target + path);
      request.send();
    }));
    attempt(`EventSource ${path}`, new Promise((resolve, reject) => {
      const source = new EventSource(target + path);
      source.onopen = () => resolve("opened");
      source.onerror = () => (source.close(), reject());
    }));
    attempt(`script ${path}`, ended(Object.assign(document.createElement("script"), {src: target + path})));
    attempt(`style ${path}`,
      ended(Object.assign(document.createElement("link"), {rel: "stylesheet", href: target + path})));
    attempt(`image ${path}`, ended(Object.assign(document.createElement("img"), {src: target + path})));
    const frame = Object.assign(document.createElement("iframe"), {src: target + path});
    attempt(`frame ${path}`, ended(frame).then(() => frame.contentDocument?.body?.innerText));
  }
  attempt("WebSocket", new Promise((resolve, reject) => {
    const socket = new WebSocket(target.replace("http", "ws") + "v1/judge");
    socket.onopen = () => resolve("opened");
    socket.onerror = reject;
  }));
  // A page with an opaque origin.
  attempt("sandbox", new Promise((resolve) => {
    addEventListener("message", (event) => resolve(event.data));
    document.body.append(Object.assign(document.createElement("iframe"), {sandbox: "allow-scripts", srcdoc: `<script>
      fetch(${JSON.stringify(`${target}v1/judge`)}, {method: "POST", mode: "no-cors", body: ${JSON.stringify(body("sandbox"))}})
        .then((response) => response.text()).then((text) => parent.postMessage(text, "*"), () => parent.postMessage("", "*"))</script>`}));
  }));
  await Promise.all(waits);
  return {read, sent: n};
}

export async function gateTests({browser, root, repository}) {
  const serve = await startServe(process.env.ASSAY_TEST_PROGRAM, root, repository, ["--runs", root]);
  const hostile = await startHostile();
  const relay = await startRelay(serve.port), own = `http://127.0.0.1:${relay.port}/`,
  named = `http://localhost:${relay.port}/`;
  await judge(serve, "known");

  for (const [what, from, target] of [["another port", `http://127.0.0.1:${hostile.port}/`, own],
    ["another port, by name", `http://localhost:${hostile.port}/`, named],
    ["another name", `http://localhost:${hostile.port}/`, own], ["its own server by another name", named, own]])
    await test(`gate: a page of ${what} stores and reads nothing`, async () => {
      // The server's own page, without its policy and under another host name, is also a hostile page.
      const context = await browser.newContext({bypassCSP: true}), page = await context.newPage(),
      before = await judged(serve);
      await page.goto(from);
      await page.evaluate(() => document.body.replaceChildren());
      relay.seen.length = 0;
      const {read, sent} = await page.evaluate(attack, {target, posts: POSTS, gets: GETS, types: TYPES,
        question: QUESTION});
      await page.waitForTimeout(500); // a page cannot see when beacons and forms end
      assert.deepEqual(read, []);
      // The requests of the server's own page are left out.
      const answers = relay.seen.filter((one) => one.split(" ")[2].startsWith(target));
      assert.deepEqual(answers.filter((one) => !one.startsWith("403 ")), [], "every response is a refusal");
      for (const method of ["GET", "POST", "OPTIONS"]) assert.ok(answers.some((one) => one.includes(` ${method} `)),
        method);
      assert.ok(sent > 100 && answers.length > 100, `${sent} requests, ${answers.length} responses`);
      assert.equal(await judged(serve), before, "nothing was judged");
      await context.close();
    });

  await test("gate: a link from elsewhere opens the page, which may ask", async () => {
    const context = await browser.newContext(), page = await context.newPage();
    await page.goto(`http://localhost:${hostile.port}/`);
    await page.evaluate((href) => document.body.append(Object.assign(document.createElement("a"),
      {href, textContent: "open"})), own);
    await page.getByText("open").click();
    await page.waitForSelector("#main h1");
    const status = await page.evaluate(async (body) =>
      (await fetch("/v1/judge", {method: "POST", headers: {"Content-Type": "application/json"}, body})).status,
      JSON.stringify({...QUESTION, id: "mine"}));
    assert.equal(status, 200);
    assert.equal((await fetch(`${serve.url}v1/verdicts/mine`)).status, 200);
    await context.close();
  });

  await test("gate: a link from elsewhere opens no data", async () => {
    const context = await browser.newContext(), page = await context.newPage();
    await page.goto(`http://localhost:${hostile.port}/`);
    const [response] = await Promise.all([page.waitForResponse(`${own}v1/verdicts/known`),
      page.evaluate((href) => void (location.href = href), `${own}v1/verdicts/known`)]);
    assert.equal(response.status(), 403);
    await context.close();
  });

  await test("gate: a name that is rebound to this machine gets nothing", async () => {
    const rebound = await startBrowser(process.env.ASSAY_TEST_BROWSER,
      ["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
    const page = await rebound.newPage();
    for (const path of ["", "v1/databases", "v1/verdicts/known"]) assert.equal(
      (await page.goto(`http://evil.example:${relay.port}/${path}`)).status(), 421, path);
    await rebound.close();
  });

  await test("gate: the server's own page works by each of its names", async () => {
    for (const url of [own, named]) {
      const {page, close} = await openPage(browser, url);
      assert.equal(await page.evaluate(async () => (await fetch("/v1/databases")).status), 200, url);
      await close();
    }
  });

  hostile.stop();
  relay.stop();
  await serve.stop();
}
