import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { assertPlainFile } from '../lib/read-plain-file.ts';

// As long as the longest value of a setting may be, and its line end.
const MAX_BYTES = 64 * 1024;

/**
 * The text of a file that holds a secret, without the line end that editors and `echo` add. It never
 * waits: a pipe that nobody writes to would keep the start from saying anything.
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
