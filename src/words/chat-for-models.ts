/** What models read about chats over HTTP. */
export const chatForModels = {
  /** The reason of a rejection. */
  skipped: "skipped by the user",
};
