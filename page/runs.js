// The screens of runs: the list of the files of --runs, one run, the comparison of two runs, and an uploaded file.
import {table} from "./charts.js";
import {count, field, fill, h, probability, problemBox, Problem, request, select} from "./lib.js";
import {showRun, wholeSource} from "./run.js";

const POLL_MS = 700, DROP_BYTES = 32 << 20, DROPPED = "(dropped)";
let dropped = null; // report of the uploaded file; lost when the page is closed

const hash = (...parts) => "#" + ["runs", ...parts].map((part) => encodeURIComponent(part)).join("/");
const api = (...parts) => "/v1/" + ["runs", ...parts].map((part) => encodeURIComponent(part)).join("/");
const size = (bytes) => (bytes >= 1 << 30 ? `${(bytes / (1 << 30)).toFixed(1)} GiB` : bytes >= 1 << 20
  ? `${(bytes / (1 << 20)).toFixed(1)} MiB` : `${Math.ceil(bytes / 1024)} KiB`);

// --- an uploaded file ---

async function send(file) {
  if (file.size > DROP_BYTES)
    throw new Problem({title: "the file is too large to upload", where: file.name,
      detail: `The file has ${size(file.size)}; the limit is ${size(DROP_BYTES)}. `
        + "Put it into the folder of --runs, or run assay report."});
  const {data} = await request(`/v1/runs?name=${encodeURIComponent(file.name)}`,
    {method: "POST", body: file, type: "application/x-ndjson"});
  return data;
}

function dropZone() {
  const input = h("input", {type: "file", accept: ".jsonl,.ndjson,.json", onchange: () => input.files[0]
    && take(input.files[0])});
  const says = h("div", {"aria-live": "polite"});
  const zone = h("section.drop", {ondragover: (event) => (event.preventDefault(), zone.classList.add("over")),
    ondragleave: () => zone.classList.remove("over"), ondrop: (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  }}, field("Drop a file of verdicts here, or choose one", input,
    `A file from assay replay --out, up to ${size(DROP_BYTES)}. It is read once and not stored.`), says);
  async function take(file) {
    fill(says, h("span.busy", {"aria-hidden": "true"}), ` Reading ${file.name} …`);
    try {
      dropped = await send(file);
      location.hash = hash(DROPPED);
    } catch (error) {
      fill(says, problemBox(error));
    }
  }
  return zone;
}

// --- all runs ---

function compareForm(runs) {
  const names = runs.map((run) => [run.name, run.name]);
  const a = select(names, names[0][0]), b = select(names, names[1][0]);
  return h("form.sheet.stack", {onsubmit: (event) => {
    event.preventDefault();
    location.hash = hash(a.value, "diff", b.value);
  }}, h("h2", "Compare two runs"), h("div.filters", field("Before", a), field("After", b),
    h("div.actions", h("button.primary", {type: "submit"}, "Compare"))));
}

const STATES = {ready: ["is-good", "ready"], indexing: ["is-accent", "indexing"], new: ["", "not indexed yet"],
  failed: ["is-wrong", "cannot be read"]};

async function showList(root) {
  fill(root, h("h1", "Runs"),
    h("p.lead", "Statistics of a file of verdicts: confidence, correctness, signals and latency, and each verdict."));
  const room = h("div.stack");
  root.append(dropZone(), room);
  let data;
  try {
    ({data} = await request(api()));
  } catch (error) {
    fill(room, error.status === 404 ? h("p.notice", "To list the files of a folder here, start the server with ",
      h("code", "assay serve --runs DIR"), ".") : problemBox(error));
    return;
  }
  if (!data.runs.length) return void fill(room,
    h("p.notice", "The folder of --runs contains no file of verdicts (.jsonl)."));
  fill(room, h("section.sheet.stack", h("h2", "Files"),
    data.truncated ? h("p.hint", "The list is incomplete, because the folder contains too many files.") : null,
    h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Files"},
      table(["file", "#size", "#changed", "#verdicts", "index"], data.runs.map((run) => [
      h("a.wrap", {href: hash(run.name)}, run.name), size(run.bytes), new Date(run.changed * 1000).toLocaleString("en"),
      run.verdicts?.toLocaleString("en") ?? "–",
      h(`span.badge${STATES[run.state]?.[0] ? "." + STATES[run.state][0] : ""}`, STATES[run.state]?.[1]
        ?? run.state)])))),
  data.runs.length > 1 ? compareForm(data.runs) : null);
}

// --- one run ---

function serverSource(name, summary) {
  const query = (filter) =>
    new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "" && value !== undefined)).toString();
  return {
    name, summary, note: null,
    link: (number) => (number ? hash(name, "verdicts", number) : hash(name)),
    rows: async (filter) => (await request(`${api(name, "verdicts")}?${query(filter)}`)).data,
    verdict: async (number) => (await request(api(name, "verdicts", number))).data,
  };
}

// Waits until the index of a run exists, and returns its summary. Returns null if alive() is false, because the user
// has left the screen.
async function summaryOf(name, alive, progress) {
  for (;;) {
    const {status, data} = await request(api(name));
    if (status === 200) return data.summary;
    if (!alive()) return null;
    progress(data);
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

async function showOne(root, name, number, alive) {
  const crumb = h("p.crumbs", h("a", {href: "#runs"}, "Runs")), room = h("div.screen");
  fill(root, crumb, room);
  if (name === DROPPED && dropped) return void showRun(room,
    wholeSource(dropped, (at) => (at ? hash(DROPPED, "verdicts", at) : hash(DROPPED))), number);
  if (name === DROPPED) return void fill(room,
    h("p.notice", "The dropped file is lost when the page is reloaded. Drop it again."));
  const bar = h("progress", {max: 1, "aria-label": "Indexed"}), says = h("p.number", "Opening …");
  fill(room, h("h1.wrap", name), h("section.sheet.stack", says, bar));
  try {
    const summary = await summaryOf(name, alive, (so_far) => {
      bar.value = so_far.size ? so_far.bytes / so_far.size : 0;
      fill(says,
        `Indexing the file, once: ${count(so_far.verdicts, "verdict")}, `
          + `${size(so_far.bytes)} of ${size(so_far.size)}.`);
    });
    if (summary && alive()) showRun(room, serverSource(name, summary), number);
  } catch (error) {
    if (alive()) fill(room, h("h1.wrap", name), problemBox(error));
  }
}

// --- two runs ---

const arrow = (pair, say) => (say(pair[0]) === say(pair[1]) ? say(pair[0]) : `${say(pair[0])} → ${say(pair[1])}`);
const signals = (change, fired) => (change.signals ?? []).filter((one) => (fired ? one.to : one.from) === "fired")
  .map((one) => one.signal).join(", ");

function changesTable(changes) {
  return table(["id", "changed", "status", "#P", "fires now", "no longer fires"],
    changes.map((one) => one.only_in || one.repeated_in
    ? [one.id, `${one.only_in ? "only in" : "repeated in"} ${one.only_in ?? one.repeated_in}`, "", "", "", ""]
    : [one.id, one.changed.join(", "), arrow(one.status, (status) => status), arrow(one.p_correct, probability),
      signals(one, true), signals(one, false)]));
}

function showChanges(root, names, {changes, summary}) {
  const scroll = (label, content) => h("div.scroll.tall", {tabindex: "0", role: "region", "aria-label": label},
    content);
  const {p_correct: p, gold} = summary;
  fill(root, h("h1.wrap", `${names[0]} → ${names[1]}`),
    h("dl.figures.sheet", [["requests in both", summary.requests], ["changed", summary.changed],
      [`only in ${names[0]}`, summary.only[0]], [`only in ${names[1]}`, summary.only[1]],
      ["mean P", `${probability(p.mean[0])} → ${probability(p.mean[1])}`],
      ...(gold ? [[`right by ${gold.by}`, `${gold.right[0]} → ${gold.right[1]}`],
        ["better, worse", `${gold.better}, ${gold.worse}`]] : [])]
      .map(([name, value]) => h("div", h("dt.wrap", name),
        h("dd", typeof value === "number" ? value.toLocaleString("en") : value)))),
    h("div.charts",
      h("section.sheet.stack", h("h2", "Status"),
        scroll("Status", table(["before", "after", "#requests"],
          summary.status.map((one) => [one.from, one.to, one.requests.toLocaleString("en")])))),
      h("section.sheet.stack", h("h2", "Changes of P(correct)"),
        scroll("Changes of P(correct)", table(["by at most", "#up", "#down"],
          p.steps.map((one) => [String(one.at_most), one.up.toLocaleString("en"), one.down.toLocaleString("en")])))),
      Object.keys(summary.signals).length ? h("section.sheet.stack", h("h2", "Signals"), scroll("Signals",
        table(["signal", "#fires now", "#no longer fires", "#unavailable now"], Object.entries(summary.signals)
        .map(([name, one]) => [name, one.fired, one.cleared, one.unavailable])))) : null),
    h("section.sheet.stack", h("h2", "Changes"), changes.length < summary.changed
      ? h("p.hint", `The first ${changes.length.toLocaleString("en")}. Run assay diff to list all.`) : null,
      changes.length ? scroll("Changes", changesTable(changes)) : h("p", "Nothing changed.")));
}

async function showDiff(root, names, alive) {
  const room = h("div.screen");
  fill(root, h("p.crumbs", h("a", {href: "#runs"}, "Runs")), room);
  fill(room, h("p", h("span.busy", {"aria-hidden": "true"}), " Comparing …"));
  try {
    const {data} = await request(api(names[0], "diff", names[1]));
    if (alive()) showChanges(room, names, data);
  } catch (error) {
    if (alive()) fill(room, problemBox(error));
  }
}

export function mount(root, rest) {
  let here = true;
  const alive = () => here;
  const [name, what, which] = rest ? rest.split("/") : [];
  if (!name) showList(root);
  else if (what === "diff" && which) showDiff(root, [name, which], alive);
  else showOne(root, name, what === "verdicts" ? which : null, alive);
  return () => {
    here = false;
  };
}
