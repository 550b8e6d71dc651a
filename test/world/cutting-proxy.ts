import { createConnection, createServer, type Socket } from "node:net";
import { pause } from "./events.ts";

/** A port that leads to a socket, by way of a network that can be as bad as networks get. */
export type CuttingProxy = {
  readonly port: number;
  /** All connections that there are, at once and without a good-bye. */
  cut(): void;
  /** Who asks is heard no more, but is still spoken to; and the other way round. */
  halfClose(): void;
  /** Nothing passes, and nobody hears of it; what was sent meanwhile arrives afterwards. */
  holdBack(isOn: boolean): void;
  /** Everything takes so much longer. */
  delayBy(ms: number): void;
  close(): Promise<void>;
};

type Pair = { readonly near: Socket; readonly far: Socket };

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const pairs = new Set<Pair>();
  let [isHeldBack, delayMs] = [false, 0];
  let passing = Promise.withResolvers<void>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const pair = { near, far: createConnection({ path: target, allowHalfOpen: true }) };
    const { far } = pair;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    void pass(near, far).then(undefined, end);
    void pass(far, near).then(undefined, end);
  });

  async function pass(from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from) {
      if (delayMs > 0) await pause(delayMs);
      if (isHeldBack) await passing.promise;
      if (!to.write(chunk)) await new Promise<void>((resolve) => to.once("drain", resolve).once("close", resolve));
    }
    to.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a proxy has a port");
  return {
    port: address.port,
    cut() {
      for (const { near, far } of pairs) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    halfClose() {
      for (const [index, { near, far }] of [...pairs].entries()) (index % 2 === 0 ? near : far).end();
    },
    holdBack(isOn) {
      isHeldBack = isOn;
      passing.resolve();
      if (isOn) passing = Promise.withResolvers();
    },
    delayBy(ms) {
      delayMs = ms;
    },
    async close() {
      passing.resolve();
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
