// Small charts as SVG. Each is a figure with a description in words, the drawing, and the same numbers as a table.
import {field, fill, h, newId, svg} from "./lib.js";

const WIDTH = 400, HEIGHT = 230, LEFT = 56, RIGHT = 14, TOP = 12, BOTTOM = 38;
const percent = (share, digits = 0) => (typeof share === "number" ? `${(100 * share).toFixed(digits)} %` : "–");

// Convert shares (0 to 1) to coordinates of the drawing.
const x = (share) => LEFT + share * (WIDTH - LEFT - RIGHT);
const y = (share) => HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);

function figure(title, note, drawing, table, ...more) {
  const name = newId("chart");
  return h("figure.chart.sheet.stack", {"aria-labelledby": name},
    h("figcaption", h("h2", {id: name}, title), h("p.hint", note)), drawing, more,
    h("details.small", h("summary", "As a table"),
      h("div.scroll", {tabindex: "0", role: "region", "aria-label": `${title}, as a table`}, table)));
}

function drawing(title, description, ...parts) {
  const ids = [newId("title"), newId("desc")];
  return svg("svg.drawing", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-labelledby": ids.join(" ")},
    svg("title", {id: ids[0]}, title), svg("desc", {id: ids[1]}, description), parts);
}

function axes(across, up, atX, atY) {
  return [
    atY.map(([share, text]) => [
      svg("line.grid", {x1: x(0), x2: x(1), y1: y(share), y2: y(share)}),
      svg("text.tick", {x: x(0) - 6, y: y(share) + 4, "text-anchor": "end"}, text)]),
    atX.map(([share, text]) => svg("text.tick", {x: x(share), y: y(0) + 16, "text-anchor": "middle"}, text)),
    svg("text.axis", {x: x(0.5), y: HEIGHT - 4, "text-anchor": "middle"}, across),
    svg("text.axis", {x: 10, y: y(0.5), "text-anchor": "middle", transform: `rotate(-90 10 ${y(0.5)})`}, up)];
}

const QUARTERS = [0, 0.25, 0.5, 0.75, 1];
const ofShares = QUARTERS.map((share) => [share, percent(share)]);

// Formats a count: 1234 becomes "1,234", and 59152 becomes "59.2K".
const short = (n) => (n >= 1e4 ? new Intl.NumberFormat("en", {notation: "compact", maximumFractionDigits: 1}).format(n)
  : n.toLocaleString("en"));

// Returns a table. A heading that begins with "#" marks a column of numbers.
export function table(heads, rows) {
  const numeric = heads.map((head) => head.startsWith("#"));
  return h("table", h("thead",
    h("tr", heads.map((head, i) => h(numeric[i] ? "th.number" : "th", {scope: "col"}, numeric[i] ? head.slice(1)
      : head)))),
    h("tbody", rows.map((row) => h("tr", row.map((cell, i) => h(numeric[i] ? "td.number" : "td", cell))))));
}

// Shows the distribution of P. `bins` has counts over equal parts of 0 to 1.
export function histogram(title, note, bins) {
  const most = Math.max(1, ...bins), n = bins.length, total = bins.reduce((sum, one) => sum + one, 0);
  const highest = bins.indexOf(most);
  const bars = bins.map((count, i) => svg("rect.mark", {x: x(i / n) + 1, width: x(1 / n) - x(0) - 2, y: y(count / most),
    height: y(0) - y(count / most)},
    svg("title", {}, `P ${(i / n).toFixed(2)} to ${((i + 1) / n).toFixed(2)}: ${count.toLocaleString("en")}`)));
  const says = total
    ? `The largest group of ${total.toLocaleString("en")} answers has P between ${(highest / n).toFixed(2)} and `
      + `${((highest + 1) / n).toFixed(2)}.`
    : "No answers.";
  return figure(title, note,
    drawing(title, says, axes("P(correct)", "answers", QUARTERS.map((share) => [share, share]),
      [[0, "0"], [0.5, short(Math.round(most / 2))], [1, short(most)]]), bars),
    table(["#P from", "#to", "#answers"],
      bins.map((count, i) => [(i / n).toFixed(2), ((i + 1) / n).toFixed(2), count.toLocaleString("en")])));
}

// Shows the calibration of P. `reliability` is the member of the report of assay eval: values in percent, null for an
// empty bin.
export function reliabilityChart(reliability) {
  const bins = reliability.bins.filter((bin) => bin.n), most = Math.max(1, ...bins.map((bin) => bin.n));
  const title = "Calibration of P(correct)";
  const dots = bins.map((bin) => {
    const at = x(bin.p / 100), [low, high] = bin.interval.map((bound) => y(bound / 100));
    return svg("g", {}, svg("line.spread", {x1: at, x2: at, y1: low, y2: high}),
      svg("circle.mark", {cx: at, cy: y(bin.right / 100), r: 3 + 5 * Math.sqrt(bin.n / most)},
        svg("title", {},
          `P ${bin.from.toFixed(1)} to ${bin.to.toFixed(1)}: ${bin.right.toFixed(0)} % of `
            + `${bin.n.toLocaleString("en")} are right`)));
  });
  return figure(title,
    "Share of right answers by P. On the line, both are equal. "
      + `The average difference is ${reliability.ece.toFixed(1)} points over `
      + `${reliability.n.toLocaleString("en")} answers.`,
    drawing(title, bins.map((bin) => `P ${(bin.p / 100).toFixed(2)}: ${bin.right.toFixed(0)} % right.`).join(" "),
      axes("P(correct)", "right", ofShares, ofShares), svg("line.ideal", {x1: x(0), y1: y(0), x2: x(1), y2: y(1)}),
      dots),
    table(["#P from", "#to", "#answers", "#mean P", "#right", "#95 % from", "#to"],
      bins.map((bin) => [bin.from.toFixed(1), bin.to.toFixed(1), bin.n.toLocaleString("en"),
      (bin.p / 100).toFixed(3), `${bin.right.toFixed(1)} %`, bin.interval[0].toFixed(1), bin.interval[1].toFixed(1)])));
}

// Describes whether the labelled answers support the guarantee for the alpha of `promise` (docs/guarantee.md).
function promiseText(coverage, promise) {
  const confidence = `with confidence ${percent(1 - coverage.delta)}`;
  const most = `At most ${percent(promise.alpha, 1)} of the answers wrong, ${confidence}`;
  if (!promise.held)
    return `${most}: not enough answers. `
      + (promise.needed
        ? `About ${promise.needed.toLocaleString("en")} labelled answers like these would be enough; `
          + `this run has ${coverage.answers.toLocaleString("en")}.`
      : "The quarter with the highest P is wrong too often, whatever the number of answers.");
  return `${most}: holds from P ${promise.threshold.toFixed(3)}. ` +
    `This answers ${percent(promise.answered / coverage.requests, 1)} of the requests; ` +
    `${promise.wrong.toLocaleString("en")} of these ${promise.answered.toLocaleString("en")} answers are wrong.`;
}

// Shows the share of wrong answers for each share of requests that is answered, highest P first. A slider sets the
// acceptable share of wrong answers.
export function riskChart(coverage) {
  const title = "Risk against coverage";
  const points = coverage.points, worst = Math.max(0.05, ...points.map((point) => point[2]));
  const top = Math.min(1, Math.ceil(worst * 10) / 10), at = (share) => y(share / top);
  const path = points.map(([, covered, risk], i) => `${i ? "L" : "M"}${x(covered).toFixed(1)} ${at(risk).toFixed(1)}`)
    .join("");
  const bound = svg("line.bound", {x1: x(0), x2: x(1)}), given = svg("line.given", {y1: y(0), y2: y(1)});
  const said = h("p.promise", {"aria-live": "polite"});
  const slider = h("input", {type: "range", min: 0, max: coverage.promises.length - 1, step: 1, value: 9,
    oninput: show});
  function show() {
    const promise = coverage.promises[slider.value], height = at(Math.min(promise.alpha, top));
    slider.setAttribute("aria-valuetext", percent(promise.alpha, 1));
    for (const name of ["y1", "y2"]) bound.setAttribute(name, height);
    given.classList.toggle("absent", !promise.held);
    for (const name of ["x1", "x2"]) given.setAttribute(name,
      x(promise.held ? promise.answered / coverage.requests : 0));
    fill(said, promiseText(coverage, promise));
  }
  show();
  const last = points[points.length - 1];
  return figure(title, "Share of wrong answers if only the answers with the highest P are given." +
      (coverage.answers < coverage.of
        ? ` Of a sample: ${coverage.answers.toLocaleString("en")} of ${coverage.of.toLocaleString("en")}.` : ""),
    drawing(title, `If all answers are given, ${percent(last[2], 1)} are wrong.`,
      axes("requests answered", "wrong", ofShares, [0, 0.5, 1].map((share) => [share, percent(share * top)])),
      svg("path.curve", {d: path}), bound, given),
    table(["#least P", "#answered", "#wrong"], points.filter((_, i) => i % 10 === 9 || i === points.length - 1)
      .map(([p, covered, risk]) => [p.toFixed(3), percent(covered, 1), percent(risk, 1)])),
    field("Acceptable share of wrong answers (alpha)", slider), said,
    h("p.hint",
      "This applies to similar questions from the same systems, judged by the same models. "
        + "To get this guarantee, run assay calibrate."));
}

// Shows counts as bars, one for each row [name, count, class]. If `choose` is given, a click calls choose(name).
export function bars(title, rows, choose) {
  const total = rows.reduce((sum, row) => sum + row[1], 0);
  return h("section.sheet.stack", h("h2", title), h("ul.bars", rows.map(([name, n, voice]) => h("li",
    choose ? h("button.plain", {type: "button", onclick: () => choose(name)}, name) : h("span", name),
    h("span.number", n.toLocaleString("en")), h("span.number.soft", total ? percent(n / total, 1) : ""),
    svg(`svg.bar${voice ? "." + voice : ""}`,
      {viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true"},
      svg("rect.sunk", {width: 100, height: 6}),
      svg("rect.mark", {width: total ? (100 * n) / total : 0, height: 6}))))));
}
