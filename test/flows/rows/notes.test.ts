import { describe, expect, test } from "vitest";
import { problemReport, problemsForPeople } from "../../../src/cli/output/problem-list.ts";
import { importForm } from "../../../src/flows/import/import-form.ts";
import { LocalPhotos } from "../../../src/flows/photos/local-photos.ts";
import { checkFile } from "../../../src/flows/rows/check.ts";
import { type FieldNote, FileNotes } from "../../../src/flows/rows/notes.ts";
import { textSource } from "../../../src/flows/rows/open-rows.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const place = { line: 7, param: "name" };

describe("notes of a file", () => {
  test("have the count of their kind, and the first place", () => {
    const notes = new FileNotes();
    notes.add({ code: "lines_above_header", value: "a title" }, () => place);
    const another = { code: "lines_above_header", value: "another" } as const;
    notes.add(another, () => expect.fail("only the first place is looked up"), 2);
    expect(notes.list()).toEqual([
      {
        code: "lines_above_header",
        count: 3,
        line: 7,
        param: "name",
        value: "a title",
        message: "3 lines above the header were not read",
      },
    ]);
  });

  test("change neither counts nor problems, and leave out rows beyond a limit", async () => {
    const names = ["A", "B", "C"];
    const text = names
      .map((name) =>
        JSON.stringify({ reference: name, name, images: [{ url: `https://cdn.example.com/${name}.jpg` }] }),
      )
      .join("\n");
    const form = {
      ...importForm(new Map(), new LocalPhotos({ root: "." })),
      notes: (row: unknown): FieldNote[] => [
        { code: "lines_above_header", param: "name", value: (row as { name: string }).name },
      ],
    };
    const { check } = await checkFile(
      { source: await textSource("rows", text), read: {}, form, limit: 2 },
      { random: seededRandom(1), onProblem: () => expect.fail("no problem") },
    );
    const message = "2 lines above the header were not read";
    const note = { code: "lines_above_header", count: 2, line: 1, param: "name", value: "A", message };
    expect(check).toEqual({ total: 2, valid: 2, invalid: 0, unusable: false, left: 1, notes: [note] });
  });
});

describe("a list of problems", () => {
  const note = { code: "lines_above_header" as const, count: 1, ...place, value: "x", message: "a note" };
  const check = { total: 1, valid: 1, invalid: 0, unusable: false, notes: [note] };

  test.each([[true], [false]])("ends with the notes for people (terminal: %s)", async (isTTY) => {
    const lines: string[] = [];
    const io = {
      line: async () => expect.fail("--quiet leaves notes out"),
      note: async (line: string) => void lines.push(line),
      visible: (text: string) => text,
      paintNote: undefined as never,
    };
    const app = { io, context: { stderr: { isTTY, columns: 80 } as never } };
    await problemsForPeople("products.csv", app, { listsAll: "--json" }).end(check);
    expect(lines).toEqual(["products.csv:7  a note."]);
  });

  test("has them in the report for programs, with others", async () => {
    const pieces: string[] = [];
    const write = async (piece: string) => void pieces.push(piece);
    await problemReport("products.csv", write, true, { more: () => ({ notes: ["other"] }) }).end(check);
    expect(JSON.parse(pieces.join(""))).toEqual({
      file: "products.csv",
      problems: [],
      total: 1,
      valid: 1,
      invalid: 0,
      notes: [note, "other"],
    });
  });
});
