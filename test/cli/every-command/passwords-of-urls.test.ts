import { expect, test } from "vitest";
import { maskedUserinfo } from "../../../src/http/mask.ts";
import { listedCommands } from "../../support/listed-commands.ts";
import { createWorld } from "../../support/world.ts";

const password = "hunter2";

/** Forms of a URL that no flag accepts, and one that some do. */
const urls = [
  `http://user:${password}@h.example.com:x/`,
  `ftp://user:${password}@h.example.com/`,
  `user:${password}@h.example.com`,
  `http://user:${password}/x@h.example.com`,
  `import.*=http://user:${password}@h.example.com/"x`,
  `https://user:${password}@h.example.com/`,
];

test("an error never shows the password in the URL of a flag", async () => {
  const world = await createWorld({ env: { CAT_WEBHOOK_SECRET: "whsec_of_test" } });
  const { commands, global_flags: globals } = await listedCommands();
  const lines = [...commands, { name: "products list", arguments: [], flags: globals }].flatMap((one) =>
    one.flags
      .filter(({ value }) => value?.includes("URL"))
      .flatMap(({ flag }) =>
        // A notice would be sent to the last one.
        (flag === "--notify" ? urls.slice(0, -1) : urls).map((url) => [
          ...one.name.split(" "),
          ...one.arguments.filter(({ required }) => required).map(({ choices }) => choices?.[0] ?? "x"),
          ...(one.name === "webhooks create" ? ["--events", "all"] : []),
          ...(one.name === "webhooks replay" ? ["--failed"] : []),
          ...(flag === "--public-url" ? ["--host", "nowhere.invalid"] : []),
          ...[flag, url],
        ]),
      ),
  );
  const flags = new Set(lines.map((line) => line.at(-2)));
  expect([...flags].sort()).toEqual([
    ...["--base-url", "--endpoint", "--forward-to", "--notify", "--public-url", "--route", "--to", "--url"],
  ]);
  const showing: string[] = [];
  for (const line of [...lines, ["api", "GET", urls[0]!], ["webhooks", urls[1]!]]) {
    const { stderr } = await world.cat(line);
    if (stderr.includes(password)) showing.push(`${line.join(" ")}: ${stderr}`);
  }
  expect(showing).toEqual([]);
});

test("the rest of the text is shown", () => {
  expect(maskedUserinfo('invalid --to "http://user:pw@host:1/x": use EVENTS=http://host/')).toBe(
    'invalid --to "http://…@host:1/x": use EVENTS=http://host/',
  );
  for (const text of [
    'unknown event "a@b"',
    "file C:/x.csv",
    '"http://host:3000/x"',
    "sent to me@shop.com",
  ]) {
    expect(maskedUserinfo(text)).toBe(text);
  }
});
