import { imageTypeOf } from "../../contract/image-file.ts";
import { limits } from "../../contract/limits.ts";
import type { ImportRowResult } from "../../contract/resources/import.ts";
import { isPublicAddress, urlBreach } from "../../contract/url-policy.ts";
import type { imageErrorCodes } from "../../contract/value-sets.ts";
import { sizeOfImage } from "../images/size-of-image.ts";
import type { Network } from "../outgoing/network.ts";
import { type NoResponse, type RequestOutcome, sendOutgoing } from "../outgoing/outgoing-request.ts";
import type { ImageRecord } from "../store/organization.ts";
import type { Life } from "../work/life.ts";

/** The image at a URL, or the reason of the failure. */
export type Fetched =
  | (Pick<ImageRecord, "mime_type" | "width" | "height"> & { readonly bytes: Buffer })
  | { readonly problem: Problem };

/** Why an image was not attached (ImportRowResult, images). */
export type Problem = NonNullable<ImportRowResult["error"]>;

type Code = (typeof imageErrorCodes)[number];

/** Timeout per image. The specification has no number, so the timeout of webhook deliveries is used. */
const timeoutMs = 10_000;

const codes: Record<NoResponse, Code> = {
  dns_failed: "dns_failed",
  blocked_host: "blocked_host",
  timeout: "timeout",
  unreachable: "http_error",
  connection_lost: "http_error",
  ended: "http_error",
};

/**
 * Fetches one image of an import; applies the URL policy and checks the bytes (Imports, "An image url must
 * be").
 */
export async function fetchImage(network: Network, url: string, life: Life): Promise<Fetched> {
  // Checked when the import was accepted, but not if the job came from a state file.
  if (urlBreach(url) !== null) return fetchProblem("blocked_host");
  const outcome = await sendOutgoing(
    network,
    {
      method: "GET",
      url,
      headers: () => ({
        Accept: "image/jpeg, image/png, image/webp",
        "Accept-Encoding": "identity",
        "User-Agent": "catalogue-images/1",
      }),
      isAllowed: isPublicAddress,
      timeoutMs,
      mostBytes: limits.imageBytes,
    },
    life,
  );
  return imageOf(outcome);
}

function imageOf(outcome: RequestOutcome): Fetched {
  if ("fault" in outcome) return fetchProblem(codes[outcome.fault]);
  const { status, bytes, end } = outcome;
  // Redirects are not followed, because the specification does not mention them.
  if (status < 200 || status > 299)
    return fetchProblem("http_error", `the server responded with status ${status}`);
  if (end === "too_long") return fetchProblem("too_large", `larger than ${limits.imageBytes} bytes`);
  if (end === "broken") return fetchProblem("http_error", "the response ended early");
  const mime_type = imageTypeOf(bytes);
  const size = mime_type === null ? null : sizeOfImage(bytes);
  if (mime_type === null || size === null) return fetchProblem("not_an_image");
  return { mime_type, ...size, bytes };
}

/** The problem of a failed fetch; by default the message is the code in words. */
export const fetchProblem = (code: string, why = code.replaceAll("_", " ")): { problem: Problem } => ({
  problem: { code, message: `the image could not be fetched: ${why}` },
});
