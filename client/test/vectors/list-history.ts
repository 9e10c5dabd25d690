import fc from 'fast-check';
import { Timeline } from '../../../lib/live/timeline.ts';
import type { CaseRun, Step } from './case-run.ts';

interface Row {
  readonly id: string;
  readonly profit: number;
  readonly comment: string;
}

type Move = readonly [name: string, value?: unknown];

const SERVER_MS = Date.UTC(2026, 10, 20, 9, 30);
const DOWN = { message: 'down', extensions: { code: 'GATEWAY_UNAVAILABLE', retryable: true } };
const FOLLOW = { do: 'follow', list: 'positions' };
const OFFLINE = { must: 'show', status: 'OFFLINE' };
const DEAD = [{ do: 'network', is: 'dead' }, { do: 'wait', ms: 26_000 }, OFFLINE];
/** After each of these the client subscribes again. */
const ENDS_OF_LINES: readonly (readonly Step[])[] = [
  ...[1006, 1001, 1012, 4429].map((code) => [{ do: 'cut', code }]),
  [...DEAD, { do: 'network', is: 'there' }],
  [{ do: 'complete', errors: [DOWN] }, OFFLINE],
  [{ do: 'leave' }, FOLLOW],
  [{ do: 'kill' }, { do: 'start' }, FOLLOW],
];

const row = fc.record({
  id: fc.constantFrom(...'abcd'),
  profit: fc.nat(2),
  comment: fc.constantFrom('x', 'y'),
});
const move = fc.oneof(
  fc.tuple(fc.constantFrom('read', 'read', 'heartbeat')),
  fc.tuple(fc.constantFrom('set'), row),
  fc.tuple(fc.constantFrom('close', 'again'), fc.nat(5)),
  fc.tuple(fc.constantFrom('lose'), fc.constantFrom(...ENDS_OF_LINES)),
  fc.tuple(fc.constantFrom('miss', 'swap', 'ahead', 'restart', 'hide', 'token', 'old')),
);

/** Generates the steps of a list and its lines; `isWhole`: with ticks and totals, as of positions. */
export const listHistories = fc.record({
  isWhole: fc.boolean(),
  moves: fc.array<Move>(move, { minLength: 1, maxLength: 24 }),
});

/** Plays it with the events of the service's own timeline: the client shows the rows that are there, and asks for what it lacks. */
export async function playList(
  run: CaseRun,
  { isWhole, moves }: { readonly isWhole: boolean; readonly moves: readonly Move[] },
): Promise<void> {
  let [rows, timeline]: [readonly Row[], Timeline<Row>] = [[], createTimeline()];
  let [server, version, nowMs] = [0, 0, SERVER_MS];
  /** The state of the present line: the version that was sent last, and its events. */
  let [sentVersion, sent, lines, token]: [number, Step[], number, number] = [0, [], 0, 1];
  /** The state that the client has to hold; without a cursor it lacks something. */
  let shown: readonly Row[] = [];
  let [held, asOf]: [{ server: number; cursor: string } | null, string | null] = [null, null];

  const change = (next: readonly Row[]) => {
    [rows, version, nowMs] = [next, version + 1, nowMs + 1_000];
    timeline.advance(rows, version);
  };
  const event = (own: Step, count = rows.length): Step => ({
    cursor: `v${version}`,
    asOf: new Date(nowMs).toISOString(),
    ...(isWhole && { totals: { count } }),
    ...own,
  });
  const read = (): Step => {
    const changes = timeline.changes(sentVersion, isWhole);
    if (changes === null) throw new Error('The timeline does not know its own version.');
    const { upserted, closed } = changes;
    const ticks = changes.ticks.map(({ id, profit }) => ({ id, profit }));
    const isFirst = sentVersion === 0;
    sentVersion = version;
    return event({ ...(isFirst && { snapshot: true }), upserted, closed, ticks });
  };
  const send = async (step: Step, line?: number) => {
    if (line === undefined) sent.push(step);
    await run.step({ do: 'event', ...(line !== undefined && { line }), event: step });
  };
  const show = () => {
    const isLacking = held === null && asOf !== null;
    return run.step({ must: 'show', ...(!isLacking && { rows: shown, asOf }) });
  };
  /** The client holds the rows of now: in their places, and new ones last. */
  const take = async () => {
    const step = read();
    await send(step);
    const order = step.snapshot ? rows : [...shown, ...rows];
    const ids = [...new Set(order.map(({ id }) => id))];
    shown = ids.flatMap((id) => rows.find((each) => each.id === id) ?? []);
    [held, asOf] = [{ server, cursor: `v${version}` }, String(step.asOf)];
    await show();
    await run.step({ must: 'show', status: 'LIVE' });
  };
  const subscribe = async (more: Step = {}) => {
    await run.step({ must: 'subscribe', after: held?.cursor ?? null, token, ...more });
    sentVersion = held?.server === server ? Number(held.cursor.slice(1)) : 0;
    [sent, lines] = [[], lines + 1];
  };
  /** An event is missing, which the client has to notice. */
  const lack = async (...events: readonly Step[]) => {
    for (const each of events) await send(each);
    held = null;
    await run.step(OFFLINE);
    await subscribe();
  };
  const set = (next: Row) => {
    const isOld = rows.some(({ id }) => id === next.id);
    change(isOld ? rows.map((each) => (each.id === next.id ? next : each)) : [...rows, next]);
  };
  const isNew = () => JSON.stringify(rows.toSorted(byId)) !== JSON.stringify(shown.toSorted(byId));
  const plays: Readonly<Record<string, (value?: unknown) => unknown>> = {
    set: (next) => set(next as Row),
    close: (at) => change(rows.filter((_, index) => index !== at)),
    read: take,
    lose: async (steps) => {
      for (const step of steps as readonly Step[]) await run.step(step);
      if ((steps as readonly Step[])[0]?.do === 'kill') [shown, held, asOf] = [[], null, null];
      await subscribe();
    },
    restart: async () => {
      // Its clock is another one, and it counts from the beginning.
      [server, version, nowMs] = [server + 1, 1, SERVER_MS + 3_600_000 * (-1) ** server];
      timeline = createTimeline();
      timeline.advance(rows, version);
      await plays.lose?.(ENDS_OF_LINES[0]);
    },
    old: async () => {
      if (lines > 1) await send(event({ snapshot: true, upserted: [] }), lines - 1);
      await show();
    },
  };
  /** The messages behind a line's first event. */
  const following: typeof plays = {
    again: async (at) => {
      const before = sent[at as number];
      if (before !== undefined) await send(before, lines);
      await show();
    },
    heartbeat: async () => {
      nowMs += 1_000;
      const beat = event({ cursor: held?.cursor }, shown.length);
      asOf = String(beat.asOf);
      await send(beat, lines);
      await show();
    },
    miss: async () => {
      if (!isWhole || rows.length === shown.length) return;
      read();
      change(rows);
      await lack(read());
    },
    swap: async () => {
      change(rows);
      const first = read();
      set({ id: 'a', profit: version, comment: 'swapped' });
      await lack(read(), first);
    },
    ahead: async () => {
      if (isNew()) await lack(event({}), read());
    },
    hide: async () => {
      await run.step({ do: 'app', is: 'hidden' });
      await run.step({ must: 'rest', ms: 20_000 });
      await following.heartbeat?.();
      await run.step({ must: 'rest', ms: 11_000 });
      await run.step({ do: 'app', is: 'shown' });
      await subscribe({ withinMs: 1_000 });
    },
    token: async () => {
      await run.step({ do: 'token', ends: true, renewal: 'another' });
      token += 1;
      await subscribe();
      await run.step({ must: 'renewals', times: token - 1 });
    },
  };

  change([]);
  await run.step(FOLLOW);
  await subscribe();
  for (const [name, value] of moves)
    await (plays[name] ?? (sent.length > 0 ? following[name] : undefined))?.(value);
  await take();
  await run.end();
}

const byId = (a: Row, b: Row) => a.id.localeCompare(b.id);

function createTimeline(): Timeline<Row> {
  return new Timeline<Row>({
    keyOf: ({ id }) => id,
    isSame: (a, b) => a.profit === b.profit && a.comment === b.comment,
    isSameBesides: (a, b) => a.comment === b.comment,
  });
}
