// Texts that would act if a page did not treat them as plain text. Each tries to set window.hit.
const SCRIPT = "window.hit=1";

const TAGS = ["img src=x onerror", "svg onload", "body onload", "input autofocus onfocus", "video src=x onerror",
  "audio src=x onerror", "details open ontoggle",
  "marquee onstart", "iframe onload", "object data=x onerror", "select autofocus onfocus", "textarea autofocus onfocus",
  "style onload", "link rel=stylesheet href=x onerror",
  "math onmouseover", "table background=x onerror", "button autofocus onfocus", "dialog open onfocus",
  "keygen autofocus onfocus", "a autofocus href=x onfocus"];
const AROUND = [(t) => t, (t) => `">${t}`, (t) => `'>${t}`, (t) => `</textarea>${t}`,
  (t) => `</title></style></script>${t}`];
const OTHERS = [
  `<script>${SCRIPT}</script>`, `<SCRIPT SRC=//127.0.0.1:1/x.js></SCRIPT>`, `<script type=module>${SCRIPT}</script>`,
  `javascript:${SCRIPT}`,
  `<a href="javascript:${SCRIPT}">x</a>`, `<iframe srcdoc="<script>parent.hit=1</script>">`,
  `<base href=//127.0.0.1:1/>`, `<meta http-equiv=refresh content="0;url=javascript:${SCRIPT}">`,
  `<form action=//127.0.0.1:1/><button autofocus>x`, `\${${SCRIPT}}`, `{{constructor.constructor('${SCRIPT}')()}}`,
  `#{${SCRIPT}}`, `'-${SCRIPT}-'`, `";${SCRIPT};//`, `\`-${SCRIPT}-\``,
  `<style>*{background:url(//127.0.0.1:1/css)}</style>`, `<link rel=preload as=image href=//127.0.0.1:1/p>`,
  `<template><script>${SCRIPT}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${SCRIPT}>">`,
  `<math><mtext></form><form><mglyph><style></math><img src=x onerror=${SCRIPT}>`,
  `<svg><animate onbegin=${SCRIPT} attributeName=x dur=1s>`, `<svg><script href=data:,${SCRIPT} />`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${SCRIPT}/>#x">`,
  `<object data="data:text/html,<script>parent.hit=1</script>">`,
  `<embed src="data:text/html,<script>${SCRIPT}</script>">`, `<img src="data:image/svg+xml,<svg onload=${SCRIPT}>">`,
  `<div style="background:url(javascript:${SCRIPT})">`, `<x onclick=${SCRIPT} style=position:fixed;inset:0>`,
  `<!--><img src=x onerror=${SCRIPT}>-->`, `<![CDATA[<img src=x onerror=${SCRIPT}>]]>`,
  `&lt;img src=x onerror=${SCRIPT}&gt;`, `\\u003cimg src=x onerror=${SCRIPT}\\u003e`,
  `%3Cimg src=x onerror=${SCRIPT}%3E`, `+ADw-script+AD4-${SCRIPT}+ADw-/script+AD4-`,
  `__proto__`, `constructor`, `toString`, `\u202e<img src=x onerror=${SCRIPT}>`, `\u2066x\u2069\u200b\ufeff`,
  `\u{e0041}\u{e0042}`,
  `${"A".repeat(3000)}`, `${"<b>".repeat(500)}`, `${"\u0301".repeat(200)}`, `\uD83D\uDE00<img src=x onerror=${SCRIPT}>`,
  `\t\n<img\nsrc=x\nonerror=${SCRIPT}>`,
];

// 100 different payloads.
export const PAYLOADS = [...AROUND.flatMap((around, i) => TAGS.filter((_, j) => (j + i) % 2 === 0 || i < 1)
  .map((tag) => around(`<${tag}=${SCRIPT}>`))), ...OTHERS].slice(-100);
