import { assumed, enforced, inFile, notModelled, type Section } from "../clause.ts";

const of = inFile("mock/tasks.test.ts");
const life = inFile("mock/task-life.test.ts");
const images = inFile("mock/images.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Tasks, and the models that try-ons are rendered on. */
export const tasks: Section = {
  title: "Tasks and models",
  clauses: [
    enforced(
      "POST /v1/tasks/beautifier answers 202 with a queued Task.",
      of("a beautifier > is queued at once"),
      "operation tasks.beautify",
    ),
    enforced(
      "subtype, inputs.product_id, inputs.background and inputs.angle_shot are required.",
      of("a beautifier > with %s is refused"),
    ),
    enforced(
      "A product that is not there: 404 product_not_found, param inputs.product_id.",
      of("a beautifier > of a product that is not there, not any more, or another organization's is refused"),
    ),
    assumed(
      "The type of product_not_found, of which the specification shows two.",
      "not_found.",
      "contract/tables.test.ts > product_not_found",
    ),
    enforced(
      "Subtype and inputs that do not fit: 422.",
      of("a beautifier > each subtype has its own angles, and only clothing a style"),
      "code inputs_mismatch",
    ),
    enforced(
      "A product without the image that is needed: 422.",
      of("a beautifier > from the angle %s of a product with the photo %s: %s"),
      "code image_required",
    ),
    assumed(
      "Which image is needed.",
      "For back one from behind, for detail any, for the others one that is not only back, bottom or detail; an unlabeled photo may be any of them.",
      of(
        "a beautifier > from the angle %s of a product with the photo %s: %s",
        "a beautifier > one of two photos is enough",
      ),
    ),
    enforced(
      "POST /v1/tasks/tryon takes 1 to 20 inputs and answers 202 with {tasks}, a task for each input; a try-on has no subtype.",
      of(
        "a try-on > makes a task for each input, in their order, without a subtype",
        "a try-on > 1 and 20 inputs pass; none and 21 do not",
      ),
      "operation tasks.tryon",
      "limit tryonInputs",
    ),
    enforced(
      "0 to 10 styling products, without the main one.",
      of(
        "a try-on > takes 10 stylings, even one twice; 11 are too many",
        "a try-on > is told of everything that is wrong with every input, and nothing is queued",
      ),
      "limit stylings",
    ),
    enforced(
      "Try-on backgrounds are those of beautifiers without floor, and scenes; angle shots of the organization's own are taken.",
      of(
        "a try-on > takes the backgrounds of a beautifier but the floor, scenes, and angles of the organization's own",
        "a try-on > does not take the angle %j, and says what one of the organization's own looks like",
      ),
    ),
    enforced(
      "400 lists every bad input in {errors: [{input_index, type, code, message, param?}]}; nothing is queued.",
      [
        ...of("a try-on > is told of everything that is wrong with every input, and nothing is queued"),
        "mock/tryon-problems.property.test.ts > every problem of every bad input is listed once, in the order of the inputs; good ones are not",
      ],
      "code model_not_found",
    ),
    assumed(
      "The codes of that list.",
      "invalid_request, product_not_found and model_not_found, each with the type it has elsewhere; params are those of the input, such as model_id.",
      of("a try-on > is told of everything that is wrong with every input, and nothing is queued"),
    ),
    assumed(
      "Inputs that are no list, too few or too many.",
      "400 with the error envelope, as there is no input to name.",
      of("a try-on > of %s is refused as a whole"),
    ),
    enforced(
      "model_id is that of a curated model or one of the organization's own.",
      of("a try-on > takes the organization's own models and nobody else's"),
    ),
    enforced(
      "Entries of one model, product and styling list look consistent.",
      "mock/drawing/scene-drawing.test.ts > pose, haircut and plain clothes are the group's",
    ),
    enforced("look_at_camera is true unless told; false makes the model look away.", [
      "mock/drawing/scene-drawing.test.ts > a picture is another one for > who looks away",
      ...life("an output > shows the style and the look that were asked for"),
    ]),
    enforced(
      "402 when credits do not suffice; nothing is queued.",
      of("credits > are one a generation, taken when it is queued; all or none"),
      "code insufficient_credits",
    ),
    assumed(
      "The cost of a task.",
      "One credit a generation; without credits set there is no end of them.",
      of("credits > are one a generation, taken when it is queued; all or none"),
    ),
    notModelled("Subscriptions.", "402 comes from credits alone."),
    enforced(
      "queued, running, then succeeded with output_image, or failed with failure_reason.",
      life(
        "on the clock > a task is queued for a second, runs, and has succeeded with a picture",
        "a failure > is what a reference with fail-CODE asks for, and shows only at the end",
      ),
    ),
    assumed(
      "How long a task takes.",
      "A second in the queue, then 5 s for a beautifier and 8 s for a try-on.",
      life(
        "on the clock > a task is queued for a second, runs, and has succeeded with a picture",
        "on the clock > a try-on runs for eight seconds; at speed 4 everything takes a quarter",
      ),
    ),
    enforced(
      "The output image is an image of the organization; its url is signed.",
      life(
        "an output > is an image of the organization, made when the task ended",
        "on the clock > the URL of an output is signed anew on every read, and dies after its hour",
      ),
    ),
    assumed(
      "What an output shows.",
      "A drawing of the product, model, background and angle that were asked for.",
      "mock/drawing/scene-drawing.test.ts > a picture is another one for",
    ),
    enforced(
      "GET /v1/tasks/{task_id}: the task, or 404.",
      [...conformance("refuses with %d %s"), ...of("a task of another organization is not found")],
      "operation tasks.get",
      "code task_not_found",
    ),
    enforced(
      "GET /v1/tasks lists both types, newest first, filtered by status, type, subtype and product_id.",
      of("the list > is newest first, and every filter narrows it", "the list > ?%s is refused"),
      "operation tasks.list",
    ),
    assumed(
      "500 when try-ons that are right cannot be made, 502 when the queue is unavailable.",
      "Ordered with a fault only.",
      "mock/faults.test.ts > a status > takes the operation's own code",
    ),
    assumed(
      "The codes of failure_reason beside model_unsafe_content.",
      "Any that a reference or a fault asks for.",
      life(
        "a failure > is what a reference with fail-CODE asks for, and shows only at the end",
        "a failure > is what a fault orders for a task that begins while it stands",
      ),
    ),
    enforced(
      "subtype narrows to beautifiers.",
      of("the list > is newest first, and every filter narrows it"),
    ),
    assumed(
      "Retry-After while a task is queued or running.",
      "As for the other jobs, so that whoever polls knows when to look again.",
      life("on the clock > whoever polls is told when to look again, sooner where jobs run faster"),
    ),
    assumed(
      "A task whose product is changed or deleted meanwhile.",
      "It is rendered as the product was.",
      life(
        "what was accepted is rendered as the product was then, even when it is renamed or deleted meanwhile",
      ),
    ),
    enforced(
      "GET /v1/models: curated and own models, is_public for either.",
      [
        ...images("models > two of the organization's own with ULIDs, a dozen curated ones with shorter ids"),
        ...conformance("answers a request that is right"),
      ],
      "operation models.list",
    ),
    enforced(
      "Organization-generated models have ULIDs, curated ones shorter ids.",
      images("models > two of the organization's own with ULIDs, a dozen curated ones with shorter ids"),
    ),
    assumed(
      "Which models there are.",
      "A dozen curated ones and two of the organization's own; none are made through the API.",
      images("models > two of the organization's own with ULIDs, a dozen curated ones with shorter ids"),
    ),
    enforced("preview_url is a signed image.", images("generated pictures > a model's preview is one")),
  ],
};
