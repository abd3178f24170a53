const D = JSON.parse(document.getElementById("data").textContent);
const T = D.labels.length;

/** The row of a player's history that holds in period t, -1 outside the first to the last. */
function rowAt(player, t) {
  const { at } = player;
  if (t < at[0] || t > at[at.length - 1]) return -1;
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (at[middle] <= t) low = middle; else high = middle - 1;
  }
  return low;
}
