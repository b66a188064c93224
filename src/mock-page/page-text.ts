/** The page as one HTML text, with the style and the script in it, whose hashes its policy names. */
interface PageText {
  readonly html: string;
  readonly style: string;
  readonly script: string;
}

/** Bundles the page from its sources, which only a clone has. scripts/build.js puts the text in here. */
export async function pageText(): Promise<PageText> {
  const { bundlePage } = await import(new URL("../../scripts/mock-page.js", import.meta.url).href);
  return (await bundlePage()).page;
}
