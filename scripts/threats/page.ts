import { missingTest } from "../fidelity/check.ts";
import { cell, testsCell } from "../fidelity/page.ts";
import type { Area } from "./threats.ts";

/** The complete docs/threats.md. */
export function threatsPage(areas: readonly Area[]): string {
  return `${[
    "# Threats",
    "",
    "This page lists what an attacker could try, what stops it, and the tests that show it. `npm run threats` generates it.",
    "[SECURITY.md](../SECURITY.md) has the promises, their limits, and how to report a vulnerability.",
    "",
    ...areas.flatMap(({ title, threats }) => [
      `## ${title}`,
      "",
      "| threat | defense | tests |",
      "|---|---|---|",
      ...threats.map(
        ({ threat, defense, tests }) => `| ${cell(threat)} | ${cell(defense)} | ${testsCell(tests)} |`,
      ),
      "",
    ]),
  ].join("\n")}`;
}

/** Threats without a test, with one that does not exist, or listed twice; `read` as in problemsOf. */
export function threatsProblems(areas: readonly Area[], read: (file: string) => string | null): string[] {
  const threats = areas.flatMap((area) => area.threats);
  const texts = threats.map(({ threat }) => threat);
  return [
    ...threats.filter(({ tests }) => tests.length === 0).map(({ threat }) => `no test shows: ${threat}`),
    ...texts.filter((text, at) => texts.indexOf(text) !== at).map((text) => `duplicate threat: ${text}`),
    ...threats.flatMap(({ tests }) => tests.flatMap((test) => missingTest(test, read) ?? [])),
  ];
}
