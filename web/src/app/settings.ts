import type { Language } from "../../../src/words/words.ts";
import { keep, readKeptJson } from "./kept.ts";
import { createStore, type Store } from "./store.ts";

/** How this browser shows the page. `theme.js` reads the same before the first paint. */
export type Settings = {
  /** Undefined: as the system has it. */
  readonly theme: "light" | "dark" | undefined;
  readonly language: Language;
  /** Undefined: as the browser has it. */
  readonly chosenLanguage: Language | undefined;
  /** Single letters are no shortcuts then. */
  readonly lacksKeys: boolean;
};

export type SettingsStore = Store<Settings> & {
  readonly change: (changed: Partial<Pick<Settings, "theme" | "chosenLanguage" | "lacksKeys">>) => void;
};

export function readSettings(): Settings {
  const kept = readKeptJson("settings");
  const { theme, language, lacksKeys } = (typeof kept === "object" && kept !== null ? kept : {}) as Record<
    string,
    unknown
  >;
  const chosenLanguage = language === "zh" || language === "en" ? language : undefined;
  return {
    theme: theme === "dark" || theme === "light" ? theme : undefined,
    chosenLanguage,
    language: chosenLanguage ?? (/^zh/i.test(navigator.language) ? "zh" : "en"),
    lacksKeys: lacksKeys === true,
  };
}

export function openSettings(initial: Settings): SettingsStore {
  const store = createStore(initial);
  const wantsDark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const { theme, language } = store.get();
    document.documentElement.dataset.theme = theme ?? (wantsDark.matches ? "dark" : "light");
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  };
  wantsDark.addEventListener("change", show);
  // Another tab has changed them.
  addEventListener("storage", ({ key }) => {
    if (key === "agentyard.settings") store.set(readSettings());
  });
  store.subscribe(show);
  show();
  return {
    ...store,
    change(changed) {
      const { theme, chosenLanguage, lacksKeys } = { ...store.get(), ...changed };
      const kept = { theme, language: chosenLanguage, ...(lacksKeys && { lacksKeys }) };
      keep("settings", JSON.stringify(kept));
      store.set(readSettings());
    },
  };
}
