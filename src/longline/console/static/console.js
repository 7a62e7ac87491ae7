// The console's script: theme, clock, menus, dialogs and keys. It draws nothing that the server can draw.
import { watchChoice } from "./bulk.js";
import { tick } from "./clock.js";
import { $, $$ } from "./dom.js";
import { follow } from "./live.js";
import { readLog } from "./log.js";

const root = document.documentElement;

// Theme: that of the system, light or dark. The server reads the cookie and renders the next page in it.
const THEMES = ["", "light", "dark"];
function setTheme(theme) {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  document.cookie = `longline_theme=${theme}; Path=/console; Max-Age=${theme ? 31536000 : 0}; SameSite=Strict`;
  for (const button of $$("[data-theme-toggle]")) button.setAttribute("aria-label", `Theme: ${theme || "as the system"}`);
}

// Plots: the pointer or arrow keys move the cursor, and the readout above tells the point.
function showPoint(plot, index) {
  const points = $$(".pt", plot), output = $("output", plot.closest(".panel"));
  for (const point of $$(".pt.on", plot)) point.classList.remove("on");
  plot.dataset.at = index;
  points[index]?.classList.add("on");
  if (output) output.textContent = (points[index] ?? points.at(-1))?.dataset.tip ?? "";
}

document.addEventListener("pointerover", (event) => {
  const point = event.target.closest?.(".pt");
  if (point) showPoint(point.closest("[data-plot]"), $$(".pt", point.closest("[data-plot]")).indexOf(point));
});
document.addEventListener("pointerout", (event) => {
  const plot = event.target.closest?.("[data-plot]");
  if (plot && !plot.contains(event.relatedTarget)) showPoint(plot, -1);
});

document.addEventListener("click", (event) => {
  const target = event.target;
  for (const menu of $$("details:is(.menu, .more)[open]")) if (!menu.contains(target)) menu.open = false;
  const open = target.closest("[data-open]");
  if (open) $(`#${open.dataset.open}`)?.showModal();
  if (target.closest("[data-close]")) target.closest("dialog")?.close();
  if (target.closest(".toast button")) target.closest(".toast").remove();
  if (target.closest("[data-theme-toggle]")) setTheme(THEMES[(THEMES.indexOf(root.dataset.theme ?? "") + 1) % 3]);
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
});

document.addEventListener("keydown", (event) => {
  const plot = event.target.closest?.("[data-plot]"), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (plot && step) {
    event.preventDefault();
    const last = $$(".pt", plot).length - 1, at = Number(plot.dataset.at ?? -1);
    showPoint(plot, Math.min(last, Math.max(0, (at < 0 ? last + 1 : at) + step)));
  }
  if (plot && event.key === "Escape") showPoint(plot, -1);
  if (event.key === "Escape") for (const menu of $$("details:is(.menu, .more)[open]")) { menu.open = false; $("summary", menu).focus(); }
  if (event.key === "/" && !event.target.closest?.("input, textarea, select")) { event.preventDefault(); $("#q")?.focus(); }
});

// A form is sent once: a second click would act again, or hide the answer to the first, however late that comes. The
// pressed button is busy until another page is shown, until the visitor edits the form, or until Escape stops the loading.
const sent = new Map();
function release(form) {
  sent.get(form)?.removeAttribute("aria-busy");
  sent.delete(form);
}
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (sent.has(event.target)) { event.preventDefault(); return; }
  sent.set(event.target, event.submitter);
  event.submitter?.setAttribute("aria-busy", "true");
});
for (const kind of ["input", "change"]) document.addEventListener(kind, (event) => release(event.target.form), true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") sent.forEach((_, form) => release(form)); });
addEventListener("pageshow", () => sent.forEach((_, form) => release(form)));

// A toast of success goes by itself, unless it is read or its link has the focus.
for (const toast of $$(".toast:not(.fail)")) {
  const leave = () => toast.matches(":hover, :focus-within") ? setTimeout(leave, 2000) : toast.remove();
  setTimeout(leave, 8000);
}

// What is wider than its box starts at the present: the lit state of a diagram, the present slot of a map.
for (const box of $$(".scroll-x")) {
  const lit = $(".halo, .now", box), middle = lit?.getBoundingClientRect();
  if (lit) box.scrollLeft += middle.left + middle.width / 2 - box.getBoundingClientRect().left - box.clientWidth / 2;
}

tick();
setInterval(tick, 1000);
for (const form of $$("[data-choice]")) watchChoice(form);
const log = $("[data-log]");
follow(log ? readLog(log) : undefined);
