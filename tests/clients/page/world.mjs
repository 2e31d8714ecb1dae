// The environment of the tests: databases, a serve of the built program, a browser, and reports of failures.
import {spawn, spawnSync} from "node:child_process";
import {mkdirSync, rmSync} from "node:fs";
import {createInterface} from "node:readline";
import {chromium} from "playwright-core";

const FLAGS = ["--no-sandbox", "--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export const sql = {
  quote: (text) => `'${text.replaceAll("'", "''")}'`,
  name: (text) => `"${text.replaceAll('"', '""')}"`,
};

export function makeDatabase(root, name, statements) {
  mkdirSync(root, {recursive: true});
  rmSync(`${root}/${name}.sqlite`, {force: true});
  const made = spawnSync("sqlite3", [`${root}/${name}.sqlite`], {input: statements});
  if (made.status !== 0) throw new Error(`sqlite3: ${made.stderr}`);
}

// Starts a serve and waits until it answers. Returns {port, url, stop}.
export async function startServe(program, root, repository, more = []) {
  const child = spawn(program, ["serve", "--db-root", root, "--models", `${repository}/models`, "--http", "127.0.0.1:0",
    ...more], {stdio: ["ignore", "ignore", "pipe"]});
  const port = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("serve does not start within 60 s")), 60000);
    const said = [];
    createInterface({input: child.stderr}).on("line", (line) => {
      said.push(line);
      const match = /"room":"serve".*"port":(\d+)/.exec(line);
      if (match) clearTimeout(timer), resolve(Number(match[1]));
    });
    child.on("exit", (code) => reject(new Error(`serve ended with ${code}: ${said.join("\n")}`)));
  });
  return {port, url: `http://127.0.0.1:${port}/`,
    stop: () => new Promise((resolve) => (child.exitCode !== null ? resolve() : (child.once("exit", resolve),
      child.kill("SIGTERM"))))};
}

export function startBrowser(executable, more = []) {
  return chromium.launch({executablePath: executable, args: [...FLAGS, ...more]});
}

// Opens a page that counts forbidden events: violations of the policy, errors, requests to other servers.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  const seen = {violations: [], errors: [], elsewhere: [], dialogs: 0};
  await page.exposeFunction("sawViolation", (text) => seen.violations.push(text));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation",
    (event) => window.sawViolation(`${event.violatedDirective} ${event.blockedURI}`)));
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("dialog", (dialog) => (seen.dialogs++, dialog.dismiss()));
  page.on("request", (request) => !request.url().startsWith(new URL(url).origin + "/") && !request.url()
    .startsWith("data:") && seen.elsewhere.push(request.url()));
  await page.goto(url);
  await page.waitForSelector("#main h1");
  return {page, seen, close: () => context.close()};
}

// --- results ---

let tested = 0, passed = 0;

export async function test(name, body) {
  tested++;
  const only = process.env.ASSAY_TEST_ONLY;
  if (only && !name.includes(only)) return void tested--;
  try {
    await body();
    passed++;
  } catch (error) {
    console.log(
      `[FAIL] page/${name}\n  ${String(error.stack ?? error).replace(/\x1b\[\d+m/g, "").split("\n").slice(0, 12).join("\n  ")}`);
  }
}

export function finish() {
  console.log(`Synthesis: Tested: ${tested} | Passing: ${passed}`);
  return tested > 0 && tested === passed ? 0 : 1;
}
