/* The table: sort and search. */
const table = $("#parameters-table");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[1].cells];
  const key = (row, column, isNumber) => {
    const cell = row.cells[column];
    return isNumber ? (cell.dataset.v === undefined ? NaN : Number(cell.dataset.v)) : cell.textContent;
  };
  const order = new Intl.Collator(undefined, { numeric: true });
  heads.forEach((head, column) => {
    if (!head.dataset.kind) return;
    const isNumber = head.dataset.kind === "number";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const sign = up ? 1 : -1;
      const sorted = rows.map((row, i) => [key(row, column, isNumber), i, row]).sort(([a, i], [b, j]) => {
        if (!isNumber) return sign * order.compare(a, b) || i - j;
        if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b) || i - j;
        return sign * (a - b) || i - j;
      });
      body.append(...sorted.map(([, , row]) => row));
    });
  });
  const search = $("#search");
  const found = $("#found");
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    let n = 0;
    rows.forEach((row) => {
      const fits = row.cells[0].textContent.toLowerCase().includes(wanted);
      row.hidden = !fits;
      n += fits;
    });
    found.textContent = wanted ? `${n} of ${rows.length}` : `${rows.length} parameters`;
  });
}
