import { randomUUID } from "node:crypto";
import {
  ApiError,
  type Client,
  type DeliveredEvent,
  type ImportRowResult,
} from "@catalogue-imaging/catalogue";
import type Database from "libsql";
import type { Import, Product } from "./database.js";

/** The most rows that the service takes in one import. */
const mostRows = 2_000;

/** The products of the shop, and what the service knows of them. */
export class Shop {
  constructor(
    readonly client: Client,
    readonly database: Database.Database,
  ) {}

  /** Adds or changes a product, to be sent by the next `catchUp`. One that did not change is not sent again. */
  save({ reference, name, photo }: Pick<Product, "reference" | "name" | "photo">): void {
    this.database
      .prepare(
        `INSERT INTO products (reference, name, photo, status) VALUES (?, ?, ?, 'new')
         ON CONFLICT (reference) DO UPDATE
         SET name = excluded.name, photo = excluded.photo, status = 'new', sent_in = NULL, reason = NULL
         WHERE name <> excluded.name OR photo <> excluded.photo`,
      )
      // As the service has it: results name the reference without spaces around it.
      .run(reference.trim(), name, photo);
  }

  products(): Product[] {
    return this.database.prepare("SELECT * FROM products ORDER BY reference").all() as Product[];
  }

  /** Whether all imports have ended, and their results are stored. */
  isSettled(): boolean {
    return this.openImports().length === 0;
  }

  /** Sends new products and new names, and asks for the results of imports whose events did not come. Run it now and then. */
  async catchUp(): Promise<void> {
    const failures: unknown[] = [];
    for (const product of this.renamed()) await this.rename(product).catch((error) => failures.push(error));
    this.planImports();
    for (const one of this.openImports()) {
      const done = one.id === null ? this.send(one) : this.settle(one.id);
      // One import that fails again and again must not stop the others.
      await done.catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Handles an event. It is stored together with what it changes, so a repeated one changes nothing. Events only
   * say that something ended: the result is read from the service, so their order does not matter.
   */
  async handle(event: DeliveredEvent): Promise<void> {
    if (event.type !== "import.completed" && event.type !== "import.failed") return;
    await this.settle(event.data.import.id, event);
  }

  private openImports(): Import[] {
    return this.database
      .prepare("SELECT * FROM imports WHERE settled = 0 ORDER BY started_at")
      .all() as Import[];
  }

  /** Products whose photo is attached. A name waits for open imports of its product, which have an older one. */
  private renamed(): Product[] {
    return this.database
      .prepare(
        `SELECT * FROM products AS p WHERE status = 'new'
         AND EXISTS (SELECT 1 FROM photos WHERE reference = p.reference AND photo = p.photo)
         AND NOT EXISTS (SELECT 1 FROM photos WHERE reference = p.reference AND attached = 0)`,
      )
      .all() as Product[];
  }

  /** Sends the name alone: an import needs a photo, and would add it again to those that the product has. */
  private async rename({ reference, name, photo, product_id }: Product): Promise<void> {
    const set = (status: string, reason: string | null) =>
      this.database
        .prepare(
          `UPDATE products SET status = ?, reason = ?
           WHERE reference = ? AND name = ? AND photo = ? AND status = 'new'`,
        )
        .run(status, reason, reference, name, photo);
    try {
      await this.client.products.update({ product_id: product_id!, body: { name } });
      set("imported", null);
    } catch (error) {
      if (!(error instanceof ApiError && [400, 404].includes(error.status))) throw error;
      if (error.status === 400) set("failed", error.message);
      // It was deleted with its photos, so it is imported again.
      else this.database.prepare("DELETE FROM photos WHERE reference = ? AND attached = 1").run(reference);
    }
  }

  /** Stores imports of all new products before anything is sent. */
  private planImports(): void {
    const plan = this.database.transaction(() => {
      const found = this.database
        .prepare(
          `SELECT * FROM products AS p WHERE status = 'new'
           AND NOT EXISTS (SELECT 1 FROM photos WHERE reference = p.reference AND photo = p.photo) LIMIT ?`,
        )
        .all(mostRows);
      const products = found as Product[];
      if (products.length === 0) return false;
      const key = randomUUID();
      const rows = products.map(({ reference, name, photo }) => ({
        reference,
        name,
        images: [{ url: photo }],
      }));
      this.database
        .prepare("INSERT INTO imports (key, body, started_at) VALUES (?, ?, ?)")
        .run(key, JSON.stringify({ mode: "upsert", rows }), Date.now());
      const mark = this.database.prepare(
        "UPDATE products SET status = 'sent', sent_in = ? WHERE reference = ?",
      );
      const remember = this.database.prepare(
        "INSERT INTO photos (reference, photo, sent_in) VALUES (?, ?, ?)",
      );
      for (const { reference, photo } of products) {
        mark.run(key, reference);
        remember.run(reference, photo, key);
      }
      return true;
    });
    while (plan()) {}
  }

  /** Sends an import, or repeats it with its key: the service runs it once. */
  private async send({ key, body, started_at }: Import): Promise<void> {
    try {
      const { id } = await this.client.imports.create(
        { json: body },
        { idempotencyKey: key, keyFrom: { here: started_at, service: null } },
      );
      this.database.prepare("UPDATE imports SET id = ? WHERE key = ?").run(id, key);
    } catch (error) {
      // Only these say that the service has not run an import with this key. A 401 says nothing of an earlier try.
      if (!(error instanceof ApiError && [400, 402].includes(error.status))) throw error;
      this.reject(key, body, error);
      if (error.status !== 400) throw error;
    }
  }

  /**
   * The service took none of the rows. Those with a problem have failed, and the others are new again: the next
   * import has another key, because the service stores the rejection under this one.
   */
  private reject(key: string, body: string, { status, message, problems }: ApiError): void {
    const { rows } = JSON.parse(body) as { rows: { reference: string }[] };
    const fail = this.database.prepare(
      "UPDATE products SET status = 'failed', reason = ? WHERE reference = ? AND sent_in = ?",
    );
    this.database.transaction(() => {
      for (const { line, message } of problems) {
        if (line !== undefined) fail.run(message, rows[line - 1]?.reference, key);
      }
      // A 400 without problems is the fault of all rows.
      const [other, reason] = status === 400 && problems.length === 0 ? ["failed", message] : ["new", null];
      this.database
        .prepare("UPDATE products SET status = ?, reason = ? WHERE sent_in = ? AND status = 'sent'")
        .run(other, reason, key);
      this.close(key);
    })();
  }

  /** Stores the results of an import that has ended. */
  private async settle(id: string, event?: DeliveredEvent): Promise<void> {
    const { status } = await this.client.imports.get({ import_id: id });
    if (status === "validating" || status === "processing") return;
    const results: ImportRowResult[] = [];
    if (status !== "failed") {
      for await (const result of this.client.imports.rowsAll({ import_id: id })) results.push(result);
    }
    this.database.transaction(() => {
      if (event !== undefined && !this.isFirst(event)) return;
      // Unknown while the response with its ID is under way: `catchUp` asks for it then.
      const found = this.database.prepare("SELECT * FROM imports WHERE id = ? AND settled = 0").get(id);
      if (found === undefined) return;
      const { key } = found as Import;
      // Only products that were not changed and sent again since.
      const update = this.database.prepare(
        "UPDATE products SET status = ?, reason = ? WHERE reference = ? AND sent_in = ?",
      );
      const identify = this.database.prepare("UPDATE products SET product_id = ? WHERE reference = ?");
      const attach = this.database.prepare(
        "UPDATE photos SET attached = 1 WHERE reference = ? AND sent_in = ?",
      );
      // The photos of a product that was deleted at the service went with it.
      const forget = this.database.prepare(
        `DELETE FROM photos WHERE reference = ? AND attached = 1
         AND EXISTS (SELECT 1 FROM products AS p WHERE p.reference = photos.reference AND p.product_id <> ?)`,
      );
      for (const { reference, status, product_id, images, error } of results) {
        if (product_id !== null) {
          forget.run(reference, product_id);
          identify.run(product_id, reference);
        }
        if (images.some((image) => image.status === "attached")) attach.run(reference, key);
        const reason = status === "partial" ? "without some of its photos" : (error?.message ?? null);
        update.run(status === "failed" ? "failed" : "imported", reason, reference, key);
      }
      this.database
        .prepare("UPDATE products SET status = 'failed', reason = ? WHERE sent_in = ? AND status = 'sent'")
        .run(`the import ${id} failed`, key);
      this.close(key);
    })();
  }

  /** Ends an import: its photos that were not attached may be sent again. */
  private close(key: string): void {
    this.database.prepare("DELETE FROM photos WHERE sent_in = ? AND attached = 0").run(key);
    this.database.prepare("UPDATE imports SET settled = 1 WHERE key = ?").run(key);
  }

  private isFirst({ id, type }: DeliveredEvent): boolean {
    return (
      this.database.prepare("INSERT OR IGNORE INTO events (id, type) VALUES (?, ?)").run(id, type).changes ===
      1
    );
  }
}
