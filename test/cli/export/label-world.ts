import { readFileSync } from "node:fs";
import sharp from "sharp";
import { expect } from "vitest";
import { syncWorld } from "./sync-world.ts";

const shot = "beautify --product DRESS-2 --subtype clothing --background white --angle front --yes";
const look = "tryon --product DRESS-1 --model mdl_001 --background studio --angle full-front --yes";
export const vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/";

/** A catalogue with six photos, a beautified shot and a try-on. */
export async function labelWorld() {
  const world = await syncWorld();
  for (const line of [shot, look]) expect(await world.cat(line)).toMatchObject({ exit: 0 });
  return {
    ...world,
    /** The digital source type of each file of a folder that has one. */
    async sources(folder: string) {
      const found: [string, string][] = [];
      for (const name of world.names(folder)) {
        const { xmp } = await sharp(readFileSync(world.at(`${folder}/${name}`))).metadata();
        const source = /DigitalSourceType="([^"]*)"/.exec(String(xmp))?.[1];
        if (source !== undefined) found.push([name, source]);
      }
      return found;
    },
    /** How many exports of each format the service has written since the last time. */
    exports: (() => {
      let seen = 0;
      return () => {
        const all = world.mock.state().organizations.main.exports.map(({ format }) => format);
        const recent = all.slice(seen);
        seen = all.length;
        return recent;
      };
    })(),
  };
}
