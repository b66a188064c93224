import { type Paint, type Subject, toLook, toPaint } from "./garments.ts";
import { toView } from "./product-view.ts";
import type { Garment, Scene } from "./scene.ts";

export type Side = "front" | "back" | "profile";

const skins: Readonly<Record<string, string>> = {
  white: "#f0c9a8",
  black: "#6f4428",
  asian: "#ecc39a",
  hispanic: "#cf9a6c",
  "middle-eastern": "#d3a376",
  "south-asian": "#a8703f",
  mixed: "#b07b52",
};
const hairs: Readonly<Record<string, string>> = {
  black: "#1f1a1a",
  brown: "#5b3820",
  blond: "#dcb765",
  grey: "#a9abb0",
  red: "#b5482a",
};
const eyes: Readonly<Record<string, string>> = {
  brown: "#5a3516",
  blue: "#2f7fc2",
  green: "#3f8f4f",
  hazel: "#8a6a2c",
  grey: "#6f7c88",
};
/** Width factors of the body types. */
const builds: Readonly<Record<string, number>> = {
  slim: 0.9,
  athletic: 1.06,
  average: 1,
  curvy: 1.12,
  plus: 1.24,
};
/** Elbow and hand of the left and of the right arm, each with x and y. */
type Pose = readonly [number, number, number, number, number, number, number, number];
const poses: readonly Pose[] = [
  [214, 320, 206, 425, 386, 320, 394, 425],
  [176, 300, 240, 386, 388, 322, 396, 428],
  [206, 320, 180, 420, 394, 320, 424, 415],
  [176, 300, 240, 386, 424, 300, 360, 386],
];
/** The same in the sleeves of a garment that covers the arms. */
const sleeves: Partial<Record<Subject, Pose>> = {
  coat: [181, 330, 176, 482, 419, 330, 424, 482],
  knit: [178, 319, 181, 414, 422, 319, 419, 414],
};

/** The value of a known word, or a choice of the look: the same model always looks the same. */
const choose = <T>(values: Readonly<Record<string, T>>, word: string | null, look: number): T =>
  (word !== null && Object.hasOwn(values, word) ? values[word] : undefined) ??
  Object.values(values)[look % Object.keys(values).length]!;

/** The model determines skin, hair and build; the group determines pose, haircut and plain clothes. */
export function figure(scene: Scene, side: Side): string {
  const person = scene.person!;
  const own = toLook(person.id);
  const shared = toLook(scene.group);
  const skin = choose(skins, person.ethnicity, own);
  const hair = choose(hairs, person.hair_color, own >>> 4);
  const build = person.body_type === null ? 1 : choose(builds, person.body_type, own >>> 8);
  const cut = (shared >>> 4) % 3;
  const isLong = person.sex === "female" ? cut !== 2 : person.sex === "other" && cut === 0;
  const outfit = toOutfit(scene.garment, scene.stylings, scene.group);
  const outer = outfit.findLast(({ subject }) => subject in sleeves)?.subject;
  const pose = outer === undefined ? poses[shared % poses.length]! : sleeves[outer]!;
  const hats = outfit.filter(({ subject }) => subject === "hat");
  const clothes = outfit.filter(({ subject }) => subject !== "hat");
  const [elbowX, elbowY, handX, handY, ...[rightElbowX, rightElbowY, rightX, rightY]] = pose;
  const wear = (garments: typeof outfit, prefix: string) =>
    garments
      .map((garment, index) => wornGarment(garment, `${prefix}${index}`, [rightX, rightY], side === "back"))
      .join("");
  const body = [
    limb("M270 420L266 690", skin, 40),
    limb("M330 420L334 690", skin, 40),
    limb(`M236 222L${elbowX} ${elbowY}L${handX} ${handY}`, skin, 34),
    limb(`M364 222L${rightElbowX} ${rightElbowY}L${rightX} ${rightY}`, skin, 34),
    `<path d="M232 208L278 190H322L368 208L356 330L362 440H238L244 330Z" fill="${skin}"/>`,
    `<path d="M280 150H320V200Q300 222 280 200Z" fill="${skin}"/><path d="M280 168Q300 186 320 168V178Q300 196 280 178Z" fill="#000" opacity="0.12"/>`,
    wear(clothes, "worn"),
    dot(handX, handY, 16, skin) + dot(rightX, rightY, 16, skin),
  ].join("");
  // A profile is a narrower figure with another head.
  const width = build * (side === "profile" ? 0.62 : 1);
  const eye = choose(eyes, person.eye_color, own >>> 12);
  return [
    isLong ? longHair(hair, cut, side) : "",
    `<g transform="translate(${300 - 300 * width} 0) scale(${width} 1)">${body}</g>`,
    side === "back" && isLong ? longHair(hair, cut, side) : "",
    head(side, { skin, hair, eye, cut, looks: scene.look_at_camera }),
    wear(hats, "hat"),
  ].join("");
}

const limb = (path: string, color: string, thickness: number) =>
  `<path d="${path}" fill="none" stroke="${color}" stroke-width="${thickness}" stroke-linejoin="round" stroke-linecap="round"/>`;

/** Hair behind the shoulders, or over them in a back view; straight or wavy. */
function longHair(hair: string, cut: number, side: Side): string {
  const end = cut === 0 ? 270 : 235;
  if (side === "profile") return `<path d="M262 70Q236 150 246 ${end}L306 ${end - 20}V70Z" fill="${hair}"/>`;
  return `<path d="M248 96Q238 180 244 ${end}Q300 ${end + 18} 356 ${end}Q362 180 352 96Z" fill="${hair}"/>`;
}

interface Face {
  readonly skin: string;
  readonly hair: string;
  readonly eye: string;
  readonly cut: number;
  /** Whether it looks at the camera. */
  readonly looks: boolean;
}

function head(side: Side, { skin, hair, eye, cut, looks }: Face): string {
  const skull = `<ellipse cx="300" cy="115" rx="47" ry="57" fill="${skin}"/>`;
  if (side === "back") {
    return `${ears(skin)}<path d="M252 112Q250 52 300 54Q350 52 348 112Q350 168 300 172Q250 168 252 112Z" fill="${hair}"/><path d="M300 58V150M278 64Q270 110 280 156M322 64Q330 110 320 156" fill="none" stroke="#fff" stroke-width="2" opacity="0.25"/>`;
  }
  if (side === "profile") {
    return [
      `<path d="M346 104L362 128L346 134Z" fill="${skin}"/>`,
      skull,
      `<path d="M262 150Q240 90 276 60Q330 40 346 88Q318 82 300 96L290 140Z" fill="${hair}"/>`,
      looks ? dot(330, 112, 5, eye) : `<path d="M322 112h14" stroke="#333" stroke-width="3"/>`,
      `<path d="M326 150Q336 152 342 146" fill="none" stroke="#9c4a44" stroke-width="3"/>`,
    ].join("");
  }
  // Looking away: the face moves to one side, and the eyes further.
  const turn = looks ? 0 : 17;
  const features = [-18, 18].map((x) => {
    const at = 300 + x + turn;
    const width = looks || x < 0 ? 8.5 : 6;
    return `<ellipse cx="${at}" cy="112" rx="${width}" ry="5.5" fill="#fff"/>${dot(at + (looks ? 0 : 5), 112, 4.4, eye)}<path d="M${at - 10} 99Q${at} 94 ${at + 9} 99" fill="none" stroke="${hair}" stroke-width="3.5"/>`;
  });
  const fringe = cut === 1 ? "Q300 104 256 100" : cut === 2 ? "Q330 74 256 100" : "Q272 72 256 100";
  return [
    ears(skin),
    skull,
    features.join(""),
    `<path d="M${300 + turn} 116L${306 + turn * 1.3} 132L${298 + turn} 134" fill="none" stroke="#000" stroke-width="2.5" opacity="0.35"/>`,
    `<path d="M${286 + turn} 149Q${301 + turn} ${looks ? 159 : 151} ${315 + turn * 0.8} 148" fill="none" stroke="#9c4a44" stroke-width="4" stroke-linecap="round"/>`,
    `<path d="M250 112Q242 46 300 46Q358 46 350 112Q344 88 338 84${fringe}Z" fill="${hair}"/>`,
  ].join("");
}

const ears = (skin: string) => dot(254, 118, 9, skin) + dot(346, 118, 9, skin);
const dot = (x: number, y: number, radius: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`;

/** Layers from bottom to top: a coat over a top, a top over a skirt. */
const order: readonly Subject[] = ["shoe", "trousers", "skirt", "dress", "top", "knit", "coat", "bag", "hat"];

/** The outfit, innermost first: the garment, its stylings, and plain clothes for the rest of the body. */
export function toOutfit(garment: Garment, stylings: readonly Garment[], plainSeed: string): Garment[] {
  const worn = [...stylings, garment];
  const has = (...subjects: Subject[]) => worn.some(({ subject }) => subjects.includes(subject));
  const plain = (subject: Subject): Garment => ({ subject, seed: `${plainPrefix}${plainSeed} ${subject}` });
  return [
    ...(has("shoe") ? [] : [plain("shoe")]),
    ...(has("trousers", "skirt", "dress") ? [] : [plain("trousers")]),
    // The sleeves of a top would show beside those of a coat.
    ...(has("top", "knit", "dress", "coat") ? [] : [plain("top")]),
    // On the same layer the garment comes last, so that it is visible.
    ...worn.toSorted((a, b) => order.indexOf(a.subject) - order.indexOf(b.subject)),
  ];
}

const plainPrefix = "plain ";
const plainCloths = ["#4a4f58", "#8b8f97", "#b9b2a5", "#5f6b61", "#6d6475", "#7a6a5c"];

/** Plain clothes are pale and without a pattern, so that they do not look like a product. */
function paintWorn({ seed }: Garment, id: string): Paint {
  if (!seed.startsWith(plainPrefix)) return toPaint(seed, id);
  return { defs: "", fill: plainCloths[toLook(seed) % plainCloths.length]!, seam: "#30333a" };
}

/** Where the outline of a garment is on the figure; shoes are two. */
const fits: Partial<Record<Subject, readonly string[]>> = {
  dress: ["translate(-15 101) scale(1.05 0.685)"],
  top: ["translate(75 95) scale(0.75 0.56)"],
  knit: ["translate(75 95) scale(0.75 0.56)"],
  coat: ["translate(54 112) scale(0.82 0.65)"],
  trousers: ["translate(114 334) scale(0.62 0.486)"],
  skirt: ["translate(66 303) scale(0.78 0.425)"],
  shoe: ["translate(308 623) scale(0.17)", "translate(292 623) scale(-0.17 0.17)"],
  hat: ["translate(168 -53) scale(0.44 0.28)"],
};

/** A garment on the figure; `id` identifies its definitions, and `hand` is where a bag hangs. */
function wornGarment(
  garment: Garment,
  id: string,
  [x, y]: readonly [number, number],
  isBack: boolean,
): string {
  const { defs, fill, seam } = paintWorn(garment, id);
  const { body, lines } = toView(garment.subject, isBack);
  const bag = [`translate(${x - 84} ${y - 58}) scale(0.28)`];
  const places = garment.subject === "bag" ? bag : (fits[garment.subject] ?? []);
  const line = `fill="none" stroke="${seam}" vector-effect="non-scaling-stroke" stroke-width="3"`;
  const drawing = `<path d="${body}" fill="${fill}"/><path d="${lines}" ${line} opacity="0.6"/><path d="${body}" ${line}/>`;
  return defs + places.map((place) => `<g transform="${place}">${drawing}</g>`).join("");
}
