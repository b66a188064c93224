import { expect, test } from "vitest";
import { Killed, mirrorWorld, tree } from "./mirror-world.ts";

test("a run that is killed while it deletes files leaves a mirror that the next run repairs, at every step", async () => {
  let killed = 0;
  for (let killAt = 1; ; killAt++) {
    const { catalogue, clock, run, newMirror } = mirrorWorld();
    const stored = newMirror();
    for (const reference of ["A", "B", "C"]) catalogue.add(reference, ["source", "tryon"]);
    await run(stored);
    const [product] = catalogue.products;
    const { assets } = product!;
    product!.assets = [];
    clock.advance(600_000);
    const ended = run(stored, { full: true, delete: true }, { killAt }).then(({ stopped }) => stopped);
    const stopped = await ended.catch((error: unknown) => error);
    if (stopped === undefined) {
      // The run has fewer steps.
      const left = ["B_source.jpg", "B_tryon.jpg", "C_source.jpg", "C_tryon.jpg", "catalogue.ndjson"];
      expect(Object.keys(tree(stored))).toEqual(left);
      break;
    }
    expect(stopped).toBeInstanceOf(Killed);
    killed++;
    stored.holder = null;
    // The list was incomplete.
    product!.assets = assets;
    clock.advance(600_000);
    expect((await run(stored, { full: true })).stopped).toBeUndefined();
    const fresh = newMirror();
    await run(fresh);
    expect(tree(stored)).toEqual(tree(fresh));
  }
  expect(killed).toBe(16);
});
