import { describe, expect, test } from "vitest";
import { s3Server } from "../../support/s3-server.ts";
import { fileContract, fileIn, pieces, whole, write } from "./file-contract.ts";

describe("a file in a bucket", () => {
  const open = async () => {
    const store = await s3Server();
    return { ...fileIn({ endpoint: store.origin, env: store.env(store.origin) }), store };
  };
  fileContract(open);

  test.each(["a failure", "an interrupt"])("leaves no parts after %s", async (what) => {
    const { file, store, interrupt, content } = await open();
    const begun = file();
    await write(begun, pieces.slice(0, 20));
    expect(store.uploads.size).toBe(1);
    if (what === "an interrupt") {
      interrupt.abort(new Error("interrupted"));
      await expect(write(begun, pieces)).rejects.toThrow("interrupted");
    }
    await begun.discard();
    expect(store.uploads.size).toBe(0);
    expect(store.objects.size).toBe(0);
    if (what === "a failure") expect(await content()).toBeNull();
  });

  test("is complete although the response to its end got lost", async () => {
    const { file, store, content } = await open();
    const begun = file();
    await write(begun, pieces);
    let times = 1;
    store.faults.instead = (method) => (method === "POST" && times-- > 0 ? "cut" : null);
    await begun.commit();
    expect((await content())!.equals(whole)).toBe(true);
  });
});
