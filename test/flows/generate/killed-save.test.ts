import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { MovableClock } from "../../../src/clock.ts";
import type { Task } from "../../../src/contract/resources/tasks.ts";
import { UnnamedFile } from "../../../src/flows/files/output-file.ts";
import { OutputSaver } from "../../../src/flows/generate/save-outputs.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { powerCuts } from "../files/power-cuts.ts";

const idOf = (number: number) => `01ARZ3NDEKTSV4RRFF${String(number).padStart(8, "0")}`;

/** A JPEG as far as its segments show, with an own comment. */
function imageOf(id: string): Buffer {
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, id.length + 2]);
  return Buffer.concat([head, Buffer.from(id), Buffer.from([0xff, 0xda, 0, 2, 0xff, 0xd9])]);
}

/** The last image has no announced length: it is downloaded to the disk, as a large one is. */
async function save(folder: string, count = 6): Promise<OutputSaver> {
  mkdirSync(folder, { recursive: true });
  const client = {
    downloadInto: async (target: Target, { url }: { url: string }) => {
      const bytes = imageOf(url.split("/").at(-1)!);
      await target.begin({ etag: null, total: url.endsWith(idOf(count - 1)) ? null : bytes.length });
      await target.write([bytes]);
      return bytes.length;
    },
  } as unknown as Client;
  const { signal } = new AbortController();
  const saver = new OutputSaver(
    folder,
    { client, clock: new MovableClock({ frozenAt: 0 }), signal },
    { maxBytes: 1_000_000, label: false },
  );
  for (let number = 0; number < count; number++) {
    const [id, url] = [idOf(number), `https://files.test/${idOf(number)}`];
    const task = { id, type: "tryon", output_image: { id, url } } as unknown as Task;
    saver.add(task, { productId: "p", productReference: `DRESS-${number}` });
  }
  await saver.settled();
  return saver;
}

type Target = Parameters<Client["downloadInto"]>[0];

const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));

test("a save that is killed, or loses its power, between any two steps of a batch is completed by the next one", async () => {
  const folder = join(temporaryFolder(), "images");
  mkdirSync(folder);
  const cuts = await powerCuts(folder, () => save(folder));
  const complete = contentOf(folder);
  expect(Object.keys(complete)).toHaveLength(6);
  const steps = cuts.map(({ step }) => step.split(" ")[1]);
  expect(steps.filter((step) => step === "write")).toHaveLength(5);
  expect(steps.filter((step) => step === "name")).toHaveLength(6);
  for (const { step, folder: cut } of cuts) {
    const left = contentOf(cut);
    const named = Object.entries(left).filter(([name]) => !name.startsWith("."));
    // What has its name has its bytes.
    expect([step, Object.fromEntries(named)]).toEqual([
      step,
      Object.fromEntries(Object.entries(complete).filter(([name]) => name in left)),
    ]);
    const { faults } = await save(cut);
    expect([step, faults.size, contentOf(cut)]).toEqual([step, 0, complete]);
  }
});

test("100 images are written while others wait for the disk together, and nothing is named before its sync", async () => {
  const folder = join(temporaryFolder(), "images");
  const steps: string[] = [];
  const spied = (["sync", "moveTo"] as const).map((name) => {
    const own = UnnamedFile.prototype[name] as (...values: unknown[]) => unknown;
    return vi.spyOn(UnnamedFile.prototype, name).mockImplementation(function (
      this: UnnamedFile,
      ...values: unknown[]
    ) {
      if (steps.at(-1) !== name) steps.push(name);
      return own.apply(this, values) as never;
    });
  });
  const { files } = await save(folder, 100);
  for (const one of spied) one.mockRestore();
  expect([files.size, steps[0]]).toEqual([100, "sync"]);
  // One file at a time would alternate 100 times.
  expect(steps.length).toBeLessThan(60);
});

test("a full disk fails the images that it has no room for, names each, and keeps the others", async () => {
  const folder = join(temporaryFolder(), "images");
  const write = UnnamedFile.write;
  const sync = UnnamedFile.prototype.sync;
  const full = () => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  let [writes, syncs] = [0, 0];
  const spied = [
    vi.spyOn(UnnamedFile, "write").mockImplementation(async (...values) => {
      if (++writes === 2) throw full();
      return write.apply(UnnamedFile, values);
    }),
    // Some disks say so at the sync.
    vi.spyOn(UnnamedFile.prototype, "sync").mockImplementation(async function (this: UnnamedFile) {
      await sync.call(this);
      if (++syncs === 3) throw full();
    }),
  ];
  const { faults, files } = await save(folder);
  for (const one of spied) one.mockRestore();
  expect([faults.size, files.size]).toEqual([2, 4]);
  for (const [id, fault] of faults)
    expect(fault).toMatchObject({
      type: "output",
      message: expect.stringMatching(
        new RegExp(`^cannot write ${folder}/DRESS-\\d_.*${id.slice(-8)}.jpg: no space left on device$`),
      ),
    });
  expect(Object.keys(contentOf(folder)).toSorted()).toEqual([...files.values()].toSorted());
  expect((await save(folder)).faults.size).toBe(0);
  expect(Object.keys(contentOf(folder))).toHaveLength(6);
});
