// Helpers for all screens: elements, requests, problems. Untrusted text (SQL, questions, values, findings) only becomes
// text nodes: nothing here or in a screen parses HTML. Invisible characters are shown as escapes such as \u202e, as in
// the rest of the program (lib/base/invisible.c has the list). So no text can reverse the direction of another text.

// Returns an element, such as h("p.note", {title: "..."}, "text", child): a tag with classes, attributes or listeners
// (on...), and children. Omits children that are null or false. Other values that are not nodes become text.
export function h(spec, ...rest) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  const first = rest[0];
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) set(element,
    rest.shift());
  append(element, rest);
  return element;
}

// Returns an SVG element with classes, attributes and children.
export function svg(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  append(element, children);
  return element;
}

// Sets listeners ("onclick"), form properties and `style` (custom properties) by name; every other key is an attribute.
// Skips values that are null, undefined or false.
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : legible(String(child)));
  }
}

const INVISIBLE = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f" +
  "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}" +
  "\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\ud800-\\udfff]", "gu");

export function legible(text) {
  return text.replace(INVISIBLE, (character) => {
    const hex = character.codePointAt(0).toString(16);
    return hex.length > 4 ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  });
}

// Replaces the content of an element.
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

let ids = 0;
// Returns a unique id, for attributes such as `for` and `aria-labelledby`.
export function newId(prefix) {
  return `${prefix}-${++ids}`;
}

// Returns a field with a label. `control` gets an id, and screen readers read `hint` with it.
export function field(label, control, hint) {
  control.id ||= newId("field");
  const note = hint ? h("p.hint", {id: newId("hint")}, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div.field", h("label", {for: control.id}, label), control, note);
}

export function select(options, chosen, onchange) {
  return h("select", {onchange},
    options.map(([value, text]) => h("option", {value, selected: value === chosen}, text ?? value)));
}

// Announces a change to users of screen readers.
export function announce(text) {
  let region = document.getElementById("announcer");
  if (!region) document.body.append((region = h("div.unseen",
    {id: "announcer", role: "status", "aria-live": "polite"})));
  region.textContent = text;
}

// --- numbers ---

// Formats a probability. "1.00" and "0.00" appear only for exactly 1 and 0.
export function probability(p) {
  if (typeof p !== "number") return "–";
  if (p > 0.995 && p < 1) return "> 0.99";
  if (p > 0 && p < 0.005) return "< 0.01";
  return p.toFixed(2);
}

export function count(n, one, many) {
  return `${typeof n === "number" ? n.toLocaleString("en") : "–"} ${n === 1 ? one : (many ?? one + "s")}`;
}

export function milliseconds(ms) {
  if (typeof ms !== "number") return "–";
  if (ms > 0 && ms < 0.1) return "< 0.1 ms";
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

// --- requests ---

// An error for users: what failed, where, and what to do. If the server sent the error, it has the fields of
// problem+json (RFC 9457).
export class Problem extends Error {
  constructor({status = 0, title, code, detail, hint, where}) {
    super(title);
    Object.assign(this, {status, title, code, detail, hint, where});
  }
}

const ADVICE = {
  0: "Check that the program is still running, then reload this page.",
  400: "Correct the error that the message names, then try again.",
  401: "Enter the access token from the operator of this server.",
  403: "The token does not allow this. Ask the operator, or select another database.",
  404: "Verdicts are kept in memory for a limited time only. Judge again.",
  413: "Send fewer or shorter candidates.",
  421: "Open this page as http://127.0.0.1 or http://localhost.",
  422: "The request is a dead letter now. The operator can inspect the dead letters.",
  429: "Wait a moment, then try again.",
  503: "Wait a moment, then try again.",
};

export function adviceFor(problem) {
  return problem.hint ?? ADVICE[problem.status] ?? "Try again. If the error persists, see the log of the server.";
}

export function problemBox(problem, retry) {
  const known = problem instanceof Problem ? problem
    : new Problem({title: "this page failed", detail: String(problem), where: "the page"});
  return h("section.problem", {role: "alert"},
    h("h2.problem-title", sentence(known.title ?? "something went wrong")),
    known.detail ? h("p", known.detail) : null,
    h("p.problem-advice", adviceFor(known), retry ? h("button.quiet", {type: "button", onclick: retry},
      "Try again") : null),
    h("p.problem-where", [known.where, known.status ? `status ${known.status}` : null, known.code].filter(Boolean)
      .join(" · ")));
}

// Capitalises the first letter, unless the text begins with a name ("s.status").
export function sentence(text) {
  return /^[\p{Ll}]+(?![\p{L}\p{N}_.`"(])/u.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

// The bearer token of the user. It is stored as long as the tab is open.
const TOKEN = "assay-token";
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (text) => (text ? sessionStorage.setItem(TOKEN, text) : sessionStorage.removeItem(TOKEN)),
};

// Sends a request and returns {status, data}. Sends `body` as JSON, or unchanged if `type` is given. `data` is parsed
// JSON, or text for other content types. Throws Problem. On 401, dispatches "assay:token" on the window, so that a
// listener may request a token.
export async function request(path, {method = "GET", body, type: sent, accept = "application/json", signal} = {}) {
  const headers = {Accept: accept};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["Content-Type"] = sent ?? "application/json";
  const where = `${method} ${path}`;
  let response, text;
  try {
    response = await fetch(path, {method, headers, body: body === undefined || sent ? body : JSON.stringify(body),
      signal, cache: "no-store"});
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({title: "the server does not answer",
      detail: "The connection was refused or interrupted.", where});
  }
  const type = response.headers.get("Content-Type") ?? "";
  const data = /\bjson\b/.test(type) ? parse(text, where) : text;
  if (response.ok) return {status: response.status, data};
  if (response.status === 401) window.dispatchEvent(new Event("assay:token"));
  const said = typeof data === "object" && data ? data : {};
  throw new Problem({status: response.status, title: said.title ?? `status ${response.status}`, code: said.code,
    detail: said.detail, hint: said.hint, where});
}

function parse(text, where) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({title: "the response cannot be read", detail: "The response is not valid JSON.", where});
  }
}
