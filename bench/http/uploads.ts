import { request } from "node:http";
import { type Figure, inTurns, timed } from "../sandbox/figure.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

/** A large file as a form, against a bare server that writes the same bytes to the disk. */
export async function measureUploads(world: World, { uploadBytes, uploadRuns }: Sizes): Promise<Figure[]> {
  const [bare, ours] = await inTurns(uploadRuns, [
    () => timed(() => send(`${world.sink}/`, uploadBytes)),
    () => timed(() => send(`${world.yard}/api/v1/sessions/sess-agent-default/files/upload`, uploadBytes)),
  ]);
  return [
    {
      what: `upload of ${uploadBytes / 1e6} MB`,
      unit: "ms",
      value: ours ?? Number.NaN,
      against: { what: "a bare sink with fsync", value: bare ?? Number.NaN },
      // At least 0.6 of its throughput.
      atMost: 1 / 0.6,
    },
  ];
}

const boundary = "bench-boundary";
const pieceBytes = 64 * 1024;

function send(url: string, bytes: number): Promise<void> {
  const part = (head: string, body: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}`;
  const head = [part('name="conversation_id"', "bench-upload\r\n"), part('name="file"; filename="large.txt"', "")].join(
    "",
  );
  const tail = `\r\n--${boundary}--\r\n`;
  const piece = Buffer.alloc(pieceBytes, "0123456789abcdef\n");
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": head.length + bytes + tail.length,
    };
    const sent = request(url, { method: "POST", headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => {
        if (Number(answer.statusCode) < 300) resolve();
        else reject(new Error(`the upload was answered with ${answer.statusCode}: ${text}`));
      });
    });
    sent.once("error", reject);
    sent.write(head);
    let left = bytes;
    const more = () => {
      while (left > 0) {
        const next = piece.subarray(0, Math.min(left, pieceBytes));
        left -= next.length;
        if (!sent.write(next)) return void sent.once("drain", more);
      }
      sent.end(tail);
    };
    more();
  });
}
