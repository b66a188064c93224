// Parts of undici that are loaded separately: loading all of it takes three times as long at start-up.
declare module "undici/lib/dispatcher/agent.js" {
  import type { Agent } from "undici";

  const agent: typeof Agent;
  export default agent;
}
declare module "undici/lib/api/api-request.js" {
  import type { Dispatcher } from "undici";

  const request: (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
  export default request;
}
