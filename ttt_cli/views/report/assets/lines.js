const EVENT_HEADS = ["year", "event", "#place", "#games", "#points", "#expected", "#performance"];
const GAME_HEADS = ["date", SIDES.column, "opponent", "#result", "#expected", "event"];
const ROUND_HEADS = ["round", "date", SIDES.first, SIDES.second, "#result", "#expected", "ground"];
const FEW = 3; // games whose events need no table

/** The fields of every line; a field is a text or an element. */
function fieldsOf(block) {
  block.normalize();
  const rows = [[""]];
  for (const node of block.childNodes) {
    const row = rows.at(-1);
    if (node.nodeType !== Node.TEXT_NODE) row[row.length - 1] = node;
    else node.data.split("\n").forEach((line, i) => {
      const [start, ...further] = line.split("\t");
      if (i) rows.push([start]);
      else if (start) row[row.length - 1] = start;
      rows.at(-1).push(...further);
    });
  }
  return rows;
}

const slugOf = (text) => fold(text).replaceAll(" ", "-");

/** The address of a player or an event; `shared`: on a page of several, by the letters of its slug. */
function placeOf(folder, slug, shared) {
  const number = [...slug].reduce((found, letter) => (256 * found + letter.charCodeAt(0)) % SHARED_PAGES, 0);
  return shared ? `${folder}/few_${number}.html#${slug}` : `${folder}/${slug}.html`;
}

/** A plain name leads to the address that follows from it, one in an `i` to that on a shared page. */
function linked(folder, field, before = "") {
  const shared = field.tagName === "I";
  if (typeof field !== "string" && !shared) return field.cloneNode(true);
  const name = shared ? field.textContent : field;
  return element("a", { href: UP + placeOf(folder, slugOf(before + name), shared) }, name);
}
const personOf = (field) => linked("players", field);
const eventOf = (field, year) => (field ? linked("events", field, `${year} `) : "–");
const dateOf = (date, year) => (/^\d{4}/.test(date) ? date : date ? `${year}-${date}` : year);

const chanceOf = (text) => (text.startsWith(".") ? `0${text}` : text);

/** A table as on the pages, without columns that are empty; one on a shared page has no id, and is not sorted. */
function sortable(block, name, allHeads, allRows) {
  const filled = allHeads.map((_, at) => allRows.some((row) => row[at]));
  const kept = (cells) => cells.filter((_, at) => filled[at]);
  const [heads, rows] = [kept(allHeads), allRows.map(kept)];
  const line = (tag, cells) => element("tr", {}, ...cells.map((cell) => element(tag, {}, cell)));
  const kinds = heads.map((head, at) => (head.startsWith("#") ? `r${at + 1}` : "")).filter(Boolean);
  return element("div", { class: "scroll" }, element("table", { ...(block.closest("section") ? {} : { id: `${name}-table` }), class: kinds.join(" ") },
    element("thead", {}, line("th", heads.map((head) => head.replace("#", "")))),
    element("tbody", {}, ...rows.map((row) => line("td", row)))));
}

/** The events and games of a player, as two tables; the lines of an event stand above those of its games. */
function startRecord(block) {
  const [events, games] = [[], []];
  let year = "", event = "";
  for (const row of fieldsOf(block)) {
    if (row.length !== 5) {
      [year, event] = row;
      if (row.length > 2) events.push(row);
      continue;
    }
    const [date, colour, opponent, result, expected] = row;
    games.push([dateOf(date, year), colour, personOf(opponent), result, chanceOf(expected), eventOf(event, year)]);
  }
  if (games.length > FEW && events.length) {
    const link = ([at, name, ...rest]) => [element("a", { href: `${UP}years/${at}.html` }, at), eventOf(name, at), ...rest];
    const fold = block.closest("details");
    const heading = headingOf(fold ?? block);
    const table = sortable(block, "events", EVENT_HEADS, events.map(link));
    const listed = fold ? element("details", {}, element("summary", {}, `All events, ${events.length}`), table) : table;
    heading.before(element(heading.localName, {}, "Events"), listed);
  }
  games.sort(([a], [b]) => (a < b ? -1 : a > b));
  block.replaceWith(sortable(block, "games", GAME_HEADS, games));
}

/** The games of an event. */
function startRounds(block) {
  const year = block.dataset.year;
  const rows = fieldsOf(block).map(([round, date, first, second, result, expected, ground = ""]) =>
    [round, dateOf(date, year), personOf(first), personOf(second), result, chanceOf(expected), ground]);
  block.replaceWith(sortable(block, "games", ROUND_HEADS, rows));
}

/** Players are compared by a script, so that the way there is its own. */
function startComparing(facts) {
  const slug = facts.closest("section")?.id ?? location.pathname.split("/").at(-1).replace(/\.html$/, "");
  if (slug.startsWith("few_")) return;
  facts.after(element("p", { class: "turn" }, element("a", { href: `${UP}compare.html#p=${slug}` }, "compare with others")));
}

for (const [kind, start] of [["record", startRecord], ["rounds", startRounds]]) {
  document.querySelectorAll(`.${kind}`).forEach(start);
}
if (/\/players\/[^/]*$/.test(location.pathname)) document.querySelectorAll(".facts").forEach(startComparing);

if (UP) {
  document.querySelector("header nav").append(...["Players", "Years", "Events", "Records", "Compare"]
    .map((name) => element("a", { href: `${UP}${name.toLowerCase()}.html` }, name)));
}
