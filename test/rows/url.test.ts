import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { urlBreach } from "../../src/contract/url-policy.ts";
import { withUrlProblems } from "../../src/flows/import/url-problems.ts";
import { checkPath, checkWhole } from "../flows/rows/check-support.ts";

const input = (name: string) => fileURLToPath(new URL(`inputs/url/${name}`, import.meta.url));

/** Everything said about a file: `LINE problem` and `COUNT@LINE note`. */
function said({ result, problems }: Awaited<ReturnType<typeof checkPath>>): string[] {
  const notes = (result.notes ?? []).map(({ count, line, code }) => `${count}@${line} ${code}`);
  return [...problems.map(({ line, message }) => `${line} ${message}`), ...notes];
}

const host = "https://cdn.example.com";

describe("inputs that Python wrote", () => {
  test("a table has a problem or a note for every URL that leads to no photo", async () => {
    const put = "has several URLs: put | between them";
    expect(said(await checkPath(input("programs.csv")))).toEqual([
      `8 "['${host}/a.jpg', '${host}/b.jpg']" ${put}`,
      `9 "[\\"${host}/a.jpg\\", \\"${host}/b.jpg\\"]" ${put}`,
      `12 images ${put}`,
      `15 "\\"${host}/a.jpg\\"" is not a URL: write the URL alone`,
      `17 "//cdn.example.com/a.jpg" is not a URL: add https: at the start`,
      `18 "https%3A//cdn.example.com/a.jpg" is not a URL: write : and / instead of %3A and %2F`,
      `19 images is not a URL: "${host}/red bag.jpg": write %20 instead of each space`,
      "1@2 url_html_code",
      "1@3 url_without_path",
      "2@4 url_without_value",
      "2@6 url_placeholder",
      "2@10 several_urls",
      "1@14 url_separator",
      "1@16 url_error_name",
    ]);
  });

  test("objects are judged as cells are, and what cannot be seen at the ends of a URL is cut", async () => {
    expect(said(await checkPath(input("programs.ndjson")))).toEqual([
      `4 images[0].url is not a URL: "${host}/red bag.jpg": write %20 instead of each space`,
      `5 images[0].url is not a URL: "${host}/red\u00a0bag.jpg": write %20 instead of each space`,
      `6 images[0].url is not a URL: "//cdn.example.com/a.jpg": add https: at the start`,
      `7 images[0].url is not a URL: "\\"${host}/a.jpg\\"": write the URL alone`,
      "1@1 url_html_code",
      "1@3 several_urls",
    ]);
  });
});

describe("the problem of a URL says how to write it", () => {
  test.each([
    [`${host}/a b.jpg`, "write %20 instead of each space"],
    [`${host}/a\u00a0b.jpg`, "write %20 instead of each space"],
    [`${host}/a\u200bb.jpg`, "remove characters that cannot be seen"],
    [`${host}\\temp\\a.jpg`, "write / instead of \\"],
    [`https:\\\\cdn.example.com\\a.jpg`, "write / instead of \\"],
    ["//cdn.example.com/a.jpg", "add https: at the start"],
    ["//cdn.example.com/a b.jpg", "add https: at the start, write %20 instead of each space"],
    [`<${host}/a.jpg>`, "write the URL alone"],
    [`'${host}/a.jpg'`, "write the URL alone"],
    [`“${host}/a b.jpg”`, "write the URL alone, write %20 instead of each space"],
    ["<//cdn.example.com/a.jpg>", "write the URL alone, add https: at the start"],
    [`![x](${host}/a.jpg)`, "write the URL alone"],
    [`<img src=${host}/a.jpg>`, "write the URL alone"],
    [`a.jpg (${host}/a.jpg)`, "write the URL alone"],
    [`Photo: ${host}/a.jpg`, "write the URL alone"],
    [`${host}/a.jpg the front`, "write the URL alone"],
    ["https//cdn.example.com/a.jpg", "write https:// at the start"],
    ["https:/cdn.example.com/a.jpg", "write https:// at the start"],
    ["htps://cdn.example.com/a.jpg", "write https:// at the start"],
    ["ttps://cdn.example.com/a.jpg", "write https:// at the start"],
    ["https:///cdn.example.com/a.jpg", "write https:// at the start"],
    [`https://${host}/a.jpg`, "write https:// once"],
    ["https:// cdn.example.com/a.jpg", "write https:// without a space"],
    ["https ://cdn.example.com/a.jpg", "write https:// without a space"],
    ["https: //cdn.example.com/a b.jpg", "write https:// without a space, write %20 instead of each space"],
    [`[${host}/a.jpg`, "remove the brackets around the list"],
    ["data:image/png;base64,iVBORw0KGgo=", "save the picture as a file, and use its path"],
  ])("%j", async (url, todo) => {
    const cell = `"${url.replaceAll('"', '""')}"`;
    const { problems } = await checkWhole(`reference,name,image_front\nA-1,Bag,${cell}\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ line: 2, param: "image_front" });
    expect(problems[0]!.message).toMatch(/^.*: (.*)$/);
    expect(problems[0]!.message.endsWith(`: ${todo}`)).toBe(true);
  });

  test("of a path that may be a host, without hiding where the file was looked for", async () => {
    const { problems } = await checkWhole("reference,name,image_front\nA-1,Bag,cdn.example.com/a.jpg\n");
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^"cdn\.example\.com\/a\.jpg" is not a URL, an image ID or an existing file \(.*cdn\.example\.com.a\.jpg does not exist\): for a URL, add https:\/\/ at the start$/,
      ),
    ]);
  });

  test.each([
    "http://cdn.example.com/a.jpg",
    "https://localhost/a b.jpg",
    "//nas/photos/a.jpg",
    "photos/a b.jpg",
    "ftp://cdn.example.com/a.jpg",
    "\\\\nas.example.com\\photos\\a.jpg",
    "https://u:p@cdn.example.com/a b.jpg",
  ])("unless nothing simple makes it right: %j", async (url) => {
    const { problems } = await checkWhole(`reference,name,image_front\nA-1,Bag,${url}\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).not.toMatch(/: (?:write|add|remove) (?!\||a folder|--)/);
  });

  test("whatever several damages it has", () => {
    const scheme = fc.constantFrom(
      ["https://", ""],
      ["//", "add https: at"],
      ["https:/", "write https:// at"],
    );
    const damages: readonly (readonly [todo: string, damage: (url: string) => string])[] = [
      ["write %20 instead of each space", (url) => url.replace("photos", "my photos")],
      ["remove characters that cannot be seen", (url) => url.replace("photos", "pho\u200btos")],
      ["write the URL alone", (url) => `"${url}"`],
      ["write the URL alone", (url) => `<${url}>`],
    ];
    const everyTodo = ["add https: at", "write https:// at", ...damages.map(([todo]) => todo)];
    const word = fc.stringMatching(/^[a-z\d]{1,9}$/);
    fc.assert(
      fc.property(word, word, scheme, fc.subarray([...damages]), (a, b, [start, todo], several) => {
        const url = `${start}cdn.${a}.example.com/photos/${b}.jpg`;
        const damaged = several.reduce((text, [, damage]) => damage(text), url);
        const found =
          urlBreach(damaged) === null
            ? []
            : [{ param: "images[0].url", code: "invalid_row" as const, message: "images[0].url is wrong" }];
        const [problem] = withUrlProblems(found, { images: [{ url: damaged }] });
        const todos = new Set([todo, ...several.map(([todo]) => todo)].filter((todo) => todo !== ""));
        for (const todo of everyTodo) expect(problem?.message.includes(todo) ?? false).toBe(todos.has(todo));
      }),
    );
  });
});

describe("several URLs in one cell", () => {
  const [a, b] = [`${host}/a.jpg`, `${host}/b.jpg`];
  const photos = 'has 2 photos, but takes one: use the column "images", or one column per photo';

  test.each([
    ["images", `${a},${b}`, "2 images has several URLs: put | between them"],
    ["images", `${a}\\n${b}`, "2 images has several URLs: put | between them"],
    ["images", `${a}\\r\\n${b}\\${a}`, "2 images has several URLs: put | between them"],
    ["images", `${a}//${b}`, "1@2 several_urls"],
    ["image_1", `${a}\\t${b}`, `2 image_1 ${photos} (image_1, image_2)`],
    ["images", `${a}; ${b}`, "2 images has several URLs: put | between them"],
    ["images", `${a},${b}|${a};${b}`, "2 images has several URLs: put | between them"],
    ["image_1", `${a},${b}`, `2 image_1 ${photos} (image_1, image_2)`],
    ["image_1", `${a}\n${b}`, `2 image_1 ${photos} (image_1, image_2)`],
    ["image_1", `x ${a} ${b}`, `2 "x ${a} ${b}" ${photos} (image_1, image_2)`],
    ["image_1", `${a}::${b}`, "1@2 several_urls"],
    ["images", `${a}+${b}|${a}\uff5c${b}|${host}/c.jpg`, "2@2 several_urls"],
    ...[`${a}, b.jpg`, `${a}, cdn.example.com/d.jpg`, `${a} b.jpg`, `${a} ; b.jpg`].map((cell) => [
      "images",
      cell,
      "2 images has several URLs: put | between them",
    ]),
    ...["//cdn.example.com/e.jpg,//cdn.example.com/f.jpg", "cdn.example.com/g.jpg,cdn.example.com/h.jpg"].map(
      (cell) => ["images", cell, `2 "${cell}" has several URLs: put | between them`],
    ),
    ["image_1", `${a}, b.jpg`, `2 image_1 ${photos} (image_1, image_2)`],
    ["image_1", `${a},b.jpg`, "1@2 several_urls"],
    ["image_1", `${host}/x.jpg?v=1, c.jpg`, `2 image_1 ${photos} (image_1, image_2)`],
    ["image_1", `${a},cdn.example.com/b.jpg`, "1@2 several_urls"],
  ] as [string, string, string][])("in %s: %j", async (column, cell, expected) => {
    expect(said(await checkWhole(`reference,name,${column}\nA-1,Bag,"${cell}"\n`))).toEqual([expected]);
  });

  test.each(["w_400,h_400/a.jpg", "l_logo.png,w_100,g_south/a.jpg", "fit/a.jpg?mark=b.png,c.jpg", "a,b.jpg"])(
    "not in a URL of an image service: %s",
    async (path) => {
      expect(said(await checkWhole(`reference,name,image_1\nA-1,Bag,"${host}/${path}"\n`))).toEqual([]);
    },
  );

  test("in a cell longer than a URL can be", async () => {
    const cell = Array.from({ length: 200 }, () => a).join("::");
    expect(said(await checkWhole(`reference,name,image_1\nA-1,Bag,${cell}\n`))).toEqual(["1@2 several_urls"]);
  });

  test("in an object", async () => {
    const row = { reference: "A-1", name: "Bag", images: [{ url: `${a},${b}` }, { path: `${a},${b}` }] };
    expect(said(await checkWhole(JSON.stringify(row), { name: "rows.ndjson" }))).toEqual([
      "1 images[0].url has several URLs: use one image for each",
      `1 images[1].path: "${a},${b}" has several URLs: use one image for each`,
    ]);
  });

  test("with nothing to see between bars, the photos keep their cells", async () => {
    const { result, problems } = await checkWhole(
      `reference,name,image_1,images\nA-1,Bag,\u200b,${a}|\u200b|${b}/{{x}}\n`,
    );
    expect(problems).toEqual([]);
    expect(result.notes).toMatchObject([{ code: "url_placeholder", line: 2, param: "images" }]);
  });
});

test("a note has the count, the first place, the direct form and what to do", async () => {
  const drive = "https://drive.google.com/file/d/1CXl2/view";
  const { result } = await checkWhole(
    `reference,name,image_front\nA-1,Bag,${host}/a.jpg\nA-2,Hat,${drive}?usp=sharing\nA-3,Cap,${drive}\n`,
  );
  const form = "https://drive.google.com/uc?export=download&id=";
  expect(result.notes).toEqual([
    {
      code: "drive_link",
      count: 2,
      line: 3,
      param: "image_front",
      value: `${drive}?usp=sharing`,
      message: `2 links to Google Drive open a page, not a photo (the direct form of the first is ${form}1CXl2). Share each file with anyone who has its link, and write ${form}ID.`,
    },
  ]);
  expect(result).toMatchObject({ total: 3, valid: 3, invalid: 0 });
});
