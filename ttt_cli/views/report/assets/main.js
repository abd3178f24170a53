const SHOWN_AT_FIRST = 4;

/** Those who led in the most periods. */
function longestLeaders() {
  const led = new Map();
  for (const { player, from, to } of reigns(filter)) led.set(player, (led.get(player) ?? 0) + to - from + 1);
  return [...led].sort((a, b) => b[1] - a[1]).slice(0, SHOWN_AT_FIRST).map(([player]) => player);
}

startRanking();
startCombobox(byId("player"), byId("player-options"), choose, (text) => matches(text, players));
longestLeaders().forEach((player) => choose(player, false));
redraw();
startFigures();
startDownloads();
byId("curves-table").closest("details").addEventListener("toggle", redraw);
let wide = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === wide) return;
  wide = window.innerWidth;
  drawCurves();
});
