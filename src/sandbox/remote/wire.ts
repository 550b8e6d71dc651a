import { z } from "zod";

/** Both sides name it; it changes with the meaning of anything below. */
export const wireVersion = 1;

/** What both sides send and await when nothing else is said. One that is silent for longer is gone, with its guest. */
export const pingEveryMs = 5000;
export const silenceMsMax = 20_000;

/** Where a host listens for its callers: one that asks what it can do, one that ends a guest, one stream for each guest. */
export const paths = { look: "/sandbox-host/look", end: "/sandbox-host/end", guest: "/sandbox-host/guest" } as const;
export const upgradeName = "agentyard-guest";
export const bodyBytesMax = 64 * 1024;

/** The streams of a guest's programs together, as `network/streams.ts` holds them. More is an attack on whoever reads it. */
export const networkBytesMax = 16 * 1024 * 1024;

const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const agent = z.string().max(256);
const text = z.string().max(4096);
const count = z.int().min(0);
const amount = z.number().min(0);
const question = z.int().min(0);
const stream = z.enum(["stdout", "stderr"]);
const language = z.enum(["python", "bash", "javascript"]);
const environment = z.record(z.string(), z.string());
const mark = z.string().regex(/^\d{1,20}:\d{1,20}$/);

/** From the shared folder on, each name by itself: there is no other way to say it. */
const path = z.array(z.string().min(1).max(255)).min(1).max(64);

/** Device and inode as the server has them: both, only the second, or neither mean something on the host. */
const likeness = z.enum(["device", "inode", "none"]);
export type Likeness = z.infer<typeof likeness>;

export const guestOrder = z.object({
  type: z.literal("open"),
  version: z.int(),
  id,
  limits: z.object({
    memoryBytes: count,
    processesMax: count,
    cpus: amount,
    fileBytesMax: count,
    tmpBytesMax: count,
    outputBytesMax: count,
  }),
  /** Of a conversation: never one that this machine's own programs have. */
  uid: z.int().min(1000).max(0xffff_fffe).optional(),
  env: environment,
  hasNetwork: z.boolean(),
  workspace: z
    .object({
      folder: path,
      inside: z.string().regex(/^\/workspace(\/[A-Za-z0-9._-]{1,128}){1,4}$/),
      writable: z.union([z.literal("all"), z.array(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)).max(8)]),
      skills: path.optional(),
      skillCopies: path.optional(),
      marks: z.record(z.string().regex(/^(\.|[a-z][a-z0-9-]{0,63})$/), mark),
    })
    .optional(),
  packages: path.optional(),
  likeness,
});
export type GuestOrder = z.infer<typeof guestOrder>;

/** What a server says on the stream of a guest, after its order. */
export const serverMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ping") }),
  /** Before their `run`, in pieces; the end of the code goes with it. */
  z.object({ type: z.literal("part"), id, name: z.enum(["code", "event", "stdin"]) }),
  z.object({
    type: z.literal("run"),
    id,
    language,
    agent,
    folder: text.optional(),
    env: environment.optional(),
    timeoutMs: z.number().positive(),
    has: z.array(z.enum(["event", "stdin"])).max(2),
  }),
  z.object({ type: z.enum(["interrupt", "kill", "cancel"]), id }),
  z.object({ type: z.literal("warm"), agent, modules: z.array(z.string().max(256)).max(64) }),
  z.object({ type: z.literal("reset"), question, agent }),
  z.object({ type: z.literal("end_turn"), question, all: z.boolean() }),
  z.object({ type: z.enum(["usage", "shared_files", "unnamed_bytes"]), question }),
  z.object({ type: z.literal("close"), why: text }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;

const load = { guests: count, guestsMax: count };

/** What a host says there. It is checked as a guest is: whoever took over a host has not taken over its servers. */
export const hostMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("pong") }),
  z.object({ type: z.literal("opened"), ...load }),
  z.object({
    type: z.literal("refused"),
    why: z.enum(["unavailable", "start_failed", "start_timeout", "full", "wrong_workspace", "version"]),
    said: text,
    ...load,
  }),
  z.object({ type: z.literal("started"), id, isPythonNew: z.literal(true).optional() }),
  z.object({ type: z.literal("output"), id, stream }),
  z.object({ type: z.literal("cut"), id, stream, bytes: count }),
  z.object({ type: z.literal("result"), id, kind: z.enum(["text", "json", "png"]), hasMore: z.boolean() }),
  z.object({
    type: z.literal("exited"),
    id,
    how: z.enum(["done", "timeout", "cancelled", "killed", "out_of_memory", "lost"]),
    code: z.int().min(0).max(255).optional(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9+-]{1,12}$/)
      .optional(),
    isPythonLost: z.literal(true).optional(),
    metrics: z.object({
      durationMs: amount,
      cpuMs: amount,
      memoryPeakBytes: amount,
      readBytes: amount,
      writtenBytes: amount,
    }),
    /** Whether anything can be run in the guest after it. */
    isOpen: z.boolean(),
  }),
  z.object({ type: z.literal("done"), question, count }),
  z.object({ type: z.literal("used"), question, memoryBytes: amount, processes: count, cpuMs: amount }),
  /** With inodes of eight bytes each; `isKnown`: somebody could tell. */
  z.object({ type: z.literal("shared"), question, isKnown: z.boolean(), hasMore: z.boolean() }),
  z.object({ type: z.literal("ended"), why: text }),
]);
export type HostMessage = z.infer<typeof hostMessage>;

/** What a server asks before all else, with a file of the shared folder that only it and whoever sees that folder know. */
export const lookQuestion = z.object({
  version: z.int(),
  isFresh: z.boolean(),
  token: z.object({ path, text: z.string().max(128) }),
});
export type LookQuestion = z.infer<typeof lookQuestion>;

const lack = z.object({
  name: z.string().max(64),
  about: z.object({ detail: text, sudo: z.string().max(64), install: text }).optional(),
});
export type ToldLack = z.infer<typeof lack>;

export const lookAnswer = z.object({
  version: z.int(),
  release: z.string().max(64),
  /** Of the folder with the token, as the host has it; or why it did not see it. */
  seen: z.union([z.object({ mark }), z.object({ why: z.string().max(64) })]),
  missing: z.array(lack).max(32),
  degraded: z.array(lack).max(32),
  ...load,
});
export type LookAnswer = z.infer<typeof lookAnswer>;

export const endQuestion = z.object({ id });
