import assert from "node:assert/strict";
import { once } from "node:events";
import { Server as SecureServer } from "node:https";
import { tmpdir } from "node:os";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { playedProvider } from "../../../test/world/played-provider.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { canaryLimits } from "../guest/canary.ts";
import { createFrameDecoder, encodeFrame, payloadBytesMax } from "../guest/frames.ts";
import { linksOver } from "../guest/stdio.ts";
import { executionLimits, type Guest } from "../provider.ts";
import { openDoor } from "./sandbox-host.ts";
import { serveGuest } from "./serve-guest.ts";
import { createVerifier, signRequest } from "./signed.ts";
import { type StreamKeys, signedOver } from "./signed-stream.ts";

// What a host keeps for a server that asks for more and more, and how it tells what is long. The test plays the server.

const order = {
  ...{ type: "open", version: 1, id: "g1", limits: canaryLimits, env: {}, hasNetwork: false, likeness: "device" },
};

async function served(changes: Partial<Guest> = {}) {
  const played = playedProvider();
  const [near, far] = duplexPair();
  const reserved = new Set<string>();
  serveGuest(near, {
    ...{ files: tmpdir(), clock: manualClock(), keep() {}, load: () => ({ guests: reserved.size, guestsMax: 4 }) },
    reserve: (id) => reserved.size !== reserved.add(id).size,
    release: (id) => void reserved.delete(id),
    async open(wanted) {
      const opened = await played.open(wanted);
      return opened.ok ? ok({ ...opened.value, ...changes }) : opened;
    },
    inBackground: (work) => void work,
  });
  const { control } = linksOver(far);
  control.on("error", () => {});
  const decoder = createFrameDecoder();
  const heard: { readonly header: Record<string, unknown>; readonly bytes: number }[] = [];
  control.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    for (const { header, payload } of frames.value) heard.push({ header: Object(header), bytes: payload.length });
  });
  const of = (type: string) => heard.filter(({ header }) => header.type === type);
  const say = (message: object, payload?: Uint8Array) => void control.write(encodeFrame(message, payload));
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await nextLoop();
  };
  /** Whether the host still listens. */
  const isHeard = async () => {
    const before = of("pong").length;
    say({ type: "ping" });
    await until(() => of("pong").length > before || far.destroyed);
    return of("pong").length > before;
  };
  say(order);
  await until(() => of("opened").length === 1);
  return { say, of, until, isHeard, reserved };
}

test("a host keeps what is sent ahead for eight executions, and hangs up on who sends for one more [X3][X4]", async () => {
  const { say, isHeard, until, reserved } = await served();
  const part = (id: string) => say({ type: "part", id, name: "code" }, Buffer.from("x"));
  for (let sent = 0; sent < 16; sent += 1) part(`${sent % 8}`);
  assert.equal(await isHeard(), true);
  part("8");
  assert.equal(await isHeard(), false);
  await until(() => reserved.size === 0);
});

test("a host keeps twice what one execution may have, and hangs up at one byte more [X3][X4]", async () => {
  const { say, isHeard } = await served();
  const { codeBytesMax, eventBytesMax, stdinBytesMax } = executionLimits;
  const most = 2 * (codeBytesMax + eventBytesMax + stdinBytesMax);
  const piece = Buffer.alloc(payloadBytesMax);
  for (let sent = 0; sent < most; sent += piece.length)
    say({ type: "part", id: `${sent % 3}`, name: "stdin" }, piece.subarray(0, most - sent));
  assert.equal(await isHeard(), true);
  say({ type: "part", id: "0", name: "event" }, Buffer.from("x"));
  assert.equal(await isHeard(), false);
});

test("strangers at the door of a host have ten seconds for their headers, which are short, thirty for all they ask, and only so many connections, with TLS as without [X3][X4]", () => {
  for (const tls of [undefined, {}]) {
    const door = openDoor(tls, () => {});
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = door;
    assert.equal(door instanceof SecureServer, tls !== undefined);
    assert.deepEqual(
      {
        headersTimeout,
        requestTimeout,
        keepAliveTimeout,
        maxConnections,
        maxHeaderSize: Reflect.get(door, "maxHeaderSize"),
      },
      {
        ...{ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 1000 },
        ...{ maxConnections: 10_000, maxHeaderSize: 16_384 },
      },
    );
  }
});

const [signedSecret, request] = ["of servers and hosts", { method: "POST", path: "/sandbox-host/end", body: "{}" }];

test("a request counts once, for a minute before and after its time, and is remembered for as long as it could be sent again [X3][Q1]", () => {
  const clock = manualClock();
  const verify = createVerifier(signedSecret, clock);
  const signedAt = (at: number) =>
    signRequest(signedSecret, request, { clock: { ...clock, now: () => at }, ids: systemIds }).authorization;
  const verdict = (authorization: string) => {
    const told = verify(authorization, request);
    return typeof told === "string" ? told : "good";
  };
  clock.move(100_000);
  const early = signedAt(160_000);
  assert.deepEqual([verdict(signedAt(160_001)), verdict(early), verdict(early)], ["wrong_clock", "good", "repeated"]);
  assert.deepEqual([verdict(signedAt(39_999)), verdict(signedAt(40_000))], ["wrong_clock", "good"]);
  clock.move(120_000);
  assert.equal(verdict(early), "repeated");
  clock.move(1);
  assert.equal(verdict(early), "wrong_clock");
});

test("who listens to a server and its host can use nothing of it for another question, another time, another answer or another stream [X3][Q1]", () => {
  const clock = manualClock();
  const verify = createVerifier(signedSecret, clock);
  const sign = () => signRequest(signedSecret, request, { clock, ids: systemIds });
  const [one, two] = [sign(), sign()];
  const changes: [header: string, asked: Partial<typeof request>][] = [
    [one.authorization, { method: "GET" }],
    [one.authorization, { path: "/sandbox-host/look" }],
    [one.authorization, { body: "[]" }],
    [one.authorization.replace(" 0.", " 1."), {}],
    [one.authorization.replace(/\.[0-9a-f]{32}\./, `.${systemIds.hex(32)}.`), {}],
  ];
  assert.deepEqual(
    changes.map(([header, asked]) => verify(header, { ...request, ...asked })),
    changes.map(() => "wrong_secret"),
  );
  const [first, second] = [one, two].map(({ authorization }) => verify(authorization, request));
  assert.ok(typeof first === "object" && typeof second === "object");
  const proof = first.prove("{}");
  assert.deepEqual(
    [one.isProven(proof, "{}"), two.isProven(proof, "{}"), one.isProven(proof, ""), one.isProven(undefined, "{}")],
    [true, false, false, false],
  );
  assert.deepEqual([first.keys, second.keys], [one.keys, two.keys]);
  assert.equal(new Set([one, two].flatMap(({ keys }) => Object.values(keys))).size, 4);
});

const streamKeys: StreamKeys = { server: "of the server", host: "of the host" };

/** A server and a host, and between them one who changes what the server sends, chunk by chunk. */
function apart(change: (chunk: Buffer) => readonly Buffer[] = (chunk) => [chunk]) {
  const [near, serverEnd] = duplexPair();
  const [hostEnd, far] = duplexPair();
  serverEnd.on("data", (chunk: Buffer) => {
    for (const each of change(chunk)) hostEnd.write(each);
  });
  hostEnd.on("data", (chunk: Buffer) => serverEnd.write(chunk));
  serverEnd.once("end", () => hostEnd.end());
  hostEnd.once("end", () => serverEnd.end());
  return { server: signedOver(near, streamKeys, "server"), host: signedOver(far, streamKeys, "host") };
}

async function textOf(stream: Duplex): Promise<string> {
  let text = "";
  stream.on("data", (bytes: Buffer) => (text += bytes.toString("latin1")));
  stream.on("error", () => {});
  await Promise.race([once(stream, "end"), once(stream, "close")]);
  return text;
}

const pieces: Buffer[] = [];

const meddlers: Readonly<Record<string, (chunk: Buffer) => readonly Buffer[]>> = {
  "other bytes": (chunk) => [Buffer.from(chunk.toString("latin1").replace("second", "SECOND"), "latin1")],
  "a piece twice": (chunk) => [chunk, chunk],
  "a piece less": (chunk) => (chunk.includes("first") ? [] : [chunk]),
  "pieces in another order": (chunk) => {
    pieces.unshift(chunk);
    return pieces.length < 2 ? [] : pieces;
  },
  "a piece of their own": (chunk) => [chunk, Buffer.concat([Buffer.of(0, 0, 0, 1), Buffer.alloc(32), Buffer.of(65)])],
  "a piece of nothing": (chunk) => [chunk, Buffer.alloc(36)],
  "a piece without an end": (chunk) => [chunk, Buffer.alloc(36, 0xff)],
};

for (const [what, change] of Object.entries(meddlers))
  test(`${what} from who sits between is the end of a host's stream, and nobody hears it [X3][Q1]`, async () => {
    const { server, host } = apart(change);
    const heard = textOf(host);
    server.on("error", () => {});
    server.write("first");
    server.write("second");
    assert.match(await heard, /^(?:first)?$/);
    assert.equal(host.destroyed, true);
  });

test("what a side said itself is nothing that the other side says [X3][Q1]", async () => {
  const [near, far] = duplexPair();
  const server = signedOver(near, streamKeys, "server");
  far.on("data", (chunk: Buffer) => void far.write(chunk));
  const heard = textOf(server);
  server.write("to the host");
  assert.equal(await heard, "");
});
