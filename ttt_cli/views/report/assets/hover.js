/** A cursor on the curves that follows the pointer or the arrow keys and tells the values of its period. */
function startHover(box, { svg, x: across, y: up, width }) {
  const cursor = shape("line", { class: "cursor", y1: up.to, y2: up.from, visibility: "hidden" });
  const tip = element("div", { class: "tip", hidden: "" });
  svg.append(cursor);
  box.append(tip);
  const shown = withCurves();
  const lowest = Math.min(...shown.map(({ player }) => player.at[0]));
  const highest = Math.max(...shown.map(({ player }) => player.at.at(-1)));
  let now = null;

  const hide = () => {
    tip.hidden = true;
    cursor.setAttribute("visibility", "hidden");
    now = null;
  };
  const tell = (t, aloud) => {
    now = Math.min(Math.max(t, lowest), highest);
    const found = shown.map(({ player, slot }) => ({ player, slot, i: rowAt(player, now) }))
      .filter(({ i }) => i >= 0).sort((a, b) => b.player.mean[b.i] - a.player.mean[a.i]);
    const lines = found.map(({ player, slot, i }) => ({ slot, text: `${player.name} ${points(player.mean[i])}${D.hasSd ? ` ± ${points(player.sd[i])}` : ""}, ${games(player, i)}${margin(player, i)}${rated(player)}` }));
    tip.replaceChildren(element("b", {}, axis.label(now)), ...lines.map(({ slot, text }) =>
      element("div", {}, element("span", { class: "swatch", style: `background: ${colourOf(slot)}` }), text)));
    tip.hidden = false;
    const x = across.at(positionOf(now));
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.setAttribute("visibility", "visible");
    tip.style.left = `${Math.max(0, Math.min(x + 10, box.clientWidth - tip.offsetWidth))}px`;
    if (aloud) byId("curves-status").textContent = `${axis.label(now)}: ${lines.map(({ text }) => text).join("; ") || "nobody"}`;
  };
  const games = (player, i) => {
    const played = player.at[i] === now ? player.played[i] : 0;
    return played === 1 ? "1 game" : played > 0 ? `${plain(played)} games` : "no games";
  };
  const rated = (player) => (ratingIn(player, now) ? `, rating ${ratingIn(player, now)}` : "");
  const margin = (player, i) => (player.margin ? `, draw margin ${points(player.margin[i])}` : "");
  const follow = (event) => {
    const place = svg.getBoundingClientRect();
    const part = ((event.clientX - place.left) * width / place.width - across.from) / (across.to - across.from);
    tell(Math.round((across.low + part * (across.high - across.low) - axis.first) / axis.step), false);
  };

  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (event.key === "Escape") hide();
    else if (event.key === "Home") tell(lowest, true);
    else if (event.key === "End") tell(highest, true);
    else if (step) tell(now === null ? (step > 0 ? lowest : highest) : now + step, true);
    else return;
    event.preventDefault();
  });
}
