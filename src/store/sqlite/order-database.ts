import type { SQLOutputValue } from 'node:sqlite';
import type { Account } from '../../../lib/account.ts';
import { CLOCKS_DIFFER_MS, gapReason, isMadeAfterGap, KEY_AHEAD_MS } from '../order-gap.ts';
import {
  CUT_OFF_GRACE_MS,
  type CutOffOrder,
  closedBy,
  isForgotten,
  type OrderRecord,
  RECORD_LIFE_MS,
  RENAMED,
  type RecordedOutcome,
  RecordsGapError,
  RecordsUnavailableError,
  rank,
  recordId,
  toOrderRecord,
} from '../order-records.ts';
import { FEW_RECORDS, mostOfOthers, type RecordBounds } from '../record-shares.ts';
import { isSettled } from '../settlement.ts';
import { shareRefusal } from './account-share.ts';
import { hasRoom } from './disk-room.ts';
import { type GapMoment, isOtherName, momentOf, rememberedSince } from './file-memory.ts';
import { ageMs, likelyAgeMs, machineMoment } from './machine-clock.ts';
import { operatorChanges } from './operator-changes.ts';
import { type OrderFileOptions, openOrderFile } from './order-file.ts';
import { isHeld } from './order-hold.ts';
import * as rows from './order-rows.ts';
import type { AskedTime, Task, TaskAnswer, TaskRefusal } from './order-task.ts';
import { startRowVerification } from './row-verification.ts';
import { createRowScan } from './scan-rows.ts';
import { type SqliteFileError, toFileError } from './sqlite-errors.ts';

export type OrderDatabaseOptions = OrderFileOptions & RecordBounds;

// Well within the deadline of an order that waits for its reservation.
const PATIENCE_MS = 2_000;
const READ_PATIENCE_MS = 500;
const FORGOTTEN_AT_ONCE = 10;

export type OrderDatabase = ReturnType<typeof openOrderDatabase>;

/**
 * The order records in their file. A key whose state cannot be known is refused, never taken for new. Throws a
 * SqliteFileError where the file is damaged, or is none.
 */
export function openOrderDatabase(options: OrderDatabaseOptions) {
  const { path, clock, max, onWarn } = options;
  const file = openOrderFile(options);
  const statements = rows.prepare(file.database);
  const scan = createRowScan(statements, options);
  const { problems, unindexedKeys } = scan;
  let failure: SqliteFileError | null = null;
  /** All rows up to this id are damaged, and stay. */
  let keptUpTo = Number.NEGATIVE_INFINITY;
  const { inserted, ...verification } = startRowVerification(file, scan, options, {
    onAhead: countFromNow,
    onDamage: fail,
  });

  function fail(problem: SqliteFileError): void {
    failure = problem;
    if (!problem.isDamage) return;
    try {
      file.change(() => file.rememberVerified(null));
    } catch {
      // It cannot be written: the next start may find the damage as late as this one.
    }
  }

  /** In one transaction: where that fails no answer counts. */
  function run(tasks: readonly Task[]) {
    const mode = tasks.every((task) => task.do === 'find') ? 'DEFERRED' : 'IMMEDIATE';
    let answers: readonly TaskAnswer[];
    try {
      if (failure?.isDamage) throw failure;
      answers = file.transact(mode, PATIENCE_MS, () => {
        if (mode === 'IMMEDIATE') forgetOld(tasks.length);
        // Only a change shows whether the file can be written again.
        if (mode === 'IMMEDIATE' && failure) file.state.writes += 1;
        return tasks.map((task) => answer(task));
      });
      if (mode === 'IMMEDIATE' && failure && isOver(failure, tasks, answers)) {
        failure = null;
        onWarn(`${path} can be used again`);
      }
    } catch (error) {
      const problem = toFileError(error);
      if (problem.message !== failure?.message) onWarn(`${path} ${problem.message}`);
      fail(problem);
      answers = answersUnwritten(tasks, `the file of the order records ${problem.message}`);
    }
    const found = gap();
    return {
      answers,
      held: file.state.rows,
      degradedReason: degradedReason(),
      gapReason: found && gapReason('the order records', found.untilMs ?? null),
      isHeld: isHeld(path),
    };
  }

  /** Whether an order can be reserved again: the change of a check goes into a page that is there, on a full disk too. */
  function isOver(
    { isFull }: SqliteFileError,
    tasks: readonly Task[],
    answers: readonly TaskAnswer[],
  ) {
    const hasReserved = tasks.some((task, at) => task.do === 'reserve' && answers[at] === null);
    return !isFull || hasReserved || hasRoom(path);
  }

  /** Where nothing can be written, the records that can be read answer for their keys. */
  function answersUnwritten(tasks: readonly Task[], reason: string): readonly TaskAnswer[] {
    const refusal = { kind: 'unavailable', reason } as const;
    const answerOf = (task: Task): TaskAnswer => {
      if (task.do === 'find') return answer(task);
      if (task.do === 'void') return answer({ ...task.request, do: 'find' }) ?? refusal;
      if (task.do !== 'reserve') return refusal;
      return answer({ ...task.reservation, do: 'find' }) ?? { kind: 'unused', reason };
    };
    try {
      if (failure?.isDamage) return tasks.map(() => refusal);
      return file.transact('DEFERRED', READ_PATIENCE_MS, () => tasks.map(answerOf));
    } catch {
      return tasks.map(() => refusal);
    }
  }

  /** A record dated far ahead would not expire, and would keep all younger ones from expiring. */
  function countFromNow(ids: readonly number[]): void {
    file.change(() => {
      for (const id of ids) {
        const row = byId(id);
        // Its date stays, since it may be the correct one.
        if (row) update({ ...row, ...machineMoment(clock), at: row.at });
      }
    });
  }

  function degradedReason(): string | null {
    if (failure) return `the file of the order records ${failure.message}`;
    if (isOtherName(file.state, options.accounts)) return RENAMED;
    if (file.state.rows >= max) return 'all order records are in use';
    return problems.length > 0 ? 'order records are damaged' : null;
  }

  function answer(task: Task): TaskAnswer {
    try {
      if (task.do === 'check') return null;
      if (task.do === 'cut off') return cutOff();
      const isEnd = task.do === 'settle' || task.do === 'release';
      if (!isEnd && isOtherName(file.state, options.accounts)) {
        return { kind: 'unavailable', reason: RENAMED };
      }
      if (task.do === 'find') return asAnswer(recordOf(task));
      if (task.do === 'void') return voidKey(task);
      if (task.do === 'reserve') {
        const { reservation, keyTime } = task;
        const record = recordOf(reservation, keyTime);
        if (record) return asAnswer(record);
        if (isForgotten(keyTime, rememberedMs)) return { kind: 'forgotten' };
        const refusal = insert(rows.toContent(reservation, clock));
        if (keyTime && refusal === null) file.rememberClocks(keyTime.differMs);
        return refusal;
      }
      const row = rowOf(task.reservation);
      if (row?.reservation !== task.reservation.id) return null;
      const { outcome, pendingMs } = rows.toRecord(row, clock);
      if (task.do === 'settle') {
        if (isSettled(outcome)) return asAnswer(rows.toRecord(row, clock));
        if (rank(task.outcome) <= rank(outcome)) return null;
        update({ ...row, outcome: JSON.stringify(task.outcome) });
        file.state.writes += 1;
      } else if (pendingMs > 0) {
        // Clients may have received `unknown` for it past its time.
        drop(row.id);
      }
      return null;
    } catch (error) {
      if (!(error instanceof RecordsUnavailableError)) throw error;
      if (error instanceof RecordsGapError) return { kind: 'gap', untilMs: error.untilMs };
      // The outcome of a damaged record has nowhere to go, however often it is retried.
      const isEnd = task.do === 'settle' || task.do === 'release';
      return isEnd ? null : { kind: 'unavailable', reason: error.message };
    }
  }

  /** A process that lives may settle its own orders later. */
  function cutOff(): TaskAnswer {
    const found: CutOffOrder[] = [];
    const lastId = Number(statements.last.get()?.id);
    for (const { id } of statements.pending.all(lastId)) {
      const row = byId(id ?? null);
      if (!row?.isIndexed || !rows.isIntact(row)) continue;
      const leftMs = row.boot === clock.boot ? row.pendingMs - ageMs(row, clock) : -Infinity;
      if (leftMs > -CUT_OFF_GRACE_MS) continue;
      const reservedAtMs = Date.parse(row.at);
      const outcome: RecordedOutcome = { kind: 'unknown', sentAtMs: reservedAtMs, message: null };
      update({ ...row, outcome: JSON.stringify(outcome) });
      file.state.writes += 1;
      found.push({ account: row.account, key: row.key, reservedAtMs });
    }
    return { kind: 'cut off', orders: found };
  }

  /** A key that the file may have lost is closed as well: the outcome tells how far the file remembers. */
  function voidKey({ reservation, request }: Extract<Task, { do: 'void' }>): TaskAnswer {
    const found = rowOf(request);
    if (found && !rows.isOver(found, clock)) return asAnswer(rows.toRecord(found, clock));
    const content = rows.toContent(reservation, clock);
    const outcome = closedBy(request.keyAgeMs, rememberedMs());
    const refusal = insert({ ...content, outcome: JSON.stringify(outcome) });
    return refusal ?? asAnswer(toOrderRecord(reservation, outcome, 0));
  }

  /** Inserts a record whose key has none, or has one that is over. */
  function insert(content: rows.OrderContent): TaskRefusal | null {
    const old = rowOf(content);
    if (old) drop(old.id);
    const { state } = file;
    if (state.rows >= roomFor(content.account)) return { kind: 'full', freeInMs: freeInMs() };
    const of = { statements, bounds: options, clock, forget: drop };
    const refusal = shareRefusal(content, of);
    if (refusal !== null) return refusal;
    const { lastInsertRowid: id } = statements.insert.run({
      ...content,
      digest: rows.rowDigest(content),
    });
    inserted(Number(id));
    state.rows += 1;
    state.writes += 1;
    return null;
  }

  /** Only near the end are an account's own records counted. */
  function roomFor(login: string): number {
    const most = mostOfOthers(max);
    if (file.state.rows < most) return max;
    return Number(statements.account.get(login)?.held) < FEW_RECORDS ? max : most;
  }

  function freeInMs(): number | null {
    const oldest = statements.after.get(keptUpTo, 1) as unknown as rows.OrderRow | undefined;
    return oldest ? Math.max(0, RECORD_LIFE_MS - ageMs(oldest, clock)) : null;
  }

  /** Within a transaction that writes. */
  function rememberedMs(): number {
    const since = rememberedSince(file.state) ?? machineMoment(clock);
    file.rememberFrom(since);
    // After a gap a key counts as old until it is too young for any client's clock.
    return Math.max(0, likelyAgeMs(since, clock) - (gap() ? KEY_AHEAD_MS : 0));
  }

  function recordOf(
    of: { account: Account; key: string },
    keyTime?: AskedTime,
  ): OrderRecord | null {
    const row = rowOf(of);
    if (row && !rows.isOver(row, clock)) return rows.toRecord(row, clock);
    const found = row ? null : gap();
    if (found === null) return null;
    const untilMs = found.untilMs ?? endOf(found, keyTime);
    if (isMadeAfterGap(keyTime?.madeMs ?? null, untilMs)) return null;
    throw new RecordsGapError(untilMs);
  }

  /**
   * Fixes when a gap ended: by the later of two clocks, no earlier than any process that took orders may have said, and only where
   * they were read after the gap was found. The time between the two is measured within one boot of the machine.
   */
  function endOf(found: GapMoment, keyTime: AskedTime | undefined): number | null {
    if (keyTime === undefined || keyTime.laterMs === null) return null;
    const passedMs = found.boot === clock.boot ? keyTime.uptimeMs - found.uptimeMs : 0;
    if (passedMs < 0) return null;
    const untilMs = Math.ceil(keyTime.laterMs - passedMs + clocksDifferMs());
    file.state.incompleteFrom = JSON.stringify({ ...found, untilMs });
    file.state.writes += 1;
    return untilMs;
  }

  /** Both indexes must lead to one row that fits: an entry alone is left of a record that was damaged. */
  function rowOf(of: { account: Account; key: string }): rows.OrderRow | null {
    const [account, key] = rows.wellFormed(of);
    if (unindexedKeys.has(recordId(account, key))) throw new DamagedRecordError();
    const { byKey, byHash } = statements;
    const found = byKey.get(account, key)?.id;
    if (found !== byHash.get(rows.keyHash(account, key))?.id) throw new DamagedRecordError();
    if (found === undefined) return null;
    const row = byId(found);
    if (row?.account !== account || row.key !== key || !rows.isIntact(row)) {
      throw new DamagedRecordError();
    }
    return row;
  }

  function byId(id: SQLOutputValue): rows.OrderRow | undefined {
    return statements.byId.get(id) as unknown as rows.OrderRow | undefined;
  }

  /** The oldest have the lowest ids. Deletes at least as many as may be added, or expired rows would fill the bound. */
  function forgetOld(coming: number): void {
    for (let left = coming + FORGOTTEN_AT_ONCE; left > 0; left -= 1) {
      const oldest = statements.after.get(keptUpTo, 1);
      if (!oldest) return;
      const row = oldest as unknown as rows.OrderRow;
      // Its age cannot be known, and SQLite deletes no row that an index lacks.
      if (!row.isIndexed || !rows.isIntact(row)) keptUpTo = row.id;
      else if (rows.isOver(row, clock)) drop(row.id);
      else return;
    }
  }

  function update(row: rows.OrderRow): void {
    const { id, outcome, pendingMs, boot, uptimeMs } = row;
    const digest = rows.rowDigest(row);
    statements.update.run({ id, outcome, pendingMs, boot, uptimeMs, digest });
  }

  function drop(id: number): void {
    // Another process may have deleted it since it was read.
    file.state.rows -= Number(statements.delete.run(id).changes);
    file.state.writes += 1;
  }

  /**
   * Null where no record may be missing. Across a reboot it ends a day after the date that an order gave it, without one two days
   * later, since it may have been found by a wrong one; and so much later as the time of a key, which clients name, may be ahead.
   */
  function gap(): GapMoment | null {
    const found = momentOf(file.state.incompleteFrom);
    if (found === null) return null;
    const { boot, untilMs } = found;
    const isDated = boot === clock.boot || untilMs !== undefined;
    const at = untilMs === undefined ? found.at : new Date(untilMs).toISOString();
    const lifeMs = RECORD_LIFE_MS + KEY_AHEAD_MS + clocksDifferMs();
    const undatedMs = isDated ? 0 : 2 * RECORD_LIFE_MS;
    return ageMs({ ...found, at }, clock) >= lifeMs + undatedMs ? null : found;
  }

  /** How far any process that took orders may have been from the gateway's clock. */
  function clocksDifferMs(): number {
    return (rememberedSince(file.state)?.differMs ?? 0) + CLOCKS_DIFFER_MS;
  }

  const onComplete = () => {
    keptUpTo = Number.NEGATIVE_INFINITY;
  };
  const access = { statements, clock, byId, update, rowOf, drop };
  return {
    ...verification,
    ...operatorChanges({ ...access, file, scan, onComplete }),
    run,
    close: file.close,
  };
}

function asAnswer(record: OrderRecord | null): TaskAnswer {
  return record && { kind: 'record', record };
}

class DamagedRecordError extends RecordsUnavailableError {
  override readonly message = 'the record of this key is damaged';
}
