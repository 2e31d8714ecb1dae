// Sets the theme before the first paint, so that no other theme is visible first. This is a classic script, because
// modules run only after the document is parsed. The style sheet reads one attribute, which has the choice of the user
// or else the preference of the system.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const chosen = localStorage.getItem("theme");
    document.documentElement.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark"
      : "light";
  };
  dark.addEventListener("change", apply);
  apply();
})();
