// Shows the metrics of the server process. They are read from /v1/metrics, in the text format of Prometheus. The
// process judges requests itself, or serves them for a fleet.
import {count, fill, h, milliseconds, problemBox, request} from "./lib.js";

const EVERY_MS = 3000;

export function mount(root) {
  const body = h("div.stack");
  const leaving = new AbortController();
  let before = null, timer = 0;
  fill(root, h("div.screen-head", h("h1", "Fleet"),
    h("p.lead", "Counts of this process since its start, and its current rates.")), body);
  async function turn() {
    try {
      const {data} = await request("/v1/metrics", {accept: "text/plain", signal: leaving.signal});
      const now = readMetrics(data);
      fill(body, figures(now, before));
      before = now;
    } catch (problem) {
      if (problem.name === "AbortError") return;
      fill(body, problemBox(problem));
    }
    timer = setTimeout(turn, EVERY_MS);
  }
  turn();
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}

// Parses the text format. Returns {at, series: [{name, labels: {..}, value}]}.
export function readMetrics(text) {
  const series = [];
  for (const line of text.split("\n")) {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries(Array.from((match[2] ?? "").matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g),
      (one) => [one[1], one[2]]));
    series.push({name: match[1], labels, value: Number(match[3])});
  }
  return {at: performance.now(), series};
}

const all = (metrics, name) => metrics.series.filter((one) => one.name === name);
const value = (metrics, name, labels = {}) => all(metrics, name)
  .filter((one) => Object.entries(labels).every(([key, text]) => one.labels[key] === text))
  .reduce((sum, one) => sum + one.value, 0);
const has = (metrics, name) => all(metrics, name).length > 0;

function figures(now, before) {
  const alone = has(now, "assay_verdicts_total");
  const rate = (name) => (before ? Math.max(0, value(now, name) - value(before, name)) / ((now.at - before.at) / 1000)
    : null);
  return [
    h("p.notice", alone ? "This process runs alone: it judges requests itself, and all figures are its own."
      : "This process serves requests for a fleet. "
        + "These are its own figures; workers and coordinators report theirs at /metrics."),
    h("dl.tiles",
      alone ? [tile("Verdicts", value(now, "assay_verdicts_total"), perSecond(rate("assay_verdicts_total"))),
        tile("Open requests", value(now, "assay_state_open_requests")),
        tile("Median latency at most", milliseconds(quantile(now, "assay_request_latency_seconds", 0.5)),
          `95 % at most ${milliseconds(quantile(now, "assay_request_latency_seconds", 0.95))}`)]
        : [tile("Kafka lag", value(now, "assay_kafka_lag_messages"), "messages not processed yet"),
          tile("Messages in", value(now, "assay_kafka_messages_total", {direction: "in"}),
            perSecond(rate("assay_kafka_messages_total")))],
      tile("HTTP requests answered", value(now, "assay_http_requests_total", {outcome: "answered"}),
        perSecond(rate("assay_http_requests_total"))),
      tile("HTTP requests waiting", value(now, "assay_http_waiting")),
      tile("HTTP requests refused", value(now, "assay_http_requests_total", {outcome: "refused"})
        + value(now, "assay_http_sent_away_total")),
      tile("Memory", `${Math.round(value(now, "process_resident_memory_bytes") / 2 ** 20)} MiB`),
      tile("Uptime", duration(Date.now() / 1000 - value(now, "process_start_time_seconds")))),
    alone ? h("div.pair", bars("Verdicts by status",
      all(now, "assay_verdicts_total").map((one) => [one.labels.decision.replace("_", " "), one.value])),
      families(now)) : null,
    h("section.sheet.stack", h("h2", "Not shown here"),
      h("p.prose", "To list and redrive dead letters, run ", h("code", "assay dlq list"), " or ",
        h("code", "assay dlq redrive"),
        ". Circuit breakers and permits of databases are at ", h("code", "/metrics"), " of the workers.")),
  ];
}

const perSecond = (rate) => (rate === null ? "" : `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second`);

function tile(name, figure, note) {
  return h("div.sheet.tile", h("dt", name), h("dd.number", typeof figure === "number" ? figure.toLocaleString("en")
    : figure), note ? h("dd.small.soft", note) : null);
}

function bars(title, rows) {
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return h("section.sheet.stack", h("h2", title), h("ul.bars", rows.map(([name, n]) => h("li",
    h("span.bar-name", name), h("span.bar-track", {"aria-hidden": "true"},
      h("span.bar-fill", {style: {"--share": String(n / most)}})), h("span.number", n.toLocaleString("en"))))));
}

function families(now) {
  const name = "assay_process_duration_seconds";
  const names = [...new Set(all(now, `${name}_count`).map((one) => one.labels.family))];
  return h("section.sheet.stack", h("h2", "Families of checks"),
    names.length ? h("div.scroll", {tabindex: "0", role: "group", "aria-label": "Families of checks"}, h("table",
      h("thead", h("tr", h("th", {scope: "col"}, "family"), h("th.number", {scope: "col"}, "tasks"),
        h("th.number", {scope: "col"}, "mean"))),
      h("tbody", names.map((family) => {
        const n = value(now, `${name}_count`, {family});
        return h("tr", h("th", {scope: "row"}, family), h("td.number", n.toLocaleString("en")),
          h("td.number", milliseconds(value(now, `${name}_sum`, {family}) / n * 1000)));
      })))) : h("p.soft", `Nothing has been judged yet: ${count(0, "task")}.`));
}

// Returns the upper bound, in milliseconds, of the bucket that contains the quantile `share`. Returns undefined if
// nothing was counted.
export function quantile(metrics, name, share) {
  const total = value(metrics, `${name}_count`);
  const buckets = all(metrics, `${name}_bucket`).filter((one) => one.labels.le !== "+Inf")
    .sort((a, b) => a.labels.le - b.labels.le);
  const bucket = total ? buckets.find((one) => one.value >= share * total) : null;
  return bucket ? Number(bucket.labels.le) * 1000 : undefined;
}

function duration(seconds) {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}
