import type { BackendRequest, Extension, WriteRequest } from '../../../src/extensions/kit.ts';

const writes = {
  create: '/items',
  replace: { method: 'PUT', path: '/items/{id}' },
  amend: { method: 'PATCH', path: '/items/{id}' },
  remove: { method: 'DELETE', path: '/items/{id}' },
} as const;

/** An extension that uses what the example does not. */
const extension: Extension = ({ builder, refs, backend, shared, listSize, error, deadline }) => {
  const url = process.env.SIDE_URL ?? '';
  const side = backend({
    name: 'side',
    url,
    retries: false,
    reads: { item: '/items/{id}', list: '/items' },
    writes,
  });
  const refused = error('REFUSED', { retryable: false, outcome: 'caller', advice: 'x' });
  const judged = backend({
    name: 'judged',
    url,
    retries: false,
    forward: ['Idempotency-Key'],
    reads: { item: '/items/{id}' },
    writes,
    judge({ status, body }) {
      if (status === 409) throw refused('no');
      return status === 204 ? typeof body : (body as { readonly ok: unknown }).ok;
    },
  });
  const own = backend({ name: 'own', url, forwardToken: true, reads: { mine: '/mine' } });
  const tenants = backend({
    name: 'tenants',
    url,
    forward: ['x-tenant', 'Authorization', 'cookie'],
    reads: { tenant: '/tenant' },
  });
  const ofLogin = backend({
    name: 'login',
    url,
    loginHeader: 'x-login',
    forward: ['X-Tenant'],
    headers: { 'x-key': 'of the service' },
    reads: { mine: '/mine' },
  });
  const itemOf = side.loader('list', {
    most: 2,
    request: (ids) => ({ query: { ids: ids.join(' ') } }),
    pick: (body: Record<string, string>, id) => body[id] ?? null,
  });
  const text = { description: 'x', nullable: true } as const;
  const ResultRef = builder.objectRef<{ readonly body: unknown }>('SideResult').implement({
    description: 'x',
    fields: (t) => ({
      body: t.field({ ...text, type: 'JSON', resolve: ({ body }) => body }),
      item: t.string({
        ...text,
        resolve: (_result, _args, context) =>
          side.read<string>(context, 'item', { path: { id: 'a' } }),
      }),
    }),
  });
  builder.queryFields((t) => ({
    item: t.string({
      ...text,
      args: { id: t.arg.string({ required: true }) },
      resolve: (_root, { id }, context) => side.read<string>(context, 'item', { path: { id } }),
    }),
    tenant: t.string({
      ...text,
      resolve: async (_root, _args, context) => {
        await tenants.read(context, 'tenant');
        return context.header('X-Tenant');
      },
    }),
    mine: t.string({
      ...text,
      resolve: (_root, _args, context) => own.read<string>(context, 'mine'),
    }),
    ofLogin: t.string({
      ...text,
      resolve: (_root, _args, context) => ofLogin.read<string>(context, 'mine'),
    }),
    request: t.stringList({
      ...text,
      resolve: async (_root, _args, context) => [
        context.requestId,
        String(context.signal?.aborted),
        ...(await context.positions()).map(({ symbol }) => symbol),
        (await context.instrument('AAPL'))?.name ?? '',
        String(await context.instrument('NONE')),
      ],
    }),
    shared: t.string({
      ...text,
      ...shared({ seconds: 60 }),
      resolve: (_root, _args, context) =>
        side.read<string>(context, 'item', { path: { id: 'slow' } }),
    }),
    sharedMine: t.string({
      ...text,
      ...shared({ seconds: 60 }),
      resolve: (_root, _args, context) => tenants.read<string>(context, 'tenant'),
    }),
    private: t.string({
      ...text,
      resolve: (_root, _args, context) =>
        side.read<string>(context, 'item', { path: { id: 'slow' } }),
    }),
    many: t.field({ ...text, ...listSize(9_000), type: [ResultRef], resolve: () => [] }),
    limited: t.field({
      ...text,
      ...listSize({ argument: 'limit', most: 9_000 }),
      type: [ResultRef],
      args: { limit: t.arg.int({ defaultValue: 10 }) },
      resolve: () => [],
    }),
  }));
  const PageRef = builder.objectRef<object>('SidePage').implement({
    description: 'x',
    fields: (t) => ({ nodes: t.field({ ...text, type: [ResultRef], resolve: () => [] }) }),
  });
  builder.queryFields((t) => ({
    proof: t.string({
      ...text,
      resolve: async (_root, _args, context) => `${await context.proved()}`,
    }),
    page: t.field({
      ...text,
      type: PageRef,
      args: { first: t.arg.int({ defaultValue: 20 }) },
      resolve: () => ({}),
    }),
    sized: t.field({
      ...text,
      ...listSize({ argument: 'limit', most: 9_000 }),
      type: PageRef,
      args: { limit: t.arg.int() },
      resolve: () => ({}),
    }),
  }));
  builder.queryField('ask', (t) =>
    t.field({
      ...text,
      type: 'JSON',
      args: { request: t.arg({ type: 'JSON', required: true }), judged: t.arg.boolean() },
      resolve: (_root, { request, judged: isJudged }, context) =>
        (isJudged ? judged : side).read(context, 'item', request as BackendRequest),
    }),
  );
  builder.mutationField('send', (t) =>
    t.field({
      ...text,
      type: 'JSON',
      args: {
        operation: t.arg.string({ required: true }),
        request: t.arg({ type: 'JSON', required: true }),
        judged: t.arg.boolean(),
      },
      resolve: (_root, { operation, request, judged: isJudged }, context) =>
        (isJudged ? judged : side).write(
          context,
          operation as keyof typeof writes,
          request as WriteRequest,
        ),
    }),
  );
  builder.mutationField('whose', (t) =>
    t.string({
      ...text,
      resolve: (_root, _args, context) => ofLogin.read<string>(context, 'mine'),
    }),
  );
  builder.mutationField('twice', (t) =>
    t.string({
      ...text,
      resolve: async (_root, _args, context) => {
        await judged.write(context, 'create');
        await judged.write(context, 'create');
        return 'done';
      },
    }),
  );
  builder.mutationField('reread', (t) =>
    t.field({
      ...text,
      type: 'JSON',
      resolve: async (_root, _args, context) => {
        const both = () => Promise.all([side.read(context, 'list'), itemOf(context, 'a')]);
        const before = await both();
        await side.write(context, 'create');
        return [before, await both()];
      },
    }),
  );
  builder.mutationField('late', (t) =>
    t.string({
      ...text,
      ...deadline({ ms: 100 }),
      resolve: async (_root, _args, context) => {
        await side.read(context, 'item', { path: { id: 'slow' } });
        return ofLogin.read<string>(context, 'mine');
      },
    }),
  );
  builder.objectField(refs.Instrument, 'item', (t) =>
    t.string({ ...text, resolve: ({ id }, _args, context) => itemOf(context, id) }),
  );
  builder.mutationField('create', (t) =>
    t.field({
      ...text,
      type: ResultRef,
      resolve: async (_root, _args, context) => {
        await side.read(context, 'item', { path: { id: 'a' } });
        return { body: await side.write(context, 'create', { body: { a: 1 } }) };
      },
    }),
  );
};

export default extension;
