// Runs before the first paint, so that a dark page does not flash white. A file of its own: the policy forbids scripts in
// the page.
// Schemas of zod would be compiled with `new Function`, which the policy forbids as well; it reads this when it is loaded,
// and which file that is in first is for the build to say.
globalThis.__zod_globalConfig = { jitless: true };
(() => {
  let settings = {};
  try {
    settings = JSON.parse(localStorage.getItem("agentyard.settings") ?? "{}");
  } catch {
    // A browser that keeps nothing: the system decides.
  }
  const isDark = settings.theme ? settings.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const language = settings.language ?? (/^zh/i.test(navigator.language) ? "zh" : "en");
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
})();
