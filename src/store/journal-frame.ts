import { crc32 } from 'node:zlib';
import type { RecordedOutcome, Reservation } from './order-records.ts';

/** What one step of the journal says. Each may be applied twice without harm. */
export type JournalEvent =
  | {
      readonly put: { readonly reservation: Reservation; readonly outcome: RecordedOutcome | null };
    }
  | { readonly drop: Reservation }
  | { readonly journal: 'orders'; readonly version: 1 };

export const JOURNAL_HEADER: JournalEvent = { journal: 'orders', version: 1 };

/** The file is not what this program wrote: somebody has to look, a guess could send an order twice. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError';
}

/**
 * One line per write to the disk, however many events it holds: `<crc32> <bytes> <json>\n`. What a
 * crash can tear is then always the last line alone, and a bad line before it can only be damage.
 */
export function encodeFrame(events: readonly JournalEvent[]): Buffer {
  const json = Buffer.from(JSON.stringify(events));
  const head = `${crc32(json).toString(16).padStart(8, '0')} ${json.length} `;
  return Buffer.concat([Buffer.from(head), json, Buffer.from('\n')]);
}

/** The events of a whole file in order. A torn last line is left out: nobody was promised what it says. */
export function* decodeFrames(file: Buffer, path: string): Generator<JournalEvent> {
  if (file.length === 0) return;
  let start = 0;
  for (let line = 1; start < file.length; line += 1) {
    const end = file.indexOf(0x0a, start);
    const last = end === -1 || end === file.length - 1;
    const events = end === -1 ? null : decodeLine(file.subarray(start, end));
    if (line === 1 && !isHeader(events?.[0])) {
      throw new JournalDamagedError(`${path} is not an order journal of this version`);
    }
    if (events) yield* events;
    else if (!last) {
      throw new JournalDamagedError(
        `the order journal ${path} is damaged in line ${line}, before its end: the orders it ` +
          'recorded there could be sent twice; restore the file, or move it away to start without it',
      );
    }
    if (end === -1) return;
    start = end + 1;
  }
}

function decodeLine(line: Buffer): readonly JournalEvent[] | null {
  const head = /^([0-9a-f]{8}) (\d{1,10}) $/.exec(line.toString('latin1', 0, headLength(line)));
  if (!head) return null;
  const json = line.subarray(head[0].length);
  if (json.length !== Number(head[2]) || crc32(json) !== Number.parseInt(head[1] ?? '', 16)) {
    return null;
  }
  return JSON.parse(json.toString('utf8'));
}

function headLength(line: Buffer): number {
  return line.indexOf(0x20, 9) + 1;
}

function isHeader(event: JournalEvent | undefined): boolean {
  return event !== undefined && 'journal' in event && event.version === 1;
}
