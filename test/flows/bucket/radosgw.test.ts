// All that runs on Ceph's object store, which takes seconds to start.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toContent } from "../../../src/flows/bucket/content.ts";
import { openBucket } from "../../support/open-bucket.ts";
import { radosgwProblem, startRadosgw } from "../../support/radosgw.js";
import { isLong, repetitions } from "../../support/repetitions.ts";
import { conditionsContract, machinesAt } from "../export/sync/store/conditions-contract.ts";
import { mirrorStoreContract } from "../export/sync/store/mirror-store-contract.ts";
import { fileContract, fileIn } from "./file-contract.ts";

const missing = radosgwProblem();

describe.skipIf(missing !== null)(`radosgw${missing === null ? "" : ` (${missing})`}`, () => {
  let gateway: Awaited<ReturnType<typeof startRadosgw>>;
  beforeAll(async () => {
    gateway = await startRadosgw();
  });
  afterAll(() => gateway?.stop());
  const newPlace = async () => machinesAt({ ...gateway, prefix: `${crypto.randomUUID()} b/ü/` });
  // In `npm test`, the contracts run on the tests' own server only.
  if (isLong) {
    mirrorStoreContract("in radosgw", newPlace);
    conditionsContract(newPlace);
    fileContract(async () => fileIn(gateway));
  }

  const keys = ["a.png", "b ü/+&=%41~!'()*,;:@$/é\u{1f457}#?.png", "a//b/./c"];
  test.each(keys.slice(repetitions(1, 0)))(
    "an image with the key %s is accepted without the steps of the SDK, once",
    async (key) => {
      const steps: boolean[] = [];
      const bucket = openBucket(
        { ...gateway, prefix: `${crypto.randomUUID()}/` },
        {
          onSend: (headers) => steps.push("amz-sdk-invocation-id" in headers),
        },
      );
      expect(await bucket.head(key)).toBe(null);
      const image = toContent(Buffer.from(key));
      const sha256 = createHash("sha256").update(key).digest("hex");
      const put = () => bucket.put(key, image, { metadata: { sha256 }, condition: "absent" });
      expect(await put()).toMatch(/^"[0-9a-f]{32}"$/);
      expect(await put()).toBe(null);
      // The condition does not hold: the SDK says so, and is asked whose object it is.
      expect(steps).toEqual([true, false, false, true, true]);
      expect(await bucket.head(key)).toMatchObject({ bytes: image.bytes, metadata: { sha256 } });
    },
  );
});
