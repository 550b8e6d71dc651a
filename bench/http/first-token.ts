import { type Figure, inTurns } from "../figure.ts";
import type { Order } from "./plain-servers.ts";
import type { Sizes } from "./sizes.ts";
import { chatBody, chatPath, post, type World } from "./world.ts";

/** How long until the first word is there: through us on three ways, and through a plain relay of the same model. */
export async function measureFirstToken(world: World, { tokenRuns }: Sizes): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const firstMs of [modelFirstMs, 0]) {
    const order: Order = { pieces: 20, bytes: 8, firstMs, paceMs: 0 };
    const messages = [{ role: "user", content: JSON.stringify(order) }];
    const openAi = { model: "general", stream: true, messages };
    const [relay, chat, program] = await inTurns(tokenRuns, [
      () => firstWord(`${world.relay}/`, { stream: true, messages }),
      () => firstWord(`${world.yard}${chatPath}`, chatBody(order)),
      () => firstWord(`${world.yard}/v1/chat/completions`, openAi),
    ]);
    const against = { what: "a plain relay", value: relay ?? Number.NaN };
    const said = firstMs === 0 ? "a model that answers at once" : `a model that takes ${firstMs} ms`;
    // A model that answers at once does not exist: there it is shown what we add, and nothing is judged.
    const atMost = firstMs === 0 ? undefined : ratioMax;
    figures.push(
      { what: `first word of a chat, ${said}`, unit: "ms", value: chat ?? Number.NaN, against, atMost },
      { what: `first word over /v1, ${said}`, unit: "ms", value: program ?? Number.NaN, against, atMost },
    );
  }
  return figures;
}

const modelFirstMs = 200;
const ratioMax = 1.3;

async function firstWord(url: string, body: object): Promise<number> {
  const startedAt = performance.now();
  const answer = await post(url, body);
  let ms: number | undefined;
  let tail = "";
  for await (const chunk of answer) {
    tail = tail.slice(-16) + String(chunk);
    if (ms === undefined && tail.includes("xxxxxxxx")) ms = performance.now() - startedAt;
  }
  if (ms === undefined) throw new Error(`${url} answered ${answer.statusCode} without a word: ${tail}`);
  return ms;
}
