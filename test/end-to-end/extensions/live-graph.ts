import type { Extension } from '../../../src/extensions/kit.ts';

export interface AlertRow {
  readonly id: string;
  readonly symbol: string;
  readonly price: number;
  readonly tags?: readonly string[];
}

/** An extension with a live list of each account and one of everybody. */
const extension: Extension = ({ builder, refs, backend, live, computed, error }) => {
  const url = process.env.SIDE_URL ?? '';
  const text = { description: 'x', nullable: true } as const;
  const full = error('LISTS_CLOSED', { retryable: true, outcome: 'refused', advice: 'x' });
  const alerts = backend({
    name: 'alerts',
    url,
    timeoutMs: 1_000,
    retries: false,
    loginHeader: 'x-login',
    reads: { list: '/alerts' },
    writes: { add: { path: '/alerts', refreshes: ['seldom', 'publicSeldom'] } },
    judge({ status, body }) {
      if (status === 423) throw full('closed');
      if (status >= 300) throw new Error(`status ${status}`);
      return body;
    },
  });
  const mine = backend({
    name: 'mine',
    url,
    retries: false,
    forwardToken: true,
    reads: { list: '/mine' },
  });
  const quotes = backend({ name: 'quotes', url, pollsPerSecond: 50, reads: { list: '/quotes' } });
  const AlertRef = builder.objectRef<AlertRow>('Alert').implement({
    description: 'x',
    fields: (t) => ({
      id: t.exposeID('id', text),
      symbol: t.exposeString('symbol', text),
      price: t.exposeFloat('price', text),
      label: t.string({
        ...text,
        ...computed(),
        args: { suffix: t.arg.string() },
        resolve: ({ symbol, price }, { suffix }) => `${symbol} at ${price}${suffix ?? ''}`,
      }),
      changed: t.boolean({
        ...text,
        ...computed(),
        resolve: (row) => [row, row.tags ?? {}].some((each) => Reflect.set(each, 0, 'changed')),
      }),
      failing: t.string({
        ...text,
        ...computed(),
        resolve: (_row, _args, context) => context.requestId,
      }),
      later: t.string({ ...text, ...computed(), resolve: async () => 'later' }),
      instrument: t.field({
        ...text,
        type: refs.Instrument,
        resolve: ({ symbol }, _args, context) => context.instrument(symbol),
      }),
    }),
  });
  builder.objectField(refs.Position, 'size', (t) =>
    t.string({ ...text, ...computed(), resolve: ({ units, symbol }) => `${units} of ${symbol}` }),
  );
  builder.objectField(refs.Position, 'doubled', (t) =>
    t.float({ ...text, ...computed(), resolve: ({ profit }) => 2 * (profit ?? 0) }),
  );
  builder.objectField(refs.Position, 'alerts', (t) =>
    t.field({
      ...text,
      type: [AlertRef],
      resolve: (_position, _args, context) => listOf(alerts)(context),
    }),
  );
  const keyed = { key: ({ id }: { readonly id: string }) => id, everyMs: 100 };
  const often = { ...keyed, type: AlertRef, key: ({ id }: AlertRow) => id };
  type Context = Parameters<typeof alerts.read>[0];
  const listOf = (of: Pick<typeof quotes, 'read'>) => async (context: Context) =>
    (await of.read<{ alerts: AlertRow[] }>(context, 'list')).alerts;
  live({
    name: 'alerts',
    ...often,
    backend: alerts,
    moving: ['price'],
    read: listOf(alerts),
  });
  live({
    name: 'quotes',
    changes: 'quoteChanges',
    ...often,
    backend: quotes,
    of: 'everybody',
    args: builder.args((t) => ({ symbol: t.string({ required: true }) })),
    read: async (context, { symbol }) =>
      (await quotes.read<{ alerts: AlertRow[] }>(context, 'list', { query: { symbol } })).alerts,
  });
  live({
    name: 'notices',
    ...often,
    backend: quotes,
    read: listOf(quotes),
  });
  builder.objectField('AlertsChanges' as never, 'guests', (t) =>
    t.string({ ...text, resolve: (_event, _args, context) => Object.keys(context).join() }),
  );
  // Nobody waits for the next poll of these.
  for (const [name, of] of [
    ['seldom', 'account'],
    ['publicSeldom', 'everybody'],
  ] as const) {
    live({
      name,
      of,
      ...often,
      everyMs: 3_600_000,
      backend: of === 'account' ? alerts : quotes,
      read: listOf(of === 'account' ? alerts : quotes),
    });
  }
  live({
    name: 'mine',
    ...often,
    backend: mine,
    read: listOf(mine),
  });
  live({
    name: 'personal',
    ...often,
    backend: quotes,
    of: 'everybody',
    read: async (context) => {
      await context.proved();
      return [];
    },
  });
  const NoticeRef = builder.objectRef<{ id: string; at: Date }>('Notice').implement({
    description: 'x',
    fields: (t) => ({
      id: t.exposeID('id', text),
      at: t.expose('at', { ...text, type: 'DateTime' }),
    }),
  });
  live({
    name: 'growing',
    type: NoticeRef,
    ...keyed,
    backend: quotes,
    of: 'everybody',
    args: builder.args((t) => ({ ids: t.stringList({ defaultValue: [] }) })),
    read: async (context, { ids }) => {
      await quotes.read(context, 'list');
      ids?.push(`${ids.length}`);
      return (ids ?? []).map((id) => ({ id, at: new Date(0) }));
    },
  });
  const StrictRef = builder.objectRef<AlertRow>('Strict').implement({
    description: 'x',
    fields: (t) => ({
      id: t.exposeID('id', text),
      price: t.exposeFloat('price', { ...text, nullable: false }),
    }),
  });
  live({
    name: 'strict',
    type: StrictRef,
    ...keyed,
    backend: quotes,
    of: 'everybody',
    read: listOf(quotes),
  });
  builder.mutationField('add', (t) =>
    t.field({
      ...text,
      type: 'JSON',
      resolve: (_root, _args, context) => alerts.write(context, 'add'),
    }),
  );
};

export default extension;
