import { rememberedSince } from './file-memory.ts';
import { ageMs, machineMoment } from './machine-clock.ts';
import type { OrderFile, OrderFileOptions } from './order-file.ts';
import type { OrderRow } from './order-rows.ts';
import type { RowScan } from './scan-rows.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';

/** Some milliseconds of work. */
const ROWS_AT_ONCE = 250;
/** Much longer than an order is under way. */
const SETTLED_MS = 5 * 60_000;
const IDLE_MS = 60_000;

interface Found {
  /** Rows that are dated far ahead. */
  onAhead(ids: readonly number[]): void;
  /** A page that cannot be read, which may be any key's. */
  onDamage(problem: SqliteFileError): void;
}

/** Verifies the rows at the start, and goes on behind it, so that the next start may leave what is known to be intact. */
export function startRowVerification(
  file: OrderFile,
  { problems, ahead, portion, toEnd }: RowScan,
  { path, clock, onWarn }: OrderFileOptions,
  { onAhead, onDamage }: Found,
) {
  const { verifiedUpTo } = file;
  /** The id behind which the rows are verified that the start left, up to the one with which it began; null where none is left. */
  let leftAfter = verifiedUpTo === null ? null : Number.NEGATIVE_INFINITY;
  /** The number of problems that have been told. */
  let told = 0;
  // The rows that may have changed since they were verified come first.
  const settledUpTo = toEnd(verifiedUpTo ?? Number.NEGATIVE_INFINITY, isSettled);
  toEnd(settledUpTo);
  /** How far all rows are known to be intact. */
  let intactUpTo = Math.max(0, settledUpTo);
  judge();

  /** An outcome may still be written into a younger one. */
  function isSettled(row: OrderRow): boolean {
    return row.boot !== clock.boot || !(ageMs(row, clock) < SETTLED_MS);
  }

  function judge(): void {
    if (ahead.length > 0) onAhead(ahead.splice(0));
    // Damage in the rows that the start left is reported together: they are older than the first of them that was found.
    if (problems.length === told || (told > 0 && leftAfter !== null)) return;
    const some = problems.slice(told, told + 10).join(', ');
    told = problems.length;
    onWarn(`${path} has damaged records, whose keys are refused: ${some}`);
    file.change(() => {
      // Nobody can tell whose keys they were: that may be among what was damaged.
      file.rememberFrom(machineMoment(clock));
      file.rememberVerified(null);
    });
  }

  /** Verifies a portion of the rows; returns the milliseconds after which to go on. */
  function verifyOn(): number {
    const startedAtMs = performance.now();
    try {
      const isIdle = leftAfter === null ? verifyTail() : verifyLeft(leftAfter);
      judge();
      // Orders have at least half of the time.
      return isIdle ? IDLE_MS : performance.now() - startedAtMs;
    } catch (error) {
      const problem = toFileError(error);
      if (problem.isDamage) {
        onWarn(`${path} ${problem.message}`);
        onDamage(problem);
      }
      return IDLE_MS;
    }
  }

  /** True where nothing is left to do for now. */
  function verifyLeft(afterId: number): boolean {
    const isLeft = ({ id }: OrderRow) => id <= (verifiedUpTo ?? 0);
    const lastId = portion(afterId, isLeft, ROWS_AT_ONCE);
    leftAfter = lastId === afterId ? null : lastId;
    return false;
  }

  function verifyTail(): boolean {
    const lastId = portion(intactUpTo, isSettled, ROWS_AT_ONCE);
    if (lastId !== intactUpTo) {
      intactUpTo = lastId;
      return false;
    }
    const { verified } = rememberedSince(file.state) ?? {};
    const isNews = verified?.upTo !== intactUpTo || verified.boot !== clock.boot;
    if (isNews && problems.length === 0) file.change(() => file.rememberVerified(intactUpTo));
    return true;
  }

  return {
    verifyOn,
    /** When to verify for the first time: what the start left at once, and what has come since when there is some. */
    verifiesAfterMs: leftAfter === null ? IDLE_MS : 0,
    /** Where all rows had expired the numbers begin anew. */
    inserted(id: number): void {
      intactUpTo = Math.min(intactUpTo, id - 1);
    },
  };
}
