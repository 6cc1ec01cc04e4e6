// What the report does in a browser: searches and sorts tables, and opens what is folded where a link leads, and to print. The state of
// the ledger is in the page's address (#q=cubic&show=failed&sort=-off), so that a view of it can be sent to somebody.
"use strict";
(() => {
  // A table with what searches and sorts it. `state`: q (words, all of which a row must have), show (a verdict),
  // tables (whose), sort (a column's key, "-" before it for the largest first).
  class Board {
    constructor(root, changed) {
      this.state = { q: "", show: "", tables: "", sort: "" };
      this.changed = changed;
      this.body = root.querySelector("tbody");
      this.rows = [...this.body.rows];
      this.words = this.rows.map((row) => `${row.dataset.words || ""} ${row.textContent}`.toLowerCase());
      this.heads = [...root.querySelectorAll("th[data-key]")];
      this.input = root.querySelector("input[type=search]");
      this.chips = [...root.querySelectorAll(".chip")];
      this.selects = [...root.querySelectorAll("select")];
      this.output = root.querySelector("output");
      this.listen();
      this.show();
    }

    listen() {
      for (const head of this.heads) this.addButton(head);
      this.input?.addEventListener("input", () => this.set({ q: this.input.value }));
      for (const chip of this.chips) chip.addEventListener("click", () => this.set({ show: chip.dataset.show }));
      for (const select of this.selects) {
        if (select.name === "sort") this.addOrders(select);
        select.addEventListener("change", () => this.set({ [select.name]: select.value }));
      }
    }

    addButton(head) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      const key = head.dataset.key;
      const next = { [key]: `-${key}`, [`-${key}`]: "" };
      button.addEventListener("click", () => this.set({ sort: next[this.state.sort] ?? key }));
    }

    addOrders(select) {
      select.add(new Option("as listed", ""));
      for (const head of this.heads) {
        const { key } = head.dataset;
        select.add(new Option(`${head.textContent} ↑`, key));
        select.add(new Option(`${head.textContent} ↓`, `-${key}`));
      }
    }

    set(change) {
      Object.assign(this.state, change);
      this.show();
      this.changed?.(this.state);
    }

    show() {
      const { q, show, tables, sort } = this.state;
      const words = q.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      this.rows.forEach((row, i) => {
        row.hidden = !(words.every((word) => this.words[i].includes(word))
          && (!show || row.dataset.verdict === show) && (!tables || row.dataset.tables === tables));
        count += !row.hidden;
      });
      this.body.append(...this.ordered(sort));
      for (const head of this.heads) {
        const { key } = head.dataset;
        if (sort === key) head.setAttribute("aria-sort", "ascending");
        else if (sort === `-${key}`) head.setAttribute("aria-sort", "descending");
        else head.removeAttribute("aria-sort");
      }
      for (const chip of this.chips) chip.setAttribute("aria-pressed", String(chip.dataset.show === show));
      for (const select of this.selects) select.value = this.state[select.name];
      if (this.input && this.input.value !== q) this.input.value = q;
      if (this.output) this.output.textContent = `${count} of ${this.rows.length}`;
    }

    ordered(sort) {
      const head = this.heads.find(({ dataset }) => dataset.key === sort.replace(/^-/, ""));
      if (!head) return this.rows;
      const sign = sort.startsWith("-") ? -1 : 1;
      const keyed = this.rows.map((row) => [keyOf(row.cells[head.cellIndex]), row]);
      // What has no key comes last, whichever way.
      keyed.sort(([a], [b]) => (a === null) - (b === null) || (a === null ? 0 : sign * compare(a, b)));
      return keyed.map(([, row]) => row);
    }
  }

  function keyOf(cell) {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    return cell.classList.contains("number") || text === "" || text === "–" ? null : text;
  }

  function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function ledgerBoard(root) {
    const board = new Board(root, (state) => {
      const set = Object.entries(state).filter(([, value]) => value);
      history.replaceState(null, "", set.length ? `#${new URLSearchParams(set)}` : location.href.replace(/#.*/, ""));
    });
    const read = () => {
      const hash = location.hash.slice(1);
      if (!hash.includes("=")) return;  // a link to a place of the page
      const asked = new URLSearchParams(hash);
      for (const name of Object.keys(board.state)) board.state[name] = asked.get(name) ?? "";
      board.show();
      reveal(root);
    };
    addEventListener("hashchange", read);
    read();
  }

  // Opens all that something is folded in, and goes there.
  function reveal(place) {
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    place.scrollIntoView();
  }

  function openWhereLinksLead() {
    const follow = () => {
      const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (place) reveal(place);
    };
    addEventListener("hashchange", follow);
    follow();
  }

  function openToPrint() {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const details of opened) details.open = true;
    });
    addEventListener("afterprint", () => {
      for (const details of opened) details.open = false;
    });
  }

  for (const root of document.querySelectorAll(".board")) {
    if (root.classList.contains("ledger")) ledgerBoard(root);
    else new Board(root);
  }
  openWhereLinksLead();
  openToPrint();
})();
