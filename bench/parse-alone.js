// The bare parser on a file, counting records: the baseline of the check.
import { createReadStream } from "node:fs";
import { parse } from "csv-parse";
import split2 from "split2";

const [format, file] = process.argv.slice(2);
const records = createReadStream(file).pipe(format === "csv" ? parse() : split2(JSON.parse));
let count = 0;
for await (const _ of records) count++;
console.log(count);
