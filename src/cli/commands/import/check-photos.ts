import { join } from "node:path";
import { isPublicAddress } from "../../../contract/url-policy.ts";
import { KnownUrls } from "../../../flows/photos/known-urls.ts";
import { PhotoUrls } from "../../../flows/photos/photo-urls.ts";
import { openConnections } from "../../../http/connections.ts";
import { outsideExchange } from "../../../http/outside-exchange.ts";
import type { App } from "../../app/app.ts";
import { showRequest } from "../../output/io.ts";

/** The silence after which a server counts as gone, in milliseconds: the service waits no longer. */
const silenceMs = 20_000;

/** Opens the check of `--check-photos` for all files; what it found is kept when the command ends. */
export async function openPhotoUrls(app: App): Promise<PhotoUrls> {
  const { clock, env, interrupt } = app.context;
  const connections = openConnections({ env, isDirect: () => false, isAllowed: isPublicAddress });
  app.onClose(() => connections.close());
  const path = app.globals.mock ? null : join(await app.context.homeFolder!(), "checked-photos.ndjson");
  const known = await KnownUrls.open(path, clock);
  app.onClose(() => known.save());
  const send = outsideExchange({
    connections,
    clock,
    silenceMs,
    onExchange: app.globals.verbose ? (exchange) => void showRequest(app.io, exchange) : undefined,
  });
  return new PhotoUrls({ send, clock, signal: interrupt, userAgent: "catalogue", known });
}
