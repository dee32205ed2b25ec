(() => {
  // A tooltip of our own for every mark that has a title, at once and where the pointer is.
  const tip = document.querySelector(".tip");
  let title = null, text = "";
  const leave = () => { if (title) title.textContent = text; title = null; tip.hidden = true; };
  const titled = (node) => {
    for (; node && node.localName !== "svg" && node.closest?.("svg"); node = node.parentNode) {
      const found = [...node.children].find((child) => child.localName === "title");
      if (found) return found;
    }
    return null;
  };
  document.addEventListener("pointerover", (event) => {
    leave();
    title = titled(event.target);
    if (!title) return;
    text = title.textContent;
    title.textContent = "";
    tip.textContent = text;
    tip.hidden = false;
  });
  document.addEventListener("pointermove", (event) => {
    if (tip.hidden) return;
    const left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8));
    const below = event.clientY + 18, above = event.clientY - tip.offsetHeight - 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? above : below}px`;
  });
  document.documentElement.addEventListener("pointerleave", leave);

  // The two maps of a level scroll together, since their positions match.
  for (const level of document.querySelectorAll(".level")) {
    const maps = [...level.querySelectorAll(".map")];
    for (const map of maps) {
      map.addEventListener("scroll", () => {
        for (const other of maps) {
          if (other === map) continue;
          if (Math.abs(other.scrollTop - map.scrollTop) > 1) other.scrollTop = map.scrollTop;
          if (Math.abs(other.scrollLeft - map.scrollLeft) > 1) other.scrollLeft = map.scrollLeft;
        }
      }, { passive: true });
    }
  }
})();
