import { request } from "node:http";
import { type Figure, inTurns, timed } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

type Order = "fields first" | "file first";

/**
 * A large file as a form, each a new one, against a bare server that writes the same bytes to the disk. With the file
 * first, as 003's own sample has it, nobody knows where it goes before all of it is here: it is written twice.
 */
export async function measureUploads(world: World, { uploadBytes, uploadRuns }: Sizes): Promise<Figure[]> {
  let sent = 0;
  const upload = (url: string, order: Order) => {
    sent += 1;
    return timed(() => send(url, { bytes: uploadBytes, name: `large-${sent}.txt`, order }));
  };
  const yard = `${world.yard}/api/v1/sessions/sess-agent-default/files/upload`;
  const [bare, ...ours] = await inTurns(uploadRuns, [
    () => upload(`${world.sink}/`, "fields first"),
    () => upload(yard, "fields first"),
    () => upload(yard, "file first"),
  ]);
  return ours.map((value, index) => ({
    what: `upload of ${uploadBytes / 1e6} MB, ${index === 0 ? "fields first" : "file first"}`,
    unit: "ms",
    value,
    against: { what: "a bare sink with fsync", value: bare ?? Number.NaN },
    // At least 0.6 of its throughput.
    atMost: 1.67,
  }));
}

const boundary = "bench-boundary";
const pieceBytes = 64 * 1024;

type Sending = { readonly bytes: number; readonly name: string; readonly order: Order };

function send(url: string, { bytes, name, order }: Sending): Promise<void> {
  const part = (head: string, body: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}`;
  const fields = part('name="conversation_id"', "bench-upload\r\n") + part('name="subdir"', "temparea\r\n");
  const file = part(`name="file"; filename="${name}"`, "");
  const head = order === "fields first" ? fields + file : file;
  const tail = `\r\n${order === "file first" ? fields : ""}--${boundary}--\r\n`;
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
