// The screen of past runs.
import {h} from "./lib.js";

export function mount(root) {
  root.append(h("h1", "Runs"));
}
