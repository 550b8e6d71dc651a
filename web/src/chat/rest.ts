/** So long may be worked without a pause: a page that draws and answers keys needs the rest of the time. */
const workMs = 8;

/**
 * Lets others go first, as soon as enough was worked at one go: hundreds of frames may come in one piece. What nobody looks at is done without
 * pauses, because the browser makes those long there.
 */
export function restNowAndThen(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (document.hidden || performance.now() - since < workMs) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
