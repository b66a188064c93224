import { detectAll } from "jschardet";
import { knownEncoding, readAs } from "./encoding.ts";
import type { FoundEncodings } from "./problem.ts";

/** Encodings that spreadsheets save; of two that read a text alike, the first is offered. */
const readable =
  "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp874 mac-roman mac-cyrillic iso8859-2 iso8859-5 iso8859-6 iso8859-7 iso8859-15 koi8-r koi8-u cp866 gb18030 big5hkscs cp932 euc_jis_2004 cp949";
/** Code pages that cannot be read, whose texts would be taken for others. */
const unreadable =
  "cp437 cp850 cp852 cp720 cp737 cp855 cp857 cp869 cp775 johab mac-latin2 mac-greek mac-turkish";

/**
 * How much likelier than the next a recommended encoding is, for so many foreign bytes: with less, a few
 * texts were misread (test/rows/encoding.test.ts).
 */
const sureRatio = (bytes: number): number => (bytes < 100 ? 1.2 : 1.1);
const fewestBytes = 24;
/** Code pages that cannot be read are not judged by their letters, and so look more likely than they are. */
const sureOfUnreadable = 1.1;

/** The encodings that fit lines, all of which have foreign letters. */
export function findEncodings(text: Buffer): FoundEncodings {
  const detectEncodings = [...readable.split(" "), ...unreadable.split(" ")];
  const found = detectAll(text, { detectEncodings, minimumThreshold: 0 }).map(({ encoding, confidence }) => {
    // GB18030 has GBK, in which failed rows can be written too.
    const name = encoding === "GB18030" ? "gbk" : knownEncoding(encoding ?? "");
    return { name, confidence, text: name === null ? null : plausibleText(name, text) };
  });
  const fits = found.filter(({ name, text }) => name === null || text !== null);
  for (const name of ["shift_jis", "euc-jp"]) {
    const read = plausibleText(name, text);
    // Short texts get no confidence in it, but kana are a sign that no other encoding has.
    if (read !== null && isJapanese(read))
      fits.push({ name, text: read, confidence: 2 * Math.max(0, ...fits.map((fit) => fit.confidence)) });
  }
  const ranked = fits.sort((a, b) => b.confidence - a.confidence);
  const different = ranked.filter(
    (fit, at) => fit.text === null || ranked.findIndex(({ text }) => text === fit.text) === at,
  );
  const foreign = [...text.keys()].filter((at) => text[at]! >= 0x80);
  const [first, ...others] = different;
  const isAbove = (rival: (typeof others)[number]) => {
    const ratio = first?.text && rival.text ? sureRatio(foreign.length) : sureOfUnreadable;
    return (!first?.text && !rival.text) || first!.confidence >= ratio * rival.confidence;
  };
  const isSure = first !== undefined && foreign.length >= fewestBytes && others.every(isAbove);
  // A code page that cannot be read is none to choose.
  const readables = isSure && first.text === null ? [] : different.filter((fit) => fit.text !== null);
  const names = readables.slice(0, 3).map((fit) => preferred(ranked, fit.text));
  const place = placeToCompare(foreign.slice(0, 500), (at) => names.map((name) => readAs(name, text, at)));
  return { names, isSure, shownAs: (encoding) => readAs(encoding, text, place) };
}

/** The first place whose samples differ, or most of them. */
function placeToCompare(places: readonly number[], samplesAt: (place: number) => readonly string[]): number {
  let best = { place: places[0] ?? 0, differing: 0 };
  for (const place of places) {
    const samples = samplesAt(place);
    const differing = new Set(samples).size;
    if (differing > best.differing) best = { place, differing };
    if (differing === samples.length) break;
  }
  return best.place;
}

function preferred(
  ranked: readonly { readonly name: string | null; readonly text: string | null }[],
  text: string | null,
): string {
  const names = ranked.flatMap((fit) => (fit.text === text && fit.name !== null ? fit.name : []));
  const common = readable.split(" ").map((name) => knownEncoding(name));
  return common.find((name) => name !== null && names.includes(name)) ?? names[0]!;
}

const otherScript = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u;
/** A capital or a symbol inside a word, a final sigma before others, or a letter that is none of a word. */
const strangeWord = /\p{Ll}\p{Lu}|\p{L}[^\p{L}\p{M}\p{N}\p{P}\x00-\x7f]\p{L}|ς\p{L}|[ˆˇﬁﬂ]/u;

/** A text as an encoding reads it; null if it is none, or if every other foreign word is of no language. */
function plausibleText(encoding: string, bytes: Buffer): string | null {
  let text: string;
  try {
    // Without `stream` some releases of Node read Windows-1252 as ISO-8859-1.
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
  // Without the delimiters of tables, paths and URLs.
  const words = text.split(/[\s,;|"/:]/).filter((word) => /[^\x00-\x7f\p{P}]/u.test(word));
  const strange = words.filter(
    (word) => (otherScript.test(word) && /\p{Script=Latin}/u.test(word)) || strangeWord.test(word),
  );
  return /[\u0080-\u009f\p{Co}\p{Cn}]/u.test(text) ||
    (strange.length > 0 && strange.length * 2 >= words.length)
    ? null
    : text;
}

/** Whether a text has Japanese letters alone, a third of them kana. */
function isJapanese(text: string): boolean {
  const foreign = text.replace(/[\x00-\x7f]+/g, "");
  return (
    /^[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]+$/.test(foreign) &&
    foreign.replace(/[^\u3041-\u30ff]+/g, "").length * 3 >= foreign.length
  );
}
