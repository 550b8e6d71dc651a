import { z } from "zod";
import type { FailureCode } from "../protocol/failure.ts";
import { Problem } from "../protocol/resources.ts";
import type { Route } from "../protocol/route.ts";
import { protocolVersion, routes } from "../protocol/routes.ts";
import { statusOf } from "./status.ts";

export const descriptionPath = "/api/v1/openapi.json";

type Json = Readonly<Record<string, unknown>>;

/** The route table as an OpenAPI 3.1 document. */
export function describeApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(name, route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "AgentYard", version, "x-protocol": protocolVersion },
    paths,
    components: { schemas: { Problem: jsonSchema(Problem) } },
  };
}

function describeRoute(name: string, route: Route): Json {
  const parameters = [
    ...describeParameters("path", route.params),
    ...describeParameters("query", route.query),
    ...(route.givesBytes ? [rangeHeader] : []),
  ];
  return {
    operationId: name,
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(!isEmpty(route.body) && {
      requestBody: { content: { "application/json": { schema: jsonSchema(route.body) } } },
    }),
    ...(route.takesBytes && { requestBody: { required: true, content: binary } }),
    ...(route.takesForm && { requestBody: { required: true, content: form } }),
    responses: {
      [route.status]: { description: route.summary, ...describeAnswer(route) },
      ...(route.givesBytes && { 206: { description: "The range that was asked for.", content: binary } }),
      ...describeFailures(route.failures),
      default: { description: "Any other failure, told by its code.", ...problemContent },
    },
  };
}

const binary = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
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
const rangeHeader = { name: "range", in: "header", required: false, schema: { type: "string" } };

function describeAnswer(route: Route): Json {
  if (route.status === 204) return {};
  if (route.givesBytes) return { content: binary };
  if (route.streams) return { content: { "text/event-stream": { schema: jsonSchema(route.answer) } } };
  return { content: { "application/json": { schema: jsonSchema(route.answer) } } };
}

/** One entry per status, because several codes share one. */
function describeFailures(codes: readonly FailureCode[]): Json {
  const byStatus = Map.groupBy(codes, (code) => statusOf[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => [status, { description: sharing.join(", "), ...problemContent }]),
  );
}

const problemContent = {
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
};

function describeParameters(place: "path" | "query", schema: z.ZodType): Json[] {
  // As output, so that a coerced number or boolean is described as what it means and not as a string.
  const { properties = {} } = z.toJSONSchema(schema, { io: "output" });
  const { required = [] } = z.toJSONSchema(schema, { io: "input" });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }));
}

function jsonSchema(schema: z.ZodType): Json {
  // As input, so that objects stay open: a later version may add a field.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

function isEmpty(schema: z.ZodType): boolean {
  return Object.keys(z.toJSONSchema(schema, { io: "input" }).properties ?? {}).length === 0;
}
