// All that runs on Ceph's object store, which takes seconds to start.
import { afterAll, beforeAll, describe } from "vitest";
import { radosgwProblem, startRadosgw } from "../../support/radosgw.js";
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
  mirrorStoreContract("in radosgw", newPlace);
  conditionsContract(newPlace);
  fileContract(async () => fileIn(gateway));
});
