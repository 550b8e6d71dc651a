import { choice } from "./first-kinds.ts";
import { baseUrl, key, text, wholeNumber } from "./kinds.ts";
import type { Setting } from "./settings.ts";

/** How documents are searched. The model for embeddings fills no slot: no agent is answered by it. */
export const documentSettings = {
  segmentation: {
    variables: ["AGENTYARD_SEGMENTATION"],
    key: "documents.segmentation",
    kind: choice(["bigram", "jieba"]),
    default: "bigram",
    isFixed: true,
  },
  embeddingCharactersPerDay: {
    variables: ["AGENTYARD_EMBEDDING_CHARACTERS_PER_DAY"],
    key: "documents.embedding_characters_per_day",
    kind: wholeNumber(0, 1_000_000_000_000),
    default: 20_000_000,
    isFixed: true,
  },
  embeddingKey: { variables: ["MODEL_EMBEDDING_API_KEY"], kind: key, isSecret: true, isFixed: true },
  embeddingUrl: { variables: ["MODEL_EMBEDDING_BASE_URL"], kind: baseUrl, isFixed: true },
  embeddingModel: { variables: ["MODEL_EMBEDDING_ID"], kind: text, isFixed: true },
  embeddingDimensions: { variables: ["MODEL_EMBEDDING_DIMENSIONS"], kind: wholeNumber(2, 8_192), isFixed: true },
} as const satisfies Record<string, Setting<unknown>>;

/** How the variables of this model begin. */
export const embeddingPrefix = "MODEL_EMBEDDING_";
