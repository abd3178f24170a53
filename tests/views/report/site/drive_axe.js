// Run inside pages by test_accessible.py: writes down what axe-core finds.
addEventListener("load", async () => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  document.querySelectorAll("details").forEach((node) => { node.open = true; });
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const found = violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary})`).join("; ")}`);
  const out = document.createElement("pre");
  out.id = "told";
  out.textContent = JSON.stringify({ dark: matchMedia("(prefers-color-scheme: dark)").matches, found });
  document.body.append(out);
});
