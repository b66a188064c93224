// Words for the values of looks in German, French, Italian, Spanish and Dutch.

/**
 * The beginnings of words by field and by the part of a known value that they mean: `full-front` has two. The
 * text before and after a slash is one part, which the lists call differently. A beginning of up to three
 * letters is a complete word.
 */
const stemsOfParts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  angle_shot: {
    full: "ganz komplett voll total pied entier plein inter entera entero complet heel hele volledig",
    half: "halb halve oberkorper mi demi buste busto mezz medio media bovenlichaam bovenlijf",
    "close/detail": "naha gros rapproch prim primo primer dettagl detall makro macro vicin cerca dichtbij",
    "full/half": "korper corps corpo cuerpo lichaam",
    front: "vorn vorder face devant avant davant anterior frente delant voor voren",
    back: "hint hinter ruck rueck rear dos arrier derriere retro dietro schiena posterior espalda detras traser atras achter rug",
    side: "seit seite profil cote lato later fianco lado perfil zij zijd zijde zijkant zijaan opzij",
    quarter: "34 dreiviertel quarts quarti cuartos driekwart",
    left: "link links gauche sinistr izquierd",
    right: "recht rechts droit destr derech",
    top: "oben dessus haut alto sopra arriba cenital boven",
    pair: "paar paire paio par coppia",
  },
  background: {
    white: "weiss blanc bianc wit witte",
    light: "hell clair chiar claro clara licht",
    dark: "dunk dunkel fonce scur oscur donker",
    grey: "gray grau gris grigi grij grijs",
    beige: "beis creme crema",
    black: "schwarz noir nero nera neri nere negr zwart",
    // Colors that no list has: light blue is not light grey.
    other:
      "off blau bleu blu azul blauw rot rote rouge ross rojo roja rood grun grune vert verd groen gelb jaune giall amarill geel rosa roze orang aranci naranja braun brun marron bruin lila viol paars",
    studio: "estudio",
    street: "strass gasse rue strad via calle straat",
    garden: "garten jardin giardin tuin",
    beach: "strand plage spiaggia playa",
    floor: "boden sol paviment suelo piso vloer",
  },
  subtype: {
    clothing:
      "clothes apparel kleid textil vetement habit habill abbigliament vestit ropa prenda vestiment kled kleding",
    shoes:
      "shoe footwear schuh stiefel sandal sneaker boots chaussure soulier basket bott scarp stival calzatur zapat calzado botas schoen laars laarz",
    headwear:
      "hat hats cap caps beanie kopfbedeckung hut hute mutz mutze kapp couvre chapeau casquett bonnet cappell copricap berrett sombrer gorr hoofddeksel hoed pet petten muts",
  },
  style: {
    flatlay: "flat liegend gelegt legeware flachl plat pose poses stes distes piano extendid plano",
    ghost: "hohl unsichtbar mannequin puppe invisib fantom fantasm manichin maniqui onzichtbar spook paspop",
  },
  look_at_camera: {
    true: "ja oui si yes wahr vrai vero verdader waar y j x",
    false: "nein non no nee falsch faux fals onwaar n",
  },
};

/** With one of these, a word for a side is a noun: `Vorderseite`, `lato sinistro`. */
const sides = ["front", "back", "left", "right", "top"];

/** The parts of a field by stem, the longest one first: `oberkorper` is half a `korper`. */
const stemsOf = (field: string) =>
  Object.entries(stemsOfParts[field] ?? {})
    .flatMap(([part, words]) => [...part.split("/"), ...words.split(" ")].map((stem) => ({ stem, part })))
    .sort((a, b) => b.stem.length - a.stem.length);

/** A value as services have it, which may be of its own: `white-marble` is not white. */
const slug = /^[a-z0-9]+(?:[-_][a-z0-9]+)+$/;

/** A longer text is not a value, and comparing it would take time. */
const longestText = 60;

/** The first known value with all parts that a text names (`am Strand`), as a guess; else undefined. */
export function meantByWords(field: string, text: string, known: readonly string[]): string | undefined {
  if (text.length > longestText) return undefined;
  const stems = stemsOf(field);
  const parts = wordsOf(text).map((word) => partsOf(word, stems));
  const named = parts.flat();
  const wanted = named.some((part) => sides.includes(part)) ? named.filter((part) => part !== "side") : named;
  if (wanted.length === 0 || (slug.test(text) && parts.some(({ length }) => length === 0))) return undefined;
  return known.find((value) => {
    const names = value.split("-");
    return wanted.every((part) => part.split("/").some((name) => names.includes(name)));
  });
}

const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/3[/⁄]4/g, "34")
    .split(/[^\p{L}\p{N}]+/u);

/** The parts that a word means; a compound has several (`ganzkorpervorderansicht`). */
function partsOf(word: string, stems: ReturnType<typeof stemsOf>): string[] {
  for (const { stem, part } of stems) {
    const isIn = stem.length > 4 || (stem.length > 3 && word.startsWith(stem)) || word === stem;
    const at = isIn ? word.indexOf(stem) : -1;
    if (at === -1) continue;
    return [part, ...partsOf(word.slice(0, at), stems), ...partsOf(word.slice(at + stem.length), stems)];
  }
  return [];
}
