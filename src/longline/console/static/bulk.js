// Orders for many rows: a button tells how many of the chosen ones it can take, and takes none that its order is illegal for.
import { $, $$ } from "./dom.js";

const boxes = (form) => $$(`input[name=${form.dataset.choice}]`, form);

function recount(form) {
  const chosen = boxes(form).filter((box) => box.checked), note = $("[data-chosen]", form), all = $("[data-all]", form);
  note.dataset.words ??= note.textContent;
  note.textContent = chosen.length ? `${chosen.length} chosen` : note.dataset.words;
  if (all) all.checked = chosen.length > 0 && chosen.length === boxes(form).length;
  for (const button of $$("[data-order]", form)) {
    const able = chosen.filter((box) => box.dataset.orders.split(" ").includes(button.dataset.order)).length;
    button.dataset.words ??= button.textContent;
    button.textContent = able ? button.dataset.words.replace(/(…?)$/, ` ${able}$1`) : button.dataset.words;
    button.disabled = !able;
  }
}

export function watchChoice(form) {
  if (!$("[data-chosen]", form)) return; // A visitor who may give no orders chooses nothing.
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) for (const box of boxes(form)) box.checked = event.target.checked;
    recount(form);
  });
  recount(form);
}
