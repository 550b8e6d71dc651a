/** What a variant of the bench is: one way of running the scripted work, with its data in the given folder. */

export type World = { modelUrl: string; folder: string };

type Conversation = {
  question: string;
  steps: number;
  /** Called once per tool step, as soon as the step is stored. */
  stepDone: () => void;
};

export type Variant = {
  /** Runs a conversation from the question to the model's last answer, and returns that answer. */
  run: (conversation: Conversation) => Promise<string>;
  /** Bytes of event bodies in the log so far; only for a variant that has a log. */
  logPayloadBytes?: () => number;
  close: () => Promise<void> | void;
};

export type OpenVariant = (world: World) => Promise<Variant> | Variant;

export const variantFiles = {
  bare: "./bare.ts",
  agentyard: "./agentyard.ts",
  pi: "../peers/pi.ts",
  "ai-sdk": "../peers/ai-sdk.ts",
  langgraph: "../peers/langgraph.ts",
} as const;

export type VariantName = keyof typeof variantFiles;
