import { test } from "@jest/globals";
import { run, scenarios } from "./scenarios.js";

test.each(Object.entries(scenarios))("%s", (_name, scenario) => run(scenario));
