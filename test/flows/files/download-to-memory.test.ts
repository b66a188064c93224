import { expect, test } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { downloadToMemory, mostInMemory } from "../../../src/flows/files/download-to-memory.ts";

/** A client that announces so many bytes, gives some, starts over, and gives two chunks. */
const announcing = (total: number | null): Pick<Client, "downloadInto"> => ({
  async downloadInto(target) {
    await target.begin({ validator: null, total });
    await target.write(Buffer.from("dropped"));
    await target.begin({ validator: null, total });
    await target.write(Buffer.from("ab"));
    await target.write(Buffer.from("c"));
    return 3;
  },
});

test("keeps the chunks of the version that was complete", async () => {
  const chunks = await downloadToMemory(announcing(3), {
    url: "https://cdn.example.com/a.png",
    path: "/none/a.png",
  });
  expect(Buffer.concat(chunks!).toString()).toBe("abc");
});

test.for([mostInMemory + 1, null])("gives null for a file of %s bytes", async (total) => {
  expect(
    await downloadToMemory(announcing(total), { url: "https://cdn.example.com/a.png", path: "/none/a.png" }),
  ).toBe(null);
});
