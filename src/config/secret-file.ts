import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { assertPlainFile } from '../lib/read-plain-file.ts';

// The longest value of a setting, and its line end.
const MAX_BYTES = 64 * 1024;

/**
 * Reads the text of a secret's file, without the line end that editors and `echo` add. It never
 * blocks: a pipe without a writer would stall the start silently.
 */
export function readSecretFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    assertPlainFile(fstatSync(file));
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(file, buffer, 0, buffer.length, null);
    if (length > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const text = buffer.toString('utf8', 0, length).replace(/\r?\n$/, '');
    if (text === '') throw new Error('it is empty');
    return text;
  } finally {
    closeSync(file);
  }
}
