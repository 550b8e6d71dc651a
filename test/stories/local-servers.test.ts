import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { bestOffers, describeServer, detectServers, offeredModels, type ServerKind } from "../../src/models/models.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";

type Answer = { status?: number; json?: unknown; text?: string; forever?: true };
/** By method and path; a function sees the body. */
type Script = Readonly<Record<string, Answer | ((body: unknown) => Answer)>>;

const nobody = 9; // The discard port: nothing listens there.
const silent: Record<ServerKind, number> = {
  ollama: nobody,
  lmstudio: nobody,
  llamacpp: nobody,
  vllm: nobody,
  sglang: nobody,
};
/** Long enough for a busy machine; the tests of the limit itself set their own. */
const limitMs = 10_000;

test("Ollama is found with the window and the tools of each model, the best first [M4]", async (t) => {
  const { port } = await serve(
    t,
    ollama({
      "mistral:7b": {
        show: {
          capabilities: ["completion", "tools"],
          parameters: "stop x\nnum_ctx    32768",
          model_info: { "llama.context_length": 32_768 },
        },
      },
      "gemma:2b": { show: { capabilities: ["completion"], model_info: { "gemma.context_length": 8_192 } } },
      "nomic-embed-text:latest": { show: { capabilities: ["embedding"], model_info: {} } },
      "qwen3-coder:30b": {
        show: { capabilities: ["completion", "tools"], model_info: { "qwen3.context_length": 262_144 } },
        loadedTokens: 65_536,
      },
    }),
  );
  assert.deepEqual(await detect({ ollama: port }), [
    {
      kind: "ollama",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models: [
        { id: "qwen3-coder:30b", windowTokens: 65_536, tools: true, advice: undefined },
        { id: "mistral:7b", windowTokens: 32_768, tools: true, advice: undefined },
        {
          id: "gemma:2b",
          windowTokens: 8_192,
          tools: false,
          advice: { code: "tools_missing", model: "gemma:2b", command: "ollama pull qwen3" },
        },
      ],
    },
  ]);
});

test("a window of 4k on Ollama, or one it does not tell, comes with the command that mends it [M4]", async (t) => {
  const show = { capabilities: ["completion", "tools"], model_info: { "qwen3.context_length": 40_960 } };
  const { port } = await serve(t, ollama({ "qwen3:8b": { show, loadedTokens: 4_096 }, "qwen3:4b": { show } }));
  const command = "OLLAMA_CONTEXT_LENGTH=65536 ollama serve";
  const [server] = await detect({ ollama: port });
  assert.deepEqual(
    server?.models.map(({ advice }) => advice),
    [
      { code: "served_window_small", model: "qwen3:8b", tokens: 4_096, command },
      { code: "served_window_untold", model: "qwen3:4b", command },
    ],
  );
});

test("LM Studio is found by its new list, its old list, or the compatible one [M4]", async (t) => {
  const embedding = { type: "embedding", key: "nomic", loaded_instances: [] };
  const v1 = {
    models: [
      embedding,
      {
        type: "llm",
        key: "qwen/qwen3-8b",
        loaded_instances: [{ id: "a", config: { context_length: 32_768 } }],
        capabilities: { vision: false, trained_for_tool_use: true },
      },
    ],
  };
  const v0 = {
    data: [
      { type: "embeddings", id: "nomic" },
      { type: "vlm", id: "gemma-3", loaded_context_length: 4_096, capabilities: ["tool_use"] },
    ],
  };
  const compatible = { object: "list", data: [{ id: "phi-4", object: "model", owned_by: "organization_owner" }] };
  const cases: [Script, object][] = [
    [
      { "GET /api/v1/models": { json: v1 }, "GET /api/v0/models": { json: v0 } },
      { id: "qwen/qwen3-8b", windowTokens: 32_768, tools: true, advice: undefined },
    ],
    [
      { "GET /api/v0/models": { json: v0 }, "GET /v1/models": { json: compatible } },
      {
        id: "gemma-3",
        windowTokens: 4_096,
        tools: true,
        advice: {
          code: "served_window_small",
          model: "gemma-3",
          tokens: 4_096,
          command: "lms load gemma-3 --context-length 65536",
        },
      },
    ],
    [{ "GET /v1/models": { json: compatible } }, { id: "phi-4", advice: undefined }],
  ];
  for (const [script, model] of cases) {
    const { port } = await serve(t, script);
    assert.deepEqual(await detect({ lmstudio: port }), [
      { kind: "lmstudio", baseUrl: `http://127.0.0.1:${port}/v1`, models: [model] },
    ]);
  }
});

test("llama.cpp is found with the window it was started with [M4]", async (t) => {
  const { port } = await serve(t, {
    "GET /health": { json: { status: "ok" } },
    "GET /props": {
      json: { default_generation_settings: { n_ctx: 65_536 }, chat_template_caps: { supports_tools: true } },
    },
    "GET /v1/models": { json: { data: [{ id: "Qwen3-8B-Q4.gguf", owned_by: "llamacpp" }] } },
  });
  const models = [{ id: "Qwen3-8B-Q4.gguf", windowTokens: 65_536, tools: true, advice: undefined }];
  assert.deepEqual(await detect({ llamacpp: port }), [
    { kind: "llamacpp", baseUrl: `http://127.0.0.1:${port}/v1`, models },
  ]);
});

const vllmModels = {
  json: { object: "list", data: [{ id: "Qwen/Qwen3-32B", object: "model", owned_by: "vllm", max_model_len: 40_960 }] },
};

test("vLLM without the flag for tools comes with the command that has it [M4]", async (t) => {
  const message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
  const { port, asked } = await serve(t, {
    "GET /v1/models": vllmModels,
    "POST /v1/chat/completions": {
      status: 400,
      json: { object: "error", message, type: "BadRequestError", param: null, code: 400 },
    },
  });
  const [server] = await detect({ vllm: port });
  assert.deepEqual(server?.models, [
    {
      id: "Qwen/Qwen3-32B",
      windowTokens: 40_960,
      tools: false,
      advice: {
        code: "tools_off",
        model: "Qwen/Qwen3-32B",
        command: "vllm serve Qwen/Qwen3-32B --enable-auto-tool-choice --tool-call-parser hermes",
      },
    },
  ]);
  assert.deepEqual(asked, ["GET /v1/models", "POST /v1/chat/completions"]);
});

test("SGLang is found, also on vLLM's port [M4]", async (t) => {
  const { port } = await serve(t, {
    "GET /v1/models": { json: { data: [{ id: "glm-4.6", owned_by: "sglang", max_model_len: 8_192 }] } },
  });
  for (const ports of [{ sglang: port }, { vllm: port }]) {
    const [server] = await detect(ports);
    assert.deepEqual(
      [server?.kind, server?.models[0]?.advice?.command],
      ["sglang", "python3 -m sglang.launch_server --model-path glm-4.6 --context-length 65536"],
    );
  }
});

test("something else on the port is left alone, and never sent more than questions [M4]", async (t) => {
  const others: Script[] = [
    {},
    { "GET *": { text: "<!doctype html><title>My web app</title>" } },
    { "GET *": { json: { status: "ok" } } },
    { "GET *": { json: [] } },
    { "GET *": { json: null } },
    { "GET *": { text: "{" } },
    { "GET *": { text: "" } },
    { "GET *": { json: { version: "1.0", models: "none", data: 7 } } },
    { "GET *": { json: { data: [{ id: "gpt-4", owned_by: "openai" }] } } },
    { "GET *": { status: 401, json: { error: "no key" } } },
    { "GET *": { text: "x".repeat(5 * 1024 * 1024) } },
  ];
  for (const script of others) {
    const { port, asked } = await serve(t, script);
    const found = await detect({ ollama: port, lmstudio: port, llamacpp: port, vllm: port, sglang: port });
    assert.deepEqual(
      [found, asked.filter((line) => !line.startsWith("GET "))],
      [[], []],
      JSON.stringify(script).slice(0, 80),
    );
  }
});

test("entries that make no sense, or would not be safe in a command, are left out; the others count [M4]", async (t) => {
  const { port } = await serve(t, {
    "GET /api/version": { json: { version: "0.40.0" } },
    "GET /api/tags": {
      json: {
        models: [null, 7, {}, { name: "" }, { name: "x; rm -rf ~" }, { name: "$(reboot)" }, { name: "good:1b" }],
      },
    },
    "GET /api/ps": { text: "garbage" },
    "POST /api/show": { json: { capabilities: "all", model_info: [] } },
  });
  const [server] = await detect({ ollama: port });
  assert.deepEqual([server?.models.map(({ id, tools }) => [id, tools])], [[["good:1b", undefined]]]);
});

test("the search ends at its limit: silent servers are left out, half-told ones count with what they told [M4]", async (t) => {
  const never: Script = { "GET *": { forever: true } };
  const half = await serve(t, { ...ollama({ "qwen3:8b": {} }), "POST /api/show": { forever: true } });
  const { port, asked } = await serve(t, never);
  const clock = manualClock();
  const finding = detectServers({
    ...{ clock, limitMs: 1_000 },
    ports: { ...silent, ollama: half.port, lmstudio: port, llamacpp: port, vllm: port, sglang: port },
  });
  await until("all were asked", () => half.asked.includes("POST /api/show") && asked.length >= 4);
  clock.move(1_000);
  assert.deepEqual(
    (await finding).map(({ kind, models }) => [kind, models.map(({ id }) => id)]),
    [["ollama", ["qwen3:8b"]]],
  );
});

test("at most three models are offered, over all servers, best first [M4]", async (t) => {
  const show = { capabilities: ["completion", "tools"], parameters: "num_ctx 16384", model_info: {} };
  const first = await serve(
    t,
    ollama({ "a:8b": { show }, "b:8b": { show: { ...show, capabilities: ["completion"] } }, "c:8b": { show } }),
  );
  const second = await serve(t, { "GET /v1/models": vllmModels, "POST /v1/chat/completions": { json: {} } });
  const offers = bestOffers(await detect({ ollama: first.port, vllm: second.port }));
  assert.deepEqual(
    offers.map(({ kind, model }) => `${kind} ${model.id}`),
    ["vllm Qwen/Qwen3-32B", "ollama a:8b", "ollama c:8b"],
  );
});

test("a configured server is asked what it serves, whatever its port and path [M4]", async (t) => {
  const show = { capabilities: ["completion", "tools"], parameters: "num_ctx 65536", model_info: {} };
  const { port } = await serve(t, ollama({ "qwen3:8b": { show } }));
  for (const path of ["/v1", "/v1/", ""]) {
    const server = await describeServer(`http://127.0.0.1:${port}${path}`, { clock: systemClock, limitMs });
    assert.deepEqual([server?.kind, server?.models[0]?.windowTokens], ["ollama", 65_536]);
  }
  assert.equal(await describeServer(`http://127.0.0.1:${nobody}/v1`, { clock: systemClock, limitMs }), undefined);
});

test("a server's own list of models is read with the key, and is empty when there is none [M1]", async (t) => {
  const { port, keys } = await serve(t, { "GET /v1/models": { json: { data: [{ id: "gpt-4" }, { id: "gpt-4.1" }] } } });
  const ask = (baseUrl: string) =>
    offeredModels({ baseUrl, model: "gpt-4", apiKey: "sk-test" }, { clock: systemClock, limitMs });
  assert.deepEqual([await ask(`http://127.0.0.1:${port}/v1/`), keys], [["gpt-4", "gpt-4.1"], ["Bearer sk-test"]]);
  assert.deepEqual(await ask(`http://127.0.0.1:${port}/other`), []);
  assert.deepEqual(await ask(`http://127.0.0.1:${nobody}/v1`), []);
  assert.deepEqual(await ask("not a url"), []);
});

test("each vendor's own list of models is found at its place, with the key as it wants it [M1][M6]", async (t) => {
  const { port, asked, keys } = await serve(t, {
    "GET /v1/models": { json: { data: [{ type: "model", id: "claude-opus-4-7" }], has_more: false } },
    "GET /v1beta/models": { json: { models: [{ name: "models/gemini-3-flash", displayName: "Gemini" }] } },
  });
  const ask = (path: string, api: "anthropic" | "google") =>
    offeredModels(
      { baseUrl: `http://127.0.0.1:${port}${path}`, model: "m", api, apiKey: "k" },
      { clock: systemClock, limitMs },
    );
  assert.deepEqual(await ask("", "anthropic"), ["claude-opus-4-7"]);
  assert.deepEqual(await ask("/v1", "anthropic"), ["claude-opus-4-7"]);
  assert.deepEqual(await ask("/v1beta", "google"), ["gemini-3-flash"]);
  assert.deepEqual(
    [asked, keys],
    [
      ["GET /v1/models", "GET /v1/models", "GET /v1beta/models"],
      ["k", "k", "k"],
    ],
  );
});

function detect(ports: Partial<Record<ServerKind, number>>) {
  return detectServers({ clock: systemClock, limitMs, ports: { ...silent, ...ports } });
}

function ollama(models: Readonly<Record<string, { show?: object; loadedTokens?: number }>>): Script {
  const names = Object.entries(models);
  return {
    "GET /api/version": { json: { version: "0.40.0" } },
    "GET /api/tags": { json: { models: names.map(([name]) => ({ name, model: name, size: 1 })) } },
    "GET /api/ps": {
      json: {
        models: names.flatMap(([name, { loadedTokens }]) =>
          loadedTokens ? [{ name, context_length: loadedTokens }] : [],
        ),
      },
    },
    "GET /v1/models": {
      json: { object: "list", data: names.map(([id]) => ({ id, object: "model", owned_by: "library" })) },
    },
    "POST /api/show": (body) => {
      const name = typeof body === "object" && body !== null && "model" in body ? String(body.model) : "";
      return { json: models[name]?.show ?? {} };
    },
  };
}

/** A server that answers by script and keeps what it was asked. */
async function serve(t: TestContext, script: Script) {
  const asked: string[] = [];
  const keys: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { authorization, "x-api-key": ownKey, "x-goog-api-key": googleKey } = request.headers;
    keys.push(String(ownKey ?? googleKey ?? authorization));
    void answer(script, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: portOf(server.address()), asked, keys };
}

async function answer(script: Script, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts = await request.toArray();
  const entry = script[`${request.method} ${request.url}`] ??
    script[`${request.method} *`] ?? { status: 404, text: "not found" };
  const { status = 200, json, text, forever } = typeof entry === "function" ? entry(JSON.parse(parts.join(""))) : entry;
  if (forever) return;
  response.writeHead(status).end(text ?? JSON.stringify(json));
}

function portOf(address: unknown): number {
  assert.ok(typeof address === "object" && address !== null && "port" in address && typeof address.port === "number");
  return address.port;
}
