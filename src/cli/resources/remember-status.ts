import { StateError } from "../../state/state-error.ts";
import type { App } from "../app/app.ts";

/**
 * Stores the status of a job for the list of its kind (`cat imports list`), if it was started from here. Notes a failure to
 * store it. `noun` is the job, e.g. `import`.
 */
export const rememberStatus =
  (noun: string) =>
  async (app: App, { id, status }: { readonly id: string; readonly status: string }): Promise<void> => {
    try {
      const { baseUrl } = await app.connection();
      const { sentJobs } = await app.state();
      if (sentJobs.find(id)?.baseUrl === baseUrl) sentJobs.seen(id, status);
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      await app.io.note(app.io.visible(`cat ${noun}s list will not show this status: ${error.message}.`));
    }
  };
