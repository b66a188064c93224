export { counted } from "../../flows/counted.ts";
export { grouped } from "../../flows/grouped.ts";
