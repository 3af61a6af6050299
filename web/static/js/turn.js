// Turning to a page of this site without a new document, which takes a browser less
// time, as it keeps its scripts and style sheets. The page is what the server
// rendered, and its address is in the history; going back loads the page before.

import { open } from "./app.js";

// turn shows the page in html that has this address. Its scripts come when it is on the screen.
export function turn(address, html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  history.pushState(null, "", address);
  document.title = page.title;
  document.body.replaceWith(page.body);
  scrollTo(0, 0);
  document.getElementById("main").focus({ preventScroll: true });
  open();
  const scripts = [...page.querySelectorAll('script[type="module"]')].map((s) => new URL(s.getAttribute("src"), location.href).href);
  shown().then(() => Promise.all(scripts.map((src) => import(src)))).catch(() => location.reload());
}

// shown is when what the page is now is on the screen: when the frame after the next one begins. In the background
// there are no frames.
function shown() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 500);
  });
}
