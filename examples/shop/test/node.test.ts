import { test } from "node:test";
import { run, scenarios } from "./scenarios.js";

for (const [name, scenario] of Object.entries(scenarios)) test(name, () => run(scenario));
