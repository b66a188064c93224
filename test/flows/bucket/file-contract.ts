import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { BucketFile } from "../../../src/flows/bucket/bucket-file.ts";
import { openBucket, type Place } from "../../support/open-bucket.ts";

const mebibyte = 1024 * 1024;
/** 17 MiB in uneven pieces: two parts of 8 MiB and more, and a rest. */
export const pieces = Array.from({ length: 34 }, (_, at) => Buffer.alloc(mebibyte / 2 + at, at));
export const whole = Buffer.concat(pieces);
/** A part and a rest. */
export const fewPieces = pieces.slice(0, 18);

/** A bucket, whose requests end with an interrupt. */
export function fileIn(place: Omit<Place, "prefix">) {
  const interrupt = new AbortController();
  const bucket = openBucket({ ...place, prefix: `${crypto.randomUUID()}/` }, { signal: interrupt.signal });
  const file = (replaces = false) =>
    new BucketFile(bucket, "a ü.zip", {
      type: "application/zip",
      condition: replaces ? undefined : "absent",
    });
  const content = async () => {
    const found = await bucket.get("a ü.zip");
    return found === null ? null : buffer(found.body);
  };
  return { file, content, interrupt };
}

export async function write(file: BucketFile, contents: readonly Uint8Array[]): Promise<void> {
  for (const piece of contents) await file.write(piece);
}

export function fileContract(open: () => Promise<ReturnType<typeof fileIn>>) {
  test("appears complete, in one request or in parts", async () => {
    const { file, content } = await open();
    const small = file();
    await write(small, [Buffer.from("a,"), Buffer.from("b\n")]);
    expect(await content()).toBeNull();
    await small.commit();
    expect(String(await content())).toBe("a,b\n");
    const large = file(true);
    await write(large, pieces);
    expect(String(await content())).toBe("a,b\n");
    await large.commit();
    expect(large.bytes).toBe(whole.length);
    expect((await content())!.equals(whole)).toBe(true);
  });

  test.each([
    ["small", [Buffer.from("new")]],
    ["large", fewPieces],
  ] as const)("does not replace an object that appeared meanwhile: %s", async (_, contents) => {
    const { file, content } = await open();
    const late = file();
    await write(late, contents);
    const other = file();
    await write(other, [Buffer.from("other")]);
    await other.commit();
    await expect(late.commit()).rejects.toMatchObject({ type: "output", code: "file_appeared" });
    await late.discard();
    expect(String(await content())).toBe("other");
  });
}
