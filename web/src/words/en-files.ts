export const enFiles = {
  title: "Files",
  about: "The files of a conversation stand beside it.",
};
