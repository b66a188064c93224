import type { Product } from "../../../contract/resources/products.ts";
import { type Clause, current, first, invalid, is, mistaken, never, noId, read, write } from "./clause.ts";
import { NotAsked } from "./service.ts";

/** Clauses about products and images. */
export const productClauses: readonly Clause[] = [
  write("The sizes of product fields and of the images array.", (service) =>
    first(
      is(
        service.write("POST", "/v1/products", mistaken(service, { reference: "r".repeat(101) })),
        invalid("reference"),
      ),
      is(
        service.write("POST", "/v1/products", mistaken(service, { name: "n".repeat(201) })),
        invalid("name"),
      ),
      is(
        service.write("POST", "/v1/products", mistaken(service, { description: "d".repeat(2_001) })),
        invalid("description"),
      ),
    ),
  ),
  write("A name that is only whitespace.", (service) =>
    is(service.write("POST", "/v1/products", mistaken(service, { name: "  " })), invalid("name")),
  ),
  write("Unknown fields of a body.", async (service) => {
    const { id } = await service.product();
    return is(service.write("PATCH", `/v1/products/${id}`, { json: { doctor: 1 } }), invalid("doctor"));
  }),
  write("The search of q.", async (service) => {
    const { id } = await service.product();
    const q = `${service.mark.slice(4).toUpperCase()} doctor`;
    const { data } = (await service.get(`/v1/products?q=${encodeURIComponent(q)}`)).json as {
      data?: { id: string }[];
    };
    return data?.some((found) => found?.id === id)
      ? null
      : `q ${JSON.stringify(q)} does not find the product; assumed: every word in the name or the reference, in any case`;
  }),
  read("The order of the list.", async (service) => {
    const { data = [] } = (await service.get("/v1/products?limit=100")).json as { data?: Product[] };
    if (data.length < 2) throw new NotAsked("the service has fewer than two products");
    const times = data.map(({ created_at }) => Date.parse(created_at));
    return times.every((time, at) => at === 0 || time <= times[at - 1]!)
      ? null
      : "the products are not in the order of created_at; assumed: newest first";
  }),
  write("A patch that changes nothing.", async (service) => {
    const { id, name, updated_at } = await current(service);
    const reply = await service.write("PATCH", `/v1/products/${id}`, { json: { name } });
    const after = (reply.json as Product).updated_at;
    return after === updated_at ? null : "updated_at changes; assumed: it does not";
  }),
  write("The reference of a deleted product.", (service) => service.recreate()),
  write("Attaching an image that the product already has.", async (service) => {
    const { id, images } = await current(service);
    const attached = [{ image_id: images[0]!.id, orientation: "back" }];
    await service.write("POST", `/v1/products/${id}/images`, { json: { images: attached } });
    const after = (await current(service)).images.filter((image) => image.id === images[0]!.id);
    const seen = after.map(({ orientation }) => orientation).join(", ");
    return seen === "back" ? null : `the product has it as ${seen}; assumed: once, as back`;
  }),
  ...never("it takes days", "Images linked to no product or task are cleaned up later."),
  write("The origin of a product's image.", async (service) => {
    const { images } = await current(service);
    return images[0]!.origin === "user" ? null : `${images[0]!.origin}; assumed: user for an upload`;
  }),
  write("An image with a valid signature that cannot be read.", (service) => {
    const bytes = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from("doctor")]);
    return is(service.upload([{ name: "file", bytes }]), invalid("file"));
  }),
  write("Other form fields, and a second file.", (service) => {
    const bytes = Buffer.from("doctor");
    return is(service.upload(["file", "file"].map((name) => ({ name, bytes }))), { status: 400 });
  }),
  read("The response for an expired or altered signed URL.", async (service) => {
    const { data = [] } = (await service.get("/v1/products?limit=100")).json as { data?: Product[] };
    const image = data.flatMap(({ images }) => images)[0];
    if (image === undefined) throw new NotAsked("the service has no product with a photo");
    const { url } = (await service.get(`/v1/images/${image.id}`)).json as { url: string };
    const altered = new URL(url);
    const [name, value] = [...altered.searchParams].at(-1) ?? ["", ""];
    altered.searchParams.set(name, value.split("").reverse().join(""));
    return service.rejectionOf(altered.href);
  }),
  read("The type of product_not_found; the specification shows two.", (service) =>
    is(service.get(`/v1/products/${noId}`), { status: 404, code: "product_not_found", type: "not_found" }),
  ),
];
