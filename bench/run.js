// `npm run bench`, or `npm run bench -- start-up check`: prints ratios, each measured side by side in this
// run.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { benches, longBenches } from "./benches.js";
import { root } from "./pairs.js";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(", ")}. Choose from ${Object.keys(benches).join(", ")}.`);
  process.exitCode = 2;
} else {
  const rows = [["what", "ratio", "goal", ""]];
  for (const name of Object.keys(benches)) {
    if (wanted.length > 0 ? !wanted.includes(name) : longBenches.includes(name)) continue;
    for (const found of await measured(name)) {
      const row = rowOf(found);
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

function rowOf({ what, ratio, goal, atMost, note = "", skipped }) {
  const shownGoal = goal === undefined ? "none" : `${atMost ? "<=" : ">="} ${goal} x`;
  if (skipped !== undefined) return [what, "", shownGoal, "skipped", skipped];
  const isMet = atMost ? ratio <= goal : ratio >= goal;
  return [what, `${ratio.toFixed(2)} x`, shownGoal, goal === undefined ? "" : isMet ? "met" : "SHORT", note];
}

/** The rows of a bench, in its own process: leftovers (memory, compiled code) would affect the next one. */
async function measured(name) {
  const child = fork(join(root, "bench/measure-one.js"), [name]);
  const rows = [];
  child.on("message", (found) => rows.push(...found));
  // Messages may arrive after its exit, but not after the end of its channel.
  const [[status]] = await Promise.all([once(child, "exit"), once(child, "disconnect")]);
  if (status !== 0) throw new Error(`the bench ${name} exited with ${status}`);
  return rows;
}
