import { chmodSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { RENAMED } from '../order-records.ts';
import type { RecordBounds } from '../record-shares.ts';
import {
  connect,
  makeFile,
  patiently,
  START_PATIENCE_MS,
  transact,
  waitUntil,
} from './connection.ts';
import { changesOf, isRewritten, MODE } from './file-changes.ts';
import { identityOf, inodeOf, isSameFile, OF_NO_FILE } from './file-identity.ts';
import {
  type FileMemory,
  isOtherName,
  rememberedSince,
  renamed,
  withMemory,
} from './file-memory.ts';
import { checkPlace, refuseMoved } from './file-place.ts';
import { digestOf, type FileState, intact, STATE, STATE_SCHEMA, setState } from './file-state.ts';
import { type MachineClock, type MachineMoment, machineMoment } from './machine-clock.ts';
import { forgetChange, isMarked, openMark } from './order-mark.ts';
import { SCHEMA } from './order-rows.ts';
import { DAMAGED, MOVED, SqliteFileError, toFileError } from './sqlite-errors.ts';

export interface OrderFileOptions extends Pick<RecordBounds, 'accounts'> {
  readonly path: string;
  /** When true, a missing file is an error and is not created. */
  readonly mustExist?: boolean;
  /** When true, a copy stays known as one: no order is taken by this opening, and the copy may be put back later. */
  readonly isInspection?: boolean;
  /** A larger file whose rows were verified lately is verified behind the start. */
  readonly maxBytesAtOnce?: number;
  readonly clock: MachineClock;
  readonly onWarn: (message: string) => void;
}

// `TGOR`.
export const APPLICATION_ID = 0x54474f52;
const VERSION = 1;
const WHOLE_SCHEMA = `${SCHEMA};
${STATE_SCHEMA}`;
/** A file without a mark may also be one that was restored without it. */
const MAKER_PATIENCE_MS = 500;
/** A start verifies less than a second's at once. */
export const MAX_BYTES_AT_ONCE = 16 * 1024 ** 2;
const BIG = { bigint: true } as const;

export type OrderFile = ReturnType<typeof open>;

/**
 * The file of the order records, which detects lost data: an older copy of itself, or missing rows. It is created where there
 * is none; throws a SqliteFileError where it cannot be used.
 */
export function openOrderFile(options: OrderFileOptions): OrderFile {
  try {
    return open(options);
  } catch (error) {
    throw toFileError(error);
  }
}

function open({
  path,
  mustExist = false,
  isInspection = false,
  accounts,
  maxBytesAtOnce = MAX_BYTES_AT_ONCE,
  clock,
  onWarn,
}: OrderFileOptions) {
  using opened = new DisposableStack();
  const isThere = inodeOf(path) !== null;
  // Asked afterwards: a file that is moved away meanwhile leaves its sign before it goes.
  refuseMoved(path);
  if (mustExist && !isThere) throw new SqliteFileError('does not exist');
  checkPlace(path, onWarn);
  const isMaker = !isThere && makeFile(path, fill);
  // Until then its maker removes the name of the draft, which changes the ctime, as a copy over the file does.
  if (!isMaker) waitUntil(() => isMarked(path), MAKER_PATIENCE_MS);
  // SQLite would treat an empty file as a new database.
  if (statSync(path).size === 0) {
    throw new SqliteFileError('is empty: restore it, or move it away');
  }
  /** Changes when another file replaces this one at the path. */
  const inode = inodeOf(path) ?? '';
  // A hot journal is rolled back by whoever opens the file, which changes it before the commit that marks it.
  const found = changesOf(path);
  if (found.isHot) forgetChange(path);
  const database = opened.adopt(connect(path, APPLICATION_ID), (each) => each.close());
  verifyForm(database);
  const mark = opened.adopt(openMark(path), (each) => each.close());
  const get = database.prepare(STATE);
  const set = database.prepare(`UPDATE state SET writes = :writes, rows = :rows,
    file = :file, incompleteFrom = :incompleteFrom, digest = :digest`);
  /** The state as of the last transaction. */
  let state: FileState = { writes: 0, rows: 0, file: '', incompleteFrom: null };
  /** The ctime that the mark names. */
  let markedNs = 0n;
  /** All rows up to this id are known to have been intact; null where nothing is known. */
  let verifiedUpTo: number | null = null;

  /** Throws a SqliteFileError. */
  function inTransaction<T>(mode: 'DEFERRED' | 'IMMEDIATE', patienceMs: number, work: () => T): T {
    const former = state;
    try {
      const result = transact(database, mode, patienceMs, () => {
        const row = intact(get.get());
        if (row.writes < former.writes) {
          throw new SqliteFileError('was replaced by an older copy: restart', { isDamage: true });
        }
        const { digest: _, ...present } = row;
        state = present;
        const done = work();
        if (present.writes > row.writes) set.run({ ...present, digest: digestOf(present) });
        return done;
      });
      // Checked after the commit: a process that opens the path from now on must not miss this commit.
      const now = statSync(path, { ...BIG, throwIfNoEntry: false });
      if (String(now?.ino) !== inode) throw new SqliteFileError(MOVED);
      // A read changes the file too where it rolls back the commit in which another process was killed.
      if (state.writes > former.writes || now?.ctimeNs !== markedNs) writeMark();
      return result;
    } catch (error) {
      state = former;
      // A commit that fails halfway and is rolled back has changed the file too. Not at the start, which judges that.
      if (former.writes > 0) writeMark();
      refuseMoved(path);
      throw toFileError(error);
    }
  }

  /** At the start, or for an operator. */
  function change(work: () => void): void {
    inTransaction('IMMEDIATE', START_PATIENCE_MS, () => {
      state.writes += 1;
      work();
    });
  }

  /** A first change, which checks that the file is writable and that it is the original. */
  function begin(): void {
    const marked = mark.read();
    // The first commit of this start comes at once, so that a crash leaves no later ctime behind.
    if (found.mode !== MODE || found.isFresh) chmodSync(path, MODE);
    const file = identityOf(path);
    const knownNs = marked.writes === state.writes - 1 ? marked.changedNs : null;
    const isCopy =
      marked.writes >= state.writes || !isSameFile(file, state.file) || isRewritten(found, knownNs);
    const isRenamed = !isInspection && isOtherName(state, accounts);
    const { verified } = rememberedSince(state) ?? {};
    // A machine that went down may have left any page unwritten.
    const isVerified = !isCopy && verified?.boot === clock.boot;
    const isKnown = isVerified && statSync(path).size > maxBytesAtOnce;
    // For an operator, who asks for all that is wrong, no order waits: the rows are verified in portions.
    verifiedUpTo = isKnown && !mustExist ? verified.upTo : null;
    verifyPages(database, isKnown || mustExist, state.rows);
    const now = machineMoment(clock);
    let memory = rememberedSince(state) ?? now;
    const gap = JSON.stringify(now);
    if (isCopy) {
      memory = { ...memory, ...now };
      state.incompleteFrom = gap;
    } else if (isRenamed && accounts !== undefined) {
      const last = lastReservation(database);
      [memory, state.incompleteFrom] = renamed(memory, state.incompleteFrom, {
        accounts,
        now,
        last,
      });
    }
    if (isCopy || (isRenamed && state.incompleteFrom === gap)) {
      const how = `${howChanged(marked.writes, file, state)} while nothing ran`;
      onWarn(
        `${path} ${isCopy ? how : `is incomplete, as ${RENAMED}`}: keys that it does not know are refused, but for those made from now on`,
      );
    }
    // A new file begins here; what an earlier version did to an older one cannot be known.
    const shown = isCopy && isInspection ? OF_NO_FILE : file;
    state.file = withMemory(shown, { ...memory, ...(accounts && !isInspection && { accounts }) });
    // Until all of it is verified.
    if (!isKnown) rememberVerified(null);
    state.writes = Math.max(marked.writes + 1, state.writes);
  }

  function adopt(): void {
    state.file = withMemory(identityOf(path), rememberedSince(state) ?? machineMoment(clock));
  }

  function rememberVerified(upTo: number | null): void {
    const { verified: _, ...since }: FileMemory = rememberedSince(state) ?? machineMoment(clock);
    const memory = upTo === null ? since : { ...since, verified: { upTo, boot: clock.boot } };
    state.file = withMemory(state.file, memory);
  }

  /** How far clocks were apart stays, since orders that were lost may have been taken by them. */
  function remember(moment: MachineMoment): void {
    state.file = withMemory(state.file, { ...rememberedSince(state), ...moment });
  }

  function writeMark(): void {
    try {
      const writes = Math.max(state.writes, mark.read().writes);
      markedNs = statSync(path, BIG).ctimeNs;
      mark.write(writes, markedNs);
    } catch {
      // The commit itself is durable, and a mark that lags behind only detects less.
    }
  }

  change(begin);
  const resources = opened.move();
  return {
    database,
    /** The state as of the last transaction; within one, `work` may change it. */
    get state(): FileState {
      return state;
    },
    transact: inTransaction,
    change,
    /** Within a transaction that counts a write: the file is no copy any more. */
    adopt,
    /** Within a transaction that counts a write: rows from before this moment may be missing. */
    rememberFrom: remember,
    /** Null where the next start has to verify everything. */
    rememberVerified,
    verifiedUpTo,
    /** Within a transaction that counts a write. */
    rememberClocks(differMs: number): void {
      const since: FileMemory = rememberedSince(state) ?? machineMoment(clock);
      if (differMs > (since.differMs ?? 0)) {
        state.file = withMemory(state.file, { ...since, differMs });
      }
    },
    close: () => resources.dispose(),
  };
}

/** Says for operators how a file differs from the one that was left. */
function howChanged(markedWrites: number, file: string, state: FileState): string {
  if (markedWrites >= state.writes) return 'is an older copy, which was put back';
  return isSameFile(file, state.file) ? 'was changed' : 'is a copy, or was moved,';
}

function fill(database: DatabaseSync, draft: string): void {
  beginFile(database);
  setState(database, { writes: 0, rows: 0, file: inodeOf(draft) ?? '', incompleteFrom: null });
}

/** Begins an order file, whose state is to be set. */
export function beginFile(database: DatabaseSync): void {
  database.exec(`${WHOLE_SCHEMA}; PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${VERSION}`);
}

function verifyForm(database: DatabaseSync): void {
  if (firstValue(database, 'PRAGMA user_version') !== VERSION) {
    throw new SqliteFileError('is of another version of this program: use that, or move it away');
  }
  using expected = new DatabaseSync(':memory:');
  expected.exec(WHOLE_SCHEMA);
  // A flipped bit in the schema can change what a comparison means.
  if (patiently(START_PATIENCE_MS, () => schemaOf(database)) !== schemaOf(expected)) {
    throw new SqliteFileError(DAMAGED);
  }
}

/**
 * Leaves it to the caller to compare indexes with their table, in portions: `integrity_check` does so
 * under one lock, which for two million rows keeps other processes from writing for many seconds. Where the pages were verified
 * before, the entries of an index are counted: a row that is lost with them is missing there, and any other is led to in vain.
 */
function verifyPages(database: DatabaseSync, isVerified: boolean, rows: number): void {
  if (!isVerified && firstValue(database, 'PRAGMA quick_check') !== 'ok') {
    throw new SqliteFileError(DAMAGED);
  }
  const source = isVerified ? 'INDEXED BY orders_hash' : 'NOT INDEXED';
  const counted = firstValue(database, `SELECT count(*) FROM orders ${source}`);
  if (counted !== rows) {
    throw new SqliteFileError(`has ${counted} rows of ${rows}, so it ${DAMAGED}`);
  }
}

function firstValue(database: DatabaseSync, sql: string): SQLOutputValue | undefined {
  const row = patiently(START_PATIENCE_MS, () => database.prepare(sql).get());
  return Object.values(row ?? {})[0];
}

function lastReservation(database: DatabaseSync): string | null {
  const sql = 'SELECT reservation FROM orders NOT INDEXED ORDER BY rowid DESC LIMIT 1';
  const last = firstValue(database, sql);
  return typeof last === 'string' ? last : null;
}

function schemaOf(database: DatabaseSync): string {
  return JSON.stringify(
    database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all(),
  );
}
