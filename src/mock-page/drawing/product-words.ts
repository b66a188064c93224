// The kind and look of a product by its words in English, German, French, Italian, Spanish and Dutch.

export const productGarments = [
  "dress",
  "top",
  "coat",
  "trousers",
  "skirt",
  "shoe",
  "hat",
  "bag",
  "knit",
] as const;
type Garment = (typeof productGarments)[number];

/**
 * Terms by garment. In English, German and Dutch they also end compound words, unless they begin with `^`,
 * and the last term of a name is what it is: a shirt dress is a dress. In French, Italian and Spanish it is
 * the first one.
 */
const terms: readonly { readonly subject: Garment; readonly germanic: RegExp; readonly romance: RegExp }[] = [
  {
    subject: "dress",
    germanic:
      /(?:dress(?:es)?|^gowns?|jumpsuits?|^overalls?|kleid(?:er|chen)?|dirndl|jurk(?:en|je)?|kleedje)$/,
    romance: /^(?:robes?|combinaisons?|abit[oi]|vestit[oi]|vestidos?|tuta)$/,
  },
  {
    subject: "top",
    germanic:
      /(?:shirts?|^tees?|^tops?|topje|blouses?|polos?|^tanks?|^tunics?|^vests?|^body|^bodys|hemd(?:en)?|blusen?|oberteile?|bloes|bloezen)$/,
    romance:
      /^(?:chemises?|chemisiers?|chemisettes?|debardeurs?|tuniques?|caracos?|camici[ae]|camicett[ae]|magliett[ae]|canott[ae]|bluse|camisas?|camisetas?|blusas?)$/,
  },
  {
    subject: "knit",
    germanic:
      /(?:sweaters?|jumpers?|cardigans?|pullovers?|hoodies?|hoody|sweatshirts?|turtlenecks?|pulli|strickjacken?|strickmantel|troyer|rollkragen|trui(?:en)?|sweatvest|knitwear)$/,
    romance: /^(?:pulls?|gilets?|maglion[ei]|felp[ae]|jerseis|sueter(?:es)?|sudaderas?|rebecas?)$/,
  },
  {
    subject: "coat",
    germanic:
      /(?:coats?|jackets?|blazers?|parkas?|anoraks?|trench|puffers?|mantel|maentel|jacken?|sakkos?|westen?|^jas|jassen|jasje|[a-z]{3}jas|^jack|colbert|bodywarmer)$/,
    romance:
      /^(?:manteaux?|vestes?|blousons?|impermeables?|doudounes?|cabans?|cappott[oi]|giacc(?:a|he|one|oni)|giubbott[oi]|giubbin[oi]|piumin[oi]|impermeabil[ei]|abrigos?|chaquet(?:as?|on|ones)|cazadoras?|americanas?|gabardinas?|chalecos?)$/,
  },
  {
    subject: "trousers",
    germanic:
      /(?:trousers?|pants|^pant|jeans?|chinos?|shorts|leggings?|joggers?|slacks|culottes?|bermudas?|hosen?|broek(?:en|je)?)$/,
    romance: /^(?:pantalons?|short|joggings?|pantalon[ei]|pantaloncin[oi]|pantalones|vaqueros?|mallas)$/,
  },
  {
    subject: "skirt",
    germanic: /(?:skirts?|^kilts?|^tutus?|rock|roecke|rocke|rokje|rokken|^rok|[a-z]{3}rok)$/,
    romance: /^(?:jupes?|jupons?|gonn[ae]|gonnellin[ae]|faldas?)$/,
  },
  {
    subject: "shoe",
    germanic:
      /(?:shoes?|boots?|sneakers?|sandals?|loafers?|^trainers?|^pumps?|slippers?|^heels?|^mules?|^clogs?|moccasins?|ballerinas?|^brogues?|(?<!hand)schuhe?|stiefel|stiefeletten?|sandal(?:e|en|ette|etten)|pantoffeln?|pantoffels|schoen(?:en)?|laars(?:jes?)?|laarzen|sandaal)$/,
    romance:
      /^(?:chaussures?|bottes?|bottines?|baskets?|sandales?|escarpins?|mocassins?|espadrilles?|ballerines?|scarp[ae]|stival[ei]|stivalett[oi]|sandal[oi]|mocassin[oi]|ciabatt[ae]|ballerine|zapatos?|zapatillas?|botas?|botin(?:es)?|sandalias?|mocasines|deportivas|alpargatas?)$/,
  },
  {
    subject: "hat",
    germanic:
      /(?:^hats?|^caps?|beanies?|^berets?|^bonnets?|fedoras?|headwear|trilby|hut|huete|^hute|mutzen?|muetzen?|kappen?|barett|hoed(?:en|je)?|^pet|petten|petje|muts(?:en)?|^baret)$/,
    romance:
      /^(?:chapeaux?|casquettes?|bobs?|cappell[oi]|berrett[oi]|cuffi[ae]|sombreros?|gorr[oa]s?|boinas?)$/,
  },
  {
    subject: "bag",
    germanic:
      /(?:bags?|^totes?|backpacks?|purses?|clutch(?:es)?|satchels?|rucksacks?|rucksacke|wallets?|pouch(?:es)?|taschen?|beutel|shopper|^tas|tassen|tasje|[a-z]{4}tas|rugzak(?:ken)?|portemonnee)$/,
    romance:
      /^(?:sacs?|sacoches?|cabas|pochettes?|besaces?|portefeuilles?|bors[ae]|borsett[ae]|zain[oi]|tracoll[ae]|marsupi[oi]?|bolsos?|bolsas?|mochilas?|carteras?|bandoleras?)$/,
  },
];

/** Materials that name a garment only where nothing else does. */
const knitted = /^(?:strick|knit(?:ted)?|tricot|maglia|punto|gebreide?|jersey)$/;

/** Words before details: a dress with pockets is no bag. */
const details =
  /^(?:with|mit|avec|con|met|und|and|et|e|y|en|in|aus|from|for|fur|fuer|pour|per|para|voor|ohne|without|sans|senza|sin|zonder)$/;

/** The words of a text without accents and digits. */
const wordsOf = (text: string): string[] =>
  text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .toLowerCase()
    .match(/\p{L}+/gu) ?? [];

/** The garment of one word: the longest term that it ends with, or is. */
function termOf(word: string): { subject: Garment; isRomance: boolean } | null {
  let [longest, found]: [number, { subject: Garment; isRomance: boolean } | null] = [0, null];
  for (const { subject, germanic, romance } of terms) {
    const [whole] = romance.exec(word) ?? [];
    const [end] = whole === undefined ? (germanic.exec(word) ?? []) : [whole];
    if (end === undefined || end.length <= longest) continue;
    [longest, found] = [end.length, { subject, isRomance: whole !== undefined }];
  }
  return found;
}

function garmentIn(text: string): Garment | null {
  const words = wordsOf(text);
  const found = words.map(termOf);
  const first = found.findIndex((term) => term !== null);
  if (first === -1) return words.some((word) => knitted.test(word)) ? "knit" : null;
  const detail = words.findIndex((word, at) => at > first && details.test(word));
  const named = found.slice(0, detail === -1 ? found.length : detail).filter((term) => term !== null);
  return (named.find(({ isRomance }) => isRomance) ?? named.at(-1)!).subject;
}

/** The text that decides the look of a product: it does not change with the product, nor do its photos. */
export const productWords = (name: string, reference: string): string => `${name} / ${reference}`;

/** The garment that a product is, by its name, else by its reference; null if no word of them is known. */
export function garmentOfWords(words: string): Garment | null {
  const at = words.lastIndexOf(" / ");
  return at === -1 ? garmentIn(words) : (garmentIn(words.slice(0, at)) ?? garmentIn(words.slice(at)));
}

/** Hue, saturation and lightness by color. */
const colors: readonly (readonly [hue: number, saturation: number, lightness: number, words: RegExp])[] = [
  [220, 45, 24, /^(?:navy|marine|marinblau|marineblau|nachtblau|marino)$/],
  [202, 55, 68, /^(?:sky|hellblau|himmelblau|celeste|celest[ei]|lichtblauw)$/],
  [222, 4, 12, /^(?:black|schwarz(?:e[rsnm]?)?|noire?s?|ner[oaie]|negr[oa]s?|zwarte?)$/],
  [40, 10, 95, /^(?:white|weiss(?:e[rsnm]?)?|blancs?|blanches?|bianc(?:o|a|hi|he)|blanc[oa]s?|witte?|wit)$/],
  [220, 10, 30, /^(?:charcoal|anthrazit|anthracite|antracite|antracita|antraciet)$/],
  [
    220,
    4,
    58,
    /^(?:gr[ea]y|grau(?:e[rsnm]?)?|gris(?:es?)?|grigi[oae]?|grijze?|grijs|silver|silber(?:ne[rsnm]?)?|argent[oe]?|plata)$/,
  ],
  [345, 60, 26, /^(?:burgundy|bordeaux|weinrot(?:e[rsnm]?)?|burdeos|wijnrood|maroon|bordo)$/],
  [16, 68, 40, /^(?:rust|rost(?:rot)?|rouille|ruggine|roest|terracotta|kupfer)$/],
  [4, 72, 44, /^(?:red|rot(?:e[rsnm]?)?|rouges?|ross[oaie]|roj[oa]s?|rood|rode)$/],
  [335, 62, 72, /^(?:pink|rosa(?:do)?|rose|roze|fuchsia)$/],
  [24, 85, 52, /^(?:oranges?|orangene?|arancion[ei]|naranja|oranje)$/],
  [12, 75, 62, /^(?:coral|korallen?|corail|corallo|koraal)$/],
  [
    46,
    78,
    54,
    /^(?:yellow|gelb(?:e[rsnm]?)?|jaunes?|giall[oaie]|amarill[oa]s?|geel|gele|mustard|senf(?:gelb)?|moutarde|gold(?:en)?|oro)$/,
  ],
  [72, 35, 32, /^(?:olive?|oliva|oliv(?:grun)?|khaki|kaki)$/],
  [140, 18, 62, /^(?:sage|salbei|sauge|salvia|salie|mint|menthe|menta)$/],
  [145, 45, 32, /^(?:green|grun(?:e[rsnm]?)?|gruen(?:e[rsnm]?)?|verts?|vertes?|verd[ei]|groene?)$/],
  [150, 42, 22, /^(?:forest|tannengrun|waldgrun|sapin)$/],
  [180, 55, 34, /^(?:turquoise|turkis|tuerkis|turchese|turquesa|petrol|teal|turkoois)$/],
  [216, 62, 42, /^(?:blue|blau(?:e[rsnm]?)?|bleue?s?|blu|azul(?:es)?|blauwe?)$/],
  [
    278,
    42,
    46,
    /^(?:purple|violett?e?|violets?|lila|morad[oa]s?|paarse?|paars|viola|lavender|lavendel|aubergine)$/,
  ],
  [34, 36, 76, /^(?:beige|sand|sable|sabbia|arena|zand|camel|kamel|nude|tau?pe)$/],
  [42, 42, 90, /^(?:ivory|ecru|creme?|cream|elfenbein|ivoire|avorio|marfil|naturel|natur|ivoor)$/],
  [
    24,
    45,
    27,
    /^(?:brown|braun(?:e[rsnm]?)?|bruns?|brunes?|marron(?:es|e|i)?|marron|bruine?|bruin|chocolate|schoko|cognac)$/,
  ],
];

/** The first part of a German or Dutch color in one word. */
const shade = /^(?:dunkel|hell|licht|donker|dark|light)/;

const dark = /^(?:dark|deep|donker|dunkel|fonce[es]?|scur[oaie]|oscur[oa]s?|marine|marino|nuit|notte|noche)/;
const light = /^(?:light|pale|hell|licht|claire?s?|chiar[oaie]|clar[oa]s?)/;

interface Color {
  readonly hue: number;
  readonly saturation: number;
  readonly lightness: number;
}

/** The first color that is named; null without one. */
export function colorOfWords(text: string): Color | null {
  const words = wordsOf(text);
  for (const word of words) {
    const bare = word.replace(shade, "");
    const found = colors.find(([, , , words]) => words.test(word) || words.test(bare));
    if (found === undefined) continue;
    const [hue, saturation, lightness] = found;
    const isNamed = (degree: RegExp) => words.some((word) => degree.test(word));
    const shift = isNamed(dark) ? -14 : isNamed(light) ? 16 : 0;
    return { hue, saturation, lightness: Math.max(8, Math.min(94, lightness + shift)) };
  }
  return null;
}

const stripes =
  /^(?:stripe[ds]?|striped?|(?:ge|quer|langs)?streif(?:t|te[rsnm]?|en)|raye[es]*|rayures|righe|rigat[oaie]|rayas|gestreepte?)$/;
const dots = /^(?:dot(?:s|ted)?|polka|gepunktet(?:e[rsnm]?)?|punkte|pois|lunares|topos|stippen)$/;
const plain = /^(?:plain|solid|uni|unis|einfarbig(?:e[rsnm]?)?|unit[oa]|lis[oa]s?|effen)$/;

/** The pattern that is named; null without one. */
export function patternOfWords(text: string): "plain" | "stripes" | "dots" | null {
  for (const word of wordsOf(text)) {
    if (stripes.test(word)) return "stripes";
    if (dots.test(word)) return "dots";
    if (plain.test(word)) return "plain";
  }
  return null;
}
