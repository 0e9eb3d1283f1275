"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => { button.textContent = isDark() ? "☀ Light" : "☾ Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();

  const tip = document.getElementById("tip");
  const hide = () => tip.classList.remove("on");
  const showTip = (text, left, top) => {
    tip.textContent = text;
    tip.classList.add("on");
    const x = Math.min(left + 14, window.innerWidth - tip.offsetWidth - 8);
    const above = top - tip.offsetHeight - 12;
    tip.style.left = `${Math.max(8, x)}px`;
    tip.style.top = `${above > 4 ? above : top + 18}px`;
  };
  const show = (event) => {
    const over = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (over === null) hide();
    else showTip(over.dataset.tip, event.clientX, event.clientY);
  };
  document.addEventListener("pointermove", show, { passive: true });
  document.addEventListener("pointerdown", show, { passive: true });
  document.addEventListener("scroll", hide, { passive: true, capture: true });

  // keyboard access: a focused chart shows its tooltips from left to right with the arrow keys
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const chart of document.querySelectorAll("svg")) {
    if (chart.querySelector("[data-tip]") === null) continue;
    chart.tabIndex = 0;
    let marks = null;
    let at = -1;
    const clear = () => { if (at >= 0) marks[at].classList.remove("at"); hide(); };
    chart.addEventListener("blur", clear);
    chart.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
      const step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      if (marks === null) {
        const places = new Map();
        for (const mark of chart.querySelectorAll("[data-tip]")) places.set(mark, mark.getBoundingClientRect());
        marks = [...places.keys()].sort((a, b) => places.get(a).x - places.get(b).x || places.get(a).y - places.get(b).y);
      }
      clear();
      at = at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length;
      marks[at].classList.add("at");
      const box = marks[at].getBoundingClientRect();
      showTip(marks[at].dataset.tip, box.x + box.width / 2, box.y);
    });
  }

  const value = (row, column) => {
    const cell = row.cells[column];
    const number = Number(cell.dataset.value);
    return cell.dataset.value !== undefined && !Number.isNaN(number) ? number : cell.textContent;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const press = document.createElement("button");
      press.type = "button";
      press.textContent = head.textContent;
      head.replaceChildren(press);
      press.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [u, v] = [value(a, column), value(b, column)];
          return sign * (typeof u === "number" && typeof v === "number" ? u - v : String(u).localeCompare(String(v)));
        });
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
