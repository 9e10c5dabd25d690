import { setFlagsFromString } from 'node:v8';

// Of the documents that clients write, hardly one has as many.
const LARGE_FIELDS = 150;
let isOn = true;

/**
 * V8's middle compiler, Maglev, saves a third of the CPU of a process's first thousands of requests. For code that is
 * generated from one large document it takes up to 60 MB on each of its threads, and keeps them: 250 MB in
 * the worst case found. So it compiles until the first such code comes, and nothing afterwards.
 */
export function spareMaglev(fields: number): void {
  if (!isOn || fields <= LARGE_FIELDS) return;
  isOn = false;
  setFlagsFromString('--no-maglev');
}
