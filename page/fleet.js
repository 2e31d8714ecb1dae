// The screen of the fleet, or of this process where it stands alone.
import {h} from "./lib.js";

export function mount(root) {
  root.append(h("h1", "Fleet"));
}
