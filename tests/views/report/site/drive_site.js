// Run inside pages by test_browser.py: uses them as a reader would, and writes down what happened.
const $ = (id) => document.getElementById(id);
const set = (node, value) => { node.value = value; node.dispatchEvent(new Event("input", { bubbles: true })); };
const column = (id, at) => [...$(id).tBodies[0].rows].map((row) => row.cells[at]?.textContent.trim() ?? "");
const soon = () => new Promise((resolve) => setTimeout(resolve, 200));
const until = async (there) => { for (let tries = 0; tries < 5 && !there(); tries++) await soon(); };
const offered = async (id, text) => {
  const list = $(`${id}-options`);
  list.replaceChildren();
  set($(id), text);
  await until(() => list.children.length);
  return [...list.children].map((node) => node.textContent);
};
const curves = () => [...new Set([...document.querySelectorAll("#chart .points[data-player]")].map((node) => node.dataset.player))];
const told = {};
(async () => {
  await soon();
  told.found = await offered("find", new URLSearchParams(location.search).get("find"));
  told.event = await offered("find", "1861 lon");
  told.year = await offered("find", "1861");
  told.nobody = await offered("find", "qqqq");
  told.ordered = [...document.querySelectorAll("th[aria-sort]")].map((head) => `${head.closest("table").id}.${head.cellIndex}.${head.getAttribute("aria-sort")}`);
  if ($("opponents-table")) {
    const head = $("games-table").tHead.rows[0].cells;
    head[3].querySelector("button").click();
    told.first = column("games-table", 3);
    told.events = column("games-table", 5);
    head[3].querySelector("button").click();
    told.second = column("games-table", 3);
    told.sorted = head[3].getAttribute("aria-sort");
  }
  told.shown = [...document.querySelectorAll("h1, section > h2")].filter((node) => node.offsetParent).map((node) => node.textContent);
  told.title = document.title;
  told.links = [...document.querySelectorAll("main a, nav a")].map((node) => node.href);
  if ($("versus-table")) {
    await until(() => curves().length === decodeURIComponent(location.hash).split(",").length);
    told.rated = document.querySelectorAll(".rated").length;
    told.dotted = $("chart").nextElementSibling.textContent;
    $("chart").querySelector("svg")?.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
    told.read = $("curves-status").textContent;
    told.curves = curves();
    told.cells = [...$("versus-table").querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.querySelector("select")?.value ?? cell.textContent));
    const chooser = $("versus-table").querySelector("select");
    if (chooser) {
      chooser.value = chooser.options[chooser.options.length - 1].value;
      chooser.dispatchEvent(new Event("change"));
    }
    told.more = await offered("player", "kolisch");
    const details = $("curves-table").closest("details");
    details.open = true;
    await soon();
    told.table = $("curves-table").textContent;
    if ($("by-age")) {
      $("by-age").click();
      $("chart").querySelector("svg").dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
      told.aged = [$("curves-status").textContent, $("chart").querySelector(".unit").textContent, curves(), $("unknown-births").textContent];
    }
  }
  told.address = location.hash;
  told.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const texts = [];
  for (let walk = document.createTreeWalker(document, NodeFilter.SHOW_TEXT), node; (node = walk.nextNode());) {
    if (!["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.parentElement.tagName)) texts.push(node.data);
  }
  for (const node of document.querySelectorAll("*")) texts.push(...["aria-label", "placeholder", "title"].map((name) => node.getAttribute(name) ?? ""));
  told.texts = texts.filter((text) => text.trim());
  told.errors = errors;
  told.requests = performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !/^(file|data):/.test(name));
  const out = document.createElement("pre"); out.id = "told"; out.textContent = JSON.stringify(told);
  document.body.append(out);
})();
