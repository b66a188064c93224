import type { Import } from "../../../contract/resources/import.ts";
import { StateError } from "../../../state/state-error.ts";
import type { App } from "../../app/app.ts";

/** Has `cat imports list` tell this status from now on, if the import was sent from here. That it cannot be kept is no failure. */
export async function rememberStatus(app: App, { id, status }: Import): Promise<void> {
  try {
    const { baseUrl } = await app.connection();
    const { sentJobs } = await app.state();
    if (sentJobs.find(id)?.baseUrl === baseUrl) sentJobs.seen(id, status);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    await app.io.note(app.io.visible(`The status could not be kept for cat imports list: ${error.message}.`));
  }
}
