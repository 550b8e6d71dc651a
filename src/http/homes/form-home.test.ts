import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../../test/world/database.ts";
import { gather } from "../../../test/world/file-doors.ts";
import { failed, ok } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { ConversationId, OwnerId } from "../../protocol/ids.ts";
import { keepForm } from "./form-home.ts";

const ann = OwnerId.parse("ann");
const fileBytesMax = 1_000;
/** The file and half a MiB for what stands beside it. */
const bytesMax = fileBytesMax + 512 * 1024;
const formType = "multipart/form-data; boundary=x";

/** As browsers send it: the file first, and then what it is for. */
function formOf(fields: Readonly<Record<string, string>>): string {
  const named = Object.entries(fields).map(([name, value]) => `name="${name}"\r\n\r\n${value}`);
  const parts = ['name="file"; filename="a.txt"\r\n\r\n12345', ...named];
  return `${parts.map((part) => `--x\r\ncontent-disposition: form-data; ${part}\r\n`).join("")}--x--\r\n`;
}

async function keeping(t: TestContext) {
  const storage = openDatabase(t);
  const made = await storage.createConversation({ owner: ann, id: ConversationId.parse("c"), at: 0, events: [] });
  assert.ok(made.ok);
  const place = { isAway: false, isFull: false, closed: 0, spooled: [] as unknown[] };
  const spool = async (source: AsyncIterable<Uint8Array>, options: object) => {
    place.spooled.push(options);
    if (place.isFull) return failed(makeFailure("storage_full", {}));
    const kept = await gather(source);
    async function* chunks() {
      yield kept;
    }
    return ok({ chunks, bytes: kept.length, close: () => (place.closed += 1) });
  };
  const find: typeof storage.findConversation = async (...asked) => {
    if (place.isAway) throw new Error("away");
    return storage.findConversation(...asked);
  };
  const parts = {
    storage: { ...storage, findConversation: find },
    workspaces: { spool },
    sandboxSettings: () => ({ uploads: { fileBytesMax } }),
  };
  const keep = (body: string, { announced, query = {}, id = "sess-ann" }: Asking = {}) => {
    async function* chunks() {
      yield Buffer.from(body);
    }
    const header = (name: string) => (name === "content-type" ? formType : undefined);
    const asked = { caller: { signedIn: undefined }, actsAs: undefined, params: { id }, query, header };
    return keepForm(Object(parts), Object({ ...asked, bytes: { chunks: chunks(), announced } }));
  };
  return { home: `c:${made.value.number}`, place, keep };
}

type Asking = { readonly announced?: number; readonly query?: object; readonly id?: string };

test("a form that names its conversation behind its file goes there, whole and with its length [N1][S3]", async (t) => {
  const { home, place, keep } = await keeping(t);
  const form = formOf({ conversation_id: "c" });
  const kept = await keep(form);
  assert.ok(kept.ok && kept.value !== undefined);
  const { key, bytes } = kept.value;
  const sent = (await gather(bytes.chunks)).toString();
  assert.deepEqual([key, bytes.announced, sent, place.closed], [home, form.length, form, 0]);
  const [limit] = place.spooled;
  assert.deepEqual(Object(limit).limit.bytes, bytesMax);
  const byPath = await keep(formOf({ path: "c/outputs" }));
  const unnamed = await keep(formOf({}));
  const broken = await keep("no form at all");
  assert.deepEqual(
    [byPath, unnamed, broken].map((one) => one.ok && one.value?.key),
    [home, "u:ann", "u:ann"],
  );
});

test("who is named in a form is whose it is, and a path in the address goes before one in the form [N1][S3][S7]", async (t) => {
  const { home, keep } = await keeping(t);
  const ofNobody = { id: "sess-agent-default" };
  const keyOf = async (...asked: Parameters<typeof keep>) => {
    const kept = await keep(...asked);
    return kept.ok && kept.value?.key;
  };
  assert.equal(await keyOf(formOf({ user_id: "ann" }), ofNobody), "u:ann");
  const query = { path: "c/outputs" };
  assert.equal(await keyOf(formOf({ path: "another/outputs" }), { query }), home);
});

test("a form that says it is too long is not kept, and one as long as may be is [N1][F4]", async (t) => {
  const { place, keep } = await keeping(t);
  const form = formOf({ conversation_id: "c" });
  assert.deepEqual(await keep(form, { announced: bytesMax + 1 }), ok(undefined));
  assert.equal(place.spooled.length, 0);
  const kept = await keep(form, { announced: bytesMax });
  assert.ok(kept.ok && kept.value !== undefined);
});

test("a form is let go where nobody can say where it belongs, and told where there is no room for it [N1][Q2]", async (t) => {
  const { place, keep } = await keeping(t);
  place.isAway = true;
  await assert.rejects(keep(formOf({ conversation_id: "c" })), /away/);
  assert.equal(place.closed, 1);
  place.isFull = true;
  const full = await keep(formOf({}));
  assert.deepEqual(full.ok ? "kept" : full.failure.code, "storage_full");
});
