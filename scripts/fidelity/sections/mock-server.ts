import { assumed, enforced, inFile, type Section } from "../clause.ts";

const serve = inFile("cli/serve.test.ts");
const control = inFile("mock/control/control.test.ts");
const access = inFile("mock/control/access.test.ts");
const faults = inFile("mock/faults/faults.test.ts");
const customAnswers = inFile("mock/faults/custom-answers.test.ts");
const deliveries = inFile("mock/deliveries/deliveries.test.ts");
const keys = inFile("mock/rules/keys-and-limits.test.ts");
const requests = inFile("mock/requests/bad-requests.test.ts");
const same = inFile("mock/seed/same-seed.test.ts");
const inCode = inFile("mock/in-code.test.ts");
const openapi = inFile("mock/routes/openapi.test.ts");

/** Clauses of the interface about `serve --mock`. */
export const mockServer: Section = {
  title: "The mock server: serve --mock",
  clauses: [
    enforced(
      "With --json stdout has one line, {base_url, api_key}. Port 0 picks a free port.",
      serve("--json prints one line on stdout, with the base URL and the API key"),
    ),
    enforced("With a COMMAND it runs for the duration of that command and exits with its status.", [
      "bin/serve.test.ts > serve -- COMMAND > connects the streams of the command and exits with its status",
      "bin/serve.test.ts > serve -- COMMAND > adds the URL and the API key to the environment, replacing other values",
    ]),
    enforced(
      "ak_mock has every scope, ak_mock_readonly only read scopes; ak_mock_user gets 403, ak_mock_revoked 401; ak_mock_other belongs to another organization.",
      keys(
        "API keys > are rejected: %s",
        "API keys > with read-only access list products, but cannot create any",
        "API keys > of another organization see nothing of the first",
      ),
    ),
    enforced(
      "All timers, expiries and windows run on one clock, which POST /_mock/clock moves.",
      control("the clock > moves forward and runs what became due"),
    ),
    enforced("--speed makes jobs faster and sets their Retry-After to round(5 / X).", [
      "mock/routes/imports.test.ts > an import in progress > is faster at a higher speed, and has a shorter Retry-After",
      "mock/exports/frozen.test.ts > a zip > takes a tenth of the time at ten times the speed",
      "mock/jobs/task-life.test.ts > a task on the clock > runs a try-on for eight seconds, and takes a quarter of the time at speed 4",
    ]),
    enforced("The same seed and the same requests give the same IDs and contents, whenever started.", [
      ...same(
        "two runs with one seed > at the same time have identical responses, state and events, byte by byte",
        "two runs with one seed > at different times differ only in timestamps and signatures",
      ),
      ...control("seeds > make the same requests return the same data, at any start time"),
    ]),
    enforced(
      "Image URLs are not fetched; a URL whose last path segment starts with fail-CODE fails with that code.",
      "mock/routes/imports.test.ts > images that fail > follow the code in the URL: %s gives %s",
    ),
    enforced("--fetch-images fetches image URLs under the URL policy, from the address that was checked.", [
      "mock/outgoing/outgoing.test.ts > a request goes to the checked address, with the requested host name",
      "mock/jobs/fetch-images.test.ts > a %s is fetched and stored, with the type of its bytes, not that of the server",
      "mock/jobs/fetch-images.test.ts > no image is fetched without --fetch-images",
    ]),
    enforced(
      "Tasks of a product whose reference contains fail-CODE fail with that code.",
      "mock/jobs/task-life.test.ts > a failure > has the code of a reference with fail-CODE, shown only at the end",
    ),
    enforced(
      "POST /_mock/account sets the credits; a generation costs one.",
      "mock/routes/tasks.test.ts > credits > are taken when a task is queued, one per generation, all or none",
    ),
    enforced("Webhook URLs on loopback are accepted; --strict rejects them.", [
      "mock/routes/webhooks.test.ts > the URL of a webhook > http://127.0.0.1:4242/in",
      ...deliveries("a strict mock does not deliver to loopback, even if a loaded state says so"),
    ]),
    enforced(
      "A fault selects requests and defines what happens and how often.",
      faults(
        "matching > compares the path as sent, including the query, by its prefix",
        "matching > chooses the first matching fault that is not used up",
      ),
    ),
    enforced(
      "drop: before closes the connection without processing the request; drop: after processes it first.",
      faults(
        "a drop > before the work does nothing, stores nothing and releases the key",
        "a drop > after the work does the work and stores the response",
      ),
    ),
    enforced(
      "delay_ms delays the processing of a request, so its idempotency key is in use meanwhile.",
      faults("a delay > postpones the work, and the key counts as in progress meanwhile"),
    ),
    enforced(
      "status responds with the envelope and the matching type, 429 with Retry-After.",
      faults("a status > of %d sends the envelope with type %s and code %s"),
    ),
    enforced("status with headers and a body sends exactly that response.", [
      ...customAnswers(
        "a fault with a body > answers like a gateway: its HTML and headers, without those of the service",
        "a fault with a body > can be %s",
      ),
    ]),
    enforced("Several faults act in order, and a fault with mistakes lists all of them.", [
      ...customAnswers(
        "several faults > act in order: delays add up, answers follow each other",
        "a fault with mistakes > is rejected with every problem at once",
      ),
    ]),
    enforced(
      "truncate cuts off the response body after a number of bytes.",
      faults("a truncation > sends %d bytes of the body, and the headers announce the full length"),
    ),
    enforced("A fault can make jobs of one kind fail.", [
      ...faults("an import with a job fault fails before any row is processed"),
      "mock/jobs/task-life.test.ts > a failure > comes from a fault that is active when the task starts",
      "mock/exports/frozen.test.ts > a zip > fails if a fault requires it",
    ]),
    enforced(
      "DELETE /_mock/faults clears them.",
      faults("the list of faults > is shown, and cleared all at once"),
    ),
    enforced(
      "GET /_mock/requests, newest last.",
      control(
        "the request log > lists requests oldest first, with masked API keys and without control requests",
      ),
    ),
    enforced(
      "GET /_mock/deliveries, and POST /_mock/deliveries/ID/resend.",
      deliveries(
        "a resend > sends the same event with a new signature, and returns the result",
        "a resend > of an unknown delivery, or for a deleted webhook, gets 404",
      ),
      "code delivery_not_found",
    ),
    enforced(
      "GET and PUT /_mock/state read and replace the complete state.",
      control("the state > is complete: another mock that loads it continues as if it were the first"),
    ),
    enforced(
      "--load and --save keep the state in a file.",
      serve("the state file > restores the saved products and their IDs", "the state file > is saved on %s"),
    ),
    enforced(
      "A fault can be limited to a number of times, or to a probability.",
      faults(
        "matching > chooses the first matching fault that is not used up",
        "matching > repeats the random choice with a seed, and does not change any ID",
      ),
    ),
    enforced("--latency delays the processing of every request.", [
      ...faults("a delay > is added to the latency", "signed files > are delayed by the latency"),
      ...control("reset > by %s completes the requests that the latency is delaying"),
    ]),
    enforced("It listens on loopback by default, and warns about other addresses.", [
      ...inCode("a mock listens on a free port of loopback only"),
      ...serve("cat serve warns about an address that other machines can reach"),
    ]),
    enforced(
      "POST /_mock/reset restores the initial state.",
      control("reset > restores the state at the start, removes jobs and repeats the same IDs"),
    ),
    enforced(
      "/_mock accepts only requests with a loopback Host, or one of --allow-host, and from no page of another origin.",
      access(
        "the Host of a request to the control routes > gets a response of this status: %s %d",
        "the Host of a request to the control routes > may be one of allowHosts, exactly: %s %d",
        "a web page of another origin > can neither read nor change anything: %s",
      ),
      "code host_not_allowed",
    ),
    enforced(
      "GET /openapi.json is an OpenAPI 3.1 document of the complete API, generated from the contract.",
      [
        ...openapi("GET /openapi.json returns the document of the contract, with this mock as its server"),
        "contract/openapi.test.ts > Redocly's spec ruleset > reports no problem in the OpenAPI 3.1 document",
        "conformance/every-operation.test.ts > accepts a valid request",
      ],
    ),
    enforced(
      "startMock returns {baseUrl, apiKey, clock, stop()}; one process can run several mocks.",
      inCode("several mocks in one process have separate ports, data, clocks, rate limit windows and logs"),
    ),
    enforced("The package exports createClient and verifyWebhook.", [
      "package/package.test.ts > createClient: the README's example prints the references",
      "package/package.test.ts > verifyWebhook: the README's example accepts signed deliveries only",
    ]),
    enforced(
      "--rate-limit sets the limits, --no-rate-limit removes them.",
      serve("the rate limit > is set by --rate-limit", "the rate limit > is removed by --no-rate-limit"),
    ),
    enforced(
      "--demo N starts with N products.",
      control(
        "seeds > a demo has the requested number of products, with unique references and matching kinds and sexes",
      ),
    ),
    assumed(
      "Requests to signed URLs.",
      "Range, If-Range, If-Match, ETag and HEAD work as with a storage service.",
      [
        "mock/routes/signed-files.test.ts > is sent in parts",
        "mock/routes/signed-files.test.ts > resumes only from the client's version",
        "mock/routes/signed-files.test.ts > gets 416 for a range past its end",
        "mock/routes/signed-files.test.ts > gets 412 if the client requires another version",
        "mock/routes/signed-files.test.ts > the entity tag depends on the bytes > of a manifest, which has other URLs at another base URL",
        "mock/routes/signed-files.test.ts > the entity tag depends on the bytes > of an upload and of a ZIP with it, whose IDs repeat with other bytes after a reset",
      ],
      "code range_not_satisfiable",
      "code precondition_failed",
    ),
    assumed(
      "Malformed requests.",
      "Always the error envelope, never a 500.",
      requests(
        "a raw request > is rejected: %s",
        "an invalid body > is rejected with 400 and the envelope: %s",
      ),
    ),
    assumed(
      "Unsupported methods.",
      "405 if the path exists, else 404, for every method that Node's parser knows.",
      "mock/routes/every-method.test.ts > every method known to Node's parser gets the envelope and every header",
    ),
    assumed(
      "Jobs that are overdue when a state is loaded, or after the machine has slept.",
      "They run their next steps immediately. Timestamps and event signatures have the current time.",
      [
        "clock.test.ts > a clock that ticks > fires timers that became due while the machine slept at the current time, in order",
        "mock/jobs/overdue-jobs.test.ts > overdue jobs > end with the current time when a state is restored on a frozen clock",
        "mock/jobs/overdue-jobs.test.ts > overdue jobs > have events with a current signature when a mock starts on the system clock",
      ],
    ),
    assumed(
      "Edited states.",
      "Each field is checked by itself; the first mistake is rejected with its path. Records that contradict each other are loaded as they are.",
      [
        "mock/snapshot/edited-states.property.test.ts > an edited state > is rejected with the path of its first mistake, or keeps the mock responding",
        "mock/snapshot/edited-states.property.test.ts > an edited state > whose records contradict each other is loaded as is, and its jobs end",
      ],
    ),
  ],
};
