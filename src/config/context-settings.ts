import { number, toggle, wholeNumber } from "./kinds.ts";
import type { Setting } from "./settings.ts";

const share = number(0.1, 0.99);

/** The block `context`: how full a model's window may become, and what stays when room is made. */
export const contextSettings = {
  messagesMax: {
    variables: ["MAX_MESSAGE_HISTORY"],
    key: "context.messages_max",
    kind: wholeNumber(10, 500),
    default: 150,
  },
  isContextManaged: {
    variables: ["CONTEXT_MANAGEMENT_ENABLED"],
    key: "context.management_enabled",
    kind: toggle,
    default: true,
  },
  warningShare: {
    variables: ["CONTEXT_WARNING_THRESHOLD"],
    key: "context.warning_threshold",
    kind: share,
    default: 0.75,
  },
  highShare: { variables: ["CONTEXT_HIGH_THRESHOLD"], key: "context.high_threshold", kind: share, default: 0.85 },
  criticalShare: {
    variables: ["CONTEXT_CRITICAL_THRESHOLD"],
    key: "context.critical_threshold",
    kind: share,
    default: 0.95,
  },
  smallShare: { variables: ["CONTEXT_SMALL_THRESHOLD"], key: "context.small_threshold", kind: share, default: 0.6 },
  keptShare: {
    variables: ["CONTEXT_KEEP_RECENT_RATIO"],
    key: "context.keep_recent_ratio",
    kind: number(0.01, 0.5),
    default: 0.15,
  },
  keptMessages: {
    variables: ["CONTEXT_KEEP_RECENT_MESSAGES"],
    key: "context.keep_recent_messages",
    kind: wholeNumber(1, 100),
    default: 10,
  },
  summaryTimeoutSeconds: {
    variables: ["CONTEXT_SUMMARY_TIMEOUT_SECONDS"],
    key: "context.summary_timeout_seconds",
    kind: number(1, 3_600),
    default: 180,
  },
} as const satisfies Record<string, Setting<unknown>>;
