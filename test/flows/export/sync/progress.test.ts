import { expect, test } from "vitest";
import type { ProgressEvent } from "../../../../src/flows/progress-event.ts";
import { mirrorWorld } from "./mirror-world.ts";

/** Events as one line each, without repetitions. */
const shown = (events: readonly ProgressEvent[]): string[] =>
  events
    .map(({ step, done, total, isEstimate, note }) =>
      [step, `${done}/${isEstimate ? "about " : ""}${total}`, note]
        .filter((part) => part !== undefined)
        .join(" "),
    )
    .filter((line, at, all) => line !== all[at - 1]);

test("the progress shows bytes and images of a total that is estimated first, also of the last downloads", async () => {
  const { run, newMirror, catalogue, clock } = mirrorWorld();
  for (const reference of ["A", "B", "C"]) catalogue.add(reference, ["source", "tryon"]);
  const events: ProgressEvent[] = [];
  let begun = 0;
  let isListed = () => {};
  const listed = new Promise<void>((resolve) => {
    isListed = resolve;
  });
  const { client } = catalogue;
  const slow: typeof client.downloadInto = (target, download) => {
    const isFirst = begun++ === 0;
    return client.downloadInto(
      {
        kept: null,
        begin: (version) => target.begin(version),
        write: async ([chunk]) => {
          await target.write([chunk!.subarray(0, 10)]);
          // The first image is received; the others wait until everything was compared.
          if (!isFirst) await listed;
          clock.advance(100);
          await target.write([chunk!.subarray(10)]);
        },
      },
      download,
    );
  };
  const onProgress = (event: ProgressEvent) => {
    events.push(event);
    if (event.total !== null) isListed();
  };
  await run(newMirror(), {}, { client: { ...client, downloadInto: slow } as never, onProgress });
  const steps = shown(events);
  expect(steps[0]).toBe("comparing images 0/null");
  expect(steps).toContain("downloading 92/null 0 images, 6 compared");
  const afterwards = steps.slice(steps.findIndex((line) => line.endsWith(" of 6 images")));
  expect(afterwards[0]).toBe("downloading 92/about 432 0 of 6 images");
  expect(afterwards.at(-1)).toMatch(/^downloading 432\/432 \d of 6 images$/);
});

test("the progress of a run that downloads nothing, and of a dry run, shows what was compared", async () => {
  const { run, newMirror, catalogue } = mirrorWorld();
  for (const reference of ["A", "B", "C"]) catalogue.add(reference, ["source", "tryon"]);
  const stored = newMirror();
  const progressOf = async (dryRun: boolean) => {
    const events: ProgressEvent[] = [];
    await run(stored, { dryRun, full: true }, { onProgress: (event) => void events.push(event) });
    return shown(events);
  };
  const compared = [0, 2, 4, 6].map((count) => `comparing images ${count}/null`);
  expect(await progressOf(true)).toEqual(compared);
  await run(stored);
  expect(await progressOf(false)).toEqual(compared);
});
