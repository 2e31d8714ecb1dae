// Shows a verdict: the answer, the clarification question, the repair, and each candidate with its findings.
import {announce, count, fill, h, milliseconds, newId, probability, sentence} from "./lib.js";
import {attachNote} from "./note.js";
import {colouredSql, differenceBlock, sqlBlock} from "./sql.js";

const STATUS = {
  validated: {voice: "good", word: "Validated", says: (v) => `Candidate ${v.chosen + 1} is probably correct`},
  repaired: {voice: "good", word: "Repaired", says: () => "The corrected query is probably correct"},
  best_effort: {voice: "doubt", word: "Best effort",
    says: (v) => `No candidate is validated; candidate ${v.chosen + 1} is the closest`},
  abstained: {voice: "doubt", word: "Abstained", says: () => "No candidate is reliable enough"},
  ask: {voice: "accent", word: "Question", says: () => "Please say what you mean"},
  failed: {voice: "wrong", word: "Not judged", says: () => "The request could not be judged"},
};
const SEVERITY = {error: "wrong", warning: "doubt", note: "accent"};

// Returns the element of a verdict. A choice of the clarification question calls answer(id). The button of a repair
// calls take(sql), which adds the repair as a candidate. Without `answer` the choices are plain text; without `take`
// there is no button.
export function verdictView(verdict, {answer, take} = {}) {
  const root = h("section.verdict.stack", {"aria-labelledby": "verdict-title"});
  fill(root, summary(verdict), clarification(verdict, answer), questions(verdict), repair(verdict, take),
    candidates(verdict), particulars(verdict, answer));
  return root;
}

function summary(verdict) {
  const status = STATUS[verdict.status] ?? {voice: "wrong", word: verdict.status, says: () => "Unknown status"};
  const chosen = verdict.candidates?.[verdict.chosen];
  const headline = chosen || !["best_effort", "ask"].includes(verdict.status) || verdict.clarification
    ? status.says(verdict) : "No candidate is validated";
  return h(`div.sheet.summary.is-${status.voice}`,
    h("div.summary-head",
      h("div",
        h(`span.badge.is-${status.voice}`, status.word),
        h("h2", {id: "verdict-title", tabindex: "-1"}, headline),
        verdict.message ? h("p.soft", sentence(verdict.message)) : null,
        verdict.reason ? h("p.small.soft", "Reason: ", h("code", verdict.reason)) : null),
      typeof verdict.p_correct === "number" ? meter("P(correct) of the answer", verdict.p_correct, verdict.threshold,
        "large") : null),
    verdict.sql ? h("div.answer", sqlBlock(verdict.sql), copyButton(verdict.sql)) : null,
    verdict.guarantee ? h("p.small", promise(verdict.guarantee)) : null);
}

function promise(guarantee) {
  const wrong = `at most ${(guarantee.alpha * 100).toFixed(1)} % wrong`;
  return guarantee.status === "held" ? `Guaranteed: ${wrong}, based on ${count(guarantee.records, "labelled verdict")}.`
    : `Not guaranteed (${wrong}): ${guarantee.why ?? guarantee.status}.`;
}

function copyButton(text) {
  const button = h("button.quiet", {type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      announce("Copied");
    } catch {
      button.textContent = "Copying is not allowed";
    }
    setTimeout(() => (button.textContent = "Copy SQL"), 2000);
  }}, "Copy SQL");
  return button;
}

// Returns a meter of P with a tick at the threshold.
export function meter(label, p, threshold, size) {
  const known = typeof p === "number";
  const bound = typeof threshold === "number" ? `, threshold ${threshold.toFixed(2)}` : "";
  const voice = !known || typeof threshold !== "number" ? "accent" : p >= threshold ? "good" : "wrong";
  return h(`div.meter.is-${voice}${size ? ".meter-" + size : ""}`,
    {role: "meter", "aria-label": `${label}${bound}`, "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": known
      ? String(p) : "0",
     "aria-valuetext": known ? probability(p) : "not judged", title: `${label}${bound}`},
    size ? h("span.meter-caption", "P(correct)") : null,
    h("span.meter-number.number", probability(p)),
    h("span.meter-track", h("span.meter-fill", {style: {"--share": known ? String(p) : "0"}}),
      typeof threshold === "number" ? h("span.meter-tick", {style: {"--share": String(threshold)}}) : null),
    size && bound ? h("span.meter-caption", bound.slice(2)) : null);
}

// --- the clarification question ---

function clarification(verdict, answer) {
  const asked = verdict.clarification;
  if (!asked) return null;
  const title = newId("asked");
  return h("section.sheet.asked", {"aria-labelledby": title},
    h("h3.asked-question", {id: title}, asked.question),
    h("ul.choices", asked.choices.map((choice) => h("li.choice",
      answer ? h("button.quiet", {type: "button", onclick: () => answer(choice.id)}, sentence(choice.text))
        : h("span", sentence(choice.text)),
      typeof choice.rows === "number" ? h("span.small.soft", `returns ${count(choice.rows, "row")}`) : null,
      choice.sample ? resultTable(choice.sample, "What this reading returns") : null))));
}

function questions(verdict) {
  if (!verdict.questions?.length || verdict.clarification) return null;
  return h("section.sheet.stack", h("h3", "Questions that would help"),
    h("ul.bullets", verdict.questions.map((one) =>
      h("li", typeof one === "string" ? one : (one.question ?? one.text ?? "")))));
}

// --- the repair ---

function repair(verdict, take) {
  const found = verdict.repair;
  if (!found) return null;
  const title = newId("repair");
  return h("section.sheet.stack", {"aria-labelledby": title},
    h("div.row", h("h3", {id: title}, found.applied ? "Applied correction" : "Proposed correction"),
      h("span.badge.is-accent", found.applied ? "applied" : "proposed")),
    found.reason ? h("p", sentence(found.reason), ".") : null,
    differenceBlock(found.old_sql ?? "", found.sql ?? ""),
    found.steps?.length ? h("ul.steps", found.steps.map((step) => h("li",
      h("span.label", step.clause), " ", step.was ? h("del.code", step.was) : h("span.soft", "nothing"), " → ",
      step.now ? h("ins.code", step.now) : h("span.soft", "nothing")))) : null,
    h("dl.facts",
      fact("P before", probability(found.p_old)), fact("P after", probability(found.p_correct)),
      found.source ? fact("written by", found.source) : null,
      typeof found.proposals === "number" ? fact("tried", count(found.proposals, "query", "queries")) : null),
    found.applied || !take ? null : h("div.actions", h("button.quiet", {type: "button", onclick: () => take(found.sql)},
      "Use as a candidate")));
}

const fact = (key, value) => h("div", h("dt", key), h("dd", value));

// --- candidates ---

function candidates(verdict) {
  const all = verdict.candidates ?? [];
  if (!all.length) return null;
  return h("div.stack",
    h("h3.section-title", count(all.length, "candidate")),
    h("ol.candidates", byRank(verdict, all).map((i) => candidateCard(verdict, all[i], i))));
}

// Orders the candidates: the answer first, the others by P. So the candidates that a user compares are adjacent.
function byRank(verdict, all) {
  const rank = (i) => (i === verdict.chosen ? 2 : (all[i].p_correct ?? -1));
  return all.map((_, i) => i).sort((a, b) => rank(b) - rank(a) || a - b);
}

function candidateCard(verdict, candidate, index) {
  const chosen = verdict.chosen === index, title = newId("candidate");
  const marks = marksOf(candidate, verdict.report ?? []);
  return h(`li.sheet.candidate${chosen ? ".is-chosen" : ""}`, {"aria-labelledby": title},
    h("div.row", h("h4.candidate-title", {id: title}, `Candidate ${index + 1}`),
      chosen ? h("span.badge.is-accent", "the answer") : null,
      typeof candidate.same_as === "number" ? h("span.badge", `same as candidate ${candidate.same_as + 1}`) : null,
      h("span.row-end", meter(`P(correct) of candidate ${index + 1}`, candidate.p_correct, verdict.threshold))),
    markedSql(candidate.sql ?? "", marks),
    candidate.why ? h("p.why.small", h("span.label", chosen || verdict.chosen === null ? "Note" : "Why not"), " ",
      sentence(candidate.why)) : null,
    findings(marks),
    execution(candidate.execution),
    explanation(candidate),
    signals(candidate));
}

// Returns the findings of a candidate, numbered in order, with the instructions of the report for their signals.
function marksOf(candidate, report) {
  return (candidate.findings ?? []).map((finding, i) => ({
    finding, number: i + 1, id: newId("finding"),
    instruction: report.find((one) => one.signal === finding.signal)?.instruction,
  }));
}

function markedSql(sql, marks) {
  const spans = marks.flatMap((mark) => (mark.finding.clauses ?? [])
    .map((clause) => ({...mark, start: clause.start, end: clause.end})));
  const code = h("code", colouredSql(sql, spans, suspect));
  return h("pre.sql.sql-marked", code);
}

const ORDER = ["error", "warning", "note"];

// Returns the button for a suspect clause in the text. The button shows the findings of the clause.
function suspect(marks, children, ending) {
  const unique = [...new Map(marks.map((mark) => [mark.number, mark])).values()];
  const worst = ORDER.find((severity) => unique.some((mark) => mark.finding.severity === severity)) ?? "note";
  const ends = [...new Set(ending.map((mark) => mark.number))].join(" ");
  const element = h(`span.suspect.is-${SEVERITY[worst]}`, {role: "button", tabindex: "0", "aria-expanded": "false"},
    children,
    ends ? h("sup.suspect-number", ends) : null);
  attachNote(element, () => unique.map((mark) => findingBody(mark)));
  return element;
}

function findings(marks) {
  if (!marks.length) return null;
  return h("ol.findings", marks.map((mark) => h("li.finding", {id: mark.id}, findingBody(mark))));
}

function findingBody({finding, number, instruction}) {
  const data = Object.entries(finding.data ?? {});
  return h(`div.finding-body.is-${SEVERITY[finding.severity] ?? "accent"}`,
    h("span.finding-number", {"aria-hidden": "true"}, number),
    h("div.stack-tight",
      h("p", h("span.unseen", `Finding ${number}: `), sentence(finding.message ?? ""), "."),
      h("p.small.soft", h("span.finding-severity", finding.severity), " · ", h("code", finding.signal)),
      data.length ? h("dl.facts",
        data.map(([key, value]) => fact(key, typeof value === "string" ? value : JSON.stringify(value)))) : null,
      instruction ? h("p.small", instruction) : null));
}

// --- result and explanation ---

function execution(ran) {
  if (!ran) return h("p.small.soft", "Not run.");
  if (ran.error) return h("p.small", h("span.label", "Does not run"), " ", sentence(ran.message ?? ran.error));
  const told = `${count(ran.rows, "row")}, ${count(ran.columns, "column")} · ${milliseconds(ran.ms)}`;
  if (!ran.sample) return h("p.small.soft", `Result: ${told}`);
  const shown = ran.sample.rows.length;
  return h("div.stack-tight",
    h("p.small", h("span.label", "Result"), " ",
      h("span.soft", told, shown < ran.rows ? ` · first ${shown} shown` : "")),
    resultTable(ran.sample, "Rows of the result"));
}

function resultTable(sample, label) {
  return h("div.scroll", {tabindex: "0", role: "group", "aria-label": label},
    h("table", h("thead", h("tr", sample.columns.map((name) => h("th", {scope: "col"}, name)))),
      h("tbody", sample.rows.map((row) => h("tr", row.map((value) =>
        value === null ? h("td", h("span.null", "NULL")) : h(`td${isNumber(value) ? ".number" : ""}`, value)))))));
}

const isNumber = (text) => typeof text === "number" || (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && text.length < 20);

function explanation(candidate) {
  if (!candidate.explanation) return null;
  const {query, result} = parts(candidate.explanation);
  const polished = candidate.explanation_polished;
  return h("details.more", {open: true}, h("summary", "Explanation"),
    h("div.stack-tight.prose",
      polished ? [h("p", polished.text),
        h("p.small.soft", `Rewritten by ${polished.source} and checked against this text:`)] : null,
      h("p", query.join(" ")),
      result.length ? h("h5.label", "Why this result") : null,
      result.length ? story(result) : null));
}

// Splits text into sentences. A full stop inside a quoted value does not end a sentence.
export function sentences(text) {
  const out = [];
  let quoted = false, start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "'") quoted = !quoted;
    if (!quoted && text[i] === "." && text[i + 1] === " ") out.push(text.slice(start, i + 1)), (start = i + 2);
  }
  out.push(text.slice(start));
  return out.filter(Boolean);
}

// Splits an explanation into the description of the query and that of its result. The latter begins with the first
// sentence about the result.
function parts(text) {
  const all = sentences(text), at = all.findIndex((one) => one.startsWith("The result "));
  return at < 0 ? {query: all, result: []} : {query: all.slice(0, at), result: all.slice(at)};
}

// Returns sentences as paragraphs. The rows of "This row comes from 2 source rows: A; B." become a list.
function story(all) {
  const out = [];
  let text = [];
  const end = () => {
    if (text.length) out.push(h("p", text.join(" ")));
    text = [];
  };
  for (const one of all) {
    const match = /^(This row [^':]*source rows?[^':]*): ([^]*)\.$/.exec(one);
    text.push(match ? `${match[1]}:` : one);
    if (match) end(), out.push(h("ul.source-rows", match[2].split("; ").map((row) => h("li", row))));
  }
  end();
  return out;
}

function signals(candidate) {
  const all = Object.entries(candidate.signals ?? {});
  if (!all.length) return null;
  const of = (state) => all.filter(([, said]) => said === state).map(([name]) => name);
  const missing = of("unavailable");
  return h("details.more.small", h("summary", `${of("fired").length} of ${count(all.length, "check")} fired`),
    h("dl.facts", fact("fired", of("fired").join(", ") || "none"), fact("silent", of("silent").join(", ") || "none"),
      missing.length ? fact("unavailable",
        missing.map((name) => `${name} (${candidate.unavailable?.[name] ?? "no reason"})`).join(", ")) : null,
      fact("label model", probability(candidate.label_model_p)),
      fact("explanation answers the question", probability(candidate.entailment)),
      candidate.verifier ? fact("verifier", candidate.verifier) : null));
}

function particulars(verdict, answer) {
  return h("details.more.sheet", h("summary", "How this was judged"),
    h("dl.facts",
      fact("verdict", answer ? h("a", {href: `#judge/${encodeURIComponent(verdict.id ?? "")}`}, verdict.id ?? "")
        : (verdict.id ?? "")),
      fact("database", verdict.db ?? ""), fact("took", milliseconds(verdict.timings?.total_ms)),
      verdict.cause ? fact("cause", verdict.cause) : null,
      verdict.unavailable?.length ? fact("no response from", verdict.unavailable.join(", ")) : null,
      verdict.llm ? fact("language model", `${verdict.llm.source ?? ""}: ${count(verdict.llm.calls, "call")}`) : null,
      verdict.answers?.length ? fact("answers used", String(verdict.answers.length)) : null,
      Object.entries(verdict.versions ?? {}).map(([name, version]) => fact(name.replace("_", " "), String(version)))),
    verdict.notes?.length ? h("ul.bullets", verdict.notes.map((one) => h("li", one))) : null);
}
