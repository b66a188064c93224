import { afterImport, importFile } from "./import-runs.js";

/** The second import of an unchanged file: its writes and its time. */
export const measure = ({ rows = 100_000 } = {}) =>
  afterImport(rows, async ({ file, settings, proxy, ms }) => {
    proxy.reset();
    const again = await importFile(file, settings);
    const { reads, writes } = proxy.counts;
    return [
      {
        what: `writes sent by a second import of ${rows.toLocaleString("en")} unchanged rows`,
        ratio: writes,
        goal: 0,
        atMost: true,
        note: `${reads} reads, ${(again.ms / 1_000).toFixed(1)} s for the ${(ms / 1_000).toFixed(1)} s of the first`,
      },
    ];
  });
