import { useState } from "preact/hooks";
import { Rejection } from "./api.ts";
import type { Run } from "./parts.tsx";

/** Runs the action of a form like `run`. What the mock rejects is shown in the form, with every problem. */
export function useForm(run: Run) {
  const [problems, setProblems] = useState<readonly string[]>([]);
  const submit: Run = (action) =>
    run(async () => {
      setProblems([]);
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        setProblems(error.problems);
        return "";
      }
    });
  const shown = problems.length > 0 && (
    <ul class="problems" role="alert">
      {problems.map((problem) => (
        <li>{problem}</li>
      ))}
    </ul>
  );
  return { submit, shown };
}
