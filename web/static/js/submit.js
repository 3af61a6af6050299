// The submit form: the source editor in place of the text field, drafts, files,
// and a choice of language that is remembered. Without this script the form
// works as plain HTML.

import { store, stored } from "./app.js";
import { phrases } from "./phrases.js";
import { turn } from "./turn.js";
import { n, t } from "./words.js";

const form = document.getElementById("submit");
const area = document.getElementById("source");
const select = document.getElementById("language");
const send = document.getElementById("send");
const pane = document.getElementById("pane");
const picker = document.getElementById("file");
const size = document.getElementById("size");
const notice = document.getElementById("notice");
const first = document.getElementById("first"); // the name of the first of several files
const firstName = first.querySelector("input");
const more = document.getElementById("more"); // the others
const limit = Number(form.dataset.limit);
const draftKey = `deepoj:draft:${form.dataset.user}:${form.dataset.problem}`;
const languageKey = `deepoj:language:${form.dataset.problem}`;
let editor = null;

const chosen = () => select.selectedOptions[0];

function setText(text) {
  if (editor) editor.setText(text);
  else {
    area.value = text;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function say(text, ...buttons) {
  notice.replaceChildren(document.createTextNode(text), ...buttons);
  notice.hidden = !text;
}

function button(text, act) {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  b.addEventListener("click", act);
  return b;
}

// Several files

const texts = () => [...form.querySelectorAll('textarea[name="source"]')];
const nameOf = (block) => block.querySelector('input[name="name"]');

// showNames asks for the first file's name as soon as there is another.
function showNames() {
  first.hidden = firstName.disabled = !more.children.length;
}

function addFile(name, text) {
  const block = document.getElementById("another").content.firstElementChild.cloneNode(true);
  nameOf(block).value = name;
  block.querySelector("textarea").value = text;
  more.append(block);
  prepare(block);
  showNames();
  changed();
  return block;
}

function prepare(block) {
  const remove = block.querySelector(".remove");
  remove.hidden = false;
  remove.addEventListener("click", () => {
    block.remove();
    showNames();
    changed();
    document.getElementById("add-file").focus();
  });
  block.querySelector("textarea").addEventListener("input", changed);
  nameOf(block).addEventListener("input", changed);
}

// Language

function showLanguage() {
  const command = document.getElementById("command");
  command.textContent = chosen().dataset.command || "";
  command.hidden = !command.textContent;
  editor?.setMode(chosen().dataset.mode);
}

function choose(id) {
  const option = [...select.options].find((o) => o.value === id && !o.disabled);
  if (!option) return false;
  select.value = id;
  showLanguage();
  return true;
}

select.addEventListener("change", () => {
  store(languageKey, select.value);
  store("deepoj:language", select.value);
  showLanguage();
});
if (!select.value) choose(stored(languageKey)) || choose(stored("deepoj:language"));

// suggest proposes the language of a file name; it does not overrule a choice.
function suggest(fileName) {
  const extension = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  const option = [...select.options].find((o) => !o.disabled && (o.dataset.extensions || "").split(" ").includes(extension));
  if (!fileName.includes(".") || !option || option.value === select.value) return say("");
  if (!select.value) {
    choose(option.value);
    return say("");
  }
  say(t("%s looks like %s.", fileName, option.textContent.split(" · ")[0]), button(t("Switch"), () => { choose(option.value); say(""); }));
}

// Size and draft

const encoder = new TextEncoder();
let saving = 0;

function showSize() {
  const bytes = texts().reduce((sum, one) => sum + encoder.encode(one.value).length, 0);
  const text = (size) => size < 1024 ? t("%s bytes", n(size)) : `${n(size / 1024)} KiB`;
  size.textContent = bytes ? t("%s of %s", text(bytes), text(limit)) : t("At most %s", text(limit));
  size.className = bytes > limit ? "over" : "muted";
}

function saveDraft() {
  clearTimeout(saving);
  saving = 0;
  const others = [...more.children].map((b) => ({ name: nameOf(b).value, text: b.querySelector("textarea").value }));
  const empty = texts().every((one) => !one.value.trim());
  store(draftKey, empty ? null : JSON.stringify({ source: area.value, name: firstName.value, more: others, language: select.value }));
}

function changed() {
  showSize();
  clearTimeout(saving);
  saving = setTimeout(saveDraft, 400);
}

area.addEventListener("input", changed);
firstName.addEventListener("input", changed);
addEventListener("pagehide", () => { if (saving) saveDraft(); });

function discard() {
  const draft = stored(draftKey);
  setText("");
  more.replaceChildren();
  showNames();
  store(draftKey, null);
  say(t("Your draft is discarded."), button(t("Bring it back"), () => { store(draftKey, draft); restoreDraft(); }));
}

function restoreDraft() {
  if (texts().some((one) => one.value)) return;
  let draft;
  try {
    draft = JSON.parse(stored(draftKey));
  } catch {
    return;
  }
  if (!draft || !draft.source && !draft.more?.length) return;
  setText(draft.source);
  firstName.value = draft.name || "";
  for (const file of draft.more || []) addFile(file.name, file.text);
  choose(draft.language);
  say(t("Your draft is back."), button(t("Discard"), discard));
}

// Files

async function read(file) {
  if (file.size > Math.max(limit, 1 << 20)) throw t("%s is too large for this problem.", file.name);
  const text = new TextDecoder().decode(await file.arrayBuffer()).replace(/\r\n?/g, "\n");
  if (text.includes("\0")) throw t("%s is not a source text.", file.name);
  return { name: file.name, text };
}

// open puts files into the form, in place of what is there.
async function open(files) {
  let opened;
  try {
    opened = await Promise.all([...files].map(read));
  } catch (why) {
    return say(String(why));
  }
  if (!opened.length) return;
  picker.value = ""; // the texts are in the form now
  const one = opened.shift();
  more.replaceChildren();
  firstName.value = one.name;
  setText(one.text);
  suggest(one.name);
  for (const { name, text } of opened) addFile(name, text);
  showNames();
  editor?.focus();
}

picker.addEventListener("change", () => open(picker.files));
const add = document.getElementById("add-file");
add.hidden = false;
add.addEventListener("click", () => nameOf(addFile("", "")).focus());
[...more.children].forEach(prepare);
pane.addEventListener("dragover", (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  pane.classList.add("dropping");
});
pane.addEventListener("dragleave", (event) => { if (!pane.contains(event.relatedTarget)) pane.classList.remove("dropping"); });
pane.addEventListener("drop", (event) => {
  pane.classList.remove("dropping");
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  event.stopPropagation(); // the editor would insert it
  open(event.dataTransfer.files);
}, true);

// Sending

const says = send.textContent;
let sending = 0; // the timer that shows it, unless the answer is quicker

function submit() {
  if (!send.disabled) form.requestSubmit(send);
}

form.addEventListener("submit", (event) => {
  if (texts().every((one) => !one.value.trim()) && !picker.files.length) {
    event.preventDefault();
    say(t("There is no program yet."));
    editor ? editor.focus() : area.focus();
    return;
  }
  if (event.submitter && event.submitter !== send) return; // a run, which does not count
  event.preventDefault();
  if (sending) return;
  sending = setTimeout(() => {
    send.disabled = true;
    send.textContent = t("Submitting…");
  }, 200);
  handIn();
});

// handIn sends the form and turns to the page of what came of it. Whatever else is
// answered, the browser is to show: the key in the form makes a second send harmless.
async function handIn() {
  let address = "", html = "";
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "text/html" } });
    if (answer.ok && answer.redirected) [address, html] = [answer.url, await answer.text()];
  } catch {
    // the browser says why
  }
  if (!html.includes('id="live"')) return form.submit();
  turn(address, html);
}

// When the space closes nothing more is taken; what was written stays in the form.
document.addEventListener("deepoj:closed", () => {
  send.disabled = true;
  say(form.dataset.closed);
});

// A page that comes back from the browser's cache may be sent again, as a new
// submission.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  const random = crypto.getRandomValues(new Uint8Array(16));
  form.elements.key.value = [...random].map((b) => b.toString(16).padStart(2, "0")).join("");
  clearTimeout(sending);
  sending = 0;
  send.disabled = false;
  send.textContent = says;
});

area.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
});

// Editor

async function setUpEditor() {
  const { mount } = await import(form.dataset.editor);
  editor = mount(area, {
    mode: chosen().dataset.mode,
    nonce: form.dataset.nonce,
    label: "source-label",
    help: "keys",
    phrases,
    submit,
    leave: () => send.focus(),
  });
  form.classList.add("has-editor");
  const marks = JSON.parse(area.dataset.diagnostics || "[]");
  if (marks.length) editor.setDiagnostics(marks);
}

restoreDraft();
showSize();
showLanguage();
if (form.dataset.editor) setUpEditor().catch((err) => console.warn("the source editor did not load", err));
