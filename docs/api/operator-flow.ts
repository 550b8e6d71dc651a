// A service of yours becomes a tool of your agents: register its OpenAPI document → publish → list → call, with the typed client.
//
//   npm start                                                              in one window
//   npx node docs/api/operator-flow.ts openapi.yaml TOKEN                  in another; the address of another server can
//                                                                          follow, and API_KEY is an API key
import { readFile } from "node:fs/promises";
import { argv, env, stdout } from "node:process";
import { type ClientFailure, createClient } from "../../src/client/client.ts";

export type Wanted = {
  readonly document: string;
  /** What the service wants to see; the server keeps it sealed, and no answer, prompt or log has it. */
  readonly token: string;
  /** What to call, and with what. */
  readonly call?: {
    readonly tool: string;
    readonly path?: Record<string, unknown>;
    readonly query?: Record<string, unknown>;
  };
};

/** What came of it. */
export type Flowed = {
  readonly tools: readonly string[];
  readonly refused: readonly string[];
  readonly answer: { readonly status: number; readonly body: unknown } | undefined;
};

export async function operatorFlow(baseUrl: string, { document, token, call }: Wanted, key?: string): Promise<Flowed> {
  const client = createClient({ fetch, baseUrl, key });

  // 1. Register it. What of the document cannot be used is named, and the rest becomes tools.
  const { box_id, failures } = must(
    await client.call("createToolBox", {
      body: { metadata_type: "openapi", data: document, credential: { type: "bearer", token } },
    }),
  );

  // 2. Publish it: from now on your agents find its tools with find_tools.
  must(await client.call("setToolBoxStatus", { params: { box_id }, body: { status: "published" } }));

  // 3. List its tools.
  const { tools } = must(
    await client.call("listBoxTools", { params: { box_id }, query: { all: true, sort_order: "asc" } }),
  );

  // 4. Call one yourself. The answer is 200 whatever the service says; its own status stands inside.
  const tool = tools.find(({ name }) => name === call?.tool);
  const answer =
    tool &&
    must(
      await client.call("invokeTool", {
        params: { box_id, tool_id: tool.tool_id },
        body: { path: call?.path ?? {}, query: call?.query ?? {} },
      }),
    );
  return {
    tools: tools.map(({ name }) => name),
    refused: failures.map(({ tool_name, error_msg }) => `${tool_name}: ${error_msg}`),
    answer: answer && { status: answer.status_code, body: answer.body },
  };
}

/** The value, or an error with the words that a person reads. */
function must<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: ClientFailure },
): T {
  if (!result.ok) throw new Error(result.failure.detail);
  return result.value;
}

if (import.meta.main) {
  const [, , file = "openapi.yaml", token = "", baseUrl = "http://127.0.0.1:7420"] = argv;
  const { tools, refused } = await operatorFlow(
    baseUrl,
    { document: await readFile(file, "utf8"), token },
    env.API_KEY,
  );
  stdout.write(`Tools: ${tools.join(", ")}\n${refused.join("\n")}\n`);
}
