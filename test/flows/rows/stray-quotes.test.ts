import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLong, repetitions } from "../../support/repetitions.ts";
import { check, checkWhole } from "./check-support.ts";

const url = "https://cdn.example.com/a.jpg";
const head = "reference,name,description,images\n";
const good = (reference: string) => `${reference},Dress,,${url}\n`;

/** The check result of a text below the usual header: rows and problems. */
async function told(rows: string) {
  const { total, valid, invalid, unusable, problems } = await check(head + rows);
  return { counts: [total, valid, invalid], unusable, problems };
}

describe("a stray quote", () => {
  test.each([
    ["within a cell", `A,5" heel,,${url}\n`, ["2 name stray_quote"]],
    ["at the end of a cell", `A,5",,${url}\n`, ["2 name stray_quote"]],
    ["before text that follows the closing quote", `A,"5" heel,,${url}\n`, ["2 name stray_quote"]],
    ["in a cell in quotes that has another one", `A,"5" heel",,${url}\n`, ["2 name stray_quote"]],
    ["in several cells, of which the first is reported", `A,5",6",${url}\n`, ["2 name stray_quote"]],
    ["in the reference", `5",Dress,,${url}\n`, ["2 reference stray_quote"]],
    ["in a row that is too long", `A,5",,${url},x,"y"\n`, ["2 name stray_quote"]],
    ["in a cell that the header has no column for", `A,B,,${url},5"\n`, ["2 stray_quote"]],
    ["in the last row, without a line end", `A,5",,${url}`, ["2 name stray_quote"]],
  ])("%s", async (_, row, problems) => {
    const isLast = !row.endsWith("\n");
    expect(await told(isLast ? row : `${row}B,,,${url}\n${good("C")}`)).toEqual({
      counts: isLast ? [1, 0, 1] : [3, 1, 2],
      unusable: false,
      problems: isLast ? problems : [...problems, "3 name invalid_row"],
    });
  });

  test("is reported with the reference, if that is before the quote, and the fix", async () => {
    const { problems } = await checkWhole(`${head}A,5" heel,,${url}\n5",Dress,,${url}\n`);
    const message = 'stray quote (") in a cell: remove it or double it ("") and put quotes around the cell';
    expect(problems).toEqual([
      { line: 2, reference: "A", param: "name", code: "stray_quote", message },
      { line: 3, param: "reference", code: "stray_quote", message },
    ]);
  });

  test("does not change the line numbers around multi-line cells, even in its own row, with any line ends", async () => {
    const cell = '"one\r\ntwo\nthree\rfour ""and"" five"';
    const rows = `A,Dress,${cell},${url}\r\n\r\nB,5",${cell},${url}\rC,,${cell},${url}\n`;
    expect(await told(rows)).toEqual({
      counts: [3, 1, 2],
      unusable: false,
      problems: ["7 name stray_quote", "11 name invalid_row"],
    });
  });

  test("that opens a cell which a later line seems to close spoils only its own line", async () => {
    expect(await told(`A,"5 heel,,${url}\nB,"Coat",,${url}\n${good("C")}`)).toEqual({
      counts: [3, 2, 1],
      unusable: false,
      problems: ["2 name stray_quote"],
    });
  });

  test("leaves a reference before it known: the same one in another row is a duplicate", async () => {
    expect(await told(`A,5",,${url}\n${good("A")}`)).toMatchObject({
      problems: ["2 name stray_quote", "3 reference duplicate_reference_in_file"],
    });
  });

  test("hides a reference after it: the same one in another row is not a duplicate", async () => {
    const { problems } = await check(`name,reference,images\n5",A,${url}\nCoat,A,${url}\n`);
    expect(problems).toEqual(["2 name stray_quote"]);
  });

  test("in the header makes every row doubtful", async () => {
    expect(await check(`reference,na"me,images\nA,Dress,${url}\nB,,${url}\n`)).toEqual({
      total: 2,
      valid: 0,
      invalid: 2,
      unusable: true,
      problems: ['1 na"me stray_quote'],
    });
  });

  test("is found below a sep= line, in UTF-16, with a delimiter of several bytes", async () => {
    const text = `sep=·\nreference·name·images\nA·5" heel·${url}\nB·"a·b"·${url}\nC··${url}\n`;
    const found = await check(Buffer.from(`\ufeff${text}`, "utf16le"));
    expect(found).toMatchObject({
      total: 3,
      valid: 1,
      problems: ["3 name stray_quote", "5 name invalid_row"],
    });
  });

  test("is found far into a file, wherever a block ends", async () => {
    const rows = Array.from({ length: 3000 }, (_, index) =>
      index % 1000 === 999 ? `R${index},${index}",,${url}\n` : good(`R${index}`),
    );
    for (const pad of ["", "é", "éé", "x"])
      expect(await told(`${rows.join("")}S,${pad.repeat(70_000)},,${url}\n`)).toEqual({
        counts: [3001, 2997, 4],
        unusable: false,
        problems: [...[1001, 2001, 3001].map((line) => `${line} name stray_quote`), "3002 name invalid_row"],
      });
  });
});

describe("unreadable text ends the check, and the rows before it are counted", () => {
  test.each([
    ["an unclosed quote", `D,"Coat,,${url}\n${good("E")}`, "5 unclosed_quote"],
    ["a record of 2 MiB", `D,${"x".repeat(2 ** 21)},,${url}\n${good("E")}`, "5 record_too_long"],
    ["a cell of 5 MiB in quotes", `D,"${"x".repeat(5 * 2 ** 20)}",,${url}\n`, "5 record_too_long"],
    ...repetitions(
      [],
      [
        ["a record of 5 MiB with a stray quote", `D,5"${"x".repeat(5 * 2 ** 20)}\n`, "5 record_too_long"],
        ["5 MiB of empty cells", `D${",".repeat(5 * 2 ** 20)}\n`, "5 record_too_long"],
      ],
    ),
  ])("%s", async (_, rest, problem) => {
    expect(await told(`A,5",,${url}\n${good("B")}C,,,${url}\n${rest}`)).toEqual({
      counts: [3, 1, 2],
      unusable: true,
      problems: ["2 name stray_quote", "4 name invalid_row", problem],
    });
  });

  test("even if no quote is stray", async () => {
    expect(await told(`${good("B")}C,,,${url}\nD,"Coat,,${url}\n${good("E")}`)).toEqual({
      counts: [2, 1, 1],
      unusable: true,
      problems: ["3 name invalid_row", "4 unclosed_quote"],
    });
  });

  test.runIf(isLong)("a cell of 70 MB after a stray quote takes no memory", async () => {
    const text = Buffer.concat([Buffer.from(`${head}A,5",,${url}\nB,"`), Buffer.alloc(70_000_000, "x")]);
    const before = process.memoryUsage().rss;
    expect((await check(text)).problems).toEqual(["2 name stray_quote", "3 record_too_long"]);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });
});

// With delimiters on both lines, no cell of several lines could be two rows.
const cell = fc
  .string({ unit: fc.constantFrom(..."aé ,;\n\r'"), maxLength: 6 })
  .map((text) => (/[\n\r]/.test(text) ? text.replaceAll(",", ";") : text))
  .map((text) => (/[,\n\r]/.test(text) ? `"${text}"` : text));
const someRows = fc.array(
  fc.record({ name: cell, isSpoilt: fc.boolean(), lineEnd: fc.constantFrom("\n", "\r\n", "\r") }),
  { minLength: 1, maxLength: 12 },
);

test("planted quotes are reported on their rows, and the other rows keep their problems", async () => {
  await fc.assert(
    fc.asyncProperty(someRows, async (rows) => {
      const text = (isPlanted: boolean) =>
        head +
        rows
          .map(({ name, isSpoilt, lineEnd }, index) => {
            const description = isSpoilt ? (isPlanted ? 'x"' : "x") : "";
            return `R${index % 7},${name},${description},${url}${lineEnd}`;
          })
          .join("");
      const [planted, plain] = [await checkWhole(text(true)), await checkWhole(text(false))];
      const lines = new Set(
        planted.problems.filter(({ code }) => code === "stray_quote").map(({ line }) => line),
      );
      const spoilt = rows.filter(({ isSpoilt }) => isSpoilt).length;
      expect([lines.size, planted.result.total]).toEqual([spoilt, plain.result.total]);
      expect(planted.result.invalid + planted.result.valid).toBe(rows.length);
      const ofOthers = (problems: typeof plain.problems) =>
        problems.filter(({ line, code }) => !lines.has(line) && code !== "duplicate_reference_in_file");
      expect(ofOthers(planted.problems)).toEqual(ofOthers(plain.problems));
    }),
  );
});
