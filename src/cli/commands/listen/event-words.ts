import type { Client } from "../../../client/client.ts";
import type { HandlerResponse } from "../../../flows/listen/forward.ts";
import { type EventLine, isAccepted, type NamedEvent } from "../../../flows/listen/log-lines.ts";
import { counted } from "../../../flows/words.ts";
import { shortText } from "../../../text.ts";
import type { Paint } from "../../output/paint.ts";

/** The resource of an event and its status, as far as the event names them; the type may be unknown. */
export function eventResource({ data }: EventLine): { name: string; id: string; status: string } | null {
  if (typeof data !== "object" || data === null) return null;
  const [entry] = Object.entries(data as Record<string, unknown>);
  const [name, value] = entry ?? [];
  if (name === undefined || typeof value !== "object" || value === null) return null;
  const { id, status } = value as Record<string, unknown>;
  return typeof id === "string" ? { name, id, status: typeof status === "string" ? status : "" } : null;
}

/** `09:04:30` in local time. */
export const timeOfDay = (time: number): string => new Date(time).toTimeString().slice(0, 8);

export const statusPaint = (status: string, paint: Paint): ((text: string) => string) =>
  /failed/.test(status) ? paint.red : /errors/.test(status) ? paint.yellow : paint.green;

/** An event on one line: time, event, resource, result. */
export function eventLine(event: EventLine, paint: Paint, visible: (text: string) => string): string {
  const { id, status } = eventResource(event) ?? { id: event.id, status: "" };
  const time = paint.dim(timeOfDay(Date.parse(event.received_at)));
  const type = visible(event.type).padEnd(16);
  return `${time}  ${paint.bold(type)}  ${visible(id)}  ${statusPaint(status, paint)(visible(status))}`.trimEnd();
}

/** Before events of an earlier listener, which may be old. */
export const missingText = (count: number): string =>
  `Showing ${counted(count, "event")} that an earlier listener received but did not show:`;

/** For a delivery of a known event, which the handlers of these URLs get again. */
export const repeatedText = ({ id, type }: NamedEvent, urls: readonly string[]): string => {
  const again = urls.length === 0 ? "" : `; sending it again to ${counted(urls.length, "handler")}`;
  return `Received ${type} ${id} again${again}.`;
};

/** `200 ok`, or why there was no response. */
export const spokenResponse = ({ status, line, error }: Omit<HandlerResponse, "url">): string =>
  [status === null ? "" : String(status), error ?? line ?? ""].filter(Boolean).join(" ");

/** A handler's response. It names the event, because other events may have been shown since. */
export function responseLine(
  { id, type }: NamedEvent,
  { url, ...response }: HandlerResponse,
  paint: Paint,
  visible: (text: string) => string,
): string {
  const color = isAccepted(response) ? paint.green : paint.red;
  return `          → ${visible(`${type} ${id}`)}  ${visible(url)}  ${color(visible(spokenResponse(response)))}`;
}

/** Fetches the resource of an event and describes it in one line; null for an unknown kind of resource. */
export async function fetchDetails(
  client: Client,
  event: EventLine,
  signal: AbortSignal,
): Promise<string | null> {
  const { name, id } = eventResource(event) ?? {};
  if (name === "task" && id !== undefined) {
    const task = await client.tasks.get({ task_id: id }, { signal });
    const what = [task.type, task.subtype, `of product ${task.product_id}`].filter(Boolean).join(" ");
    const { failure_reason: reason, output_image: image } = task;
    if (reason !== null) return `${what}: ${reason.code}, ${shortText(reason.message)}`;
    return image === null ? what : `${what}: image ${image.id}`;
  }
  if (name === "import" && id !== undefined) {
    const { counts, mode } = await client.imports.get({ import_id: id }, { signal });
    const { total, succeeded, partial, failed } = counts;
    const rows = counted(total ?? succeeded + partial + failed, "row");
    return `${rows} in mode ${mode}: ${succeeded} succeeded, ${partial} partial, ${failed} failed`;
  }
  if (name === "export" && id !== undefined) {
    const { format, total_assets, error } = await client.exports.get({ export_id: id }, { signal });
    if (error !== null) return `${format}: ${error.code}, ${shortText(error.message)}`;
    return `${format} of ${counted(total_assets, "asset")}`;
  }
  return null;
}
