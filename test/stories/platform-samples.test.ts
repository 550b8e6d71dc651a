import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatDocument } from "../../src/protocol/chat.ts";
import { allFrames, folded, framesOf } from "../world/chat.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { platformFiles } from "../world/platform-samples.ts";
import { makeHome } from "../world/program.ts";
import { cannotRunCode } from "../world/sandbox.ts";
import { modelEnv, serve } from "../world/served.ts";

// Every sample call of the chat platform, sent as its description has it to a server that was started a moment ago.

const csv = "month,sold\n1,3\n2,4\n";
const options = { skip: cannotRunCode };
const marker = "【System auto-generated context - not user query】";

test("the chat platform's front end uploads, lists and downloads as it is written [S1][S3][S7]", options, async (t) => {
  const { address } = await serve(makeHome(t));
  const front = platformFiles(address);
  const sandboxSessionId = front.generateSessionId("user123");
  assert.equal(sandboxSessionId, "sb-session-user123");
  const wanted = { sandboxSessionId, conversationId: "conv456" };
  const uploaded = await front.uploadFile({ ...wanted, file: file("data.csv") });
  assert.deepEqual(uploaded, {
    mode: "file",
    session_id: "sb-session-user123",
    conversation_id: "conv456",
    file_name: "data.csv",
    file_path: "conv456/uploads/temparea/data.csv",
    container_path: "/workspace/conv456/uploads/temparea/data.csv",
    size: csv.length,
    type: "csv",
  });
  await front.uploadFile({ ...wanted, file: file("model.pkl") });
  assert.deepEqual(await front.listTempAreaFiles(wanted), ["data.csv", "model.pkl"]);
  assert.equal(await front.downloadFile({ sandboxSessionId, fileName: "data.csv" }), csv);
});

test(
  "the chat platform's request with files reaches the model as it shows it, and code runs on the path [C1][C2][S4]",
  options,
  async (t) => {
    const path = "/workspace/conv-123/uploads/temparea/data.csv";
    const code = `print(open('${path}').read())`;
    await using model = await modelServer((request) =>
      stepOf(request) === 0 ? calls(["execute_code", { session_id: "sess-user-123", code }]) : says("It grows."),
    );
    const world = await serve(makeHome(t, { env: modelEnv(model) }));
    for (const name of ["data.csv", "config.json"]) await world.upload("conv-123", name, csv, "user-123");
    const streamed = await world.stream({
      query: "分析一下 data.csv 中的销售趋势",
      conversation_id: "conv-123",
      user_id: "user-123",
      stream: true,
      selected_files: [
        { file_name: "/workspace/conv-123/uploads/temparea/data.csv" },
        { file_name: "/workspace/conv-123/uploads/temparea/config.json" },
      ],
    });
    const document = ChatDocument.parse(folded(await allFrames(streamed)));
    assert.equal(document.message.content.final_answer.answer.text, "It grows.");
    const [context, query, , result] = spoken(model.asked.at(-1));
    assert.equal(
      context,
      `${marker}

Current workspace path: /workspace/conv-123/uploads/temparea/
Sandbox Session ID: sess-user-123 (IMPORTANT: This ID MUST be passed as the 'session_id' parameter when calling code execution tools...)

Available files:
- data.csv (/workspace/conv-123/uploads/temparea/data.csv)
- config.json (/workspace/conv-123/uploads/temparea/config.json)
`,
    );
    assert.equal(query, "分析一下 data.csv 中的销售趋势");
    assert.match(`${result}`, /month,sold/);
  },
);

test(
  "the chat platform's functions upload, list and chat with files as they are written [C1][C2][S3][S7]",
  options,
  async (t) => {
    await using model = await modelServer(() => says("Sales rise."));
    const { address } = await serve(makeHome(t, { env: modelEnv(model) }));
    const front = platformChat(address);
    for (const name of ["data.csv", "config.json"]) await front.uploadFile("user123", "conv-123", file(name));
    assert.deepEqual(await front.listUploadedFiles("user123", "conv-123"), ["config.json", "data.csv"]);
    const response = await front.chatWithFiles("分析一下 data.csv 中的销售趋势", "conv-123", [
      { file_name: "data.csv" },
      { file_name: "config.json" },
    ]);
    // The sample asks for a stream and then for `response.json()`: it is the stream that it gets.
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
    const document = ChatDocument.parse(folded(await allFrames({ frames: framesOf(response) })));
    assert.equal(document.message.content.final_answer.answer.text, "Sales rise.");
    const [context, query] = spoken(model.asked[0]);
    // Nobody is named in this call: it is the one user who has this conversation.
    assert.match(`${context}`, /\nSandbox Session ID: sess-user123 \(/);
    assert.equal(query, "分析一下 data.csv 中的销售趋势");
  },
);

/** What the model was told after the system message, without reminders. */
function spoken(request: AskedRequest | undefined): string[] {
  const messages = request?.body.messages.filter(({ role }) => role !== "system") ?? [];
  return messages.map(({ content }) => String(content).replace(/\s*<system_reminder>[\s\S]*$/, ""));
}

function file(name: string): File {
  return new File([csv], name, { type: "text/csv" });
}

type SelectedFile = { readonly file_name: string };

/** The functions of its sample for a chat with files. */
function platformChat(SANDBOX_API_URL: string) {
  return {
    async uploadFile(userId: string, conversationId: string, selected: File): Promise<unknown> {
      const sessionId = `sb-session-${userId}`;
      const formData = new FormData();
      formData.append("file", selected);
      formData.append("conversation_id", conversationId);
      formData.append("subdir", "temparea");
      const response = await fetch(`${SANDBOX_API_URL}/api/v1/sessions/${sessionId}/files/upload`, {
        method: "POST",
        body: formData,
      });
      return response.json();
    },
    chatWithFiles(query: string, conversationId: string, selectedFiles: SelectedFile[]): Promise<Response> {
      // As on a page of that server.
      return fetch(new URL("/api/agent-app/v1/app/my-agent/chat/completion", SANDBOX_API_URL), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({
          query,
          conversation_id: conversationId,
          stream: true,
          selected_files: selectedFiles,
        }),
      });
    },
    async listUploadedFiles(userId: string, conversationId: string): Promise<unknown> {
      const sessionId = `sb-session-${userId}`;
      const response = await fetch(`${SANDBOX_API_URL}/api/v1/sessions/${sessionId}/files`, {
        method: "GET",
        headers: { conversation_id: conversationId, subdir: "temparea" },
      });
      const data: { files: unknown } = JSON.parse(await response.text());
      return data.files;
    },
  };
}
