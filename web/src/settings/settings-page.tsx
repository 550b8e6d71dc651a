import { useWords } from "../words/words.ts";

export function SettingsPage() {
  const words = useWords().settings;
  return (
    <main className="page" id="place">
      <h1>{words.title}</h1>
      <p className="about">{words.about}</p>
    </main>
  );
}
