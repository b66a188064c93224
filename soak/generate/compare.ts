import type { MockState } from "../../src/mock/index.ts";
import type { Fault } from "../played.ts";
import type { Wanted } from "./looks.ts";
import type { Ids } from "./looks-file.ts";

/** The kinds of wrong results. */
export const faultKinds = [
  "lost",
  "queued twice",
  "not resumable",
  "wrong summary",
  "wrong images",
  "wrong failed file",
  "wrong results file",
  "broken state",
] as const;
export type GenerateFault = Fault<(typeof faultKinds)[number]>;

/** A task of the service, and what it generates: the key of a `Wanted` that it serves. */
export interface FoundTask {
  readonly id: string;
  readonly status: string;
  readonly key: string;
}

/** What makes an image the one that was wanted, as text. The order of stylings does not count. */
export const keyOf = (
  { product, model, stylings, background, angle, look, subtype, style }: Omit<Wanted, "row">,
  ids: Ids,
): string => {
  const idOf = ({ reference }: Wanted["product"]) => ids.get(reference)!;
  return JSON.stringify([
    subtype === null ? "tryon" : "beautifier",
    ...[idOf(product), ...stylings.map(idOf).sort()],
    model,
    background,
    angle,
    look,
    subtype,
    style,
  ]);
};

/** All tasks of the service, in order of creation. */
export const tasksOf = ({ organizations }: MockState): FoundTask[] =>
  organizations.main.tasks.map(({ id, status, type, product_id, styling_product_ids, subtype, scene }) => ({
    id,
    status,
    key: JSON.stringify([
      ...[type, product_id, ...[...styling_product_ids].sort(), scene.person?.id ?? null],
      ...[scene.background, scene.angle_shot, scene.look_at_camera, subtype, scene.style],
    ]),
  }));

/** Whether each image was queued exactly as often as the file asks for it. */
export function differences(wanted: readonly string[], tasks: readonly FoundTask[]): GenerateFault[] {
  const [should, is] = [counted(wanted), counted(tasks.map(({ key }) => key))];
  return [...new Set([...should.keys(), ...is.keys()])].flatMap((key) => {
    const [want, found] = [should.get(key) ?? 0, is.get(key) ?? 0];
    if (want === found) return [];
    const kind = found < want ? "lost" : "queued twice";
    return [{ kind, what: `${key} was queued ${found} times instead of ${want}` } as const];
  });
}

export function counted(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
