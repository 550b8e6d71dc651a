/** What a server can say at once without being read; one that says more is not listened to any further. */
export const messageBytesMax = 16 * 1024 * 1024;
