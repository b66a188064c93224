import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished } from "vitest";
import { secretKeys } from "../../../src/mock/rules/api-keys.ts";
import { openUrl } from "../../support/browser.ts";
import { longTest } from "../../support/long-test.ts";
import { row, startWorld } from "../world.ts";
import { expectTexts, openingPages, startPageOfAnotherOrigin, texts } from "./open-page.ts";

const open = openingPages();

const hostile = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>';

describe("hostile texts", () => {
  longTest("are text in every tab, never markup", async () => {
    const { page, send, clock, mock } = await open("requests");
    const url = "http://127.0.0.1:9/%3Cscript%3Ealert(3)%3C/script%3E";
    await send("/v1/webhooks", { json: { url, events: ["import.completed"], description: hostile } });
    const rows = [
      row("A", { name: hostile, description: hostile }),
      row(`B${hostile}`, { images: [{ url: "https://cdn.example.com/fail-timeout.jpg" }] }),
    ];
    await send("/v1/imports", {
      json: { rows },
      headers: { "idempotency-key": hostile, "x-hostile": hostile },
    });
    await send(`/v1/nothing?q=${encodeURIComponent(hostile)}<b>`);
    await send("/_mock/faults", { json: { match: { path: `/${hostile}` }, status: 500 }, key: null });
    clock.advance(2_000);
    await mock.settled();
    const task = {
      product_id: (await send("/v1/products")).body.data[0].id,
      model_id: "mdl_001",
      background: hostile,
      angle_shot: "full-front",
    };
    await send("/v1/tasks/tryon", { json: { inputs: [task] } });

    await expectTexts(page, ".row .idem", [hostile]);
    await page.locator(".row", { hasText: "/v1/imports" }).click();
    const panel = page.getByLabel("Request", { exact: true });
    expect(JSON.parse(await panel.getByLabel("Request body").locator("pre").innerText())).toEqual({ rows });
    expect(await panel.getByLabel("Request headers").innerText()).toContain(hostile);
    for (const tab of ["products", "jobs", "webhooks", "control"]) {
      await page.locator(`nav a[href='#${tab}']`).click();
      await page.locator(`main.${tab}`).getByText(hostile, { exact: false }).first().waitFor();
    }
    await page.locator("nav a[href='#products']").click();
    await page.locator(".card").click();
    await expectTexts(page, "dialog .hint", [hostile, "user"]);
    // A script, handler or picture of these texts would be an error, a dialog or a request, which fail the test.
    expect(await page.locator("script").count()).toBe(1);
    expect(await page.locator("[onerror], main b").count()).toBe(0);
  });
});

longTest("JSON with thousands of levels is shown as it is, at once", async () => {
  const { page, send } = await open("requests");
  const deep = `${"[".repeat(2_000)}${"]".repeat(2_000)}`;
  await send("/v1/products", { body: deep, headers: { "content-type": "application/json" } });
  await page.locator(".row").click();
  await expectTexts(page, "[aria-label='Request body'] pre", [deep]);
});

describe("the policy of the page", () => {
  longTest("allows one style, one script, and nothing else", async () => {
    const { send } = await startWorld();
    const { status, headers, body } = await send("/_mock", { key: null });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; img-src 'self'; connect-src 'self'; style-src 'sha256-\S{44}'; script-src 'sha256-\S{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect([body.match(/<script/g).length, body.match(/<style/g).length]).toEqual([1, 1]);
    expect(body).not.toMatch(/\son\w+=|\sstyle=|https?:\/\/(?!www\.w3\.org)/);
  });

  longTest("stops a script that is added", async () => {
    const { page } = await open("requests", {}, { mayDoWrong: true });
    const ran = await page.evaluate(`(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      const stopped = new Promise((resolve) => addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective)));
      document.body.append(script);
      return stopped.then((directive) => [directive, window.ran === undefined]);
    })()`);
    expect(ran).toEqual(["script-src-elem", true]);
  });
});

longTest("the requests of the page are not in the log", async () => {
  const { page, mock } = await open("products", { demo: 1 });
  await expectTexts(page, ".card .more, .card .name", expect.any(Array));
  await page.locator(".card img").waitFor();
  for (const tab of ["jobs", "webhooks", "control", "requests"])
    await page.locator(`a[href='#${tab}']`).click();
  await page.getByText("No requests yet.").waitFor();
  expect(mock.requests()).toEqual([]);
});

longTest("a page of another origin can neither read nor post", async () => {
  const { mock, page, clock } = await open("requests", { demo: 1 }, { mayDoWrong: true });
  const before = [clock.now(), mock.state()];
  const { baseUrl } = mock;
  const other = await startPageOfAnotherOrigin("");
  await page.goto(other.url);
  const tried = await page.evaluate(`(async () => {
    const base = ${JSON.stringify(baseUrl)};
    const reading = (path, init) => fetch(base + path, init).then((response) => response.type, () => "blocked");
    const image = (path) => new Promise((resolve) => {
      const one = new Image();
      one.onload = () => resolve("loaded");
      one.onerror = () => resolve("blocked");
      one.src = base + path;
    });
    const stream = () => new Promise((resolve) => {
      const source = new EventSource(base + "/_mock/events?view=requests");
      source.onmessage = () => resolve("read");
      source.onerror = () => { source.close(); resolve("blocked"); };
    });
    return [
      await reading("/_mock"), await reading("/_mock/requests"), await reading("/_mock/state"),
      await reading("/_mock/clock", { method: "POST", body: '{"advance_ms":1000}', mode: "no-cors" }) && "blocked",
      await image("/_mock/icon.svg"), await stream(),
    ];
  })()`);
  other.stop();
  expect(tried).toEqual(Array.from({ length: 6 }, () => "blocked"));
  expect([clock.now(), mock.state()]).toEqual(before);
});

/** Runs a script in a page of another origin, and resolves to its result. */
async function inAnotherPage(script: string): Promise<unknown> {
  const other = await startPageOfAnotherOrigin("");
  onTestFinished(() => void other.stop());
  const { page } = await openUrl(other.url, other.url);
  return page.evaluate(script);
}

/** What a page tries with a key of the mock: to list products, and to have events sent to some URLs. */
const attack = (baseUrl: string, urls: readonly string[]) => `(async () => {
  const ask = async (path, body) => {
    const headers = { Authorization: "Bearer ak_mock", "Content-Type": "application/json" };
    const response = await fetch(${JSON.stringify(baseUrl)} + path, { method: body ? "POST" : "GET", headers, body });
    return [response.status, await response.json()];
  };
  const [status, { data = [] }] = await ask("/v1/products");
  const tried = [status, data.length];
  for (const url of ${JSON.stringify(urls)}) {
    const [status, { signing_secret, error }] = await ask("/v1/webhooks", JSON.stringify({ url, events: ["import.completed"] }));
    tried.push([status, signing_secret === undefined, error?.param]);
  }
  return tried;
})()`;

longTest("a page of another origin reads made-up data, but has no events sent to this machine", async () => {
  const { mock } = await startWorld({ demo: 2 });
  const near = [`${mock.baseUrl}/x`, "http://127.0.0.1:9/", "http://localhost:9/", "https://a.localhost/"];
  const tried = await inAnotherPage(attack(mock.baseUrl, near));
  expect(tried).toEqual([200, 2, ...near.map(() => [400, true, "url"])]);
  expect(mock.state().organizations.main.webhooks).toEqual([]);
  // A frame without an origin sends "null".
  const sandboxed = await inAnotherPage(`new Promise((resolve) => {
    addEventListener("message", ({ data }) => resolve(data));
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = ${JSON.stringify(`<script>${attack(mock.baseUrl, near)}.then((tried) => parent.postMessage(tried, "*"))`)} + "</" + "script>";
    document.body.append(frame);
  })`);
  expect(sandboxed).toEqual([200, 2, ...near.map(() => [400, true, "url"])]);
});

longTest("a page of another origin reads nothing of a copy, and posts no form to /_mock", async () => {
  const { mock: source } = await startWorld({ demo: 2 });
  const key = `ak_${"7".repeat(32)}`;
  const state = { ...source.state(), real_data: true as const, keys: secretKeys(() => key).slice(0, 1) };
  const { mock, send } = await startWorld({ state });
  expect([mock.apiKey, (await send("/v1/products", { key })).body.data.length]).toEqual([key, 2]);
  const before = mock.state();
  expect(await inAnotherPage(attack(mock.baseUrl, ["https://hooks.example.com/"]))).toEqual([
    401,
    0,
    [401, true, undefined],
  ]);
  const shown = await inAnotherPage(`new Promise((resolve) => {
    document.body.innerHTML = '<iframe name="target"></iframe><form target="target" method="post" enctype="text/plain" action="${mock.baseUrl}/_mock/reset"></form>';
    document.querySelector("iframe").onload = () => resolve("sent");
    document.querySelector("form").submit();
  })`).catch(String);
  expect([shown, mock.state()]).toEqual(["sent", before]);
});

longTest("the page, its stream and its data are only for a loopback Host", async () => {
  const { mock } = await startWorld();
  for (const path of ["/_mock", "/_mock/events?view=requests", "/_mock/page/products", "/_mock/icon.svg"]) {
    const status = await new Promise((resolve) =>
      request(`${mock.baseUrl}${path}`, { headers: { host: "evil.example.com" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end(),
    );
    expect([path, status]).toEqual([path, 403]);
  }
});

longTest("works behind a proxy, below a path of it", async () => {
  const { mock, send } = await startWorld({ demo: 1 });
  const proxy = createServer((asked, response) => {
    const target = `${mock.baseUrl}${asked.url!.replace(/^\/shop/, "")}`;
    const { host: _host, ...headers } = asked.headers;
    const passed = request(target, { method: asked.method, headers }, (got) => {
      response.writeHead(got.statusCode!, got.headers);
      got.pipe(response);
    });
    // The browser aborts requests, and the mock ends before the proxy.
    passed.on("error", () => response.destroy());
    asked.pipe(passed);
    response.on("close", () => passed.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => proxy.closeAllConnections());
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/shop`;
  const { page, wrongs } = await openUrl(`${url}/_mock/#requests`, url);
  await page.getByText(`${url}/v1/products`).waitFor();
  await send("/v1/models");
  await expectTexts(page, ".row .path", ["/v1/models"]);
  await page.locator(".row").click();
  await page.getByLabel("Response body").waitFor();
  await page.keyboard.press("2");
  await page.locator(".card").click();
  await page.locator("dialog img").first().waitFor();
  const width =
    "document.querySelector('dialog img').decode().then(() => document.querySelector('dialog img').naturalWidth)";
  expect(await page.evaluate(width)).toBe(600);
  expect([page.url(), wrongs]).toEqual([`${url}/_mock#products`, []]);
});

longTest("the page has no slash at its end: with one, a browser goes to it", async () => {
  const { mock } = await startWorld();
  const response = await fetch(`${mock.baseUrl}/_mock/`, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([308, "../_mock"]);
  expect(mock.requests()).toEqual([]);
});

longTest.each(["light", "dark"] as const)(
  "the page of the mock has enough contrast in %s colors",
  async (scheme) => {
    const css = await readFile(new URL("../../../src/mock-page/app/page.css", import.meta.url), "utf8");
    const [light, dark] = css.split("@media (prefers-color-scheme: dark)");
    const colors = new Map(
      [...(scheme === "light" ? light! : dark!).matchAll(/--([\w-]+): (#\w{6});/g)].map((match) => [
        match[1],
        match[2]!,
      ]),
    );
    const pairs = [
      ...["page", "surface", "sunken", "selected"].map((behind) => ["text", behind] as const),
      ...["page", "surface", "sunken"].map((behind) => ["quiet", behind] as const),
      ...["good", "warn", "bad"].map((name) => [name, `${name}-back`] as const),
      ["main", "busy-back"] as const,
      ["main", "surface"] as const,
      ["on-main", "main"] as const,
      ["bad", "surface"] as const,
    ];
    const low = pairs.filter(([front, behind]) => contrast(colors.get(front)!, colors.get(behind)!) < 4.5);
    expect(low).toEqual([]);
  },
);

/** The contrast ratio of two colors, such as #1d1f21 (WCAG 2). */
function contrast(a: string, b: string): number {
  const light = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [darker = 0, lighter = 0] = [light(a), light(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

describe("on a phone", () => {
  const phone = { viewport: { width: 390, height: 844 } };
  longTest("no tab scrolls sideways, and all controls have names", async () => {
    const { page, send } = await open("requests", { demo: 3 }, phone);
    await send(`/v1/nothing/${"x".repeat(300)}`);
    for (const tab of ["requests", "products", "jobs", "webhooks", "control"]) {
      await page.locator(`nav a[href='#${tab}']`).click();
      await page.locator(`main.${tab} > *`).first().waitFor();
      const wide = "[document.documentElement.scrollWidth, document.querySelector('main').scrollWidth]";
      expect([tab, await page.evaluate(wide)]).toEqual([tab, [390, 390]]);
      const nameless =
        await page.evaluate(`Array.from(document.querySelectorAll("button, a, input, select, progress, img, dialog, section"))
        .filter((one) => !(one.ariaLabel || one.getAttribute("aria-labelledby") || one.hasAttribute("alt") || one.labels?.[0]?.textContent.trim() || one.textContent.trim()))
        .map((one) => one.outerHTML)`);
      expect([tab, nameless]).toEqual([tab, []]);
    }
  });

  longTest("shows a request instead of the list, and goes back", async () => {
    const { page, send } = await open("requests", {}, phone);
    await send("/v1/models");
    await page.locator(".row").click();
    await page.getByLabel("Response body").waitFor();
    expect(await page.locator(".rows").isVisible()).toBe(false);
    await page.getByRole("button", { name: "Close" }).click();
    expect(await texts(page, ".row .path")).toEqual(["/v1/models"]);
  });
});

longTest("the keys 1 to 5 open the tabs", async () => {
  const { page } = await open("requests");
  for (const [key, tab] of ["requests", "products", "jobs", "webhooks", "control"].entries()) {
    await page.keyboard.press(String(key + 1));
    await page.locator(`main.${tab}`).waitFor();
  }
});
