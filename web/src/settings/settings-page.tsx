import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";
import { GeneralSection } from "./general-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { McpSection } from "./mcp-section.tsx";
import { MemorySection } from "./memory-section.tsx";
import { ModelsSection } from "./models-section.tsx";
import { RulesSection } from "./rules-section.tsx";
import { SkillsSection } from "./skills-section.tsx";
import { ToolsSection } from "./tools-section.tsx";
import { UsersSection } from "./users-section.tsx";

const sections: Readonly<Record<SectionName, () => ReactNode>> = {
  general: GeneralSection,
  models: ModelsSection,
  permissions: RulesSection,
  tools: ToolsSection,
  mcp: McpSection,
  skills: SkillsSection,
  memory: MemorySection,
  keys: KeysSection,
  users: UsersSection,
};

type SectionName = "general" | "models" | "permissions" | "tools" | "mcp" | "skills" | "memory" | "keys" | "users";
const names = Object.keys(sections).filter(isSection);

export function SettingsPage({ section = "general" }: { readonly section: string | undefined }) {
  const words = useWords().settings;
  const { me } = useYard();
  const isAdmin = useStore(me)?.scopes.includes("admin") ?? false;
  const shown = isSection(section) ? section : "general";
  const Section = sections[shown];
  const list = useRef<HTMLElement>(null);
  // On a phone the list is wider than the screen: the chosen one is in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another one is chosen.
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [shown]);
  return (
    <main className="page settings" id="place">
      <h1>{words.title}</h1>
      <div className="settings-columns">
        <nav aria-label={words.sections} ref={list}>
          {names
            .filter((name) => name !== "users" || isAdmin)
            .map((name) => (
              <Link key={name} to={{ page: "settings", section: name }} className="rail-link" current={name === shown}>
                {words.section[name]}
              </Link>
            ))}
        </nav>
        <section className="settings-body" aria-labelledby="settings-section">
          <h2 id="settings-section">{words.section[shown]}</h2>
          <Section />
        </section>
      </div>
    </main>
  );
}

function isSection(name: string): name is SectionName {
  return Object.hasOwn(sections, name);
}
