import { assumed, inFile, type Section } from "../clause.ts";

const tasks = inFile("mock/routes/tasks.test.ts");

/** Choices of the interface that are not covered by the clauses above. */
export const choices: Section = {
  title: "Choices of the interface",
  clauses: [
    assumed(
      "Beautifier backgrounds.",
      "white, light-grey, beige, black, floor, any #rrggbb.",
      tasks("a beautifier > accepts the background %s"),
    ),
    assumed(
      "Try-on backgrounds.",
      "The same without floor, plus studio, loft, street, garden, beach.",
      tasks("a try-on > accepts scenes, custom angles, and the backgrounds of a beautifier except the floor"),
    ),
    assumed(
      "Beautifier angle shots.",
      "Five for clothing, five for shoes, three for headwear.",
      tasks("a beautifier > has its own angles for each subtype, and a style only for clothing"),
    ),
    assumed(
      "Try-on angle shots.",
      "Six, plus custom slugs that start with custom-.",
      tasks("a try-on > accepts scenes, custom angles, and the backgrounds of a beautifier except the floor"),
    ),
    assumed(
      "style.",
      "Only with the subtype clothing; else 422 inputs_mismatch.",
      tasks("a beautifier > has its own angles for each subtype, and a style only for clothing"),
    ),
    assumed(
      "input_index.",
      "Counts from 0.",
      tasks("a try-on > reports every problem of every input, and queues nothing"),
    ),
    assumed(
      "The headers of a delivery.",
      "Content-Type: application/json, User-Agent, Service-Signature.",
      "mock/deliveries/deliveries.test.ts > an event is delivered with a signature of its bytes, and only the ID and status of its resource",
    ),
    assumed(
      "The type for 413, 415 and 422.",
      "invalid_request.",
      "conformance/every-operation.test.ts > rejects with %d %s",
    ),
  ],
};
