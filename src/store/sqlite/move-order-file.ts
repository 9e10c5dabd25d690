import {
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { connect, transact, waitUntil } from './connection.ts';
import { makeCopy, openSource } from './copy-order-file.ts';
import { MODE } from './file-changes.ts';
import { identityOf } from './file-identity.ts';
import { rememberedSince, withMemory } from './file-memory.ts';
import { checkPlace, movedSign, refuseLink } from './file-place.ts';
import { type MachineClock, machineMoment } from './machine-clock.ts';
import { APPLICATION_ID, setState } from './order-file.ts';
import { isHeld, setHold } from './order-hold.ts';
import { openMark } from './order-mark.ts';
import { SqliteFileError, toFileError } from './sqlite-errors.ts';

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
    refuseLink(path);
    checkPlace(to, onWarn);
    using undo = new DisposableStack();
    using source = openSource(path);
    const rows = makeCopy(source, to, onPortion);
    const sign = movedSign(path);
    undo.defer(() => remove(to, `${to}-journal`, `${to}.mark`, `${to}.hold`, sign));
    using copy = connect(to, APPLICATION_ID);
    using opened = new DisposableStack();
    const mark = opened.adopt(openMark(to), (each) => each.close());
    // Until the former file is gone this one counts as an older copy, which lacks records, also after a crash.
    mark.write(Number.MAX_SAFE_INTEGER, 0n);
    const { uid, gid } = statSync(path);
    if (isHeld(path)) setHold(to, true);
    const isMoved = () => {
      source.exec('BEGIN');
      try {
        // A reader keeps all others from committing.
        const state = source.state();
        const isWhole = transact(copy, 'IMMEDIATE', 0, () => {
          rows.catchUp(copy);
          if (rows.hasPending(clock)) return false;
          const memory = rememberedSince(state) ?? machineMoment(clock);
          setState(copy, { ...state, rows: rows.rows, file: withMemory(identityOf(to), memory) });
          return true;
        });
        if (!isWhole) return false;
        writeFileSync(sign, resolve(to), { mode: MODE, flush: true });
        const isOwn = uid === process.getuid?.();
        if (!isOwn) for (const each of [to, `${to}.mark`, sign]) chownSync(each, uid, gid);
        for (const each of [path, to]) syncFolder(dirname(each));
        rmSync(path);
        undo.move();
        remove(movedSign(to), `${path}.hold`);
        mark.write(state.writes, statSync(to, { bigint: true }).ctimeNs);
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

/** What stands in the folder is on the disk then. */
function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function remove(...paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}
