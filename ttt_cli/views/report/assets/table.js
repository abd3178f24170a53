/** A table from heads and rows; a head that starts with # is of numbers, a player becomes a button. */
function table(heads, rows) {
  const numeric = heads.map((head) => head.startsWith("#"));
  const head = heads.map((text, i) =>
    element("th", numeric[i] ? { scope: "col", class: "number" } : { scope: "col" }, text.replace(/^#/, "")));
  const body = rows.map((row) => element("tr", {}, ...row.map((value, i) =>
    element("td", numeric[i] ? { class: "number" } : {}, cell(value)))));
  return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body));
}

function cell(value) {
  if (value === null || typeof value !== "object") return String(value);
  const button = element("button", { type: "button", title: "show the curve" }, value.name);
  button.addEventListener("click", () => {
    choose(value);
    byId("chart").scrollIntoView({ block: "center" });
  });
  return button;
}

function show(id, heads, rows, more = 0, none = "Nobody is eligible within these limits.") {
  const parts = rows.length ? [table(heads, rows)] : [element("p", {}, none)];
  if (more > 0) parts.push(element("p", { class: "help" }, `and ${more.toLocaleString("en")} more in the download`));
  byId(id).replaceChildren(...parts);
}

/** CSV of a head and rows, as spreadsheets read it. */
function csv(heads, rows) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [heads, ...rows].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}
