import { z } from "zod";

/** Both sides name it in their first frame; it changes with the meaning of any frame. */
export const protocolVersion = 1;

const id = z.string().max(64);
const agent = z.string().max(256);
const stream = z.enum(["stdout", "stderr"]);
const count = z.int().min(0);

/** What a guest may say. It is checked in full: nothing that runs inside is trusted, the supervisor not either. */
export const guestMessage = z.discriminatedUnion("type", [
  /** `marks`: of the folders it was asked for, null for one that it cannot see. */
  z.object({
    type: z.literal("hello"),
    version: z.int(),
    nonce: z.string().max(64),
    marks: z.array(z.string().max(64).nullable()).max(16).optional(),
  }),
  /** `first`: of an agent's Python, which has no names of earlier executions. */
  z.object({ type: z.literal("started"), id, first: z.boolean().optional() }),
  z.object({ type: z.literal("out"), id, stream }),
  /** With the end of what was left out as its payload. Once for each stream. */
  z.object({ type: z.literal("cut"), id, stream, bytes: count }),
  z.object({ type: z.literal("result"), id, kind: z.enum(["text", "json", "png"]), more: z.boolean() }),
  z.object({
    type: z.literal("exited"),
    id,
    code: z.int().min(0).max(255).nullable(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9+-]{1,12}$/)
      .nullable(),
    cpuMs: count,
    memoryPeakBytes: count,
    readBytes: count,
    writtenBytes: count,
  }),
  z.object({ type: z.literal("kernel_lost"), agent, id: id.nullable(), asked: z.boolean() }),
  z.object({ type: z.literal("turn_ended"), killed: count }),
  z.object({ type: z.literal("usage"), memoryBytes: count, processes: count, cpuMs: count }),
  z.object({ type: z.literal("pong"), n: z.int(), dropped: count }),
]);
export type GuestMessage = z.infer<typeof guestMessage>;

/** What we say to a guest. Event, input and most of long code come before their `exec` as parts: a frame is short. */
export type HostMessage =
  | {
      readonly type: "hello";
      readonly nonce: string;
      /** As programs inside see it. */
      readonly workspace: string;
      /** Folders inside: it answers which ones they are. */
      readonly folders: readonly string[];
      /** The command that runs JavaScript, when there is one inside. */
      readonly javascript: readonly string[] | null;
      readonly env: Readonly<Record<string, string>>;
      /** For each of the two streams of an execution. */
      readonly outputBytesMax: number;
      readonly fileBytesMax: number;
      /** For each process; null where something outside limits them all. */
      readonly memoryBytes: number | null;
      readonly processesMax: number | null;
    }
  | { readonly type: "part"; readonly id: string; readonly name: "code" | "event" | "stdin" }
  /** With the end of the code as its payload, which mostly is all of it. */
  | {
      readonly type: "exec";
      readonly id: string;
      readonly language: "python" | "bash" | "javascript";
      readonly agent: string;
      readonly folder: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly type: "interrupt" | "kill"; readonly id: string }
  | { readonly type: "reset"; readonly agent: string }
  /** Starts the Python of an agent before it is needed, with these modules already imported. */
  | { readonly type: "warm"; readonly agent: string; readonly modules: readonly string[] }
  /** `all`: also what executions that run have started. */
  | { readonly type: "end_turn"; readonly all: boolean }
  /** What all processes inside use; asked only where nobody outside sees it. */
  | { readonly type: "usage" }
  | { readonly type: "shutdown" }
  | { readonly type: "ping"; readonly n: number };
