// Forms that a passkey fills in: they ask the server what is to be signed, have the browser
// sign it, and send the answer. Where there are no passkeys they stay hidden.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

function text(buffer) {
  if (!buffer) return null;
  let raw = "";
  for (const byte of new Uint8Array(buffer)) raw += String.fromCharCode(byte);
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const named = (list = []) => list.map((one) => ({ ...one, id: bytes(one.id) }));

async function sign(asked) {
  const made = await navigator.credentials.get({
    publicKey: { ...asked, challenge: bytes(asked.challenge), allowCredentials: named(asked.allowCredentials) },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = made.response;
  return {
    type: made.type,
    id: made.id,
    rawId: text(made.rawId),
    response: { clientDataJSON: text(clientDataJSON), authenticatorData: text(authenticatorData), signature: text(signature), userHandle: text(userHandle) },
  };
}

async function make(asked) {
  const made = await navigator.credentials.create({
    publicKey: { ...asked, challenge: bytes(asked.challenge), user: { ...asked.user, id: bytes(asked.user.id) }, excludeCredentials: named(asked.excludeCredentials) },
  });
  const r = made.response;
  return {
    type: made.type,
    id: made.id,
    rawId: text(made.rawId),
    response: { clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject), transports: r.getTransports?.() ?? [] },
  };
}

async function options(form) {
  const answer = await fetch(form.dataset.options, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRF-Token": form.elements.csrf?.value ?? "" },
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.detail);
  return said;
}

// The words of a refusal are on the page, by the name that the browser gives it.
function explain(form, err) {
  const known = form.querySelector(`[data-when="${err.name}"]`);
  const said = form.querySelector("[data-said]");
  said.textContent = known ? known.textContent : err.message;
  said.hidden = false;
}

async function fill(form) {
  const button = form.querySelector("button");
  button.disabled = true;
  form.querySelector("[data-said]").hidden = true;
  try {
    const asked = await options(form);
    form.querySelector("[data-answer]").value = JSON.stringify(await ("make" in form.dataset ? make(asked) : sign(asked)));
    form.submit();
  } catch (err) {
    explain(form, err);
  }
  button.disabled = false;
}

for (const form of document.querySelectorAll("form[data-options]")) {
  const { site } = form.dataset;
  const here = location.hostname === site || location.hostname.endsWith(`.${site}`);
  const able = here && window.isSecureContext && "PublicKeyCredential" in window;
  form.hidden = !able;
  const elsewhere = document.getElementById(`${form.id}-elsewhere`);
  if (elsewhere) elsewhere.hidden = able;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    fill(form);
  });
}
