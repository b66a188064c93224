import { stringify } from "csv-stringify/sync";

/** CSV records of the same length with their line ends (RFC 4180, but a line feed alone ends a record). */
export const csvRecords = (records: readonly (readonly string[])[]): string =>
  stringify(records as string[][], {
    // A carriage return ends a record for some readers, and an empty line is no record.
    quoted_match: /\r/,
    quoted_empty: records[0]?.length === 1,
  });
