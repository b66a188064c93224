import { test } from "vitest";
import { run, scenarios } from "./scenarios.js";

test.each(Object.entries(scenarios))("%s", (_name, scenario) => run(scenario));
