import { InvalidArgumentError } from "commander";
import { parseUrl } from "../../http/parse-url.ts";

/** Parses the URL of a webhook handler: http or https, on any host. */
export function handlerUrl(text: string): URL {
  const url = parseUrl(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("use the URL of the handler, e.g. http://127.0.0.1:3000/webhooks");
  }
  return url;
}
