// Prints ratios, each measured side by side in this one run: `npm run bench`, or `npm run bench -- start-up check`.
import { benches } from "./benches.js";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}.`);
  process.exitCode = 2;
} else {
  const rows = [["what", "ratio", "goal", ""]];
  for (const [name, measure] of Object.entries(benches)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const { what, ratio, goal, atMost, note } of await measure()) {
      const met = atMost ? ratio <= goal : ratio >= goal;
      const row = [
        what,
        `${ratio.toFixed(2)} x`,
        `${atMost ? "<=" : ">="} ${goal} x`,
        met ? "met" : "SHORT",
        note ?? "",
      ];
      rows.push(row);
      console.error(row.join("  "));
    }
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  console.log();
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
