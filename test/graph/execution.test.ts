import type { ExecutionResult } from 'graphql';
import { describe, expect, test } from 'vitest';
import { FairScheduler } from '../../src/lib/fair-scheduler.ts';
import { COSTLY_FIELDS } from '../../src/plugins/cost/meter.ts';
import type { FollowedEvents } from '../../src/plugins/live/delivery.ts';
import { PersistedTexts } from '../../src/plugins/trusted-documents/use-trusted-documents.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLimiter, limited } from '../support/limits.ts';
import { smallGraph } from '../support/small-graph.ts';

const ONE = { status: 200, codes: [] };

describe('an operation', () => {
  test('is executed alike at first, and by compiled code once it recurs', async () => {
    const { run } = smallGraph();
    for (let time = 0; time < 4; time += 1) {
      const { result } = await run({
        query: 'query($n: Int!) { numbers(first: $n) { n } }',
        variables: { n: 2 },
      });
      expect(result).toEqual({ data: { numbers: [{ n: 0 }, { n: 1 }] } });
    }
  });

  test('that fails is masked and counted', async () => {
    const { run, counted } = smallGraph();
    const result = (await run('{ fails }')).result as ExecutionResult;
    expect(result.data).toEqual({ fails: null });
    expect(result.errors?.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'INTERNAL', requestId: 'request-1' },
    ]);
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(counted).toEqual(['INTERNAL']);
  });

  test('is picked by its name', async () => {
    const { run, codes } = smallGraph();
    const query = 'query A { one } query B { two: one }';
    expect((await run({ query, operationName: 'B' })).result).toEqual({ data: { two: 1 } });
    const refused = { status: 400, codes: ['GRAPHQL_VALIDATION_FAILED'] };
    expect(await codes({ query })).toEqual(refused);
    expect(await codes({ query, operationName: 'C' })).toEqual(refused);
    expect(await codes({ query: '{ one }', operationName: 'A' })).toEqual(refused);
  });

  test('is noted under the name that may be logged', async () => {
    const { contextFor, graph } = smallGraph();
    const context = contextFor('query Mine { one }');
    await graph.open(context);
    const { record } = context.operation.transport;
    expect(record).toMatchObject({ type: 'query', operationName: 'Mine', isTrusted: false });
  });
});

describe('a subscription', () => {
  /** The texts of its events, as a transport is handed them. */
  async function texts(given: Parameters<typeof smallGraph>[0], times: number): Promise<unknown[]> {
    const { run } = smallGraph(given);
    const events = (await run('subscription { tick }')).result as FollowedEvents;
    const sent: unknown[] = [];
    const delivery = events.deliver({
      takesPacked: false,
      hasRoom: () => true,
      send(text, left) {
        sent.push(JSON.parse(String(text)));
        left();
      },
    });
    const over = delivery.next();
    await eventually(() => sent.length >= times);
    await events.leave();
    await over;
    return sent;
  }

  test('delivers its events, with their receipts where they are wanted', async () => {
    expect(await texts({}, 1)).toEqual([{ data: { tick: 3 } }]);
    expect(await texts({ receipts: true }, 1)).toEqual([
      { data: { tick: 3 }, extensions: { gateway: [], cost: 1, fields: 1 } },
    ]);
  });

  test('of a field that returns no pull stream is a fault of the schema', async () => {
    await expect(smallGraph().run('subscription { foreign }')).rejects.toThrow('PullStream');
  });

  test('that cannot start says why, unless its transport does', async () => {
    const ends = smallGraph();
    const { result } = await ends.run('subscription { broken }', { reportsEnd: () => true });
    expect(await (result as AsyncGenerator<never>).next()).toMatchObject({ done: true });
    expect(ends.counted).toEqual(['INTERNAL']);
    const says = smallGraph();
    const cause: unknown[] = [];
    const reportsEnd = (error: unknown) => {
      cause.push(error);
      return false;
    };
    expect((await says.run('subscription { broken }', { reportsEnd })).result).toMatchObject({
      errors: [{ extensions: { code: 'INTERNAL' } }],
    });
    expect(cause).toEqual([new Error('a secret')]);
  });
});

describe('turns of the event loop', () => {
  /** As if this turn had no time left. */
  class FullTurn extends FairScheduler {
    override isSliceOver(): boolean {
      return true;
    }
  }
  const scheduler = new FullTurn();

  test('a document waits for its first preparation alone', async () => {
    const { contextFor, graph } = smallGraph({ scheduler });
    const first = graph.open(contextFor('{ one }'));
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ type: 'query' });
    expect(graph.open(contextFor('{ one }'))).toMatchObject({ type: 'query' });
    const refused = graph.open(contextFor('{ nope }'));
    expect(refused).toBeInstanceOf(Promise);
    expect(await refused).toMatchObject({ status: 400 });
  });

  test('a trusted document does not wait, by its id and by its text', async () => {
    const { graph: preparing, contextFor: contextOf } = smallGraph();
    const context = contextOf('{ one }');
    await preparing.open(context);
    const known = { text: '{ one }', prepared: context.operation.document };
    const trusted = {
      byId: (id: string) => (id === 'known' ? known : undefined),
      byText: (text: string) => (text === known.text ? known : undefined),
    } as never;
    const { graph, contextFor } = smallGraph({
      scheduler,
      trusted: {
        trusted,
        registered: new PersistedTexts(),
        trustedOnly: 'on',
        log: { warn() {} },
      },
    });
    for (const sent of [{ documentId: 'known' }, { query: '{ one }' }]) {
      const opened = graph.open(contextFor(sent));
      expect(opened).toMatchObject({ type: 'query' });
      expect(await (opened as { execute(): unknown }).execute()).toEqual({ data: { one: 1 } });
    }
    expect(graph.open(contextFor('{ two: one }'))).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_DOCUMENT_REQUIRED' } }],
    });
  });

  test('a costly operation has a turn of its own, and a cheap one none', async () => {
    const { contextFor, graph } = smallGraph({}, COSTLY_FIELDS);
    const execute = async (text: string) => {
      const opened = await graph.open(contextFor(text));
      if ('errors' in opened) throw opened.errors[0];
      return { result: opened.execute() };
    };
    const costly = await execute('{ all { n } }');
    expect(costly.result).toBeInstanceOf(Promise);
    expect(await costly.result).not.toHaveProperty('errors');
    expect(await execute('{ one }')).toEqual({ result: { data: { one: 1 } } });
  });

  test('a client with too much costly work is refused more of it', async () => {
    const limiter = createTestLimiter(limited('largeAnswers', 2));
    const { codes } = smallGraph({ limiter }, COSTLY_FIELDS);
    const all = await Promise.all([1, 2, 3].map(() => codes('{ all { n } }')));
    expect(all.map((each) => each.codes)).toEqual([[], [], ['RATE_LIMITED']]);
    expect(await codes('{ one }')).toEqual(ONE);
    // What has ended, by whatever end, makes room.
    expect(await codes('{ all { n } }')).toEqual(ONE);
  });
});
