// Runs the program from its sources, without a build: `npm run dev -- import products.csv --mock`.
import { nodeContext } from "../src/cli/context/context.ts";
import { main } from "../src/cli/main.ts";

process.exitCode = await main(process.argv.slice(2), nodeContext("cat"));
