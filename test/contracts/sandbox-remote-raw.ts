import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { type Duplex, duplexPair } from "node:stream";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { createFrameDecoder, encodeFrame } from "../../src/sandbox/guest/frames.ts";
import { linksOver } from "../../src/sandbox/guest/stdio.ts";
import type { Guest, GuestWanted, SandboxProvider } from "../../src/sandbox/provider.ts";
import { openStream } from "../../src/sandbox/remote/ask-host.ts";
import { openRemoteGuest, type RemoteGuestOptions } from "../../src/sandbox/remote/remote-guest.ts";
import { openSandboxHost, type SandboxHost, type SandboxHostOptions } from "../../src/sandbox/remote/sandbox-host.ts";
import { guestOrder } from "../../src/sandbox/remote/wire.ts";
import { quietLogger } from "../world/workspace.ts";
import { openRemote, secret } from "./sandbox-on-remote.ts";
import { limits, wantedGuest } from "./sandbox-place.ts";

// A host in this process, and callers that say what no server of ours would.

export type RawHost = { readonly host: SandboxHost; readonly address: string; readonly logged: string[] };

export async function openRawHost(
  t: TestContext,
  provider: SandboxProvider,
  changes: Partial<SandboxHostOptions> = {},
): Promise<RawHost> {
  const logged: string[] = [];
  const host = openSandboxHost({
    ...{ provider, files: tmpdir(), secret, guestsMax: 4, release: "0.0.0-test" },
    ...{ clock: systemClock, logger: quietLogger(logged), ...changes },
  });
  const listening = await host.listen({ host: "127.0.0.1", port: 0 });
  assert.ok(listening.ok);
  t.after(() => host.close());
  return { host, address: listening.value, logged };
}

/** The provider of a server, with these hosts, until the test is over. */
export function provide(t: TestContext, ...given: Parameters<typeof openRemote>): SandboxProvider {
  const provider = openRemote(...given);
  t.after(() => provider.close());
  return provider;
}

export async function opened(provider: SandboxProvider, changes: Partial<GuestWanted> = {}): Promise<Guest> {
  const guest = await provider.open(wantedGuest(changes));
  assert.ok(guest.ok, guest.ok ? "" : `${guest.failure.why}: ${guest.failure.said}`);
  return guest.value;
}

export const doorOf = (address: string) => ({
  ...{ address, secret, authorities: undefined, clock: systemClock, ids: systemIds },
});

/** The stream of a guest, on which anything can be said. */
export type Raw = {
  readonly socket: Duplex;
  say(message: object, payload?: Uint8Array): void;
  /** Bytes of the control link that need not be a frame. */
  write(bytes: Uint8Array): void;
  network(bytes: Uint8Array): void;
  /** The messages that came so far. */
  readonly heard: readonly { readonly type: string; readonly [key: string]: unknown }[];
  next(type: string): Promise<Raw["heard"][number]>;
  readonly closed: Promise<void>;
};

export async function openRaw(t: TestContext, address: string): Promise<Raw> {
  const opened = await openStream(doorOf(address), { timeoutMs: 30_000 });
  assert.ok(opened.ok, JSON.stringify(opened));
  const socket = opened.value;
  t.after(() => socket.destroy());
  const { control, network } = linksOver(socket);
  const decoder = createFrameDecoder();
  const heard: Raw["heard"][number][] = [];
  let tell = () => {};
  control.on("data", (bytes: Buffer) => {
    const frames = decoder.push(bytes);
    assert.ok(frames.ok);
    for (const { header } of frames.value) {
      assert.ok(typeof header === "object" && header !== null && "type" in header && typeof header.type === "string");
      heard.push({ ...header, type: header.type });
    }
    tell();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void closed.then(() => tell());
  return {
    ...{ socket, heard, closed },
    say: (message, payload) => void control.write(encodeFrame(message, payload)),
    write: (bytes) => void control.write(bytes),
    network: (bytes) => void network.write(bytes),
    async next(type) {
      for (;;) {
        const found = heard.find((message) => message.type === type);
        if (found !== undefined) return found;
        assert.ok(!socket.destroyed, `closed before ${type}: ${JSON.stringify(heard)}`);
        await new Promise<void>((resolve) => (tell = resolve));
      }
    },
  };
}

/** What a server of ours asks for, without a workspace. */
export function orderOf(changes: object = {}): object {
  const id = systemIds.hex(16);
  return { ...{ type: "open", version: 1, id, limits, env: {}, hasNetwork: false, likeness: "device" }, ...changes };
}

/** A guest that a server asks for at a host that says what the test says. */
export function askHostileHost(changes: Partial<RemoteGuestOptions> = {}) {
  const [near, far] = duplexPair();
  const host = linksOver(far);
  far.on("error", () => {});
  const decoder = createFrameDecoder();
  const heard: unknown[] = [];
  host.control.on("data", (bytes: Buffer) => {
    const frames = decoder.push(bytes);
    assert.ok(frames.ok);
    heard.push(...frames.value.map(({ header }) => header));
  });
  const opening = openRemoteGuest(near, {
    ...{ order: guestOrder.parse(orderOf()), network: undefined, clock: systemClock, openTimeoutMs: 30_000 },
    ...{ onLoad: () => {}, whenGone: async () => {}, ...changes },
  });
  const say = (message: object, payload?: Uint8Array) => void host.control.write(encodeFrame(message, payload));
  return { near, host, say, heard, opening };
}

/** The same, opened. */
export async function onHostileHost(changes: Partial<RemoteGuestOptions> = {}) {
  const asked = askHostileHost(changes);
  asked.say({ type: "opened", guests: 1, guestsMax: 1 });
  const opened = await asked.opening;
  assert.ok(opened.ok);
  return { ...asked, guest: opened.value };
}

type Change = (bytes: Buffer) => Buffer;

/** Stands between a server and its host: hands bytes on until it is told to cut, as they are or as it likes them. */
export async function startCutter(
  t: TestContext,
  address: string,
  {
    toHost = (bytes) => bytes,
    toServer = (bytes) => bytes,
  }: { readonly toHost?: Change; readonly toServer?: Change } = {},
) {
  const { hostname, port } = new URL(address);
  const pairs = new Set<Socket>();
  let isAway = false;
  const server = createServer((near) => {
    if (isAway) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other, change] of [
      [near, far, toHost],
      [far, near, toServer],
    ] as const) {
      pairs.add(one);
      one.on("error", () => {});
      one.on("data", (bytes: Buffer) => void other.write(change(bytes)));
      one.once("close", () => {
        pairs.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of pairs) socket.destroy();
    server.close();
  });
  const place = server.address();
  assert.ok(place !== null && typeof place === "object");
  return {
    address: `http://127.0.0.1:${place.port}`,
    /** `stays`: nobody gets through from now on. */
    cut({ stays }: { readonly stays: boolean }) {
      isAway = stays;
      for (const socket of pairs) socket.destroy();
    },
  };
}
