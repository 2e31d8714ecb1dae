// The screen of one run: the summary of a file of verdicts, the filtered list of its verdicts, and each verdict. A
// `source` provides these:
//   name, summary          as in eval/runs/run_index.h
//   note                   what the table omits; null if it omits nothing
//   rows(filter)           a promise of {total, verdicts}
//   verdict(number)        a promise of the verdict, or of null if it was omitted
//   link(number)           the hash of a verdict, or of the run if `number` is null
import {bars, histogram, reliabilityChart, riskChart, table} from "./charts.js";
import {announce, count, field, fill, h, milliseconds, probability, problemBox, select} from "./lib.js";
import {verdictView} from "./verdict.js";

const PAGE = 25;
const VOICES = {validated: "is-good", repaired: "is-good", best_effort: "is-doubt", ask: "is-doubt", abstained: "",
  failed: "is-wrong"};
const SORTS = [["number", "File order"], ["-p", "Highest P first"], ["p", "Lowest P first"], ["-ms", "Slowest first"],
  ["telling", "Most informative first"]];

const badge = (status) => h(`span.badge${VOICES[status] ? "." + VOICES[status] : ""}`,
  String(status).replace("_", " "));
const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
const truth = (right) => (right === null || right === undefined ? "" : right ? "right" : "wrong");

// --- the whole run ---

function facts(summary) {
  const {labels, times_ms: times} = summary;
  const fact = (name, value) => h("div", h("dt", name), h("dd", value));
  return h("dl.figures.sheet", fact("verdicts", summary.verdicts.toLocaleString("en")),
    fact("answered", share(summary.answered, summary.verdicts)),
    labels.known ? fact(`right (of ${labels.known.toLocaleString("en")} known)`, share(labels.right, labels.known))
      : null,
    fact("median latency", milliseconds(times.p50)), fact("95th percentile", milliseconds(times.p95)),
    fact("maximum latency", milliseconds(times.max)),
    summary.broken_lines || summary.long_lines
      ? fact("lines skipped", (summary.broken_lines + summary.long_lines).toLocaleString("en")) : null);
}

function missingLabels(source) {
  return h("section.sheet.stack", h("h2", "Calibration and guarantees"),
    h("p",
      "This run has no answers that are known to be right or wrong. To compare its verdicts with gold queries, run"),
    h("p", h("code.wrap", `assay report ${source.name} --log LOG --gold --db-root DIR`)),
    h("p.hint",
      "and open the run again. It then also shows the precision and lift of each signal, and risk against coverage."));
}

function signalTable(summary, choose) {
  const rows = [...summary.signals].sort((a, b) => (b.lift ?? -1) - (a.lift ?? -1) || b.fired - a.fired);
  const known = summary.labels.known > 0, unavailable = rows.some((one) => one.unavailable);
  const name = (signal) => h("button.plain", {type: "button", onclick: () => choose(signal)}, signal);
  return h("section.sheet.stack", h("h2", "Signals"),
    h("p.hint", "For the answer, or for the first candidate if there is no answer. " + (known
      ? "Wrong: share of wrong answers when the signal fired. Lift: this share divided by that of all answers."
      : "Run the gold queries to see how often each signal is right.")),
    h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Signals"},
      table(["signal", "#fired", ...(unavailable ? ["#unavailable"] : []),
        ...(known ? ["#wrong", "#95 %", "#lift"] : [])], rows.map((one) => [
        name(one.signal), one.fired.toLocaleString("en"),
        ...(unavailable ? [one.unavailable.toLocaleString("en")] : []),
        ...(known ? [one.precision === null ? "–" : `${(100 * one.precision).toFixed(1)} %`,
          one.precision_interval ? one.precision_interval.map((bound) => (100 * bound).toFixed(0)).join(" to ") : "–",
          one.lift === null ? "–" : one.lift.toFixed(2)] : [])]))));
}

function databaseTable(summary, choose) {
  const known = summary.labels.known > 0, rest = summary.n_databases - summary.databases.length;
  return h("section.sheet.stack", h("h2", "Databases"), rest > 0 ? h("p.hint",
    `The ${summary.databases.length} databases with the most verdicts; ${count(rest, "other")} not shown.`) : null,
    h("div.scroll.low", {tabindex: "0", role: "region", "aria-label": "Databases"},
      table(["database", "#verdicts", "#validated", "#mean P", ...(known ? ["#right"] : [])],
        summary.databases.map((one) => [
        h("button.plain.wrap", {type: "button", onclick: () => choose(one.db)}, one.db || "(none)"),
        one.verdicts.toLocaleString("en"), share(one.validated, one.verdicts), probability(one.p),
        ...(known ? [share(one.right, one.known)] : [])]))));
}

function slowTable(source) {
  const room = h("div");
  source.rows({sort: "-ms", limit: 10})
    .then((page) => fill(room, h("div.scroll", {tabindex: "0", role: "region", "aria-label": "Slowest"},
    table(["verdict", "database", "#took", "#candidates tried"],
      page.verdicts.map((row) => [h("a.wrap", {href: source.link(row.number)}, row.id), row.db, milliseconds(row.ms),
        String(row.iterations)])))),
  (error) => fill(room, problemBox(error)));
  return h("section.sheet.stack", h("h2", "Slowest"), room);
}

// --- the table of verdicts ---

const kept = new Map(); // filters by run; they are restored when the user returns from a verdict

function verdictTable(source) {
  const filter = kept.get(source.name) ?? {sort: "number"};
  kept.set(source.name, filter);
  const {summary} = source;
  const room = h("div.stack"), controls = {};
  let turn = 0, offset = 0;
  const control = (key, element) => {
    controls[key] = element;
    element.value = filter[key] ?? (key === "sort" ? "number" : "");
    return element;
  };
  const choices = (key, names) =>
    control(key, select([["", "any"], ...names.map((name) => [name, name])], filter[key] ?? "", read));
  const bound = (key) => control(key,
    h("input", {type: "number", min: 0, max: 1, step: 0.05, onchange: read, inputmode: "decimal"}));
  const form = h("form.filters", {onsubmit: (event) => (event.preventDefault(), read())},
    field(summary.questions ? "Text in id or question" : "Text in id",
      control("text", h("input", {type: "search", onchange: read, maxlength: 200}))),
    field("Status", choices("status", Object.keys(summary.status).filter((name) => summary.status[name]))),
    field("Database", choices("db", summary.databases.map((one) => one.db))),
    field("Signal that fired",
      choices("signal", summary.signals.filter((one) => one.fired).map((one) => one.signal).sort())),
    summary.labels.known ? field("Truth", choices("right", ["right", "wrong"])) : null,
    field("P from", bound("p_from")), field("P to", bound("p_to")),
    field("Order", control("sort", select(SORTS, filter.sort, read))),
    h("div.actions", h("button.quiet", {type: "submit"}, "Filter"),
      h("button.plain", {type: "button", onclick: () => set({})}, "Show all")));

  function read() {
    for (const [key, element] of Object.entries(controls)) filter[key] = element.value.trim();
    offset = 0;
    load();
  }
  function set(values) {
    for (const [key, element] of Object.entries(controls)) element.value = values[key]
      ?? (key === "sort" ? "number" : "");
    read();
  }
  async function load() {
    const mine = ++turn;
    try {
      const page = await source.rows({...filter, offset, limit: PAGE, sql: 1});
      if (mine === turn) show(page);
    } catch (error) {
      if (mine === turn) fill(room, problemBox(error, load));
    }
  }
  function show({total, verdicts}) {
    const last = offset + verdicts.length;
    const says = total
      ? `${(offset + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${count(total, "verdict")}`
        : "No verdict matches the filter.";
    const turnTo = (to) => h("button.quiet", {type: "button", disabled: to < 0 || to >= total,
      onclick: () => ((offset = to), load())}, to < offset ? "Previous" : "Next");
    fill(room, h("div.row", h("p.number", says),
      h("div.actions.row-end", turnTo(offset - PAGE), turnTo(offset + PAGE))),
      total ? h("div.scroll.verdicts", {tabindex: "0", role: "region", "aria-label": "Verdicts"},
        rowsTable(source, verdicts)) : null);
    announce(says);
  }
  load();
  const section = h("section.sheet.stack", {id: "verdicts"}, h("h2", "Verdicts"),
    source.note ? h("p.notice", source.note) : null, form, room);
  return {section, choose: (values) => {
    set(values);
    section.scrollIntoView({block: "start"});
  }};
}

function rowsTable(source, rows) {
  const known = source.summary.labels.known > 0;
  return table(["verdict", "status", "#P", ...(known ? ["truth"] : []), "database", "answer", "signals", "#took"],
    rows.map((row) => [
    h("a.wrap", {href: source.link(row.number)}, row.id || `verdict ${row.number}`),
    [badge(row.status), row.reason ? h("div.hint", row.reason) : null], probability(row.p_correct),
    ...(known ? [row.right === null ? "" : h(`span.badge.${row.right ? "is-good" : "is-wrong"}`, truth(row.right))]
      : []),
    h("span.wrap", row.db),
    [row.question ? h("div.question", row.question) : null, row.sql ? h("div.sql", {title: row.sql}, row.sql)
      : h("span.soft", "no answer")],
    h("span.small.signals", row.signals.join(", ")), milliseconds(row.ms)]));
}

// --- one verdict ---

async function showVerdict(root, source, number) {
  const back = h("p.crumbs", h("a", {href: source.link(null)}, source.name), h("span.soft", "/"),
    h("span", `verdict ${number}`));
  fill(root, back, h("p", h("span.busy", {"aria-hidden": "true"}), " Loading …"));
  let verdict;
  try {
    verdict = await source.verdict(number);
  } catch (error) {
    fill(root, back, problemBox(error));
    return;
  }
  if (!verdict) {
    fill(root, back, h("p.notice", "This page does not include that verdict. See the file of verdicts."));
    return;
  }
  fill(root, back, h("h1.wrap", String(verdict.id)), verdictView(verdict),
    verdict.gold ? h("section.sheet.stack", h("h2", "Gold"), h("pre.wrap", verdict.gold)) : null,
    h("details.more.sheet", h("summary", "As JSON"), h("pre.wrap.small", JSON.stringify(verdict, null, 2))));
}

// Shows a run. With `number`, shows that verdict of the run.
export function showRun(root, source, number) {
  if (number) return void showVerdict(root, source, number);
  const {summary} = source;
  const verdicts = verdictTable(source);
  fill(root, h("h1.wrap", source.name), facts(summary),
    h("div.charts", h("div.stack",
      bars("Status", Object.entries(summary.status).filter(([, n]) => n).map(([name, n]) => [name, n, VOICES[name]]),
        (status) => verdicts.choose({status})),
      histogram("Confidence", summary.p_correct.n
        ? `P(correct) of the answers, ${probability(summary.p_correct.mean)} on average.`
          : "No verdict has a P(correct).", summary.p_correct.bins)),
      summary.reliability ? reliabilityChart(summary.reliability) : missingLabels(source),
      summary.coverage ? riskChart(summary.coverage) : null),
    h("div.halves", signalTable(summary, (signal) => verdicts.choose({signal})),
      h("div.stack", databaseTable(summary, (db) => verdicts.choose({db})), slowTable(source))),
    verdicts.section);
}

// Returns a source for a report that is completely in memory: that of `assay report --html` or of an uploaded file.
export function wholeSource(report, link) {
  const same = (row, key, value) => value === undefined || value === "" || value === row[key];
  const orders = {
    number: (a, b) => a.number - b.number, "-p": (a, b) => (b.p_correct ?? -1) - (a.p_correct ?? -1),
    p: (a, b) => (a.p_correct ?? 2) - (b.p_correct ?? 2),
    "-ms": (a, b) => (b.ms ?? -1) - (a.ms ?? -1), telling: () => 0,
  };
  const rows = report.rows.map((row) => ({...row, text: `${row.id}\n${row.question ?? ""}`.toLowerCase()}));
  const fits = (row, filter) => same(row, "status", filter.status) && same(row, "db", filter.db)
    && (!filter.signal || row.signals.includes(filter.signal)) &&
    (!filter.text || row.text.includes(filter.text.toLowerCase()))
      && (!filter.right || truth(row.right) === filter.right) &&
    (!filter.p_from || (row.p_correct ?? -1) >= Number(filter.p_from))
      && (!filter.p_to || (row.p_correct ?? 2) <= Number(filter.p_to));
  return {
    name: report.name, summary: report.summary, link,
    note: report.all ? null
      : `The ${report.rows.length.toLocaleString("en")} most informative of `
        + `${count(report.summary.verdicts, "verdict")}: `
        + "wrong answers with the highest P first, then failures, then answers nearest to their threshold. "
        + "The charts above cover all verdicts.",
    rows: async (filter) => {
      const found = rows.filter((row) => fits(row, filter)).sort(orders[filter.sort] ?? orders.number),
        offset = filter.offset ?? 0;
      return {total: found.length, verdicts: found.slice(offset, offset + (filter.limit ?? PAGE))};
    },
    verdict: async (number) => report.verdicts[number] ?? null,
  };
}
