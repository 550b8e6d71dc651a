import type { Client } from "../../../src/client/client.ts";
import type { FileVersion } from "../../../src/protocol/file-view-routes.ts";
import type { FileEntry } from "../../../src/protocol/resources.ts";
import type { Language } from "../../../src/words/words.ts";
import { createStore } from "../app/store.ts";
import { type Sent, sendFile } from "./send-file.ts";

/** A file on its way up, or one that did not get there. */
export type Upload = {
  readonly id: number;
  readonly file: File;
  readonly state: "queued" | "sending" | "failed";
  readonly sentBytes: number;
  /** In words of the server; undefined where it could not be reached. */
  readonly detail?: string | undefined;
};

export type FilesView = {
  readonly phase: "loading" | "ready" | "failed";
  readonly detail: string | undefined;
  /** Files only, by path. */
  readonly files: readonly FileEntry[];
  readonly isCut: boolean;
  /** The last change of each. */
  readonly changes: ReadonlyMap<string, FileVersion>;
  readonly uploads: readonly Upload[];
  /** Paths of those that go with the next message. */
  readonly selected: readonly string[];
  /** That message was sent already, and leaves with the last file. */
  readonly waiting: "queue" | "steer" | undefined;
};

export const emptyView: FilesView = {
  ...{ phase: "loading", detail: undefined, files: [], isCut: false, changes: new Map(), uploads: [], selected: [] },
  waiting: undefined,
};

const foldersMax = 100;
const sendingMax = 3;

export type FilesParts = { readonly client: () => Client; readonly language: () => Language };

/** The files of one conversation as this page knows them, and what it does to them. */
export class ConversationFiles {
  readonly view = createStore<FilesView>(emptyView);
  readonly #conversation: string;
  readonly #parts: FilesParts;
  readonly #stops = new Map<number, AbortController>();
  #last = 0;
  #reading: Promise<void> | undefined;
  #isStale = false;

  constructor(conversation: string, parts: FilesParts) {
    this.#conversation = conversation;
    this.#parts = parts;
  }

  /** Reads the list anew; who asks while it is read gets what is there after that. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#readUntilFresh().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  toggle(path: string): void {
    const { selected } = this.view.get();
    this.#change({ selected: selected.includes(path) ? selected.filter((one) => one !== path) : [...selected, path] });
  }

  select(paths: readonly string[]): void {
    this.#change({ selected: [...new Set([...this.view.get().selected, ...paths])] });
  }

  wait(waiting: FilesView["waiting"]): void {
    this.#change({ waiting });
  }

  clearSelected(): void {
    this.#change({ selected: [] });
  }

  upload(files: readonly File[]): void {
    const added = files.map((file): Upload => {
      this.#last += 1;
      return { id: this.#last, file, state: "queued", sentBytes: 0 };
    });
    this.#change({ uploads: [...this.view.get().uploads, ...added] });
    this.#sendNext();
  }

  retry(id: number): void {
    this.#changeUpload(id, { state: "queued", sentBytes: 0, detail: undefined });
    this.#sendNext();
  }

  /** Stops it where it is on its way, and takes it off the list. */
  dismiss(id: number): void {
    this.#stops.get(id)?.abort();
    this.#change({ uploads: this.view.get().uploads.filter((upload) => upload.id !== id) });
  }

  async #readUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const [listed, history] = await Promise.all([this.#list(), this.#history()]);
      if ("detail" in listed) this.#change({ phase: "failed", detail: listed.detail });
      else {
        const { files: before, selected: chosen } = this.view.get();
        const there = new Set(listed.files.map(({ path }) => path));
        // One that has arrived while the list was read is not in it yet.
        const isGone = (path: string) => !there.has(path) && before.some((file) => file.path === path);
        const selected = chosen.filter((path) => !isGone(path));
        this.#change({ phase: "ready", detail: undefined, ...listed, changes: history, selected });
      }
    }
  }

  async #list(): Promise<{ files: FileEntry[]; isCut: boolean } | { detail: string }> {
    const files: FileEntry[] = [];
    const folders = ["."];
    let isCut = false;
    for (let at = 0; at < folders.length; at += 1) {
      if (at >= foldersMax) return { files, isCut: true };
      const answer = await this.#call("listFiles", { path: folders[at] ?? "." });
      // Gone since it was listed.
      if (!answer.ok && at > 0) continue;
      if (!answer.ok)
        return answer.failure.code === "file_not_found" ? { files, isCut } : { detail: answer.failure.detail };
      isCut ||= answer.value.next !== null;
      for (const entry of answer.value.items) {
        if (entry.type === "file") files.push(entry);
        if (entry.type === "folder" && entry.path !== "skills") folders.push(entry.path);
      }
    }
    return { files, isCut };
  }

  #call(name: "listFiles", query: { path: string }) {
    return this.#parts.client().call(name, { params: { id: this.#conversation }, query });
  }

  async #history(): Promise<ReadonlyMap<string, FileVersion>> {
    const answer = await this.#parts.client().call("listFileHistory", { params: { id: this.#conversation } });
    return new Map(answer.ok ? answer.value.items.map((version) => [version.path, version]) : []);
  }

  #sendNext(): void {
    const { uploads } = this.view.get();
    const next = uploads.find(({ state }) => state === "queued");
    if (next === undefined || this.#stops.size >= sendingMax) return;
    void this.#send(next);
    this.#sendNext();
  }

  async #send({ id, file }: Upload): Promise<void> {
    const stop = new AbortController();
    this.#stops.set(id, stop);
    this.#changeUpload(id, { state: "sending" });
    const sent = await sendFile({
      ...{ conversation: this.#conversation, file, language: this.#parts.language(), signal: stop.signal },
      onProgress: (sentBytes) => this.#changeUpload(id, { sentBytes }),
    });
    this.#stops.delete(id);
    this.#settle(id, sent);
    this.#sendNext();
  }

  #settle(id: number, sent: Sent): void {
    const { uploads, selected } = this.view.get();
    if (!sent.ok) {
      if (sent.why === "stopped") return;
      return this.#changeUpload(id, { state: "failed", detail: sent.why === "refused" ? sent.detail : undefined });
    }
    const { path } = sent.value;
    this.#change({
      uploads: uploads.filter((upload) => upload.id !== id),
      selected: selected.includes(path) ? selected : [...selected, path],
    });
    this.#onUploaded?.(sent.value);
    void this.refresh();
  }

  #onUploaded: ((uploaded: Extract<Sent, { ok: true }>["value"]) => void) | undefined;
  /** Hears of each file that has arrived. */
  set onUploaded(listener: (uploaded: Extract<Sent, { ok: true }>["value"]) => void) {
    this.#onUploaded = listener;
  }

  #changeUpload(id: number, changed: Partial<Upload>): void {
    const { uploads } = this.view.get();
    this.#change({ uploads: uploads.map((upload) => (upload.id === id ? { ...upload, ...changed } : upload)) });
  }

  #change(changed: Partial<FilesView>): void {
    this.view.set({ ...this.view.get(), ...changed });
  }
}

/** One for each conversation that was looked at: uploads go on while somebody looks at another. */
export type FilesHub = { readonly of: (conversation: string) => ConversationFiles };

export function openFilesHub(parts: FilesParts): FilesHub {
  const known = new Map<string, ConversationFiles>();
  return {
    of(conversation) {
      const found = known.get(conversation) ?? new ConversationFiles(conversation, parts);
      known.set(conversation, found);
      return found;
    },
  };
}
