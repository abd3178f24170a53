const OFFERED = 12;

/** Players whose name has every word typed at the beginning of a word; else nearly so.
 *  Names that have all of them as whole words are first, then those of most games. */
function matches(text, among) {
  const words = fold(text).split(" ").filter(Boolean);
  if (!words.length) return [];
  const missing = (player) => words.filter((word) => !` ${player.folded} `.includes(` ${word} `)).length;
  const chosen = (fits) => among.filter(fits).map((player) => [missing(player), player])
    .sort(([a, first], [b, second]) => a - b || second.games - first.games).slice(0, OFFERED).map(([, player]) => player);
  const found = chosen((player) => words.every((word) => ` ${player.folded}`.includes(` ${word}`)));
  if (found.length) return found;
  return chosen((player) => words.every((word) => player.folded.split(" ").some((part) => nearly(word, part))));
}

/** Whether a word is spelled like the beginning of another but for a letter in four; swapped neighbours are one. */
function nearly(word, whole) {
  const allowed = Math.floor(word.length / 4);
  if (!allowed || whole.length < word.length - allowed || whole[0] !== word[0]) return false;
  let [before, row] = [[], Array.from({ length: whole.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= word.length; i++) {
    const next = [i];
    for (let j = 1; j <= whole.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (word[i - 1] !== whole[j - 1]));
      if (i > 1 && word[i - 2] === whole[j - 1] && word[i - 1] === whole[j - 2]) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return Math.min(...row) <= allowed;
}

/** A field that offers players; `find` gives those that a text means, at once or later. */
function startCombobox(input, list, chosen, find) {
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
  const offer = async () => {
    const text = input.value;
    const found = find(text);
    offered = found instanceof Promise ? await found : found;
    if (text !== input.value) return;
    list.replaceChildren(...(offered.length ? offered.map(option) : [nobody]));
    list.hidden = !fold(text);
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
    mark(offered.length ? 0 : -1);
  };
  const nobody = element("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "No player of this name.");
  const option = (player, index) => element("li", {
    role: "option",
    id: `${input.id}-option-${index}`,
    "aria-selected": "false",
    onmousedown: (event) => event.preventDefault(),
    onclick: () => take(player),
  }, player.name, " ", element("small", {}, player.note ?? `${player.games === 1 ? "1 game" : `${plain(player.games)} games`}, ${player.years}`));

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
