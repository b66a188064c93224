import type { HandlerResponse } from "../../../../flows/listen/forward.ts";
import { type EventLine, isAccepted } from "../../../../flows/listen/log-lines.ts";
import { counted } from "../../../../flows/words.ts";
import type { Paint } from "../../../output/paint.ts";

/** The resource of an event and its status, as far as the event names them; the type may be unknown. */
export function resourceOf({
  data,
}: Pick<EventLine, "data">): { name: string; id: string; status: string } | null {
  if (typeof data !== "object" || data === null) return null;
  const [entry] = Object.entries(data as Record<string, unknown>);
  const [name, value] = entry ?? [];
  if (name === undefined || typeof value !== "object" || value === null) return null;
  const { id, status } = value as Record<string, unknown>;
  return typeof id === "string" ? { name, id, status: typeof status === "string" ? status : "" } : null;
}

/** `09:04:30` in local time. */
export const timeOfDay = (time: number): string => new Date(time).toTimeString().slice(0, 8);

/** An event on one line: time, event, resource, result. */
export function eventLine(event: EventLine, paint: Paint, visible: (text: string) => string): string {
  const found = resourceOf(event);
  const time = paint.dim(timeOfDay(Date.parse(event.received_at)));
  const type = visible(event.type).padEnd(16);
  if (found === null) return `${time}  ${paint.bold(type)}  ${visible(event.id)}`;
  const { id, status } = found;
  const color = /failed/.test(status) ? paint.red : /errors/.test(status) ? paint.yellow : paint.green;
  return `${time}  ${paint.bold(type)}  ${visible(id)}  ${color(visible(status))}`.trimEnd();
}

/** Before events of an earlier listener, which may be old. */
export const missingText = (count: number): string =>
  `Showing ${counted(count, "event")} that an earlier listener received but did not show:`;

/** `200 ok`, or why there was no response. */
export const spokenResponse = ({ status, line, error }: Omit<HandlerResponse, "url">): string =>
  [status === null ? "" : String(status), error ?? line ?? ""].filter(Boolean).join(" ");

/** A handler's response. It names the event, because other events may have been shown since. */
export function responseLine(
  { id, type }: Pick<EventLine, "id" | "type">,
  { url, ...response }: HandlerResponse,
  paint: Paint,
  visible: (text: string) => string,
): string {
  const color = isAccepted(response) ? paint.green : paint.red;
  return `          → ${visible(`${type} ${id}`)}  ${visible(url)}  ${color(visible(spokenResponse(response)))}`;
}
