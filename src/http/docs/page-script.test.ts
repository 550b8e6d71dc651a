import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { runInNewContext } from "node:vm";

// The script of the docs page in a browser that is played: as much of one as the script asks for.

type Sent = { readonly url: string; readonly method?: string; readonly headers?: object; readonly body?: string };

class Part {
  readonly heard = new Map<string, (event: object) => void>();
  readonly dataset: Record<string, string>;
  readonly inside: Record<string, Part | Part[]>;
  textContent = "";
  value = "";
  name = "";
  hidden = false;
  open = false;
  readonly id: string;
  readonly tagName: string;

  constructor(of: Partial<Part> = {}) {
    Object.assign(this, of);
    this.id = of.id ?? "";
    this.tagName = of.tagName ?? "";
    this.dataset = of.dataset ?? {};
    this.inside = of.inside ?? {};
  }

  addEventListener(kind: string, listener: (event: object) => void): void {
    this.heard.set(kind, listener);
  }

  querySelector(selector: string): Part | undefined {
    const found = [this.inside[selector.replace(":not([hidden])", "")] ?? []].flat();
    return selector.includes(":not([hidden])") ? found.find(({ hidden }) => !hidden) : found[0];
  }

  querySelectorAll(selector: string): Part[] {
    return [this.inside[selector] ?? []].flat();
  }

  append(text: string): void {
    this.textContent += text;
  }

  /** Somebody does this with it. */
  does(kind: string, value = this.value): void {
    this.value = value;
    this.heard.get(kind)?.({ target: this, preventDefault: () => {} });
  }
}

type Entry = { readonly path?: string; readonly method?: string; readonly type?: string; readonly body?: string };

function entryOf(id: string, fields: readonly [string, string, string][], of: Entry = {}): Part {
  const { path = "/a", method = "GET", type = "", body } = of;
  const [curl, copy, result, summary] = [new Part(), new Part(), new Part(), new Part()];
  summary.textContent = `${method} ${path} Does Something`;
  const input = fields.map(([name, place, value]) => new Part({ name, value, dataset: { place } }));
  const form = new Part({ inside: { ".copy": copy, ".curl": curl } });
  const textarea = body === undefined ? [] : new Part({ value: body });
  return new Part({
    ...{ id, tagName: "DETAILS", dataset: { method, path, type } },
    inside: { form, summary, textarea, input, ".curl": curl, ".result": result },
  });
}

type Played = { readonly sections: Part[][]; readonly hash?: string; readonly answer?: () => Response };

/** Opens the page, and notes what it sends and copies. */
function opened({ sections, hash = "", answer = () => new Response("ok") }: Played) {
  const told: (Sent | string)[] = [];
  const details = sections.flat();
  const [key, search, none, signOut] = [new Part(), new Part(), new Part(), new Part()];
  const section = sections.map((own) => new Part({ inside: { details: own } }));
  const inside = { "#key": key, "#search": search, "#none": none, "#sign-out": signOut, details, section };
  const body = { dataset: { prefix: "/yard", copy: "Copy", copied: "Copied", sending: "Sending" } };
  const document = Object.assign(new Part({ inside }), {
    body,
    getElementById: (id: string) => details.find((entry) => entry.id === id) ?? null,
  });
  runInNewContext(readFileSync(new URL("./page.mjs", import.meta.url), "utf8"), {
    ...{ document, URLSearchParams, TextDecoderStream, encodeURIComponent, decodeURIComponent },
    location: { origin: "http://here", hash, reload: () => void told.push("loaded again") },
    navigator: { clipboard: { writeText: (text: string) => void told.push(text) } },
    async fetch(url: string, { ...init }: Omit<Sent, "url">) {
      told.push({ url, ...init });
      return answer();
    },
  });
  return { told, key, search, none, signOut, sections: section };
}

const curlOf = (entry: Part) => entry.querySelector(".curl")?.textContent;
const resultOf = (entry: Part) => entry.querySelector(".result");
const settled = async () => {
  for (let turns = 0; turns < 50; turns += 1) await settle();
};

test("the list shows the routes that have every word somebody types, and says where there are none [C7]", () => {
  const [one, two] = [entryOf("listFiles", []), entryOf("makeKey", [], { method: "POST", path: "/keys" })];
  const { search, none, sections } = opened({ sections: [[one], [two]] });
  const shown = (typed: string) => {
    search.does("input", typed);
    return [[one, two].filter(({ hidden }) => !hidden), sections.map(({ hidden }) => hidden), none.hidden];
  };
  assert.deepEqual(shown("LIST"), [[one], [false, true], true]);
  assert.deepEqual(shown("something  post"), [[two], [true, false], true]);
  assert.deepEqual(shown("list post"), [[], [true, true], false]);
  assert.deepEqual(shown(""), [[one, two], [false, false], true]);
});

test("the command beside a form does what the form says, whatever was typed into it [C7]", () => {
  const fields: [string, string, string][] = [
    ["id", "path", "a b/c"],
    ["other", "path", ""],
    ["q", "query", "x&y"],
    ["none", "query", ""],
    ["x-h", "header", "it's"],
  ];
  const json = { path: "/a/{id}/{other}", method: "POST", type: "application/json", body: '{"a":"it\'s"}' };
  const [made, form, file] = [
    entryOf("a", fields, json),
    entryOf("b", [], { method: "POST", type: "multipart/form-data" }),
    entryOf("c", [], { method: "PUT", type: "application/octet-stream" }),
  ];
  const got = entryOf("d", []);
  const { key } = opened({ sections: [[made, form, file, got]] });
  for (const entry of [made, form, file, got]) entry.does("toggle");
  assert.equal(
    curlOf(made),
    [
      "curl -X POST 'http://here/yard/a/a%20b/c/{other}?q=x%26y'",
      ...["-H 'x-h: it'\\''s'", "-H 'content-type: application/json'", "-d '{\"a\":\"it'\\''s\"}'"],
    ].join(" \\\n  "),
  );
  assert.equal(curlOf(form), "curl -X POST 'http://here/yard/a' \\\n  -F file=@FILE");
  assert.equal(curlOf(file), "curl -X PUT 'http://here/yard/a' \\\n  --data-binary @FILE");
  assert.equal(curlOf(got), "curl 'http://here/yard/a'");
  got.open = true;
  key.does("input", "ay_1");
  assert.equal(curlOf(got), "curl 'http://here/yard/a' \\\n  -H 'authorization: Bearer ay_1'");
  assert.doesNotMatch(curlOf(form) ?? "", /ay_1/, "what is closed is written when it is opened");
  form.querySelector("form")?.does("input");
  assert.match(curlOf(form) ?? "", /ay_1/);
});

test("what is sent from the page is what the form says, and its answer stands below it, up to a length [C7]", async () => {
  const [made, got] = [
    entryOf("a", [], { method: "POST", type: "application/json", body: "{}" }),
    entryOf("b", [["q", "query", "1"]]),
  ];
  let left = false;
  let answer = () => new Response("told", { status: 201, headers: { "content-type": "text/plain" } });
  const { told } = opened({ sections: [[made, got]], answer: () => answer() });
  const send = async (entry: Part) => {
    entry.querySelector("form")?.does("submit");
    const before = resultOf(entry)?.textContent;
    await settled();
    return [before, resultOf(entry)?.textContent, resultOf(entry)?.hidden];
  };
  assert.deepEqual(await send(made), ["Sending", "201 text/plain\n\ntold", false]);
  answer = () => new Response(null, { status: 204 });
  assert.deepEqual(await send(got), ["Sending", "204 \n\n", false]);
  assert.equal(
    JSON.stringify(told),
    JSON.stringify([
      { url: "http://here/yard/a", method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
      { url: "http://here/yard/a?q=1", method: "GET", headers: {} },
    ]),
  );
  const endless = () =>
    new ReadableStream({
      pull: (all) => all.enqueue(Buffer.alloc(50_000, "x")),
      cancel: () => {
        left = true;
      },
    });
  answer = () => new Response(endless());
  const [, long] = await send(got);
  assert.deepEqual([String(long).length > 200_000 && String(long).length <= 250_010, left], [true, true]);
  answer = () => {
    throw new TypeError("fetch failed");
  };
  assert.deepEqual(await send(got), ["Sending", "TypeError: fetch failed", false]);
});

test("a command is copied as it stands, the entry that the address names is open, and who signs out sees the page anew [C7][C6]", async () => {
  const [one, two] = [entryOf("a", []), entryOf("b", [])];
  const { told, signOut } = opened({ sections: [[one, two]], hash: "#b" });
  assert.deepEqual([one.open, two.open], [false, true]);
  one.does("toggle");
  const button = one.querySelector("form")?.querySelector(".copy");
  button?.does("click");
  assert.deepEqual([told.splice(0), button?.textContent], [["curl 'http://here/yard/a'"], "Copied"]);
  button?.does("blur");
  assert.equal(button?.textContent, "Copy");
  signOut.does("click");
  assert.equal(told.length, 1, "not before it is done");
  await settled();
  const headers = { "content-type": "application/json" };
  const sent = { url: "/yard/api/v1/sign-out", method: "POST", headers, body: "{}" };
  assert.equal(JSON.stringify(told), JSON.stringify([sent, "loaded again"]));
});
