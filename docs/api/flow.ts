// The way of a file through AgentYard: upload → list → select → chat → download, with the typed client.
//
//   npm start                     in one window
//   npx node docs/api/flow.ts     in another; the address of another server can follow, and API_KEY is an API key
import { argv, env, stdout } from "node:process";
import { applyIncrement, type ClientFailure, createClient } from "../../src/client/client.ts";
import { ChatDocument, ChatIncrement } from "../../src/protocol/chat.ts";

/** What came of it. */
export type Flowed = {
  readonly listed: readonly string[];
  readonly answer: string;
  readonly results: readonly string[];
};

export async function flow(baseUrl: string, key?: string): Promise<Flowed> {
  const client = createClient({ fetch, baseUrl, key });
  const user = key === undefined ? "ada" : await whoAmI();
  const session = `sess-${user}`;
  const conversation = crypto.randomUUID();
  const place = { conversation_id: conversation, subdir: "temparea" };

  // 1. Upload a file into the conversation. The id is ours to choose; the conversation is made with its first use.
  const table = new TextEncoder().encode("month,sales\nJan,80\nFeb,120.5\nMar,200\n");
  must(await client.put("putSandboxFile", { params: { id: session, path: "sales.csv" }, query: place, bytes: table }));

  // 2. List what is there.
  const { items } = must(await client.call("listSandboxFiles", { params: { id: session }, query: place }));
  const listed = items.map(({ name }) => name);

  // 3. Select it, and ask about it. The answer comes as changes to one document.
  const turn = must(
    await client.stream(
      "chatCompletion",
      {
        params: { service: "agent-app", app_key: "general" },
        body: {
          query: "Summarise the numbers of sales.csv",
          conversation_id: conversation,
          user_id: user,
          selected_files: [{ file_name: "sales.csv" }],
          stream: true,
          inc_stream: true,
        },
      },
      { signal: AbortSignal.timeout(300_000) },
    ),
  );
  let document: unknown = {};
  for await (const change of turn) document = applyIncrement(document, ChatIncrement.parse(change));
  const { text: answer } = ChatDocument.parse(document).message.content.final_answer.answer;

  // 4. Download what the agent made.
  const made = must(
    await client.call("listSandboxFiles", { params: { id: session }, query: { ...place, subdir: "outputs" } }),
  );
  const results: string[] = [];
  for (const { name } of made.items) {
    const query = { conversation_id: conversation, subdir: "outputs" };
    const bytes = must(await client.get("readSandboxFile", { params: { id: session, path: name }, query }));
    results.push(`${name}: ${(await new Response(bytes).arrayBuffer()).byteLength} bytes`);
  }
  return { listed, answer, results };

  async function whoAmI(): Promise<string> {
    return must(await client.call("getMe")).user?.id ?? "local";
  }
}

/** The value, or an error with the words that a person reads. */
function must<T>(
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: ClientFailure },
): T {
  if (!result.ok) throw new Error(result.failure.detail);
  return result.value;
}

if (import.meta.main) {
  const { listed, answer, results } = await flow(argv[2] ?? "http://127.0.0.1:7420", env.API_KEY);
  stdout.write(`Files: ${listed.join(", ")}\n\n${answer}\n\nResults:\n${results.join("\n")}\n`);
}
