// Shows the schema of a database as a tree: tables, columns, keys, sample values.
import {count, fill, h, newId, problemBox, request} from "./lib.js";

const OPEN_AT_FIRST = 4; // number of tables that are expanded at first
const FILTER_FROM = 8;   // number of tables from which on a filter is shown

export async function showSchema(root, name, signal) {
  fill(root, h("p.soft", h("span.busy", {"aria-hidden": "true"}), " Loading the schema …"));
  try {
    const {data} = await request(`/v1/databases/${encodeURIComponent(name)}`, {signal});
    fill(root, schemaTree(data));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    fill(root, problem.status === 404 && problem.code === "unknown_path"
      ? h("p.soft", "This server does not provide schemas.")
      : problemBox(problem, () => showSchema(root, name, signal)));
  }
}

function schemaTree(schema) {
  const references = referencesOf(schema.joins);
  const tables = schema.tables.map((table, i) => ({table, element: tableTree(table, references, i < OPEN_AT_FIRST)}));
  return [
    tables.length >= FILTER_FROM ? filterField(tables) : null,
    tables.length ? h("ul.tree", tables.map((one) => h("li", one.element)))
      : h("p.soft", "The database has no tables."),
    schema.left_out.tables ? h("p.small.soft",
      `${count(schema.left_out.tables, "table")} more are not shown, because there are too many.`) : null,
  ];
}

// Returns a map from each referring column, by table and column, to the column that it references.
function referencesOf(joins) {
  const references = new Map();
  for (const {from, to, declared} of joins)
    from.columns.forEach((column, i) => references.set(`${from.table}\0${column}`,
      {to: `${to.table}.${to.columns[i]}`, declared}));
  return references;
}

function tableTree(table, references, open) {
  return h("details.tree-table", {open}, h("summary", h("span.tree-name.code", table.name),
    h("span.small.soft", table.view ? "view" : typeof table.rows === "number" ? count(table.rows, "row") : "not read")),
    table.description ? h("p.small.soft", table.description) : null,
    h("ul", table.columns.map((column) => columnRow(column, references.get(`${table.name}\0${column.name}`)))));
}

function columnRow(column, reference) {
  return h("li.tree-column",
    h("div.tree-line", h("span.code", column.name),
      column.key ? h("span.mark", {title: "part of the primary key"}, "key") : column.unique
        ? h("span.mark", "unique") : null,
      h("span.tree-type", column.type.toLowerCase() || "any")),
    reference ? h("div.tree-reference.small", `→ ${reference.to}`, reference.declared ? null
      : h("span.soft", " (inferred)")) : null,
    column.full_name || column.description ? h("div.small.soft", [column.full_name, column.description].filter(Boolean)
      .join(": ")) : null,
    column.denied ? h("div.small.soft", "values are not shown")
      : column.samples?.length ? h("div.samples",
        column.samples.map((value) => h("span.sample", value === null ? "NULL" : String(value)))) : null);
}

function filterField(tables) {
  const input = h("input", {id: newId("filter"), type: "search", placeholder: "Find a table or column",
    "aria-label": "Find a table or column", oninput: () => {
    const wanted = input.value.trim().toLowerCase();
    for (const {table, element} of tables)
      element.parentElement.hidden = ![table.name, ...table.columns.map((column) => column.name)].some((name) =>
        name.toLowerCase().includes(wanted));
  }});
  return input;
}
