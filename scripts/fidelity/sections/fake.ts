import { assumed, enforced, inFile, type Section } from "../clause.ts";

const serve = inFile("cli/serve.test.ts");
const control = inFile("mock/control.test.ts");
const faults = inFile("mock/faults.test.ts");
const deliveries = inFile("mock/deliveries.test.ts");
const keys = inFile("mock/keys-and-limits.test.ts");
const requests = inFile("mock/bad-requests.test.ts");
const same = inFile("mock/same-seed.test.ts");
const inCode = inFile("mock/in-code.test.ts");
const openapi = inFile("mock/openapi.test.ts");

/** What the interface says about `serve --mock`. */
export const fake: Section = {
  title: "The fake itself: serve --mock",
  clauses: [
    enforced(
      "With --json the first line on stdout is {base_url, api_key}; nothing more follows. Port 0 picks a free one.",
      serve("with --json the first line says where it is and by which key; then nothing more on stdout"),
    ),
    enforced("With a COMMAND it serves just that command and ends with its exit status.", [
      "bin/serve.test.ts > serve -- COMMAND > serves just that one, which has our streams and gives its exit status",
      "bin/serve.test.ts > serve -- COMMAND > the environment is ours, with the service in it in place of another",
    ]),
    enforced(
      "ak_mock has every scope, ak_mock_readonly reads only, ak_mock_user is 403, ak_mock_revoked 401, ak_mock_other another organization.",
      keys(
        "keys > %s is refused",
        "keys > a key that only reads lists products, and creates none",
        "keys > another organization sees nothing of the first",
      ),
    ),
    enforced(
      "All timers, expiries and windows run on one clock, which POST /_mock/clock moves.",
      control("the clock > moves on and fires what became due"),
    ),
    enforced("--speed makes jobs faster and sets their Retry-After to round(5 / X).", [
      "mock/imports.test.ts > over time > speed makes it faster, and its Retry-After shorter",
      "mock/exports/frozen.test.ts > a zip > takes a tenth of the time at ten times the speed",
      "mock/task-life.test.ts > on the clock > a try-on runs for eight seconds; at speed 4 everything takes a quarter",
    ]),
    enforced("Same seed and same requests: same ids and contents, whenever started.", [
      ...same(
        "two runs with one seed > at the same moment are the same to the byte: answers, state, events",
        "two runs with one seed > at different moments differ in their moments alone, and in what is signed with them",
      ),
      ...control("seeds > the same seed and the same requests give the same, whenever started"),
    ]),
    enforced(
      "Image URLs are not fetched; a last path segment that begins with fail-CODE fails with that code.",
      "mock/imports.test.ts > images that fail > %s: %s",
    ),
    enforced("--fetch-images really fetches, under the URL policy and at the address that was checked.", [
      "mock/outgoing.test.ts > a call goes to the address that was checked, under the name that was asked for",
      "mock/fetch-images.test.ts > a %s is fetched and kept, typed from its bytes whatever the server says",
      "mock/fetch-images.test.ts > without --fetch-images nothing is fetched",
    ]),
    enforced(
      "A product whose reference contains fail-CODE has its tasks fail with that code.",
      "mock/task-life.test.ts > a failure > is what a reference with fail-CODE asks for, and shows only at the end",
    ),
    enforced(
      "POST /_mock/account sets credits, one a generation.",
      "mock/tasks.test.ts > credits > are one a generation, taken when it is queued; all or none",
    ),
    enforced("Webhook URLs on loopback are accepted; --strict refuses them.", [
      "mock/webhooks.test.ts > the URL > http://127.0.0.1:4242/in",
      ...deliveries("a strict mock calls no loopback, whatever its state says"),
    ]),
    enforced(
      "Faults: which requests, how often, and what happens.",
      faults(
        "which requests a fault meets > the path is a prefix as it was sent, its query included",
        "which requests a fault meets > the first that matches and is not used up acts",
      ),
    ),
    enforced(
      "drop before does nothing; drop after does the work and then cuts the connection.",
      faults(
        "drop > before: nothing is done, nothing stored, and the key is free",
        "drop > after: the work is done and its answer stored",
      ),
    ),
    enforced(
      "delay_ms acts once the request is being worked on, so that its key counts as running.",
      faults("a delay > puts the work off, and the key counts as running meanwhile"),
    ),
    enforced(
      "status answers with the envelope and the type that fits, 429 with Retry-After.",
      faults("a status > %d has the envelope with the type %s and the code %s"),
    ),
    enforced(
      "truncate cuts the body after so many bytes.",
      faults("truncate > %d bytes of the body arrive, of a length that is announced whole"),
    ),
    enforced("Jobs of a kind can be ordered to fail.", [
      ...faults("a job that is ordered to fail cannot run: no row is processed"),
      "mock/task-life.test.ts > a failure > is what a fault orders for a task that begins while it stands",
      "mock/exports/frozen.test.ts > a zip > fails when it was ordered to",
    ]),
    enforced(
      "DELETE /_mock/faults clears them.",
      faults("what is ordered > is told, and taken back as a whole"),
    ),
    enforced(
      "GET /_mock/requests, newest last.",
      control("the requests > are told oldest first, the key masked, without those that steer"),
    ),
    enforced(
      "GET /_mock/deliveries, and POST /_mock/deliveries/ID/resend.",
      deliveries(
        "sending again > brings the same event with a new signature, and tells what came of it",
        "sending again > of what is not there is 404",
      ),
      "code delivery_not_found",
    ),
    enforced(
      "GET and PUT /_mock/state: the whole of it.",
      control("the state > is the whole, and put into another mock goes on there as if nothing had been"),
    ),
    enforced(
      "--load and --save keep the state in a file.",
      serve(
        "the state in a file > is saved at the end and goes on from there, ids and all",
        "the state in a file > is saved on %s",
      ),
    ),
    enforced(
      "A fault may strike so many times, or with a probability.",
      faults(
        "which requests a fault meets > the first that matches and is not used up acts",
        "which requests a fault meets > a seed repeats whom chance meets, and no id is another for it",
      ),
    ),
    enforced("--latency holds every request that is worked on.", [
      ...faults("a delay > is added to the latency", "signed files > wait out the latency like all else"),
      ...control("reset > %s answers those who are held by the latency"),
    ]),
    enforced("It listens on loopback unless told; for others it warns.", [
      ...inCode("a mock listens on this machine alone, on a port that was free"),
      ...serve("who listens to other machines is warned"),
    ]),
    enforced(
      "POST /_mock/reset goes back to how it started.",
      control("reset > goes back to how it started, jobs forgotten, the same ids again"),
    ),
    enforced(
      "/_mock answers only requests whose Host is loopback.",
      control(
        "who may steer > a Host of %s: %d",
        "who may steer > a web page may not steer, but for one of this machine",
      ),
      "code host_not_allowed",
    ),
    enforced("GET /openapi.json is an OpenAPI 3.1 document of the whole API, made from the contract.", [
      ...openapi("GET /openapi.json is the contract's document, with this mock as its server"),
      "contract/openapi.test.ts > it is an OpenAPI 3.1 document, and a validator takes it",
      "conformance/every-operation.test.ts > answers a request that is right",
    ]),
    enforced(
      "startMock gives {baseUrl, apiKey, clock, stop()}, several at once in one process.",
      inCode("several in one process have each their port, data, clock, rate window and log"),
    ),
    enforced("createClient and verifyWebhook come with the package.", [
      "package/package.test.ts > createClient: the README's lines run, and print the references",
      "package/package.test.ts > verifyWebhook: the README's lines take what is signed, and nothing else",
    ]),
    enforced(
      "--rate-limit sets the limits, --no-rate-limit takes them away.",
      serve("limits > --rate-limit sets them", "limits > --no-rate-limit takes them away"),
    ),
    enforced(
      "--demo N begins with N products.",
      control(
        "seeds > a demo has as many products as asked for, each reference once, in kinds and sexes that fit",
      ),
    ),
    assumed(
      "How signed URLs are read.",
      "With Range, If-Range, If-Match, ETag and HEAD, as a storage does.",
      [
        "mock/signed-files.test.ts > is given in parts",
        "mock/signed-files.test.ts > goes on only from the version that the caller has",
        "mock/signed-files.test.ts > of what is not there there is no part",
        "mock/signed-files.test.ts > is given only to who asks for this version, where somebody asks for one",
        "mock/signed-files.test.ts > the entity tag is that of the bytes > of a manifest: at another address its URLs are others",
        "mock/signed-files.test.ts > the entity tag is that of the bytes > of an upload and a ZIP with it: after a reset the same ids stand for others",
      ],
      "code range_not_satisfiable",
      "code precondition_failed",
    ),
    assumed(
      "Requests that no client of the service sends.",
      "The envelope, always, and never a 500.",
      requests(
        "bytes that are no request > %s",
        "a body that is not as it should be > %s: 400 with the envelope",
      ),
    ),
    assumed(
      "Methods that no path has.",
      "405 where another method is there, else 404, for every method that Node's parser knows.",
      "mock/every-method.test.ts > every method that Node's parser knows is answered with the envelope and every header",
    ),
    assumed(
      "Jobs that are overdue when a state is put back, or when the machine has slept.",
      "They do at once what they have to, with the time that it is, which signs their events, too.",
      [
        "clock.test.ts > a clock that ticks > fires what became due while the machine slept with the time that it is then, in its order",
        "mock/overdue-jobs.test.ts > jobs that are long overdue > end when a state is put back on a clock that stands still, with the time that it is",
        "mock/overdue-jobs.test.ts > jobs that are long overdue > when a mock starts on the machine's time, are told of with a signature of that moment",
      ],
    ),
    assumed(
      "States that somebody has edited.",
      "Taken where requests could have made them, so that every state that is taken gives one that is taken; else refused with the field.",
      "mock/kept-states.property.test.ts > a state that somebody has edited > is refused with its field, or lives on: every state that is taken gives a state that is taken",
    ),
  ],
};
