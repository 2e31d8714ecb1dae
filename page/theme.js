// Before the first paint, so that no theme flashes. Classic, since modules wait for the document. The style sheet knows
// one attribute: what the reader chose, or else what his system prefers.
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
