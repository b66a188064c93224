import { isLoopbackHost } from "../../../contract/url-policy.ts";
import type { Post, PostOutcome } from "../../../http/post.ts";
import type { App } from "../../app/app.ts";

/** Opens connections to handlers, and returns what sends one request. Closed when the command ends. */
export async function openPoster(app: App): Promise<(post: Post) => Promise<PostOutcome>> {
  const { env, clock } = app.context;
  const { openConnections } = await import("../../../http/dispatcher.ts");
  const { poster } = await import("../../../http/post.ts");
  const connections = openConnections({ env, isLoopback: isLoopbackHost });
  app.onClose(() => connections.close());
  return poster({ connections, clock });
}
