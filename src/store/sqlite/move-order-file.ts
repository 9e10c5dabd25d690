import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { connect, transact, waitUntil } from './connection.ts';
import { makeCopy, openSource, withoutIdentity } from './copy-order-file.ts';
import { MODE } from './file-changes.ts';
import { identityOf, inodeOf } from './file-identity.ts';
import { rememberedSince, withMemory } from './file-memory.ts';
import { checkPlace, movedSign, refuseMoved } from './file-place.ts';
import { setState } from './file-state.ts';
import { type MachineClock, machineMoment } from './machine-clock.ts';
import { APPLICATION_ID, openOrderFile } from './order-file.ts';
import { isHeld, setHold } from './order-hold.ts';
import { openMark } from './order-mark.ts';
import { MOVED, SqliteFileError, toFileError } from './sqlite-errors.ts';

interface MoveOptions {
  readonly clock: MachineClock;
  readonly onWarn: (message: string) => void;
  /** How long a moment without pending orders is waited for. */
  readonly patienceMs?: number;
  /** Called after each portion of rows. */
  readonly onPortion?: () => void;
}

const PATIENCE_MS = 10_000;
const PAUSE_MS = 50;

/**
 * Moves the order records while they are in use, to another disk too, and returns their number: the new file lacks nothing.
 * Processes that have the former one take no order from then on, and none starts with it. Throws a SqliteFileError.
 */
export function moveOrderFile(path: string, to: string, options: MoveOptions): number {
  const { clock, onWarn, patienceMs = PATIENCE_MS, onPortion } = options;
  try {
    // A copy stays known as one, and a file that has lost rows is damaged.
    openOrderFile({ path, mustExist: true, isInspection: true, clock, onWarn }).close();
    checkPlace(to, onWarn);
    if (resolve(to).startsWith(resolve(path))) {
      throw new SqliteFileError(`is not moved: the name ${to} begins with its own`);
    }
    const inode = inodeOf(path);
    const { uid, gid } = statSync(path);
    const own = (...paths: readonly string[]) => {
      if (uid === process.getuid?.()) return;
      for (const each of paths) if (existsSync(each)) chownSync(each, uid, gid);
    };
    const sign = movedSign(path);
    const journal = `${to}-journal`;
    const hold = `${to}.hold`;
    using undo = new DisposableStack();
    using source = openSource(path, false);
    const rows = makeCopy(source, to, onPortion);
    undo.defer(() => remove(to, journal, hold));
    own(to);
    using copy = connect(to, APPLICATION_ID);
    // Nobody begins with it before it is whole.
    copy.exec('PRAGMA locking_mode = EXCLUSIVE');
    syncFolder(dirname(to));
    const isMoved = () => {
      // Neither an order nor another move comes between.
      source.exec('BEGIN IMMEDIATE');
      try {
        refuseMoved(path);
        if (inodeOf(path) !== inode) throw new SqliteFileError(MOVED);
        const state = source.state();
        const change = (file: string) => setState(copy, { ...state, rows: rows.rows, file });
        transact(copy, 'IMMEDIATE', 0, () => {
          rows.catchUp(copy);
          change(withoutIdentity(state));
        });
        if (rows.hasPending(clock)) return false;
        setHold(to, isHeld(path));
        undo.defer(() => remove(sign));
        writeFileSync(sign, resolve(to), { mode: MODE, flush: true });
        own(sign);
        syncFolder(dirname(path));
        rmSync(path);
        undo.move();
        syncFolder(dirname(path));
        remove(movedSign(to), `${path}.hold`);
        // Until the former file is gone, after a power cut too, this one is known as a copy.
        const memory = rememberedSince(state) ?? machineMoment(clock);
        transact(copy, 'IMMEDIATE', 0, () => change(withMemory(identityOf(to), memory)));
        using opened = new DisposableStack();
        const mark = opened.adopt(openMark(to), (each) => each.close());
        mark.write(state.writes, statSync(to, { bigint: true }).ctimeNs);
        own(journal, hold, `${to}.mark`);
        return true;
      } finally {
        source.exec('ROLLBACK');
      }
    };
    const giveUpAtMs = performance.now() + patienceMs;
    while (!isMoved()) {
      if (performance.now() > giveUpAtMs) {
        throw new SqliteFileError('is not moved, as orders are under way: hold them back first');
      }
      waitUntil(() => false, PAUSE_MS);
    }
    return rows.rows;
  } catch (error) {
    throw toFileError(error);
  }
}

/** Writes the entries of the folder to the disk. */
function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function remove(...paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}
