import { z } from "zod";
import type { FailureCode } from "../protocol/failure.ts";
import type { Route } from "../protocol/route.ts";
import { protocolVersion, routes } from "../protocol/routes.ts";
import { wordsFor } from "../words/words.ts";
import { exampleOf, parameterExamples } from "./openapi-examples.ts";
import { answerHeaders, headersOf, parameters } from "./openapi-headers.ts";
import { errorContent, errorSchemas, type Json, openSchemas, type Schemas } from "./openapi-schemas.ts";
import { statusesOf } from "./status.ts";

/** Where the document is; the second path is the one it had first. */
export const documentPaths = ["/openapi.json", "/api/v1/openapi.json"] as const;
/** What we tell about ourselves to everybody: the document and the pages made from it. */
export const descriptionPaths: readonly string[] = [...documentPaths, "/", "/docs", "/docs/page.js", "/docs/page.css"];

export type DescribedAt = {
  readonly version: string;
  /** The path below which the reader reaches us: empty, or `/yard`. */
  readonly prefix?: string;
};

/** The route table as an OpenAPI 3.1 document. */
export function describeApi({ version, prefix = "" }: DescribedAt): Json {
  const schemas = openSchemas(errorSchemas);
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of rowsOf()) {
    paths[row.path] = { ...paths[row.path], [row.route.method.toLowerCase()]: describeRoute(row, schemas) };
  }
  paths[documentPaths[0]] = { get: describeDocument() };
  return {
    openapi: "3.1.0",
    info: {
      title: "AgentYard",
      version,
      description: wordsFor("en").docs.about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      "x-protocol": protocolVersion,
    },
    servers: [{ url: prefix === "" ? "/" : prefix }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { schemas: schemas.all, parameters, securitySchemes },
  };
}

type Row = {
  /** The operation's name: the route's own, or for another path of it that and more. */
  readonly name: string;
  readonly routeName: string;
  readonly path: string;
  readonly route: Route;
  /** The operation that this path is another name for. */
  readonly sameAs?: string;
};

/** A row whose path has a parameter of a few words is described once for each of them, and by its internal name. */
function rowsOf(): Row[] {
  return Object.entries(routes).flatMap(([routeName, route]: [string, Route]) => {
    const [parameter, words] = wordsIn(route);
    if (parameter === undefined) return [{ name: routeName, routeName, path: route.path, route }];
    const named = words.map((word, index) => ({
      ...{ name: index === 0 ? routeName : `${routeName}.${word}`, routeName, route },
      path: route.path.replace(`{${parameter}}`, word),
    }));
    return [...named, ...named.flatMap((row) => internalOf(row))];
  });
}

function internalOf(row: Row): Row[] {
  const path = row.path.replace(/^(\/api\/agent-(?:app|factory))(?=\/v1\/)/, "$1/internal");
  return path === row.path ? [] : [{ ...row, name: `${row.name}.internal`, path, sameAs: row.name }];
}

function wordsIn({ patterns = {} }: Route): readonly [parameter: string | undefined, words: readonly string[]] {
  const found = Object.entries(patterns).find(([, pattern]) => /^[\w-]+(\|[\w-]+)+$/.test(pattern));
  return found === undefined ? [undefined, []] : [found[0], found[1].split("|")];
}

function describeRoute({ name, routeName, path, route, sameAs }: Row, schemas: Schemas): Json {
  const own = [
    ...describeParameters("path", route).filter(({ name: parameter }) => path.includes(`{${String(parameter)}}`)),
    ...describeParameters("query", route),
    ...headersOf(routeName, route),
  ];
  const headers = answerHeaders(routeName);
  return {
    operationId: name,
    summary: route.summary,
    tags: [tagOf(route)],
    ...(own.length > 0 && { parameters: own }),
    ...describeBody(routeName, route, schemas),
    responses: {
      [route.status]: {
        description: route.summary,
        ...(headers !== undefined && { headers }),
        ...describeAnswer(routeName, route, schemas),
      },
      ...(route.givesBytes &&
        route.makesFile === undefined && { 206: { description: "The range that was asked for.", content: binary } }),
      ...describeFailures(route),
      default: { description: "Any other failure, told by its code.", content: errorContent(route) },
    },
    security: securityOf(route),
    "x-route": routeName,
    "x-scope": route.scope,
    ...(sameAs !== undefined && { "x-same-as": sameAs }),
  };
}

/** This document has no row in the table: it is made from it. */
function describeDocument(): Json {
  const about = { scope: "open", failures: [] } as const;
  return {
    operationId: "getOpenApi",
    summary: "This document.",
    tags: ["server"],
    responses: {
      200: { description: "This document.", content: { "application/json": { schema: { type: "object" } } } },
      ...describeFailures(about),
      default: { description: "Any other failure, told by its code.", content: errorContent({}) },
    },
    security: [],
    "x-route": "openApi",
    "x-scope": "open",
  };
}

const bytes = { schema: { type: "string", format: "binary" } };
const binary = { "application/octet-stream": bytes };
const form = {
  "multipart/form-data": {
    schema: {
      type: "object",
      required: ["file"],
      properties: {
        file: { type: "string", format: "binary" },
        conversation_id: { type: "string" },
        subdir: { type: "string" },
      },
    },
  },
};

function describeBody(name: string, route: Route, schemas: Schemas): Json {
  if (route.takesBytes) return { requestBody: { required: true, content: binary } };
  if (route.takesForm) return { requestBody: { required: true, content: form } };
  if (isEmpty(route.body)) return {};
  const example = exampleOf(name);
  const schema = place(route, schemas)(`${name}.body`, route.body);
  const required = !route.body.safeParse({}).success;
  const content = { "application/json": { schema, ...(example !== undefined && { example }) } };
  return { requestBody: { ...(required && { required }), content } };
}

function describeAnswer(name: string, route: Route, schemas: Schemas): Json {
  if (route.status === 204) return {};
  if (route.makesFile !== undefined) return { content: { [route.makesFile]: bytes } };
  if (route.givesBytes) return { content: binary };
  if (route.givesText) return { content: { "text/plain": { schema: { type: "string" } } } };
  const schema = place(route, schemas)(`${name}.answer`, route.answer);
  if (route.streams) return { content: { "text/event-stream": { schema } } };
  return { content: { "application/json": { schema }, ...(route.mayStream && events) } };
}

/** What stands under several paths is written down once. */
function place(route: Route, { take, share }: Schemas): Schemas["take"] {
  return wordsIn(route)[0] === undefined ? take : share;
}

const events = {
  "text/event-stream": {
    schema: { type: "string", description: "Server-sent events, where the request asks for them." },
  },
};

const securitySchemes = {
  key: { type: "http", scheme: "bearer", description: "An API key: `agentyard user key add NAME`." },
  keyHeader: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key in a header of its own." },
  cookie: { type: "apiKey", in: "cookie", name: "agentyard", description: "A browser that signed in at /sign-in." },
};

function securityOf({ scope }: Route): Json[] {
  if (scope === "open") return [];
  const scopes = scope === "any" ? [] : [scope];
  return Object.keys(securitySchemes).map((scheme) => ({ [scheme]: scopes }));
}

type DoorRoute = Pick<Route, "scope" | "creates" | "streams" | "mayStream">;

/** What the door may say to every call, whatever its route. */
function doorFailures({ scope, creates, streams, mayStream }: DoorRoute): FailureCode[] {
  return [
    "bad_request",
    "forbidden_origin",
    "rate_limited",
    ...(scope === "open" ? [] : (["sign_in_required", "proxy_unnamed"] as const)),
    ...(scope === "open" || scope === "any" ? [] : (["scope_missing"] as const)),
    ...(streams || mayStream ? (["streams_full"] as const) : []),
    ...(creates ? (["key_used_otherwise", "key_in_use", "key_unfit"] as const) : []),
  ];
}

/** One entry per status, because several codes share one. */
function describeFailures(route: DoorRoute & Pick<Route, "failures" | "dialect">): Json {
  const codes = [...new Set([...route.failures, ...doorFailures(route)])];
  const byStatus = Map.groupBy(
    codes.flatMap((code) => statusesOf(code).map((status) => ({ code, status }))),
    ({ status }) => status,
  );
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => [
      status,
      {
        description: sharing.map(({ code }) => code).join(", "),
        ...((status === 429 || status === 503 || status === 507) && { headers: retryAfter }),
        content: errorContent(route),
      },
    ]),
  );
}

const retryAfter = {
  "Retry-After": { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
};

function describeParameters(place: "path" | "query", route: Route): Json[] {
  const schema = place === "path" ? route.params : route.query;
  // As output, so that a coerced number or boolean is described as what it means and not as a string.
  const { properties = {} } = z.toJSONSchema(schema, { io: "output", unrepresentable: "any" });
  const { required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(place === "path" && hasSlashes(route, name) && { description: "May hold slashes." }),
    ...(place === "path" && name in parameterExamples && { example: parameterExamples[name] }),
    schema: property,
  }));
}

function hasSlashes({ patterns = {} }: Route, parameter: string): boolean {
  const pattern = patterns[parameter];
  return pattern !== undefined && new RegExp(`^(?:${pattern})$`).test("a/b");
}

function isEmpty(schema: z.ZodType): boolean {
  return Object.keys(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }).properties ?? {}).length === 0;
}

const tags = [
  "chat",
  "openai",
  "conversations",
  "files",
  "decisions",
  "sandbox",
  "operators",
  "users",
  "server",
] as const;

/** Which part of the house a route belongs to, by its path. */
function tagOf({ path, dialect }: Route): (typeof tags)[number] {
  if (dialect !== undefined) return dialect;
  if (/\/files\b|\/workspaces\b/.test(path)) return "files";
  if (/\/decisions\b|\/rules\b/.test(path)) return "decisions";
  if (/\/conversations\b|\/memory\b|\/events\b|\/stream\b/.test(path) && !path.includes("/executions"))
    return "conversations";
  if (/\/sessions\b|\/executions\b|\/templates\b/.test(path)) return "sandbox";
  if (/\/users\b|\/me\b|\/sign-/.test(path)) return "users";
  return "server";
}
