import fc from "fast-check";
import { expect, test } from "vitest";
import { patch } from "../../conformance/inputs.ts";
import { repetitions } from "../../support/repetitions.ts";
import { startWorld } from "../world.ts";

/** The expected state of a product, from the specification alone. */
interface Known {
  id: string;
  name: string;
  photos: string[];
  changedAt: number;
  deletedAt: number | null;
}
type Step =
  | { do: "create" }
  | { do: "wait"; ms: number }
  | { do: "page" }
  | { do: "edit" | "attach" | "detach" | "delete" | "repeat"; which: number };

const step = fc.oneof<{ arbitrary: fc.Arbitrary<Step>; weight: number }[]>(
  { weight: 3, arbitrary: fc.constant({ do: "create" }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(1, 500, 1_000) }) },
  { weight: 6, arbitrary: fc.constant({ do: "page" }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("edit", "attach", "detach", "delete", "repeat"),
      which: fc.nat(),
    }),
  },
);

test("every page is correct, live and in a delta, whatever changes between pages", async () => {
  const settings = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    /** Start of the delta after the start of the test; null for a live read. */
    since: fc.option(fc.integer({ min: 0, max: 2_500 })),
    before: fc.array(step, { maxLength: 25 }),
    during: fc.array(step, { maxLength: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(settings, async ({ limit, since, before, during }) => {
      const world = await startWorld();
      const { send, clock } = world;
      const from = since === null ? null : clock.now() + since;
      /** In order of creation. */
      const known: Known[] = [];
      const [first, second] = [await world.imageId(), await world.imageId()];
      const seen: string[] = [];
      let reading: { cursor: string | null; before: number } | null = null;

      const isListed = ({ changedAt, deletedAt }: Known) =>
        from === null ? deletedAt === null : changedAt >= from;
      const rowOf = ({ id, name, photos, deletedAt }: Known) => ({
        product: { id, name, deleted_at: deletedAt === null ? null : new Date(deletedAt).toISOString() },
        assets: deletedAt === null ? photos.map((photo) => ({ id: photo })) : [],
      });

      /** Reads the next page and compares it with the expected state. */
      async function page(): Promise<void> {
        if (reading?.cursor === null) return;
        const query = new URLSearchParams({ limit: String(limit) });
        if (from !== null) query.set("since", new Date(from).toISOString());
        if (reading !== null) query.set("cursor", reading.cursor);
        const { status, body } = await send(`/v1/exports?${query}`);
        const end: number = reading?.before ?? known.length;
        const rest = known.slice(0, end).filter(isListed).reverse();
        expect(status).toBe(200);
        expect(body.data).toMatchObject(rest.slice(0, limit).map(rowOf));
        expect(body.data).toHaveLength(Math.min(limit, rest.length));
        expect([body.has_more, body.next_cursor !== null]).toEqual([
          rest.length > limit,
          rest.length > limit,
        ]);
        for (const { product } of body.data) seen.push(product.id);
        const last = known.findIndex(({ id }) => id === body.data.at(-1)?.product.id);
        reading = { cursor: body.next_cursor, before: last };
      }

      async function change(one: Known, what: Step["do"]): Promise<void> {
        const path = `/v1/products/${one.id}`;
        if (one.deletedAt !== null) {
          expect((await send(path, patch({ name: "X" }))).status).toBe(404);
          return;
        }
        const now = clock.now();
        if (what === "edit") {
          one.name += "!";
          expect((await send(path, patch({ name: one.name }))).status).toBe(200);
          one.changedAt = now;
        } else if (what === "repeat") {
          expect((await send(path, patch({ name: one.name }))).status).toBe(200);
        } else if (what === "attach") {
          const images = [{ image_id: second, orientation: "back" }];
          expect((await send(`${path}/images`, { json: { images } })).status).toBe(201);
          if (!one.photos.includes(second)) one.photos.push(second);
          one.changedAt = now;
        } else if (what === "detach") {
          const photo = one.photos[0]!;
          const { status } = await send(`${path}/images/${photo}`, { method: "DELETE" });
          expect(status).toBe(one.photos.length === 1 ? 422 : 204);
          if (status === 204) one.photos.shift();
        } else {
          expect((await send(path, { method: "DELETE" })).status).toBe(204);
          one.deletedAt = now;
          one.changedAt = now;
        }
      }

      async function take(next: Step): Promise<void> {
        if (next.do === "page") return page();
        if (next.do === "wait") return clock.advance(next.ms);
        if (next.do === "create") {
          const fields = { reference: `R${known.length}`, name: "N" };
          const images = [{ image_id: first, orientation: "front" }];
          const { id } = (await world.createProduct({ ...fields, images })).body;
          known.push({ id, name: "N", photos: [first], changedAt: clock.now(), deletedAt: null });
          return;
        }
        const one = known["which" in next ? next.which % known.length : 0];
        if (one !== undefined) await change(one, next.do);
      }

      for (const next of before) if (next.do !== "page") await take(next);
      const atBegin = known.filter(isListed);
      await page();
      for (const next of during) await take(next);
      while (reading!.cursor !== null) await page();

      expect(new Set(seen).size).toBe(seen.length);
      const missed = atBegin.filter((one) => isListed(one) && !seen.includes(one.id));
      expect(missed).toEqual([]);
      await world.mock.stop();
    }),
    { numRuns: repetitions(4, 600) },
  );
});
