import type { Wire } from "./wire.ts";
import { anthropicWire } from "./wire-anthropic.ts";
import { chatWire } from "./wire-chat.ts";

/** All formats in which models are asked: what holds for one holds for each. */
export const wires: readonly Wire[] = [chatWire, anthropicWire];
