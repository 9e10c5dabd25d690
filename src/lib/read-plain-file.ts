import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

/** Reads an operator's file: bounded, without blocking. Pipes and devices are refused, because some have no end. */
export async function readPlainFile(path: string, maxBytes: number): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  assertPlainFile(await file.stat());
  // One byte more than allowed is read, to detect a larger file.
  const bytes = await buffer(file.createReadStream({ end: maxBytes }));
  if (bytes.length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return bytes.toString('utf8');
}

export function assertPlainFile(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a file');
}
