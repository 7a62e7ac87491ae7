// One event stream for a page. The server renders parts; this swaps them in place and tells how fresh they are.
import { hearTime, tick } from "./clock.js";
import { $, $$ } from "./dom.js";

const LATE_MS = 10_000, LOST_MS = 30_000;
const page = document.body, waiting = new Map();
let source = null, heardAt = 0, isLoggedOut = false, parameters = () => ({});

function showState() {
  const element = document.querySelector("[data-live-state]");
  if (!element || !page.dataset.stream) return;
  const silent = Date.now() - heardAt, isOpen = source?.readyState === EventSource.OPEN;
  const state = isOpen && silent < LATE_MS ? "" : isOpen && silent < LOST_MS ? "late" : "off";
  element.hidden = false;
  element.className = `live ${state}`;
  const word = isLoggedOut ? "Logged out" : { "": "Live", late: "Late", off: "Cut" }[state];
  if (element.textContent !== word) element.textContent = word;
  element.title = heardAt ? `Last message ${new Date(heardAt).toISOString().slice(11, 19)} UTC by this machine's clock` : "No message yet";
}

// A stream ends with its session, and the page then leads to the login. The figures stay, with a link to log in again.
// The stream is asked again, not the page: when all places are taken, the refusal costs the server nothing.
async function lookForEnd() {
  if (isLoggedOut || source?.readyState !== EventSource.CLOSED) return;
  const answer = await fetch(address(parameters()), { redirect: "manual" }).catch(() => null);
  answer?.body?.cancel();
  if (isLoggedOut || answer?.type !== "opaqueredirect") return;
  isLoggedOut = true;
  const told = $("[data-logged-out]").content.cloneNode(true);
  $("a", told).href += `?${new URLSearchParams({ next: location.pathname + location.search })}`;
  $("[data-toasts]").append(told);
  showState();
}

// Buttons depend on the state and on the visitor: when the state of the page's thing has changed, they are asked for anew.
async function refreshActions() {
  const shown = document.querySelector("[data-actions]"), state = document.querySelector("[data-run-state]");
  if (!shown || !state || shown.dataset.state === state.dataset.runState || shown.querySelector("dialog[open]")) return;
  shown.dataset.state = state.dataset.runState;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-actions]");
  if (fresh) shown.innerHTML = fresh.innerHTML;
}

// Times tick in the page, and the browser writes markup in its own way: neither is a change.
function meaning(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  for (const time of $$("[data-at], [data-until], [data-since]", made.content)) time.textContent = "";
  return made.innerHTML;
}

// Focus and selection stay: a part in which the visitor is at work is swapped when the visitor has left it.
function swap(parts) {
  for (const [name, html] of Object.entries(parts)) {
    waiting.delete(name);
    for (const element of $$(`[data-part="${CSS.escape(name)}"]`)) {
      if (meaning(element.innerHTML) === meaning(html)) continue;
      if (element.contains(document.activeElement)) { waiting.set(name, html); continue; }
      element.innerHTML = html;
      if (element.matches("tr")) element.classList.add("changed");
    }
  }
  tick();
  refreshActions();
}
document.addEventListener("focusout", () => setTimeout(() => swap(Object.fromEntries(waiting))));
document.addEventListener("animationend", (event) => event.target.classList.remove("changed"));

export function address(more = {}) {
  const url = new URL(page.dataset.stream, location.origin);
  for (const [name, value] of Object.entries(more)) if (value !== "") url.searchParams.set(name, value);
  return url;
}

export const listeners = new Map();

export function open(more = {}) {
  source?.close();
  source = new EventSource(address(more));
  const heard = () => { heardAt = Date.now(); showState(); };
  source.addEventListener("open", heard);
  source.addEventListener("error", () => { showState(); lookForEnd(); });
  source.addEventListener("alive", (event) => { heard(); hearTime(JSON.parse(event.data).now); });
  source.addEventListener("parts", (event) => { heard(); swap(JSON.parse(event.data)); });
  for (const [name, listener] of listeners) {
    source.addEventListener(name, (event) => { heard(); listener(event); });
  }
}

// A page in a hidden window holds no connection; it catches up when it is shown again.
export function follow(asked = parameters) {
  if (!page.dataset.stream) return;
  parameters = asked;
  const attend = () => { if (document.hidden) { source?.close(); source = null; } else if (!source && !isLoggedOut) open(parameters()); };
  document.addEventListener("visibilitychange", attend);
  window.addEventListener("pagehide", () => source?.close());
  attend();
  setInterval(showState, 1000);
  // A refused stream is closed for good by the browser: when all places are taken, the page asks again later.
  setInterval(() => { if (source?.readyState === EventSource.CLOSED && !isLoggedOut) open(parameters()); }, LOST_MS);
}
