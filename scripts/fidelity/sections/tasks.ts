import { assumed, enforced, inFile, notModeled, type Section } from "../clause.ts";

const of = inFile("mock/routes/tasks.test.ts");
const life = inFile("mock/jobs/task-life.test.ts");
const images = inFile("mock/routes/images.test.ts");
const conformance = inFile("conformance/every-operation.test.ts");

/** Tasks, and the models for try-ons. */
export const tasks: Section = {
  title: "Tasks and models",
  clauses: [
    enforced(
      "POST /v1/tasks/beautifier returns 202 with a queued Task.",
      of("a beautifier > is queued at once"),
      "operation tasks.beautify",
    ),
    enforced(
      "subtype, inputs.product_id, inputs.background and inputs.angle_shot are required.",
      of("a beautifier > with %s is rejected"),
    ),
    enforced(
      "An unknown product: 404 product_not_found, param inputs.product_id.",
      of("a beautifier > of a product that is unknown, deleted or of another organization is rejected"),
    ),
    assumed(
      "The type of product_not_found; the specification shows two.",
      "not_found.",
      "contract/tables.test.ts > the codes with the status %d are of the type %s: %s",
    ),
    enforced(
      "Inputs that do not match the subtype: 422.",
      of("a beautifier > has its own angles for each subtype, and a style only for clothing"),
      "code inputs_mismatch",
    ),
    enforced(
      "A product without the required image: 422.",
      of("a beautifier > from the angle %s of a product with the photo %s is accepted: %s"),
      "code image_required",
    ),
    assumed(
      "The required image.",
      "back needs a back photo, detail any photo, other angles a photo other than back, bottom and detail. An unlabeled photo counts as any of them.",
      of(
        "a beautifier > from the angle %s of a product with the photo %s is accepted: %s",
        "a beautifier > needs only one suitable photo",
      ),
    ),
    enforced(
      "POST /v1/tasks/tryon accepts 1 to 20 inputs and returns 202 with {tasks}, one task per input; a try-on has no subtype.",
      of(
        "a try-on > creates one task per input, in their order, without a subtype",
        "a try-on > accepts 1 to 20 inputs",
      ),
      "operation tasks.tryon",
      "limit tryonInputs",
    ),
    enforced(
      "0 to 10 styling products; the main product is not allowed.",
      of(
        "a try-on > accepts up to 10 stylings, including duplicates",
        "a try-on > reports every problem of every input, and queues nothing",
      ),
      "limit stylings",
    ),
    enforced(
      "Try-on backgrounds are those of beautifiers without floor, plus scenes; custom angle shots of the organization are allowed.",
      of(
        "a try-on > accepts scenes, custom angles, and the backgrounds of a beautifier except the floor",
        "a try-on > rejects the angle %j, and describes custom angles",
      ),
    ),
    enforced(
      "400 lists every bad input in {errors: [{input_index, type, code, message, param?}]}; nothing is queued.",
      [
        ...of("a try-on > reports every problem of every input, and queues nothing"),
        "mock/jobs/tryon-problems.property.test.ts > every problem of every invalid input is listed once, in order",
      ],
      "code model_not_found",
    ),
    assumed(
      "The codes in that list.",
      "invalid_request, product_not_found and model_not_found with their usual types; param is relative to the input, such as model_id.",
      of("a try-on > reports every problem of every input, and queues nothing"),
    ),
    assumed(
      "Inputs that are not a list, too few or too many.",
      "400 with the error envelope, because the problem has no input.",
      of("a try-on > of %s is rejected with one error"),
    ),
    enforced(
      "model_id is the ID of a curated model or of a model of the organization.",
      of("a try-on > accepts the organization's own models, but not those of others"),
    ),
    enforced(
      "Inputs with the same model, product and styling products look consistent.",
      "mock-page/drawing/scene-drawing.test.ts > the group determines pose, haircut and plain clothes",
    ),
    enforced("look_at_camera is true by default; false makes the model look away.", [
      "mock-page/drawing/scene-drawing.test.ts > a picture differs for > looking away",
      ...life("an output > shows the requested style and gaze"),
    ]),
    enforced(
      "402 if the credits are insufficient; nothing is queued.",
      of("credits > are taken when a task is queued, one per generation, all or none"),
      "code insufficient_credits",
    ),
    assumed(
      "The cost of a task.",
      "One credit per generation; unlimited if no credits are set.",
      of("credits > are taken when a task is queued, one per generation, all or none"),
    ),
    notModeled("Subscriptions.", "402 depends on credits only."),
    enforced(
      "queued, running, then succeeded with output_image, or failed with failure_reason.",
      life(
        "a task on the clock > is queued for a second, runs, and succeeds with a picture",
        "a failure > has the code of a reference with fail-CODE, shown only at the end",
      ),
    ),
    assumed(
      "The duration of a task.",
      "One second in the queue, then 5 s for a beautifier and 8 s for a try-on.",
      life(
        "a task on the clock > is queued for a second, runs, and succeeds with a picture",
        "a task on the clock > runs a try-on for eight seconds, and takes a quarter of the time at speed 4",
      ),
    ),
    enforced(
      "The output image is an image of the organization; its url is signed.",
      life(
        "an output > is an image of the organization, created at the end of the task",
        "a task on the clock > has a new signed output URL on every read, which expires after an hour",
      ),
    ),
    assumed(
      "The content of an output.",
      "A drawing of the requested product, model, background and angle.",
      "mock-page/drawing/scene-drawing.test.ts > a picture differs for",
    ),
    enforced(
      "GET /v1/tasks/{task_id}: the task, or 404.",
      [...conformance("rejects with %d %s"), ...of("does not show tasks of another organization")],
      "operation tasks.get",
      "code task_not_found",
    ),
    enforced(
      "GET /v1/tasks lists both types, newest first, filtered by status, type, subtype and product_id.",
      of("the list > has the newest tasks first, and supports every filter", "the list > rejects ?%s"),
      "operation tasks.list",
    ),
    assumed(
      "500 if valid try-ons cannot be queued, 502 if the queue is unavailable.",
      "Only with a fault.",
      "mock/faults/faults.test.ts > a status > uses the operation's own code",
    ),
    assumed(
      "Other codes of failure_reason than model_unsafe_content.",
      "Any code requested by a reference or a fault.",
      life(
        "a failure > has the code of a reference with fail-CODE, shown only at the end",
        "a failure > comes from a fault that is active when the task starts",
      ),
    ),
    enforced(
      "subtype narrows to beautifiers.",
      of("the list > has the newest tasks first, and supports every filter"),
    ),
    assumed(
      "Retry-After while a task is queued or running.",
      "As for other jobs, to tell clients when to poll again.",
      life("a task on the clock > has Retry-After while the task runs, shorter at higher speeds"),
    ),
    assumed(
      "A task whose product is changed or deleted in the meantime.",
      "It renders the product as of the request.",
      life("a task renders the product as of the request, even if it is renamed or deleted meanwhile"),
    ),
    enforced(
      "GET /v1/models: curated models and models of the organization, filtered by is_public.",
      [
        ...images(
          "models > are two of the organization with ULIDs, and a dozen curated ones with shorter IDs",
        ),
        ...conformance("accepts a valid request"),
      ],
      "operation models.list",
    ),
    enforced(
      "Organization-generated models have ULIDs, curated ones shorter IDs.",
      images("models > are two of the organization with ULIDs, and a dozen curated ones with shorter IDs"),
    ),
    assumed(
      "The available models.",
      "A dozen curated models and two of the organization; the API cannot create any.",
      images("models > are two of the organization with ULIDs, and a dozen curated ones with shorter IDs"),
    ),
    enforced("preview_url is a signed image.", images("generated pictures > include the preview of a model")),
  ],
};
