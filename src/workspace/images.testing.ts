import type { TestContext } from "node:test";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import type { Books } from "./books.ts";
import { type Images, openImages } from "./images.ts";
import type { Layout } from "./layout.ts";

/** Real ones, and small. Whoever asks before the folder of the test is made has them unmounted before it goes. */
export function smallImages(t: TestContext): (place: { layout: Layout; books: Books }) => Images {
  const opened: Images[] = [];
  t.after(async () => {
    for (const images of opened) await images.close();
  });
  const limits = { ...testLimits, bytesMax: 16 * 1024 ** 2, filesMax: 200 };
  return ({ layout, books }) => {
    const images = openImages({
      ...{ layout, limits, clock: systemClock, ids: systemIds, logger: quietLogger([]), books },
    });
    opened.push(images);
    return images;
  };
}
