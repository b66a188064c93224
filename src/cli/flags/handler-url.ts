import { InvalidArgumentError } from "commander";
import { parseUrl } from "../../http/parse-url.ts";

/** Parses the URL of a webhook handler: http or https, on any host. */
export function handlerUrl(text: string): URL {
  const url = parseUrl(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("use a URL such as http://127.0.0.1:3000/events");
  }
  // They would not be sent, but stored in the event log.
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError("remove the user name and password from the URL");
  }
  return url;
}
