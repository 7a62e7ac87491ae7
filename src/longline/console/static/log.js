// The log of a run: filters run on the server, a pause keeps counting, and nothing is shown twice or left out.
import { $, $$ } from "./dom.js";
import { listeners, open } from "./live.js";

const MAX_LINES = 5000;

export function readLog(box) {
  const list = $("[data-log-list]", box), form = $("[data-log-form]", box), count = $("[data-log-count]", box);
  const follow = $("[data-log-follow]", box), pause = $("[data-log-pause]", box);
  let shown = Number(box.dataset.shown), last = Number(box.dataset.last), waiting = 0;
  const isOn = (button) => button.getAttribute("aria-pressed") === "true";
  const set = (button, on) => button.setAttribute("aria-pressed", String(on));
  const toEnd = () => { if (isOn(follow)) list.scrollTop = list.scrollHeight; };
  const parameters = () => ({ levels: form.elements.levels.value, text: form.elements.text.value, after: shown });

  function tell() {
    const lines = $$("li[data-number]", list).length.toLocaleString("en"), all = last.toLocaleString("en");
    count.textContent = isOn(pause) ? `Paused; ${waiting.toLocaleString("en")} newer entries wait` : `${lines} entries of ${all}`;
  }

  listeners.set("log", (event) => {
    const news = JSON.parse(event.data);
    last = Math.max(last, news.last);
    if (isOn(pause)) { waiting += news.count; tell(); return; }
    if (news.shown <= shown) return;
    shown = news.shown;
    $("[data-log-empty]", list)?.remove();
    list.insertAdjacentHTML("beforeend", news.html);
    for (const old of $$("li", list).slice(0, -MAX_LINES)) old.remove();
    toEnd();
    tell();
  });

  // A stopped log goes on from the last number that is shown: the server sends everything behind it.
  pause.addEventListener("click", () => {
    set(pause, !isOn(pause));
    pause.textContent = isOn(pause) ? "Resume" : "Pause";
    if (!isOn(pause)) { waiting = 0; open(parameters()); }
    tell();
  });
  follow.addEventListener("click", () => { set(follow, !isOn(follow)); toEnd(); });
  list.addEventListener("wheel", (event) => { if (event.deltaY < 0) set(follow, false); }, { passive: true });
  for (const button of $$("[data-level]", box)) button.addEventListener("click", () => {
    set(button, !isOn(button));
    form.elements.levels.value = $$("[data-level]", box).filter(isOn).map((each) => each.dataset.level).join(",");
    form.requestSubmit();
  });
  toEnd();
  return parameters;
}
