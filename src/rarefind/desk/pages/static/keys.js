// Keys for the queue and a case. Everything they do can be done by links and buttons as well.
"use strict";
(() => {
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const rows = () => [...document.querySelectorAll("tr[data-row] a[data-open]")];

  function move(step) {
    const links = rows();
    if (!links.length) return false;
    const row = document.activeElement.closest("tr[data-row]");
    const at = row ? links.indexOf(row.querySelector("a[data-open]")) : -1;
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
    if (links[next]) links[next].focus();
    return true;
  }

  function press(key) {
    const row = document.activeElement.closest("tr[data-row]");
    const inRow = row && row.querySelector(`[data-row-key="${key}"]`);
    const button = inRow || document.querySelector(`[data-key="${key}"]`);
    if (!button || button.disabled) return false;
    button.click();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat && event.key !== "j" && event.key !== "k") return;
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const done = event.key === "j" ? move(1) : event.key === "k" ? move(-1) : /^[a-z?]$/.test(event.key) && press(event.key);
    if (done) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
  });

  // What needs a script is not offered without one.
  for (const each of document.querySelectorAll("[data-dialog]")) each.hidden = false;
})();
