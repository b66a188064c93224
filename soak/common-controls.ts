import type { Patch } from "./program-files.ts";

/** A gateway's page counts as a response of the service. */
export const trustGateway = {
  file: "src/client/read-response.ts",
  from: "if (error instanceof BadResponseError) return error;",
  to: `if (error instanceof BadResponseError) {
    const body = { type: "invalid_request", code: "gateway", message: "page" };
    return new ApiError({ request: "", status: about.answer.status, body });
  }`,
} as const satisfies Patch;

/** Images get their names before they are on the disk. */
export const neverSync = {
  file: "src/flows/files/sync-batches.ts",
  from: "orFailed(one, sync(one.file))",
  to: "orFailed(one, Promise.resolve())",
} as const satisfies Patch;

/** A key is sent however old it is. */
export const oldKey = {
  file: "src/http/request-headers.ts",
  from: "return passedMs < lifeMs ? null",
  to: "return passedMs < Number.POSITIVE_INFINITY ? null",
} as const satisfies Patch;
