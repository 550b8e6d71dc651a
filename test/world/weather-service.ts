import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type Asked = {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** A service of somebody else: it wants a token, keeps what it was asked, and is rude enough to repeat the token. */
export async function weatherService(token: string) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { authorization = "" } = request.headers;
      asked.push({
        line: `${request.method} ${request.url}`,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      const isKnown = authorization === `Bearer ${token}`;
      const url = new URL(request.url ?? "", "http://x");
      const city = decodeURIComponent(url.pathname.split("/").at(-1) ?? "");
      response.setHeader("content-type", "application/json");
      response.setHeader("x-echo", authorization);
      response.setHeader("set-cookie", `session=${token}`);
      if (!isKnown) response.writeHead(401).end(JSON.stringify({ error: `unknown: ${authorization}` }));
      else if (url.pathname.startsWith("/v1/broken"))
        response.writeHead(500).end(JSON.stringify({ seen: authorization }));
      else
        response.end(JSON.stringify({ city, days: url.searchParams.get("days"), sky: "clear", seen: authorization }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  return {
    /** `document`: its OpenAPI document, in YAML. */
    ...{ url, asked, document: documentOf(url) },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function documentOf(url: string): string {
  return `openapi: 3.0.3
info: { title: Weather, description: Forecasts for cities. }
servers:
  - url: ${url}
paths:
  /forecast/{city}:
    get:
      operationId: getForecast
      summary: The forecast of a city
      parameters:
        - { name: city, in: path, required: true, schema: { type: string } }
        - { name: days, in: query, schema: { type: integer, default: 1 } }
  /broken/{city}:
    get:
      operationId: getBroken
      parameters:
        - { name: city, in: path, required: true, schema: { type: string } }
  /reports:
    post:
      operationId: sendReport
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Report' }
  /upload:
    post:
      operationId: uploadPicture
      requestBody:
        required: true
        content: { multipart/form-data: { schema: { type: object } } }
components:
  schemas:
    Report:
      type: object
      required: [city]
      properties: { city: { type: string }, note: { type: string } }
`;
}
