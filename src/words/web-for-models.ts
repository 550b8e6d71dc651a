/** What models read of the web. What a page, a server or a search service says stands inside a data block. */
export const webForModels = {
  next: {
    refused: "Do not try it in another spelling. Use another address, or ask the user what to do.",
    failed:
      "Check the address, or go on with another source: call web_search where you have it; if there is none, tell the user.",
  },
} as const;
