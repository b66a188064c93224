import { assumed, inFile, type Section } from "../clause.ts";

const tasks = inFile("mock/tasks.test.ts");

/** The interface's choices where the specification is silent, beside those that stand with their clauses above. */
export const choices: Section = {
  title: "Choices of the interface",
  clauses: [
    assumed(
      "Beautifier backgrounds.",
      "white, light-grey, beige, black, floor, any #rrggbb.",
      tasks("a beautifier > takes the background %s"),
    ),
    assumed(
      "Try-on backgrounds.",
      "The same without floor, and studio, loft, street, garden, beach.",
      tasks(
        "a try-on > takes the backgrounds of a beautifier but the floor, scenes, and angles of the organization's own",
      ),
    ),
    assumed(
      "Beautifier angle shots.",
      "Five for clothing, five for shoes, three for headwear.",
      tasks("a beautifier > each subtype has its own angles, and only clothing a style"),
    ),
    assumed(
      "Try-on angle shots.",
      "Six, and custom slugs that begin with custom-.",
      tasks(
        "a try-on > takes the backgrounds of a beautifier but the floor, scenes, and angles of the organization's own",
      ),
    ),
    assumed(
      "style.",
      "Only with the subtype clothing; else 422 inputs_mismatch.",
      tasks("a beautifier > each subtype has its own angles, and only clothing a style"),
    ),
    assumed(
      "input_index.",
      "Counts from 0.",
      tasks("a try-on > is told of everything that is wrong with every input, and nothing is queued"),
    ),
    assumed(
      "The headers of a delivery.",
      "Content-Type: application/json, User-Agent, Service-Signature.",
      "mock/deliveries.test.ts > an event arrives, signed over its bytes, with its resource's id and status and nothing more",
    ),
    assumed(
      "The type for 413, 415 and 422.",
      "invalid_request.",
      "conformance/every-operation.test.ts > refuses with %d %s",
    ),
  ],
};
