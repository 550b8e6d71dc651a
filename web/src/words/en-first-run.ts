export const enFirstRun = {
  title: "Set up this server",
  about: "Without a model the demo model answers.",
};
