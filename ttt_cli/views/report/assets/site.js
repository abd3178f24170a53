const loaded = new Map();

/** What a script of the folder `data` hands over: such a script may be read from a disk, JSON may not. */
function load(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise((resolve, reject) => {
      window.take = { ...window.take, [name]: resolve };
      const script = document.createElement("script");
      script.src = `${UP}data/${name}.js`;
      script.onerror = reject;
      document.head.append(script);
    }));
  }
  return loaded.get(name);
}

/** The state of a page in its address: `#p=a,b&sort=games-table.2.down`. */
const state = new URLSearchParams(location.hash.slice(1));
function keep(key, value) {
  if (value) state.set(key, value); else state.delete(key);
  history.replaceState(null, "", `#${state}`);
}

/** A table is put in the order of a column by its head; a further click turns the order. */
function startSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const value = (row, at) => {
    const text = row.cells[at]?.textContent.trim() ?? "";
    const number = parseFloat(text.replace(/^(\d{4})-(\d\d)-?(\d\d)?$/, "$1.$2$3").replace("½", ".5").replace("−", "-").replace("▲", "").replace("▼", "-").replace(/,(?=\d)/g, ""));
    return Number.isNaN(number) ? text : number;
  };
  const order = (a, b) => (typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1);
  const sort = (at, down) => {
    const rows = [...body.rows].map((row) => [value(row, at), row]);
    rows.sort(([a], [b]) => ((a === "") - (b === "")) || (down ? order(b, a) : order(a, b)));
    body.append(...rows.map(([, row]) => row));
    heads.forEach((head, i) => (i === at ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
  };
  heads.forEach((head, at) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = table.classList.contains(`r${at + 1}`);
      const down = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : numeric && at > 0;
      sort(at, down);
      keep("sort", `${table.id}.${at}.${down ? "down" : "up"}`);
    });
  });
  const [id, at, way] = (state.get("sort") ?? "").split(".");
  if (id === table.id && heads[at]) sort(Number(at), way === "down");
}
document.querySelectorAll("table[id]:not(.cross)").forEach(startSorting);

/** What is wider than the page may be moved by keys, too. */
function reachable(box, label) {
  if (box.scrollWidth <= box.clientWidth) return;
  for (const [key, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": label })) box.setAttribute(key, value);
}

/** Where several share a page, the window is called after the one that is shown. */
function nameWindow() {
  const shown = document.querySelector("section:target > h2");
  if (shown) document.title = shown.textContent;
}
for (const event of ["load", "hashchange"]) addEventListener(event, nameWindow);

/** Slug and address of a page, null where there is none; the slug is 0 where it follows from the name. */
function pageOf(folder, name, given, shared) {
  const slug = given === 0 ? slugOf(name) : given;
  return { slug, place: slug && placeOf(folder, slug, shared) };
}

/** Players by number: name, address of the page or null, years, games. */
let everybody = null;
async function people() {
  everybody ??= (await load("names")).map(([name, first, last, games, slug, shared], id) => ({
    id, name, games, years: first === last ? `${first}` : `${first}–${last}`, folded: fold(name),
    ...pageOf("players", name, slug, shared),
  }));
  return everybody;
}

/** The events that have a page. */
let occasions = null;
async function events() {
  occasions ??= (await load("events")).map(([name, year, games, slug, shared]) => ({
    name, games, years: `${year}`, folded: fold(`${year} ${name}`), ...pageOf("events", `${year} ${name}`, slug, shared),
  }));
  return occasions;
}

/** The page of a year that is typed. */
function yearsOf(text) {
  const year = /^\s*\d{3,4}\s*$/.test(text) ? Number(text) : NaN;
  return year >= YEARS[0] && year <= YEARS[1] ? [{ name: `${year}`, note: "ranking, newcomers, events", place: `years/${year}.html` }] : [];
}

const pages = async (text) => matches(text, (await people()).filter((one) => one.slug));
const anything = async (text) => {
  const [found, happened] = [await pages(text), matches(text, await events())];
  const room = Math.max(OFFERED - happened.length, Math.ceil(OFFERED / 2));
  return [...yearsOf(text), ...found.slice(0, room), ...happened].slice(0, OFFERED);
};

startSearch();

function startSearch() {
  const box = element("div", { class: "search" },
    element("label", { class: "visually-hidden", for: "find" }, "Find a player, an event or a year"),
    element("input", {
      id: "find", type: "text", role: "combobox", placeholder: "find a player, event or year", autocomplete: "off", spellcheck: "false",
      "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "find-options",
    }),
    element("ul", { id: "find-options", role: "listbox", "aria-label": "Players, events and years", hidden: "" }));
  document.querySelector("header nav").append(box);
  startCombobox(byId("find"), byId("find-options"), (one) => { location.href = UP + one.place; }, anything);
}

startFigures();
for (const box of document.querySelectorAll(".scroll")) reachable(box, headingOf(box).textContent);
