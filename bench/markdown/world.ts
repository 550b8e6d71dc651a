import type { Page } from "playwright-core";
import { openBrowser, serveYard, type TestBrowser } from "../../test/world/browser.ts";
import { type ModelServer, modelServer } from "../../test/world/model-server.ts";
import type { Answer } from "../../test/world/wire.ts";

export type Sizes = { readonly textBytes: number };

/** A yard with the browser app, a model that says what it is told to, and a page. */
export type World = {
  readonly page: Page;
  readonly browser: TestBrowser;
  readonly address: string;
  /** What the model says next. */
  say(answer: Answer): void;
  close(): Promise<void>;
};

export async function openWorld(): Promise<World> {
  let next: Answer = { text: "" };
  const model: ModelServer = await modelServer(() => next);
  const browser = await openBrowser();
  const yard = await serveYard({ model });
  const person = await browser.person();
  return {
    ...{ browser, page: await person.newPage(), address: yard.address },
    say(answer) {
      next = answer;
    },
    async close() {
      await person.close();
      await yard[Symbol.asyncDispose]();
      await browser.close();
      await model.close();
    },
  };
}
