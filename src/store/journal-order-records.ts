import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileLockedError, lockFile } from './file-lock.ts';
import { JournalFile, type JournalFileOptions } from './journal-file.ts';
import { decodeFrames, type JournalEvent } from './journal-frame.ts';
import {
  type OrderRecords,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  rank,
  recordId,
} from './order-records.ts';
import { RecordTable, type RecordTableOptions } from './record-table.ts';

export interface JournalOrderRecordsOptions
  extends RecordTableOptions,
    Pick<JournalFileOptions, 'create' | 'slackBytes'> {
  readonly path: string;
  /** Bridges the time between two processes; within one, records age by `uptimeMs`. */
  readonly nowMs: () => number;
}

/** Order records that survive the process: each is on the disk before its order is sent. */
export async function openJournalOrderRecords(
  options: JournalOrderRecordsOptions,
): Promise<OrderRecords> {
  const { path } = options;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unlock = lock(path);
  try {
    const table = new RecordTable(options);
    await load(table, options);
    const file = new JournalFile({ ...options, snapshot: () => snapshot(table) });
    await file.start();
    return new JournalOrderRecords(table, file, options.max, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

class JournalOrderRecords implements OrderRecords {
  readonly #table: RecordTable;
  readonly #file: JournalFile;
  readonly #max: number;
  readonly #unlock: () => void;
  /** Reservations that are not on the disk yet: a repeat must not rely on one. */
  readonly #unwritten = new Map<string, Promise<void>>();

  constructor(table: RecordTable, file: JournalFile, max: number, unlock: () => void) {
    this.#table = table;
    this.#file = file;
    this.#max = max;
    this.#unlock = unlock;
  }

  async reserve(request: Parameters<OrderRecords['reserve']>[0]) {
    const { login, key } = request;
    const id = recordId(login, key);
    // Not in a function: from the last look to the append nothing may wait, not even for one tick,
    // or two could find the key free.
    for (let write = this.#unwritten.get(id); write; write = this.#unwritten.get(id)) await write;
    const record = this.#table.get(login, key);
    if (record) return { reserved: false, record } as const;
    const reservation = { ...request, id: randomUUID() };
    this.#table.add(reservation);
    const written = this.#file.append(putEvent(reservation, null));
    this.#unwritten.set(id, written);
    try {
      await written;
    } catch (error) {
      this.#table.release(reservation);
      throw error;
    } finally {
      this.#unwritten.delete(id);
    }
    return { reserved: true, reservation } as const;
  }

  async settle(reservation: Reservation, outcome: RecordedOutcome): Promise<void> {
    if (!this.#table.settle(reservation, outcome)) return;
    // What counts is what the table made of it; and a repeat after a failure must be written too.
    const settled = this.#table.record(reservation);
    if (settled) await this.#file.append(putEvent(reservation, settled.outcome));
  }

  async release(reservation: Reservation): Promise<void> {
    const pending = this.#table.record(reservation);
    if (pending && (pending.reservation.id !== reservation.id || pending.outcome !== null)) return;
    this.#table.release(reservation);
    await this.#file.append({ drop: reservation });
  }

  async find(login: string, key: string) {
    const id = recordId(login, key);
    for (let write = this.#unwritten.get(id); write; write = this.#unwritten.get(id)) await write;
    return this.#table.get(login, key);
  }

  held(): number {
    return this.#table.size;
  }

  trouble(): string | null {
    if (this.#file.failure) return 'the order journal cannot be written';
    return this.#table.size >= this.#max ? 'all order records are in use' : null;
  }

  async close(): Promise<void> {
    await this.#file.close();
    this.#unlock();
  }
}

function lock(path: string): () => void {
  try {
    return lockFile(`${path}.lock`);
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    throw new FileLockedError(
      `the order journal ${path} is in use by another process; two that write it would each send ` +
        'what the other has sent already (several replicas need REDIS_URL)',
      { cause },
    );
  }
}

async function load(table: RecordTable, options: JournalOrderRecordsOptions): Promise<void> {
  const records = new Map<string, Extract<JournalEvent, { put: unknown }>['put']>();
  for (const event of decodeFrames(await readIfThere(options.path), options.path)) {
    if ('put' in event) {
      const id = recordId(event.put.reservation.login, event.put.reservation.key);
      const held = records.get(id);
      const same = held?.reservation.id === event.put.reservation.id;
      if (!held || !same || rank(event.put.outcome) >= rank(held.outcome)) {
        records.set(id, event.put);
      }
    } else if ('drop' in event) {
      const id = recordId(event.drop.login, event.drop.key);
      if (records.get(id)?.reservation.id === event.drop.id) records.delete(id);
    }
  }
  const byBirth = [...records.values()].sort(
    (one, other) => one.reservation.reservedAtMs - other.reservation.reservedAtMs,
  );
  const now = options.nowMs();
  for (const { reservation, outcome } of byBirth) {
    // A record from the future was made before somebody set the clock back: its life starts anew.
    const ageMs = Math.max(0, now - reservation.reservedAtMs);
    if (ageMs < RECORD_LIFE_MS) table.adopt(reservation, outcome, ageMs);
  }
}

async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return Buffer.alloc(0);
    throw error;
  }
}

function* snapshot(table: RecordTable): Generator<JournalEvent> {
  for (const { reservation, outcome } of table.values()) yield putEvent(reservation, outcome);
}

function putEvent(reservation: Reservation, outcome: RecordedOutcome | null): JournalEvent {
  return { put: { reservation, outcome } };
}
