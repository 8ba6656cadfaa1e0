"use strict";
(() => {
  const value = (row, column) => {
    const cell = row.cells[column];
    const number = parseFloat(cell.dataset.value);
    return cell.dataset.value !== undefined && !Number.isNaN(number) ? number : cell.textContent.trim();
  };
  const compare = (left, right) => {
    if (typeof left === "number" && typeof right === "number") return left - right;
    if (typeof left === "number") return -1;
    if (typeof right === "number") return 1;
    return left.localeCompare(right, "en", { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort((left, right) => (rising ? 1 : -1) * compare(left[0], right[0]));
        body.append(...rows.map((row) => row[1]));
      });
    });
  }
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    // The text as it is: a copied selection would lose its hard spaces.
    const exact = (event) => {
      event.clipboardData.setData("text/plain", element.textContent);
      event.preventDefault();
    };
    document.addEventListener("copy", exact, { once: true });
    return document.execCommand("copy");
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const element = document.getElementById(button.dataset.copy);
      let done = false;
      try {
        await navigator.clipboard.writeText(element.textContent);
        done = true;
      } catch {
        done = select(element);
      }
      document.getElementById("copied").textContent = done ? "Copied" : "Select the text and copy it";
    });
  }
})();
