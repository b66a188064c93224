// Apart from did-you-mean.ts, because the check of webhooks must stay small.
import { plain } from "./did-you-mean.ts";
import type { Orientation, sexes } from "./value-sets.ts";

/** Synonyms of values, in plain letters (`didYouMean`). They are suggested, never applied. */
export type OtherWords<Value extends string = string> = Readonly<Record<string, Value>>;

/** For `sex`, in English, German, French, Italian, Spanish, Dutch and Japanese. */
export const wordsForSexes: OtherWords<(typeof sexes)[number]> = {
  ...all(
    "female",
    "woman women womens lady ladies girls w dame damen frau frauen weiblich femme femmes donna donne mujer mujeres dames vrouw vrouwen 女性 レディース",
  ),
  ...all(
    "male",
    "man men mens gentleman gentlemen herr herren mann manner mannlich homme hommes uomo uomini hombre hombres heren mannen 男性 メンズ",
  ),
  ...all(
    "kid",
    "kids child children childrens baby kind kinder enfant enfants bambino bambini nino ninos junior kinderen キッズ 子供",
  ),
  ...all("other", "unisex divers neutral mixte uni unisexe ユニセックス"),
};

export const wordsForOrientations: OtherWords<Orientation> = {
  ...all("front", "vorne vorn vorderseite vorderansicht face devant avant"),
  ...all("back", "rear hinten ruckseite ruckansicht dos arriere"),
  ...all("left", "links gauche"),
  ...all("right", "rechts droite"),
  ...all("top", "oben dessus haut"),
  ...all("bottom", "unten dessous bas"),
  ...all("side", "seite seitlich profil cote"),
  ...all("detail", "details closeup"),
  ...all("three-quarter-left", "34left 34links"),
  ...all("three-quarter-right", "34right 34rechts"),
  ...all("unlabeled", "unlabelled none unknown"),
};

/** Words that mean one value, separated by spaces. */
export function all<Value extends string>(value: Value, words: string): Record<string, Value> {
  return Object.fromEntries(words.split(" ").map((word) => [plain(word), value]));
}
