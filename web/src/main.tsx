import { createRoot } from "react-dom/client";
import "./app/styles/styles.ts";
import { App } from "./app/app.tsx";
import { readSettings } from "./app/settings.ts";
import { openYard } from "./app/yard.ts";
import { loadWords } from "./words/words.ts";

const settings = readSettings();
const words = await loadWords(settings.language);
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<App yard={openYard(settings)} words={words} />);
