import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;

/**
 * Reads the text of a file that an operator has configured. Pipes and devices are refused, and
 * reads are bounded and non-blocking, because some files under /proc have no end, or no data yet.
 */
export async function readPlainFile(path: string, maxBytes: number): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  assertPlainFile(await file.stat());
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const chunk = await readChunk(file);
    if (chunk.length === 0) return Buffer.concat(chunks).toString('utf8');
    total += chunk.length;
    if (total > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
}

export function assertPlainFile(stats: Stats): void {
  if (stats.isDirectory()) throw new Error('it is a folder');
  if (!stats.isFile()) throw new Error('it is not a file');
}

async function readChunk(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES);
  return buffer.subarray(0, bytesRead);
}
