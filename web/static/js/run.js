// Runs that do not count, shown below the form. Without this script the buttons
// lead to the page of the run.

import { enhance } from "./app.js";
import { t } from "./words.js";

const form = document.getElementById("submit");
const area = document.getElementById("source");
const result = document.getElementById("run-result");
const announce = document.getElementById("run-announce");
const samples = document.getElementById("run-samples");
let newest = 0;

function say(text) {
  const p = document.createElement("p");
  p.className = "alert";
  p.textContent = text;
  result.replaceChildren(p);
  announce.textContent = text;
}

async function text(answer) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok) return page;
  throw new Error(page.getElementById("fault")?.textContent || page.querySelector("main p")?.textContent || answer.statusText);
}

// show puts the live part of a run below the form and reports whether it is done.
function show(nodes) {
  result.replaceChildren(...nodes);
  enhance(result);
  const card = result.querySelector("[data-announce]");
  if (announce.textContent !== card.dataset.announce) announce.textContent = card.dataset.announce;
  return card.hasAttribute("data-done");
}

// run sends the form and follows the run to its end, unless another one begins.
async function run(button) {
  const mine = ++newest;
  announce.textContent = "";
  result.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(button.formAction, { method: "POST", body: new FormData(form, button), headers: { Accept: "text/html" } });
    const page = await text(answer);
    const at = new URL(answer.url).pathname;
    let done = mine === newest && show(page.getElementById("live").childNodes);
    while (!done && mine === newest) {
      const part = await text(await fetch(`${at}/live?wait=5`, { headers: { Accept: "text/html" } }));
      done = mine === newest && show(part.body.childNodes);
    }
  } catch (err) {
    if (mine === newest) say(err.message || t("The server does not answer. Try again."));
  }
  if (mine === newest) result.removeAttribute("aria-busy");
}

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.hasAttribute("formaction") || event.defaultPrevented) return;
  event.preventDefault();
  run(button);
});

addEventListener("keydown", (event) => {
  if (event.key !== "'" || !(event.ctrlKey || event.metaKey) || !samples?.isConnected || samples.disabled) return;
  event.preventDefault();
  document.getElementById("try").open = true;
  if (area.value.trim()) form.requestSubmit(samples);
});
