import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Log } from '../../lib/log.ts';
import type { Baselines } from '../store/baselines.ts';
import { isJsonContent, jsonOf } from './answer-body.ts';
import type { Answer, Exchange, WireCall } from './exchange.ts';
import { ANSWER_SHAPES } from './interface/answer-shapes.ts';
import { compare } from './interface/compare.ts';
import { type Known, learn, readKnown } from './interface/learn.ts';
import { jsonItems, jsonObject } from './json-items.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { isRow } from './wire/scalars.ts';

interface FitOptions {
  readonly everyMs?: number | undefined;
  readonly turns: FairScheduler;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Shared by replicas and kept over restarts, so that neither hides a loss. */
  readonly baselines: Baselines;
}

export const LOSSES = ['vital', 'other'] as const;

const EVERY_MS = 10_000;
/** Answers in a row that have a field again: of a gateway that is half deployed some have it and others lack it. */
const BACK_AFTER = 6;

const VITAL_OPERATIONS: ReadonlySet<string> = new Set<OperationName>([
  'openPosition',
  'placeLimitOrder',
  'getSession',
  'getOpenPositions',
]);
/** The body, its lists, and what orders, ids, prices and sizes are read from. */
const VITAL_FIELD = /(^|\.)(|success|orderId|id|symbol|price\w+|units|(positions|orders)(\[\])?)$/;

/**
 * Compares one answer of each operation in a while with the interface. A field that this gateway's answers had, and that every
 * row now lacks or has with another type, is lost: it is null, or the answer broken, until the gateway or its adapter is mended.
 */
export function createFit({ everyMs = EVERY_MS, turns, log, baselines }: FitOptions) {
  const dueAtMs = new Map<string, number>();
  const remembered = new Map<OperationName, Known>();
  /** The lost fields of each operation, and how many answers in a row have had each again. */
  const lost = new Map<OperationName, Map<string, number>>();

  async function judge(operation: OperationName, answer: Answer): Promise<void> {
    await turns.turn('fit');
    const body = sampleOf(operation, answer);
    if (body === undefined) return;
    const { fields } = compare(ANSWER_SHAPES[operation], body, answer.sentAtMs);
    const before = await baselines
      .get(operation)
      .then(readKnown, () => remembered.get(operation) ?? {});
    const isOrder = OPERATIONS[operation].effect === 'order';
    // An order that is rejected has no number.
    const isPlaced = !isOrder || (isRow(body) && body.success === true);
    const found = learn(
      before,
      fields.filter(({ path }) => isPlaced || path !== 'orderId'),
    );
    remembered.set(operation, found.known);
    tell(operation, found);
    // One without rows tells little: the next is looked at sooner.
    if (found.hasUnseen) dueAtMs.set(operation, answer.sentAtMs + everyMs / 10);
    if (found.isNew) await baselines.put(operation, JSON.stringify(found.known));
  }

  function tell(operation: OperationName, found: ReturnType<typeof learn>): void {
    const former = lost.get(operation) ?? new Map<string, number>();
    const now = new Map(found.lost.map((path) => [path, 0]));
    for (const [path, times] of former) {
      const timesBack = found.had.has(path) ? times + 1 : times;
      // An operator who has written the baseline anew has accepted the loss.
      const isOver = timesBack >= BACK_AFTER || !Object.hasOwn(found.known, path);
      if (!now.has(path) && !isOver) now.set(path, timesBack);
    }
    lost.set(operation, now);
    const isSame = now.size === former.size && [...now.keys()].every((path) => former.has(path));
    if (isSame) return;
    const told = { operation, fields: [...now.keys()] };
    if (now.size === 0) log.info(told, 'the gateway’s answers have what they had before');
    else log.warn(told, 'the gateway changed: its answers have lost fields that they had');
  }

  return {
    /** Called with each exchange as it ends. */
    saw({ operation }: Pick<WireCall, 'operation'>, exchange: Exchange): void {
      if (!exchange.sent || !exchange.answered) return;
      const { sentAtMs, status } = exchange;
      if (sentAtMs < (dueAtMs.get(operation) ?? 0) || status < 200 || status > 299) return;
      dueAtMs.set(operation, sentAtMs + everyMs);
      fireAndForget('gateway fit', judge(operation as OperationName, exchange));
    },
    /** The number of lost fields: of those without which people trade blindly, or of all others. */
    count(operation: OperationName, loss: (typeof LOSSES)[number]): number {
      const paths = [...(lost.get(operation)?.keys() ?? [])];
      const isVital = (path: string) => VITAL_OPERATIONS.has(operation) && VITAL_FIELD.test(path);
      return paths.filter((path) => isVital(path) === (loss === 'vital')).length;
    },
  };
}

export type Fit = ReturnType<typeof createFit>;

/** Read in about a millisecond. */
const LONG_BYTES = 64 * 1024;
const MAX_ROWS = 50;
/** One that is inside of another object is not taken for the answer's. */
const BEGINS_WITH_LIST = /^\s*\{\s*"positions"\s*:/;

/** The JSON of an answer with the first rows of each list; undefined where there is none to compare, or much to read before. */
function sampleOf(operation: OperationName, answer: Answer): unknown {
  const { headers, bytes } = answer;
  if (bytes.length > LONG_BYTES && isJsonContent(headers['content-type'])) {
    try {
      if (operation === 'getAllTickers') return firstRows(jsonItems(bytes));
      if (
        operation === 'getOpenPositions' &&
        BEGINS_WITH_LIST.test(bytes.toString('latin1', 0, 40))
      ) {
        return { positions: firstPositions(bytes) };
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  if (bytes.length > 4 * LONG_BYTES) return undefined;
  const body = jsonOf(answer);
  if (!isRow(body)) return Array.isArray(body) ? firstRows(body) : body;
  const isWrite = OPERATIONS[operation].effect !== 'read';
  // The interface has an empty body, and a sign-in's refusal with this status.
  const isOther = Object.keys(body).length === 0 || typeof body.error === 'string';
  if (isWrite && isOther) return undefined;
  const entries = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? firstRows(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function firstRows(items: Iterable<unknown>): readonly unknown[] {
  const rows: unknown[] = [];
  for (const item of items) if (rows.push(item) === MAX_ROWS) break;
  return rows;
}

function firstPositions(bytes: Buffer): readonly unknown[] {
  const rows: unknown[] = [];
  const items = jsonObject(bytes, { positions: (row) => rows.push(row) });
  while (rows.length < MAX_ROWS && !items.next().done);
  return rows;
}
