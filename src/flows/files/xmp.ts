import { withoutEnd } from "../../text.ts";
// XMP: the text in an image that says how it was made.

import { SaxesParser } from "saxes";

/** How a generated image was made: from nothing, or from a photo. */
export type DigitalSource = "trainedAlgorithmicMedia" | "compositeWithTrainedAlgorithmicMedia";

/** Elements within each other; descriptions have a dozen. */
const deepest = 100;

const iptc = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/";
const rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const vocabulary = "http://cv.iptc.org/newscodes/digitalsourcetype/";

const descriptionWith = (source: DigitalSource, rdf: string, about: string): string =>
  `<${rdf}Description ${rdf}about=${about} xmlns:Iptc4xmpExt="${iptc}"` +
  ` Iptc4xmpExt:DigitalSourceType="${vocabulary}${source}"/>`;

export const newXmp = (source: DigitalSource): string =>
  `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>` +
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="${rdfNamespace}">` +
  `${descriptionWith(source, "rdf:", '""')}</rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

/** XMP with a description for the label; null if it cannot be added, unchanged if it is there. */
export function withLabel(xmp: string, source: DigitalSource): string | null {
  const known = isGenerated(xmp);
  if (known !== undefined) return known ? xmp : null;
  const ends = [...xmp.matchAll(/<\/([A-Za-z_][\w.-]*:)RDF\s*>/g)];
  if (ends.length !== 1) return null;
  const [{ index, 1: rdf = "" }] = ends as [RegExpExecArray];
  // All descriptions of an image are about the same.
  const about = new RegExp(`\\s${rdf}about\\s*=\\s*("[^"]*"|'[^']*')`).exec(xmp)?.[1] ?? '""';
  const labeled = xmp.slice(0, index) + descriptionWith(source, rdf, about) + xmp.slice(index);
  // A comment may look like the end of the descriptions.
  if (isGenerated(labeled) !== true) return null;
  // Space for changes in place, of which this is none.
  const end = labeled.lastIndexOf("<?xpacket end");
  const text = withoutEnd(labeled.slice(0, Math.max(0, end)), /\s/);
  return end - text.length < 32 ? labeled : `${text}\n${labeled.slice(end)}`;
}

/** Whether the source type names a model; undefined without one, null if it cannot be read. */
function isGenerated(xmp: string): boolean | undefined | null {
  const sources = digitalSources(xmp);
  if (sources === null || sources.length === 0) return sources && undefined;
  return sources.every((value) => /\/(?:t|compositeWithT)rainedAlgorithmicMedia$/.test(value.trim()));
}

/** The source types of the image itself, not of its ingredients; null for invalid XML. */
function digitalSources(xmp: string): string[] | null {
  const parser = new SaxesParser({ xmlns: true });
  const sources: string[] = [];
  /** The open elements: whether each one is RDF. */
  const isRdf: boolean[] = [];
  let text: string | null = null;
  parser.on("opentag", ({ uri, local, attributes }) => {
    // The parser looks for each namespace in all elements around it.
    if (isRdf.length >= deepest) throw new Error("too deep");
    const own = Object.values(attributes);
    const isSource = (attribute: { uri: string; local: string }) =>
      attribute.uri === iptc && attribute.local === "DigitalSourceType";
    // A description of the image is in RDF itself; a property is an attribute of it, or an element in it.
    if (isRdf.at(-1)) sources.push(...own.filter(isSource).map(({ value }) => value));
    if (isRdf.at(-2) && isSource({ uri, local }))
      text =
        own.find((attribute) => attribute.uri === rdfNamespace && attribute.local === "resource")?.value ??
        "";
    isRdf.push(uri === rdfNamespace && local === "RDF");
  });
  parser.on("text", (part) => {
    if (text !== null) text += part;
  });
  parser.on("closetag", () => {
    isRdf.pop();
    if (text === null || !isRdf.at(-2)) return;
    sources.push(text);
    text = null;
  });
  try {
    parser.write(xmp).close();
    return sources;
  } catch {
    return null;
  }
}

/** XMP is UTF-8 in all three types; null for other bytes. */
export function textOfXmp(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
