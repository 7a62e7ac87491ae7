// Times count by the server's clock: each page and each sign of life of a stream brings the server's time.
import { $$ } from "./dom.js";

let offset = Number(document.body.dataset.now || Date.now()) - Date.now();
export const hearTime = (now) => { if (now) offset = now - Date.now(); };
const serverNow = () => Date.now() + offset;
const zone = document.body.dataset.zone ?? "UTC";
const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeStyle: "medium" });

// The same words as those of the server: the two largest units.
function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000)), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  const two = (value) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${two(seconds % 60)} s`;
  return hours < 24 ? `${hours} h ${two(minutes % 60)} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function tick() {
  const now = serverNow(), text = new Date(now).toISOString();
  for (const clock of $$("[data-clock]")) {
    clock.textContent = `${timeOfDay.format(now)} ${zone}`;
    clock.dateTime = `${text.slice(0, 19)}Z`;
  }
  for (const time of $$("[data-until]")) {
    const left = Number(time.dataset.until) - now;
    time.textContent = left > 0 ? `in ${duration(left)}` : time.dataset.past;
  }
  for (const time of $$("[data-at]")) {
    const ago = now - Number(time.dataset.at), short = duration(Math.abs(ago)).split(" ").slice(0, 2).join(" ");
    time.textContent = ago < 0 ? `in ${short}` : `${short} ago`;
  }
  for (const time of $$("[data-since]")) time.textContent = duration(now - Number(time.dataset.since));
}
