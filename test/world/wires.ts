import type { Wire } from "./wire.ts";
import { anthropicWire } from "./wire-anthropic.ts";
import { chatWire } from "./wire-chat.ts";
import { googleWire } from "./wire-google.ts";
import { responsesWire } from "./wire-responses.ts";

/** All formats in which models are asked: what holds for one holds for each. */
export const wires: readonly Wire[] = [chatWire, responsesWire, anthropicWire, googleWire];
