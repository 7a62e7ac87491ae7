// Contrast of every text, names of every control, and boxes that leave the page.
() => {
  const parse = (c) => { const m = c.match(/rgba?\(([^)]+)\)/); if (!m) return null; const p = m[1].split(/[ ,/]+/).map(Number); return [p[0], p[1], p[2], p[3] ?? 1]; };
  const channel = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = (e) => {
    const found = [];
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c && c[3] > 0) { found.push(c); if (c[3] === 1) break; } }
    let color = [255, 255, 255, 1];
    while (found.length) color = over(found.pop(), color);
    return color;
  };
  const ratio = (a, b) => { const x = light(a), y = light(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const visible = (e) => { const r = e.getBoundingClientRect(), s = getComputedStyle(e); return r.width > 1 && r.height > 1 && s.visibility !== "hidden" && s.display !== "none" && e.checkVisibility(); };
  const faint = new Set();
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.textContent.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName) || !visible(e) || e.closest(".sr, .skip-link")) continue;
    const style = getComputedStyle(e), svg = e instanceof SVGElement;
    const ink = parse(svg ? style.fill : style.color), paper = ground(svg ? e.ownerSVGElement.closest("div, a, section") : e);
    if (svg && e.classList.contains("here")) continue;
    texts++;
    const found = ratio(over(ink, paper), paper);
    if (found < 4.5) faint.add(`${e.className.baseVal ?? e.className}: ${found.toFixed(2)} ${node.textContent.trim().slice(0, 30)}`);
  }
  const controls = [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, summary, a[href]")];
  const nameless = controls.filter((e) => visible(e) && !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML.slice(0, 80));
  const width = document.documentElement.clientWidth;
  const clipped = (e) => { for (e = e.parentElement; e; e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible" && e.getBoundingClientRect().right <= width + 1) return true; return false; };
  const wide = [...document.querySelectorAll("body *")].filter((e) => { const r = e.getBoundingClientRect(); return r.width && r.right > width + 1 && !e.closest(".scroll-x, .chips, .tabs, .sr, svg, .log, pre, .skip-link") && !clipped(e); }).map((e) => `${e.tagName}.${e.className.baseVal ?? e.className}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const small = width > 500 ? [] : controls.filter((e) => e.matches(".btn, .chip, .bottombar a, .seg a") && visible(e)).filter((e) => { const r = e.getBoundingClientRect(); return r.height < 32 || r.width < 32; }).map((e) => e.className);
  // Headings go down one level at a time; landmarks of one kind have names of their own; every reference leads to something.
  const structure = [];
  let level = 0;
  for (const e of [...document.querySelectorAll("h1, h2, h3, h4")].filter((e) => visible(e) && !e.closest(".rail, dialog"))) {
    const found = Number(e.tagName[1]);
    if (found > level + 1) structure.push(`level ${found} after ${level}: ${e.textContent.trim().slice(0, 30)}`);
    level = found;
  }
  if (document.querySelectorAll("main").length !== 1) structure.push("not one main");
  if (!document.documentElement.lang) structure.push("no lang");
  if (!document.title.trim()) structure.push("no title");
  for (const e of document.querySelectorAll("th:not([scope])")) structure.push(`th without scope: ${e.textContent.slice(0, 30)}`);
  for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby], label[for]")) for (const name of ["aria-labelledby", "aria-describedby", "for"])
    for (const id of (e.getAttribute(name) ?? "").split(" ").filter(Boolean)) if (!document.getElementById(id)) structure.push(`${name} leads to no ${id}`);
  const named = {};
  for (const e of document.querySelectorAll("nav, form[role=search], aside[aria-label], section[aria-label]")) {
    const key = `landmark ${e.tagName} ${e.getAttribute("aria-label") ?? ""}`;
    if (e.tagName === "NAV" && named[key]) structure.push(`${key} twice`);
    named[key] = true;
  }
  for (const e of document.querySelectorAll("img:not([alt]), svg[role=img]:not([aria-label])")) structure.push(`no text: ${e.outerHTML.slice(0, 60)}`);
  // Focus follows the document: no positive tabindex, and nothing that can be focused is hidden from readers.
  const order = [...document.querySelectorAll("[tabindex]")].filter((e) => e.tabIndex > 0 || (e.tabIndex === 0 && e.closest("[aria-hidden=true]"))).map((e) => e.outerHTML.slice(0, 80));
  return { structure, order, texts, faint: [...faint], nameless, wide: wide.slice(0, 8), small, scroll: document.documentElement.scrollWidth > width, repeated: ids.filter((id, at) => ids.indexOf(id) !== at), inline: document.querySelectorAll("[style], style, [onclick]").length, headings: document.querySelectorAll("h1").length };
}
