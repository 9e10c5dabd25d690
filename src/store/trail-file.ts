import { createReadStream, readdirSync, rmSync, statSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { datesOf } from './order-gap.ts';
import type { TrailStore } from './order-trail.ts';

const DAY_MS = 86_400_000;
/** More than what two million orders of a day leave. */
const MAX_BYTES = 2 * 1024 ** 3;
/** How much is written between two looks at the bound. */
const LOOK_BYTES = 16 * 1024 ** 2;
const OF_A_DAY = /^\.trail-\d{4}-\d\d-\d\d\.jsonl$/;

/**
 * A file of each day beside the order records: what befalls it leaves them alone, processes need no lock, and a day that is over is a file
 * less. At the bound the oldest goes first; a day that has reached it alone takes no more.
 */
export function trailFiles(
  path: string,
  days: number,
  gatewaySkewMs: () => number | null = () => null,
  maxBytes = MAX_BYTES,
): TrailStore {
  let today = '';
  let written = 0;
  let isFull = false;
  const fileOf = (ms: number) => `${path}.trail-${new Date(ms).toISOString().slice(0, 10)}.jsonl`;
  /** The oldest first. */
  const files = () =>
    readdirSync(dirname(path))
      .filter((file) => file.startsWith(basename(path)))
      .map((file) => file.slice(basename(path).length))
      .filter((rest) => OF_A_DAY.test(rest))
      .sort()
      .map((rest) => `${path}${rest}`);

  /** The date may be wrong: a day is over by what is surely past alone. */
  function makeRoom(): void {
    const { surelyMs } = datesOf(Date.now(), gatewaySkewMs());
    const first = surelyMs === null ? '' : fileOf(surelyMs - days * DAY_MS);
    // Another process may have removed it.
    const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const sizes = files().map((file) => ({ file, size: sizeOf(file) }));
    let bytes = sizes.reduce((sum, { size }) => sum + size, 0);
    for (const { file, size } of sizes) {
      if (file >= first && (bytes <= maxBytes || file === today)) continue;
      rmSync(file, { force: true });
      bytes -= size;
    }
    isFull = bytes > maxBytes;
  }

  return {
    async append(lines) {
      const file = fileOf(Date.now());
      if (file !== today || written > LOOK_BYTES) {
        today = file;
        written = 0;
        makeRoom();
      }
      if (isFull) throw new Error(`${file} has reached ${maxBytes} bytes`);
      // The file may end with a line that was torn, of any process.
      const text = `\n${lines.join('\n')}\n`;
      await appendFile(file, text, { mode: 0o600 });
      written += text.length;
    },
    async *scan(prefix) {
      for (const file of files()) {
        const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
        for await (const line of lines) if (line.startsWith(prefix)) yield line;
      }
    },
  };
}
