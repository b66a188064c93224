import type { Import } from "../../../contract/resources/import.ts";
import { StateError } from "../../../state/state-error.ts";
import type { App } from "../../app/app.ts";

/** Stores the status for `cat imports list`, if the import was sent from here. Notes a failure to store it. */
export async function rememberStatus(app: App, { id, status }: Import): Promise<void> {
  try {
    const { baseUrl } = await app.connection();
    const { sentJobs } = await app.state();
    if (sentJobs.find(id)?.baseUrl === baseUrl) sentJobs.seen(id, status);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    await app.io.note(app.io.visible(`cat imports list will not show this status: ${error.message}.`));
  }
}
