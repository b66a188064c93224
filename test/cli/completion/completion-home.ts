import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { openState } from "../../../src/state/state.ts";

/** Fills a settings folder with two profiles; the first one keeps the references of the last list. */
export async function completionHome(home: string): Promise<void> {
  mkdirSync(home);
  const profiles = { default: { baseUrl: "https://h.example" }, studio: { baseUrl: "https://s.example" } };
  writeFileSync(join(home, "config.json"), JSON.stringify({ profiles }));
  const state = await openState(join(home, "state", "default.db"), { clock: systemClock() });
  const names = [
    ["DRESS-1", "Linen dress"],
    ["DRESS 2", ""],
    ["red:it's 5\"$x", ""],
    ["bad\u001bname", ""],
  ];
  state.marks.set("https://h.example", "completion:products", JSON.stringify(names));
  state.close();
}
