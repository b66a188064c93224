import type { RowSink } from "../../../flows/export/live/export-live.ts";
import type { App } from "../../app/app.ts";
import type { OutFile } from "./out-file.ts";

/** Standard output. Each write has left the program when it resolves. */
export const stdoutSink = (app: App): RowSink => ({
  write: (text) => app.io.data(text),
  commit: async () => {},
  discard: async () => {},
});

/** A file that appears when it is complete. A second interrupt removes what is unfinished. */
export async function fileSink(app: App, { path, replaces }: OutFile, runId: string): Promise<RowSink> {
  const { pid, isRunning, onStop } = app.context;
  const [{ OutputFile }, { unfinishedName, whereLinksLead }] = await Promise.all([
    import("../../../flows/files/output-file.ts"),
    import("../../../flows/files/file-names.ts"),
  ]);
  const name = await unfinishedName(await whereLinksLead(path), { pid, runId, isRunning });
  const file = await OutputFile.begin(path, replaces || "never", name);
  app.onClose(onStop(() => void file.discardAtOnce()));
  return {
    write: (text) => file.write(text),
    commit: async () => void (await file.commit()),
    discard: () => file.discard(),
  };
}
