// The screen for judging. It has a form for database, question and candidates, and shows the verdict. #judge/ID shows
// the verdict with that id.
import {announce, field, fill, h, newId, Problem, problemBox, request, select} from "./lib.js";
import {closeNote} from "./note.js";
import {showSchema} from "./schema.js";
import {editor, queriesOf} from "./sql.js";
import {verdictView} from "./verdict.js";

const MOST_CANDIDATES = 64;  // limit of this page; a request may have more
const WAIT_MS = 20000;       // wait of one call; a verdict that takes longer is polled
const MOST_ASKED = 60;       // maximum number of polls

const OPTIONS = {
  policy: {label: "If no candidate is validated", values: [["ask", "ask me"], ["best_effort", "show the best"],
    ["abstain", "give no answer"]], hint: "What to do if no candidate reaches the threshold."},
  repair: {label: "Repairs", values: [["propose", "propose"], ["apply", "apply"], ["off", "none"]],
    hint: "Whether to look for a query one edit away that is more likely correct."},
  expose: {label: "What may be shown", values: [["rows", "rows"], ["values", "single values"], ["none", "no data"]],
    hint: "The operator of a database may allow less than this."},
};

// The text of the form. It is preserved while another screen is shown.
const draft = {db: "", question: "", evidence: "", candidates: [""], policy: "ask", repair: "propose", expose: "rows"};

export function mount(root, id) {
  const screen = new JudgeScreen(root);
  screen.open(id);
  return () => screen.close();
}

class JudgeScreen {
  constructor(root) {
    this.leaving = new AbortController();
    this.root = root;
    this.schema = h("div.schema-body");
    this.output = h("div.stack", {id: "verdict"});
    this.list = h("ol.editors");
    this.database = h("div");
    this.submit = h("button.primary", {type: "submit"}, "Judge");
    this.state = h("p.small.soft", {role: "status"});
    this.build();
  }

  close() {
    this.leaving.abort();
    this.schemaOf?.abort();
    closeNote();
  }

  async open(id) {
    if (id) await this.showVerdict(id);
    await this.loadDatabases();
  }

  // --- the form ---

  build() {
    this.question = h("textarea.question", {rows: "2", value: draft.question, maxlength: "16000",
      placeholder: "How many sailings were cancelled?", oninput: (event) => (draft.question = event.target.value)});
    this.evidence = h("textarea", {rows: "2", value: draft.evidence, maxlength: "16000",
      oninput: (event) => (draft.evidence = event.target.value)});
    const form = h("form.sheet.stack",
      {onsubmit: (event) => this.judge(event), onkeydown: (event) => this.shortcut(event)},
      field("Question", this.question),
      h("div.field", {role: "group", "aria-labelledby": "candidates-label"},
        h("span.label", {id: "candidates-label"}, "Candidates"), this.list,
        h("div.row.editors-more", h("button.plain.small", {type: "button", onclick: () => this.add("")},
          "Add a candidate"),
          h("button.plain.small", {type: "button", onclick: () => this.paste.showModal()}, "Paste several"))),
      h("details.more", h("summary", "Evidence and options"), h("div.options",
        field("Evidence", this.evidence,
          "What words of the question mean, for example: \"cancelled refers to status = 'C'\"."),
        Object.entries(OPTIONS).map(([name, option]) => field(option.label,
          select(option.values, draft[name], (event) => (draft[name] = event.target.value)), option.hint)))),
      h("div.row", this.submit, h("span.small.soft.keys", "Ctrl + Enter"), this.state));
    this.paste = this.pasteDialog();
    fill(this.root,
      h("div.screen-head", h("h1", "Judge"),
        h("p.lead",
          "Find the query that answers the question, its probability of being correct, "
            + "and the problems of the others.")),
      h("div.judge",
        h("aside.sheet.stack.schema", {"aria-label": "Database and schema"}, this.database,
          h("details.schema-fold", {open: !narrow.matches}, h("summary", "Schema"), this.schema)),
        form),
      this.output,
      this.paste);
    this.rebuild();
  }

  shortcut(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
  }

  rebuild() {
    fill(this.list, draft.candidates.map((sql, i) => {
      const made = editor(sql, `SQL of candidate ${i + 1}`, (text) => (draft.candidates[i] = text));
      return h("li.editor-row", h("span.editor-number.number", {"aria-hidden": "true"}, i + 1), made.element,
        draft.candidates.length > 1 ? h("button.icon", {type: "button", "aria-label": `Remove candidate ${i + 1}`,
          onclick: () => this.remove(i)}, h("span", {"aria-hidden": "true"}, "×")) : null);
    }));
  }

  areas() {
    return this.list.querySelectorAll("textarea");
  }

  add(sql) {
    if (draft.candidates.length >= MOST_CANDIDATES) return announce(`At most ${MOST_CANDIDATES} candidates`);
    draft.candidates.push(sql);
    this.rebuild();
    this.areas()[draft.candidates.length - 1].focus();
  }

  remove(index) {
    draft.candidates.splice(index, 1);
    this.rebuild();
    this.areas()[Math.min(index, draft.candidates.length - 1)].focus();
    announce(`Candidate ${index + 1} removed`);
  }

  pasteDialog() {
    const area = h("textarea.code", {rows: "10", id: newId("paste"), spellcheck: "false"});
    const take = (event) => {
      event.preventDefault();
      const found = queriesOf(area.value).slice(0, MOST_CANDIDATES);
      dialog.close();
      if (!found.length) return;
      draft.candidates = [...draft.candidates.filter((sql) => sql.trim()), ...found].slice(0, MOST_CANDIDATES);
      area.value = "";
      this.rebuild();
      announce(`${found.length} candidates added`);
    };
    const dialog = h("dialog.wide", {"aria-labelledby": "paste-title"}, h("form", {onsubmit: take},
      h("h2", {id: "paste-title"}, "Paste several candidates"),
      h("p.soft", "Separate the queries by semicolons or empty lines, or paste a JSON list."),
      h("label.unseen", {for: area.id}, "Queries"), area,
      h("div.actions", h("button.primary", {type: "submit"}, "Add"),
        h("button.quiet", {type: "button", onclick: () => dialog.close()}, "Cancel"))));
    return dialog;
  }

  // --- the database ---

  async loadDatabases() {
    let names = null;
    try {
      const {data} = await request("/v1/databases", {signal: this.leaving.signal});
      names = data.databases.map((one) => one.name);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      if (problem.status !== 404) return void fill(this.database, problemBox(problem, () => this.loadDatabases()));
    }
    const control = names ? select(names.map((name) => [name]), draft.db, (event) => this.choose(event.target.value))
      : h("input", {value: draft.db, autocomplete: "off", spellcheck: "false",
        onchange: (event) => this.choose(event.target.value.trim())});
    if (names && !names.includes(draft.db)) draft.db = names[0] ?? "";
    if (names) control.value = draft.db;
    fill(this.database, names && !names.length
      ? h("p.notice", "No database was found. Put each one into the folder of --db-root, as NAME/NAME.sqlite.")
      : field("Database", control, names ? null : "The name of the database in the fleet."));
    if (draft.db) this.choose(draft.db);
  }

  choose(name) {
    draft.db = name;
    this.schemaOf?.abort();
    this.schemaOf = new AbortController();
    if (name) showSchema(this.schema, name, this.schemaOf.signal);
  }

  // --- requests ---

  async judge(event) {
    event.preventDefault();
    const candidates = draft.candidates.map((sql) => sql.trim()).filter(Boolean);
    if (!draft.db) return this.fail(new Problem({title: "no database is selected",
      detail: "Enter the database that the question is about.", where: "Database", status: 400}));
    if (!candidates.length) {
      this.areas()[0].focus();
      return this.fail(new Problem({title: "there is no candidate", detail: "Enter at least one query.",
        where: "Candidates", status: 400}));
    }
    const body = {db: draft.db, question: draft.question, candidates, policy: draft.policy, repair: draft.repair,
      expose: draft.expose,
      meta: {question: draft.question, evidence: draft.evidence}};
    if (draft.evidence.trim()) body.evidence = draft.evidence;
    await this.ask("/v1/judge", body);
  }

  // Sends a request, waits for its verdict, and shows the verdict or the problem.
  async ask(path, body) {
    closeNote();
    this.busy(true);
    try {
      const sent = await request(`${path}?wait_ms=${WAIT_MS}`, {method: "POST", body, signal: this.leaving.signal});
      const verdict = sent.status === 202 ? await this.await(sent.data) : sent.data;
      this.show(verdict);
    } catch (problem) {
      if (problem.name !== "AbortError") this.fail(problem);
    } finally {
      this.busy(false);
    }
  }

  async await({id, location}) {
    for (let i = 0; i < MOST_ASKED; i++) {
      this.state.textContent = "This takes longer than usual …";
      await new Promise((resolve) => setTimeout(resolve, 1000));
      try {
        return (await request(location, {signal: this.leaving.signal})).data;
      } catch (problem) {
        if (problem.status !== 404) throw problem;
      }
    }
    throw new Problem({title: "there is no verdict yet",
      detail: `The request was accepted. Its verdict will be at #judge/${id}.`, where: location, status: 503});
  }

  async showVerdict(id) {
    try {
      const {data} = await request(`/v1/verdicts/${encodeURIComponent(id)}`, {signal: this.leaving.signal});
      this.adopt(data);
      this.show(data);
    } catch (problem) {
      if (problem.name !== "AbortError") this.fail(problem);
    }
  }

  // Fills the form with the request of this verdict.
  adopt(verdict) {
    draft.db = verdict.db ?? draft.db;
    draft.question = String(verdict.meta?.question ?? verdict.clarification?.request?.question ?? "");
    draft.evidence = String(verdict.meta?.evidence ?? "");
    draft.candidates = (verdict.candidates ?? []).map((one) => one.sql).slice(0, MOST_CANDIDATES);
    if (!draft.candidates.length) draft.candidates = [""];
    this.question.value = draft.question;
    this.evidence.value = draft.evidence;
    this.rebuild();
  }

  show(verdict) {
    fill(this.output, verdictView(verdict, {
      answer: (choice) => this.ask(`/v1/verdicts/${encodeURIComponent(verdict.id)}/answers`, {choice}),
      take: (sql) => this.add(sql),
    }));
    history.replaceState(null, "", `#judge/${encodeURIComponent(verdict.id)}`);
    this.output.querySelector("#verdict-title").focus({preventScroll: true});
    this.output.scrollIntoView({block: "start", behavior: "instant"});
  }

  fail(problem) {
    fill(this.output, problemBox(problem));
    this.output.scrollIntoView({block: "nearest"});
  }

  busy(is) {
    this.submit.disabled = is;
    fill(this.submit, is ? [h("span.busy", {"aria-hidden": "true"}), " Judging"] : "Judge");
    if (!is) this.state.textContent = "";
  }
}

const narrow = matchMedia("(max-width: 60rem)");
