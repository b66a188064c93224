import sharp from "sharp";
import { describe, expect, test } from "vitest";
import {
  beautifierAngleShots,
  beautifierBackgrounds,
  tryonAngleShots,
  tryonBackgrounds,
} from "../../../src/contract/value-sets.ts";
import { type PictureSource, Pictures } from "../../../src/mock/images/pictures.ts";
import { curatedModels } from "../../../src/mock/store/organization.ts";
import { toOutfit } from "../../../src/mock-page/drawing/figure.ts";
import { drawnSize, type Subject, subjects } from "../../../src/mock-page/drawing/garments.ts";
import { type Scene, sceneSubject, writeScene } from "../../../src/mock-page/drawing/scene.ts";
import {
  lettersAt,
  sceneDrawing,
  textWidth,
  writable,
} from "../../../src/mock-page/drawing/scene-drawing.ts";
import { longTest } from "../../support/long-test.ts";
import { repetitions } from "../../support/repetitions.ts";

const person = (index: number) => {
  const { is_public: _isPublic, ...rest } = curatedModels[index]!;
  return rest;
};
const alone: Scene = {
  garment: { subject: "top", seed: "shirt" },
  reference: "SHIRT-1",
  background: "white",
  angle_shot: "front",
  style: null,
  person: null,
  look_at_camera: true,
  stylings: [],
  group: "group",
};
const worn: Scene = { ...alone, angle_shot: "full-front", background: "studio", person: person(0) };

const drawn = (source: PictureSource) => new Pictures().toBytes(source, new AbortController().signal);
const pictureOf = (scene: Scene) =>
  drawn({ mime_type: "image/png", bytes: null, subject: sceneSubject, seed: writeScene(scene) });
/** The pixels without the caption, which differs for any two scenes. */
async function pixelsOf(scene: Scene): Promise<Buffer> {
  const area = { left: 0, top: 0, width: drawnSize.width, height: 725 };
  return sharp(await pictureOf(scene))
    .extract(area)
    .removeAlpha()
    .raw()
    .toBuffer();
}
/** Number of scenes whose drawing equals another one. */
async function alike(scenes: readonly Scene[]): Promise<number> {
  const seen = new Set<string>();
  for (const scene of scenes) seen.add((await pixelsOf(scene)).toString("base64"));
  return scenes.length - seen.size;
}

describe("a picture differs for", () => {
  const each = <Key extends keyof Scene>(scene: Scene, key: Key, values: readonly Scene[Key][]) =>
    values.map((value) => ({ ...scene, [key]: value }));
  const variants: [string, Scene[]][] = [
    [
      "every product",
      each(
        worn,
        "garment",
        subjects.slice(0, 8).map((subject) => ({ subject, seed: "s" })),
      ),
    ],
    [
      "every product's colors",
      each(
        worn,
        "garment",
        ["a", "b", "c"].map((seed) => ({ subject: "top", seed })),
      ),
    ],
    [
      "every model",
      each(
        worn,
        "person",
        curatedModels.map((_model, index) => person(index)),
      ),
    ],
    ...repetitions<[string, Scene[]][]>(
      [],
      [["every background of a try-on", each(worn, "background", [...tryonBackgrounds, "#a0b0c0"])]],
    ),
    ["every background of a beautifier", each(alone, "background", [...beautifierBackgrounds, "#a0b0c0"])],
    ["every angle of a try-on", each(worn, "angle_shot", [...tryonAngleShots, "custom-a", "custom-b"])],
    ["every angle of clothing", each(alone, "angle_shot", beautifierAngleShots.clothing)],
    [
      "every angle of shoes",
      each({ ...alone, garment: { subject: "shoe", seed: "s" } }, "angle_shot", beautifierAngleShots.shoes),
    ],
    [
      "every angle of headwear",
      each({ ...alone, garment: { subject: "hat", seed: "s" } }, "angle_shot", beautifierAngleShots.headwear),
    ],
    ["every style", each(alone, "style", [null, "ghost", "flatlay"])],
    ["looking away", each(worn, "look_at_camera", [true, false])],
    [
      "looking away in a close-up",
      each({ ...worn, angle_shot: "close-up" }, "look_at_camera", [true, false]),
    ],
    [
      "its styling products",
      each(worn, "stylings", [[], [{ subject: "bag", seed: "s" }], [{ subject: "hat", seed: "s" }]]),
    ],
  ];
  // Backgrounds and angles alike are tried in `npm run test:long`.
  test.each(variants.filter((_, at) => repetitions(at % 6 === 0, true)))("%s", async (_name, scenes) => {
    expect(await alike(scenes)).toBe(0);
  });
});

longTest("the group determines pose, haircut and plain clothes", async () => {
  const groups = Array.from({ length: 12 }, (_, index) => ({ ...worn, group: `group ${index}` }));
  // A few of the twelve groups can look the same, but not most of them.
  expect(await alike(groups)).toBeLessThan(9);
});

test.each([
  ["white", [255, 255, 255]],
  ["black", [0, 0, 0]],
  ["#f4A1ea", [0xf4, 0xa1, 0xea]],
  ["#010203", [1, 2, 3]],
])("the background %s has exactly that color, up to the edges", async (background, colour) => {
  for (const scene of [
    { ...alone, background },
    { ...worn, background },
  ]) {
    const { data, info } = await sharp(await pictureOf(scene))
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, info.channels]).toEqual([drawnSize.width, drawnSize.height, 3]);
    for (const [x, y] of [
      [0, 0],
      [599, 0],
      [0, 799],
      [599, 799],
      [40, 400],
    ] as const) {
      expect([...data.subarray((y * 600 + x) * 3, (y * 600 + x) * 3 + 3)]).toEqual(colour);
    }
  }
});

test.for(["coat", "knit"] as const)("the hands of a %s are below its sleeves, not on it", (subject) => {
  const hands = (garment: Subject, group: string) =>
    [
      ...sceneDrawing({ ...worn, group, garment: { subject: garment, seed: "s" } }).matchAll(
        /<circle cx="(\d+)" cy="(\d+)" r="16"/g,
      ),
    ].map(([, x, y]) => [Number(x), Number(y)] as const);
  for (const group of ["a", "b", "c", "d", "e", "f"]) {
    const [left, right] = hands(subject, group);
    // Beside the body, which is 196 to 404 wide.
    expect([left![0] < 196, right![0] > 404, left![1] > 410, right![1] > 410]).toEqual(Array(4).fill(true));
  }
  // Bare arms have the pose of their group.
  expect(new Set(["a", "b", "c", "d", "e", "f"].map((group) => hands("top", group).join(";"))).size).toBe(4);
});

test("a coat covers the body alone: no sleeves of a plain top show beside it", () => {
  const subjects = (garment: Subject) =>
    toOutfit({ subject: garment, seed: "s" }, [], "g").map(({ subject }) => subject);
  expect(subjects("coat")).toEqual(["shoe", "trousers", "coat"]);
  expect(subjects("skirt")).toEqual(["shoe", "top", "skirt"]);
});

test("any scene in an edited state gives a picture, and its texts never become markup", async () => {
  const hostile = '"/><image href="file:///etc/hostname"/>&<';
  const odd: Scene = {
    ...worn,
    garment: { subject: "person", seed: hostile },
    reference: hostile,
    background: hostile,
    angle_shot: hostile,
    person: { ...person(0), id: hostile, name: hostile, ethnicity: hostile, hair_color: "constructor" },
    stylings: [{ subject: "person", seed: hostile }],
    group: hostile,
  };
  for (const scene of [odd, { ...odd, person: null }]) {
    expect(sceneDrawing(scene)).not.toContain("hostname");
    expect((await sharp(await pictureOf(scene)).metadata()).width).toBe(600);
  }
  const broken = { mime_type: "image/png", bytes: null, subject: sceneSubject } as const;
  for (const seed of ["", "{", "{}", "null", "[]"]) {
    expect((await sharp(await drawn({ ...broken, seed })).metadata()).width).toBe(600);
  }
});

describe("letters", () => {
  test("every printable ASCII character has its own shape", () => {
    const typed = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));
    expect(new Set(typed.map((letter) => lettersAt(letter, 0, 0, 1))).size).toBe(95);
  });

  test("an I has two bars and a stem", () => {
    expect(lettersAt("I", 10, 20, 2)).toBe(
      "M12 20h2v2h-2zM12 32h2v2h-2zM14 20h2v14h-2zM16 20h2v2h-2zM16 32h2v2h-2z",
    );
  });

  test("accents are removed, unknown characters become boxes, and long texts are shortened", () => {
    expect(writable("Crème brûlée", 30)).toBe("Creme brulee");
    expect(lettersAt("\u4e16", 0, 0, 1)).toBe(lettersAt("\u007f", 0, 0, 1));
    expect(writable("x".repeat(30), 30)).toBe("x".repeat(30));
    expect(writable("x".repeat(31), 30)).toBe(`${"x".repeat(27)}...`);
    expect([textWidth(""), textWidth("ab")]).toEqual([0, 11]);
  });
});
