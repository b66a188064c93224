import { askService, type ClauseResult } from "../../../flows/catalogue/service-check/ask-service.ts";
import { AskedService } from "../../../flows/catalogue/service-check/service.ts";
import { counted } from "../../../flows/words.ts";
import type { App } from "../../app/app.ts";
import { confirmAction } from "../../app/confirm-action.ts";
import { PartialError } from "../../context/errors.ts";

/** `cat doctor --service`: prints what the service does about each clause; exits with 8 if one differs. */
export async function checkClauses(app: App, isWriting: boolean): Promise<void> {
  const { context, io } = app;
  const { baseUrl } = await app.connection();
  if (isWriting)
    await confirmAction(app, {
      question: `Create a product at ${baseUrl}, ask about it, and delete it?`,
      reason: `--write creates and deletes a product at ${baseUrl}, which needs a confirmation`,
      left: "nothing was asked",
    });
  const client = await app.client();
  const service = new AskedService({ client, random: context.random, signal: context.interrupt });
  const results: ClauseResult[] = [];
  const left: { readonly product: string; readonly error: unknown }[] = [];
  try {
    for await (const result of askService(service, isWriting)) {
      results.push(result);
      if (!io.json) await io.text(`${lineOf(app, result)}\n`);
    }
  } finally {
    if (isWriting && context.interrupt.aborted)
      await io.note(`Deleting the product ${service.mark}. Press Ctrl-C again to leave it.`);
    if (isWriting)
      for await (const one of service.remove()) {
        const { product } = one;
        left.push(one);
        await io.note(
          io.asCalled(`Product ${product} may be left. To delete it: cat products delete ${product}`),
        );
      }
  }
  const count = (status: ClauseResult["status"]) => results.filter((one) => one.status === status).length;
  if (io.json) {
    const asked_at = new Date(context.clock.now()).toISOString();
    await io.jsonData({
      service: baseUrl,
      asked_at,
      write: isWriting,
      clauses: results,
      left: left.map(({ product }) => product),
    });
  } else
    await io.note(
      `${counted(results.length, "clause")}: ${count("confirmed")} confirmed, ${counted(count("differs"), "difference")}, ${count("not_asked")} not asked.`,
    );
  if (left[0] !== undefined) throw left[0].error;
  if (count("not_asked") === results.length) throw new PartialError("no clause could be asked");
  if (count("differs") > 0)
    throw new PartialError(`the service differs from the mock in ${counted(count("differs"), "clause")}`);
}

function lineOf({ io }: App, { clause, status, message }: ClauseResult): string {
  const paint = { confirmed: io.paint.green, differs: io.paint.red, not_asked: io.paint.dim }[status];
  const text = message === null ? clause : `${clause.replace(/\.$/, "")}: ${message}`;
  return paint(status.replace("_", " ").padEnd(11)) + io.visible(text);
}
