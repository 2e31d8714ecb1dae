// Shows SQL in colour, with marks at byte spans, in an editor, and as the difference of two queries.
import {fill, h, newId} from "./lib.js";

const KEYWORDS = new Set((
  "all and any as asc between by case cast cross current_date current_time current_timestamp desc distinct else end " +
  "escape except exists extract false fetch filter first following for from full glob group having if ilike in " +
  "inner intersect is isnull join last lateral left like limit natural not notnull null nulls offset on only or " +
  "order outer over partition preceding range recursive right row rows select similar some then to true unbounded " +
  "union unique using values when where window with").split(" "));

// The kind of token that each group of TOKEN matches, in order.
const KINDS = ["comment", "string", "name", "number", "word", "space", "other"];
const TOKEN = new RegExp([
  "(--[^\\n]*|/\\*[^]*?(?:\\*/|$))", "('(?:[^']|'')*'?)", "(\"(?:[^\"]|\"\")*\"?|`[^`]*`?|\\[[^\\]]*\\]?)",
  "(\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)", "([\\p{L}_][\\p{L}\\p{N}_$]*)", "(\\s+)", "([^])"].join("|"), "gu");

// Splits the whole text into tokens. Returns [{text, start, kind}] in order; `start` counts UTF-16 units, as strings
// do.
export function tokens(text) {
  return Array.from(text.matchAll(TOKEN), (match) => {
    const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)];
    const keyword = kind === "word" && KEYWORDS.has(match[0].toLowerCase());
    return {text: match[0], start: match.index, kind: keyword ? "keyword" : kind};
  });
}

function coloured(kind, text) {
  return kind === "keyword" || kind === "string" || kind === "number" || kind === "comment"
    ? h(`span.sql-${kind}`, text) : text;
}

// Returns a function that converts byte offsets in UTF-8 to UTF-16 units. Spans of findings have byte offsets, and
// strings count units. The result is never past the end or inside a character.
export function unitsOf(text) {
  const starts = [], units = [];
  let bytes = 0, unit = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    starts.push(bytes);
    units.push(unit);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    unit += character.length;
  }
  starts.push(bytes);
  units.push(unit);
  return (byte) => {
    let low = 0, high = starts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] < byte) low = middle + 1;
      else high = middle;
    }
    return units[low];
  };
}

// Divides the text at the marks, {start, end} in bytes. Returns the stretches in order: [{start, end, marks, ending}],
// in UTF-16 units. `marks` are the marks that cover a stretch. `ending` are those of them that end where it ends.
export function stretches(text, marks) {
  const unit = unitsOf(text);
  const placed = marks.map((mark) => ({mark, start: unit(mark.start), end: unit(mark.end)}))
    .filter((one) => one.start < one.end);
  const covering = (start, end) => placed.filter((one) => one.start <= start && one.end >= end);
  const cuts = [...new Set([0, text.length, ...placed.flatMap((one) => [one.start, one.end])])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, i) => {
    const here = covering(cuts[i], end);
    return {start: cuts[i], end, marks: here.map((one) => one.mark), ending: here.filter((one) => one.end === end)
      .map((one) => one.mark)};
  });
}

// Returns the coloured text as children of an element. wrap(marks, children, ending) makes the element of a stretch
// that has marks.
export function colouredSql(text, marks = [], wrap = null) {
  const all = tokens(text);
  let next = 0;
  return stretches(text, marks).map((stretch) => {
    const parts = [];
    while (next < all.length && all[next].start < stretch.end) {
      const token = all[next], end = token.start + token.text.length;
      parts.push(coloured(token.kind, text.slice(Math.max(token.start, stretch.start), Math.min(end, stretch.end))));
      if (end > stretch.end) break;
      next++;
    }
    return stretch.marks.length && wrap ? wrap(stretch.marks, parts, stretch.ending) : parts;
  });
}

export function sqlBlock(text) {
  return h("pre.sql", {tabindex: "0", role: "group", "aria-label": "SQL"}, h("code", colouredSql(text)));
}

// --- the editor ---

// Returns an editor: a textarea with transparent letters over the same text in colour. So the browser handles caret,
// selection, undo and keyboard. Both are in one cell of a grid, and the coloured text determines their size.
export function editor(value, label, oninput) {
  const shown = h("pre.sql.editor-shown", {"aria-hidden": "true"});
  const area = h("textarea.editor-area", {id: newId("sql"), "aria-label": label, spellcheck: "false",
    autocapitalize: "off", autocomplete: "off",
    rows: "1", value, placeholder: "SELECT …"});
  const colour = () => fill(shown, tokens(area.value).map((token) => rawToken(token)), document.createTextNode("\n"));
  area.addEventListener("input", () => {
    colour();
    oninput(area.value);
  });
  colour();
  return {element: h("div.editor", shown, area), area};
}

// Returns the element of a token, with its text unchanged. If a character were replaced, the letters would no longer
// match the caret.
function rawToken({kind, text}) {
  const node = document.createTextNode(text);
  return kind === "keyword" || kind === "string" || kind === "number" || kind === "comment"
    ? h(`span.sql-${kind}`, node) : node;
}

// --- several queries ---

// Divides pasted text into queries. The text is a JSON list of strings or {sql}; otherwise the queries are separated by
// semicolons or by empty lines.
export function queriesOf(text) {
  const listed = readList(text);
  if (listed) return listed;
  const queries = [];
  let query = "", semicolons = false;
  for (const token of tokens(text)) {
    const ends = token.text === ";" && token.kind === "other";
    semicolons ||= ends;
    if (ends) queries.push(query), (query = "");
    else query += token.text;
  }
  queries.push(query);
  const parts = semicolons ? queries : text.split(/\n[ \t]*\n/);
  return parts.map((part) => part.trim()).filter(Boolean);
}

function readList(text) {
  try {
    const list = JSON.parse(text);
    const queries = Array.isArray(list) ? list.map((one) => (typeof one === "string" ? one : one?.sql)) : null;
    return queries?.every((one) => typeof one === "string") ? queries : null;
  } catch {
    return null;
  }
}

// --- a difference ---

// maximum number of tokens of a side, without the common beginning and end; the size of the table is the product of
// both numbers
const MOST_COMPARED = 1200;

// Returns the difference as [{text, side}], with side "both", "was" or "now".
export function difference(was, now) {
  const a = tokens(was).map((token) => token.text), b = tokens(now).map((token) => token.text);
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const one = a.slice(head, a.length - tail), other = b.slice(head, b.length - tail);
  const middle = one.length <= MOST_COMPARED && other.length <= MOST_COMPARED ? compare(one, other)
    : [{text: one.join(""), side: "was"}, {text: other.join(""), side: "now"}];
  return [...a.slice(0, head).map(both), ...middle, ...a.slice(a.length - tail).map(both)];
}

const both = (text) => ({text, side: "both"});

// Returns the difference of two lists of tokens, by their longest common subsequence.
function compare(a, b) {
  const width = b.length + 1, best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j],
        best[i * width + j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length)
    if (i < a.length && j < b.length && a[i] === b[j]) out.push(both(a[i++])), j++;
    else if (j === b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) out.push(
      {text: a[i++], side: "was"});
    else out.push({text: b[j++], side: "now"});
  return out;
}

export function differenceBlock(was, now) {
  const parts = difference(was, now).map(({text, side}) =>
    side === "both" ? text : h(side === "was" ? "del" : "ins",
      h("span.unseen", side === "was" ? " [was] " : " [now] "), text));
  return h("pre.sql", {tabindex: "0", role: "group", "aria-label": "What the repair changes"}, h("code", parts));
}
