import assert from "node:assert/strict";
import { test } from "node:test";
import { localOwner, OwnerId } from "../../src/protocol/ids.ts";
import { formOf, openFileDoor, playedSessions, refusal, session } from "./sandbox-files.ts";

// Files over HTTP, by the routes of the sandbox: uploads, listings, downloads and removals.

const csv = (name: string, text = "a,b\n1,2\n") => new File([text], name, { type: "text/csv" });

test("an upload adopts a conversation for its user; looking at an unknown one makes nothing; a deleted one stays gone [C1][S3][S7]", async () => {
  await using door = await openFileDoor();
  const base = `/sessions/${session}/files`;
  const look = (id: string) => door.call("GET", `${base}?conversation_id=${id}`);
  assert.deepEqual(refusal(await look("c1")), [404, "conversation_not_found"]);
  assert.deepEqual(refusal(await look("..")), [400, "bad_request"]);
  assert.deepEqual(refusal(await look("uploads")), [400, "bad_request"]);
  assert.deepEqual(refusal(await door.call("GET", `${base}/c1/outputs/a.png`)), [404, "conversation_not_found"]);
  const ann = OwnerId.parse("ann");
  assert.equal((await door.yard.log.find(ann, "c1")).ok, false, "looking made nothing");
  assert.equal((await door.upload(csv("a.csv"), { conversation_id: "c1" })).status, 200);
  assert.equal((await door.yard.log.find(ann, "c1")).ok, true);
  assert.equal((await door.yard.log.find(localOwner, "c1")).ok, false);
  assert.deepEqual(refusal(await door.upload(csv("a.csv"), { conversation_id: "a b" })), [400, "bad_request"]);

  // Another user, by any spelling, sees nothing of it.
  const bob = { headers: { "x-account-id": "bob" } };
  assert.deepEqual(refusal(await door.call("GET", `${base}?conversation_id=c1`, bob)), [404, "session_not_found"]);
  const own = await door.call("GET", "/sessions/sess-agent-default/files?conversation_id=c1", bob);
  assert.deepEqual(refusal(own), [404, "conversation_not_found"]);
  // The owner of the named conversation, where nothing else names one.
  const named = await door.call("GET", "/sessions/sess-agent-default/files?conversation_id=c1");
  assert.deepEqual([named.status, named.json.session_id], [200, session]);

  const headers = { "x-account-id": "ann" };
  assert.equal((await door.call("DELETE", "/conversations/c1", { headers })).status, 204);
  assert.deepEqual(refusal(await look("c1")), [404, "conversation_not_found"]);
  assert.deepEqual(refusal(await door.upload(csv("a.csv"), { conversation_id: "c1" })), [
    404,
    "conversation_not_found",
  ]);
});

test("a form names its user where nothing else does, and what may not be written is told before a conversation is made for it [S3][S7]", async () => {
  await using door = await openFileDoor();
  const body = formOf(csv("a.csv"), { conversation_id: "c5", user_id: "bob" });
  const stored = await door.call("POST", "/sessions/sess-agent-default/files/upload", { body });
  assert.deepEqual([stored.status, stored.json.session_id], [200, "sb-session-bob"]);
  assert.equal((await door.yard.log.find(OwnerId.parse("bob"), "c5")).ok, true);
  const [ann, why] = [OwnerId.parse("ann"), "not_writable"];
  for (const [path, folder] of [
    ["skills/own/a.csv", "skills"],
    ["elsewhere/a.csv", "elsewhere"],
    ["a.csv", "."],
  ]) {
    const refused = await door.upload(csv("x.csv"), {}, `?path=${encodeURIComponent(`c6/${path}`)}`);
    assert.deepEqual([...refusal(refused), refused.json.params], [403, "permission_denied", { path, folder, why }]);
  }
  assert.equal((await door.yard.log.find(ann, "c6")).ok, false);
});

test("a file is found by its full path, by conversation and name, and by conversation and folder [S3][S4]", async () => {
  await using door = await openFileDoor();
  const base = `/sessions/${session}/files`;
  const put = async (path: string, query = "") => {
    const stored = await door.call("PUT", `${base}/${path}${query}`, {
      body: Buffer.from(path),
      headers: { "content-type": "application/octet-stream" },
    });
    return [stored.status, stored.json.file_path ?? stored.json.code];
  };
  assert.deepEqual(await put("c1/outputs/deep/er/a.txt"), [201, "c1/outputs/deep/er/a.txt"]);
  assert.deepEqual(await put("b.txt", "?conversation_id=c1"), [201, "c1/uploads/temparea/b.txt"]);
  assert.deepEqual(await put("c.txt", "?conversation_id=c1&subdir=outputs"), [201, "c1/outputs/c.txt"]);
  assert.deepEqual(await put("/workspace/c1/temp/d.txt"), [201, "c1/temp/d.txt"]);
  assert.deepEqual(await put("uploads/e.txt", "?conversation_id=c1"), [201, "c1/uploads/e.txt"]);
  assert.deepEqual(await put("uploads/e.txt"), [400, "conversation_not_named"]);
  assert.deepEqual(await put("c2/e.txt"), [403, "permission_denied"]);
  assert.deepEqual(await put("c2/skills/e.txt"), [403, "permission_denied"]);
  assert.deepEqual(await put("/workspace/c2/outputs/e.txt", "?conversation_id=c1"), [400, "bad_request"]);
  assert.deepEqual(await put("c1/outputs/..%2f..%2fe.txt"), [400, "path_traversal_blocked"]);
  assert.deepEqual(await put("c1/outputs/a%5Cb"), [400, "path_invalid"]);
  assert.deepEqual(await put("c1/outputs/a%0Ab"), [400, "path_invalid"]);
  assert.deepEqual(await put("c1/outputs/a%00b"), [400, "path_invalid"]);
  assert.deepEqual(await put(`c1/outputs/${"x".repeat(256)}`), [400, "path_invalid"]);
  assert.equal((await door.yard.log.find(OwnerId.parse("ann"), "c2")).ok, false, "a refusal adopts nothing");

  const read = async (path: string) => `${(await door.call("GET", `${base}/${path}`)).bytes}`;
  assert.equal(await read("c1/outputs/deep/er/a.txt"), "c1/outputs/deep/er/a.txt");
  assert.equal(await read("deep/er/a.txt?conversation_id=c1&subdir=outputs"), "c1/outputs/deep/er/a.txt");
  assert.equal(await read("%2Fworkspace%2Fc1%2Foutputs%2Fc.txt"), "c.txt");
  assert.equal(await read("b.txt"), "b.txt");
});

test("a name that several conversations have is not guessed: the answer names them [S3]", async () => {
  await using door = await openFileDoor();
  for (const id of ["c1", "c2"]) await door.upload(csv("data.csv"), { conversation_id: id });
  const base = `/sessions/${session}/files`;
  const asked = await door.call("GET", `${base}/data.csv`);
  assert.deepEqual(
    [...refusal(asked), asked.json.params],
    [400, "file_ambiguous", { name: "data.csv", conversations: "c2, c1" }],
  );
  assert.equal((await door.call("GET", `${base}/data.csv?conversation_id=c2`)).status, 200);
  assert.deepEqual(refusal(await door.call("GET", `${base}/nowhere.csv`)), [404, "file_not_found"]);
  // Nor is another user's.
  assert.deepEqual(refusal(await door.call("GET", "/sessions/sb-session-bob/files/data.csv")), [404, "file_not_found"]);
});

test("a listing shows what was uploaded, folders exactly, and other folders on request, in both dialects [S3]", async () => {
  await using door = await openFileDoor();
  const base = `/sessions/${session}/files`;
  await door.upload(csv("数据 1.csv"), { conversation_id: "c1" });
  for (const path of ["outputs/src/a.txt", "outputs/src/.b", "outputs/src2/c.txt", "outputs/src.txt"])
    await door.call("PUT", `${base}/c1/${path}`, {
      body: Buffer.from("text"),
      headers: { "content-type": "application/octet-stream" },
    });
  await door.upload(csv("x.csv"), { conversation_id: "c10" });
  const list = async (query: string) => (await door.call("GET", `${base}?${query}`)).json;
  const names = async (query: string) => (await list(query)).files;

  const [item] = [(await list("conversation_id=c1")).items].flat();
  assert.ok(typeof item === "object" && item !== null && "modified_time" in item && "etag" in item);
  const { modified_time: at, etag, ...rest } = item;
  assert.match(String(at), /^\d{4}-\d\d-\d\dT.*Z$/);
  const path = "c1/uploads/temparea/数据 1.csv";
  assert.deepEqual(rest, { name: "数据 1.csv", path, container_path: `/workspace/${path}`, size: 8, type: "csv" });
  const file = await door.call("GET", `${base}/${encodeURI(path)}`);
  assert.equal(file.headers.get("etag"), etag);

  assert.deepEqual(await names("conversation_id=c1"), ["数据 1.csv"]);
  assert.deepEqual(await names("conversation_id=c1&subdir=outputs"), ["src.txt", "src/.b", "src/a.txt", "src2/c.txt"]);
  assert.deepEqual(await names("conversation_id=c1&path=outputs/src&format=names"), [".b", "a.txt"]);
  assert.deepEqual(await names("path=c1/outputs/src&format=names"), [".b", "a.txt"]);
  const objects = [(await list("path=c1/outputs/src2")).files].flat().map((one) => Object(one).name);
  assert.deepEqual(objects, ["c1/outputs/src2/c.txt"]);
  const all = await names("path=c1&format=names");
  assert.deepEqual(all, [
    "outputs/src.txt",
    "outputs/src/.b",
    "outputs/src/a.txt",
    "outputs/src2/c.txt",
    "uploads/temparea/数据 1.csv",
  ]);
  const first = await list("path=c1&limit=2");
  assert.deepEqual([first.count, first.has_more], [2, true]);
  const cut = await list("path=c1&format=names&limit=1");
  assert.deepEqual(
    [cut.files, cut.has_more],
    [["outputs/src.txt"], true],
    "the first by name, whichever is found first",
  );
  assert.equal((await list("path=c1&limit=5")).has_more, false);
  assert.deepEqual(await names("conversation_id=c1&subdir=temp/none"), []);
  for (const [query, status, code] of [
    ["path=c1/outputs/sr", 404, "file_not_found"],
    ["limit=0&conversation_id=c1", 400, "bad_request"],
    ["limit=10001&conversation_id=c1", 400, "bad_request"],
    ["conversation_id=c1&subdir=skills", 400, "bad_request"],
    ["conversation_id=c1&subdir=../c10", 400, "path_traversal_blocked"],
    ["", 400, "conversation_not_named"],
  ] as const)
    assert.deepEqual(refusal(await door.call("GET", `${base}?${query}`)), [status, code], query);
});

test("what is removed or listed for one user, conversation or folder leaves others alone whose names begin alike [S3][S7]", async () => {
  await using door = await openFileDoor(playedSessions());
  const users = ["u1", "u10"];
  const put = (user: string, path: string) =>
    door.call("PUT", `/sessions/sess-${user}/files/${path}`, {
      body: Buffer.from("a,b\n1,2\n"),
      headers: { "content-type": "application/octet-stream" },
    });
  for (const user of users) {
    const body = JSON.stringify({ user_id: user });
    await door.call("POST", "/sessions", { body, headers: { "content-type": "application/json" } });
    for (const path of ["c1/outputs/src/a.csv", "c1/outputs/src2/b.csv", "c10/outputs/c.csv"])
      assert.ok((await put(user, path)).status < 300);
  }
  const files = async (user: string, conversation: string) =>
    (await door.call("GET", `/sessions/sess-${user}/files?conversation_id=${conversation}&subdir=outputs`)).json.files;
  const all = () => Promise.all(users.flatMap((user) => [files(user, "c1"), files(user, "c10")]));
  const untouched = [["src/a.csv", "src2/b.csv"], ["c.csv"]];
  assert.deepEqual(await all(), [...untouched, ...untouched]);
  assert.equal(
    (await door.call("DELETE", "/sessions/sess-u1/files?conversation_id=c1&subdir=outputs/src")).status,
    204,
  );
  assert.deepEqual(await all(), [["src2/b.csv"], ["c.csv"], ...untouched]);
  assert.equal((await door.call("DELETE", "/sessions/sess-u1/files?conversation_id=c1")).status, 204);
  assert.deepEqual(await all(), [[], ["c.csv"], ...untouched]);
  assert.equal((await door.call("DELETE", "/sessions/sess-u1")).status, 204);
  const sessions = await Promise.all(users.map((user) => door.call("GET", `/sessions/sess-${user}`)));
  assert.deepEqual(
    sessions.map(({ status }) => status),
    [404, 200],
  );
  const headers = { "x-account-id": "u1" };
  assert.ok((await door.call("DELETE", "/conversations/c1", { headers })).status < 300);
  assert.deepEqual((await all()).slice(1), [["c.csv"], ...untouched]);
});

test("files are removed one by one or all at once, and each removal stands in the ledger [S3][W12]", async () => {
  await using door = await openFileDoor();
  const base = `/sessions/${session}/files`;
  for (const name of ["a.csv", "b.csv"]) await door.upload(csv(name), { conversation_id: "c1" });
  const removed = await door.call("DELETE", `${base}/a.csv?conversation_id=c1`);
  assert.deepEqual([removed.status, removed.bytes.length], [204, 0]);
  assert.deepEqual(refusal(await door.call("DELETE", `${base}/a.csv?conversation_id=c1`)), [404, "file_not_found"]);
  assert.deepEqual(refusal(await door.call("DELETE", base)), [400, "conversation_not_named"]);
  for (const query of ["conversation_id=c1&subdir=temparea", "conversation_id=c1", "conversation_id=never"])
    assert.equal((await door.call("DELETE", `${base}?${query}`)).status, 204, query);
  const left = await door.call("GET", `${base}?conversation_id=c1`);
  assert.deepEqual(left.json.files, []);
  const found = await door.yard.log.find(OwnerId.parse("ann"), "c1");
  assert.ok(found.ok);
  const events = await door.yard.log.read(found.value.number, { after: 0, limit: 100 });
  const ledger = events.flatMap((event) =>
    event.type === "file.changed" ? [[event.by, event.path, event.before?.bytes, event.after?.bytes]] : [],
  );
  assert.deepEqual(ledger, [
    ["upload", "uploads/temparea/a.csv", undefined, 8],
    ["upload", "uploads/temparea/b.csv", undefined, 8],
    ["person", "uploads/temparea/a.csv", 8, undefined],
    ["person", "uploads/temparea", undefined, undefined],
    ["person", "uploads", undefined, undefined],
    ["person", "outputs", undefined, undefined],
    ["person", "temp", undefined, undefined],
  ]);
});

test("a download comes whole or in ranges, under its own name only, and never as a page [S3]", async () => {
  await using door = await openFileDoor();
  const name = 'a";\r\nset-cookie: x=1.html';
  const named = await door.upload(csv("报告 “1”.html", "0123456789"), { conversation_id: "c1" });
  assert.equal(named.status, 200);
  const url = `/sessions/${session}/files/${encodeURIComponent("报告 “1”.html")}?conversation_id=c1`;
  const whole = await door.call("GET", url);
  assert.deepEqual(
    ["content-type", "content-length", "accept-ranges", "x-content-type-options", "content-disposition"].map((header) =>
      whole.headers.get(header),
    ),
    [
      "application/octet-stream",
      "10",
      "bytes",
      "nosniff",
      `attachment; filename="__ _1_.html"; filename*=UTF-8''${encodeURIComponent("报告 “1”.html")}`,
    ],
  );
  const part = await door.call("GET", url, { headers: { range: "bytes=2-4" } });
  assert.deepEqual([part.status, `${part.bytes}`, part.headers.get("content-range")], [206, "234", "bytes 2-4/10"]);
  assert.deepEqual(refusal(await door.call("GET", url, { headers: { range: "bytes=10-" } })), [416, "range_unfit"]);
  const head = await door.call("HEAD", url);
  assert.deepEqual([head.status, head.headers.get("content-length"), head.bytes.length], [200, "10", 0]);
  // A name that would break out of its header cannot be stored in the first place.
  const injected = await door.call("PUT", `/sessions/${session}/files/c1/outputs/${encodeURIComponent(name)}`, {
    body: Buffer.from("x"),
    headers: { "content-type": "application/octet-stream" },
  });
  assert.deepEqual(refusal(injected), [400, "path_invalid"]);
});

test("a session may only tighten what can be uploaded, and a refusal names the setting [F4][S1]", async () => {
  await using door = await openFileDoor(playedSessions());
  const json = { headers: { "content-type": "application/json" } };
  const config = { file_upload_config: { max_file_size: 1, max_file_size_unit: "KB", allowed_file_types: ["csv"] } };
  const created = await door.call("POST", "/sessions", { ...json, body: JSON.stringify({ user_id: "ann", config }) });
  assert.equal(created.status, 201);
  const large = await door.upload(csv("a.csv", "a,b\n".repeat(300)), { conversation_id: "c1" });
  const setting = "sandbox_platform.file_upload_config.max_file_size";
  assert.deepEqual(
    [...refusal(large), Object(large.json.params).limitBytes, Object(large.json.params).setting],
    [413, "too_large", 1024, setting],
  );
  assert.deepEqual(refusal(await door.upload(csv("a.txt"), { conversation_id: "c1" })), [415, "unsupported_type"]);
  assert.equal((await door.upload(csv("a.csv"), { conversation_id: "c1" })).status, 200);
});
