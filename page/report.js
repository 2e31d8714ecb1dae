// The page of `assay report --html`, which shows one run without a server. Its data is the JSON in the element #report.
import {fill, h} from "./lib.js";
import {showRun, wholeSource} from "./run.js";

const source = wholeSource(JSON.parse(document.getElementById("report").textContent),
  (number) => (number ? `#verdicts/${number}` : "#"));

function show() {
  const [, number] = /^#verdicts\/([0-9]+)$/.exec(location.hash) ?? [];
  const root = h("div.screen");
  fill(document.getElementById("main"), root);
  showRun(root, source, number);
  scrollTo(0, 0);
}

window.addEventListener("hashchange", show);
show();
