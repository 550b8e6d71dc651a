import assert from "node:assert/strict";
import { test } from "node:test";
import { cannotWorkOnData, type Platform, startPlatform, told } from "../world/platform.ts";
import { platformFiles } from "../world/platform-samples.ts";
import { makeHome } from "../world/program.ts";

// What the chat platform and a user of it do with the sandbox, over HTTP, against `agentyard sandbox` as it is started.

const csv = "city,sold\nBonn,3\nUlm,4\n";

const shows: Readonly<Record<string, (platform: Platform) => Promise<void>>> = {
  async "a CSV uploaded over HTTP is read at its path, and the plot and the result come back over HTTP [X1][X2][X6][S3][S4]"(
    platform,
  ) {
    const user = "user123";
    const inConversation = { conversation_id: "conv456" };
    const uploaded = await platform.send("POST", `/sessions/sb-session-${user}/files/upload`, {
      body: form("conv456"),
    });
    assert.deepEqual(
      [uploaded.status, uploaded.json.container_path],
      [200, `/workspace/conv456/uploads/temparea/data.csv`],
    );
    const ran = await platform.run(user, analysis, inConversation);
    assert.deepEqual(told(ran), done("7\n"));
    assert.deepEqual(ran.artifacts.map(({ path, mime_type }) => [path, mime_type]).sort(), [
      ["outputs/figure-1.png", "image/png"],
      ["outputs/result.json", "application/json"],
    ]);
    const plot = await download(platform, user, "conv456/outputs/figure-1.png");
    const result = await download(platform, user, "conv456/outputs/result.json");
    assert.deepEqual(
      [plot.subarray(1, 4).toString(), plot.length > 1000, JSON.parse(`${result}`)],
      ["PNG", true, { sum: 7 }],
    );
    assert.deepEqual(ran.figures, ["outputs/figure-1.png"]);
  },
  async "code of the chat platform's agent works as it stands, with the session's other name [S1][S3][S4][S7]"(
    platform,
  ) {
    const front = platformFiles(platform.address);
    await front.uploadFile({ sandboxSessionId: "sess-user-123", conversationId: "conv-123", file: csvFile() });
    const execution = { code: agentCode, conversation_id: "conv-123" };
    const ran = await platform.send("POST", "/executions/sessions/sess-user-123/execute-sync", { json: execution });
    assert.deepEqual(
      [ran.status, ran.json.status, ran.json.stdout],
      [200, "completed", "   city  sold\n0  Bonn     3\n1   Ulm     4\n"],
    );
    const result = await download(platform, "user-123", "conv-123/uploads/result.json");
    assert.equal(JSON.parse(`${result}`).sold.mean, 3.5);
  },
  async "the chat platform's client creates, asks for and deletes a session, and deletes files, as it is written [S1][S3][S6][S7]"(
    platform,
  ) {
    const { send } = platform;
    // 8.1: three chats at once find no session and create one.
    const id = "sb-session-user8";
    assert.equal((await send("GET", `/sessions/${id}`)).status, 404);
    const request = {
      user_id: "user8",
      agent_id: "agent123",
      business_domain_id: "bd_public",
      config: { session_id: id },
    };
    const created = await Promise.all([1, 2, 3].map(() => send("POST", "/sessions", { json: request })));
    assert.deepEqual(created.map(({ status }) => status).sort(), [201, 409, 409]);
    const session = await send("GET", `/sessions/${id}`);
    const { session_id, status, created_at, ttl } = session.json;
    assert.deepEqual([session_id, status, Number.isInteger(created_at), ttl], [id, "running", true, 7200]);

    // 4.2 and 4.3: what it does with files.
    await send("POST", `/sessions/${id}/files/upload`, { body: form("conv-8") });
    const list = () =>
      send("GET", `/sessions/${id}/files`, { headers: { conversation_id: "conv-8", subdir: "temparea" } });
    assert.deepEqual((await list()).json.files, ["data.csv"]);
    const removed = await send("DELETE", `/sessions/${id}/files?conversation_id=conv-8`);
    const again = await send("DELETE", `/sessions/${id}/files?conversation_id=conv-8`);
    assert.deepEqual([removed.status, again.status, (await list()).json.files], [204, 204, []]);

    assert.equal((await send("DELETE", `/sessions/${id}`)).status, 204);
    assert.equal((await send("GET", `/sessions/${id}`)).status, 404);
  },
  async "the attack that the chat platform fears finds nothing: another conversation is not there, neither for code nor for downloads [S5][S7]"(
    platform,
  ) {
    await platform.send("POST", "/sessions/sb-session-other/files/upload", { body: form("conv-999") });
    const path = "/workspace/conv-123/uploads/temparea/../../conv-999/uploads/temparea/secret.csv";
    const attack = `import pandas as pd; df = pd.read_csv('${path}')`;
    const ran = await platform.run("user123", attack, { conversation_id: "conv-123" });
    assert.deepEqual([ran.status, /FileNotFoundError/.test(ran.stderr)], ["failed", true]);
    const looked = await platform.run("user123", "import os; print(sorted(os.listdir('/workspace')))", {
      conversation_id: "conv-123",
    });
    assert.deepEqual(told(looked), done("['conv-123', 'outputs', 'temp', 'uploads']\n"));
    const paths = ["conv-999/uploads/temparea/data.csv", "..%2Fconv-999%2Fuploads%2Ftemparea%2Fdata.csv"];
    const replies = await Promise.all(
      paths.map((path) => platform.send("GET", `/sessions/sb-session-user123/files/${path}?conversation_id=conv-123`)),
    );
    assert.deepEqual(
      replies.map(({ status }) => status >= 400 && status < 500),
      [true, true],
    );
  },
};

test("the chat platform works with `agentyard sandbox` as it is written", { skip: cannotWorkOnData }, async (t) => {
  const platform = await startPlatform(makeHome(t));
  for (const [says, show] of Object.entries(shows)) await t.test(says, () => show(platform));
});

const analysis = `
import json
import pandas as pd
import matplotlib.pyplot as plt
df = pd.read_csv("/workspace/conv456/uploads/temparea/data.csv")
df.plot.bar(x="city", y="sold")
plt.title("销量")
with open("/workspace/outputs/result.json", "w") as file:
    json.dump({"sum": int(df.sold.sum())}, file)
print(df.sold.sum())
`;

/** The chat platform's own, to the letter. */
const agentCode = `# Agent 生成的代码中引用用户上传的文件
import pandas as pd

# 读取用户上传的文件（路径已在 context 中提供）
df = pd.read_csv('/workspace/conv-123/uploads/temparea/data.csv')
print(df.head())

# 处理数据
result = df.describe()

# Agent 生成结果文件（可选，不在 temparea 目录）
with open('/workspace/uploads/result.json', 'w') as f:
    f.write(result.to_json())
`;

function csvFile(): File {
  return new File([csv], "data.csv", { type: "text/csv" });
}

function form(conversationId: string): FormData {
  const data = new FormData();
  data.append("file", csvFile());
  data.append("conversation_id", conversationId);
  data.append("subdir", "temparea");
  return data;
}

function done(stdout: string) {
  return { status: "completed", stdout, stderr: "" };
}

async function download(platform: Platform, user: string, path: string): Promise<Buffer> {
  const reply = await platform.send("GET", `/sessions/sb-session-${user}/files/${path}`);
  assert.equal(reply.status, 200, `${reply.bytes}`);
  return reply.bytes;
}
