const OFFERED = 12;

/** Players whose name has every word typed at the beginning of a word, those of most games first. */
function matches(text) {
  const words = fold(text).split(" ").filter(Boolean);
  if (!words.length) return [];
  const fits = (player) => words.every((word) => ` ${player.folded}`.includes(` ${word}`));
  return players.filter(fits).sort((a, b) => b.games - a.games).slice(0, OFFERED);
}

function startCombobox(input, list, chosen) {
  let offered = [];
  let active = -1;

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const take = (player) => {
    input.value = "";
    close();
    chosen(player);
  };
  const mark = (index) => {
    active = index;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === index)));
    if (index < 0) return;
    input.setAttribute("aria-activedescendant", list.children[index].id);
    list.children[index].scrollIntoView({ block: "nearest" });
  };
  const offer = () => {
    offered = matches(input.value);
    list.replaceChildren(...offered.map(option));
    list.hidden = offered.length === 0;
    input.setAttribute("aria-expanded", String(offered.length > 0));
    input.removeAttribute("aria-activedescendant");
    mark(offered.length ? 0 : -1);
  };
  const option = (player, index) => element("li", {
    role: "option",
    id: `option-${index}`,
    "aria-selected": "false",
    onmousedown: (event) => event.preventDefault(),
    onclick: () => take(player),
  }, player.name, " ", element("small", {}, `${plain(player.games)} games, ${D.labels[player.at[0]]}–${D.labels[player.at.at(-1)]}`));

  input.addEventListener("input", offer);
  input.addEventListener("focus", () => { if (input.value) offer(); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    if (list.hidden || !offered.length) return;
    if (event.key === "Enter" && active >= 0) take(offered[active]);
    else if (event.key === "ArrowDown") mark((active + 1) % offered.length);
    else if (event.key === "ArrowUp") mark((active - 1 + offered.length) % offered.length);
    else return;
    event.preventDefault();
  });
}
