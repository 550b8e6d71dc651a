import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";

type Hooks = { after(action: () => void): void };

/** A server of this machine; its port. */
export async function serveHttp(t: Hooks, listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

export type IndexPackage = {
  readonly name: string;
  readonly version: string;
  /** Of its one module, which has its name. */
  readonly code: string;
  readonly needs?: readonly string[];
};

/** A package index as pip knows it, with wheels made on the spot; `asked` are the paths that were asked for. */
export async function servePackages(
  t: Hooks,
  packages: readonly IndexPackage[],
): Promise<{ readonly port: number; readonly asked: string[] }> {
  const files = new Map(packages.map((one) => [`${one.name}-${one.version}-py3-none-any.whl`, wheelOf(one)]));
  const asked: string[] = [];
  const port = await serveHttp(t, (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const name = /^\/simple\/([^/]+)\/$/.exec(path)?.[1];
    const wheel = files.get(path.replace(/^\/files\//, ""));
    if (wheel !== undefined) return response.end(wheel);
    const links = [...files.keys()].filter((file) => file.startsWith(`${name}-`));
    if (links.length === 0) return response.writeHead(404).end();
    const page = links.map((file) => `<a href="/files/${file}">${file}</a>`).join("\n");
    return response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!DOCTYPE html><html><body>${page}</body></html>`);
  });
  return { port, asked };
}

/** A wheel is a zip file; Python has what it takes to make one. */
function wheelOf({ name, version, code, needs = [] }: IndexPackage): Buffer {
  const info = `${name}-${version}.dist-info`;
  const lines = [`Metadata-Version: 2.1`, `Name: ${name}`, `Version: ${version}`];
  const files = {
    [`${name}.py`]: code,
    [`${info}/METADATA`]: [...lines, ...needs.map((need) => `Requires-Dist: ${need}`), ""].join("\n"),
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: [`${name}.py`, `${info}/METADATA`, `${info}/WHEEL`, `${info}/RECORD`]
      .map((path) => `${path},,\n`)
      .join(""),
  };
  const script = `
import io, json, sys, zipfile
made = io.BytesIO()
with zipfile.ZipFile(made, "w") as archive:
    for name, text in json.load(sys.stdin).items():
        archive.writestr(name, text)
sys.stdout.buffer.write(made.getvalue())
`;
  const { stdout } = spawnSync("/usr/bin/python3", ["-I", "-c", script], { input: JSON.stringify(files) });
  return stdout;
}

/** A registry as npm knows it, with one package of one file. */
export async function serveRegistry(t: Hooks, { name, version, code }: IndexPackage): Promise<number> {
  const files = {
    "package/package.json": JSON.stringify({ name, version, main: "index.js" }),
    "package/index.js": code,
  };
  const script = `
import io, json, sys, tarfile
made = io.BytesIO()
with tarfile.open(fileobj=made, mode="w:gz") as archive:
    for name, text in json.load(sys.stdin).items():
        info = tarfile.TarInfo(name)
        info.size = len(text.encode())
        archive.addfile(info, io.BytesIO(text.encode()))
sys.stdout.buffer.write(made.getvalue())
`;
  const { stdout } = spawnSync("/usr/bin/python3", ["-I", "-c", script], { input: JSON.stringify(files) });
  return serveHttp(t, (request, response) => {
    if (request.url?.endsWith(".tgz")) return response.end(stdout);
    if (request.url !== `/${name.replace("/", "%2f")}`) return response.writeHead(404).end("{}");
    const dist = { tarball: `http://${request.headers.host}/file.tgz` };
    const versions = { [version]: { name, version, dist } };
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
}
