import { UsageError } from "../context/errors.ts";

/** Where notices go: an http:// or https:// URL. Its UsageError does not repeat the value. */
export function checkedNotifyUrl(value: string, source: string): URL {
  const url = URL.canParse(value.trim()) ? new URL(value.trim()) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new UsageError(`invalid ${source}: it is not an http:// or https:// URL`, {
    code: "invalid_notify_url",
    param: source,
    hint: `Use the URL of your monitoring, for example https://hc-ping.com/ID/. To send nothing: none.`,
  });
}

/** Masks a URL of notices in every output: its path, query and password let anyone send some. */
export function maskNotifyUrl(secrets: { add(secret: string, shown: string): void }, value: string): void {
  const text = value.trim();
  if (!URL.canParse(text)) return;
  const { origin, pathname, search, username } = new URL(text);
  if (pathname === "/" && search === "" && username === "") return;
  for (const form of [text, text.replace(/\/$/, "")]) secrets.add(form, `${origin}/…`);
}
