import { describe, expect, test } from "vitest";
import { type ListedProblem, ProblemGroups } from "../../../src/cli/output/problem-groups.ts";

const problem = (line: ListedProblem["line"], more: Partial<ListedProblem> = {}): ListedProblem => ({
  ...{ line, param: "name", code: "invalid_row", message: "name is missing" },
  ...more,
});

function groupsOf(problems: readonly ListedProblem[], limit = 1000) {
  const groups = new ProblemGroups(limit);
  for (const one of problems) groups.add(one, one.message);
  return groups;
}

const wheres = (...lines: ListedProblem["line"][]) =>
  groupsOf(lines.map((line) => problem(line)))
    .inOrder()
    .map(({ where }) => where);

describe("the lines of a group", () => {
  test.each([
    [[3], "line 3"],
    [[3, 4], "lines 3-4 (2 rows)"],
    [[3, 7, 12, 13, 14], "lines 3, 7, 12-14 (5 rows)"],
    [[2, 4, 6, 8, 10, 12, 14, 16], "lines 2, 4, 6, 8, 10, 12, 14, 16 (8 rows)"],
    [[2, 4, 6, 8, 10, 12, 14, 16, 18, 19], "lines 2, 4, 6, 8, 10, 12, 14, 16 and more (10 rows)"],
    [Array.from({ length: 1500 }, (_, index) => index + 2), "lines 2-1501 (1,500 rows)"],
  ])("of %j are %j", (lines, where) => {
    expect(wheres(...lines)).toEqual([where]);
  });

  test("name a row once that has the problem in several parts", () => {
    expect(wheres(3, 3, 4, 4)).toEqual(["lines 3-4 (2 rows)"]);
  });

  test("may be a range, as the service reports it for a batch", () => {
    expect(wheres("2-2001")).toEqual(["lines 2-2001"]);
  });
});

describe("problems are grouped", () => {
  test("by field, code and message, the most frequent first, then in the order of the file", () => {
    const sex = { param: "sex", message: "sex is wrong" };
    const reference = { param: "reference", message: "reference is missing" };
    const problems = [problem(2, reference), problem(3), problem(4, sex), problem(5, sex)];
    expect(groupsOf(problems).inOrder()).toEqual([
      { field: "sex", message: "sex is wrong", where: "lines 4-5 (2 rows)" },
      { field: "reference", message: "reference is missing", where: "line 2" },
      { field: "name", message: "name is missing", where: "line 3" },
    ]);
  });

  test("with the header first, in the order of its columns and without a line", () => {
    const unknown = (param: string) =>
      problem(1, { param, code: "unknown_column", message: `unknown ${param}` });
    const problems = [problem(2), problem(3), unknown("b"), unknown("a")];
    expect(groupsOf(problems).inOrder()).toEqual([
      { field: "b", message: "unknown b", where: null },
      { field: "a", message: "unknown a", where: null },
      { field: "name", message: "name is missing", where: "lines 2-3 (2 rows)" },
    ]);
  });

  const quoting = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      problem(index + 2, { message: `must start with https://: "http://a.example/${index}.jpg"` }),
    );

  test("separately if at most five messages differ in the quoted text", () => {
    expect(groupsOf(quoting(5)).inOrder()).toHaveLength(5);
  });

  test("together if more messages differ only in the quoted text, with the first as an example", () => {
    expect(groupsOf(quoting(300)).inOrder()).toEqual([
      {
        field: "name",
        message: 'must start with https://: "http://a.example/0.jpg" (the first of 300 similar problems)',
        where: "lines 2-301 (300 rows)",
      },
    ]);
  });

  test("together if more messages differ only in a path or a number", () => {
    const paths = Array.from({ length: 6 }, (_, index) =>
      problem(index + 2, { message: `is not a file (there is no /photos/${index}.jpg)` }),
    );
    expect(groupsOf(paths).inOrder()).toHaveLength(1);
  });

  test("up to a limit: further kinds are counted, further lines of known kinds are added", () => {
    const other = (line: number, letter: string) =>
      problem(line, { param: letter, message: `${letter} is wrong` });
    const groups = groupsOf([other(2, "a"), other(3, "b"), other(4, "c"), other(5, "a"), other(6, "d")], 2);
    expect(groups.inOrder().map(({ field, where }) => [field, where])).toEqual([
      ["a", "lines 2, 5 (2 rows)"],
      ["b", "line 3"],
    ]);
    expect(groups.omitted).toBe(2);
  });

  test("in limited memory, however many problems the file has", () => {
    const groups = groupsOf([]);
    for (let index = 0; index < 100_000; index++) {
      const line = 2 * index + 2;
      groups.add(problem(line), "name is missing");
      groups.add(problem(line, { param: `column ${index}` }), "is wrong");
    }
    expect(groups.omitted).toBe(100_000 - 999);
    expect(JSON.stringify(groups.inOrder()).length).toBeLessThan(100_000);
  });
});
