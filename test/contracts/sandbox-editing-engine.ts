import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { engineSocket } from "./sandbox-on-docker.ts";

/** A way to the real engine that changes what containers are asked for: the product has no switch to leave a wall out. */
export async function startEditingEngine(
  t: { after(action: () => void): void },
  folder: string,
  edit: (hostConfig: Record<string, unknown>) => void,
): Promise<string> {
  const handOn = async (incoming: IncomingMessage, answer: ServerResponse) => {
    const body = await textOf(incoming);
    const sent = incoming.url?.includes("/containers/create") ? edited(body, edit) : body;
    const headers = { ...incoming.headers, "content-length": Buffer.byteLength(sent) };
    const { method, url } = incoming;
    const onward = request({ socketPath: engineSocket, path: url, method, headers, agent: false }, (answered) => {
      answer.writeHead(answered.statusCode ?? 0, answered.headers);
      answered.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    onward.end(sent);
  };
  const server = createServer((incoming, answer) => void handOn(incoming, answer));
  server.on("upgrade", (incoming, socket) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ socketPath: engineSocket, path, method, headers, agent: false });
    onward.on("upgrade", (_, engine, head) => {
      socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
      socket.write(head);
      engine.pipe(socket).pipe(engine);
      for (const end of [engine, socket]) end.on("error", () => {});
    });
    onward.end();
  });
  const path = join(folder, "engine.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return path;
}

function edited(body: string, edit: (hostConfig: Record<string, unknown>) => void): string {
  const wanted = JSON.parse(body);
  edit(wanted.HostConfig);
  return JSON.stringify(wanted);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
