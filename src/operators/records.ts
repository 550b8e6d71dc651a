import { z } from "zod";
import { OwnerId } from "../protocol/ids.ts";

/** Where a value goes in a request. */
const Place = z.enum(["path", "query", "header", "cookie"]);
export type Place = z.infer<typeof Place>;

/** One argument of a tool and where it goes. `as`: how the model calls it. */
const Parameter = z.strictObject({
  as: z.string(),
  name: z.string(),
  in: Place,
  /** How lists and objects are written there. */
  style: z.enum(["plain", "spaced", "piped", "deep"]),
  isExploded: z.boolean(),
});
export type Parameter = z.infer<typeof Parameter>;

/** `whole`: all of it is one argument of that name; otherwise each field is one, by how the model calls it. */
const Body = z.strictObject({
  kind: z.enum(["json", "form"]),
  whole: z.string().optional(),
  fields: z.record(z.string(), z.string()),
});

/** A value that is sent with every call, whatever the model says. */
const Fixed = z.strictObject({ name: z.string(), in: z.enum([...Place.options, "body"]), value: z.unknown() });
export type Fixed = z.infer<typeof Fixed>;

/** How a tool is called: made from an operation of an OpenAPI document, or from what was said by hand. */
export const Operation = z.strictObject({
  name: z.string(),
  summary: z.string(),
  description: z.string(),
  method: z.enum(["get", "put", "post", "delete", "options", "head", "patch"]),
  path: z.string(),
  parameters: z.array(Parameter),
  body: Body.optional(),
  /** The arguments as one JSON schema, with everything that it refers to. */
  schema: z.record(z.string(), z.unknown()),
});
export type Operation = z.infer<typeof Operation>;

/** What is stored of a tool. */
export const ToolBody = z.strictObject({
  operation: Operation,
  status: z.enum(["enabled", "disabled"]),
  useRule: z.string(),
  fixed: z.array(Fixed),
  extendInfo: z.unknown().optional(),
  /** How much of the room of its box it takes. */
  sizeBytes: z.number().optional(),
});
export type ToolBody = z.infer<typeof ToolBody>;

/** What may be told of a credential; what it is lies sealed elsewhere. */
const CredentialNote = z.strictObject({
  type: z.enum(["bearer", "basic", "api_key", "headers"]),
  names: z.array(z.string()),
});
export type CredentialNote = z.infer<typeof CredentialNote>;

/** What is stored of a box. */
export const BoxBody = z.strictObject({
  name: z.string(),
  description: z.string(),
  /** The address that all calls begin with. */
  server: z.string(),
  category: z.string(),
  status: z.enum(["unpublish", "published", "offline"]),
  credential: CredentialNote.optional(),
  /** Who besides the owner may use it. */
  permitted: z.strictObject({ all: z.boolean(), users: z.array(OwnerId) }),
  /** An admin made it: its host may lie in a private network. */
  isPrivateAllowed: z.boolean(),
  releasedAt: z.number().optional(),
});
export type BoxBody = z.infer<typeof BoxBody>;

type Stored = { readonly id: string; readonly owner: OwnerId; readonly createdAt: number; readonly updatedAt: number };
export type BoxTool = Stored & ToolBody & { readonly box: string; readonly sizeBytes: number };
export type Box = Stored & BoxBody;

/** The secrets of a request, as whoever registers a box sends them. */
export const Credential = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("bearer"), token: z.string() }),
  z.strictObject({ type: z.literal("basic"), username: z.string(), password: z.string() }),
  z.strictObject({ type: z.literal("api_key"), in: z.enum(["header", "query"]), name: z.string(), value: z.string() }),
  z.strictObject({ type: z.literal("headers"), headers: z.record(z.string(), z.string()) }),
]);
export type Credential = z.infer<typeof Credential>;

/** A credential as it lies sealed, with whom it was entered for; those that were sealed first do not say it. */
export const SealedCredential = z.union([z.strictObject({ origin: z.string(), credential: Credential }), Credential]);
