// The screen that judges: a database, a question, candidates; then the verdict.
import {h} from "./lib.js";

export function mount(root) {
  root.append(h("h1", "Judge"));
}
