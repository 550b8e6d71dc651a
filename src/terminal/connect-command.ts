import type { CallAnswer } from "../client/client.ts";
import { Slot } from "../protocol/message.ts";
import { modelProviders } from "../protocol/model-providers.ts";
import { type Chat, sayFailure } from "./chat-state.ts";
import type { ReadOptions } from "./console.ts";
import { exitCodes } from "./exit-codes.ts";
import { connectLines } from "./model-view.ts";
import { safeLine } from "./safe-text.ts";

type Entered = CallAnswer<"getModel">;
type Tested = CallAnswer<"testModel">;
type Place = { readonly baseUrl: string; readonly apiKey?: string };
/** The person gives up, or leaves. */
type Stop = { readonly stop: "given_up" | "end" };

const offeredMax = 20;
const addressCharactersMax = 2_000;
const nameCharactersMax = 200;

/**
 * `/connect [SLOT]`: provider, address, key and name are asked, tried in place and kept by the server, as the browser's
 * settings do it. Where keys cannot be typed unseen it tells how a model is connected otherwise.
 */
export async function connect(chat: Chat, argument: string): Promise<number | undefined> {
  const { client, console, words } = chat;
  const { connect: texts } = words.terminal.commands;
  const slot = Slot.safeParse(argument === "" ? "base" : argument);
  const known = Slot.options.join(", ");
  if (!slot.success) return void console.say(texts.unknownSlot({ slot: safeLine(argument, 40), known }));
  if (!console.isInteractive) return tellHow(chat);
  const now = await client.call("getModel", { params: { slot: slot.data } });
  if (!now.ok) {
    sayFailure(chat, now.failure);
    return tellHow(chat);
  }
  if (now.value.from === "settings") {
    console.say(texts.fixed({ slot: slot.data }));
    return tellHow(chat);
  }
  const stopped = await enter(chat, slot.data, now.value);
  if (stopped === undefined) return undefined;
  console.say(texts.givenUp());
  return stopped.stop === "end" ? exitCodes.done : undefined;
}

/** Where a model is entered by hand, with what was found on this machine. */
async function tellHow(chat: Chat): Promise<undefined> {
  const { client, console, words } = chat;
  const { connect: texts } = words.terminal.commands;
  const listed = await client.call("listModels", { query: { detect: true } });
  if (!listed.ok) return sayFailure(chat, listed.failure);
  const base = listed.value.slots.find(({ slot }) => slot === "base");
  if (base !== undefined && !base.isDemo)
    console.say(texts.connected({ id: safeLine(base.id, 60), server: safeLine(base.server, 60) }));
  for (const line of connectLines(listed.value, words, { isAll: true })) console.say(line);
  console.say(texts.test());
}

async function enter(chat: Chat, slot: Slot, now: Entered): Promise<Stop | undefined> {
  const chosen = await chooseProvider(chat, slot);
  if ("stop" in chosen) return chosen;
  let { baseUrl } = chosen;
  for (;;) {
    const place = await askPlace(chat, baseUrl, now);
    if ("stop" in place) return place;
    ({ baseUrl } = place);
    const reached = await tryOut(chat, slot, place);
    if ("stop" in reached) return reached;
    if (reached.failure !== null) continue;
    const model = await chooseModel(chat, { slot, place, reached, now });
    if ("stop" in model) return model;
    const entered = await chat.client.call("enterModel", { params: { slot }, body: { ...place, model: model.id } });
    if (!entered.ok) return sayFailure(chat, entered.failure);
    const { id, server, hasKey } = entered.value;
    const { connect: texts } = chat.words.terminal.commands;
    chat.console.say(texts.entered({ id: safeLine(id, 60), server: safeLine(server, 60), slot }));
    if (hasKey) chat.console.say(texts.keyKept());
    return undefined;
  }
}

/** Servers that answer on this machine, then those that many people have a key for; or an address. */
async function chooseProvider({ client, ...chat }: Chat, slot: Slot): Promise<{ readonly baseUrl: string } | Stop> {
  const { console, words, style } = chat;
  const { connect: texts } = words.terminal.commands;
  const listed = await client.call("listModels", { query: { detect: true } });
  const found = listed.ok ? listed.value.found.map(({ kind, baseUrl }) => [kind, baseUrl, true] as const) : [];
  const others = modelProviders
    .filter(([, url]) => !found.some(([, known]) => known === url))
    .map(([name, url]) => [name, url, false] as const);
  const all = [...found, ...others];
  console.say(texts.title({ slot }));
  for (const [index, [name, url, isHere]] of all.entries()) {
    const note = isHere ? ` ${texts.answersHere()}` : "";
    const number = String(index + 1).padStart(4);
    console.say(`${number}  ${safeLine(name, 30).padEnd(18)} ${style.dim(safeLine(url, 80))}${note}`);
  }
  for (;;) {
    const said = await ask({ console }, { prompt: texts.chooseProvider() });
    if (typeof said !== "string") return said;
    const url = all[Number(said) - 1]?.[1] ?? addressIn(said);
    if (url !== undefined) return { baseUrl: url };
    console.say(texts.noProvider({ said: safeLine(said, 60), count: all.length }));
  }
}

async function askPlace({ console, words }: Chat, baseUrl: string, now: Entered): Promise<Place | Stop> {
  const { connect: texts } = words.terminal.commands;
  let address: string | undefined;
  for (let prefill = baseUrl; address === undefined; ) {
    const said = await ask({ console }, { prompt: texts.address(), prefill });
    if (typeof said !== "string") return said;
    address = addressIn(said);
    prefill = said;
    if (address === undefined) console.say(texts.noAddress({ said: safeLine(said, 60) }));
  }
  // A key is kept for the origin that it was entered for.
  const isKept = now.hasKey && now.baseUrl !== null && originOf(now.baseUrl) === originOf(address);
  for (;;) {
    const key = await ask({ console }, { prompt: texts.key({ isKept }), isHidden: true });
    if (typeof key !== "string") return key;
    if (key === "") return { baseUrl: address };
    if (isKey(key)) return { baseUrl: address, apiKey: key };
    console.say(texts.noKey());
  }
}

type Choosing = { readonly slot: Slot; readonly place: Place; readonly reached: Tested; readonly now: Entered };

/** By its number or by its name; one that cannot do all is taken only after a question. */
async function chooseModel(
  chat: Chat,
  { slot, place, reached, now }: Choosing,
): Promise<{ readonly id: string } | Stop> {
  const { console, words } = chat;
  const { connect: texts } = words.terminal.commands;
  const offered = reached.offered.slice(0, offeredMax);
  const server = safeLine(reached.server, 60);
  console.say(
    offered.length > 0 ? texts.offers({ server, count: reached.offered.length }) : texts.offersNone({ server }),
  );
  for (const [index, id] of offered.entries()) console.say(`${String(index + 1).padStart(4)}  ${safeLine(id, 80)}`);
  if (reached.offered.length > offered.length)
    console.say(`      ${words.terminal.model.more({ count: reached.offered.length - offered.length })}`);
  const before = now.baseUrl === place.baseUrl ? now.id : "";
  let prefill = reached.offered.length === 1 ? (reached.offered[0] ?? "") : before;
  for (;;) {
    const said = await ask({ console }, { prompt: texts.chooseModel(), ...(prefill !== "" && { prefill }) });
    if (typeof said !== "string") return said;
    const id = offered[Number(said) - 1] ?? said;
    prefill = "";
    if (id === "" || id.length > nameCharactersMax) {
      console.say(texts.noModel());
      continue;
    }
    const tested = await tryOut(chat, slot, place, id);
    if ("stop" in tested) return tested;
    if (tested.failure !== null) continue;
    if (tested.ok) return { id };
    const isTaken = await confirm(chat);
    if (typeof isTaken !== "boolean") return isTaken;
    if (isTaken) return { id };
  }
}

/** Asks the server, while Esc gives up; says what came of it. */
async function tryOut(chat: Chat, slot: Slot, place: Place, model = ""): Promise<Tested | Stop> {
  const { client, console, style, words } = chat;
  const { connect: texts } = words.terminal.commands;
  let isOver = false;
  const testing = client.call("testModel", { body: { ...place, slot, model } }).then((answer) => {
    isOver = true;
    console.wake();
    return answer;
  });
  const prompt = texts.trying({ address: safeLine(place.baseUrl, 60) });
  while (!isOver) {
    const input = await console.read({ prompt, want: "key", keys: [] });
    if (input.kind === "stop" || input.kind === "interrupt") return { stop: "given_up" };
    if (input.kind === "end") return { stop: "end" };
  }
  const answer = await testing;
  if (!answer.ok) {
    sayFailure(chat, answer.failure);
    return { stop: "given_up" };
  }
  const { failure, checks, firstMs, totalMs } = answer.value;
  if (failure !== null) console.say(style.bad(`✗ ${safeLine(failure.detail, 600)}`));
  for (const { name, isOk } of checks) console.say(`  ${isOk ? "✓" : "✗"} ${words.terminal.model.check[name]}`);
  if (totalMs !== null && failure === null)
    console.say(`  ${words.terminal.model.latency({ firstMs: firstMs ?? undefined, totalMs })}`);
  return answer.value;
}

async function confirm({ console, words }: Chat): Promise<boolean | Stop> {
  const { connect: texts } = words.terminal.commands;
  for (;;) {
    const input = await console.read({ prompt: texts.confirm(), want: "key", keys: ["y", "n"] });
    if (input.kind === "key") return input.key === "y";
    if (input.kind === "line" && /^\s*[yn]\s*$/i.test(input.text)) return /y/i.test(input.text);
    if (input.kind === "stop" || input.kind === "interrupt") return { stop: "given_up" };
    if (input.kind === "end") return { stop: "end" };
  }
}

/** A line; what is half typed stays when something else happens meanwhile. */
async function ask(
  { console }: Pick<Chat, "console">,
  { prefill, ...options }: Omit<ReadOptions, "want" | "keys">,
): Promise<string | Stop> {
  let first = prefill === undefined ? {} : { prefill };
  for (;;) {
    const input = await console.read({ ...options, ...first, want: "line" });
    first = {};
    if (input.kind === "line") return input.text.trim();
    if (input.kind === "stop" || input.kind === "interrupt") {
      console.clear();
      return { stop: "given_up" };
    }
    if (input.kind === "end") return { stop: "end" };
  }
}

function addressIn(said: string): string | undefined {
  const isAddress = /^https?:\/\/\S+$/i.test(said) && said.length <= addressCharactersMax && URL.canParse(said);
  return isAddress ? said.replace(/\/+$/, "") : undefined;
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

/** It travels in an HTTP header, where only ASCII passes; quotes are never meant. */
function isKey(text: string): boolean {
  return /^[!#-&(-~]+$/.test(text);
}
