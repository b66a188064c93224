import { describe, expect } from "vitest";
import { longTest } from "../../support/long-test.ts";
import { s3Server } from "../../support/s3-server.ts";
import { fewPieces, fileContract, fileIn, pieces, whole, write } from "./file-contract.ts";

describe("a file in a bucket", () => {
  const open = async () => {
    const store = await s3Server();
    return { ...fileIn({ endpoint: store.origin, env: store.env(store.origin) }), store };
  };
  fileContract(open);

  longTest.each(["a failure", "an interrupt"])("leaves no parts after %s", async (what) => {
    const { file, store, interrupt, content } = await open();
    const begun = file();
    await write(begun, fewPieces);
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

  longTest("fails if the store has removed its parts, also where an older object has its name", async () => {
    const { file, store, content } = await open();
    const old = file();
    await write(old, [Buffer.from("old")]);
    await old.commit();
    const begun = file(true);
    const parts = [0, 1].map((at) => whole.subarray(0, 8 * 1024 ** 2 + at));
    await write(begun, parts);
    store.uploads.clear();
    await expect(begun.commit()).rejects.toMatchObject({ status: 404, code: "store_failed" });
    expect(String(await content())).toBe("old");
    const ended = file(true);
    await write(ended, parts);
    store.faults.instead = (method) => (method === "POST" ? { status: 200, body: "<html></html>" } : null);
    await expect(ended.commit()).rejects.toMatchObject({ code: "not_a_store" });
  });

  longTest("is complete although the response to its end got lost", async () => {
    const { file, store, content } = await open();
    const begun = file();
    await write(begun, fewPieces);
    let times = 1;
    store.faults.instead = (method) => (method === "POST" && times-- > 0 ? "cut" : null);
    await begun.commit();
    expect((await content())!.equals(Buffer.concat(fewPieces))).toBe(true);
  });
});
