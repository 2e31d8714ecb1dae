// The note of the page: a tooltip beside an element. Pointer and focus show it, a click pins it, and Escape closes it.
import {fill, h} from "./lib.js";

let note = null, owner = null, pinned = false, leaving = 0;

// Attaches a note to an element. `build` returns the content of the note when it is shown.
export function attachNote(element, build) {
  const open = (pin) => openNote(element, build, pin);
  element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && !pinned && open(false));
  element.addEventListener("pointerleave", () => !pinned && closeSoon());
  element.addEventListener("focus", () => element.matches(":focus-visible") && open(false));
  element.addEventListener("blur", () => !pinned && closeSoon());
  element.addEventListener("click", () => (owner === element && pinned ? closeNote() : open(true)));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (owner === element && pinned) closeNote();
    else open(true);
  });
}

function openNote(element, build, pin) {
  clearTimeout(leaving);
  note ??= makeNote();
  owner?.setAttribute("aria-expanded", "false");
  owner?.removeAttribute("aria-describedby");
  owner = element;
  pinned = pin;
  fill(note, build());
  document.getElementById("main").append(note);
  note.hidden = false;
  element.setAttribute("aria-expanded", "true");
  element.setAttribute("aria-describedby", note.id);
  place(element);
}

function makeNote() {
  const made = h("div.note", {id: "note", role: "tooltip", hidden: true, onpointerenter: () => clearTimeout(leaving),
    onpointerleave: () => !pinned && closeSoon()});
  document.addEventListener("keydown", (event) => event.key === "Escape" && closeNote());
  document.addEventListener("pointerdown", (event) => owner && !made.contains(event.target)
    && !owner.contains(event.target) && closeNote());
  window.addEventListener("hashchange", closeNote);
  return made;
}

// Places the note below the element, or above it if there is more space. The note is never wider than the window.
function place(element) {
  const lines = element.getClientRects(), at = lines[lines.length - 1] ?? element.getBoundingClientRect();
  const width = Math.min(416, document.documentElement.clientWidth - 16);
  note.style.setProperty("--width", `${width}px`);
  const height = note.offsetHeight, below = window.innerHeight - at.bottom;
  const top = below >= height + 12 || below > at.top ? at.bottom + 6 : at.top - height - 6;
  const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
  note.style.setProperty("--top", `${top + window.scrollY}px`);
  note.style.setProperty("--left", `${left + window.scrollX}px`);
}

function closeSoon() {
  clearTimeout(leaving);
  leaving = setTimeout(closeNote, 150); // long enough to move the pointer onto the note
}

export function closeNote() {
  clearTimeout(leaving);
  owner?.setAttribute("aria-expanded", "false");
  owner?.removeAttribute("aria-describedby");
  if (note) note.hidden = true;
  owner = null;
  pinned = false;
}
