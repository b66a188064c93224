import type { Clause } from "./clause.ts";
import { jobClauses } from "./job-clauses.ts";
import { productClauses } from "./product-clauses.ts";
import { requestClauses } from "./request-clauses.ts";
import { type AskedService, NotAsked } from "./service.ts";

/** The assumed clauses of docs/fidelity.md, by their texts. */
export const clauses: readonly Clause[] = [...requestClauses, ...productClauses, ...jobClauses];

/** The behavior of a service in one clause. `message`: what it does instead, or why it was not asked. */
export interface ClauseResult {
  readonly clause: string;
  readonly status: "confirmed" | "differs" | "not_asked";
  readonly message: string | null;
}

/** Asks a service about clauses in turn, without writes unless `isWriting`. Throws network errors. */
export async function* askService(
  service: AskedService,
  isWriting: boolean,
  asked: readonly Clause[] = clauses,
): AsyncGenerator<ClauseResult> {
  for (const clause of asked) yield { clause: clause.text, ...(await resultOf(service, clause, isWriting)) };
}

async function resultOf(
  service: AskedService,
  clause: Clause,
  isWriting: boolean,
): Promise<Omit<ClauseResult, "clause">> {
  const notAsked = (message: string) => ({ status: "not_asked" as const, message });
  if ("why" in clause) return notAsked(clause.why);
  if (clause.needs === "write" && !isWriting) return notAsked("it needs --write");
  try {
    const message = await clause.ask(service);
    return { status: message === null ? "confirmed" : "differs", message };
  } catch (error) {
    if (error instanceof NotAsked) return notAsked(error.reason);
    throw error;
  }
}
