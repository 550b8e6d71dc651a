import { once } from "node:events";
import { connect } from "node:net";
import { parentPort, Worker, workerData } from "node:worker_threads";

// Readers of a stream that take a byte a second, apart from the process whose memory is measured.

export type SlowReaders = {
  /** Half of them hang up, the others vanish. */
  leave(): void;
  close(): Promise<unknown>;
};

/** Resolves when each has heard something. */
export async function startSlowReaders(count: number, url: string): Promise<SlowReaders> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { count, url } });
  await once(worker, "message");
  return { leave: () => worker.postMessage("leave"), close: () => worker.terminate() };
}

if (parentPort !== null && typeof workerData?.url === "string") {
  const { count, url }: { count: number; url: string } = workerData;
  const { hostname, port, pathname, search } = new URL(url);
  // The types of Node do not know it here.
  const little = { highWaterMark: 1 };
  const sockets = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port), ...little }));
  for (const socket of sockets) {
    socket.on("error", () => {});
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  }
  await Promise.all(sockets.map((socket) => once(socket, "readable")));
  const timer = setInterval(() => {
    for (const socket of sockets) socket.read(1);
  }, 1_000);
  parentPort.on("message", () => {
    clearInterval(timer);
    for (const [index, socket] of sockets.entries()) index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy();
  });
  parentPort.postMessage("reading");
}
