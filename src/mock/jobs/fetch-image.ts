import { imageTypeOf } from "../../contract/image-type.ts";
import { limits } from "../../contract/limits.ts";
import type { ImportRowResult } from "../../contract/resources/import.ts";
import { isPublicAddress, urlBreach } from "../../contract/url-policy.ts";
import type { imageErrorCodes } from "../../contract/value-sets.ts";
import { sizeOfImage } from "../images/size-of-image.ts";
import { type CallOutcome, callOut, type NoAnswer } from "../outgoing/call-out.ts";
import type { Network } from "../outgoing/network.ts";
import type { ImageRecord } from "../store/organization.ts";
import type { Life } from "../work/life.ts";

/** What the image at a URL is, or why there is none. */
export type Fetched =
  | (Pick<ImageRecord, "mime_type" | "width" | "height"> & { readonly bytes: Buffer })
  | { readonly problem: Problem };

/** Why an image is not attached (ImportRowResult, images). */
export type Problem = NonNullable<ImportRowResult["error"]>;

type Code = (typeof imageErrorCodes)[number];

/** How long a server may take for one image; the specification gives no number, so it is that of a webhook's handler. */
const timeoutMs = 10_000;

const codes: Record<NoAnswer, Code> = {
  dns_failed: "dns_failed",
  blocked_host: "blocked_host",
  timeout: "timeout",
  unreachable: "http_error",
  connection_lost: "http_error",
  ended: "http_error",
};

/** Fetches one image of an import, under the URL policy and typed from its bytes (Imports, "An image url must be"). */
export async function fetchImage(network: Network, url: string, life: Life): Promise<Fetched> {
  // It was checked when it was submitted, but a state may have been put in since.
  if (urlBreach(url) !== null) return fetchProblem("blocked_host");
  const outcome = await callOut(
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

function imageOf(outcome: CallOutcome): Fetched {
  if ("fault" in outcome) return fetchProblem(codes[outcome.fault]);
  const { status, bytes, end } = outcome;
  // A redirect as well: it is not followed, as nothing says that the service would.
  if (status < 200 || status > 299) return fetchProblem("http_error", `the server answered ${status}`);
  if (end === "too_long") return fetchProblem("too_large", `it has more than ${limits.imageBytes} bytes`);
  if (end === "broken") return fetchProblem("http_error", "the answer ended too early");
  const mime_type = imageTypeOf(bytes);
  const size = mime_type === null ? null : sizeOfImage(bytes);
  if (mime_type === null || size === null) return fetchProblem("not_an_image");
  return { mime_type, ...size, bytes };
}

/** The code in words is what an image that is only made to fail says, too. */
export const fetchProblem = (code: string, why = code.replaceAll("_", " ")): { problem: Problem } => ({
  problem: { code, message: `the image could not be fetched: ${why}` },
});
