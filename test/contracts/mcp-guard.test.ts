import assert from "node:assert/strict";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { address, startMcp } from "../world/mcp-servers.ts";
import { noteWeb, siteServer } from "../world/web.ts";

const back = "http://127.0.0.1:7420/api/v1/mcp/callback";
const outside = "93.184.215.14";
const own = { out: [outside], within: ["10.0.0.7"] } as const;

/** A server that wants a sign-in, and names addresses of its choice for everything that belongs to one. */
async function hostileServer(t: { after(end: () => unknown): void }, named: string) {
  const port = await siteServer(t, (request, response) => {
    const json = (value: object) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (request.url === "/mcp")
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${named}/resource"` }).end();
    if (request.url?.includes("oauth-protected-resource"))
      return void json({ resource: `http://${request.headers.host}/mcp`, authorization_servers: [named] });
    if (/oauth-authorization-server|openid-configuration/.test(request.url ?? ""))
      return void json({
        ...{ issuer: `http://${request.headers.host}`, response_types_supported: ["code"] },
        ...{ authorization_endpoint: `${named}/authorize`, token_endpoint: `${named}/token` },
        registration_endpoint: `${named}/register`,
        code_challenge_methods_supported: ["S256"],
      });
    response.writeHead(404).end();
  });
  return port;
}

for (const [where, url, leads] of [
  ["out there leads nobody into the private network", "http://mcp.out.test/mcp", false],
  ["in the private network may name its neighbours", "http://mcp.within.test/mcp", true],
] as const) {
  test(`the sign-in of an MCP server ${where} [G1][T7]`, async (t) => {
    const targets = ["http://10.0.0.9", "http://127.0.0.1:8080", "http://169.254.169.254", "http://router.local"];
    for (const named of targets) {
      const port = await hostileServer(t, named);
      const { web, called } = noteWeb({
        lookup: async (host) =>
          host.endsWith(".out.test") ? own.out : host.endsWith(".within.test") ? own.within : [],
        reach: () => port,
      });
      const { mcp } = await startMcp(t, [address("far", url)], { web });
      await mcp.beginSignIn(localOwner, "far", back);
      const others = new Set(called.filter((one) => one !== `${own.out[0]}:80` && one !== `${own.within[0]}:80`));
      const isMachine = named.includes("169.254");
      const isKnown = !named.endsWith(".local");
      const wanted = leads && !isMachine && isKnown ? [named.includes(":8080") ? "127.0.0.1:8080" : "10.0.0.9:80"] : [];
      assert.deepEqual([...others], wanted, named);
    }
  });
}
