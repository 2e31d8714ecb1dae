// The frame of the page: shows the screen that location.hash names, and handles theme and token. A screen is a module
// with
//   export function mount(root, rest)   fills the empty element `root`. `rest` is the part of the hash after the
//                                       screen's name, such as "ID" of #judge/ID. May return a function that is called
//                                       before the screen is removed.
import {fill, h, problemBox, token} from "./lib.js";

const SCREENS = [
  {name: "judge", title: "Judge", load: () => import("./judge.js")},
  {name: "runs", title: "Runs", load: () => import("./runs.js")},
  {name: "fleet", title: "Fleet", load: () => import("./fleet.js")},
];

const main = document.getElementById("main");
let leave = null;
let turn = 0; // number of the latest navigation, so that a screen that loads slowly does not replace a later one

function place() {
  const [name, ...rest] = location.hash.replace(/^#/, "").split("/");
  const screen = SCREENS.find((one) => one.name === name) ?? SCREENS[0];
  return {screen, rest: decode(rest.join("/"))};
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const {screen, rest} = place();
  const mine = ++turn;
  leave?.();
  leave = null;
  document.title = `${screen.title} · Assay`;
  for (const link of document.querySelectorAll("#screens a"))
    if (link.hash === `#${screen.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  const root = h(`div.screen.screen-${screen.name}`);
  try {
    const module = await screen.load();
    if (mine !== turn) return;
    fill(main, root);
    leave = module.mount(root, rest) ?? null;
  } catch (error) {
    if (mine === turn) fill(main, problemBox(error));
  }
}

// --- the theme ---

// theme.js sets the theme before the first paint.
const isDark = () => document.documentElement.dataset.theme === "dark";

function themeSwitch() {
  const button = h("button.icon", {type: "button", onclick: () => choose(isDark() ? "light" : "dark")});
  const label = () => {
    button.setAttribute("aria-label", isDark() ? "Light theme" : "Dark theme");
    button.title = isDark() ? "Light theme" : "Dark theme";
    fill(button, h("span", {"aria-hidden": "true"}, isDark() ? "☀" : "☾"));
  };
  const choose = (theme) => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
    label();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}

// --- the token ---

function tokenDialog() {
  const input = h("input", {type: "password", id: "token", autocomplete: "off", spellcheck: "false"});
  const dialog = h("dialog.token", {"aria-labelledby": "token-title"},
    h("form", {onsubmit: keep},
      h("h2", {id: "token-title"}, "Access token"),
      h("p",
        "This server requires an access token. The token stays in this tab and is deleted when the tab is closed."),
      h("label", {for: "token"}, "Token"), input,
      h("div.actions", h("button.primary", {type: "submit"}, "Use token"),
        h("button.quiet", {type: "button", onclick: () => dialog.close()}, "Cancel"))));
  function keep(event) {
    event.preventDefault();
    dialog.close();
    token.set(input.value.trim());
    input.value = "";
    button.hidden = false;
    show();
  }
  const button = h("button.quiet", {type: "button", hidden: !token.get(), onclick: () => dialog.showModal()}, "Token");
  window.addEventListener("assay:token", () => {
    button.hidden = false;
    if (!dialog.open) dialog.showModal();
  });
  document.body.append(dialog);
  return button;
}

fill(document.getElementById("screens"), SCREENS.map((screen) => h("a", {href: `#${screen.name}`}, screen.title)));
fill(document.getElementById("top-end"), tokenDialog(), themeSwitch());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the link must not change the hash, which names the screen
  main.focus();
});
window.addEventListener("hashchange", show);
show();
