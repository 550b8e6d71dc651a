import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";

// The API server of a cluster that has nothing behind it: each answer is the test's own.

export type PlayedApi = {
  /** Where it is, and who we are there. */
  readonly address: { readonly server: string; readonly tokenFile: string; readonly caFile: undefined };
  /** `DELETE /api/v1/…`, in the order in which they came. */
  readonly asked: string[];
};

type Answers = {
  answer?(request: IncomingMessage, response: ServerResponse, body: string): void;
  upgrade?(request: IncomingMessage, socket: Duplex): void;
};

export async function playApi(t: TestContext, { answer, upgrade }: Answers): Promise<PlayedApi> {
  const asked: string[] = [];
  const door = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    let body = "";
    request.on("data", (bytes: Buffer) => (body += bytes.toString("utf8")));
    request.once("end", () => answer?.(request, response, body));
  });
  const upgraded: Duplex[] = [];
  door.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
    upgraded.push(socket);
    socket.on("error", () => {});
    upgrade?.(request, socket);
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const own = mkdtempSync(join(tmpdir(), "agentyard-account-"));
  const tokenFile = join(own, "token");
  writeFileSync(tokenFile, "a-token\n");
  t.after(() => {
    for (const socket of upgraded) socket.destroy();
    door.closeAllConnections();
    door.close();
    rmSync(own, { recursive: true, force: true });
  });
  const bound = door.address();
  const server = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
  return { asked, address: { server, tokenFile, caFile: undefined } };
}

/** A pod as a cluster tells of it. */
export function podOf(guest: string, { status = {}, labels = {}, metadata = {} } = {}) {
  const told = { "agentyard.mark": "yard", "agentyard.server": "one", "agentyard.guest": guest, ...labels };
  return { metadata: { name: `agentyard-${guest}`, labels: told, ...metadata }, status };
}
