import { createContext, useContext } from "react";
import { type Client, createClient } from "../../../src/client/client.ts";
import type { ConversationList } from "../conversations/list.ts";
import { openList } from "../conversations/open-list.ts";
import type { DecisionInbox } from "../decisions/inbox.ts";
import { openInbox } from "../decisions/open-inbox.ts";
import { type FilesHub, openFilesHub } from "../files/conversation-files.ts";
import { type Me, openMe } from "../settings/me.ts";
import { newId } from "./new-id.ts";
import { basePath } from "./router.ts";
import { openSettings, type Settings, type SettingsStore } from "./settings.ts";
import type { Store } from "./store.ts";
import { openToasts, type Toasts } from "./toasts.ts";

/** What all parts of the page have in common: whom they ask, what is kept here, and where news is told. */
export type Yard = {
  readonly client: () => Client;
  readonly settings: SettingsStore;
  readonly conversations: ConversationList;
  readonly files: FilesHub;
  readonly toasts: Toasts;
  readonly inbox: DecisionInbox;
  readonly me: Store<Me | undefined>;
};

export function openYard(initial: Settings): Yard {
  const settings = openSettings(initial);
  const toasts = openToasts();
  const baseUrl = `${location.origin}${basePath}`;
  const make = () =>
    createClient({
      // The platform's types know a view of bytes only by its kind of buffer.
      fetch: (url, init) => fetch(url, init as RequestInit),
      baseUrl,
      language: settings.get().language,
      newKey: newId,
    });
  let client = make();
  settings.subscribe(() => {
    client = make();
  });
  const current = () => client;
  const conversations = openList(current, ({ detail }) => toasts.tell({ kind: "trouble", text: detail }));
  const files = openFilesHub({ client: current, language: () => settings.get().language });
  const inbox = openInbox(current);
  return { client: current, settings, toasts, conversations, files, inbox, me: openMe(current) };
}

export const YardContext = createContext<Yard | undefined>(undefined);

export function useYard(): Yard {
  const yard = useContext(YardContext);
  if (yard === undefined) throw new Error("this part of the page stands outside of the yard");
  return yard;
}
