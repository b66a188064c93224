import { type Command, Option } from "commander";
import { sexes } from "../../../contract/value-sets.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { command, examples } from "../../flags/command.ts";
import { noteLongFields } from "./note-long-fields.ts";
import { productOf } from "./product-of.ts";

/** Fields that can be empty (Products, PATCH). */
const clearable = ["description", "sex"] as const;
type Clearable = (typeof clearable)[number];

interface UpdateFlags {
  name?: string;
  reference?: string;
  description?: string;
  sex?: (typeof sexes)[number];
  clear?: Clearable[];
}
type Change = { name?: string; reference?: string } & { [Field in Clearable]?: UpdateFlags[Field] | null };

/** `cat products update`: parses the flags; `run` does the work. */
export const updateCommand = (app: App, run = updateProduct): Command =>
  command("update")
    .summary("change fields of a product")
    .usage("ID|REFERENCE [flags]")
    .description("Change fields of a product. Fields without a flag stay as they are.")
    .argument("<ID|REFERENCE>", "ID or reference of the product")
    .option("--name <NAME>", "new name")
    .option("--reference <REFERENCE>", "new reference")
    .option("--description <TEXT>", "new description")
    .addOption(new Option("--sex <SEX>", "who wears it").choices(sexes))
    .addOption(
      new Option("--clear <FIELD>", "remove the value of description or sex; repeatable").argParser(
        (field: string, earlier: Clearable[] = []) => [...earlier, clearableField(field)],
      ),
    )
    .addHelpText(
      "after",
      examples([
        ["change the name", 'cat products update DRESS-1 --name "Linen dress, long"'],
        ["remove the description", "cat products update DRESS-1 --clear description"],
      ]),
    )
    .action(async (product: string, { clear = [], ...set }: UpdateFlags) => {
      for (const field of clear) {
        if (set[field] !== undefined)
          throw new UsageError(`--clear ${field} cannot be used with --${field}`, {
            hint: "Remove one of them.",
          });
      }
      const change: Change = { ...set, ...Object.fromEntries(clear.map((field) => [field, null])) };
      if (Object.keys(change).length === 0) {
        throw new UsageError("nothing to change", {
          code: "nothing_to_change",
          hint: "Add --name, --reference, --description, --sex or --clear.",
        });
      }
      await run(app, { product, change });
    });

function clearableField(text: string): Clearable {
  const field = clearable.find((one) => one === text);
  if (field !== undefined) return field;
  throw new UsageError(`invalid --clear ${JSON.stringify(text)}: use description or sex`, {
    param: "--clear",
    hint: "A name and a reference cannot be empty.",
  });
}

/** Changes a product and prints it; not found ends in exit 5, a reference in use in exit 6. */
export async function updateProduct(
  app: App,
  { product, change }: { product: string; change: Change },
): Promise<void> {
  await noteLongFields(app, change);
  const { id } = await productOf(app, product);
  const client = await app.client();
  const signal = app.context.interrupt;
  await app.io.resource(await client.products.update({ product_id: id, body: change }, { signal }));
}
